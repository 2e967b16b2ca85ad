import { useState } from "react";
import type { Plane } from "./draft";

/** Steps that can be undone. */
const STEPS_MAX = 100;

export interface Steps {
  past: readonly Plane[];
  future: readonly Plane[];
  /** The member that the last step changed; null: the next change is a step of its own. */
  field: string | null;
}

/** The simple member, such as a label or a position, in which one element or link differs. */
function fieldBetween(before: Plane, after: Plane): string | null {
  const fields: string[] = [];
  for (const part of ["elements", "links"] as const) {
    if (before[part].length !== after[part].length) return null;
    for (const [n, old] of before[part].entries()) {
      const next: object = after[part][n] ?? {};
      const values = new Map<string, unknown>(Object.entries(next));
      const names = Object.entries(old).filter(([name, value]) => values.get(name) !== value);
      if (names.some(([, value]) => typeof value === "object")) return null;
      if (names.length > 0) fields.push(`${part}.${n}.${names.map(([name]) => name).join()}`);
    }
  }
  return fields.length === 1 ? (fields[0] ?? null) : null;
}

/** The steps after a change. Consecutive changes of a member are one step. */
export function afterChange(steps: Steps, before: Plane, after: Plane): Steps {
  const field = fieldBetween(before, after);
  if (field !== null && field === steps.field) return steps;
  return { past: [...steps.past, before].slice(-STEPS_MAX), future: [], field };
}

/** Undo and redo for what is on the map; `set` writes the draft. */
export function usePlaneHistory(plane: Plane, set: (next: Plane) => void) {
  const [steps, setSteps] = useState<Steps>({ past: [], future: [], field: null });
  const now = { elements: plane.elements, links: plane.links };
  const undone = steps.past.at(-1);
  const redone = steps.future.at(-1);
  return {
    change: (next: Plane) => {
      setSteps(afterChange(steps, now, next));
      set({ elements: next.elements, links: next.links });
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
