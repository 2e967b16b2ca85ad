import { useSyncExternalStore } from "react";
import { answeredAt, isReachable, subscribeReach } from "~/api/reach";
import { Icon } from "~/ui/icon";
import { useNow } from "~/util/hooks";
import { formatClock, formatDuration } from "~/util/time";
import { texts } from "./texts";

/** Shown while the server does not answer: how old the data on the page is. */
export function StaleBanner() {
  const reachable = useSyncExternalStore(subscribeReach, isReachable);
  return reachable ? null : <Banner />;
}

function Banner() {
  const since = answeredAt();
  const age = formatDuration(Math.max(0, useNow() - since));
  return (
    <div
      role="alert"
      className="flex shrink-0 items-center gap-2.5 bg-bad-soft px-4 py-2 text-sm text-bad-ink"
    >
      <Icon name="problems" size={16} />
      <p className="tabular">
        <span className="font-semibold">{texts.theServerDoesNot}</span>{" "}
        {texts.dataIsOld(age, formatClock(since))}
      </p>
    </div>
  );
}
