import type { ReactNode } from "react";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { SelectField, TextareaField, TextField } from "~/ui/field";
import { patched, without } from "~/util/rows";
import { MirrorForm } from "../requests/mirror-form";
import { texts as requestTexts } from "../requests/texts";
import {
  NO_POLICY,
  newCondition,
  type Part,
  type RuleDraft,
  type Verdict,
  verdictAs,
} from "./draft";
import {
  CONDITIONS,
  conditionKind,
  EDITS,
  editKind,
  REDIRECTS,
  VERDICTS,
  type VerdictKind,
} from "./kinds";
import { ScriptForm } from "./script-form";
import { texts } from "./texts";

/** Id and name of each pool. */
export type Pools = readonly (readonly [id: string, name: string])[];

interface RuleFormProps {
  rule: RuleDraft;
  onChange: (next: Partial<RuleDraft>) => void;
  /** By field, as `ruleProblems` names them. */
  problems: Record<string, string>;
  pools: Pools;
  /** Names of the service's policies; undefined: they are edited as JSON. */
  policies: readonly string[] | undefined;
  /** Its first box has the focus. */
  isNew: boolean;
}

const ROW =
  "grid grid-cols-[minmax(0,1fr)_2rem] gap-2 max-sm:border-b max-sm:pb-3 sm:grid-cols-[12rem_minmax(0,1fr)_minmax(0,1fr)_2rem]";

interface RowProps {
  remove: string;
  onRemove: () => void;
  children: ReactNode;
}

/** Kind, name and value with the button that removes them. */
function Row({ remove, onRemove, children }: RowProps) {
  return (
    <div className={ROW}>
      {children}
      <IconButton
        icon="trash"
        label={remove}
        className="mt-5 max-sm:col-start-2 max-sm:row-start-1 sm:col-start-4"
        onClick={onRemove}
      />
    </div>
  );
}

type PartsProps = Pick<RuleFormProps, "rule" | "onChange" | "problems">;

interface NameProps {
  label: string;
  error: string | undefined;
  fieldClass: string;
  placeholder: string | undefined;
  value: string;
  onChange: (value: string) => void;
}

/** The policy of a change: one of the service's, if they are known. */
function PolicyName({ policies, ...box }: NameProps & { policies: readonly string[] | undefined }) {
  if (!policies) return <TextField {...box} />;
  const { placeholder: _, ...rest } = box;
  const names = [...new Set([...policies, ...(box.value ? [box.value] : [])])];
  return (
    <SelectField
      {...rest}
      options={[
        ["", texts.choose],
        [NO_POLICY, texts.noPolicy],
        ...names.filter((name) => name !== NO_POLICY).map((name) => [name, name] as const),
      ]}
    />
  );
}

function Conditions({ rule, onChange, problems, isNew }: PartsProps & { isNew: boolean }) {
  const { conditions } = rule;
  const set = (at: number, next: Partial<Part>) =>
    onChange({ conditions: patched(conditions, at, next) });
  const free = newCondition(conditions);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs text-soft">
        {conditions.length ? texts.conditionsNote : texts.anyRequest}
      </legend>
      {conditions.map(({ kind, name, value }, at) => {
        const known = conditionKind(kind);
        const options = CONDITIONS.filter(
          (one) => one.kind === kind || !conditions.some((other) => other.kind === one.kind),
        );
        return (
          <Row
            key={kind}
            remove={texts.removeCondition}
            onRemove={() => onChange({ conditions: without(conditions, at) })}
          >
            <SelectField
              label={texts.condition}
              options={options.map((one) => [one.kind, one.label])}
              value={kind}
              onChange={(next) => set(at, { kind: next, name: "" })}
            />
            {known?.pair && (
              <TextField
                label={texts.name}
                error={problems[`if${at}.name`]}
                fieldClass="max-sm:col-span-2"
                placeholder={known.example}
                value={name}
                onChange={(next) => set(at, { name: next })}
              />
            )}
            <TextField
              label={texts.value}
              error={problems[`if${at}.value`]}
              fieldClass={known?.pair ? "max-sm:col-span-2" : "col-span-2 sm:col-start-2"}
              placeholder={known?.pair ? undefined : known?.example}
              autoFocus={isNew && at === 0}
              value={value}
              onChange={(next) => set(at, { value: next })}
            />
          </Row>
        );
      })}
      {free && (
        <AddButton onClick={() => onChange({ conditions: [...conditions, free] })}>
          {texts.addCondition}
        </AddButton>
      )}
    </fieldset>
  );
}

