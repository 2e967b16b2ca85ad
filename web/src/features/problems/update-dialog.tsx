import { useMutation, useQueryClient } from "@tanstack/react-query";
import { explain } from "~/api/errors";
import { type Update, type UpdateResult, updateProblems } from "~/api/events";
import { allows, type RoleAction } from "~/api/session-store";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { useDialogDraft } from "~/shared/save-dialog";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox, Field, SelectField, Textarea } from "~/ui/field";
import { ErrorNote } from "~/ui/state";
import { toast } from "~/ui/toast";
import { plural } from "~/util/format";
import { SEVERITIES, severityName, toSeverity } from "~/util/severity";
import { silenceEnd, tomorrowAt } from "~/util/silence";
import { texts } from "./texts";

/** What an update did, in words. */
export function outcome(result: UpdateResult, update: Update): { text: string; bad: boolean } {
  const { updated, notClosable, failed } = result;
  const what = update.close
    ? "closed"
    : update.acknowledge
      ? "acknowledged"
      : update.unacknowledge
        ? "unacknowledged"
        : "updated";
  const others = update.acknowledge || update.message || update.severity !== undefined;
  const parts: string[] = [];
  if (update.close && notClosable > 0) {
    // Those that could not be closed got the rest of the update.
    const closed = Math.max(0, others ? updated - notClosable : updated);
    parts.push(`${plural(closed, "problem")} closed.`);
    parts.push(texts.notClosedTheTrigger(plural(notClosable, "problem")));
  } else if (updated > 0 || failed === 0) parts.push(`${plural(updated, "problem")} ${what}.`);
  if (failed > 0) {
    const { what: why } = explain(result.error);
    parts.push(texts.notUpdated(plural(failed, "problem"), why));
  }
  return { text: parts.join(" "), bad: failed > 0 || notClosable > 0 };
}

/** Sends an update and refreshes whatever shows problems. */
export function useUpdateProblems() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ eventids, update }: { eventids: string[]; update: Update }) =>
      updateProblems(eventids, update),
    onSuccess: (result, { update }) => {
      const { text, bad } = outcome(result, update);
      toast(text, bad ? "bad" : undefined);
    },
    onError: (error) => {
      const { what, todo } = explain(error);
      toast(`${what} ${todo}`, "bad");
    },
    onSettled: () =>
      client.invalidateQueries({ predicate: (query) => query.meta?.live === "problems" }),
  });
}

interface UpdateDialogProps {
  eventids: string[];
  /** What to tick at first. */
  initial?: "acknowledge" | "message" | "close";
  onClose: () => void;
}

const SEVERITY_OPTIONS = [
  ["", "No change"] as const,
  ...SEVERITIES.map((severity) => [String(severity), severityName(severity)] as const),
];

const SUPPRESS_OPTIONS = [
  ["", "No change"],
  ["30", "Suppress for 30 minutes"],
  ["120", "Suppress for 2 hours"],
  ["tomorrow", "Suppress until tomorrow 8:00"],
  ["0", "Suppress until resolved"],
  ["unsuppress", "Unsuppress"],
] as const;

/** The members of an update for a choice of `SUPPRESS_OPTIONS`. */
function suppression(choice: string): Pick<Update, "suppressUntil" | "unsuppress"> {
  const now = Math.floor(Date.now() / 1000);
  if (choice === "") return {};
  if (choice === "unsuppress") return { unsuppress: true };
  if (choice === "tomorrow") return { suppressUntil: tomorrowAt(8, now) };
  return { suppressUntil: choice === "0" ? 0 : silenceEnd(Number(choice), now) };
}

const UPDATES: readonly RoleAction[] = [
  "acknowledge_problems",
  "add_problem_comments",
  "change_severity",
  "close_problems",
  "suppress_problems",
];

/** Whether the user's role allows any part of the update dialog. */
export const mayUpdate = () => UPDATES.some(allows);

/** What the user's role allows of: acknowledge, message, severity, suppression and close. */
export function UpdateDialog({ eventids, initial = "acknowledge", onClose }: UpdateDialogProps) {
  const [draft, setDraft, restored] = useKeptState("problem update", {
    message: "",
    acknowledge: initial === "acknowledge" && allows("acknowledge_problems"),
    close: initial === "close" && allows("close_problems"),
    severity: "",
    suppress: "",
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const { message, acknowledge, close, severity, suppress } = draft;
  const mutation = useUpdateProblems();
  const leave = useDialogDraft({ draft, restored, error: mutation.error, onClose });
  const nothing = !message.trim() && !acknowledge && !close && severity === "" && suppress === "";
  const submit = () => {
    if (nothing) return;
    const update: Update = {
      acknowledge,
      close,
      message: message.trim() || undefined,
      severity: severity === "" ? undefined : toSeverity(severity),
      ...suppression(suppress),
    };
    mutation.mutate(
      { eventids, update },
      { onSuccess: (result) => result.failed === 0 && onClose() },
    );
  };
  return (
    <Dialog
      title={texts.updateOf(eventids.length)}
      onClose={() => void leave()}
      footer={
        <>
          <Button onClick={() => void leave()}>{texts.cancel}</Button>
          <Button look="primary" disabled={nothing} busy={mutation.isPending} onClick={submit}>
            {texts.updateNow}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {mutation.error && <ErrorNote {...explain(mutation.error)} />}
        {allows("add_problem_comments") && (
          <Field label={texts.message} hint={texts.visibleToAllUsers}>
            {(id, describedBy) => (
              <Textarea
                id={id}
                aria-describedby={describedBy}
                autoFocus
                rows={3}
                value={message}
                onChange={(event) => set({ message: event.target.value })}
                onKeyDown={(event) => event.key === "Enter" && event.ctrlKey && submit()}
              />
            )}
          </Field>
        )}
        {allows("change_severity") && (
          <SelectField
            label={texts.severity}
            options={SEVERITY_OPTIONS}
            value={severity}
            onChange={(next) => set({ severity: next })}
          />
        )}
        {allows("suppress_problems") && (
          <SelectField
            label={texts.suppression}
            options={SUPPRESS_OPTIONS}
            value={suppress}
            onChange={(next) => set({ suppress: next })}
          />
        )}
        <div className="flex flex-col gap-2">
          {allows("acknowledge_problems") && (
            <Checkbox
              label={texts.acknowledge}
              checked={acknowledge}
              onChange={(event) => set({ acknowledge: event.target.checked })}
            />
          )}
          {allows("close_problems") && (
            <Checkbox
              label={texts.closeTheProblemOnly}
              checked={close}
              onChange={(event) => set({ close: event.target.checked })}
            />
          )}
        </div>
      </div>
    </Dialog>
  );
}
