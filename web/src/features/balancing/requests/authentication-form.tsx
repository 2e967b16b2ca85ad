import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { SelectField } from "~/ui/field";
import { patched, without } from "~/util/rows";
import {
  type AuthenticationDraft,
  authenticationProblems,
  type Policy,
  policyDraft,
  policyNames,
  refusedPolicy,
} from "./authentication-draft";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { PolicyForm } from "./policy-form";
import { texts } from "./texts";

/** Which clients may send requests: the policies, and the one that all requests need. */
export function AuthenticationForm({
  value,
  onChange,
  problem,
}: PartFormProps<AuthenticationDraft>) {
  const set = (next: Partial<AuthenticationDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.authenticationJson}
        problem={problem}
        hint={texts.secretHint}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const own = problem ? authenticationProblems(value) : {};
  const wrong = { ...refusedPolicy(value, problem), ...own };
  const { policies, require } = value;
  const change = (at: number, next: Partial<Policy>) => {
    const before = policies[at]?.name.trim();
    const follows = next.name !== undefined && before && before === require;
    set({
      policies: patched(policies, at, next),
      require: follows ? next.name?.trim() : require,
    });
  };
  const names = policyNames(value) ?? [];
  const options = [...new Set(require ? [require, ...names] : names)];
  const add = (kind: Policy["kind"]) => set({ policies: [...policies, policyDraft(kind, {})] });
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label={texts.require}
        hint={texts.requireHint}
        error={wrong.require}
        options={[["", texts.noAuthentication], ...options.map((name) => [name, name] as const)]}
        value={require}
        onChange={(name) => set({ require: name })}
      />
      {policies.map((policy, at) => (
        <section
          // biome-ignore lint/suspicious/noArrayIndexKey: policies have no identity but their place
          key={at}
          aria-label={policy.name || `${at + 1}`}
          className="flex flex-col gap-3 rounded-md border p-3"
        >
          <div className="flex items-center justify-between gap-2">
            <h3 className="text-sm font-medium">
              {policy.kind === "basic" ? texts.basicPolicy : texts.jwtPolicy}
            </h3>
            <IconButton
              icon="trash"
              label={texts.removePolicy(policy.name)}
              onClick={() => set({ policies: without(policies, at) })}
            />
          </div>
          <PolicyForm
            policy={policy}
            onChange={(next) => change(at, next)}
            wrong={(field) => wrong[field ? `policy${at}.${field}` : `policy${at}`]}
          />
        </section>
      ))}
      <div className="flex flex-wrap gap-2">
        <AddButton onClick={() => add("basic")}>{texts.addBasic}</AddButton>
        <AddButton onClick={() => add("jwt")}>{texts.addJwt}</AddButton>
      </div>
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
