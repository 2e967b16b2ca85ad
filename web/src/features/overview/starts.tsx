import { useQuery } from "@tanstack/react-query";
import { STARTS_MAX, startsQuery } from "~/api/events";
import { ProblemBars } from "~/charts/bars";
import { Card } from "~/ui/card";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { texts } from "./texts";

const DAY = 86_400;
const BUCKETS = 48;

/** When problems started during the last day. */
export function Starts() {
  const { data = [] } = useQuery(startsQuery(DAY));
  const minute = Math.floor(useNow() / 60) * 60;
  return (
    <Card
      title={texts.problemsStarted}
      side={
        data.length >= STARTS_MAX
          ? `over ${formatCount(STARTS_MAX)} in 24 h, newest shown`
          : `${formatCount(data.length)} in 24 h`
      }
    >
      <ProblemBars events={data} from={minute + 60 - DAY} till={minute + 60} buckets={BUCKETS} />
      <div className="flex justify-between pt-1 text-2xs text-faint">
        <span>{texts.n24HAgo}</span>
        <span>{texts.n12HAgo}</span>
        <span>{texts.now}</span>
      </div>
    </Card>
  );
}
