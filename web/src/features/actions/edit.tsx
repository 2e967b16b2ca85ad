import { getRouteApi } from "@tanstack/react-router";
import { actionQuery } from "~/api/actions";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { ActionForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/actions/new");
const editRoute = getRouteApi("/inside/actions/$actionid/edit");

export function ActionNewPage() {
  const agents = newRoute.useSearch().source === "agents";
  return (
    <Page title={texts.createActionText(agents ? "autoregistration" : "discovery")} scroll>
      <ActionForm source={agents ? "2" : "1"} action={null} />
    </Page>
  );
}

export function ActionEditPage() {
  const { actionid } = editRoute.useParams();
  const query = useFresh(actionQuery(actionid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editAction} scroll>
      <Found query={query} gone={<Gone icon="play" title={texts.thisActionDoesNot} />}>
        {(action) => (
          <ActionForm key={action.actionid} source={action.eventsource} action={action} />
        )}
      </Found>
    </Page>
  );
}
