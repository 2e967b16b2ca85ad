import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { maySilence } from "~/api/maintenance";
import {
  fetchProblemRows,
  HEAD_ROWS,
  hiddenCountQuery,
  type ProblemRow,
  problemIdsQuery,
} from "~/api/problems";
import { useVisible, useWindows } from "~/api/windows";
import { SilenceDialog } from "~/parts/silence";
import { QueryError } from "~/shell/fallback";
import { Count, Page, Sheet } from "~/shell/page";
import { Button } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { Empty, SkeletonRows } from "~/ui/state";
import { VirtualTable } from "~/ui/table";
import { toast } from "~/ui/toast";
import { formatCount, plural } from "~/util/format";
import { isNarrowed } from "~/util/search";
import { tagFilterText } from "~/util/tags";
import { problemColumns, silencesOf, targetOf } from "./problems-parts/columns";
import { EventDrawer } from "./problems-parts/event-drawer";
import { NO_FILTERS, type ProblemSearch, toFilter } from "./problems-parts/filter";
import { FilterBar } from "./problems-parts/filter-bar";
import { UpdateDialog, useUpdateProblems } from "./problems-parts/update-dialog";

const route = getRouteApi("/inside/problems");

interface Updating {
  eventids: string[];
  initial: "acknowledge" | "message" | "close";
}

/** The ids of all rows: a short head at once, the rest as soon as it is there. */
function useProblemIds(search: ProblemSearch) {
  const key = JSON.stringify({ ...search, event: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the open event does not change the list
  const filter = useMemo(() => toFilter(search), [key]);
  const head = useQuery(problemIdsQuery(filter, HEAD_ROWS));
  const more = (head.data?.length ?? 0) >= HEAD_ROWS;
  const all = useQuery({ ...problemIdsQuery(filter), enabled: more });
  const ids = (more ? all.data : undefined) ?? head.data;
  const complete = !more || all.isSuccess;
  return {
    filter,
    ids,
    complete,
    error: head.error ?? all.error,
    refetch: more ? all.refetch : head.refetch,
  };
}

export function ProblemsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [visible, onVisible] = useVisible();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [updating, setUpdating] = useState<Updating | null>(null);
  const [silencing, setSilencing] = useState<ProblemRow | null>(null);
  const { filter, ids, complete, error, refetch } = useProblemIds(search);
  const update = useUpdateProblems();

  const change = useCallback(
    (next: Partial<ProblemSearch>) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace: true }),
    [navigate],
  );
  const rowAt = useWindows<ProblemRow>({
    queryKey: ["problems", "rows", filter.mode],
    ids: ids ?? [],
    visible,
    fetch: (window, signal) => fetchProblemRows(filter.mode, window, signal),
    idOf: (row) => row.eventid,
    live: "problems",
  });
  const columns = useMemo(
    () => problemColumns((tag) => change({ tags: tagFilterText(tag) }), setSilencing),
    [change],
  );
  const chosen = [...selected].filter((id) => ids?.includes(id));
  const targets = (row: ProblemRow) => (chosen.length ? chosen : [row.eventid]);
  const onKey = (key: string, row: ProblemRow): boolean => {
    if (key === "a") update.mutate({ eventids: targets(row), update: { acknowledge: true } });
    else if (key === "m") setUpdating({ eventids: targets(row), initial: "message" });
    else if (key === "s" && maySilence() && !row.r_clock) setSilencing(row);
    else if (key === "c") {
      if (row.manualClose || chosen.length)
        setUpdating({ eventids: targets(row), initial: "close" });
      else toast("The trigger of this problem does not allow closing by hand.", "bad");
    } else return false;
    return true;
  };

  return (
    <Page
      title="Problems"
      heading={
        <>
          Problems
          {ids && <Count>{complete ? formatCount(ids.length) : "counting…"}</Count>}
          <Hidden search={search} onChange={change} />
        </>
      }
      actions={
        chosen.length > 0 && (
          <BulkBar
            count={chosen.length}
            onAcknowledge={() => update.mutate({ eventids: chosen, update: { acknowledge: true } })}
            onUpdate={() => setUpdating({ eventids: chosen, initial: "acknowledge" })}
            onClear={() => setSelected(new Set())}
          />
        )
      }
      filters
      bar={<FilterBar search={search} onChange={change} />}
    >
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <Sheet>
            {!ids ? (
              <SkeletonRows rows={12} />
            ) : (
              <VirtualTable
                label="Problems"
                columns={columns}
                count={ids.length}
                rowAt={rowAt}
                idOf={(row) => row.eventid}
                onVisible={onVisible}
                selected={selected}
                onSelect={setSelected}
                allIds={ids}
                openId={search.event}
                onOpen={(row) => change({ event: row.eventid })}
                onKey={onKey}
                sort={{ id: filter.sort ?? "time", desc: true }}
                onSort={({ id }) => change({ sort: id === "severity" ? "severity" : undefined })}
                empty={<NoProblems search={search} onClear={() => change(NO_FILTERS)} />}
              />
            )}
          </Sheet>
          {search.event && (
            <EventDrawer
              key={search.event}
              eventid={search.event}
              onClose={() => change({ event: undefined })}
            />
          )}
        </div>
      )}
      {silencing && (
        <SilenceDialog
          target={targetOf(silencing)}
          running={silencesOf(silencing)}
          onClose={() => setSilencing(null)}
        />
      )}
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
  const key = JSON.stringify({ ...search, event: undefined, sort: undefined });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the open event does not change the count
  const filter = useMemo(() => toFilter(search), [key]);
  const { data: count = 0 } = useQuery(hiddenCountQuery(filter));
  if (count === 0 && !shown) return null;
  return (
    <span className="flex items-center gap-1.5 text-sm font-normal text-soft">
      <Icon name="mute" size={14} />
      <span>{shown ? `${formatCount(count)} silenced shown` : `${formatCount(count)} hidden`}</span>
      <button
        type="button"
        className="text-accent-ink hover:underline"
        onClick={() => onChange({ suppressed: shown ? undefined : "yes" })}
      >
        {shown ? "Hide" : "Show"}
      </button>
    </span>
  );
}

interface BulkBarProps {
  count: number;
  onAcknowledge: () => void;
  onUpdate: () => void;
  onClear: () => void;
}

function BulkBar({ count, onAcknowledge, onUpdate, onClear }: BulkBarProps) {
  return (
    <>
      <span className="tabular text-soft">{plural(count, "problem")} selected</span>
      <Button look="primary" icon="check" onClick={onAcknowledge}>
        Acknowledge
      </Button>
      <Button icon="comment" onClick={onUpdate}>
        Message, severity, close…
      </Button>
      <Button look="quiet" onClick={onClear}>
        Deselect
      </Button>
    </>
  );
}

function NoProblems({ search, onClear }: { search: ProblemSearch; onClear: () => void }) {
  if (isNarrowed(search, NO_FILTERS)) {
    return (
      <Empty
        icon="filter"
        title="No problem matches these filters"
        action={<Button onClick={onClear}>Clear filters</Button>}
      >
        Loosen a filter, or look into the history.
      </Empty>
    );
  }
  return (
    <Empty
      icon="check"
      title={search.show === "history" ? "Nothing happened in this span of time" : "No problems"}
    >
      {search.show === "history"
        ? "Choose a longer span."
        : "Everything that is watched is as it should be. What happened before is in the history."}
    </Empty>
  );
}
