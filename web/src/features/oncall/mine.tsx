import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MOVE_S, type ScheduleSummary, shiftsQuery } from "~/api/oncall";
import { session } from "~/api/session-store";
import { QueryError, StaleError } from "~/shared/fallback";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { joined, type Shift, shiftOf, shiftWords } from "~/util/oncall";
import { formatDuration } from "~/util/time";
import type { ChangeKind } from "./shift-draft";
import { texts } from "./texts";

/** Shifts are looked for this far ahead. */
export const AHEAD_S = 60 * 86_400;
/** Shifts of the present may have begun that long ago. */
const BEFORE_S = 14 * 86_400;
/** Rows before "Show all". */
const SHORT = 3;

interface MyShiftsProps {
  schedules: readonly ScheduleSummary[];
  onChange: (shift: Shift, kind: ChangeKind) => void;
}

/** The next shifts of the user, with what can be done about each. */
export function MyShifts({ schedules, onChange }: MyShiftsProps) {
  const now = useNow();
  const [all, setAll] = useState(false);
  const from = Math.floor(now / MOVE_S) * MOVE_S;
  const own = session()?.userid ?? "";
  const query = useQuery(
    shiftsQuery({ from: from - BEFORE_S, to: from + AHEAD_S, userids: [own] }),
  );
  const shifts = joined((query.data ?? []).map(shiftOf))
    .filter(({ to, isGap }) => to > now && !isGap)
    .sort((a, b) => a.from - b.from);
  const shown = all ? shifts : shifts.slice(0, SHORT);
  const nameOf = (id: string) =>
    schedules.find(({ scheduleid }) => scheduleid === id)?.name ?? texts.unknown;
  return (
    <Card title={texts.myShifts}>
      <StaleError query={query} className="mb-2" />
      {!query.data ? (
        query.error ? (
          <QueryError error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows rows={2} />
        )
      ) : shifts.length === 0 ? (
        <p className="text-soft">{texts.noShifts}</p>
      ) : (
        <ul aria-label={texts.myShifts} className="flex flex-col">
          {shown.map((shift) => (
            <li
              key={`${shift.scheduleid} ${shift.from}`}
              className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b py-2 first:pt-0 last:border-0 last:pb-0"
            >
              <span className="w-20 shrink-0 text-xs font-medium">
                {shift.from <= now ? (
                  <span className="rounded-full bg-accent-soft px-2 py-0.5 text-accent-ink">
                    {texts.now}
                  </span>
                ) : (
                  <span className="text-soft">
                    {texts.startsIn(formatDuration(shift.from - now))}
                  </span>
                )}
              </span>
              <span className="min-w-0 flex-1 max-sm:basis-full">
                <span className="tabular block font-medium">{shiftWords(shift)}</span>
                <span className="block truncate text-xs text-soft">{nameOf(shift.scheduleid)}</span>
              </span>
              <span className="flex gap-2">
                <Button onClick={() => onChange(shift, "cover")}>{texts.giveAway}</Button>
                <Button onClick={() => onChange(shift, "swap")}>{texts.swap}</Button>
              </span>
            </li>
          ))}
        </ul>
      )}
      {shifts.length > shown.length && (
        <Button small className="mt-2" onClick={() => setAll(true)}>
          {texts.showAll(shifts.length)}
        </Button>
      )}
    </Card>
  );
}
