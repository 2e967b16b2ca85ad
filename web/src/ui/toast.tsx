import { useSyncExternalStore } from "react";
import { cx } from "./cx";
import { Icon } from "./icon";
import { texts } from "./texts";

interface Toast {
  id: number;
  text: string;
  tone: "good" | "bad";
  action?: ToastAction;
}

/** What can be done about it, at once: take it back. */
interface ToastAction {
  label: string;
  run: () => void;
}

const SHOWN_MS = 5_000;
let toasts: Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Says in a corner, for a few seconds, that something worked or did not; the answer dismisses it. */
export function toast(
  text: string,
  tone: Toast["tone"] = "good",
  action?: ToastAction,
): () => void {
  const id = ++lastId;
  set([...toasts.slice(-3), { id, text, tone, action }]);
  const dismiss = () => set(toasts.filter((t) => t.id !== id));
  setTimeout(dismiss, tone === "bad" || action ? SHOWN_MS * 2 : SHOWN_MS);
  return dismiss;
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div
      aria-live="polite"
      className="fixed bottom-17 left-1/2 z-50 flex w-96 max-w-[90vw] -translate-x-1/2 flex-col gap-2"
    >
      {shown.map((t) => (
        <div
          key={t.id}
          role={t.tone === "bad" ? "alert" : "status"}
          className="flex items-start gap-2.5 rounded-lg border bg-raised px-3 py-2.5 text-sm shadow-pop animate-rise"
        >
          <Icon
            name={t.tone === "bad" ? "problems" : "check"}
            className={cx("mt-0.5", t.tone === "bad" ? "text-bad-ink" : "text-good-ink")}
          />
          <span className="min-w-0 flex-1 break-words">{t.text}</span>
          {t.action && (
            <button
              type="button"
              className="font-medium whitespace-nowrap text-accent-ink hover:underline"
              onClick={() => {
                t.action?.run();
                set(toasts.filter((o) => o.id !== t.id));
              }}
            >
              {t.action.label}
            </button>
          )}
          <button
            type="button"
            aria-label={texts.dismiss}
            className="text-faint hover:text-ink"
            onClick={() => set(toasts.filter((o) => o.id !== t.id))}
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
