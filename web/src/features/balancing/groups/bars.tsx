import { useQuery } from "@tanstack/react-query";
import { type Engine, figuresQuery } from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { LoadBar } from "~/charts/load-bar";
import { QueryError, StaleError } from "~/shared/fallback";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatNumber, formatUnits } from "~/util/format";
import { useNow } from "~/util/hooks";
import { coreMarks, FIGURES, type Load, type Loads, loadsOf, perCore, type Sum } from "./load";
import { loads as texts } from "./texts";

const GRID =
  "grid items-center gap-x-4 gap-y-0.5 grid-cols-2 sm:grid-cols-[minmax(6rem,10rem)_minmax(0,1fr)_minmax(0,1fr)_7rem]";

const rate = (value: number | undefined) =>
  value === undefined ? texts.unknown : texts.perSecond(formatUnits(value, ""));
const cores = (value: number | undefined) =>
  value === undefined ? texts.unknown : texts.cores(formatNumber(Number(value.toFixed(2))));
const quotient = (value: number | undefined) =>
  value === undefined ? "–" : texts.perSecond(formatUnits(value, ""));

interface MeasureProps {
  label: string;
  value: string;
  share: number | undefined;
  marks?: readonly number[];
  tone: "accent" | "good";
}

/** A bar and its value. */
function Measure({ label, value, share, marks, tone }: MeasureProps) {
  return (
    <span
      role="img"
      aria-label={label}
      className="grid items-center gap-x-2 sm:grid-cols-[minmax(0,1fr)_5.5rem]"
    >
      <LoadBar share={share} marks={marks} tone={tone} />
      <span
        className={`tabular truncate text-xs max-sm:order-first sm:text-right ${share === undefined ? "text-faint" : ""}`}
      >
        {value}
      </span>
    </span>
  );
}

function EngineBars({ load, loads }: { load: Load; loads: Loads }) {
  const { requests, cores: used } = load;
  return (
    <li className={`${GRID} border-t py-1.5`}>
      <span className="truncate font-medium max-sm:col-span-2" title={load.name}>
        {load.name}
      </span>
      <Measure
        label={texts.bar(load.name, texts.requests, rate(requests))}
        value={rate(requests)}
        share={requests === undefined ? undefined : requests / loads.requestsMax}
        tone="accent"
      />
      <Measure
        label={texts.bar(load.name, texts.cpu, cores(used))}
        value={cores(used)}
        share={used === undefined ? undefined : used / loads.coresMax}
        marks={coreMarks(loads.coresMax)}
        tone="good"
      />
      <span className="tabular text-right text-xs text-soft max-sm:hidden">
        {quotient(perCore(requests, used))}
      </span>
    </li>
  );
}

interface HeadProps {
  title: string;
  hint: string;
  sum: Sum;
  value: string;
  engines: number;
}

/** What a column of bars shows, and the sum of all engines. */
function Head({ title, hint, sum, value, engines }: HeadProps) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="text-xs font-medium">{title}</span>
      <span className="text-xs text-soft max-sm:hidden">{hint}</span>
      <span className="tabular pt-1 text-lg font-semibold">
        {sum.known > 0 ? value : texts.unknown}
        {sum.known > 0 && sum.known < engines && (
          <span className="pl-2 text-xs font-normal text-soft">
            {texts.known(sum.known, engines)}
          </span>
        )}
      </span>
    </span>
  );
}

function Bars({ loads }: { loads: Loads }) {
  const { engines, requests, cores: used } = loads;
  const all = perCore(
    requests.known ? requests.value : undefined,
    used.known ? used.value : undefined,
  );
  return (
    <>
      <div className={`${GRID} items-end pb-2`}>
        <span className="text-sm font-semibold max-sm:col-span-2">{texts.all}</span>
        <Head
          title={texts.scaleOut}
          hint={texts.scaleOutHint}
          sum={requests}
          value={rate(requests.value)}
          engines={engines.length}
        />
        <Head
          title={texts.scaleUp}
          hint={texts.scaleUpHint}
          sum={used}
          value={cores(used.value)}
          engines={engines.length}
        />
        <span className="flex flex-col text-right max-sm:hidden">
          <span className="text-xs font-medium">{texts.perCore}</span>
          <span className="tabular pt-1 text-lg font-semibold">{quotient(all)}</span>
        </span>
      </div>
      <ul aria-label={texts.title}>
        {engines.map((load) => (
          <EngineBars key={load.id} load={load} loads={loads} />
        ))}
      </ul>
    </>
  );
}

/** Requests and CPU of each engine side by side, as they change: scale-out beside scale-up. */
export function LoadView({ engines }: { engines: readonly Engine[] }) {
  const ids = engines.map((one) => one.engineid);
  const query = useQuery(figuresQuery("engine", ids, FIGURES));
  const loads = loadsOf(engines, query.data, atServer(useNow()));
  if (query.error && !query.data) {
    return <QueryError error={query.error} onRetry={() => void query.refetch()} />;
  }
  if (!query.data && engines.length > 0) return <SkeletonRows />;
  const isKnown = loads.requests.known + loads.cores.known > 0;
  return (
    <div className="h-full overflow-auto p-4">
      <StaleError query={query} className="mb-2" />
      {isKnown ? (
        <>
          <Bars loads={loads} />
          <p className="border-t pt-2 text-xs text-soft">{texts.refreshed}</p>
        </>
      ) : (
        <Empty icon="gauge" title={texts.none}>
          {texts.noneHint}
        </Empty>
      )}
    </div>
  );
}
