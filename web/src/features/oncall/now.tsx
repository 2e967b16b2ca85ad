import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MOVE_S, type ScheduleSummary, shiftsQuery } from "~/api/oncall";
import { lineColor } from "~/charts/palette";
import { QueryError, StaleError } from "~/shared/fallback";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { nowAndNext, type Shift, shiftOf, untilWords } from "~/util/oncall";
import type { People } from "./people";
import { texts } from "./texts";

const AHEAD_S = 35 * 86_400;

interface CardProps {
  schedule: ScheduleSummary;
  shifts: readonly Shift[];
  people: People;
  now: number;
  chosen: boolean;
}

/** Who is on call of one schedule; a link to its week. */
function NowCard({ schedule, shifts, people, now, chosen }: CardProps) {
  const { current, next } = nowAndNext(shifts, now);
  const isGap = current?.isGap === true;
  const name = current ? people.nameOf(current.userid) : texts.unknown;
  return (
    <Link
      to="/oncall"
      search={(old) => ({ ...old, schedule: schedule.scheduleid })}
      aria-current={chosen || undefined}
      className={cx(
        "flex min-w-0 flex-col rounded-lg border bg-surface px-4 py-3 shadow-card hover:border-line-strong",
        chosen && "border-accent hover:border-accent",
      )}
    >
      <span className="truncate text-xs text-soft">{schedule.name}</span>
      <span
        className={cx(
          "mt-1 flex min-w-0 items-center gap-2 text-lg font-semibold tracking-tight",
          isGap && "text-bad-ink",
        )}
      >
        {isGap ? (
          <Icon name="problems" size={17} />
        ) : (
          current && (
            <span
              aria-hidden="true"
              className="size-2.5 shrink-0 rounded-full"
              style={{ backgroundColor: lineColor(people.colorOf(current.userid)) }}
            />
          )
        )}
        <span className="truncate">{isGap ? texts.nobodyIsOnCall : name}</span>
      </span>
      {current && (
        <span className="tabular text-xs text-soft">
          {next ? untilWords(current.to, now) : texts.forLong}
        </span>
      )}
      {next && (
        <span className={cx("truncate text-xs", next.isGap ? "text-bad-ink" : "text-soft")}>
          {next.isGap ? texts.thenNobody : texts.nextUser(people.nameOf(next.userid))}
        </span>
      )}
    </Link>
  );
}

interface NowProps {
  schedules: readonly ScheduleSummary[];
  people: People;
  /** The one whose week is shown. */
  chosen: string | undefined;
}

/** Who is on call now, of each schedule. */
export function OnCallNow({ schedules, people, chosen }: NowProps) {
  const now = useNow();
  const from = Math.floor(now / MOVE_S) * MOVE_S;
  const query = useQuery(shiftsQuery({ from, to: from + AHEAD_S }));
  if (!query.data)
    return query.error ? (
      <QueryError error={query.error} onRetry={() => void query.refetch()} />
    ) : (
      <SkeletonRows rows={2} />
    );
  const shifts = query.data.map(shiftOf);
  return (
    <section aria-label={texts.onCallNow} className="flex flex-col gap-2">
      <h2 className="text-sm font-semibold">{texts.onCallNow}</h2>
      <StaleError query={query} />
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {schedules.map((schedule) => (
          <NowCard
            key={schedule.scheduleid}
            schedule={schedule}
            shifts={shifts.filter((one) => one.scheduleid === schedule.scheduleid)}
            people={people}
            now={now}
            chosen={schedules.length > 1 && schedule.scheduleid === chosen}
          />
        ))}
      </div>
    </section>
  );
}
