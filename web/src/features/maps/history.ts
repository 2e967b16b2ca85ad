import { type Steps, stepAfter, useSteps } from "~/shared/forms/use-steps";
import type { Plane } from "./draft";

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
export function afterChange(steps: Steps<Plane>, before: Plane, after: Plane): Steps<Plane> {
  return stepAfter(steps, before, fieldBetween(before, after));
}

/** Undo and redo for what is on the map; `set` writes the draft. */
export function usePlaneHistory(plane: Plane, set: (next: Plane) => void) {
  const now = { elements: plane.elements, links: plane.links };
  return useSteps<Plane>(now, ({ elements, links }) => set({ elements, links }), fieldBetween);
}
