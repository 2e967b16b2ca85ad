import { Input, Select } from "~/ui/field";
import { texts } from "../texts";
import { RowsEditor } from "./rows-editor";

interface TagCondition {
  tag: string;
  operator: string;
  value: string;
}

interface TagConditionsProps {
  tags: readonly TagCondition[];
  operators: readonly (readonly [value: string, label: string])[];
  onChange: (tags: TagCondition[]) => void;
}

/** Tags with the way in which their values are compared. Lines without a name are left out when saving. */
export function TagConditionsEditor({ tags, operators, onChange }: TagConditionsProps) {
  return (
    <RowsEditor
      word={texts.tag}
      rows={tags}
      onChange={onChange}
      fresh={() => ({ tag: "", operator: operators[0]?.[0] ?? "0", value: "" })}
      columns="grid-cols-[1fr_6.5rem_1fr_2rem] max-sm:grid-cols-[1fr_6rem_2rem]"
    >
      {(tag, set) => (
        <>
          <Input
            aria-label={texts.tagName}
            placeholder={texts.nameWord}
            maxLength={255}
            value={tag.tag}
            onChange={(event) => set({ tag: event.target.value })}
          />
          <Select
            aria-label={texts.tagOperator}
            options={operators}
            value={tag.operator}
            onChange={(event) => set({ operator: event.target.value })}
          />
          <Input
            aria-label={texts.tagValue}
            className="max-sm:order-1 max-sm:col-span-2"
            placeholder={texts.valueWord}
            maxLength={255}
            value={tag.value}
            onChange={(event) => set({ value: event.target.value })}
          />
        </>
      )}
    </RowsEditor>
  );
}
