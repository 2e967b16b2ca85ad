import { useState } from "react";

/** Steps that can be undone. */
const STEPS_MAX = 100;

export interface Steps<S> {
  past: readonly S[];
  future: readonly S[];
  /** The member that the last step changed; null: the next change is a step of its own. */
  field: string | null;
}

/** The steps after a change of `before`. Consecutive changes of a member are one step. */
export function stepAfter<S>(steps: Steps<S>, before: S, field: string | null): Steps<S> {
  if (field !== null && field === steps.field) return steps;
  return { past: [...steps.past, before].slice(-STEPS_MAX), future: [], field };
}

/**
 * Undo and redo for a part of a draft; `set` writes the draft. `fieldBetween` names the member in which
 * two states differ; null: the change is a step of its own.
 */
export function useSteps<S>(
  now: S,
  set: (next: S) => void,
  fieldBetween: (before: S, after: S) => string | null,
) {
  const [steps, setSteps] = useState<Steps<S>>({ past: [], future: [], field: null });
  const undone = steps.past.at(-1);
  const redone = steps.future.at(-1);
  return {
    change: (next: S) => {
      setSteps(stepAfter(steps, now, fieldBetween(now, next)));
      set(next);
    },
    undo:
      undone &&
      (() => {
        const past = steps.past.slice(0, -1);
        setSteps({ past, future: [...steps.future, now], field: null });
        set(undone);
      }),
    redo:
      redone &&
      (() => {
        const future = steps.future.slice(0, -1);
        setSteps({ past: [...steps.past, now], future, field: null });
        set(redone);
      }),
  };
}
