import { type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "./button";
import { cx } from "./cx";
import { texts } from "./texts";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
}

/** A modal dialog: focus stays inside, Escape closes, focus returns where it was. */
export function Dialog({ title, onClose, children, footer, wide }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // The browser would choose the button that closes it.
    const box = "textarea, select, input:not([type=checkbox])";
    const first =
      dialog?.querySelector<HTMLElement>(`:is(${box}):not(:disabled)`) ??
      dialog?.querySelector<HTMLElement>("footer button:not(:disabled)");
    first?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes natively
    <dialog
      ref={ref}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
      className={cx(
        "m-auto mt-[10vh] max-h-[80vh] w-full flex-col max-sm:mt-2 max-sm:max-h-[96dvh] max-sm:max-w-[calc(100vw-1rem)] rounded-xl border bg-raised p-0 text-ink shadow-pop open:flex animate-rise",
        wide ? "max-w-4xl" : "max-w-lg",
      )}
    >
      <header className="flex h-12 shrink-0 items-center justify-between border-b pr-2 pl-4">
        <h2 className="truncate text-base font-semibold">{title}</h2>
        <IconButton icon="close" label={texts.close} onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
      {footer && (
        <footer className="flex shrink-0 flex-wrap justify-end gap-2 border-t px-4 py-3">
          {footer}
        </footer>
      )}
    </dialog>
  );
}

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A side panel that leaves the list beside it usable. */
export function Drawer({ title, onClose, children }: DrawerProps) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) onClose();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [onClose]);
  return (
    <aside
      ref={ref}
      aria-label={title}
      className="absolute inset-y-0 right-0 z-30 flex w-[30rem] max-sm:fixed max-sm:inset-0 max-sm:w-full max-sm:rounded-none max-w-full flex-col overflow-hidden rounded-lg border bg-raised shadow-pop animate-slide-in"
    >
      {children}
    </aside>
  );
}
