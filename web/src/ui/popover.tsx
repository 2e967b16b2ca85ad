import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { cx } from "./cx";

interface PopoverProps {
  /** Draws what opens the panel. */
  trigger: (props: { open: boolean; toggle: () => void }) => ReactNode;
  children: (close: () => void) => ReactNode;
  align?: "left" | "right";
  className?: string;
}

const EDGE_PX = 8;

/** Pushes a panel back into the window where it would stick out. */
function keepInside(panel: HTMLElement | null): void {
  if (!panel) return;
  const { left, right } = panel.getBoundingClientRect();
  const over = right - (document.documentElement.clientWidth - EDGE_PX);
  const shift = left < EDGE_PX ? EDGE_PX - left : over > 0 ? -Math.min(over, left - EDGE_PX) : 0;
  // Not a transform: the panel's animation has that.
  if (shift === 0) return;
  if (panel.classList.contains("right-0")) panel.style.marginRight = `${-shift}px`;
  else panel.style.marginLeft = `${shift}px`;
}

/** A panel below its trigger. A click elsewhere or Escape closes it. */
export function Popover({ trigger, children, align = "left", className }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (open) keepInside(panel.current);
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const onDown = (event: PointerEvent) => {
      if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      // A dialog around the panel stays open.
      event.preventDefault();
      setOpen(false);
      ref.current?.querySelector<HTMLElement>("button")?.focus();
    };
    addEventListener("pointerdown", onDown);
    addEventListener("keydown", onKey, true);
    return () => {
      removeEventListener("pointerdown", onDown);
      removeEventListener("keydown", onKey, true);
    };
  }, [open]);
  return (
    <div ref={ref} className="relative inline-flex">
      {trigger({ open, toggle: () => setOpen((is) => !is) })}
      {open && (
        <div
          ref={panel}
          className={cx(
            "absolute top-full z-40 mt-1 min-w-52 rounded-lg border bg-raised p-1 shadow-pop animate-rise",
            align === "right" ? "right-0" : "left-0",
            className,
          )}
        >
          {children(() => setOpen(false))}
        </div>
      )}
    </div>
  );
}

interface MenuItemProps {
  onClick: () => void;
  children: ReactNode;
  checked?: boolean;
  danger?: boolean;
}

export function MenuItem({ onClick, children, checked, danger }: MenuItemProps) {
  return (
    <button
      type="button"
      onClick={onClick}
      aria-pressed={checked}
      className={cx(
        "flex h-8 w-full items-center gap-2 rounded-md px-2.5 text-left text-sm hover:bg-hover",
        danger ? "text-bad-ink" : checked ? "font-medium text-accent-ink" : "text-ink",
      )}
    >
      {children}
    </button>
  );
}
