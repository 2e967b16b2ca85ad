import type { ReactNode } from "react";
import { cx } from "./cx";

interface CardProps {
  title?: ReactNode;
  /** Right of the title. */
  side?: ReactNode;
  className?: string;
  bodyClass?: string;
  children: ReactNode;
}

/** A titled surface. */
export function Card({ title, side, className, bodyClass, children }: CardProps) {
  return (
    <section
      className={cx("flex min-w-0 flex-col rounded-lg border bg-surface shadow-card", className)}
    >
      {title && (
        <header className="flex h-10 shrink-0 items-center justify-between gap-3 px-4 pt-1">
          <h2 className="truncate text-sm font-semibold">{title}</h2>
          {side && <div className="flex shrink-0 items-center gap-2 text-xs text-soft">{side}</div>}
        </header>
      )}
      <div className={cx("min-h-0 flex-1", bodyClass ?? "px-4 pb-4")}>{children}</div>
    </section>
  );
}

interface StatProps {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  children?: ReactNode;
}

/** One figure with its name. */
export function Stat({ label, value, note, children }: StatProps) {
  return (
    <div className="flex min-w-0 flex-col rounded-lg border bg-surface px-4 py-3 shadow-card">
      <span className="truncate text-xs text-soft">{label}</span>
      <span className="tabular mt-0.5 truncate text-xl/7 font-semibold tracking-tight">
        {value}
      </span>
      {note && <span className="truncate text-xs text-faint">{note}</span>}
      {children}
    </div>
  );
}
