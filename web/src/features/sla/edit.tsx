import { getRouteApi } from "@tanstack/react-router";
import { slaQuery } from "~/api/slas";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { SlaForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/sla/$slaid/edit");

export function SlaNewPage() {
  return (
    <Page title={texts.createSla} scroll>
      <SlaForm sla={null} />
    </Page>
  );
}

export function SlaEditPage() {
  const { slaid } = editRoute.useParams();
  const query = useFresh(slaQuery(slaid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editSla} scroll>
      <Found query={query} gone={<Gone icon="target" title={texts.thisSlaDoesNot} />}>
        {(sla) => <SlaForm key={sla.slaid} sla={sla} />}
      </Found>
    </Page>
  );
}
