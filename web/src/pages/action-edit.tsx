import { getRouteApi } from "@tanstack/react-router";
import { actionQuery } from "~/api/actions";
import { useFresh } from "~/parts/fresh";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { ActionForm } from "./actions-parts/form";

const newRoute = getRouteApi("/inside/actions/new");
const editRoute = getRouteApi("/inside/actions/$actionid/edit");

export function ActionNewPage() {
  const agents = newRoute.useSearch().source === "agents";
  return (
    <Page title={`Create ${agents ? "autoregistration" : "discovery"} action`} scroll>
      <ActionForm source={agents ? "2" : "1"} action={null} />
    </Page>
  );
}

export function ActionEditPage() {
  const { actionid } = editRoute.useParams();
  const { data: action, error, refetch } = useFresh(actionQuery(actionid));
  return (
    <Page title={action ? `Edit ${action.name}` : "Edit action"} scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : action === null ? (
        <Empty icon="play" title="This action does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : action ? (
        <ActionForm key={action.actionid} source={action.eventsource} action={action} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
