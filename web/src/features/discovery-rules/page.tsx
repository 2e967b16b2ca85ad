import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import {
  graphPrototypesQuery,
  itemPrototypesQuery,
  type PrototypeRow,
  ruleQuery,
} from "~/api/item-config";
import { ownerQuery } from "~/api/owners";
import { type PrototypeTrigger, triggerPrototypesQuery } from "~/api/trigger-config";
import { HostPrototypes } from "~/features/host-prototypes";
import { ItemForm } from "~/features/items";
import {
  CELL,
  ConfiguredItems,
  PlainTable,
  PrototypeState,
  TriggerCells,
} from "~/shared/config-tables";
import { Found, Gone, QueryError, StaleError } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { NO_OWNER, OwnerPage, useLeave } from "~/shared/owner";
import { buttonClass } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { Tabs } from "~/ui/segmented";
import { Empty, SkeletonRows } from "~/ui/state";
import { texts } from "./texts";

const route = getRouteApi("/inside/rules/$ruleid");
const newRoute = getRouteApi("/inside/rules/new");
type Tab = "rule" | "items" | "triggers" | "hosts" | "graphs";
const TABS: readonly Tab[] = ["rule", "items", "triggers", "hosts", "graphs"];

function Items({ ruleid }: { ruleid: string }) {
  return (
    <ConfiguredItems<PrototypeRow>
      query={useQuery(itemPrototypesQuery(ruleid))}
      empty={
        <Empty icon="latest" title={texts.noItemPrototypes}>
          {texts.itemPrototypesCreateItems}
        </Empty>
      }
      state={(item) => <PrototypeState {...item} />}
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
        <Empty icon="problems" title={texts.noTriggerPrototypes}>
          {texts.triggerPrototypesCreateTriggers}
        </Empty>
      }
      row={(trigger) => (
        <tr key={trigger.triggerid} className="border-t hover:bg-hover">
          <TriggerCells trigger={trigger} />
          <td className={CELL}>
            <PrototypeState {...trigger} />
          </td>
        </tr>
      )}
    />
  );
}

function Graphs({ ruleid }: { ruleid: string }) {
  const query = useQuery(graphPrototypesQuery(ruleid));
  return (
    <PlainTable<{ graphid: string; name: string }>
      query={query}
      head={[["Name", ""]]}
      empty={
        <Empty icon="search" title={texts.noGraphPrototypes}>
          {texts.createGraphPrototypesIn}
        </Empty>
      }
      row={(row) => (
        <tr key={row.graphid} className="border-t hover:bg-hover">
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
  const query = useFresh(ruleQuery(ruleid));
  const { data: rule, error } = query;
  const { data: owner } = useQuery(ownerQuery(rule?.hostid ?? ""));
  const tab = TABS.find((name) => name === search.tab) ?? "rule";
  const name = rule?.name ?? "Discovery rule";
  const back = () => owner && leave(owner, "discovery");
  const addable = rule && rule.templateid === "0";
  return (
    <OwnerPage
      title={name}
      owner={owner}
      actions={
        addable && tab === "items" ? (
          <Link to="/items/new" search={{ rule: ruleid }} className={buttonClass("primary")}>
            <Icon name="plus" size={15} />
            {texts.createItemPrototype}
          </Link>
        ) : addable && tab === "triggers" ? (
          <Link to="/triggers/new" search={{ rule: ruleid }} className={buttonClass("primary")}>
            <Icon name="plus" size={15} />
            {texts.createTriggerPrototype}
          </Link>
        ) : addable && tab === "hosts" ? (
          <Link
            to="/host-prototypes/new"
            search={{ rule: ruleid }}
            className={buttonClass("primary")}
          >
            <Icon name="plus" size={15} />
            {texts.createHostPrototype}
          </Link>
        ) : undefined
      }
      bar={
        rule && (
          <div className="w-full overflow-x-auto">
            <Tabs<Tab>
              label={texts.partsOfTheRule}
              value={tab}
              onChange={(value) =>
                void navigate({ search: { tab: value === "rule" ? undefined : value } })
              }
              options={[
                ["rule", texts.rule],
                ["items", texts.itemPrototypes],
                ["triggers", texts.triggerPrototypes],
                ["hosts", texts.hostPrototypes],
                ["graphs", texts.graphPrototypes],
              ]}
            />
          </div>
        )
      }
    >
      <StaleError query={query} className="mb-2" />
      {error && !(rule && owner) ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : rule === null || owner === null ? (
        <Gone icon="search" title={texts.thisDiscoveryRuleDoes} />
      ) : !rule || !owner ? (
        <SkeletonRows rows={10} />
      ) : tab === "items" ? (
        <Items ruleid={ruleid} />
      ) : tab === "triggers" ? (
        <Triggers ruleid={ruleid} />
      ) : tab === "hosts" ? (
        <HostPrototypes ruleid={ruleid} />
      ) : tab === "graphs" ? (
        <Graphs ruleid={ruleid} />
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
    </OwnerPage>
  );
}

export function RuleNewPage() {
  const { owner: ownerid = "" } = newRoute.useSearch();
  const query = useQuery(ownerQuery(ownerid));
  const leave = useLeave();
  const navigate = useNavigate();
  return (
    <OwnerPage title={texts.createDiscoveryRule} owner={query.data}>
      <Found query={query} gone={NO_OWNER}>
        {(owner) => (
          <ItemForm
            owner={owner}
            kind="rule"
            item={null}
            onDone={(ruleid) =>
              void navigate({ to: "/rules/$ruleid", params: { ruleid }, search: { tab: "items" } })
            }
            onDeleted={() => leave(owner, "discovery")}
          />
        )}
      </Found>
    </OwnerPage>
  );
}
