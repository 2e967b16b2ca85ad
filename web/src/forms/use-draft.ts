import { useState } from "react";

/** What is wrong with a draft: a sentence for each member. */
export type Problems = Record<string, string>;

/** What somebody is writing, and what is still wrong with it. */
export interface Drafting<D> {
  draft: D;
  set: (next: Partial<D>) => void;
  /** Nothing before saving was tried: who is still writing has made no mistake yet. */
  problems: Problems;
  /** Shows what is wrong; true if nothing is. */
  check: () => boolean;
}

export function useDraft<D>(first: () => D, problemsOf: (draft: D) => Problems): Drafting<D> {
  const [draft, setDraft] = useState(first);
  const [tried, setTried] = useState(false);
  const problems = problemsOf(draft);
  return {
    draft,
    set: (next) => setDraft({ ...draft, ...next }),
    problems: tried ? problems : {},
    check: () => {
      setTried(true);
      return Object.keys(problems).length === 0;
    },
  };
}
