import { cx } from "~/ui/cx";
import { Dot } from "~/ui/severity";
import { type Column, VirtualTable } from "~/ui/table";
import { Nothing } from "./nothing";
import type { Place, VipSeen } from "./seen";
import { texts } from "./texts";

/** Names in one cell; the details of the row have all. */
const NAMED = 12;

/** The names of engines. Those that are not known to run are struck out. */
export function Places({ places }: { places: readonly Place[] }) {
  const rest = places.length - NAMED;
  return (
    <>
      {places.slice(0, NAMED).map(({ engine, sure }, at) => (
        <span key={engine.id} title={engine.words}>
          {at > 0 && ", "}
          <span className={cx(!sure && "text-faint line-through")}>{engine.name}</span>
        </span>
      ))}
      {rest > 0 && <span className="text-soft"> +{rest}</span>}
    </>
  );
}

/** How many engines serve a VIP, of those that it should have. */
export function Served({ vip }: { vip: VipSeen }) {
  return (
    <span className="tabular inline-flex items-center gap-1.5 whitespace-nowrap">
      <Dot tone={vip.tone} />
      {texts.of(vip.serving, vip.wanted)}
    </span>
  );
}

const COLUMNS: readonly Column<VipSeen>[] = [
  {
    id: "summary",
    header: texts.vip,
    width: "minmax(0, 1fr)",
    on: "narrow",
    cell: (vip) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex items-center justify-between gap-2">
          <span className="truncate font-medium">{vip.name}</span>
          <Served vip={vip} />
        </span>
        <span className="truncate text-xs text-soft">
          {vip.reason || <Places places={vip.active} />}
        </span>
      </span>
    ),
  },
  {
    id: "vip",
    header: texts.vip,
    width: "minmax(11rem, 1fr)",
    on: "wide",
    cell: (vip) => (
      <span title={`${vip.name} ${vip.address}`}>
        <span className="font-medium">{vip.name}</span>{" "}
        <span className="text-xs text-soft">{vip.address}</span>
      </span>
    ),
  },
  {
    id: "served",
    header: texts.engines,
    width: "6rem",
    on: "wide",
    cell: (vip) => <Served vip={vip} />,
  },
  {
    id: "active",
    header: texts.active,
    width: "minmax(8rem, 1.2fr)",
    on: "wide",
    cell: (vip) => <Places places={vip.active} />,
  },
  {
    id: "standby",
    header: texts.standby,
    width: "minmax(6rem, 0.8fr)",
    on: "wide",
    cell: (vip) => <Places places={vip.standby} />,
  },
  {
    id: "why",
    header: texts.why,
    width: "minmax(10rem, 1.4fr)",
    on: "wide",
    cell: (vip) => <span title={vip.reason}>{vip.reason}</span>,
  },
];

const idOf = (vip: VipSeen) => vip.id;
const ALONE = COLUMNS.filter(({ id }) => id !== "standby");

interface VipTableProps {
  vips: readonly VipSeen[];
  onOpen: (vip: VipSeen) => void;
  onClear?: () => void;
}

/** VIPs with their engines; a row opens the details. */
export function VipTable({ vips, onOpen, onClear }: VipTableProps) {
  return (
    <VirtualTable
      label={texts.vips}
      columns={vips.some((vip) => vip.standby.length > 0) ? COLUMNS : ALONE}
      count={vips.length}
      rowAt={(index) => vips[index]}
      idOf={idOf}
      onOpen={onOpen}
      empty={<Nothing title={texts.noVips} hint={texts.noVipsHint} onClear={onClear} />}
    />
  );
}
