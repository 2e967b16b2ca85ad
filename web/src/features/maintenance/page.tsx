import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { explain } from "~/api/errors";
import {
  deleteMaintenances,
  type MaintenanceDetail,
  type MaintenanceFilter,
  maintenanceIds,
  maintenanceTotalQuery,
  maintenanceWindow,
  maySilence,
} from "~/api/maintenance";
import { SELECT_MAX } from "~/api/problems";
import { together, useRowWindow, useVisible } from "~/api/windows";
import { ListPage, NoRows } from "~/shared/list-page";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { useFollow } from "~/shared/silence";
import { Button, buttonClass } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented } from "~/ui/segmented";
import { VirtualTable } from "~/ui/table";
import { toast } from "~/ui/toast";
import { formatCount, plural } from "~/util/format";
import { useFilters, useNow } from "~/util/hooks";
import { type State, stateAt } from "~/util/maintenance";
import { listOf, listTo, parseSearch, replacesEntry } from "~/util/search";
import { maintenanceColumns } from "./columns";
import { texts } from "./texts";

const route = getRouteApi("/inside/maintenance");
const NO_FILTERS = {
  text: undefined,
  state: undefined,
  host: undefined,
  group: undefined,
};
/** States change on whole minutes; cells show them this often. */
const STEP_S = 15;
/** The states in the URL and those of the server. */
const STATES = { running: "active", planned: "upcoming", over: "ended" } as const;
/** What the URL names; anything else stands for all states. */
const stateOf = (name: string | undefined) =>
  name === "running" || name === "planned" || name === "over" ? name : undefined;
const SHOWN: readonly (readonly [State["is"] | "all", string])[] = [
  ["all", texts.all],
  ["running", texts.running],
  ["planned", texts.planned],
  ["over", texts.expired],
];

function CreateLink() {
  return (
    <Link to="/maintenance/new" className={buttonClass("primary")}>
      <Icon name="plus" size={15} />
      {texts.createMaintenance}
    </Link>
  );
}

/** Deletes some after asking; the selection is the caller's to clear. */
function useDelete(onDone: () => void) {
  const follow = useFollow();
  const remove = useMutation({
    mutationFn: (ids: string[]) => deleteMaintenances(ids),
    onSuccess: (_, ids) => {
      toast(texts.deletedCount(plural(ids.length, "maintenance")));
      onDone();
    },
    onError: (error) => {
      const { what, todo } = explain(error);
      toast(`${what} ${todo}`, "bad");
    },
    onSettled: follow,
  });
  return async (ids: string[]) => {
    const title = `Delete ${plural(ids.length, "maintenance")}?`;
    const body = <p>{texts.theirHostsLeaveMaintenance}</p>;
    if (await confirmed(title, body, texts.delete)) remove.mutate(ids);
  };
}

/** The rows on screen; the server computes the states, sorts, counts and cuts. */
function useRows(filter: MaintenanceFilter, visible: readonly [number, number]) {
  const client = useQueryClient();
  const count = useQuery(maintenanceTotalQuery(filter));
  const rows = useRowWindow<MaintenanceDetail>({
    queryKey: ["maintenances", "rows", filter],
    visible,
    fetch: (offset, limit, signal) => maintenanceWindow(client, filter, offset, limit, signal),
    live: "config",
  });
  return { total: count.data, rows, query: together(rows, count) };
}

/** When which hosts are worked on: what runs, what is planned, what has expired. */
export function MaintenancePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  const change = useCallback(
    (next: Partial<typeof search>) => {
      setSelected(new Set());
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      });
    },
    [navigate],
  );
  const state = stateOf(search.state);
  const filter = useMemo(
    () => ({
      text: search.text,
      states: state ? [STATES[state]] : Object.values(STATES),
      hostids: listOf(search.host),
      groupids: listOf(search.group),
    }),
    [search.text, state, search.host, search.group],
  );
  const { total, rows, query } = useRows(filter, visible);
  const selectAll = async () => {
    try {
      setSelected(new Set(await maintenanceIds(filter, SELECT_MAX)));
    } catch (error) {
      toast(explain(error).what, "bad");
    }
  };
  const columns = useMemo(() => maintenanceColumns(now), [now]);
  const chosen = [...selected];
  const remove = useDelete(() => setSelected(new Set()));
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  return (
    <ListPage
      title={texts.maintenance}
      count={total}
      actions={
        <>
          {chosen.length > 0 && (
            <Button look="danger" icon="trash" onClick={() => void remove(chosen)}>
              {texts.deleteSelected(formatCount(chosen.length))}
            </Button>
          )}
          {maySilence() && <CreateLink />}
        </>
      }
      filters={
        <>
          <SearchBox
            label={texts.searchMaintenance}
            value={text}
            onChange={setText}
            className="w-64"
          />
          <Segmented
            label={texts.state}
            value={state ?? "all"}
            onChange={(v) => change({ state: v === "all" ? undefined : v })}
            options={SHOWN}
          />
          <GroupPicker
            of="host"
            values={filter.groupids}
            onChange={(v) => change({ group: listTo(v) })}
          />
          <HostPicker values={filter.hostids} onChange={(v) => change({ host: listTo(v) })} />
        </>
      }
      onClear={onClear}
      query={query}
    >
      {total !== undefined && (
        <VirtualTable
          label={texts.maintenance}
          columns={columns}
          count={total}
          rowAt={rows.rowAt}
          idOf={(row) => row.maintenanceid}
          onVisible={onVisible}
          selected={maySilence() ? selected : undefined}
          onSelect={maySilence() ? setSelected : undefined}
          onSelectAll={selectAll}
          allCount={Math.min(total, SELECT_MAX)}
          onOpen={({ maintenanceid }) =>
            void navigate({
              to: "/maintenance/$maintenanceid/edit",
              params: { maintenanceid },
              search: {},
            })
          }
          rowClass={(row) => (stateAt(row, now).is === "over" ? "bg-sunken" : undefined)}
          empty={
            <NoRows
              icon="wrench"
              word={texts.maintenanceWord}
              onClear={onClear}
              action={<CreateLink />}
            >
              {texts.duringMaintenanceProblemsAre}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
