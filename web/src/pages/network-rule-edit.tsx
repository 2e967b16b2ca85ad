import { getRouteApi } from "@tanstack/react-router";
import { networkRuleQuery } from "~/api/network";
import { useFresh } from "~/parts/fresh";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { RuleForm } from "./network-parts/rule-form";

const editRoute = getRouteApi("/inside/discovery-rules/$druleid/edit");

export function NetworkRuleNewPage() {
  return (
    <Page title="Create discovery rule" scroll>
      <RuleForm rule={null} />
    </Page>
  );
}

export function NetworkRuleEditPage() {
  const { druleid } = editRoute.useParams();
  const { data: rule, error, refetch } = useFresh(networkRuleQuery(druleid));
  return (
    <Page title={rule ? `Edit ${rule.name}` : "Edit discovery rule"} scroll>
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : rule === null ? (
        <Empty icon="search" title="This rule does not exist">
          It was deleted.
        </Empty>
      ) : rule ? (
        <RuleForm key={rule.druleid} rule={rule} />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
