import type { ReactNode } from "react";
import { lineColor } from "~/charts/palette";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { useNow } from "~/util/hooks";
import {
  type Block,
  blocksOf,
  byDay,
  dayWords,
  isWeekend,
  placeOf,
  type Shift,
  shiftWords,
  timeWords,
} from "~/util/oncall";
import type { People } from "./people";
import { texts } from "./texts";

/** A line of the week: the final schedule, the overrides or a layer. */
export interface Lane {
  id: string;
  label: string;
  shifts: readonly Shift[];
}

interface BlockProps {
  block: Block;
  people: People;
  onOpen?: (shift: Shift) => void;
}

/** Per cent of the week that have no room for a word. */
const NARROW = 6;

const colorStyle = (color: string) => ({
  backgroundColor: `color-mix(in srgb, ${color} 18%, var(--surface))`,
  borderColor: color,
});

/** A shift in its place; a gap is shown as one. */
function ShiftBlock({ block, people, onOpen }: BlockProps) {
  const name = people.nameOf(block.userid);
  const label = texts.shiftLabel(block.isGap ? texts.nobodyIsOnCall : name, shiftWords(block));
  const place = { left: `${block.left}%`, width: `${block.width}%` };
  const style = block.isGap
    ? place
    : { ...place, ...colorStyle(lineColor(people.colorOf(block.userid))) };
  const className = cx(
    "absolute inset-y-1 flex min-w-0 items-center overflow-hidden rounded-md border-l-3 px-1.5 text-left text-xs",
    block.isGap ? "hatched border-bad-ink bg-bad-soft font-medium text-bad-ink" : "text-ink",
  );
  const content =
    block.isGap && block.width < NARROW ? (
      <Icon name="problems" size={13} />
    ) : (
      <span className="truncate">{block.isGap ? texts.nobody : name}</span>
    );
  return onOpen ? (
    <button
      type="button"
      aria-label={label}
      title={label}
      style={style}
      className={cx(className, "font-medium hover:brightness-95")}
      onClick={() => onOpen(block)}
    >
      {content}
    </button>
  ) : (
    <div title={label} style={style} className={className}>
      {content}
    </div>
  );
}

interface RowProps extends GridPart {
  label: string;
  /** It is what counts. */
  isFinal?: boolean;
  children: ReactNode;
}

function Row({ label, isFinal, days, now, children }: RowProps) {
  return (
    <div className="grid grid-cols-[9rem_minmax(0,1fr)] border-t">
      <div className="flex min-w-0 items-center px-3 text-xs text-soft">
        <span className={cx("truncate", isFinal && "font-semibold text-ink")}>{label}</span>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: the blocks of a line are no fieldset */}
      <div role="group" aria-label={label} className="relative h-11 border-l">
        <Days days={days} now={now} />
        {children}
      </div>
    </div>
  );
}

interface GridPart {
  days: readonly number[];
  now: number;
}

/** The lines between days, the weekend, and the present. */
function Days({ days, now }: GridPart) {
  const isHere = now >= (days[0] ?? 0) && now < (days.at(-1) ?? 0);
  return (
    <>
      <div aria-hidden="true" className="absolute inset-0 grid grid-cols-7">
        {days.slice(0, -1).map((day) => (
          <span key={day} className={cx("border-r last:border-0", isWeekend(day) && "bg-sunken")} />
        ))}
      </div>
      {isHere && (
        <span
          aria-hidden="true"
          className="absolute inset-y-0 z-10 w-0.5 bg-accent"
          style={{ left: `${placeOf(now, days)}%` }}
        />
      )}
    </>
  );
}

interface WeekProps {
  days: readonly number[];
  final: readonly Shift[];
  /** Overrides, and layers, the strongest first. */
  lanes: readonly Lane[];
  people: People;
  onOpen: (shift: Shift) => void;
}

/** The week as lines of time: who is on call, and why. */
export function WeekGrid({ days, final, lanes, people, onOpen }: WeekProps) {
  const now = useNow();
  return (
    <div className="max-md:hidden">
      <div className="grid grid-cols-[9rem_minmax(0,1fr)]">
        <span />
        <div className="grid grid-cols-7 border-l">
          {days.slice(0, -1).map((day, n) => {
            const isToday = now >= day && now < (days[n + 1] ?? 0);
            return (
              <span
                key={day}
                aria-current={isToday ? "date" : undefined}
                className={cx(
                  "tabular truncate px-2 py-2 text-xs",
                  isToday ? "font-semibold text-accent-ink" : "text-soft",
                )}
              >
                {dayWords(day)}
              </span>
            );
          })}
        </div>
      </div>
      <Row label={texts.finalSchedule} isFinal days={days} now={now}>
        {blocksOf(final, days).map((block) => (
          <ShiftBlock key={block.from} block={block} people={people} onOpen={onOpen} />
        ))}
      </Row>
      {lanes.map((lane) => (
        <Row key={lane.id} label={lane.label} days={days} now={now}>
          {blocksOf(lane.shifts, days).map((block) => (
            <ShiftBlock key={`${block.from} ${block.userid}`} block={block} people={people} />
          ))}
        </Row>
      ))}
    </div>
  );
}

/** The same for phones: the shifts of each day as a list. */
export function WeekList({ days, final, people, onOpen }: Omit<WeekProps, "lanes">) {
  const now = useNow();
  return (
    <ol aria-label={texts.finalSchedule} className="flex flex-col md:hidden">
      {byDay(final, days).map((parts, n) => {
        const [start = 0, end = 0] = [days[n], days[n + 1]];
        const isToday = now >= start && now < end;
        return (
          <li key={start} className="border-t px-3 py-2">
            <p
              className={cx(
                "tabular pb-1 text-xs",
                isToday ? "font-semibold text-accent-ink" : "text-soft",
              )}
            >
              {dayWords(start)}
            </p>
            {parts.map(({ shift, from, to }) => (
              <button
                key={from}
                type="button"
                onClick={() => onOpen(shift)}
                className={cx(
                  "flex min-h-10 w-full items-center gap-3 rounded-md px-1 text-left hover:bg-hover",
                  shift.isGap && "font-medium text-bad-ink",
                )}
              >
                <span
                  aria-hidden="true"
                  className={cx("h-7 w-1 rounded-full", shift.isGap && "bg-bad-ink")}
                  style={
                    shift.isGap
                      ? undefined
                      : { backgroundColor: lineColor(people.colorOf(shift.userid)) }
                  }
                />
                <span className="tabular w-24 shrink-0">
                  {timeWords(from)}–{timeWords(to, end)}
                </span>
                <span className="min-w-0 truncate">
                  {shift.isGap ? texts.nobodyIsOnCall : people.nameOf(shift.userid)}
                </span>
              </button>
            ))}
            {parts.length === 0 && <p className="text-soft">{texts.unknown}</p>}
          </li>
        );
      })}
    </ol>
  );
}
