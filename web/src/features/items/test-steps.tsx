import type { TestOutcome } from "~/api/item-test";
import type { PreprocessingStep } from "~/api/items";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { stepKind } from "~/util/preprocessing";
import type { ShownStep } from "./test-params";
import { texts } from "./texts";

function Text({ text, tone }: { text: string; tone?: "bad" }) {
  return (
    <pre
      className={cx(
        "max-h-40 overflow-auto rounded px-2 py-1 font-mono text-xs break-all whitespace-pre-wrap",
        tone === "bad" ? "bg-bad-soft text-bad-ink" : "bg-sunken",
      )}
    >
      {text === "" ? <span className="text-faint">{texts.empty}</span> : text}
    </pre>
  );
}

const STATES: Record<ShownStep["state"], string> = {
  value: "passed",
  discarded: "discarded",
  error: "failed",
  skipped: "not run",
};

function Outcome({ step }: { step: ShownStep }) {
  if (step.state === "skipped") return null;
  return (
    <div className="flex flex-col gap-1.5">
      {step.input !== null && (
        <div className="grid items-start gap-2 sm:grid-cols-[minmax(0,1fr)_1rem_minmax(0,1fr)]">
          <Text text={step.input} />
          <Icon name="right" size={14} className="mt-1.5 hidden text-faint sm:block" />
          <Result step={step} />
        </div>
      )}
      {step.input === null && <Result step={step} />}
      {step.handled && (
        <p className="text-xs text-soft">
          {step.handled}
          {step.state === "value" && step.error !== undefined && texts.becauseError(step.error)}
          {step.state === "error" && step.error !== undefined && texts.insteadOf(step.error)}
        </p>
      )}
      {step.cut && <p className="text-xs text-faint">{step.cut}</p>}
    </div>
  );
}

function Result({ step }: { step: ShownStep }) {
  if (step.state === "error") return <Text text={step.output ?? step.error ?? ""} tone="bad" />;
  if (step.state === "discarded") {
    return (
      <p className="py-1 text-xs text-soft">
        <span className="mr-1.5 rounded bg-sunken px-1.5 py-0.5 font-medium">
          {texts.discarded}
        </span>
        {step.error ?? texts.theValueIsDiscarded}
      </p>
    );
  }
  return <Text text={step.output ?? ""} />;
}

interface TestStepsProps {
  steps: readonly PreprocessingStep[];
  shown: readonly ShownStep[] | undefined;
  outcome: TestOutcome | undefined;
}

/** The steps like in a debugger: what goes in, what comes out, and what is left in the end. */
export function TestSteps({ steps, shown, outcome }: TestStepsProps) {
  const end = outcome?.preprocessing;
  const result = end ? end.result : outcome?.item?.result;
  return (
    <section aria-label={texts.steps} className="flex flex-col gap-2">
      <h3 className="text-xs font-semibold text-soft">{texts.preprocessing}</h3>
      {steps.length === 0 && <p className="text-sm text-soft">{texts.noStepsTheValue}</p>}
      <ol className="flex flex-col gap-2">
        {steps.map((step, i) => {
          const done = shown?.[i];
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
              key={i}
              aria-label={texts.stepNumberText(i + 1, done ? ` ${STATES[done.state]}` : "")}
              className={cx(
                "flex flex-col gap-2 rounded-md border border-l-3 px-3 py-2",
                done?.state === "value" && "border-l-good",
                done?.state === "error" && "border-l-[var(--sev-4)]",
                done?.state === "discarded" && "border-l-[var(--sev-2)]",
              )}
            >
              <div className="flex flex-wrap items-baseline gap-x-3">
                <span className="tabular text-xs text-faint">{i + 1}</span>
                <span className="font-medium">{stepKind(step.type)?.label ?? step.type}</span>
                <code className="min-w-0 truncate font-mono text-2xs text-soft">
                  {step.params.replaceAll("\n", " · ")}
                </code>
                {done && (
                  <span
                    className={cx(
                      "ml-auto text-xs",
                      done.state === "error" ? "text-bad-ink" : "text-faint",
                    )}
                  >
                    {STATES[done.state]}
                  </span>
                )}
              </div>
              {done && <Outcome step={done} />}
            </li>
          );
        })}
      </ol>
      {outcome && outcome.item?.error === undefined && (
        <div
          role="status"
          aria-label={texts.result}
          className="mt-1 flex flex-col gap-1.5 rounded-md bg-accent-soft px-3 py-2.5"
        >
          <span className="text-xs font-semibold text-accent-ink">{texts.result}</span>
          {end?.error !== undefined ? (
            <Text text={end.error} tone="bad" />
          ) : result === null || result === undefined ? (
            <p className="text-sm text-soft">{texts.noValueItWas}</p>
          ) : (
            <Text text={result} />
          )}
        </div>
      )}
    </section>
  );
}
