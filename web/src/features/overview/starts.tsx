import { useQuery } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { STARTS_MAX, startsQuery } from "~/api/events";
import { ProblemBars } from "~/charts/bars";
import { Card } from "~/ui/card";
import { Skeleton } from "~/ui/state";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { texts } from "./texts";

const DAY = 86_400;
const BUCKETS = 48;

const inADay = (count: number) =>
  count >= STARTS_MAX
    ? texts.moreThanInADay(formatCount(STARTS_MAX))
    : texts.countInADay(formatCount(count));

/** When problems started during the last day. */
export function Starts() {
  const { data, error } = useQuery(startsQuery(DAY));
  const minute = Math.floor(useNow() / 60) * 60;
  // The newest ones only: what happened before the oldest of them is not known.
  const oldest = data && data.length >= STARTS_MAX ? Number(data.at(-1)?.clock) : undefined;
  return (
    <Card title={texts.problemsStarted} side={data && inADay(data.length)}>
      {data ? (
        <ProblemBars
          events={data}
          from={minute + 60 - DAY}
          till={minute + 60}
          knownFrom={oldest}
          buckets={BUCKETS}
        />
      ) : (
        <div className="h-16">
          {error ? <p className="text-sm text-soft">{explain(error).what}</p> : <Skeleton />}
        </div>
      )}
      <div className="flex justify-between pt-1 text-2xs text-faint">
        <span>{texts.n24HAgo}</span>
        <span>{texts.n12HAgo}</span>
        <span>{texts.now}</span>
      </div>
    </Card>
  );
}
