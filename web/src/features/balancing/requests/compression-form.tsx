import { Checkbox, TextareaField, TextField } from "~/ui/field";
import { CODINGS, type CompressionDraft, compressionProblems } from "./compression-draft";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { texts } from "./texts";

/** Which responses are compressed, and how. */
export function CompressionForm({ value, onChange, problem }: PartFormProps<CompressionDraft>) {
  const set = (next: Partial<CompressionDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.compressionJson}
        problem={problem}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const wrong = problem ? compressionProblems(value) : {};
  const { algorithms } = value;
  const toggle = (coding: string, chosen: boolean) =>
    set({
      algorithms: chosen ? [...algorithms, coding] : algorithms.filter((one) => one !== coding),
    });
  const number = (member: "level" | "min_length" | "streams", label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      error={wrong[member]}
      inputMode="numeric"
      value={value[member]}
      onChange={(text) => set({ [member]: text })}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      <Checkbox
        label={texts.compress}
        checked={value.on}
        onChange={({ target }) =>
          set({
            on: target.checked,
            algorithms: algorithms.length ? algorithms : CODINGS.map(([coding]) => coding),
          })
        }
      />
      {value.on && (
        <>
          <fieldset className="flex flex-wrap gap-x-4 gap-y-2">
            <legend className="pb-1 text-xs font-medium text-soft">{texts.codings}</legend>
            {CODINGS.map(([coding, label]) => (
              <Checkbox
                key={coding}
                label={label}
                checked={algorithms.includes(coding)}
                onChange={(event) => toggle(coding, event.target.checked)}
              />
            ))}
          </fieldset>
          <p className={`text-xs ${wrong.algorithms ? "text-bad-ink" : "text-faint"}`}>
            {wrong.algorithms ?? texts.preference(algorithms.join(", "))}
          </p>
          <div className="grid gap-4 sm:grid-cols-3">
            {number("level", texts.level, texts.levelHint)}
            {number("min_length", texts.minLength, texts.minLengthHint)}
            {number("streams", texts.streams, texts.streamsHint)}
          </div>
          <TextareaField
            label={texts.types}
            rows={2}
            hint={texts.typesHint}
            error={wrong.types}
            value={value.types}
            onChange={(types) => set({ types })}
          />
        </>
      )}
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
