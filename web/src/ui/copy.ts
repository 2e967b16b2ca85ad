import { toast } from "./toast";

/** Browsers offer the clipboard to pages with TLS and to those of this machine only. */
export const canCopy = typeof navigator !== "undefined" && navigator.clipboard !== undefined;

/** Copies a text and reports the outcome: `done` names what was copied. */
export function copy(text: string, done: string): void {
  navigator.clipboard.writeText(text).then(
    () => toast(done),
    () =>
      toast("The browser denied access to the clipboard. Select the text and copy it manually."),
  );
}
