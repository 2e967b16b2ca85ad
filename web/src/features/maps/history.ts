import { useState } from "react";
import type { Plane } from "./draft";

/** Steps that can be undone. */
const STEPS_MAX = 100;

interface Steps {
  past: readonly Plane[];
  future: readonly Plane[];
}

/** Undo and redo for what is on the map; `set` writes the draft. */
export function usePlaneHistory(plane: Plane, set: (next: Plane) => void) {
  const [steps, setSteps] = useState<Steps>({ past: [], future: [] });
  const now = { elements: plane.elements, links: plane.links };
  const undone = steps.past.at(-1);
  const redone = steps.future.at(-1);
  return {
    change: (next: Plane) => {
      setSteps({ past: [...steps.past, now].slice(-STEPS_MAX), future: [] });
      set({ elements: next.elements, links: next.links });
    },
    undo:
      undone &&
      (() => {
        setSteps({ past: steps.past.slice(0, -1), future: [...steps.future, now] });
        set(undone);
      }),
    redo:
      redone &&
      (() => {
        setSteps({ past: [...steps.past, now], future: steps.future.slice(0, -1) });
        set(redone);
      }),
  };
}
