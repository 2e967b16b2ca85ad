import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from "react";
import { keepDraft, keptDraft, takeDraft } from "./kept-drafts";

/**
 * A state that survives the expiry of the session if it was changed: after the same user has signed
 * in again, the page starts with it. `name` is unique on the page. Dialogs use it for their draft,
 * pages for the dialog that is open. The third value reports whether the state was restored.
 */
export function useKeptState<T>(
  name: string,
  first: T | (() => T),
): [T, Dispatch<SetStateAction<T>>, boolean] {
  const [initial] = useState<T>(first);
  // Read here and deleted in the effect, because React may call this more than once.
  const [restored] = useState(() => keptDraft<T>(name));
  const [value, set] = useState<T>(restored ?? initial);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    takeDraft(name);
    const start = JSON.stringify(initial);
    return keepDraft(
      () => (JSON.stringify(latest.current) === start ? undefined : latest.current),
      name,
    );
  }, [name, initial]);
  return [value, set, restored !== undefined];
}
