import { SelectField, TextField } from "~/ui/field";
import { targetOptions } from "../targets";
import { useTargets } from "../use-targets";
import { type MirrorDraft, mirrorProblems } from "./mirror-draft";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { texts } from "./texts";
import { refusedField } from "./values";

interface MirrorFormProps extends PartFormProps<MirrorDraft> {
  /** The word for no mirror. */
  none?: string;
}

/** Which pool gets copies of requests, and of how many. */
export function MirrorForm({ value, onChange, problem, none = texts.noMirror }: MirrorFormProps) {
  const targets = useTargets();
  const set = (next: Partial<MirrorDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.mirrorJson}
        problem={problem}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const own = problem ? mirrorProblems(value) : {};
  const refused = refusedField(problem, ["poolid", "poolgroupid"]);
  const numbers = refusedField(problem, ["percent", "max_body", "concurrent"]);
  const wrong: Record<string, string> = { ...refused, ...numbers, ...own };
  const number = (member: "percent" | "max_body" | "concurrent", label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      error={wrong[member]}
      inputMode={member === "percent" ? "decimal" : "numeric"}
      value={value[member]}
      onChange={(text) => set({ [member]: text })}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label={texts.mirrorTo}
        hint={texts.mirrorToHint}
        error={wrong.poolid ?? wrong.poolgroupid}
        options={targetOptions(targets, value.to, none)}
        value={value.to}
        onChange={(to) => set({ to })}
      />
      {value.to && (
        <div className="grid gap-4 sm:grid-cols-3">
          {number("percent", texts.percent, texts.percentHint)}
          {number("max_body", texts.maxBody, texts.maxBodyHint)}
          {number("concurrent", texts.concurrent, texts.concurrentHint)}
        </div>
      )}
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
