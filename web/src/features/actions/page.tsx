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
import { type ActionSource, conditionWords, hasSteps } from "~/util/actions";
import { stagesOf } from "./escalation";
import { type RecipientNames, useConditionNames, useRecipientNames } from "./names";
import { operationDraft } from "./operation-draft";
import { operationWords, whenWords } from "./operation-words";
import { allowedSources, sourceOf, titleOf, wordOf } from "./sources";
import { texts } from "./texts";

const route = getRouteApi("/inside/actions");
const idOf = (action: Action) => action.actionid;
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

const state = (action: Action) => <Switch on={action.status === Status.Enabled} />;

interface Names {
  conditions: ReadonlyMap<string, string>;
  recipients: RecipientNames;
}

/** What an action does: its steps in a line, or its operations. */
function doesWords(action: Action, { recipients }: Names): string {
  const drafts = action.operations.map(operationDraft);
  if (!hasSteps(action.eventsource))
    return drafts.map((one) => operationWords(one, recipients)).join(", ");
  const stages = stagesOf(drafts, action.esc_period).map((stage) => {
    const does = stage.operations.map((one) => operationWords(one, recipients)).join("; ");
    return `${whenWords(stage)}: ${does}`;
  });
  return stages.join(" → ") || texts.nobodyIsNotified;
}

function columnsOf(source: ActionSource, names: Names): Column<Action>[] {
  const conditions = ({ filter }: Action) =>
    filter.conditions.map((one) => conditionWords(source, one, names.conditions)).join("; ") ||
    texts.always;
  const does = (action: Action) => doesWords(action, names);
  const soft = (words: string) => (
    <span className="text-soft" title={words}>
      {words}
    </span>
  );
  return [
    ...nameColumns<Action>({
      header: texts.actionLabel,
      name: (action) => <Name action={action} />,
      nameWidth: "minmax(10rem, 1fr)",
      state,
      stateWidth: "7rem",
      more: does,
    }),
    {
      id: "conditions",
      header: texts.conditions,
      width: "minmax(12rem, 1.3fr)",
      on: "wide",
      cell: (action) => soft(conditions(action)),
    },
    {
      id: "operations",
      header: texts.operations,
      width: "minmax(12rem, 2fr)",
      on: "wide",
      cell: (action) => soft(does(action)),
    },
  ];
}

/** What happens when a problem begins, a host is found, an agent registers. */
export function ActionsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const source = sourceOf(search.source);
  const query = useQuery(actionsQuery(source));
  const { data, error } = query;
  const used = useMemo(() => data?.flatMap((action) => action.filter.conditions) ?? [], [data]);
  const conditions = useConditionNames(source, used);
  const recipients = useRecipientNames();
  const columns = useMemo(
    () => columnsOf(source, { conditions, recipients }),
    [source, conditions, recipients],
  );
  const { selected, setSelected, buttons } = useSwitches({
    word: texts.action,
    queryKey: "actions",
    warning: hasSteps(source) ? texts.lossOfMessages : texts.lossOfHosts,
    enable: enableActions,
    remove: deleteActions,
  });
  const chosen = [...selected].filter((id) => data?.some((action) => action.actionid === id));
  const title = texts.actionsOf(titleOf(source));
  const create = <CreateLink source={wordOf(source)} />;
  return (
    <Page
      title={title}
      actions={
        <>
          {buttons(chosen)}
          {create}
        </>
      }
      bar={
        <Segmented
          label={texts.eventSource}
          value={source}
          onChange={(next) => void navigate({ search: { source: wordOf(next) }, replace: true })}
          options={allowedSources().map(([one, , , name]) => [one, name] as const)}
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
                <Empty icon="play" title={texts.noActions} action={create}>
                  {texts.purpose(source)}
                </Empty>
              }
            />
          )}
        </Sheet>
      )}
    </Page>
  );
}
