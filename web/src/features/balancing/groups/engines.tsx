import { Dot } from "~/ui/severity";
import { type Column, VirtualTable } from "~/ui/table";
import { formatCount } from "~/util/format";
import { Nothing } from "./nothing";
import type { EngineSeen } from "./seen";
import { texts } from "./texts";

const NAMED = 12;

/** The first names of a list, and how many follow. */
function Names({ names }: { names: readonly string[] }) {
  const rest = names.length - NAMED;
  return (
    <span className="text-soft">
      {names.slice(0, NAMED).join(", ")}
      {rest > 0 && ` +${rest}`}
    </span>
  );
}

/** The state of an engine with its dot. */
export function Status({ engine }: { engine: EngineSeen }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={engine.words}>
      <Dot tone={engine.tone} />
      <span className="truncate">{engine.words}</span>
    </span>
  );
}

/** How many more VIPs an engine can take. */
function Room({ engine }: { engine: EngineSeen }) {
  if (engine.room === undefined || engine.status !== "up") return null;
  return (
    <span className="text-soft">
      {engine.room > 0 ? texts.roomFor(formatCount(engine.room)) : texts.full}
    </span>
  );
}

const COLUMNS: readonly Column<EngineSeen>[] = [
  {
    id: "summary",
    header: texts.engine,
    width: "minmax(0, 1fr)",
    on: "narrow",
    cell: (engine) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex items-center justify-between gap-2">
          <span className="truncate font-medium">{engine.name}</span>
          <span className="tabular shrink-0 text-xs text-soft">
            {texts.counts(engine.active.length, engine.standby.length)}
            <span className="pl-2 empty:hidden">
              <Room engine={engine} />
            </span>
          </span>
        </span>
        <span className="text-xs">
          <Status engine={engine} />
        </span>
      </span>
    ),
  },
  {
    id: "engine",
    header: texts.engine,
    width: "minmax(9rem, 0.8fr)",
    on: "wide",
    cell: (engine) => (
      <span className="font-medium" title={engine.name}>
        {engine.name}
      </span>
    ),
  },
  {
    id: "state",
    header: texts.state,
    width: "minmax(17rem, 1fr)",
    on: "wide",
    cell: (engine) => <Status engine={engine} />,
  },
  {
    id: "active-count",
    header: texts.active,
    width: "4rem",
    on: "wide",
    align: "right",
    cell: (engine) => formatCount(engine.active.length),
  },
  {
    id: "standby-count",
    header: texts.standby,
    width: "4rem",
    on: "wide",
    align: "right",
    cell: (engine) => formatCount(engine.standby.length),
  },
  {
    id: "room",
    header: texts.room,
    width: "5rem",
    on: "wide",
    align: "right",
    cell: (engine) => <Room engine={engine} />,
  },
  {
    id: "vips",
    header: texts.activeFor,
    width: "minmax(8rem, 2fr)",
    on: "wide",
    cell: (engine) => <Names names={engine.active} />,
  },
  {
    id: "standby-for",
    header: texts.standbyFor,
    width: "minmax(6rem, 1fr)",
    on: "wide",
    cell: (engine) => <Names names={engine.standby} />,
  },
];

const idOf = (engine: EngineSeen) => engine.id;
const ALONE = COLUMNS.filter(({ id }) => !id.startsWith("standby"));

interface EngineTableProps {
  engines: readonly EngineSeen[];
  onOpen: (engine: EngineSeen) => void;
  onClear?: () => void;
}

/** Engines with their states and VIPs; a row opens the details. */
export function EngineTable({ engines, onOpen, onClear }: EngineTableProps) {
  return (
    <VirtualTable
      label={texts.engines}
      columns={engines.some((engine) => engine.standby.length > 0) ? COLUMNS : ALONE}
      count={engines.length}
      rowAt={(index) => engines[index]}
      idOf={idOf}
      onOpen={onOpen}
      empty={<Nothing title={texts.noEngines} hint={texts.noEnginesHint} onClear={onClear} />}
    />
  );
}
