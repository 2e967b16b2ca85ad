import { Link } from "@tanstack/react-router";
import { Button } from "~/ui/button";
import { cx } from "~/ui/cx";
import { ErrorNote } from "~/ui/state";
import { download } from "~/util/download";
import { formatCount } from "~/util/format";
import type { Failure, Outcome, Progress } from "./run";
import { texts } from "./texts";

const FAILURES_SHOWN = 50;

/** How far a run is. */
export function Running({ progress, stopping }: { progress: Progress; stopping: boolean }) {
  const { total, changed, same, failures } = progress;
  const done = changed + same + failures.length;
  const percent = total === 0 ? 100 : (done / total) * 100;
  return (
    <div className="flex flex-col gap-2 py-2">
      <p role="status" className="tabular font-medium">
        {texts.running(done, total)}
      </p>
      <div
        role="progressbar"
        aria-label={texts.progress}
        aria-valuenow={Math.round(percent)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-2 overflow-hidden rounded-full bg-sunken"
      >
        <div className="h-full rounded-full bg-accent" style={{ width: `${percent}%` }} />
      </div>
      <p className="tabular min-h-5 text-soft">
        {failures.length > 0 && (
          <span className="text-bad-ink">{texts.failedSoFar(failures.length)}</span>
        )}{" "}
        {stopping && texts.stopping}
      </p>
    </div>
  );
}

function Failures({ failures }: { failures: readonly Failure[] }) {
  const lines = () =>
    failures.map(({ item, text }) =>
      [item.itemid, item.hosts[0]?.name ?? "", item.name, item.key_, text].join("\t"),
    );
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-2">
        <h4 className="text-xs font-medium text-soft">{texts.failures}</h4>
        <Button
          small
          icon="download"
          onClick={() => download(texts.listName, lines().join("\n"), "txt")}
        >
          {texts.saveList}
        </Button>
      </div>
      <ul aria-label={texts.failures} className="rounded-md border">
        {failures.slice(0, FAILURES_SHOWN).map(({ item, text }) => (
          <li key={item.itemid} className="border-b px-3 py-1.5 last:border-0">
            <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
              <Link
                to="/items/$itemid/edit"
                params={{ itemid: item.itemid }}
                target="_blank"
                className="min-w-0 font-medium break-words underline decoration-line-strong underline-offset-4"
              >
                {item.name}
              </Link>
              <span className="text-xs text-soft">{item.hosts[0]?.name}</span>
            </span>
            <span className="block break-words text-bad-ink">{text}</span>
          </li>
        ))}
      </ul>
      {failures.length > FAILURES_SHOWN && (
        <p className="text-xs text-soft">{texts.moreFailures(failures.length - FAILURES_SHOWN)}</p>
      )}
    </div>
  );
}

/** The outcome of a run in numbers, and the failed items by name. `blocked`: items that were not tried at all. */
export function Ended({ outcome, blocked }: { outcome: Outcome; blocked: number }) {
  const { changed, same, failures, left, end, error } = outcome;
  const unknown = failures.filter((failure) => failure.unknown).length;
  const isWhole = end === "done" && failures.length === 0;
  const figures: readonly (readonly [string, number, boolean])[] = [
    [texts.result.changed, changed, false],
    [texts.result.same, same, false],
    [texts.result.failed, failures.length - unknown, true],
    [texts.result.unknown, unknown, true],
    [texts.result.left, left.length, true],
    [texts.result.blocked, blocked, false],
  ];
  return (
    <div className="flex flex-col gap-3">
      {isWhole ? (
        <p role="status" className="font-medium">
          {texts.allChanged(changed)}
        </p>
      ) : (
        <ErrorNote what={texts.ends[end]} todo={error} />
      )}
      <dl className="grid max-w-md grid-cols-[1fr_auto] gap-x-6 gap-y-1">
        {figures
          .filter(([name, count]) => count > 0 || name === texts.result.changed)
          .map(([name, count, isBad]) => (
            <div key={name} className={cx("contents", isBad && "font-medium text-bad-ink")}>
              <dt>{name}</dt>
              <dd className="tabular text-right">{formatCount(count)}</dd>
            </div>
          ))}
      </dl>
      {failures.length > 0 && <Failures failures={failures} />}
    </div>
  );
}
