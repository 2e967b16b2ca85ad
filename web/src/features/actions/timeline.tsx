import type { ReactNode } from "react";
import { EventSource } from "~/api/schema";
import { cx } from "~/ui/cx";
import { Icon, type IconName } from "~/ui/icon";
import { Chip } from "~/ui/tag";
import { type ActionSource, operationName, operationNeed } from "~/util/actions";
import { type ActionDraft, modes } from "./draft";
import { stagesOf } from "./escalation";
import type { RecipientNames } from "./names";
import type { OperationDraft } from "./operation-draft";
import {
  by,
  onlyIf,
  recipients,
  repeatWords,
  scriptWords,
  stepWords,
  whenWords,
} from "./operation-words";
import { quietWords } from "./quiet-draft";
import { texts } from "./texts";

interface LineProps {
  operation: OperationDraft;
  names: RecipientNames;
}

/** Who is told, by what, and under which condition. */
function Line({ operation, names }: LineProps) {
  const need = operationNeed(operation.type);
  if (need === "command")
    return (
      <p className={operation.script ? "break-words" : "text-bad-ink"}>
        {operation.script ? scriptWords(operation, names) : texts.noScriptYet}
      </p>
    );
  if (need !== "message" && need !== "involved")
    return <p className="text-soft">{operationName(operation.type)}</p>;
  const who = recipients(operation, names);
  const condition = onlyIf(operation);
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1">
      {who.length === 0 ? (
        <span className="text-bad-ink">{texts.nobodyYet}</span>
      ) : (
        who.map((name) => (
          <Chip key={name} title={name} className="text-ink!">
            {name}
          </Chip>
        ))
      )}
      <span className="text-soft">{texts.byMedia(by(operation, names))}</span>
      {condition && <span className="text-xs text-accent-ink">{condition}</span>}
      {operation.ownText && <span className="text-xs text-soft">{texts.withOwnText}</span>}
      {names.isOff(operation.mediaType) && (
        <span className="text-xs text-bad-ink">{texts.typeIsOff}</span>
      )}
    </p>
  );
}

interface MomentProps {
  icon?: IconName;
  when: string;
  /** Beside it: the steps. */
  what?: string;
  repeats?: string;
  tone?: "good" | "plain";
  children: ReactNode;
}

/** A point of the line. */
function Moment({ icon, when, what, repeats, tone = "plain", children }: MomentProps) {
  return (
    <li className="relative border-l-2 pb-4 pl-5 last:border-transparent last:pb-0">
      <span
        aria-hidden="true"
        className={cx(
          "absolute top-0 -left-[0.6875rem] flex size-5 items-center justify-center rounded-full border bg-surface",
          tone === "good" ? "border-good text-good-ink" : "border-accent text-accent-ink",
        )}
      >
        {icon ? <Icon name={icon} size={11} /> : <span className="size-2 rounded-full bg-accent" />}
      </span>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="tabular font-medium">{when}</span>
        {what && <span className="text-xs text-soft">{what}</span>}
        {repeats && (
          <span className="inline-flex items-center gap-1 rounded-full bg-accent-soft px-2 text-xs text-accent-ink">
            <Icon name="ack" size={11} />
            {repeats}
          </span>
        )}
      </p>
      <div className="flex flex-col gap-1 pt-1">{children}</div>
    </li>
  );
}

interface EndProps {
  operations: readonly OperationDraft[];
  names: RecipientNames;
  nobody: string;
}

function Lines({ operations, names, nobody }: EndProps) {
  if (operations.length === 0) return <p className="text-soft">{nobody}</p>;
  return operations.map((operation, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: operations have no identity but their place
    <Line key={at} operation={operation} names={names} />
  ));
}

interface TimelineProps {
  draft: ActionDraft;
  source: ActionSource;
  names: RecipientNames;
}

/** The escalation as a line of time: who is told when, by what, how often, and of the end. */
export function Timeline({ draft, source, names }: TimelineProps) {
  const stages = stagesOf(draft.operations, draft.period);
  const has = modes(source);
  return (
    <>
      <ol aria-label={texts.escalation} className="pt-1 pl-2.5">
        {stages.length === 0 && (
          <Moment when={texts.atOnce} icon="mute">
            <p className="text-bad-ink">{texts.nobodyIsNotified}</p>
          </Moment>
        )}
        {stages.map((stage) => (
          <Moment
            key={stage.from}
            when={whenWords(stage)}
            what={stepWords(stage)}
            repeats={repeatWords(stage)}
          >
            <Lines operations={stage.operations} names={names} nobody="" />
          </Moment>
        ))}
        {has.includes("updates") && (
          <Moment when={texts.atEachUpdate(source)} icon="comment">
            <Lines operations={draft.updates} names={names} nobody={texts.nobodyOfUpdates} />
          </Moment>
        )}
        {has.includes("recoveries") && (
          <Moment when={texts.atTheEnd} icon="check" tone="good">
            <Lines operations={draft.recoveries} names={names} nobody={texts.nobodyOfTheEnd} />
          </Moment>
        )}
      </ol>
      {source === EventSource.Trigger && (draft.pauseSuppressed || draft.pauseSymptoms) && (
        <p className="text-xs text-soft">
          {texts.paused(draft.pauseSuppressed, draft.pauseSymptoms)}
        </p>
      )}
      {source === EventSource.Trigger &&
        quietWords(draft).map((line) => (
          <p key={line} className="text-xs text-soft">
            {line}
          </p>
        ))}
    </>
  );
}
