import { Checkbox, SelectField, TextField } from "~/ui/field";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { type RateDraft, rateProblems } from "./rate-draft";
import { texts } from "./texts";
import { refusedField } from "./values";

const FIELDS = ["name", "requests", "per", "status"] as const;

/** How many requests a client may send. */
export function RateForm({ value, onChange, problem }: PartFormProps<RateDraft>) {
  const set = (next: Partial<RateDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.rateJson}
        problem={problem}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const own = problem ? rateProblems(value) : {};
  const wrong: Record<string, string> = { ...refusedField(problem, FIELDS), ...own };
  return (
    <div className="flex flex-col gap-3">
      <Checkbox
        label={texts.limitRequests}
        checked={value.on}
        onChange={(event) => set({ on: event.target.checked })}
      />
      {value.on && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label={texts.countBy}
              hint={value.by === "header" ? texts.byHeaderHint : texts.byAddressHint}
              options={[
                ["client_ip", texts.byAddress],
                ["header", texts.byHeader],
              ]}
              value={value.by}
              onChange={(by) => set({ by })}
            />
            {value.by === "header" && (
              <TextField
                label={texts.header}
                required
                error={wrong.name}
                placeholder={texts.rateHeaderExample}
                value={value.name}
                onChange={(name) => set({ name })}
              />
            )}
          </div>
          <div className="grid gap-4 sm:grid-cols-3">
            <TextField
              label={texts.rateRequests}
              required
              error={wrong.requests}
              inputMode="numeric"
              value={value.requests}
              onChange={(requests) => set({ requests })}
            />
            <TextField
              label={texts.ratePer}
              required
              hint={texts.ratePerHint}
              error={wrong.per}
              value={value.per}
              onChange={(per) => set({ per })}
            />
            <TextField
              label={texts.rateStatus}
              hint={texts.rateStatusHint}
              error={wrong.status}
              inputMode="numeric"
              value={value.status}
              onChange={(status) => set({ status })}
            />
          </div>
        </>
      )}
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
