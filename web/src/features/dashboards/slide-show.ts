import { useEffect, useRef, useState } from "react";

interface SlideShow {
  isRunning: boolean;
  toggle: () => void;
}

/**
 * Goes to the next page after the seconds of the one that is `shown`, while the tab is visible. `starts`: it
 * runs without being started by the user.
 */
export function useSlideShow(
  shown: string,
  seconds: number,
  starts: boolean,
  next: () => void,
): SlideShow {
  const [isRunning, setRunning] = useState(starts);
  const latest = useRef(next);
  latest.current = next;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page has its whole time
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [isRunning, seconds, shown]);
  return { isRunning, toggle: () => setRunning(!isRunning) };
}
