import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import {
  itemPrototypesQuery,
  otherPrototypesQuery,
  type PrototypeRow,
  ruleQuery,
} from "~/api/item-config";
import { ownerQuery } from "~/api/owners";
import { type PrototypeTrigger, triggerPrototypesQuery } from "~/api/trigger-config";
import { ConfiguredItems, PlainTable, TriggerCells } from "~/parts/config-tables";
import { useFresh } from "~/parts/fresh";
import { OwnerHeading, useLeave } from "~/parts/owner";
import { QueryError } from "~/shell/fallback";
import { Page } from "~/shell/page";
import { buttonClass } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { Tabs } from "~/ui/segmented";
import { Empty, SkeletonRows } from "~/ui/state";
import { ItemForm } from "./item-edit-parts/form";

const route = getRouteApi("/inside/rules/$ruleid");
const newRoute = getRouteApi("/inside/rules/new");
type Tab = "rule" | "items" | "triggers" | "others";
const TABS: readonly Tab[] = ["rule", "items", "triggers", "others"];
const CELL = "px-3 py-2 align-top break-words";

function States({ status, discover }: { status: string; discover: string }) {
  if (discover === "1") return <span className="text-faint">Not discovered</span>;
  return <span className="text-soft">{status === "1" ? "Created disabled" : "Created"}</span>;
}

function Items({ ruleid }: { ruleid: string }) {
  return (
    <ConfiguredItems<PrototypeRow>
      query={useQuery(itemPrototypesQuery(ruleid))}
      empty={
        <Empty icon="latest" title="No item prototypes">
          Each discovered thing gets the items that stand here.
        </Empty>
      }
      state={(item) => <States {...item} />}
    />
  );
}

function Triggers({ ruleid }: { ruleid: string }) {
  const query = useQuery(triggerPrototypesQuery(ruleid));
  return (
    <PlainTable<PrototypeTrigger>
      query={query}
      head={[
        ["Severity", "w-36"],
        ["Name", ""],
        ["Expression", ""],
        ["State", "w-36"],
      ]}
      empty={
        <Empty icon="problems" title="No trigger prototypes">
          Each discovered thing gets the triggers that stand here.
        </Empty>
      }
      row={(trigger) => (
        <tr key={trigger.triggerid} className="border-t hover:bg-hover">
          <TriggerCells trigger={trigger} />
          <td className={CELL}>
            <States {...trigger} />
          </td>
        </tr>
      )}
    />
  );
}

function Others({ ruleid }: { ruleid: string }) {
  const query = useQuery(otherPrototypesQuery(ruleid));
  return (
    <PlainTable<{ id: string; kind: string; name: string }>
      query={query}
      head={[
        ["Kind", "w-36"],
        ["Name", ""],
      ]}
      empty={
        <Empty icon="search" title="No host or graph prototypes">
          They come with templates and the API.
        </Empty>
      }
      row={(row) => (
        <tr key={`${row.kind}${row.id}`} className="border-t hover:bg-hover">
          <td className={`${CELL} text-soft`}>{row.kind} prototype</td>
          <td className={`${CELL} font-medium`}>{row.name}</td>
        </tr>
      )}
    />
  );
}

/** A discovery rule: what it finds, and what it makes of each thing found. */
export function RulePage() {
  const { ruleid } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const leave = useLeave();
  const { data: rule, error, refetch } = useFresh(ruleQuery(ruleid));
  const { data: owner } = useQuery(ownerQuery(rule?.hostid ?? ""));
  const tab = TABS.find((name) => name === search.tab) ?? "rule";
  const name = rule?.name ?? "Discovery rule";
  const back = () => owner && leave(owner, "discovery");
  const addable = rule && rule.templateid === "0";
  return (
    <Page
      title={name}
      scroll
      heading={owner && <OwnerHeading owner={owner} title={name} />}
      actions={
        addable && tab === "items" ? (
          <Link to="/items/new" search={{ rule: ruleid }} className={buttonClass("primary")}>
            <Icon name="plus" size={15} />
            Create item prototype
          </Link>
        ) : addable && tab === "triggers" ? (
          <Link to="/triggers/new" search={{ rule: ruleid }} className={buttonClass("primary")}>
            <Icon name="plus" size={15} />
            Create trigger prototype
          </Link>
        ) : undefined
      }
      bar={
        rule && (
          <div className="w-full overflow-x-auto">
            <Tabs<Tab>
              label="Parts of the rule"
              value={tab}
              onChange={(value) =>
                void navigate({ search: { tab: value === "rule" ? undefined : value } })
              }
              options={[
                ["rule", "Rule"],
                ["items", "Item prototypes"],
                ["triggers", "Trigger prototypes"],
                ["others", "Host and graph prototypes"],
              ]}
            />
          </div>
        )
      }
    >
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : rule === null || owner === null ? (
        <Empty icon="search" title="This discovery rule does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : !rule || !owner ? (
        <SkeletonRows rows={10} />
      ) : tab === "items" ? (
        <Items ruleid={ruleid} />
      ) : tab === "triggers" ? (
        <Triggers ruleid={ruleid} />
      ) : tab === "others" ? (
        <Others ruleid={ruleid} />
      ) : (
        <ItemForm
          key={ruleid}
          owner={owner}
          kind="rule"
          item={rule}
          onDone={back}
          onDeleted={back}
        />
      )}
    </Page>
  );
}

export function RuleNewPage() {
  const { owner: ownerid = "" } = newRoute.useSearch();
  const { data: owner, error } = useQuery(ownerQuery(ownerid));
  const leave = useLeave();
  const navigate = useNavigate();
  const title = "Create discovery rule";
  return (
    <Page title={title} scroll heading={owner && <OwnerHeading owner={owner} title={title} />}>
      {error ? (
        <QueryError error={error} />
      ) : owner ? (
        <ItemForm
          owner={owner}
          kind="rule"
          item={null}
          onDone={(ruleid) =>
            void navigate({ to: "/rules/$ruleid", params: { ruleid }, search: { tab: "items" } })
          }
          onDeleted={() => leave(owner, "discovery")}
        />
      ) : owner === null ? (
        <Empty icon="hosts" title="This host or template does not exist">
          It was deleted, or you may not see it.
        </Empty>
      ) : (
        <SkeletonRows rows={10} />
      )}
    </Page>
  );
}