/** The boxes of the action that is chosen. */
function Settings({ rule, onChange, problems, pools }: Omit<RuleFormProps, "isNew" | "policies">) {
  const { verdict } = rule;
  const set = (next: Partial<Verdict>) => onChange({ verdict: { ...verdict, ...next } });
  const { kind } = verdict;
  if (kind === "pool") {
    // A pool that was deleted since stays visible.
    const isGone = verdict.poolid !== "" && !pools.some(([id]) => id === verdict.poolid);
    const gone = isGone ? [[verdict.poolid, texts.unknownPool(verdict.poolid)] as const] : [];
    return (
      <SelectField
        label={texts.pool}
        required
        error={problems.poolid}
        options={[["", texts.choose], ...pools, ...gone]}
        value={verdict.poolid}
        onChange={(poolid) => set({ poolid })}
      />
    );
  }
  if (kind === "redirect") {
    return (
      <>
        <SelectField
          label={texts.status}
          error={problems.status}
          options={REDIRECTS}
          value={verdict.status}
          onChange={(status) => set({ status })}
        />
        <TextField
          label={texts.location}
          required
          error={problems.location}
          hint={texts.locationHint}
          fieldClass="sm:col-span-2"
          placeholder={texts.locationExample}
          value={verdict.location}
          onChange={(location) => set({ location })}
        />
      </>
    );
  }
  if (kind === "" || kind === "script") return null;
  return (
    <>
      <TextField
        label={texts.status}
        required
        error={problems.status}
        inputMode="numeric"
        value={verdict.status}
        onChange={(status) => set({ status })}
      />
      {kind === "respond" && (
        <>
          <TextField
            label={texts.contentType}
            error={problems.type}
            fieldClass="sm:col-span-2"
            placeholder={texts.contentTypeExample}
            value={verdict.type}
            onChange={(type) => set({ type })}
          />
          <TextareaField
            label={texts.body}
            fieldClass="sm:col-span-2"
            rows={3}
            value={verdict.body}
            onChange={(body) => set({ body })}
          />
        </>
      )}
    </>
  );
}

/** Whether a change becomes one of the policy, or was one: their names have nothing in common. */
const isPolicy = (...kinds: string[]) => kinds.includes("authentication");

function Edits({
  rule,
  onChange,
  problems,
  policies,
}: PartsProps & Pick<RuleFormProps, "policies">) {
  const { edits } = rule;
  const set = (at: number, next: Partial<Part>) => onChange({ edits: patched(edits, at, next) });
  const responds = ["redirect", "deny", "respond"].includes(rule.verdict.kind);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs text-soft">{texts.edits}</legend>
      {responds && edits.length > 0 && (
        <p role="status" className="text-xs text-(--sev-2-ink)">
          {texts.editsIgnored}
        </p>
      )}
      {edits.map(({ kind, name, value }, at) => {
        const known = editKind(kind);
        const options = EDITS.filter(
          (one) =>
            !one.once || kind === one.kind || !edits.some((other) => other.kind === one.kind),
        );
        const nameBox = {
          label: known?.nameLabel ?? "",
          error: problems[`edit${at}.name`],
          fieldClass: known?.valueLabel ? "max-sm:col-span-2" : "col-span-2 sm:col-start-2",
          placeholder: known?.example,
          value: name,
          onChange: (next: string) => set(at, { name: next }),
        };
        return (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
            key={at}
            remove={texts.removeEdit}
            onRemove={() => onChange({ edits: without(edits, at) })}
          >
            <SelectField
              label={texts.change}
              options={options.map((one) => [one.kind, one.label])}
              value={kind}
              onChange={(next) =>
                set(at, { kind: next, ...(isPolicy(next, kind) && { name: "" }) })
              }
            />
            {kind === "authentication" ? (
              <PolicyName policies={policies} {...nameBox} />
            ) : (
              known?.nameLabel && <TextField {...nameBox} />
            )}
            {known?.valueLabel && (
              <TextField
                label={known.valueLabel}
                error={problems[`edit${at}.value`]}
                fieldClass="max-sm:col-span-2"
                value={value}
                onChange={(next) => set(at, { value: next })}
              />
            )}
          </Row>
        );
      })}
      <AddButton
        onClick={() => onChange({ edits: [...edits, { kind: "set_header", name: "", value: "" }] })}
      >
        {texts.addEdit}
      </AddButton>
    </fieldset>
  );
}

/** The boxes of one rule. */
export function RuleForm(props: RuleFormProps) {
  const { rule, onChange, problems } = props;
  return (
    <div className="flex flex-col gap-5 border-t px-3 py-3">
      <Conditions {...props} />
      <div className="grid gap-2 sm:grid-cols-[12rem_minmax(0,1fr)_minmax(0,1fr)]">
        <SelectField
          label={texts.action}
          error={problems.kind}
          options={VERDICTS}
          value={rule.verdict.kind}
          onChange={(kind) => onChange({ verdict: verdictAs(kind as VerdictKind) })}
        />
        <Settings {...props} />
      </div>
      {rule.verdict.kind === "script" && (
        <ScriptForm
          value={rule.verdict.script}
          onChange={(script) => onChange({ verdict: { ...rule.verdict, script } })}
          problems={problems}
        />
      )}
      <Edits rule={rule} onChange={onChange} problems={problems} policies={props.policies} />
      <fieldset>
        <legend className="pb-1 text-xs text-soft">{texts.mirror}</legend>
        <MirrorForm
          value={rule.mirror}
          onChange={(mirror) => onChange({ mirror })}
          problem={problems.mirror}
          none={requestTexts.mirrorOfService}
        />
      </fieldset>
    </div>
  );
}
