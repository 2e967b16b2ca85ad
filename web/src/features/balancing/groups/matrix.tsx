import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useRef } from "react";
import { cx } from "~/ui/cx";
import { Dot } from "~/ui/severity";
import { Nothing } from "./nothing";
import type { EngineSeen, Place, VipSeen } from "./seen";
import { texts } from "./texts";
import { Served } from "./vips";

const ROW_PX = 28;

type Mark = "active" | "unsure" | "standby" | "none";

const WORDS: Readonly<Record<Mark, string>> = {
  active: texts.isActive,
  unsure: texts.unsure,
  standby: texts.isStandby,
  none: texts.notOn,
};

/** Filled: active; hatched: active on an engine that is not known to run; a ring: standby. */
const MARKS: Readonly<Record<Mark, string>> = {
  active: "bg-accent",
  unsure: "hatched border-2 border-dashed border-faint",
  standby: "border-2 border-accent",
  none: "scale-25 rounded-full bg-line-strong",
};

function Square({ mark }: { mark: Mark }) {
  return (
    <span aria-hidden="true" className={cx("block size-3.5 shrink-0 rounded-sm", MARKS[mark])} />
  );
}

const at = (places: readonly Place[], id: string) => places.find((one) => one.engine.id === id);

function markOf(vip: VipSeen, id: string): Mark {
  const active = at(vip.active, id);
  if (active) return active.sure ? "active" : "unsure";
  const standby = at(vip.standby, id);
  if (!standby) return "none";
  return standby.sure ? "standby" : "unsure";
}

interface RowProps {
  vip: VipSeen;
  index: number;
  engines: readonly EngineSeen[];
  onOpen: (vip: VipSeen) => void;
}

const Row = memo(function Row({ vip, index, engines, onOpen }: RowProps) {
  return (
    <tr aria-rowindex={index + 2} style={{ height: ROW_PX }} className="hover:bg-hover">
      <th scope="row" className="sticky left-0 z-10 border-r border-b bg-surface p-0 font-normal">
        <button
          type="button"
          onClick={() => onOpen(vip)}
          title={vip.reason || undefined}
          className="flex w-56 items-center justify-between gap-2 px-3 text-left outline-offset-[-2px] hover:underline max-sm:w-40"
        >
          <span className="truncate font-medium">{vip.name}</span>
          <span className="max-sm:hidden">
            <Served vip={vip} />
          </span>
          <span className="sm:hidden">
            <Dot tone={vip.tone} />
            <span className="sr-only">{texts.of(vip.serving, vip.wanted)}</span>
          </span>
        </button>
      </th>
      {engines.map((engine) => {
        const mark = markOf(vip, engine.id);
        return (
          <td
            key={engine.id}
            className="border-b px-1"
            title={texts.cell(vip.name, engine.name, WORDS[mark])}
          >
            <span className="sr-only">{WORDS[mark]}</span>
            <Square mark={mark} />
          </td>
        );
      })}
    </tr>
  );
});

/** What the marks mean. */
function Legend() {
  return (
    <ul
      aria-hidden="true"
      className="flex flex-wrap gap-x-4 gap-y-1 border-t px-3 py-2 text-xs text-soft"
    >
      {(["active", "standby", "unsure"] as const).map((mark) => (
        <li key={mark} className="flex items-center gap-1.5">
          <Square mark={mark} />
          {WORDS[mark]}
        </li>
      ))}
    </ul>
  );
}

function Head({ engines }: { engines: readonly EngineSeen[] }) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th
          scope="col"
          className="sticky top-0 left-0 z-30 border-r border-b bg-sunken px-3 pb-1.5 text-left align-bottom text-xs font-medium text-soft"
        >
          {texts.vip}
        </th>
        {engines.map((engine) => (
          <th
            key={engine.id}
            scope="col"
            title={texts.engineIs(engine.name, engine.words)}
            className="sticky top-0 z-20 border-b bg-sunken px-1 py-1.5 align-bottom text-xs font-medium text-soft"
          >
            <span className="flex flex-col items-center gap-1.5">
              <span className="max-h-28 truncate [writing-mode:sideways-lr]">{engine.name}</span>
              <Dot tone={engine.tone} />
              <span className="sr-only">{engine.words}</span>
            </span>
          </th>
        ))}
        <td className="sticky top-0 w-full border-b bg-sunken" />
      </tr>
    </thead>
  );
}

interface MatrixProps {
  vips: readonly VipSeen[];
  engines: readonly EngineSeen[];
  onOpen: (vip: VipSeen) => void;
  onClear?: () => void;
}

/** VIPs by engines: which engine is active, which is standby. Only the rows on screen exist. */
export function Matrix({ vips, engines, onOpen, onClear }: MatrixProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: vips.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  if (vips.length === 0 || engines.length === 0) {
    const title = vips.length === 0 ? texts.noVips : texts.noEngines;
    const hint = vips.length === 0 ? texts.noVipsHint : texts.noEnginesHint;
    return <Nothing title={title} hint={hint} onClear={onClear} />;
  }
  const shown = virtual.getVirtualItems();
  const above = shown[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  return (
    <div className="flex h-full flex-col">
      <section
        ref={scroller}
        aria-label={texts.matrix}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keyboard too
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto outline-offset-[-2px]"
      >
        <table
          aria-label={texts.matrix}
          aria-rowcount={vips.length + 1}
          className="border-separate border-spacing-0 text-sm"
        >
          <Head engines={engines} />
          <tbody>
            {above > 0 && <tr style={{ height: above }} />}
            {shown.map(({ index }) => {
              const vip = vips[index];
              return (
                vip && (
                  <Row key={vip.id} vip={vip} index={index} engines={engines} onOpen={onOpen} />
                )
              );
            })}
            {below > 0 && <tr style={{ height: below }} />}
          </tbody>
        </table>
      </section>
      <Legend />
    </div>
  );
}
