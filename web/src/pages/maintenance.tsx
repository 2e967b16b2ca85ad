import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { explain } from "~/api/errors";
import {
  deleteMaintenances,
  fetchMaintenances,
  type MaintenanceDetail,
  maintenancesQuery,
  maySilence,
} from "~/api/maintenance";
import { useVisible, useWindows } from "~/api/windows";
import { GroupPicker, HostPicker } from "~/parts/pickers";
import { useFollow } from "~/parts/silence";
import { ListPage, NoRows } from "~/shell/list-page";
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
import { maintenanceColumns } from "./maintenance-parts/columns";

const route = getRouteApi("/inside/maintenance");
const NO_FILTERS = {
  text: undefined,
  state: undefined,
  host: undefined,
  group: undefined,
};
/** States change on whole minutes; they are computed anew this often. */
const STEP_S = 15;
const SHOWN: readonly (readonly [State["is"] | "all", string])[] = [
  ["all", "All"],
  ["running", "Running"],
  ["planned", "Planned"],
  ["over", "Expired"],
];

/** What runs stands first, then what comes next; within that by name. */
function rank(state: State | undefined): number {
  if (state?.is === "running") return 0;
  return state?.is === "planned" ? state.next : Number.POSITIVE_INFINITY;
}

const order = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1);

function CreateLink() {
  return (
    <Link to="/maintenance/new" className={buttonClass("primary")}>
      <Icon name="plus" size={15} />
      Create maintenance
    </Link>
  );
}

/** Deletes some after asking; the selection is the caller's to clear. */
function useDelete(onDone: () => void) {
  const follow = useFollow();
  const remove = useMutation({
    mutationFn: (ids: string[]) => deleteMaintenances(ids),
    onSuccess: (_, ids) => {
      toast(`${plural(ids.length, "maintenance")} deleted.`);
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
    const body = <p>Their hosts leave maintenance immediately. This cannot be undone.</p>;
    if (await confirmed(title, body, "Delete")) remove.mutate(ids);
  };
}

/** When which hosts are worked on: what runs, what is planned, what is over. */
export function MaintenancePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  const change = useCallback(
    (next: Partial<typeof search>) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
  const of = useMemo(
    () => ({ hostids: listOf(search.host), groupids: listOf(search.group) }),
    [search.host, search.group],
  );
  const { data: all, error, refetch } = useQuery(maintenancesQuery(of));
  const states = useMemo(
    () => new Map((all ?? []).map((one) => [one.maintenanceid, stateAt(one, now)])),
    [all, now],
  );
  const ids = useMemo(() => {
    const needle = (search.text ?? "").toLowerCase();
    return all
      ?.filter((one) => one.name.toLowerCase().includes(needle))
      .map((one) => one.maintenanceid)
      .filter((id) => !search.state || states.get(id)?.is === search.state)
      .sort((a, b) => order(rank(states.get(a)), rank(states.get(b))));
  }, [all, states, search.text, search.state]);
  const rowAt = useWindows<MaintenanceDetail>({
    queryKey: ["maintenances", "rows"],
    ids: ids ?? [],
    visible,
    fetch: fetchMaintenances,
    idOf: (row) => row.maintenanceid,
    live: "config",
  });
  const columns = useMemo(() => maintenanceColumns(states), [states]);
  const chosen = [...selected].filter((id) => ids?.includes(id));
  const remove = useDelete(() => setSelected(new Set()));
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  return (
    <ListPage
      title="Maintenance"
      count={ids?.length}
      actions={
        <>
          {chosen.length > 0 && (
            <Button look="danger" icon="trash" onClick={() => void remove(chosen)}>
              Delete {formatCount(chosen.length)} selected…
            </Button>
          )}
          {maySilence() && <CreateLink />}
        </>
      }
      filters={
        <>
          <SearchBox label="Search maintenance" value={text} onChange={setText} className="w-64" />
          <Segmented
            label="State"
            value={SHOWN.find(([state]) => state === search.state)?.[0] ?? "all"}
            onChange={(v) => change({ state: v === "all" ? undefined : v })}
            options={SHOWN}
          />
          <GroupPicker
            of="host"
            values={of.groupids}
            onChange={(v) => change({ group: listTo(v) })}
          />
          <HostPicker values={of.hostids} onChange={(v) => change({ host: listTo(v) })} />
        </>
      }
      onClear={onClear}
      query={{ error, refetch }}
    >
      {ids && (
        <VirtualTable
          label="Maintenance"
          columns={columns}
          count={ids.length}
          rowAt={rowAt}
          idOf={(row) => row.maintenanceid}
          onVisible={onVisible}
          selected={maySilence() ? selected : undefined}
          onSelect={maySilence() ? setSelected : undefined}
          allIds={ids}
          onOpen={({ maintenanceid }) =>
            void navigate({
              to: "/maintenance/$maintenanceid/edit",
              params: { maintenanceid },
              search: {},
            })
          }
          rowClass={(row) =>
            states.get(row.maintenanceid)?.is === "over" ? "opacity-60" : undefined
          }
          empty={
            <NoRows icon="wrench" word="maintenance" onClear={onClear} action={<CreateLink />}>
              During maintenance, problems are hidden and send no notifications. To silence a host
              or a problem immediately, use the crossed bell in its row.
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
