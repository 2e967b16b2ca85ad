import { RowsEditor } from "~/shared/forms/rows-editor";
import { Input, Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import type { Draft } from "./draft";
import { texts } from "./texts";

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
    return <p className="text-xs text-faint">{texts.tagsDoNotApply}</p>;
  }
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-xs font-medium text-soft">
        {texts.onlyProblemsWithThese}
        {tags.length === 0 && texts.noTagsAllProblems}
      </legend>
      {tags.length > 1 && (
        <Segmented
          label={texts.tagEvaluation}
          value={draft.anyTag ? "any" : "all"}
          onChange={(v) => set({ anyTag: v === "any" })}
          options={[
            ["all", texts.andOrEachTag],
            ["any", texts.orAnyTag],
          ]}
        />
      )}
      <RowsEditor
        word={texts.tag}
        rows={tags}
        onChange={(next) => set({ tags: next })}
        fresh={() => ({ tag: "", value: "", operator: "0" })}
        columns="grid-cols-[1fr_7rem_1fr_2rem]"
      >
        {(tag, change) => (
          <>
            <Input
              aria-label={texts.tagName}
              placeholder={texts.nameWord}
              value={tag.tag}
              onChange={(e) => change({ tag: e.target.value })}
            />
            <Select
              aria-label={texts.tagOperator}
              options={OPERATORS}
              value={tag.operator}
              onChange={(e) => change({ operator: e.target.value })}
            />
            <Input
              aria-label={texts.tagValue}
              placeholder={texts.value}
              value={tag.value}
              onChange={(e) => change({ value: e.target.value })}
            />
          </>
        )}
      </RowsEditor>
    </fieldset>
  );
}
