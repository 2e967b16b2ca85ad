import { getRouteApi } from "@tanstack/react-router";
import { correlationQuery } from "~/api/correlations";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { CorrelationForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/correlation/$correlationid/edit");

export function CorrelationNewPage() {
  return (
    <Page title={texts.createCorrelation} scroll>
      <CorrelationForm correlation={null} />
    </Page>
  );
}

export function CorrelationEditPage() {
  const { correlationid } = editRoute.useParams();
  const query = useFresh(correlationQuery(correlationid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editCorrelation} scroll>
      <Found query={query} gone={<Gone icon="merge" title={texts.thisCorrelationDoesNot} />}>
        {(one) => <CorrelationForm key={one.correlationid} correlation={one} />}
      </Found>
    </Page>
  );
}
