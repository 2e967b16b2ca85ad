import { getRouteApi } from "@tanstack/react-router";
import { hostQuery } from "~/api/hosts";
import { useFresh } from "~/parts/fresh";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { HostForm } from "./host-edit-parts/form";

const editRoute = getRouteApi("/inside/hosts/$hostid/edit");

export function HostNewPage() {
  return (
    <Page title="Create host" scroll>
      <HostForm host={null} />
    </Page>
  );
}

export function HostEditPage() {
  const { hostid } = editRoute.useParams();
  const { data: host, error, refetch } = useFresh(hostQuery(hostid));
  return (
    <Page title={host ? `Edit ${host.name}` : "Edit host"} scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : host === null ? (
        <Empty icon="hosts" title="This host does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : host ? (
        <HostForm key={host.hostid} host={host} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
