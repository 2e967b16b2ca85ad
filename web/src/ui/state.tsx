import type { ReactNode } from "react";
import { cx } from "./cx";
import { Icon, type IconName } from "./icon";
import { texts } from "./texts";

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What to do next. */
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
}

/** Nothing to show, and what to do about it. */
export function Empty({ icon, title, children, action, className }: EmptyProps) {
  return (
    <div
      className={cx(
        "flex flex-col items-center justify-center gap-2 px-6 py-12 text-center",
        className,
      )}
    >
      <span className="flex size-10 items-center justify-center rounded-full bg-sunken text-faint">
        <Icon name={icon} size={18} />
      </span>
      <p className="text-base font-medium">{title}</p>
      {children && <p className="max-w-md text-sm text-soft">{children}</p>}
      {action && <div className="mt-2 flex gap-2">{action}</div>}
    </div>
  );
}

interface NoteProps {
  what: string;
  todo?: string;
  onRetry?: () => void;
  className?: string;
}

/** An error: what happened and what to do. */
export function ErrorNote({ what, todo, onRetry, className }: NoteProps) {
  return (
    <div
      role="alert"
      className={cx(
        "flex items-start gap-2.5 rounded-lg bg-bad-soft px-3 py-2.5 text-sm text-bad-ink",
        className,
      )}
    >
      <Icon name="problems" size={16} className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{what}</p>
        {todo && <p className="opacity-90">{todo}</p>}
      </div>
      {onRetry && (
        <button
          type="button"
          onClick={onRetry}
          className="font-medium underline underline-offset-2"
        >
          {texts.tryAgain}
        </button>
      )}
    </div>
  );
}

/** Stands in for text that is on its way. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={cx("block h-3 animate-shimmer rounded bg-line", className)}
    />
  );
}

export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div className="flex flex-col gap-3 p-4" role="status" aria-label={texts.loading}>
      {Array.from({ length: rows }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows without identity
        <Skeleton key={n} className={n % 3 === 2 ? "w-2/3" : "w-full"} />
      ))}
    </div>
  );
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded border border-line-strong bg-sunken px-1 font-sans text-2xs text-soft">
      {children}
    </kbd>
  );
}
