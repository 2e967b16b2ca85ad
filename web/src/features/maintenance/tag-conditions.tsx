import { RowsEditor } from "~/shared/forms/rows-editor";
import { Input, Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import type { Draft } from "./draft";

const OPERATORS = [
  ["0", "equals"],
  ["2", "contains"],
] as const;

interface TagConditionsProps {
  draft: Draft;
  set: (next: Partial<Draft>) => void;
}

/** Which problems alone are hidden; only where data is collected. */
export function TagConditions({ draft, set }: TagConditionsProps) {
  const { tags, noData } = draft;
  if (noData) {
    return (
      <p className="text-xs text-faint">
        Tags do not apply without data collection: all problems of these hosts are hidden.
      </p>
    );
  }
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs font-medium text-soft">
        Only problems with these tags{tags.length === 0 && " (no tags: all problems)"}
      </legend>
      {tags.length > 1 && (
        <Segmented
          label="Tag evaluation"
          value={draft.anyTag ? "any" : "all"}
          onChange={(v) => set({ anyTag: v === "any" })}
          options={[
            ["all", "And/Or: each tag name"],
            ["any", "Or: any tag"],
          ]}
        />
      )}
      <RowsEditor
        word="tag"
        rows={tags}
        onChange={(next) => set({ tags: next })}
        fresh={() => ({ tag: "", value: "", operator: "0" })}
        columns="grid-cols-[1fr_7rem_1fr_2rem]"
      >
        {(tag, change) => (
          <>
            <Input
              aria-label="Tag name"
              placeholder="name"
              value={tag.tag}
              onChange={(e) => change({ tag: e.target.value })}
            />
            <Select
              aria-label="Tag operator"
              options={OPERATORS}
              value={tag.operator}
              onChange={(e) => change({ operator: e.target.value })}
            />
            <Input
              aria-label="Tag value"
              placeholder="value"
              value={tag.value}
              onChange={(e) => change({ value: e.target.value })}
            />
          </>
        )}
      </RowsEditor>
    </fieldset>
  );
}
