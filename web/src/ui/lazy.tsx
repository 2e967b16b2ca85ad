import {
  type ComponentType,
  type FunctionComponent,
  type ReactNode,
  useEffect,
  useState,
} from "react";
import { ErrorNote, SkeletonRows } from "./state";
import { texts } from "./texts";

/** A component whose code is loaded when it is first shown. */
export type LazyComponent<P> = FunctionComponent<P> & { preload: () => Promise<void> };

interface LazyOptions {
  /** Shown while the code is loading. */
  fallback?: ReactNode;
  /** Class of the note that is shown in place of code that cannot be loaded. */
  noteClass?: string;
}

/**
 * Code that cannot be loaded is replaced by a note with "Try again": nothing is thrown, so that
 * the rest of the application stays.
 */
export function lazyComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { fallback = <SkeletonRows rows={10} />, noteClass = "m-6" }: LazyOptions = {},
): LazyComponent<P> {
  let Loaded: ComponentType<P> | undefined;
  let running: Promise<void> | undefined;
  const start = () => {
    running ??= load().then(
      (component) => {
        Loaded = component;
      },
      (error: unknown) => {
        running = undefined;
        throw error;
      },
    );
    return running;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each component, at module level
  function Lazy(props: P) {
    const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
    useEffect(() => {
      if (state !== "loading") return;
      let gone = false;
      const settle = (next: "ready" | "failed") => () => {
        if (!gone) setState(next);
      };
      start().then(settle("ready"), settle("failed"));
      return () => {
        gone = true;
      };
    }, [state]);
    if (Loaded) return <Loaded {...props} />;
    if (state !== "failed") return fallback;
    return (
      <ErrorNote
        what={texts.thisPartOfThe}
        todo={texts.checkThatTheServer}
        onRetry={() => setState("loading")}
        className={noteClass}
      />
    );
  }
  return Object.assign(Lazy, { preload: () => start().catch(() => undefined) });
}
