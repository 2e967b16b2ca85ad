import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { Input, SelectField, TextField } from "~/ui/field";
import type { ItemDraft } from "./draft";
import { FilterEditor } from "./filter-editor";
import { OverridesEditor } from "./overrides-editor";
import { texts } from "./texts";

const LIFETIMES = [
  ["0", "Delete after"],
  ["1", "Never delete"],
  ["2", "Delete immediately"],
] as const;
interface RuleFieldsProps {
  draft: ItemDraft;
  set: (next: Partial<ItemDraft>) => void;
  disabled: boolean;
  /** What is wrong with the overrides. */
  error?: string;
}

function Paths({ draft, set }: Pick<RuleFieldsProps, "draft" | "set">) {
  return (
    <RowsEditor
      word={texts.macroWord}
      rows={draft.macroPaths}
      onChange={(macroPaths) => set({ macroPaths })}
      fresh={() => ({ lld_macro: "", path: "" })}
      columns="grid-cols-[1fr_1fr_2rem]"
    >
      {(path, change) => (
        <>
          <Input
            aria-label={texts.discoveryMacro}
            placeholder={texts.lldMacroExample}
            className="font-mono text-xs"
            value={path.lld_macro}
            onChange={(e) => change({ lld_macro: e.target.value })}
          />
          <Input
            aria-label={texts.jsonpath}
            placeholder={texts.pathToNode}
            className="font-mono text-xs"
            value={path.path}
            onChange={(e) => change({ path: e.target.value })}
          />
        </>
      )}
    </RowsEditor>
  );
}

/** What only discovery rules have: JSON macros, a filter, lost resources. */
export function RuleFields({ draft, set, disabled, error }: RuleFieldsProps) {
  return (
    <>
      <FormSection
        title={texts.discoveryMacros}
        note="Path of each macro's value in a row of the data. Not needed if the rows contain the macros as members."
      >
        <fieldset disabled={disabled}>
          <Paths draft={draft} set={set} />
        </fieldset>
      </FormSection>
      <FormSection title={texts.filter} note="Only rows that match the filter are discovered.">
        <fieldset disabled={disabled}>
          <FilterEditor filter={draft.filter} onChange={(filter) => set({ filter })} />
        </fieldset>
      </FormSection>
      <FormSection
        title={texts.overrides}
        note="Settings for some of the rows, applied in this order."
      >
        <fieldset disabled={disabled}>
          <OverridesEditor
            overrides={draft.overrides}
            onChange={(overrides) => set({ overrides })}
          />
        </fieldset>
        {error && <p className="text-xs text-bad-ink">{error}</p>}
      </FormSection>
      <FormSection
        title={texts.lostResources}
        note="Discovered objects that are no longer in the data."
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField
            label={texts.lostItemsTriggersAnd}
            options={LIFETIMES}
            value={draft.lifetimeType}
            onChange={(lifetimeType) => set({ lifetimeType })}
          />
          {draft.lifetimeType === "0" && (
            <TextField
              label={texts.after}
              hint={texts.suchAs7d}
              value={draft.lifetime}
              onChange={(lifetime) => set({ lifetime })}
            />
          )}
        </div>
      </FormSection>
    </>
  );
}
