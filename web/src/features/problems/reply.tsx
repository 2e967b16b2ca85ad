import { useState } from "react";
import { maySilence } from "~/api/maintenance";
import type { ProblemRow } from "~/api/problems";
import { allows } from "~/api/session-store";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { mayRunScripts, ScriptsButton } from "~/shared/scripts/button";
import { SilenceDialog } from "~/shared/silence";
import { Button } from "~/ui/button";
import { Input } from "~/ui/field";
import { silencesOf, targetOf } from "./columns";
import { texts } from "./texts";
import { mayUpdate, UpdateDialog, useUpdateProblems } from "./update-dialog";

/** What the user's role allows to do with a problem: a message, acknowledge, close, silence. */
export function Reply({ row }: { row: ProblemRow }) {
  const [message, setMessage] = useKeptState("message", "");
  const [more, setMore] = useKeptState("more dialog", false);
  const [silencing, setSilencing] = useState(false);
  const mutation = useUpdateProblems();
  const eventids = [row.eventid];
  const send = (acknowledge: boolean) =>
    mutation.mutate(
      {
        eventids,
        update: { message: message.trim() || undefined, acknowledge: acknowledge || undefined },
      },
      { onSuccess: () => setMessage("") },
    );
  const comments = allows("add_problem_comments");
  if (!mayUpdate() && !maySilence() && !mayRunScripts()) return null;
  return (
    <footer className="flex flex-col gap-2 border-t bg-surface px-5 py-3">
      {comments && (
        <Input
          aria-label={texts.message}
          placeholder={texts.writeAMessage}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
          onKeyDown={(event) => event.key === "Enter" && message.trim() && send(false)}
        />
      )}
      <div className="flex flex-wrap gap-2">
        {allows("acknowledge_problems") &&
          (row.acknowledged ? (
            <Button
              small
              onClick={() => mutation.mutate({ eventids, update: { unacknowledge: true } })}
            >
              {texts.unacknowledge}
            </Button>
          ) : (
            <Button
              small
              look="primary"
              icon="check"
              busy={mutation.isPending}
              onClick={() => send(true)}
            >
              {texts.acknowledge}
            </Button>
          ))}
        {comments && (
          <Button small disabled={!message.trim()} onClick={() => send(false)}>
            {texts.sendMessage}
          </Button>
        )}
        {allows("close_problems") && row.manualClose && row.r_clock === 0 && (
          <Button small onClick={() => mutation.mutate({ eventids, update: { close: true } })}>
            {texts.closeProblem}
          </Button>
        )}
        {maySilence() && row.r_clock === 0 && row.hosts.length > 0 && (
          <Button small icon="mute" onClick={() => setSilencing(true)}>
            {texts.silence}
          </Button>
        )}
        <ScriptsButton small target={{ eventid: row.eventid }} name={row.name} />
        {mayUpdate() && (
          <Button small look="quiet" onClick={() => setMore(true)}>
            {texts.more}
          </Button>
        )}
      </div>
      {silencing && (
        <SilenceDialog
          target={targetOf(row)}
          running={silencesOf(row)}
          onClose={() => setSilencing(false)}
        />
      )}
      {more && <UpdateDialog eventids={eventids} onClose={() => setMore(false)} />}
    </footer>
  );
}
