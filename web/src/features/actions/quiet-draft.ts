import type { ActionOwn } from "~/api/own-fields";
import { formatDuration, periodSeconds } from "~/util/time";

/** What makes an action quieter, as the form holds it. */
export interface QuietDraft {
  groups: boolean;
  /** Names of tags, and `HOST`. */
  groupBy: string[];
  groupWait: string;
  groupInterval: string;
  /** "0": never. */
  groupRepeat: string;
  inhibits: boolean;
  inhibitTags: string[];
  transients: boolean;
  flapping: boolean;
  maxHold: string;
}

/** The name that stands for the host of the problem among the names of tags. */
export const HOST = "{HOST.HOST}";

const HOUR_S = 3_600;
const DAY_S = 86_400;

const isOn = (flag: string | number | undefined) => String(flag) === "1";

/** The switches are off where the action has nothing; the values are then those to begin with. */
export function quietDraft(action: Partial<ActionOwn> | null): QuietDraft {
  const { grouping, inhibition, calming } = action ?? {};
  return {
    groups: !!grouping,
    groupBy: grouping?.by ?? [HOST],
    groupWait: grouping?.wait ?? "30s",
    groupInterval: grouping?.interval ?? "5m",
    groupRepeat: grouping?.repeat ?? "0",
    inhibits: !!inhibition,
    inhibitTags: inhibition?.tags ?? [],
    transients: isOn(calming?.transients),
    flapping: isOn(calming?.flapping),
    maxHold: calming?.max_hold ?? "10m",
  };
}

function isWithin(text: string, min: number, max: number): boolean {
  const seconds = periodSeconds(text);
  return seconds !== null && seconds >= min && seconds <= max;
}

function groupingProblems(draft: QuietDraft, problems: Record<string, string>): void {
  if (!isWithin(draft.groupWait, 0, HOUR_S)) problems.groupWait = "Enter a time from 0s to 1h.";
  if (!isWithin(draft.groupInterval, 1, DAY_S))
    problems.groupInterval = "Enter a time from 1s to 1d.";
  const repeat = draft.groupRepeat;
  if (!isWithin(repeat, 0, 0) && !isWithin(repeat, 60, 30 * DAY_S))
    problems.groupRepeat = "Enter a time from 1m to 30d, or 0.";
}

/** What is wrong, by field. */
export function quietProblems(draft: QuietDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (draft.groups) groupingProblems(draft, problems);
  if (draft.inhibits && draft.inhibitTags.length === 0)
    problems.inhibitTags = "Choose at least one tag for inhibition.";
  if (draft.transients && !isWithin(draft.maxHold, 1, DAY_S))
    problems.maxHold = "Enter the longest wait, from 1s to 1d.";
  return problems;
}

/** Null switches a part off. */
export function quietParams(draft: QuietDraft): ActionOwn {
  const flag = (on: boolean) => (on ? 1 : 0);
  const calms = draft.transients || draft.flapping;
  return {
    grouping: draft.groups
      ? {
          by: draft.groupBy,
          wait: draft.groupWait.trim(),
          interval: draft.groupInterval.trim(),
          repeat: draft.groupRepeat.trim(),
        }
      : null,
    inhibition: draft.inhibits ? { tags: draft.inhibitTags } : null,
    calming: calms
      ? {
          transients: flag(draft.transients),
          flapping: flag(draft.flapping),
          max_hold: draft.maxHold.trim(),
        }
      : null,
  };
}

const LIST = new Intl.ListFormat("en", { type: "conjunction" });

/** Names of tags and the host in a sentence: "host and tag service". */
export function listWords(names: readonly string[]): string {
  const tags = names.filter((name) => name !== HOST);
  const words = [
    ...(names.includes(HOST) ? ["host"] : []),
    ...tags.map((name, at) => (at === 0 ? `${tags.length > 1 ? "tags" : "tag"} ${name}` : name)),
  ];
  return LIST.format(words);
}

const lengthWords = (text: string) => {
  const seconds = periodSeconds(text);
  return seconds === null ? text.trim() : formatDuration(seconds);
};

/** What grouping does, in sentences. */
export function groupingWords(draft: QuietDraft): string {
  const which =
    draft.groupBy.length > 0
      ? `about problems with the same ${listWords(draft.groupBy)}`
      : "about all problems of this action";
  const first = `Messages to an address ${which} become one, ${lengthWords(draft.groupWait)} after the first.`;
  const more = `Additions follow at most every ${lengthWords(draft.groupInterval)}.`;
  const again =
    periodSeconds(draft.groupRepeat) === 0
      ? ""
      : ` What is still open is repeated after ${lengthWords(draft.groupRepeat)}.`;
  return `${first} ${more}${again}`;
}

/** What the action does to be quieter, in a few words each; for the end of its escalation. */
export function quietWords(draft: QuietDraft): string[] {
  const lines: string[] = [];
  if (draft.groups) lines.push(groupingWords(draft));
  if (draft.inhibits && draft.inhibitTags.length > 0)
    lines.push(
      `Steps wait while a more severe problem with the same ${listWords(draft.inhibitTags)} is open.`,
    );
  if (draft.transients)
    lines.push(
      `Step 1 waits up to ${lengthWords(draft.maxHold)} if problems of the trigger usually end by then.`,
    );
  if (draft.flapping) lines.push("A flapping trigger gets one message until it is quiet.");
  return lines;
}
