import { useQuery } from "@tanstack/react-query";
import { enginesQuery, figuresQuery, freshFigure, type MovedVip } from "~/api/engines";
import { atServer } from "~/api/server-clock";
import { cx } from "~/ui/cx";
import { plural } from "~/util/format";
import { useNow } from "~/util/hooks";
import type { Moved, Moving } from "./draft";
import { texts } from "./texts";

const NAMES: Readonly<Record<Moving, string>> = {
  ha_mode: texts.mode,
  engines_per_vip: texts.perVip,
  spare_engines: texts.spare,
  placement: texts.placement,
  vips_per_engine: texts.perEngine,
  rebalance: texts.rebalance,
};
/** Words of values that are no numbers; others are shown as they are. */
const VALUES: Readonly<Record<Moving, Readonly<Record<string, string>>>> = {
  ha_mode: texts.modes,
  engines_per_vip: { "0": texts.all },
  spare_engines: {},
  placement: texts.placements,
  vips_per_engine: { "0": texts.noLimit },
  rebalance: { "0": texts.no, "1": texts.yes },
};

const word = (setting: Moving, value: string) => VALUES[setting][value] ?? value;

const CONNECTIONS = "connections";
const FIGURES = [CONNECTIONS];

/** Connections that are open on these engines, if all of them tell; undefined: unknown. */
function useOpen(ids: readonly string[]): number | undefined {
  const { data } = useQuery(figuresQuery("engine", ids, FIGURES));
  const now = atServer(useNow());
  const counts = ids.map((id) => freshFigure(data, id, CONNECTIONS, now));
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );
}

/** VIPs that are listed; the rest is counted. */
const LISTED = 100;

interface MovesProps {
  moves: readonly MovedVip[];
  /** Settings of the group that the change replaces. */
  settings?: readonly Moved[];
}

/** Before a change is saved: which VIPs move, and what is at stake. */
export function Moves({ moves, settings = [] }: MovesProps) {
  const { data: engines } = useQuery(enginesQuery());
  const losing = moves.flatMap(({ from, to }) => from.filter((id) => !to.includes(id)));
  const open = useOpen([...new Set(losing)].sort());
  const names = new Map(engines?.map((one) => [one.engineid, one.name]));
  const nameOf = (id: string) => names.get(id) ?? texts.engineNamed(id);
  const words = (ids: readonly string[]) => ids.map(nameOf).join(", ") || texts.noEngine;
  const lost = moves.filter(({ to }) => to.length === 0).length;
  return (
    <>
      {settings.map(({ setting, from, to }) => (
        <p key={setting}>{texts.becomes(NAMES[setting], word(setting, from), word(setting, to))}</p>
      ))}
      <p className="font-medium">
        {texts.moves(moves.length)}{" "}
        {lost > 0 && <span className="text-bad-ink">{texts.lost(lost)}</span>}
      </p>
      <ul className="flex max-h-48 flex-col gap-0.5 overflow-auto text-sm">
        {moves.slice(0, LISTED).map(({ enginegroupid, vipid, name, from, to }) => (
          <li
            key={`${enginegroupid} ${vipid}`}
            className={cx("break-words", to.length === 0 && "text-bad-ink")}
          >
            {texts.move(name, words(from), words(to))}
          </li>
        ))}
        {moves.length > LISTED && <li>{texts.more(moves.length - LISTED)}</li>}
      </ul>
      {losing.length > 0 && (
        <>
          <p className="text-sm">
            {open === undefined ? texts.openUnknown : texts.openNow(plural(open, texts.connection))}
          </p>
          <p className="text-xs text-soft">{texts.movedConnections}</p>
        </>
      )}
    </>
  );
}
