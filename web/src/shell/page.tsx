import { type ReactNode, useEffect } from "react";
import { cx } from "~/ui/cx";

interface PageProps {
  title: string;
  /** Shown instead of the title, where it is more than a word. */
  heading?: ReactNode;
  /** Right of the title: what can be done here. */
  actions?: ReactNode;
  /** Below the title: filters, tabs. */
  bar?: ReactNode;
  /** The page scrolls as a whole; without it the page fills the height and its parts scroll. */
  scroll?: boolean;
  children: ReactNode;
}

/** The frame of every page: title, actions, filters, content. */
export function Page({ title, heading, actions, bar, scroll, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Vedette`;
  }, [title]);
  return (
    <div className="relative flex h-full min-h-0 flex-col overflow-hidden">
      <header className="flex min-h-14 shrink-0 items-center justify-between gap-4 px-6 pt-2">
        <h1 className="flex min-w-0 items-center gap-3 text-lg font-semibold tracking-tight">
          {heading ?? <span className="truncate">{title}</span>}
        </h1>
        {actions && <div className="flex shrink-0 items-center gap-2">{actions}</div>}
      </header>
      {bar && <div className="flex shrink-0 flex-wrap items-center gap-2 px-6 pb-3">{bar}</div>}
      <div
        className={cx(
          "min-h-0 flex-1",
          scroll ? "overflow-auto px-6 pt-1 pb-8" : "flex flex-col px-6 pb-4",
        )}
      >
        {children}
      </div>
    </div>
  );
}

/** A surface that fills what is left of the page, for tables. */
export function Sheet({ children }: { children: ReactNode }) {
  return (
    <div className="min-h-0 flex-1 overflow-hidden rounded-lg border bg-surface shadow-card">
      {children}
    </div>
  );
}
