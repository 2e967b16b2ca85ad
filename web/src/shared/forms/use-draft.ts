import { useEffect, useMemo, useRef, useState } from "react";
import { toast } from "~/ui/toast";
import { keepDraft, takeDraft } from "./kept-drafts";
import { setDirty, setSaving } from "./unsaved";

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

/** The draft of the form on the page. Unsaved edits survive the expiry of the session. */
export function useDraft<D>(first: () => D, problemsOf: (draft: D) => Problems): Drafting<D> {
  const [initial] = useState(first);
  const [draft, setDraft] = useState(initial);
  const start = useMemo(() => JSON.stringify(initial), [initial]);
  const [tried, setTried] = useState(false);
  const problems = problemsOf(draft);
  const latest = useRef(draft);
  latest.current = draft;

  useEffect(() => {
    const restored = takeDraft<D>();
    if (restored !== undefined) {
      setDraft(restored);
      toast("Your unsaved changes were restored.");
    }
    const isDirty = () => JSON.stringify(latest.current) !== start;
    return keepDraft(() => (isDirty() ? latest.current : undefined));
  }, [start]);

  useEffect(() => setDirty(JSON.stringify(draft) !== start), [draft, start]);
  useEffect(() => () => setDirty(false), []);

  return {
    draft,
    set: (next) => setDraft({ ...draft, ...next }),
    problems: tried ? problems : {},
    check: () => {
      setTried(true);
      const right = Object.keys(problems).length === 0;
      if (right) setSaving(true);
      return right;
    },
  };
}
