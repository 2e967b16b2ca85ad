import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import {
  coveredQuery,
  deleteMaintenances,
  type Maintenance,
  maintenancesQuery,
  silence,
} from "~/api/maintenance";
import type { ProblemRow } from "~/api/problems";
import { MaintenanceType } from "~/api/schema";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { TextField } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Segmented } from "~/ui/segmented";
import { Sentence } from "~/ui/sentence";
import { TagList } from "~/ui/tag";
import { toast } from "~/ui/toast";
import { plural } from "~/util/format";
import { useNow } from "~/util/hooks";
import { LENGTH_MIN_S, runsUntil } from "~/util/maintenance";
import { isSilence, type SilenceTarget, silenceEnd, tomorrowAt } from "~/util/silence";
import { formatClock, formatLocal, parseTime } from "~/util/time";
import { texts } from "./texts";

/** The server marks hosts and problems within a second of a change; a slow one within some. */
const FOLLOWS_MS = [0, 1_500, 4_000];

/** Shows everywhere what a maintenance does, as soon as the server has done it. */
export function useFollow(): () => void {
  const client = useQueryClient();
  return () => {
    for (const wait of FOLLOWS_MS) {
      setTimeout(() => {
        for (const key of ["maintenances", "problems", "hosts", "triggers"]) {
          void client.invalidateQueries({ queryKey: [key] });
        }
      }, wait);
    }
  };
}

function fail(error: unknown): void {
  const { what, todo } = explain(error);
  toast(`${what} ${todo}`, "bad");
}

/** Dismisses the offer to end a silence that was just made. */
const offers = new Map<string, () => void>();

/** Ends silences before their time. */
export function useEndSilence() {
  const follow = useFollow();
  return useMutation({
    mutationFn: (maintenanceids: string[]) => deleteMaintenances(maintenanceids),
    onSuccess: (_, ids) => {
      for (const id of ids) offers.get(id)?.();
      toast(texts.theSilenceWasEnded);
    },
    onError: fail,
    onSettled: follow,
  });
}

/** The maintenances with these ids, for marks of hosts and problems. */
export function useMaintenances(ids: readonly string[]): ReadonlyMap<string, Maintenance> {
  const { data } = useQuery({ ...maintenancesQuery(ids), select: byId });
  return data ?? NONE;
}

const NONE: ReadonlyMap<string, Maintenance> = new Map();
const byId = (all: Maintenance[]) => new Map(all.map((one) => [one.maintenanceid, one]));

/** What a host is in, in words: `silenced until 2026-11-21 16:30`, `no data until 16:30`. */
export function hostWords(
  host: { maintenance_type: string },
  maintenance: Maintenance | undefined,
  now: number,
): string {
  const silenced = maintenance && isSilence(maintenance.name);
  const words = silenced
    ? maintenance.tags.length
      ? "partly silenced"
      : "silenced"
    : host.maintenance_type === MaintenanceType.WithoutData
      ? "no data"
      : "maintenance";
  const until = maintenance && runsUntil(maintenance, now);
  return until ? `${words} until ${formatClock(until, "minute")}` : words;
}

/** What it says about a problem: `silenced until 2026-11-21 16:30`. */
function silencedWords(until: readonly number[]): string {
  if (until.length === 0) return "suppressed";
  if (until.includes(0)) return "silenced until resolved";
  return `silenced until ${formatClock(Math.max(...until), "minute")}`;
}

const MARK =
  "inline-flex h-5 max-w-full shrink-0 items-center gap-1 rounded bg-accent-soft px-1.5 text-2xs font-medium text-accent-ink";

/** A mark with words. */
function Mark({ words, title }: { words: string; title?: string }) {
  return (
    <span className={MARK} title={title ?? words}>
      <Icon name={/silenced|suppressed/.test(words) ? "mute" : "wrench"} size={12} />
      <span className="truncate">{words}</span>
    </span>
  );
}

/** That a problem is suppressed, and until when; nothing for others. */
export function SilencedMark({ row }: { row: ProblemRow }) {
  if (!row.suppressed) return null;
  return <Mark words={silencedWords(row.suppressions.map((one) => one.until))} />;
}

interface HostMarkProps {
  host: { maintenance_status: string; maintenanceid: string; maintenance_type: string };
  maintenances: ReadonlyMap<string, Maintenance>;
}

/** That a host is in maintenance, and until when; nothing for others. */
export function HostMark({ host, maintenances }: HostMarkProps) {
  const now = useNow();
  if (host.maintenance_status !== "1") return null;
  const maintenance = maintenances.get(host.maintenanceid);
  const words = hostWords(host, maintenance, now);
  return <Mark words={words} title={maintenance ? `${maintenance.name}: ${words}` : words} />;
}

interface RunningProps {
  /** Maintenances that act now, by id. */
  ids: readonly string[];
  onEnded?: () => void;
}

