import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { testItem } from "~/api/item-test";
import { macroLevelsQuery } from "~/api/macros";
import type { Owner } from "~/api/owners";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { ErrorNote } from "~/ui/state";
import { macrosIn, resolveMacro, substitute } from "~/util/macros";
import type { WebDraft } from "./draft";
import { texts } from "./texts";
import { type Carried, judged, setVariables, type Trial, trialParams } from "./trial";

/** Signs of an answer that are shown. */
const SHOWN = 5_000;

interface TestDialogProps {
  draft: WebDraft;
  owner: Owner;
  onClose: () => void;
}

/** Macros by their values, as far as they may be seen. */
function useResolve(draft: WebDraft, ownerid: string): (text: string) => string {
  const texts = [...Object.values(draft), ...draft.steps.flatMap((step) => Object.values(step))];
  const macros = macrosIn(
    texts.filter((text) => typeof text === "string"),
    true,
  );
  const { data: levels = [] } = useQuery(macroLevelsQuery(macros.length ? ownerid : ""));
  const values = new Map<string, string>();
  for (const macro of macros) {
    const value = resolveMacro(macro, levels)?.definition.value;
    if (value !== undefined) values.set(macro, value);
  }
  return (text) => substitute(text, values);
}

function Result({ name, trial }: { name: string; trial: Trial | undefined }) {
  const state = !trial ? "not run" : trial.error === undefined ? "passed" : "failed";
  return (
    <li
      aria-label={`${name} ${state}`}
      className="flex flex-col gap-1.5 border-b py-2 last:border-0"
    >
      <span className="flex items-center justify-between gap-2">
        <span className="font-medium">{name}</span>
        <span
          className={
            { passed: "text-good-ink", failed: "text-bad-ink", "not run": "text-faint" }[state]
          }
        >
          {{ passed: "Passed", failed: "Failed", "not run": "Not run" }[state]}
        </span>
      </span>
      {trial?.error !== undefined && <ErrorNote what={trial.error} />}
      {trial && trial.found.length > 0 && (
        <ul className="font-mono text-xs text-soft">
          {trial.found.map(([variable, value]) => (
            <li key={variable} className="truncate" title={value}>
              {variable} = {value}
            </li>
          ))}
        </ul>
      )}
      {trial?.answer !== undefined && (
        <details>
          <summary className="cursor-pointer text-xs text-soft select-none">
            {texts.response}
          </summary>
          <pre className="max-h-60 overflow-auto rounded-md bg-sunken p-2 text-xs whitespace-pre-wrap break-all">
            {trial.answer.slice(0, SHOWN)}
          </pre>
        </details>
      )}
    </li>
  );
}

/** Asks the steps one after the other through the server; nothing is kept. */
export default function WebTestDialog({ draft, owner, onClose }: TestDialogProps) {
  const resolve = useResolve(draft, owner.id);
  const [trials, setTrials] = useState<Trial[]>([]);
  const run = useMutation({
    mutationFn: async () => {
      const carried: Carried = { variables: new Map(), cookies: new Map() };
      const done: Trial[] = [];
      setTrials(done);
      setVariables(resolve(draft.variables), carried);
      const hostid = owner.template ? undefined : owner.id;
      for (const step of draft.steps) {
        const outcome = await testItem(trialParams(draft, step, carried, resolve, hostid));
        const error = outcome.item?.error;
        const trial =
          error === undefined
            ? judged(draft, step, outcome.item?.result ?? "", carried)
            : { error, found: [] };
        done.push(trial);
        setTrials([...done]);
        if (trial.error !== undefined) return;
      }
    },
  });
  return (
    <Dialog
      title={texts.testWhat(draft.name || texts.theScenario)}
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.close}</Button>
          <Button look="primary" icon="play" busy={run.isPending} onClick={() => run.mutate()}>
            {texts.test}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <p className="text-soft">{texts.theServerRequestsEach}</p>
        {run.error && <ErrorNote {...explain(run.error)} />}
        <ol aria-label={texts.steps} className="flex flex-col">
          {draft.steps.map((step, i) => (
            <Result
              // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
              key={i}
              name={`${i + 1}. ${step.name || step.url}`}
              trial={trials[i]}
            />
          ))}
        </ol>
      </div>
    </Dialog>
  );
}
