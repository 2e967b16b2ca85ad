import { type ReactNode, useEffect, useState } from "react";
import { Button } from "~/ui/button";
import { cx } from "~/ui/cx";
import { texts } from "./texts";

export interface PageProps {
  title: string;
  /** Shown instead of the title, where it is more than a word. */
  heading?: ReactNode;
  /** Right of the title: what can be done here. */
  actions?: ReactNode;
  /** Below the title: filters, tabs. */
  bar?: ReactNode;
  /** The bar is filters: phones show them on demand. */
  filters?: boolean;
  /** The page scrolls as a whole; without it the page fills the height and its parts scroll. */
  scroll?: boolean;
  children: ReactNode;
}

/** The frame of every page: title, actions, filters, content. */
export function Page(props: PageProps) {
  const { title, heading, actions, bar, filters, scroll, children } = props;
  const [open, setOpen] = useState(false);
  useEffect(() => {
    document.title = `${title} · Vedette`;
  }, [title]);
  return (
    <div className="relative flex h-full min-h-0 flex-col overflow-hidden max-sm:overflow-auto">
      <header className="flex min-h-14 shrink-0 flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 pt-2 sm:flex-nowrap sm:px-6">
        <h1 className="flex min-w-0 items-center gap-3 text-lg font-semibold tracking-tight max-sm:flex-wrap max-sm:gap-y-0.5">
          {heading ?? <span className="truncate">{title}</span>}
        </h1>
        <div className="flex items-center gap-2 sm:shrink-0 max-sm:flex-wrap max-sm:gap-x-1 max-sm:pb-2">
          {bar && filters && (
            <Button
              icon="filter"
              className="sm:hidden"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              {texts.filters}
            </Button>
          )}
          {actions}
        </div>
      </header>
      {bar && (
        <div
          className={cx(
            "flex shrink-0 flex-wrap items-center gap-2 px-4 pb-3 sm:px-6",
            filters && !open && "max-sm:hidden",
          )}
        >
          {bar}
        </div>
      )}
      <div
        // Scrolled by keyboard too, also without anything in it to focus.
        {...(scroll ? { role: "region", "aria-label": `${title} page`, tabIndex: 0 } : {})}
        className={cx(
          "min-h-0 flex-1 px-4 outline-none max-sm:flex-none max-sm:overflow-visible sm:px-6",
          scroll ? "overflow-auto pt-1 pb-8" : "flex flex-col pb-4",
        )}
      >
        {children}
      </div>
    </div>
  );
}

/** The look of a link in a heading: underlined, because colour alone does not mark a link in text. */
export const CRUMB =
  "text-soft underline decoration-line-strong decoration-1 underline-offset-4 hover:text-ink";

/** A number, or words of one, beside the title of a page. */
export function Count({ children }: { children: ReactNode }) {
  return <span className="tabular text-sm font-normal text-faint">{children}</span>;
}

/** A surface that fills what is left of the page, for tables. */
export function Sheet({ children }: { children: ReactNode }) {
  return (
    <div className="min-h-0 flex-1 overflow-hidden rounded-lg border bg-surface shadow-card max-sm:h-[calc(100dvh-7.75rem)] max-sm:flex-none">
      {children}
    </div>
  );
}
