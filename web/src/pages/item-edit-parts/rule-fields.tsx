import type { FilterCondition, MacroPath } from "~/api/item-config";
import { FormSection } from "~/forms/section";
import { Button, IconButton } from "~/ui/button";
import { Field, Input, Select } from "~/ui/field";
import { formulaId, type ItemDraft } from "./draft";

const LIFETIMES = [
  ["0", "Delete after"],
  ["1", "Keep for ever"],
  ["2", "Delete at once"],
] as const;
const EVALTYPES = [
  ["0", "And/or (by macro)"],
  ["1", "And"],
  ["2", "Or"],
  ["3", "Formula"],
] as const;
const OPERATORS = [
  ["8", "matches"],
  ["9", "does not match"],
  ["12", "exists"],
  ["13", "does not exist"],
] as const;

interface RuleFieldsProps {
  draft: ItemDraft;
  set: (next: Partial<ItemDraft>) => void;
  disabled: boolean;
}

function Conditions({ draft, set }: Omit<RuleFieldsProps, "disabled">) {
  const { conditions } = draft;
  const change = (at: number, next: Partial<FilterCondition>) =>
    set({ conditions: conditions.map((old, i) => (i === at ? { ...old, ...next } : old)) });
  return (
    <div className="flex flex-col gap-2">
      {conditions.length > 1 && (
        <div className="grid gap-2 sm:grid-cols-2">
          <Select
            aria-label="How conditions combine"
            options={EVALTYPES}
            value={draft.evaltype}
            onChange={(e) => set({ evaltype: e.target.value })}
          />
          {draft.evaltype === "3" && (
            <Input
              aria-label="Formula"
              placeholder="A and (B or C)"
              value={draft.filterFormula}
              onChange={(e) => set({ filterFormula: e.target.value })}
            />
          )}
        </div>
      )}
      {conditions.map((condition, i) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={i}
          className="grid grid-cols-[1rem_1fr_9rem_1fr_2rem] items-center gap-2"
        >
          <span className="text-xs text-faint">{formulaId(i)}</span>
          <Input
            aria-label="Macro"
            placeholder="{#MACRO}"
            className="font-mono text-xs"
            value={condition.macro}
            onChange={(e) => change(i, { macro: e.target.value })}
          />
          <Select
            aria-label="Operator"
            options={OPERATORS}
            value={condition.operator}
            onChange={(e) => change(i, { operator: e.target.value })}
          />
          {condition.operator === "8" || condition.operator === "9" ? (
            <Input
              aria-label="Regular expression"
              placeholder="regular expression"
              className="font-mono text-xs"
              value={condition.value}
              onChange={(e) => change(i, { value: e.target.value })}
            />
          ) : (
            <span />
          )}
          <IconButton
            icon="trash"
            label="Remove condition"
            onClick={() => set({ conditions: conditions.filter((_, at) => at !== i) })}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        className="self-start"
        onClick={() =>
          set({ conditions: [...conditions, { macro: "", value: "", operator: "8" }] })
        }
      >
        Add condition
      </Button>
    </div>
  );
}

function Paths({ draft, set }: Omit<RuleFieldsProps, "disabled">) {
  const { macroPaths } = draft;
  const change = (at: number, next: Partial<MacroPath>) =>
    set({ macroPaths: macroPaths.map((old, i) => (i === at ? { ...old, ...next } : old)) });
  return (
    <div className="flex flex-col gap-2">
      {macroPaths.map((path, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
        <div key={i} className="grid grid-cols-[1fr_1fr_2rem] gap-2">
          <Input
            aria-label="Discovery macro"
            placeholder="{#MACRO}"
            className="font-mono text-xs"
            value={path.lld_macro}
            onChange={(e) => change(i, { lld_macro: e.target.value })}
          />
          <Input
            aria-label="JSONPath"
            placeholder="$.path.to.node"
            className="font-mono text-xs"
            value={path.path}
            onChange={(e) => change(i, { path: e.target.value })}
          />
          <IconButton
            icon="trash"
            label="Remove macro"
            onClick={() => set({ macroPaths: macroPaths.filter((_, at) => at !== i) })}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        className="self-start"
        onClick={() => set({ macroPaths: [...macroPaths, { lld_macro: "", path: "" }] })}
      >
        Add macro
      </Button>
    </div>
  );
}

/** What only discovery rules have: macros out of JSON, a filter, what becomes of lost things. */
export function RuleFields({ draft, set, disabled }: RuleFieldsProps) {
  return (
    <>
      <FormSection
        title="Discovery macros"
        note="Where in each row of the data a macro finds its value. Rows that have the macros as members need none."
      >
        <fieldset disabled={disabled}>
          <Paths draft={draft} set={set} />
        </fieldset>
      </FormSection>
      <FormSection title="Filter" note="Only rows that pass it are discovered.">
        <fieldset disabled={disabled}>
          <Conditions draft={draft} set={set} />
        </fieldset>
      </FormSection>
      <FormSection title="Lost things" note="What is no longer in the discovered data.">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Items, triggers and hosts made before">
            {(id) => (
              <Select
                id={id}
                options={LIFETIMES}
                value={draft.lifetimeType}
                onChange={(e) => set({ lifetimeType: e.target.value })}
              />
            )}
          </Field>
          {draft.lifetimeType === "0" && (
            <Field label="After" hint="Such as 7d">
              {(id) => (
                <Input
                  id={id}
                  value={draft.lifetime}
                  onChange={(e) => set({ lifetime: e.target.value })}
                />
              )}
            </Field>
          )}
        </div>
      </FormSection>
    </>
  );
}
