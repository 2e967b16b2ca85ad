import { useQuery } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { learntQuery } from "~/api/learnt";
import { Dot } from "~/ui/severity";
import { SkeletonRows } from "~/ui/state";
import { plural } from "~/util/format";
import { learntWords } from "~/util/learnt";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

/** What the last problems of the trigger show, which calm actions use. */
export function Behaviour({ triggerid }: { triggerid: string }) {
  const { data, error } = useQuery(learntQuery(triggerid));
  if (error && data === undefined)
    return <p className="text-soft">{texts.behaviourUnknown(explain(error).what)}</p>;
  if (data === undefined) return <SkeletonRows rows={2} />;
  if (data === null) return <p className="text-soft">{texts.nothingLearnt}</p>;
  const { flapping, lines } = learntWords(data);
  return (
    <div className="flex flex-col gap-1">
      {flapping && (
        <p className="flex items-center gap-2">
          <Dot tone="warn" />
          <span className="font-medium">{texts.flappingNow}</span>
          <span className="text-soft">
            {texts.changesLately(
              plural(flapping.changes, "change"),
              formatClock(flapping.until, "minute"),
            )}
          </span>
        </p>
      )}
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}
