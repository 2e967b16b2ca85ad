import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Case, ExplainedAction, ExplainedOperation } from "~/api/explanations";
import { mediaTypeNamesQuery } from "~/api/media-types";
import { EventSource } from "~/api/schema";
import { session } from "~/api/session-store";
import { useConditionNames } from "~/features/actions";
import { Button } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { Dot } from "~/ui/severity";
import { conditionWords } from "~/util/actions";
import type { Delivery } from "~/util/alerts";
import { nextWords } from "~/util/escalations";
import { formatCount, plural } from "~/util/format";
import { useNow } from "~/util/hooks";
import type { Severity } from "~/util/severity";
import { formatClock } from "~/util/time";
import { byUser, judged, type Standing, standingOf } from "~/util/verdicts";
import { texts } from "./texts";

/** Users of an operation before "Show all". */
const SHORT = 10;

const TONES: Record<Standing, Delivery["tone"]> = {
  running: "next",
  ended: "off",
  missed: "warn",
  off: "off",
  unfit: "off",
};

/** Media types by id, for those who may read them. */
export function useMediaTypeNames(): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({
    ...mediaTypeNamesQuery(),
    enabled: (session()?.type ?? 0) >= 2,
  });
  return new Map(data.map((type) => [type.mediatypeid, type.name]));
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h4 className="pb-1 text-xs font-semibold text-soft">{title}</h4>
      {children}
    </div>
  );
}

