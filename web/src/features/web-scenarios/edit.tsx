import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ownerQuery } from "~/api/owners";
import { type WebScenarioDetail, webScenarioQuery } from "~/api/web-scenarios";
import { Found, Gone, QueryError } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { NO_OWNER, OwnerPage } from "~/shared/owner";
import { Page } from "~/shared/page";
import { SkeletonRows } from "~/ui/state";
import { WebForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/web/new");
const editRoute = getRouteApi("/inside/web/$httptestid/edit");

interface BodyProps {
  ownerid: string;
  scenario: WebScenarioDetail | null;
  title: string;
}

function Body({ ownerid, scenario, title }: BodyProps) {
  const query = useQuery(ownerQuery(ownerid));
  return (
    <OwnerPage title={title} owner={query.data}>
      <Found query={query} gone={NO_OWNER}>
        {(owner) => <WebForm owner={owner} scenario={scenario} />}
      </Found>
    </OwnerPage>
  );
}

export function WebNewPage() {
  const { owner } = newRoute.useSearch();
  return <Body ownerid={owner ?? ""} scenario={null} title={texts.createWebScenario} />;
}

export function WebEditPage() {
  const { httptestid } = editRoute.useParams();
  const { data: scenario, error, refetch } = useFresh(webScenarioQuery(httptestid));
  if (scenario) {
    return (
      <Body
        key={httptestid}
        ownerid={scenario.hostid}
        scenario={scenario}
        title={texts.editName(scenario.name)}
      />
    );
  }
  return (
    <Page title={texts.editWebScenario} scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : scenario === null ? (
        <Gone icon="link" title={texts.thisWebScenarioDoes} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
