import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { type Action, actionsQuery, deleteActions, enableActions } from "~/api/actions";
import { Status } from "~/api/schema";
import { EnableTable, Switch, useSwitches } from "~/shared/enable-table";
import { QueryError, StaleError } from "~/shared/fallback";
import { Page, Sheet } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import { Segmented } from "~/ui/segmented";
import { Empty, SkeletonRows } from "~/ui/state";
import type { Column } from "~/ui/table";
import { type ActionSource, conditionWords, operationName } from "~/util/actions";
import { useRuleNames } from "./conditions-editor";
import { texts } from "./texts";

const route = getRouteApi("/inside/actions");
const idOf = (action: Action) => action.actionid;
const SOURCES = [
  ["network", "Discovery"],
  ["agents", "Autoregistration"],
] as const;

function CreateLink({ source }: { source: string | undefined }) {
  return (
    <Link to="/actions/new" search={{ source }} className={buttonClass("primary")}>
      <Icon name="plus" size={15} />
      {texts.createAction}
    </Link>
  );
}

function Name({ action }: { action: Action }) {
  return (
    <Link
      to="/actions/$actionid/edit"
      params={{ actionid: action.actionid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
    >
      {action.name}
    </Link>
  );
}

const operations = (action: Action) =>
  action.operations.map((one) => operationName(one.operationtype)).join(", ");
const state = (action: Action) => <Switch on={action.status === Status.Enabled} />;

function columnsOf(source: ActionSource, names: ReadonlyMap<string, string>): Column<Action>[] {
  const conditions = ({ filter }: Action) =>
    filter.conditions.map((one) => conditionWords(source, one, names)).join("; ") || "Always";
  return [
    ...nameColumns<Action>({
      header: texts.actionLabel,
      name: (action) => <Name action={action} />,
      nameWidth: "minmax(10rem, 1fr)",
      state,
      stateWidth: "8rem",
      more: operations,
    }),
    {
      id: "conditions",
      header: texts.conditions,
      width: "minmax(12rem, 1.6fr)",
      on: "wide",
      cell: (action) => (
        <span className="text-soft" title={conditions(action)}>
          {conditions(action)}
        </span>
      ),
    },
    {
      id: "operations",
      header: texts.operations,
      width: "minmax(12rem, 1.6fr)",
      on: "wide",
      cell: (action) => (
        <span className="text-soft" title={operations(action)}>
          {operations(action)}
        </span>
      ),
    },
  ];
}

/** What happens to hosts that discovery found, or that announced themselves. */
export function ActionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const agents = search.source === "agents";
  const source: ActionSource = agents ? "2" : "1";
  const query = useQuery(actionsQuery(source));
  const { data, error } = query;
  const names = useRuleNames(source);
  const columns = useMemo(() => columnsOf(source, names), [source, names]);
  const { selected, setSelected, buttons } = useSwitches({
    word: "action",
    queryKey: "actions",
    warning: "Hosts that they created are kept.",
    enable: enableActions,
    remove: deleteActions,
  });
  const chosen = [...selected].filter((id) => data?.some((action) => action.actionid === id));
  const title = agents ? "Autoregistration actions" : "Discovery actions";
  return (
    <Page
      title={title}
      actions={
        <>
          {buttons(chosen)}
          <CreateLink source={search.source} />
        </>
      }
      bar={
        <Segmented
          label={texts.eventSource}
          value={agents ? "agents" : "network"}
          onChange={(v) =>
            void navigate({ search: { source: v === "agents" ? v : undefined }, replace: true })
          }
          options={SOURCES}
        />
      }
    >
      <StaleError query={query} className="mb-2" />
      {error && !data ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : (
        <Sheet>
          {!data ? (
            <SkeletonRows rows={6} />
          ) : (
            <EnableTable
              label={title}
              columns={columns}
              rows={data}
              idOf={idOf}
              selected={selected}
              onSelect={setSelected}
              onOpen={({ actionid }) =>
                void navigate({ to: "/actions/$actionid/edit", params: { actionid }, search: {} })
              }
              empty={
                <Empty
                  icon="play"
                  title={texts.noActions}
                  action={<CreateLink source={search.source} />}
                >
                  {agents ? texts.anActionCreatesHosts : texts.anActionCreatesHostsFor}
                </Empty>
              }
            />
          )}
        </Sheet>
      )}
    </Page>
  );
}
