import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import type { Members } from "~/api/methods";
import { type Rehearsal, rehearsalQuery } from "~/api/rehearsals";
import type { Drafting } from "~/shared/forms/use-draft";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Segmented } from "~/ui/segmented";
import { ErrorNote, SkeletonRows } from "~/ui/state";
import type { ActionSource } from "~/util/actions";
import { type ActionDraft, actionParams, actionProblems } from "./draft";
import type { RecipientNames } from "./names";
import { gapWords, nobodyWords, problemWords, SPANS, type SpanId, stoppedWords } from "./rehearsal";
import { RehearsedMessages, RehearsedUsers } from "./rehearse-tables";
import { texts } from "./texts";

interface ResultProps {
  rehearsal: Rehearsal;
  names: RecipientNames;
}

function Result({ rehearsal, names }: ResultProps) {
  const stopped = stoppedWords(rehearsal);
  const { users, messages } = rehearsal;
  const known = new Map(users.map(({ userid, username }) => [userid, username]));
  const nameOf = (userid: string) => known.get(userid) ?? names.user(userid);
  const isEmpty = messages.length === 0 && users.every(({ withheld }) => withheld.length === 0);
  return (
    <>
      <p role="status" className="text-base font-medium">
        {problemWords(rehearsal)}
      </p>
      {stopped && <p className="rounded-md bg-bad-soft px-3 py-2 text-bad-ink">{stopped}</p>}
      {gapWords(rehearsal).map((line) => (
        <p key={line} className="rounded-md bg-bad-soft px-3 py-2 text-bad-ink">
          {line}
        </p>
      ))}
      {isEmpty && rehearsal.problems !== "0" && <p>{nobodyWords(rehearsal)}</p>}
      {users.length > 0 && (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">{texts.perUser}</h3>
          <RehearsedUsers rehearsal={rehearsal} nameOf={nameOf} />
        </div>
      )}
      {messages.length > 0 && (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">{texts.firstMessages}</h3>
          <RehearsedMessages rehearsal={rehearsal} nameOf={nameOf} names={names} />
        </div>
      )}
    </>
  );
}

interface DialogProps {
  action: Members<"action">;
  names: RecipientNames;
  onClose: () => void;
}

function RehearseDialog({ action, names, onClose }: DialogProps) {
  const [span, setSpan] = useState<SpanId>("week");
  const seconds = SPANS.find(([id]) => id === span)?.[2] ?? 0;
  const query = useQuery(rehearsalQuery(action, seconds));
  return (
    <Dialog
      title={texts.rehearsal}
      wide
      onClose={onClose}
      footer={<Button onClick={onClose}>{texts.close}</Button>}
    >
      <div className="flex flex-col gap-4">
        <p>{texts.rehearsalNote}</p>
        <div>
          <Segmented
            label={texts.timeRange}
            value={span}
            onChange={setSpan}
            options={SPANS.map(([id, name]) => [id, name] as const)}
          />
        </div>
        {query.data ? (
          <Result key={span} rehearsal={query.data} names={names} />
        ) : query.error ? (
          <ErrorNote what={explain(query.error).what} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows rows={5} />
        )}
        <p className="rounded-md bg-sunken px-3 py-2 text-xs text-soft">{texts.rehearsalLimits}</p>
      </div>
    </Dialog>
  );
}

interface ButtonProps {
  source: ActionSource;
  drafting: Pick<Drafting<ActionDraft>, "draft">;
  names: RecipientNames;
}

/** Shows what the action in the form, saved or not, would have sent about problems of the past. */
export function RehearseButton({ source, drafting, names }: ButtonProps) {
  const [asked, setAsked] = useState<Members<"action"> | null>(null);
  const [tried, setTried] = useState(false);
  const { draft } = drafting;
  // A rehearsal needs no name.
  const { name: _, ...problems } = actionProblems(draft, source);
  const [problem] = Object.values(problems);
  const start = () => {
    setTried(true);
    if (!problem) setAsked({ ...actionParams(draft, source), eventsource: source });
  };
  return (
    <>
      <Button icon="flask" onClick={start}>
        {texts.rehearse}
      </Button>
      {tried && problem && (
        <span role="alert" className="text-sm text-bad-ink">
          {problem}
        </span>
      )}
      {asked && <RehearseDialog action={asked} names={names} onClose={() => setAsked(null)} />}
    </>
  );
}
