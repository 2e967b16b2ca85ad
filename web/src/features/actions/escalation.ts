import { periodSeconds } from "~/util/time";
import type { OperationDraft } from "./operation-draft";

/** Steps in a row that do the same. */
export interface Stage {
  /** First and last step; null: the steps go on until the problem ends. */
  from: number;
  to: number | null;
  /** Seconds from the problem to the first step; null: a macro decides. */
  after: number | null;
  /** Seconds between the steps; null: a macro decides. */
  every: number | null;
  operations: OperationDraft[];
}

type Stepped = { draft: OperationDraft; from: number; to: number };

const covers = ({ from, to }: Stepped, step: number) => step >= from && step <= to;

/** Seconds that a step lasts: the shortest of its operations' own durations, or the action's. */
function durationAt(step: readonly Stepped[], period: string): number | null {
  const own = step.map(({ draft }) => draft.period.trim()).filter(Boolean);
  const lengths = (own.length > 0 ? own : [period]).map(periodSeconds);
  return lengths.some((length) => length === null)
    ? null
    : Math.min(...lengths.map((length) => length ?? 0));
}

function steppedOf(operations: readonly OperationDraft[]): Stepped[] {
  return operations.flatMap((draft) => {
    const [from, to] = [Number(draft.from), Number(draft.to)];
    const isValid = Number.isInteger(from) && Number.isInteger(to) && from >= 1;
    return isValid && (to === 0 || to >= from) ? [{ draft, from, to: to || Infinity }] : [];
  });
}

/** The stages of an escalation in their order, without steps that do nothing. */
export function stagesOf(operations: readonly OperationDraft[], period: string): Stage[] {
  const stepped = steppedOf(operations);
  const starts = new Set([1, ...stepped.flatMap(({ from, to }) => [from, to + 1])]);
  const places = [...starts].filter(Number.isFinite).sort((a, b) => a - b);
  const stages: Stage[] = [];
  let after: number | null = 0;
  for (const [n, from] of places.entries()) {
    const end = (places[n + 1] ?? Infinity) - 1;
    const here = stepped.filter((one) => covers(one, from));
    const every = durationAt(here, period);
    if (here.length > 0) {
      const to = Number.isFinite(end) ? end : null;
      stages.push({ from, to, after, every, operations: here.map(({ draft }) => draft) });
    }
    if (Number.isFinite(end))
      after = after === null || every === null ? null : after + every * (end - from + 1);
  }
  return stages;
}
