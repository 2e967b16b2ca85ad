import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import {
  type EngineGroup,
  engineGroupsQuery,
  mayBalance,
  type Vip,
  vipsQuery,
} from "~/api/balancing";
import { type Engine, enginesQuery } from "~/api/engines";
import { explain } from "~/api/errors";
import { placementInterval, placementQuery } from "~/api/placement";
import { atServer } from "~/api/server-clock";
import { Gone, QueryError } from "~/shared/fallback";
import { CRUMB, Page, Sheet } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented, Tabs } from "~/ui/segmented";
import { ErrorNote, SkeletonRows } from "~/ui/state";
import { formatCount } from "~/util/format";
import { useNow, useTyped } from "~/util/hooks";
import { oneOf } from "~/util/one-of";
import { formatClock, formatDuration } from "~/util/time";
import { LoadView } from "./bars";
import { EngineDetails, VipDetails } from "./details";
import { modeOf } from "./draft";
import { EngineTable } from "./engines";
import { Matrix } from "./matrix";
import { columnsFor, findEngines, findVips, type GroupSeen, groupSeen, isShort } from "./seen";
import { Summary } from "./summary";
import { texts } from "./texts";
import { VipTable } from "./vips";

const route = getRouteApi("/inside/balancing/engine-groups/$id/placement");
const VIEWS = ["vips", "engines", "matrix", "load"] as const;
type View = (typeof VIEWS)[number];

const NO_VIPS: readonly Vip[] = [];
const NO_ENGINES: readonly Engine[] = [];

/** The placement with its age. Ages in words change every few seconds, not every second. */
const TICK_S = 5;
const SLACK_S = 10;

/** The placement of a group as it is seen now. */
function useSeen(group: EngineGroup) {
  const query = useQuery(placementQuery(group.enginegroupid));
  const { data: allEngines } = useQuery(enginesQuery());
  const { data: vips = NO_VIPS } = useQuery(vipsQuery());
  const clock = useNow();
  const now = atServer(Math.floor(clock / TICK_S) * TICK_S);
  const { data: placement, error, dataUpdatedAt } = query;
  const since = Math.floor(dataUpdatedAt / 1000);
  const late = (3 * placementInterval(placement)) / 1000 + SLACK_S;
  const stale = placement !== undefined && (error !== null || clock - since > late);
  const engines = useMemo(
    () => allEngines?.filter((one) => one.enginegroupid === group.enginegroupid) ?? NO_ENGINES,
    [allEngines, group.enginegroupid],
  );
  const { ha_mode: mode, vips_per_engine } = group;
  const limited = vips_per_engine !== undefined && vips_per_engine !== "0";
  const seen = useMemo(
    () => placement && groupSeen({ placement, engines, vips, mode, now, stale, limited }),
    [placement, engines, vips, mode, now, stale, limited],
  );
  return { query, seen, engines, stale, since, now };
}

interface StaleProps {
  since: number;
  error: Error | null;
  onRetry: () => void;
}

/** Says that nothing on the page is from now. */
function Stale({ since, error, onRetry }: StaleProps) {
  const age = formatDuration(Math.max(0, useNow() - since));
  const todo = error ? `${explain(error).what} ${texts.staleTodo}` : texts.staleTodo;
  return (
    <ErrorNote
      what={texts.stale(formatClock(since), age)}
      todo={todo}
      onRetry={onRetry}
      className="mb-2"
    />
  );
}

interface ViewsProps {
  view: View;
  text: string;
  onlyShort: boolean;
  seen: GroupSeen;
  engines: readonly Engine[];
  now: number;
  onClear?: () => void;
}

/** One of the views, and the details of the row that is open. */
function Views({ view, text, onlyShort, seen, engines, now, onClear }: ViewsProps) {
  const [open, setOpen] = useState<{ kind: "vip" | "engine"; id: string } | null>(null);
  const vips = findVips(seen.vips, text, onlyShort);
  const onVip = ({ id }: { id: string }) => setOpen({ kind: "vip", id });
  const openVip = open?.kind === "vip" && seen.vips.find((one) => one.id === open.id);
  const openEngine = open?.kind === "engine" && seen.engines.find((one) => one.id === open.id);
  const close = () => setOpen(null);
  return (
    <>
      <Sheet>
        {view === "vips" && <VipTable vips={vips} onOpen={onVip} onClear={onClear} />}
        {view === "engines" && (
          <EngineTable
            engines={findEngines(seen.engines, text)}
            onOpen={({ id }) => setOpen({ kind: "engine", id })}
            onClear={onClear}
          />
        )}
        {view === "matrix" && (
          <Matrix
            vips={vips}
            engines={columnsFor(seen.engines, text)}
            onOpen={onVip}
            onClear={onClear}
          />
        )}
        {view === "load" && <LoadView engines={engines} />}
      </Sheet>
      {openVip && <VipDetails vip={openVip} now={now} onClose={close} />}
      {openEngine && <EngineDetails engine={openEngine} onClose={close} />}
    </>
  );
}

