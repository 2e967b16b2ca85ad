import { getRouteApi } from "@tanstack/react-router";
import { maintenanceQuery } from "~/api/maintenance";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { listOf } from "~/util/search";
import { MaintenanceForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/maintenance/new");
const editRoute = getRouteApi("/inside/maintenance/$maintenanceid/edit");

export function MaintenanceNewPage() {
  const { host } = newRoute.useSearch();
  return (
    <Page title={texts.createMaintenance} scroll>
      <MaintenanceForm maintenance={null} hostids={listOf(host)} />
    </Page>
  );
}

export function MaintenanceEditPage() {
  const { maintenanceid } = editRoute.useParams();
  const query = useFresh(maintenanceQuery(maintenanceid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editMaintenance} scroll>
      <Found query={query} gone={<Gone icon="wrench" title={texts.thisMaintenanceDoesNot} />}>
        {(one) => <MaintenanceForm key={one.maintenanceid} maintenance={one} />}
      </Found>
    </Page>
  );
}
