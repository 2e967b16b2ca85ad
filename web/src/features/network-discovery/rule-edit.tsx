import { getRouteApi } from "@tanstack/react-router";
import { networkRuleQuery } from "~/api/network";
import { Found } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { Empty } from "~/ui/state";
import { RuleForm } from "./rule-form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/discovery-rules/$druleid/edit");

export function NetworkRuleNewPage() {
  return (
    <Page title={texts.createDiscoveryRule} scroll>
      <RuleForm rule={null} />
    </Page>
  );
}

export function NetworkRuleEditPage() {
  const { druleid } = editRoute.useParams();
  const query = useFresh(networkRuleQuery(druleid));
  const gone = (
    <Empty icon="search" title={texts.thisRuleDoesNot}>
      {texts.itWasDeleted}
    </Empty>
  );
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editDiscoveryRule} scroll>
      <Found query={query} gone={gone}>
        {(rule) => <RuleForm key={rule.druleid} rule={rule} />}
      </Found>
    </Page>
  );
}