function Conditions({ action }: { action: ExplainedAction }) {
  const names = useConditionNames(EventSource.Trigger, action.conditions);
  if (action.conditions.length === 0) {
    const mayView = (session()?.type ?? 0) >= 2;
    return <p className="text-soft">{mayView ? texts.noConditions : texts.conditionsHidden}</p>;
  }
  return (
    <ul>
      {action.conditions.map((condition, at) => {
        const isMet = condition.met === "1";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no identity but their place
          <li key={at} className="flex items-start gap-2">
            <Icon
              name={isMet ? "check" : "close"}
              size={13}
              className={isMet ? "mt-1 text-good-ink" : "mt-1 text-bad-ink"}
            />
            <span className="min-w-0 flex-1 break-words">
              {conditionWords(EventSource.Trigger, condition, names)}
            </span>
            <span className={isMet ? "text-xs text-good-ink" : "text-xs text-bad-ink"}>
              {isMet ? texts.met : texts.notMet}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

interface UserProps {
  cases: readonly Case[];
  severity: Severity | undefined;
  mediaTypes: ReadonlyMap<string, string>;
}

function User({ cases, severity, mediaTypes }: UserProps) {
  const { userid = "", username = "" } = cases[0] ?? {};
  return (
    <li className="flex flex-col gap-0.5">
      <span className="font-medium break-words">
        {userid === session()?.userid ? texts.you(username) : username}
      </span>
      {cases.map((one, at) => {
        const { tone, what, todo } = judged(one.verdict, severity);
        const media = mediaTypes.get(one.mediatypeid);
        const address = [one.sendto.replaceAll("\n", ", "), media && texts.byMedia(media)]
          .filter(Boolean)
          .join(" ");
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same address can have several media
          <div key={at} className="flex gap-2 text-xs">
            <span className="pt-1">
              <Dot tone={tone} />
            </span>
            <p className="min-w-0 break-words">
              {address && <span className="text-soft">{address}: </span>}
              {what} {todo && <span className="text-soft">{todo}</span>}
            </p>
          </div>
        );
      })}
    </li>
  );
}

/** Who of the operation's on-call schedules is reached now; a gap is shown as one. */
function OnCall({ operation }: { operation: ExplainedOperation }) {
  const names = new Map(operation.users.map(({ userid, username }) => [userid, username]));
  return operation.oncall?.map(({ scheduleid, name, userids, gap }) => (
    <p key={scheduleid} className={gap === "1" ? "pb-1 text-bad-ink" : "pb-1 text-soft"}>
      {gap === "1"
        ? texts.nobodyOnCall(name)
        : texts.onCallIn(
            name,
            userids.map((id) => names.get(id) ?? texts.userThatYouCannotView).join(", "),
          )}
    </p>
  ));
}

interface OperationProps {
  operation: ExplainedOperation;
  severity: Severity | undefined;
  mediaTypes: ReadonlyMap<string, string>;
}

function Recipients({ operation, severity, mediaTypes }: OperationProps) {
  const [all, setAll] = useState(false);
  if (operation.to_involved === "1") return <p className="text-soft">{texts.toInvolved}</p>;
  const users = byUser(operation.users, session()?.userid);
  if (users.length === 0)
    return (
      <>
        <OnCall operation={operation} />
        <p className="text-soft">{session()?.type === 3 ? texts.nobody : texts.nobodyYouView}</p>
      </>
    );
  const shown = all ? users : users.slice(0, SHORT);
  return (
    <>
      <OnCall operation={operation} />
      <ul className="flex flex-col gap-1.5">
        {shown.map((cases) => (
          <User key={cases[0]?.userid} cases={cases} severity={severity} mediaTypes={mediaTypes} />
        ))}
      </ul>
      {users.length > shown.length && (
        <Button small className="mt-2" onClick={() => setAll(true)}>
          {texts.showAllUsers(formatCount(users.length))}
        </Button>
      )}
    </>
  );
}

/** When an operation sends, with its next step. */
function titleOf({ mode, operationid }: ExplainedOperation, action: ExplainedAction): string {
  if (mode === "recovery") return texts.atTheEnd;
  if (mode === "update") return texts.atUpdates;
  const next = action.steps.find((step) => step.operationids.includes(operationid));
  return next
    ? texts.inStep(next.step, formatClock(Number(next.at)))
    : action.escalation
      ? texts.noFurtherStep
      : texts.atProblem;
}

/** What an action does about the problem, in a few words. */
function useStanding(action: ExplainedAction): { standing: Standing; words: string } {
  const now = useNow();
  const standing = standingOf(action);
  const { escalation, alertids } = action;
  if (escalation) return { standing, words: nextWords(escalation, now) };
  const words: Record<Exclude<Standing, "running">, string> = {
    ended: plural(alertids.length, "message"),
    missed: texts.noEscalation,
    off: texts.disabled,
    unfit: texts.doesNotApply,
  };
  return { standing, words: words[standing as Exclude<Standing, "running">] };
}

/** What follows from how the action stands. */
function Advice({ standing, action }: { standing: Standing; action: ExplainedAction }) {
  const { escalation, enabled, applies } = action;
  const until = Number(escalation?.until);
  const lines = [
    until > 0 && texts.waitsUntil(formatClock(until)),
    standing === "missed" && texts.missedAdvice,
    standing === "unfit" && texts.unfitAdvice,
    enabled !== "1" && texts.offAdvice,
    escalation && applies !== "1" && texts.appliedThen,
  ].filter((line) => typeof line === "string");
  return lines.map((line) => (
    <p key={line} className="text-soft">
      {line}
    </p>
  ));
}

interface CardProps {
  action: ExplainedAction;
  severity: Severity | undefined;
  mayEdit: boolean;
}

/** One action and the problem: whether it applies, what it waits for, who gets its messages. */
export function ExplainedActionCard({ action, severity, mayEdit }: CardProps) {
  const { standing, words } = useStanding(action);
  const mediaTypes = useMediaTypeNames();
  const [open, setOpen] = useState(standing !== "unfit" && standing !== "off");
  return (
    <details
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-md border"
    >
      <summary className="cursor-pointer px-3 py-2">
        <span className="inline-flex max-w-[calc(100%-1.5rem)] flex-wrap items-baseline gap-x-2 align-top">
          <Dot tone={TONES[standing]} />
          <span className="min-w-0 font-medium break-words">{action.name}</span>
          <span className="text-xs text-soft">{words}</span>
        </span>
      </summary>
      {open && (
        <div className="flex flex-col gap-3 border-t px-3 py-2.5">
          <Advice standing={standing} action={action} />
          <Part title={texts.conditionsOf(action.applies === "1")}>
            <Conditions action={action} />
          </Part>
          {action.operations.map((operation) => (
            <Part key={operation.operationid} title={titleOf(operation, action)}>
              <Recipients operation={operation} severity={severity} mediaTypes={mediaTypes} />
            </Part>
          ))}
          {action.operations.length === 0 && <p className="text-soft">{texts.sendsNothing}</p>}
          {mayEdit && (
            <Link
              to="/actions/$actionid/edit"
              params={{ actionid: action.actionid }}
              className="self-start text-xs text-accent-ink hover:underline"
            >
              {texts.editAction}
            </Link>
          )}
        </div>
      )}
    </details>
  );
}
