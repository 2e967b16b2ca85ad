import { useQuery } from "@tanstack/react-query";
import { engineGroupsQuery, type Service, servicesQuery, vipsQuery } from "~/api/balancing";
import {
  type BalancingChange,
  enginesQuery,
  figuresQuery,
  freshFigure,
  type Touched,
} from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { formatCount, plural } from "~/util/format";
import { useNow } from "~/util/hooks";
import { EngineLines } from "../engines/lines";
import { afterChange, listeners, movedListeners } from "./listeners";
import { texts } from "./texts";

const CONNECTIONS = "connections";
const FIGURES = [CONNECTIONS];
/** Services whose open connections are shown. */
const MEASURED = 50;

interface TouchedProps {
  touched: Touched;
  service: Service | undefined;
  /** The group that serves it after the change, and how many engines it has. */
  group: string;
  /** The change of its group, in words. */
  moves: string;
  moved: ReturnType<typeof movedListeners>;
  /** Open connections; undefined: unknown. */
  open: number | undefined;
}

/** What a change does to the listeners and connections of a service. */
function Effect({ touched, service, moves, moved, open }: TouchedProps) {
  // A service that starts, stops or moves has its listeners in the database before and after.
  const { change } = touched;
  const starts = change === "added" || moves !== "";
  const stay = change === "changed" && !starts ? moved.stay : [];
  const begin = starts ? [...moved.stay, ...moved.begin] : moved.begin;
  const end = change === "removed" ? [...moved.stay, ...moved.end] : moved.end;
  const words = [
    moves,
    stay.length > 0 ? texts.listens(stay.join(", ")) : "",
    change !== "removed" && begin.length > 0 ? texts.listensNew(begin.join(", ")) : "",
    !starts && end.length > 0 ? `${texts.listensNoMore(end.join(", "))} ${texts.leftOpen}` : "",
    stay.length > 0 ? (service?.type === "http" ? texts.staysHttp : texts.staysTcp) : "",
    change !== "added" && open !== undefined
      ? texts.openConnections(plural(open, texts.connectionWord))
      : "",
  ];
  return words.filter(Boolean).map((one) => (
    <p key={one} className="text-xs text-soft">
      {one}
    </p>
  ));
}

function TouchedRow(props: TouchedProps) {
  return (
    <li className="flex flex-col gap-0.5">
      <span className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium break-all">{props.touched.name}</span>
        <span>{texts[props.touched.change]}</span>
        <span className="text-xs text-faint">{props.group}</span>
      </span>
      <Effect {...props} />
    </li>
  );
}

interface TouchedListProps {
  touched: readonly Touched[];
  change: BalancingChange;
}

/** The services that a change touches, with their listeners and engines. */
export function TouchedList({ touched, change }: TouchedListProps) {
  const { data: services = [] } = useQuery(servicesQuery());
  const { data: vips = [] } = useQuery(vipsQuery());
  const { data: groups = [] } = useQuery(engineGroupsQuery());
  const { data: engines } = useQuery(enginesQuery());
  // Those of thousands of services would be a long request for a short look.
  const measured = touched.slice(0, MEASURED).map((one) => one.virtualserviceid);
  const { data: figures } = useQuery(figuresQuery("service", measured, FIGURES));
  const now = atServer(useNow());
  const before = { services, vips };
  const after = afterChange(before, change);
  const groupName = (id: string) => groups.find((one) => one.enginegroupid === id)?.name ?? "";
  const groupWords = (id: string) => {
    const name = groupName(id);
    if (!engines) return name;
    const count = engines.filter((one) => one.enginegroupid === id).length;
    return texts.onEngines(name, count ? plural(count, texts.engineWord) : texts.noEngines);
  };
  return (
    <>
      <p>
        {texts.touches(
          touched.length === 1
            ? plural(1, texts.serviceWord)
            : `${formatCount(touched.length)} ${texts.serviceWord}s`,
        )}
      </p>
      <ul className="flex max-h-96 flex-col gap-3 overflow-auto text-sm">
        {touched.map((one) => (
          <TouchedRow
            key={one.virtualserviceid}
            touched={one}
            service={services.find((row) => row.virtualserviceid === one.virtualserviceid)}
            group={groupWords(one.enginegroupid)}
            moves={
              one.from === one.enginegroupid
                ? ""
                : texts.moves(groupName(one.from), groupName(one.enginegroupid))
            }
            open={freshFigure(figures, one.virtualserviceid, CONNECTIONS, now)}
            moved={movedListeners(
              listeners(one.virtualserviceid, before),
              listeners(one.virtualserviceid, after),
            )}
          />
        ))}
      </ul>
    </>
  );
}

/** The engines of groups, and whether they run what was saved. */
export function Applied({ groups }: { groups: ReadonlySet<string> }) {
  const { data } = useQuery(enginesQuery());
  const some = data?.some((one) => groups.has(one.enginegroupid));
  return (
    <>
      {data && <p>{some ? texts.engines : texts.noEngine}</p>}
      <EngineLines of={(engine) => groups.has(engine.enginegroupid)} />
    </>
  );
}
