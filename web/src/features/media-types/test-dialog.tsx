import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import { testMediaType } from "~/api/media-types";
import { MediaTypeKind } from "~/api/schema";
import { milliseconds, Output, ScriptLog } from "~/shared/scripts/result";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { TextareaField, TextField } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { ErrorNote } from "~/ui/state";
import { patched } from "~/util/rows";
import type { MediaTypeDraft } from "./draft";
import { texts } from "./texts";
import {
  errorParts,
  hasParams,
  type TrialDraft,
  trialDraft,
  trialParams,
  trialProblem,
} from "./trial";

interface FieldsProps {
  type: string;
  trial: TrialDraft;
  set: (next: Partial<TrialDraft>) => void;
}

function Fields({ type, trial, set }: FieldsProps) {
  if (hasParams(type))
    return (
      <>
        {trial.params.length === 0 && <p className="text-soft">{texts.noParameters}</p>}
        {trial.params.map((param, at) => (
          <TextField
            // biome-ignore lint/suspicious/noArrayIndexKey: parameters have no identity but their place
            key={at}
            label={param.name}
            value={param.value}
            onChange={(value) => set({ params: patched(trial.params, at, { value }) })}
          />
        ))}
      </>
    );
  return (
    <>
      <TextField
        label={texts.sendTo}
        required
        hint={type === MediaTypeKind.Email ? texts.sendToHint : undefined}
        value={trial.sendto}
        onChange={(sendto) => set({ sendto })}
      />
      {type === MediaTypeKind.Email && (
        <TextField
          label={texts.subject}
          maxLength={255}
          value={trial.subject}
          onChange={(subject) => set({ subject })}
        />
      )}
      <TextareaField
        label={texts.message}
        required
        rows={3}
        value={trial.message}
        onChange={(message) => set({ message })}
      />
    </>
  );
}

/** Why the test failed, with the lines that were logged before. */
function Failure({ error }: { error: unknown }) {
  if (!(error instanceof ApiError)) return <ErrorNote {...explain(error)} />;
  const { what, log } = errorParts(explain(error).what);
  return (
    <div className="flex flex-col gap-2">
      <ErrorNote what={what} />
      {log && <Output text={log} name={texts.log} />}
    </div>
  );
}

interface TestDialogProps {
  mediatypeid: string;
  draft: MediaTypeDraft;
  /** The form has edits that the test does not use. */
  edited: boolean;
  onClose: () => void;
}

/** Sends one message by the stored media type, and shows what the receiver answered. */
export function TestDialog({ mediatypeid, draft, edited, onClose }: TestDialogProps) {
  const { type } = draft;
  const [trial, setTrial] = useState(() => trialDraft(draft));
  const test = useMutation({
    mutationFn: async () => {
      const start = performance.now();
      const result = await testMediaType(trialParams(mediatypeid, type, trial));
      return { ...result, measured: performance.now() - start };
    },
  });
  const problem = trialProblem(type, trial);
  const { data } = test;
  const took = Number(data?.duration ?? Number.NaN);
  return (
    <Dialog
      title={texts.testOf(draft.name)}
      wide
      onClose={onClose}
      footer={
        <>
          {problem && <span className="mr-auto self-center text-xs text-soft">{problem}</span>}
          <Button onClick={onClose}>{texts.close}</Button>
          <Button
            look="primary"
            icon="send"
            disabled={problem !== undefined}
            busy={test.isPending}
            onClick={() => test.mutate()}
          >
            {texts.sendTest}
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in a box would save the page's form */}
      <div
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
          event.preventDefault();
          if (!problem && !test.isPending) test.mutate();
        }}
      >
        {edited && <p className="rounded-md bg-sunken px-3 py-2">{texts.storedIsTested}</p>}
        <Fields
          type={type}
          trial={trial}
          set={(next) => setTrial((before) => ({ ...before, ...next }))}
        />
        {test.error && <Failure error={test.error} />}
        {data && (
          <div className="flex flex-col gap-2">
            <p role="status" className="flex items-center gap-1.5 font-medium text-good-ink">
              <Icon name="check" size={15} />
              {texts.sentIn(milliseconds(Number.isFinite(took) ? took : data.measured))}
            </p>
            <Output text={data.result} name={draft.name} />
            <ScriptLog lines={data.script_log ?? []} />
            {(data.log?.length ?? 0) > 0 && (
              <details>
                <summary className="cursor-pointer text-xs text-soft">{texts.dialogue}</summary>
                <Output text={(data.log ?? []).join("\n")} name={texts.log} />
              </details>
            )}
          </div>
        )}
      </div>
    </Dialog>
  );
}
