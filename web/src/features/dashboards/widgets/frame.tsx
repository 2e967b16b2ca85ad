import { type QueryKey, type UseQueryOptions, useQueries, useQuery } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Widget } from "~/api/dashboards";
import { Settings } from "./settings";
import { texts } from "./texts";

export interface WidgetProps {
  widget: Widget;
}

/** Whether the widget is on screen, and how often it reads its data. */
interface Pace {
  isSeen: boolean;
  /** Milliseconds; false: never again; undefined: as the data need. */
  every: number | false | undefined;
}

const PaceContext = createContext<Pace>({ isSeen: true, every: undefined });

/** `rf_rate`: seconds, 0 = never, absent or -1 = the default. */
export function paceOf(widget: Pick<Widget, "fields">): Pace["every"] {
  const seconds = Settings.of(widget).number("rf_rate", -1);
  return seconds < 0 ? undefined : seconds === 0 ? false : seconds * 1000;
}

/** So many pixels around the window count as on screen, so that scrolling shows data at once. */
const MARGIN_PX = 200;

function isOnScreen(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom >= -MARGIN_PX && top <= innerHeight + MARGIN_PX;
}

/** Gives a widget its pace: its data are read and refreshed only while it is on screen. */
export function Paced({ widget, children }: WidgetProps & { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState<boolean>();
  useLayoutEffect(() => {
    if (ref.current) setSeen(isOnScreen(ref.current));
  }, []);
  useEffect(() => {
    if (!ref.current || !("IntersectionObserver" in globalThis)) return;
    const observer = new IntersectionObserver(
      (entries) => setSeen(entries.at(-1)?.isIntersecting ?? true),
      { rootMargin: `${MARGIN_PX}px` },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  const [wasSeen, setWasSeen] = useState(false);
  if (isSeen && !wasSeen) setWasSeen(true);
  return (
    <div ref={ref} className="flex h-full min-h-0 flex-col">
      {wasSeen && (
        <PaceContext.Provider value={{ isSeen: isSeen ?? true, every: paceOf(widget) }}>
          {children}
        </PaceContext.Provider>
      )}
    </div>
  );
}

/** Data of a widget, at its pace. */
export function useData<T, K extends QueryKey>(options: UseQueryOptions<T, Error, T, K>) {
  const { isSeen, every } = useContext(PaceContext);
  return useQuery({
    ...options,
    subscribed: isSeen,
    refetchInterval: every ?? options.refetchInterval,
  });
}

/** The same for several queries of one kind. */
export function useAllData<T, K extends QueryKey>(
  queries: readonly UseQueryOptions<T, Error, T, K>[],
) {
  const { isSeen, every } = useContext(PaceContext);
  return useQueries({
    queries: queries.map((query) => ({
      ...query,
      refetchInterval: every ?? query.refetchInterval,
    })),
    subscribed: isSeen,
  });
}

/** A sentence in place of what a widget would show. */
export function Note({ children }: { children: ReactNode }) {
  return <p className="p-3 text-sm text-soft">{children}</p>;
}

/** Settings of a widget that it does not apply, in one line. */
export function NotApplied({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  const text = texts.notApplied(names);
  return (
    <p className="shrink-0 truncate px-3 pt-0.5 text-2xs text-soft" title={text}>
      {text}
    </p>
  );
}

interface Size {
  width: number;
  height: number;
}

/** The room of a drawing, which is at least so high where the widget has no height of its own (phones). */
export function Room({ least, children }: { least: number; children: (size: Size) => ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>();
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () =>
      setSize({ width: element.clientWidth || 300, height: element.clientHeight || least });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [least]);
  return (
    <div
      ref={ref}
      className="relative min-h-0 min-w-0 flex-1 overflow-hidden"
      style={{ minHeight: least }}
    >
      {size && <div className="absolute inset-0">{children(size)}</div>}
    </div>
  );
}
