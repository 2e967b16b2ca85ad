import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { ruleQuery } from "~/api/item-config";
import { type Owner, ownerQuery } from "~/api/owners";
import { configTriggerQuery } from "~/api/trigger-config";
import { useFresh } from "~/parts/fresh";
import { OwnerHeading, useLeave } from "~/parts/owner";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { Empty, SkeletonRows } from "~/ui/state";
import { TriggerForm } from "./trigger-edit-parts/form";

const newRoute = getRouteApi("/inside/triggers/new");
const editRoute = getRouteApi("/inside/triggers/$triggerid/edit");

function useDone(owner: Owner | null | undefined, ruleid: string | undefined) {
  const leave = useLeave();
  const navigate = useNavigate();
  return () => {
    if (ruleid) {
      void navigate({ to: "/rules/$ruleid", params: { ruleid }, search: { tab: "triggers" } });
    } else if (owner) leave(owner, "triggers");
  };
}

function RuleLink({ rule }: { rule: { itemid: string; name: string } }) {
  return (
    <Link
      to="/rules/$ruleid"
      params={{ ruleid: rule.itemid }}
      search={{ tab: "triggers" }}
      className="text-soft hover:text-ink"
    >
      {rule.name}
    </Link>
  );
}

const Gone = () => (
  <Empty icon="search" title="This does not exist">
    It was deleted, or you may not see it.
  </Empty>
);

export function TriggerNewPage() {
  const { owner: ownerid = "", rule: ruleid } = newRoute.useSearch();
  const { data: rule } = useQuery(ruleQuery(ruleid ?? ""));
  const { data: owner, error } = useQuery(ownerQuery(ruleid ? (rule?.hostid ?? "") : ownerid));
  const done = useDone(owner, ruleid);
  const title = ruleid ? "Create trigger prototype" : "Create trigger";
  return (
    <Page
      title={title}
      scroll
      heading={
        owner && (
          <OwnerHeading owner={owner} title={title}>
            {rule && <RuleLink rule={rule} />}
          </OwnerHeading>
        )
      }
    >
      {error ? (
        <QueryError error={error} />
      ) : owner ? (
        <TriggerForm owner={owner} trigger={null} prototype={Boolean(ruleid)} onDone={done} />
      ) : owner === null || rule === null ? (
        <Gone />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}

export function TriggerEditPage() {
  const { triggerid } = editRoute.useParams();
  const { data: trigger, error } = useFresh(configTriggerQuery(triggerid));
  const { data: owner } = useQuery(ownerQuery(trigger?.hosts[0]?.hostid ?? ""));
  const found = trigger?.discoveryRule;
  const rule = found && !Array.isArray(found) ? found : undefined;
  const done = useDone(owner, rule?.itemid);
  const title = trigger ? `Edit ${trigger.description}` : "Edit trigger";
  return (
    <Page
      title={title}
      scroll
      heading={
        owner && (
          <OwnerHeading owner={owner} title={title}>
            {rule && <RuleLink rule={rule} />}
          </OwnerHeading>
        )
      }
    >
      {error ? (
        <QueryError error={error} />
      ) : trigger === null || owner === null ? (
        <Gone />
      ) : trigger && owner ? (
        <TriggerForm
          key={trigger.triggerid}
          owner={owner}
          trigger={trigger}
          prototype={trigger.prototype}
          onDone={done}
        />
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