interface FiltersProps {
  text: string;
  setText: (text: string) => void;
  onlyShort: boolean;
  setShort: (only: boolean) => void;
  short: number;
  /** Whether the view shows VIPs. */
  ofVips: boolean;
}

function Filters({ text, setText, onlyShort, setShort, short, ofVips }: FiltersProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 py-2">
      <SearchBox label={texts.search} value={text} onChange={setText} className="w-64" />
      {ofVips && (
        <Segmented
          label={texts.show}
          value={onlyShort ? "short" : "all"}
          options={[
            ["all", texts.everything],
            ["short", texts.short(formatCount(short))],
          ]}
          onChange={(show) => setShort(show === "short")}
        />
      )}
    </div>
  );
}

/** What is known of a group, in several views. */
function Group({ group }: { group: EngineGroup }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = oneOf(search.view, VIEWS) ?? "vips";
  const set = (next: Partial<typeof search>, replace = true) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const [text, setText] = useTyped(search.text ?? "", (value) => set({ text: value || undefined }));
  const { query, seen, engines, stale, since, now } = useSeen(group);
  if (!seen) {
    if (query.error) return <QueryError error={query.error} onRetry={() => void query.refetch()} />;
    return query.data === null ? <Gone icon="search" title={texts.gone} /> : <SkeletonRows />;
  }
  const ofVips = view === "vips" || view === "matrix";
  const onlyShort = search.show === "short" && ofVips;
  const clear = () => {
    setText("");
    set({ text: undefined, show: undefined });
  };
  const tabs = [
    ["vips", texts.vips, formatCount(seen.vips.length)],
    ["engines", texts.engines, formatCount(seen.engines.length)],
    ["matrix", texts.matrix],
    ["load", texts.load],
  ] as const;
  return (
    <>
      {stale && <Stale since={since} error={query.error} onRetry={() => void query.refetch()} />}
      <Summary seen={seen} stale={stale} />
      <Tabs
        label={texts.view}
        value={view}
        options={tabs}
        onChange={(next) => set({ view: next === "vips" ? undefined : next }, false)}
      />
      {view === "load" ? (
        <div className="h-2 shrink-0" />
      ) : (
        <Filters
          text={text}
          setText={setText}
          onlyShort={onlyShort}
          setShort={(only) => set({ show: only ? "short" : undefined })}
          short={seen.vips.filter(isShort).length}
          ofVips={ofVips}
        />
      )}
      <Views
        view={view}
        text={text}
        onlyShort={onlyShort}
        seen={seen}
        engines={engines}
        now={now}
        onClear={text || onlyShort ? clear : undefined}
      />
    </>
  );
}

/** The page of an engine group: where its VIPs are, and what its engines do. */
export function GroupPage() {
  const { id } = route.useParams();
  const groups = useQuery(engineGroupsQuery());
  const group = groups.data?.find((one) => one.enginegroupid === id);
  const title = group?.name ?? texts.group;
  return (
    <Page
      title={title}
      heading={
        <>
          <Link to="/balancing/engine-groups" className={CRUMB}>
            {texts.groups}
          </Link>
          <span className="truncate">{title}</span>
          {group && <span className="text-sm font-normal text-soft">{modeOf(group)}</span>}
        </>
      }
      actions={
        group &&
        mayBalance() && (
          <Link
            to="/balancing/$kind/$id/edit"
            params={{ kind: "engine-groups", id }}
            className={buttonClass()}
          >
            <Icon name="edit" size={15} />
            {texts.editGroup}
          </Link>
        )
      }
    >
      {groups.error && !groups.data && (
        <QueryError error={groups.error} onRetry={() => void groups.refetch()} />
      )}
      {groups.data && !group && <Gone icon="search" title={texts.gone} />}
      {!groups.error && !groups.data && <SkeletonRows />}
      {group && <Group key={id} group={group} />}
    </Page>
  );
}
