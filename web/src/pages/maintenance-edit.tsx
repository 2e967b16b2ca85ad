import { getRouteApi } from "@tanstack/react-router";
import { maintenanceQuery } from "~/api/maintenance";
import { useFresh } from "~/parts/fresh";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { listOf } from "~/util/search";
import { MaintenanceForm } from "./maintenance-parts/form";

const newRoute = getRouteApi("/inside/maintenance/new");
const editRoute = getRouteApi("/inside/maintenance/$maintenanceid/edit");

export function MaintenanceNewPage() {
  const { host } = newRoute.useSearch();
  return (
    <Page title="Create maintenance" scroll>
      <MaintenanceForm maintenance={null} hostids={listOf(host)} />
    </Page>
  );
}

export function MaintenanceEditPage() {
  const { maintenanceid } = editRoute.useParams();
  const { data: one, error, refetch } = useFresh(maintenanceQuery(maintenanceid));
  return (
    <Page title={one ? `Edit ${one.name}` : "Edit maintenance"} scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : one === null ? (
        <Empty icon="wrench" title="This maintenance does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : one ? (
        <MaintenanceForm key={one.maintenanceid} maintenance={one} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
