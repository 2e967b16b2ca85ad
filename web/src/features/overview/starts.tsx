import { useQuery } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { startsQuery } from "~/api/events";
import { ProblemBars } from "~/charts/bars";
import { StaleError } from "~/shared/fallback";
import { Card } from "~/ui/card";
import { Skeleton } from "~/ui/state";
import { formatCount } from "~/util/format";
import { texts } from "./texts";

/** A day. */
const STEPS = 48;
const STEP_S = 1_800;

/** When problems started during the last day. */
export function Starts() {
  const query = useQuery(startsQuery(STEPS, STEP_S));
  const { data, error } = query;
  const total = data?.counts.flat().reduce((a, b) => a + b, 0);
  return (
    <Card
      title={texts.problemsStarted}
      side={total !== undefined && texts.countInADay(formatCount(total))}
    >
      <StaleError query={query} className="mb-2" />
      {data ? (
        <ProblemBars {...data} />
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
