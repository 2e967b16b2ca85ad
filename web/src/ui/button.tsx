import type { ButtonHTMLAttributes, ReactNode } from "react";
import { cx } from "./cx";
import { Icon, type IconName } from "./icon";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-hover border border-transparent font-medium",
  plain: "bg-surface text-ink border border-line-strong hover:bg-hover",
  quiet: "text-soft hover:text-ink hover:bg-hover border border-transparent",
  danger: "bg-surface text-bad-ink border border-line-strong hover:bg-bad-soft",
};

/** Class names of a button, for links that look like one. */
export function buttonClass(look: Look = "plain", small = false): string {
  return cx(
    "inline-flex items-center justify-center gap-1.5 rounded-md whitespace-nowrap select-none",
    "disabled:opacity-50 disabled:pointer-events-none transition-colors",
    small ? "h-7 px-2 text-xs" : "h-8 px-3 text-sm",
    LOOKS[look],
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  icon?: IconName;
  busy?: boolean;
  children?: ReactNode;
}

export function Button({ look, small, icon, busy, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      aria-busy={busy || undefined}
      className={cx(buttonClass(look, small), className)}
    >
      {icon && <Icon name={icon} size={small ? 13 : 15} />}
      {children}
      {busy && <span className="animate-blink">…</span>}
    </button>
  );
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does, for screen readers and as a hint. */
  label: string;
  small?: boolean;
}

export function IconButton({ icon, label, small, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={cx(
        "inline-flex items-center justify-center rounded-md text-soft hover:text-ink hover:bg-hover",
        "disabled:opacity-40 disabled:pointer-events-none",
        small ? "size-6" : "size-8",
        className,
      )}
    >
      <Icon name={icon} size={small ? 14 : 16} />
    </button>
  );
}
