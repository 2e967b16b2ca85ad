import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ruleQuery } from "~/api/item-config";
import { ownerQuery } from "~/api/owners";
import { configTriggerQuery } from "~/api/trigger-config";
import { Gone, QueryError } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { OwnerPage, useLeave } from "~/shared/owner";
import { SkeletonRows } from "~/ui/state";
import { TriggerForm } from "./form";
import { texts } from "./texts";

const newRoute = getRouteApi("/inside/triggers/new");
const editRoute = getRouteApi("/inside/triggers/$triggerid/edit");
const GONE = <Gone icon="search" title={texts.thisDoesNotExist} />;

export function TriggerNewPage() {
  const { owner: ownerid = "", rule: ruleid } = newRoute.useSearch();
  const { data: rule } = useQuery(ruleQuery(ruleid ?? ""));
  const { data: owner, error } = useQuery(ownerQuery(ruleid ? (rule?.hostid ?? "") : ownerid));
  const leave = useLeave();
  const title = ruleid ? "Create trigger prototype" : "Create trigger";
  return (
    <OwnerPage title={title} owner={owner} rule={rule} tab="triggers">
      {error ? (
        <QueryError error={error} />
      ) : owner ? (
        <TriggerForm
          owner={owner}
          trigger={null}
          prototype={Boolean(ruleid)}
          onDone={() => leave(owner, "triggers", ruleid)}
        />
      ) : owner === null || rule === null ? (
        GONE
      ) : (
        <SkeletonRows rows={10} />
      )}
    </OwnerPage>
  );
}

export function TriggerEditPage() {
  const { triggerid } = editRoute.useParams();
  const { data: trigger, error } = useFresh(configTriggerQuery(triggerid));
  const { data: owner } = useQuery(ownerQuery(trigger?.hosts[0]?.hostid ?? ""));
  const leave = useLeave();
  const found = trigger?.discoveryRule;
  const rule = found && !Array.isArray(found) ? found : undefined;
  const title = trigger ? `Edit ${trigger.description}` : "Edit trigger";
  return (
    <OwnerPage title={title} owner={owner} rule={rule} tab="triggers">
      {error ? (
        <QueryError error={error} />
      ) : trigger === null || owner === null ? (
        GONE
      ) : trigger && owner ? (
        <TriggerForm
          key={trigger.triggerid}
          owner={owner}
          trigger={trigger}
          prototype={trigger.prototype}
          onDone={() => leave(owner, "triggers", rule?.itemid)}
        />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </OwnerPage>
  );
}
