import { Checkbox, SelectField, TextField } from "~/ui/field";
import { type ForwardedDraft, forwardedProblems } from "./forwarded-draft";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { texts } from "./texts";
import { refusedField } from "./values";

const FLAGS = [
  ["x_forwarded_proto", texts.sendProto],
  ["x_forwarded_port", texts.sendPort],
  ["forwarded", texts.sendForwarded],
  ["client_cert", texts.sendCommonName],
] as const;

/** Which headers tell servers about the client. */
export function ForwardedForm({ value, onChange, problem }: PartFormProps<ForwardedDraft>) {
  const set = (next: Partial<ForwardedDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.forwardedJson}
        problem={problem}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const own = problem ? forwardedProblems(value) : {};
  const wrong: Record<string, string> = { ...refusedField(problem, ["via"]), ...own };
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.forwardedFor}
          options={[
            ["append", texts.forwardedAppend],
            ["replace", texts.forwardedReplace],
            ["remove", texts.forwardedRemove],
          ]}
          value={value.x_forwarded_for}
          onChange={(x_forwarded_for) => set({ x_forwarded_for })}
        />
        <TextField
          label={texts.via}
          hint={texts.viaHint}
          error={wrong.via}
          value={value.via}
          onChange={(via) => set({ via })}
        />
      </div>
      {FLAGS.map(([member, label]) => (
        <Checkbox
          key={member}
          label={label}
          checked={value[member]}
          onChange={(event) => set({ [member]: event.target.checked })}
        />
      ))}
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
