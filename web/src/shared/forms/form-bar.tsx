import { useBlocker, useCanGoBack, useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { explain } from "~/api/errors";
import { Button } from "~/ui/button";
import { confirmed } from "~/ui/confirm";
import { ErrorNote } from "~/ui/state";
import { texts } from "../texts";
import { hasUnsaved, setSaving } from "./unsaved";

interface FormBarProps {
  save: string;
  busy: boolean;
  error: unknown;
  /** What is wrong with the draft, once saving was tried. */
  problems: Record<string, string>;
  /** Between Cancel and what stands at the end: Test. */
  children?: ReactNode;
  onDelete?: () => void;
  deleting?: boolean;
  deleteLabel?: string;
}

const LISTS = [
  ["/hosts", "/hosts"],
  ["/maps", "/maps"],
  ["/dashboards", "/dashboards"],
  ["/maintenance", "/maintenance"],
  ["/discovery-rules", "/discovery-rules"],
  ["/actions", "/actions"],
  ["/media-types", "/media-types"],
  ["/scripts", "/scripts"],
  ["/correlation", "/correlation"],
  ["/services", "/services"],
  ["/sla", "/sla"],
  ["/oncall", "/oncall"],
  ["/heartbeat", "/heartbeat"],
  ["/message-links", "/message-links"],
  ["/autoregistration", "/autoregistration"],
  ["/authentication", "/authentication"],
  ["/templates", "/templates"],
  ["/balancing/services", "/balancing/services"],
  ["/balancing/pools", "/balancing/pools"],
  ["/balancing/health-monitors", "/balancing/health-monitors"],
  ["/balancing/vips", "/balancing/vips"],
  ["/balancing/certificates", "/balancing/certificates"],
  ["/balancing/engine-groups", "/balancing/engine-groups"],
] as const;

/** The list of the objects that the form at this address edits. */
export function listOf(path: string): "/" | (typeof LISTS)[number][1] {
  return LISTS.find(([start]) => path.startsWith(start))?.[1] ?? "/hosts";
}

/** Asks whether unsaved edits may be lost. */
export function mayDiscard(): Promise<boolean> {
  const body = <p>{texts.yourChangesAreNot}</p>;
  return confirmed(texts.leaveWithoutSaving, body, texts.discardChanges);
}

/** Asks before a page with unsaved edits is left; `error` is that of the last attempt to save. */
export function useLeaveQuestion(error: unknown): void {
  useEffect(() => {
    if (error) setSaving(false);
  }, [error]);
  useBlocker({
    shouldBlockFn: async ({ next }) => {
      // An expired session leads to the sign-in page, and keeps the draft.
      if (!hasUnsaved() || next.pathname === "/login") return false;
      return !(await mayDiscard());
    },
    enableBeforeUnload: hasUnsaved,
  });
}

/** The end of a form, always in sight: save, cancel, what went wrong, delete. */
export function FormBar(props: FormBarProps) {
  const router = useRouter();
  const canGoBack = useCanGoBack();
  useLeaveQuestion(props.error);
  // A form that was opened by its address has no page to go back to.
  const cancel = () => {
    if (canGoBack) router.history.back();
    else void router.navigate({ to: listOf(location.pathname) });
  };
  const problem = Object.values(props.problems)[0];
  return (
    <div className="sticky -bottom-8 z-10 max-sm:bottom-0 -mx-4 flex flex-wrap items-center gap-2 rounded-b-lg border-t bg-surface px-4 py-3 sm:-mx-6 sm:px-6">
      <Button type="submit" look="primary" busy={props.busy}>
        {props.save}
      </Button>
      {props.children}
      <Button onClick={cancel}>{texts.cancel}</Button>
      {props.error ? <ErrorNote {...explain(props.error)} className="ml-2 flex-1" /> : null}
      {!props.error && problem && (
        <span role="alert" className="ml-2 text-sm text-bad-ink">
          {problem}
        </span>
      )}
      {props.onDelete && (
        <Button
          look="danger"
          icon="trash"
          className="ml-auto"
          busy={props.deleting}
          onClick={props.onDelete}
        >
          {props.deleteLabel}
        </Button>
      )}
    </div>
  );
}