/** What acts on a host or problem now, each with a way to it, and an end where it is a silence. */
export function RunningNotes({ ids, onEnded }: RunningProps) {
  const maintenances = useMaintenances(ids);
  const now = useNow();
  const end = useEndSilence();
  const shown = ids.map((id) => maintenances.get(id)).filter((one) => one !== undefined);
  return shown.map((one) => {
    const until = runsUntil(one, now);
    return (
      <div
        key={one.maintenanceid}
        className="flex flex-wrap items-center gap-x-3 gap-y-1.5 rounded-lg bg-accent-soft px-3 py-2 text-sm"
      >
        <Icon name={isSilence(one.name) ? "mute" : "wrench"} className="text-accent-ink" />
        <span className="min-w-0 flex-1 break-words">
          <Link
            to="/maintenance/$maintenanceid/edit"
            params={{ maintenanceid: one.maintenanceid }}
            className="font-medium text-accent-ink hover:underline"
          >
            {one.name}
          </Link>
          <span className="text-soft">
            {until ? texts.untilTime(formatClock(until, "minute")) : ""}
            {one.noData ? texts.withoutData : ""}
          </span>
        </span>
        {isSilence(one.name) && (
          <Button
            small
            busy={end.isPending}
            onClick={() => end.mutate([one.maintenanceid], { onSuccess: onEnded })}
          >
            {texts.endNow}
          </Button>
        )}
      </div>
    );
  });
}

interface SilenceDialogProps {
  target: SilenceTarget;
  /** Maintenances that act on it already. */
  running?: readonly string[];
  onClose: () => void;
}

/** Silences a host, or a problem, for a while: one click on how long. */
export function SilenceDialog({ target, running = [], onClose }: SilenceDialogProps) {
  const now = useNow();
  const tagged = (target.problem?.tags.length ?? 0) > 0;
  const [what, setWhat] = useState<"problem" | "host">(tagged ? "problem" : "host");
  const [own, setOwn] = useState<string | null>(null);
  const chosen: SilenceTarget = what === "problem" ? target : { hosts: target.hosts };
  const names = target.hosts.map((host) => host.name).join(", ");
  const follow = useFollow();
  const end = useEndSilence();
  const start = useMutation({
    mutationFn: (until: number) => silence(chosen, until, Math.floor(Date.now() / 1000)),
    onSuccess: (id, until) => {
      const subject = what === "problem" ? target.problem?.name : names;
      offers.get(id)?.();
      const offer = { label: "End now", run: () => end.mutate([id]) };
      const text = `${subject} is silenced until ${formatClock(until, "minute")}.`;
      offers.set(id, toast(text, "good", offer));
      onClose();
    },
    onError: fail,
    onSettled: follow,
  });
  const ownUntil = own === null ? null : parseTime(own.replace("T", " "), "from");
  const tooEarly = ownUntil !== null && ownUntil < now + LENGTH_MIN_S;
  return (
    <Dialog
      title={target.problem ? texts.silenceName(target.problem.name) : texts.silenceNames(names)}
      onClose={onClose}
      footer={
        <>
          {([30, 120] as const).map((minutes) => (
            <Button
              key={minutes}
              busy={start.isPending}
              onClick={() => start.mutate(silenceEnd(minutes, now))}
            >
              {minutes === 30 ? texts.n30Min : "2 h"}
            </Button>
          ))}
          <Button busy={start.isPending} onClick={() => start.mutate(tomorrowAt(8, now))}>
            {texts.untilTomorrowMorning}
          </Button>
          <Button
            look="quiet"
            aria-expanded={own !== null}
            onClick={() => setOwn(own === null ? formatLocal(silenceEnd(240, now)) : null)}
          >
            {texts.customTime}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <RunningNotes ids={running} onEnded={onClose} />
        {tagged && (
          <Segmented
            label={texts.scope}
            value={what}
            onChange={setWhat}
            options={[
              ["problem", texts.thisProblem],
              ["host", texts.allProblemsOfText(names)],
            ]}
          />
        )}
        <Covers target={chosen} untagged={target.problem !== undefined && !tagged} />
        <p className="text-xs text-soft">{texts.valuesAreStillCollected}</p>
        {own !== null && (
          <form
            className="flex flex-wrap items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              if (ownUntil !== null && !tooEarly) start.mutate(ownUntil);
            }}
          >
            <TextField
              label={texts.silentUntil}
              error={tooEarly ? "Must be at least five minutes from now." : undefined}
              autoFocus
              type="datetime-local"
              value={own}
              onChange={setOwn}
            />
            <Button
              type="submit"
              look="primary"
              busy={start.isPending}
              disabled={ownUntil === null || tooEarly}
            >
              {texts.silence}
            </Button>
          </form>
        )}
      </div>
    </Dialog>
  );
}

/** What is covered, so that nobody silences more than they want. */
function Covers({ target, untagged }: { target: SilenceTarget; untagged: boolean }) {
  const { data: count } = useQuery(coveredQuery(target));
  const names = target.hosts.map((host) => host.name).join(", ");
  const open = count === undefined ? "" : texts.openNow(plural(count, texts.openProblem));
  if (!target.problem) {
    return (
      <p>
        {untagged && texts.thisProblemHasNo}{" "}
        <Sentence text={texts.allProblemsOf} places={{ hosts: <b>{names}</b> }} /> {open}
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-1.5">
      <p>
        <Sentence text={texts.problemsWithTheseTags} places={{ hosts: <b>{names}</b> }} /> {open}
      </p>
      <TagList tags={target.problem.tags} max={20} wrap />
    </div>
  );
}
