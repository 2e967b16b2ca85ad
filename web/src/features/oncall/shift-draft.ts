import type { OverrideParams } from "~/api/oncall";
import type { Shift } from "~/util/oncall";
import { formatLocal, parseTime } from "~/util/time";
import { texts } from "./texts";

/** Another user takes over a time, or two users swap. */
export type ChangeKind = "cover" | "swap";

export interface ShiftDraft {
  kind: ChangeKind;
  /** Who takes over. */
  userid: string;
  /** Moments as the browser's boxes have them. */
  from: string;
  to: string;
  /** The key of the other shift of a swap. */
  exchange: string;
}

/** What the user may do about shifts of a schedule. */
export interface Rights {
  own: string;
  /** Change the schedule, and so all shifts. */
  change: boolean;
  member: boolean;
}

export const keyOf = ({ userid, from, to }: Shift) => `${userid} ${from} ${to}`;

const MINUTE_S = 60;

/** Swaps are for own shifts, or for those who may change all. */
export const maySwap = (shift: Shift, { own, change }: Rights) =>
  !shift.isGap && (change || shift.userid === own);

/** Whether the user may do anything about a shift. */
export const mayTouch = (shift: Shift, rights: Rights, now: number) =>
  shift.to > now && (rights.change || rights.member);

/** Who may take over: everyone, unless the user may only take over someone else's shift. */
export const choosesUser = (shift: Shift, { own, change }: Rights) =>
  change || (shift.userid === own && !shift.isGap);

export function shiftDraft(
  shift: Shift,
  kind: ChangeKind,
  rights: Rights,
  now: number,
): ShiftDraft {
  const start = Math.max(shift.from, Math.ceil(now / MINUTE_S) * MINUTE_S);
  const takes = shift.userid !== rights.own && rights.member;
  return {
    kind: maySwap(shift, rights) ? kind : "cover",
    userid: takes ? rights.own : "",
    from: formatLocal(Math.min(start, shift.to)),
    to: formatLocal(shift.to),
    exchange: "",
  };
}

const moment = (text: string) => parseTime(text.replace("T", " "), "from");

/** A moment of a box; what was not changed has its seconds. */
const exactly = (text: string, clock: number) =>
  text === formatLocal(clock) ? clock : moment(text);

const timeOf = (draft: ShiftDraft, shift: Shift) => ({
  from: exactly(draft.from, shift.from),
  to: exactly(draft.to, shift.to),
});

/** What is wrong with it; the server has the last word. */
export function shiftProblem(
  draft: ShiftDraft,
  shift: Shift,
  rights: Rights,
  now: number,
): string | undefined {
  const { from, to } = timeOf(draft, shift);
  if (from === null || to === null || from >= to) return texts.chooseATime;
  if (to <= now) return texts.inThePast;
  const gives = !rights.change && shift.userid === rights.own && !shift.isGap;
  if (gives && (from < shift.from || to > shift.to)) return texts.notYourTime;
  if (draft.kind === "swap") return draft.exchange ? undefined : texts.chooseAShift;
  return draft.userid ? undefined : texts.chooseAUser;
}

/** A draft without problems, as `oncall.override` takes it. `others`: the shifts to choose from. */
export function overrideParams(
  draft: ShiftDraft,
  shift: Shift,
  others: readonly Shift[],
): OverrideParams {
  const { scheduleid } = shift;
  const { from, to } = timeOf(draft, shift);
  const time = { from: from ?? 0, to: to ?? 0 };
  const other = others.find((one) => keyOf(one) === draft.exchange);
  if (draft.kind === "cover" || !other) return { scheduleid, userid: draft.userid, ...time };
  const swap = { from: other.from, to: other.to };
  return { scheduleid, userid: other.userid, ...time, swap };
}
