import { getRouteApi } from "@tanstack/react-router";
import { scriptQuery } from "~/api/scripts";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { ScriptForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/scripts/$scriptid/edit");

export function ScriptNewPage() {
  return (
    <Page title={texts.createScript} scroll>
      <ScriptForm script={null} />
    </Page>
  );
}

export function ScriptEditPage() {
  const { scriptid } = editRoute.useParams();
  const query = useFresh(scriptQuery(scriptid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editScript} scroll>
      <Found query={query} gone={<Gone icon="play" title={texts.thisScriptDoesNot} />}>
        {(script) => <ScriptForm key={script.scriptid} script={script} />}
      </Found>
    </Page>
  );
}
