import { getRouteApi } from "@tanstack/react-router";
import { actionQuery } from "~/api/actions";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { ActionForm } from "./form";
import { sourceOf, titleOf } from "./sources";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/actions/new");
const editRoute = getRouteApi("/inside/actions/$actionid/edit");

export function ActionNewPage() {
  const source = sourceOf(newRoute.useSearch().source);
  return (
    <Page title={texts.createActionText(titleOf(source).toLowerCase())} scroll>
      <ActionForm key={source} source={source} action={null} />
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
