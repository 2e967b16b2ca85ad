import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { SelectField, TextareaField, TextField } from "~/ui/field";
import { without } from "~/util/rows";
import { targetOptions } from "../targets";
import { useTargets } from "../use-targets";
import type { ScriptDraft } from "./script-draft";
import { texts } from "./texts";

interface ScriptFormProps {
  value: ScriptDraft;
  onChange: (next: ScriptDraft) => void;
  /** By field, as `scriptProblems` names them. */
  problems: Record<string, string>;
}

/** The pools that a script may choose. */
function Pools({ value, onChange, problems }: ScriptFormProps) {
  const targets = useTargets();
  const { pools } = value;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs text-soft">{texts.scriptPools}</legend>
      {pools.map((pool, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
        <div key={at} className="flex items-end gap-2">
          <SelectField
            label={texts.pool}
            fieldClass="flex-1"
            error={pool ? undefined : problems.pools}
            options={targetOptions(targets, pool)}
            value={pool}
            onChange={(next) =>
              onChange({ ...value, pools: pools.map((one, n) => (n === at ? next : one)) })
            }
          />
          <IconButton
            icon="trash"
            label={texts.removeScriptPool}
            onClick={() => onChange({ ...value, pools: without(pools, at) })}
          />
        </div>
      ))}
      <AddButton onClick={() => onChange({ ...value, pools: [...pools, ""] })}>
        {texts.addScriptPool}
      </AddButton>
    </fieldset>
  );
}

/** The boxes of a script. */
export function ScriptForm(props: ScriptFormProps) {
  const { value, onChange, problems } = props;
  const set = (next: Partial<ScriptDraft>) => onChange({ ...value, ...next });
  return (
    <div className="flex flex-col gap-3">
      {problems.script && <p className="text-xs text-bad-ink">{problems.script}</p>}
      <TextareaField
        label={texts.scriptRequest}
        hint={texts.scriptRequestHint}
        error={problems.request}
        className="font-mono text-xs"
        placeholder={texts.scriptRequestExample}
        rows={6}
        value={value.request}
        onChange={(request) => set({ request })}
      />
      <TextareaField
        label={texts.scriptResponse}
        hint={texts.scriptResponseHint}
        error={problems.response}
        className="font-mono text-xs"
        placeholder={texts.scriptResponseExample}
        rows={4}
        value={value.response}
        onChange={(response) => set({ response })}
      />
      <Pools {...props} />
      <div className="grid gap-2 sm:grid-cols-2">
        <TextField
          label={texts.scriptTime}
          hint={texts.scriptTimeHint}
          error={problems.timeout}
          placeholder={texts.scriptTimeExample}
          value={value.timeout}
          onChange={(timeout) => set({ timeout })}
        />
        <SelectField
          label={texts.scriptError}
          options={texts.scriptErrors}
          value={value.on_error || "refuse"}
          onChange={(on_error) => set({ on_error })}
        />
      </div>
    </div>
  );
}
