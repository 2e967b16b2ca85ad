import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { isNarrowed } from "./search";

/** A value that follows once it has rested for a moment: for searching while typing. */
export function useSettled<T>(value: T, ms = 180): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Whether a search for a typed text, of which `settled` is searched for, still shows an earlier result. */
export function isBehind(
  text: string,
  settled: string,
  search: { isPending: boolean; isPlaceholderData: boolean },
): boolean {
  return text !== settled || search.isPending || search.isPlaceholderData;
}

let nowSeconds = Math.floor(Date.now() / 1000);
const clockListeners = new Set<() => void>();
setInterval(() => {
  nowSeconds = Math.floor(Date.now() / 1000);
  for (const listener of clockListeners) listener();
}, 1000);

function subscribeClock(listener: () => void): () => void {
  clockListeners.add(listener);
  return () => clockListeners.delete(listener);
}

/** Unix seconds, once a second: for ages and durations. */
export function useNow(): number {
  return useSyncExternalStore(subscribeClock, () => nowSeconds);
}

/** The width of an element, as it changes. */
export function useWidth<E extends HTMLElement>() {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

/** A text box that drives the address: typing shows at once, the address follows when it rests. */
export function useTyped(value: string, apply: (text: string) => void) {
  const [text, setText] = useState(value);
  const applied = useRef(value);
  const latest = useRef(apply);
  latest.current = apply;
  const [page] = useState(() => location.pathname);
  useEffect(() => {
    // The address changed by itself (back, a link): follow it.
    if (value !== applied.current) {
      applied.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === applied.current) return;
    const timer = setTimeout(() => {
      // Somebody who already left for another page is not called back.
      if (location.pathname !== page) return;
      applied.current = text;
      latest.current(text);
    }, 200);
    return () => clearTimeout(timer);
  }, [text, page]);
  return [text, setText] as const;
}

// No interface: those have no index signature, which the words of some addresses are.
type TypedFilters = { text?: string; tags?: string };

/**
 * The filters of a list, which live in the address: what is typed of them, and how they are
 * cleared, while there is something to clear. `none` takes each of them out of the address.
 */
export function useFilters(
  search: TypedFilters,
  change: (next: TypedFilters) => void,
  none: TypedFilters,
) {
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    change({ text: value || undefined }),
  );
  const [tags, setTags] = useTyped(search.tags ?? "", (value) =>
    change({ tags: value || undefined }),
  );
  const clear = () => {
    setText("");
    setTags("");
    change(none);
  };
  return { text, setText, tags, setTags, onClear: isNarrowed(search, none) ? clear : undefined };
}

const THEME_KEY = "vedette.theme";
export type ThemeChoice = "light" | "dark" | "system";

export function themeChoice(): ThemeChoice {
  const stored = localStorage.getItem(THEME_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Light, dark or what the system says; kept in this browser. */
export function applyTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem(THEME_KEY);
  else localStorage.setItem(THEME_KEY, choice);
  const dark =
    choice === "dark" ||
    (choice === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
