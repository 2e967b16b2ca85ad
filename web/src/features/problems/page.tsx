import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import { explain } from "~/api/errors";
import { maySilence } from "~/api/maintenance";
import {
  hiddenCountQuery,
  type ProblemFilter,
  type ProblemRow,
  problemCountQuery,
  problemIds,
  problemWindow,
  SELECT_MAX,
} from "~/api/problems";
import { allows, type RoleAction } from "~/api/session-store";
import { together, useRowWindow, useVisible } from "~/api/windows";
import { QueryError, StaleError } from "~/shared/fallback";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { Count, Page, Sheet } from "~/shared/page";
import { mayRunScripts, Scripts } from "~/shared/scripts/button";
import { SilenceDialog } from "~/shared/silence";
import { Button } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { SkeletonRows } from "~/ui/state";
import { VirtualTable } from "~/ui/table";
import { toast } from "~/ui/toast";
import { formatCount } from "~/util/format";
import { parseSearch, replacesEntry } from "~/util/search";
import { tagFilterText } from "~/util/tags";
import { problemColumns, silencesOf, targetOf } from "./columns";
import { EventDrawer } from "./event-drawer";
import { groupingOf, NO_FILTERS, type ProblemSearch, toFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { ProblemGroups } from "./groups";
import { NoProblems } from "./no-problems";
import { texts } from "./texts";
import { mayUpdate, UpdateDialog, useUpdateProblems } from "./update-dialog";

const route = getRouteApi("/inside/problems");

interface Updating {
  eventids: string[];
  initial: "acknowledge" | "message" | "close";
}

/** The actions of a role that keys on a row need. */
const KEY_ACTIONS: Readonly<Record<string, RoleAction>> = {
  a: "acknowledge_problems",
  m: "add_problem_comments",
  c: "close_problems",
};

/** The filter of the address: the open event and the order of the rows do not change it. */
function useFilter(search: ProblemSearch, leaveOut: Partial<ProblemSearch>): ProblemFilter {
  const key = JSON.stringify({ ...search, ...leaveOut });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the search
  return useMemo(() => toFilter(search), [key]);
}

type Change = (next: Partial<ProblemSearch>) => void;

/**
 * Opens and closes the details of a problem. Closing goes back to before they were opened, if that was the
 * last step: a change of the filters ends this.
 */
function useDetails(search: ProblemSearch, change: Change) {
  const opened = useRef(false);
  const open = (row: ProblemRow) => {
    if (!search.event) opened.current = true;
    change({ event: row.eventid });
  };
  const close = () => {
    if (opened.current) history.back();
    else change({ event: undefined });
    opened.current = false;
  };
  const narrow: Change = (next) => {
    opened.current = false;
    change(next);
  };
  return { open, close, narrow };
}

interface RowActions {
  acknowledge: (eventids: string[]) => void;
  update: (updating: Updating) => void;
  silence: (row: ProblemRow) => void;
  scripts: (row: ProblemRow) => void;
}

/** Keys on a row act on it, or on the chosen rows; the answer is whether the key does something. */
function rowKeys(chosen: string[], actions: RowActions) {
  return (key: string, row: ProblemRow): boolean => {
    const eventids = chosen.length ? chosen : [row.eventid];
    const denied = KEY_ACTIONS[key];
    if (denied && !allows(denied)) toast(texts.yourUserRoleDoes, "bad");
    else if (key === "a") actions.acknowledge(eventids);
    else if (key === "m") actions.update({ eventids, initial: "message" });
    else if (key === "s" && maySilence() && !row.r_clock) actions.silence(row);
    else if (key === "r" && mayRunScripts()) actions.scripts(row);
    else if (key === "c") {
      if (row.manualClose || chosen.length) actions.update({ eventids, initial: "close" });
      else toast(texts.theTriggerOfThis, "bad");
    } else return false;
    return true;
  };
}

/** What the user does with a row in a dialog. */
interface Acting {
  what: "silence" | "scripts";
  row: ProblemRow;
}

function RowDialog({ what, row, onClose }: Acting & { onClose: () => void }) {
  if (what === "scripts")
    return <Scripts target={{ eventid: row.eventid }} name={row.name} onClose={onClose} />;
  return <SilenceDialog target={targetOf(row)} running={silencesOf(row)} onClose={onClose} />;
}

/** Changes words of the address. */
function useChange(): Change {
  const navigate = route.useNavigate();
  return useCallback(
    (next) =>
      void navigate({
        search: (old) => ({ ...old, ...next }),
        replace: replacesEntry(parseSearch(location.search), next),
      }),
    [navigate],
  );
}

export function ProblemsPage() {
  const search = route.useSearch();
  const change = useChange();
  const grouping = groupingOf(search);
  return grouping ? (
    <ProblemGroups search={search} grouping={grouping} onChange={change} />
  ) : (
    <ProblemList search={search} change={change} />
  );
}

/** Problems one by one. */
function ProblemList({ search, change }: { search: ProblemSearch; change: Change }) {
  const [visible, onVisible] = useVisible();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [updating, setUpdating] = useKeptState<Updating | null>("update dialog", null);
  const [acting, setActing] = useState<Acting | null>(null);
  const filter = useFilter(search, { event: undefined });
  const count = useQuery(problemCountQuery(filter));
  const update = useUpdateProblems();

  const { open, close, narrow } = useDetails(search, change);
  const rows = useRowWindow<ProblemRow>({
    queryKey: ["problems", "rows", filter],
    visible,
    fetch: (offset, limit, signal) => problemWindow(filter, offset, limit, signal),
    live: "problems",
  });
  const query = together(rows, count);
  const total = count.data;
  const selectAll = async () => {
    try {
      setSelected(new Set(await problemIds(filter, 0, SELECT_MAX)));
    } catch (failure) {
      toast(explain(failure).what, "bad");
    }
  };
  const { silence, scripts } = useMemo(
    () => ({
      silence: (row: ProblemRow) => setActing({ what: "silence", row }),
      scripts: (row: ProblemRow) => setActing({ what: "scripts", row }),
    }),
    [],
  );
  const columns = useMemo(
    () => problemColumns((tag) => change({ tags: tagFilterText(tag) }), silence, scripts),
    [change, silence, scripts],
  );
  const chosen = useMemo(() => [...selected], [selected]);
  const acknowledge = (eventids: string[]) =>
    update.mutate({ eventids, update: { acknowledge: true } });
  const onKey = rowKeys(chosen, { acknowledge, update: setUpdating, silence, scripts });

  return (
    <Page
      title={texts.problems}
      heading={
        <>
          {texts.problems}
          {total !== undefined && <Count>{formatCount(total)}</Count>}
          <Hidden search={search} onChange={change} />
        </>
      }
      actions={
        chosen.length > 0 && (
          <BulkBar
            count={chosen.length}
            total={total ?? 0}
            onAcknowledge={() => acknowledge(chosen)}
            onUpdate={() => setUpdating({ eventids: chosen, initial: "acknowledge" })}
            onClear={() => setSelected(new Set())}
          />
        )
      }
      filters
      bar={<FilterBar search={search} onChange={narrow} />}
    >
      {query.error && !rows.ready ? (
        <QueryError error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <StaleError query={query} className="mb-2" />
          <Sheet>
            {total === undefined ? (
              <SkeletonRows rows={12} />
            ) : (
              <VirtualTable
                label={texts.problems}
                columns={columns}
                count={total}
                rowAt={rows.rowAt}
                idOf={(row) => row.eventid}
                onVisible={onVisible}
                selected={mayUpdate() ? selected : undefined}
                onSelect={mayUpdate() ? setSelected : undefined}
                onSelectAll={selectAll}
                allCount={Math.min(total, SELECT_MAX)}
                openId={search.event}
                onOpen={open}
                onKey={onKey}
                sort={{ id: filter.sort ?? "time", desc: true }}
                onSort={({ id }) => change({ sort: id === "severity" ? "severity" : undefined })}
                empty={<NoProblems search={search} onClear={() => change(NO_FILTERS)} />}
              />
            )}
          </Sheet>
          {search.event && (
            <EventDrawer key={search.event} eventid={search.event} onClose={close} />
          )}
        </div>
      )}
      {acting && <RowDialog {...acting} onClose={() => setActing(null)} />}
      {updating && <UpdateDialog {...updating} onClose={() => setUpdating(null)} />}
    </Page>
  );
}

interface HiddenProps {
  search: ProblemSearch;
  onChange: (next: Partial<ProblemSearch>) => void;
}

/** How many problems are hidden because they are silenced, and the way to them and back. */
function Hidden({ search, onChange }: HiddenProps) {
  const shown = search.suppressed === "yes";
  const filter = useFilter(search, { event: undefined, sort: undefined });
  const { data: count = 0 } = useQuery(hiddenCountQuery(filter));
  if (count === 0 && !shown) return null;
  return (
    <span className="flex items-center gap-1.5 text-sm font-normal text-soft">
      <Icon name="mute" size={14} />
      <span>{shown ? texts.silencedShown(count) : texts.hidden(count)}</span>
      <button
        type="button"
        className="text-accent-ink hover:underline"
        onClick={() => onChange({ suppressed: shown ? undefined : "yes" })}
      >
        {shown ? texts.hide : texts.show}
      </button>
    </span>
  );
}

interface BulkBarProps {
  count: number;
  /** Rows of the list, selected or not. */
  total: number;
  onAcknowledge: () => void;
  onUpdate: () => void;
  onClear: () => void;
}

function BulkBar({ count, total, onAcknowledge, onUpdate, onClear }: BulkBarProps) {
  return (
    <>
      <span className="tabular text-soft">
        {count >= SELECT_MAX && total > count
          ? texts.firstSelected(count, total)
          : texts.selected(count)}
      </span>
      {allows("acknowledge_problems") && (
        <Button look="primary" icon="check" onClick={onAcknowledge}>
          {texts.acknowledge}
        </Button>
      )}
      <Button icon="comment" onClick={onUpdate}>
        {texts.update}
      </Button>
      <Button look="quiet" onClick={onClear}>
        {texts.deselect}
      </Button>
    </>
  );
}
