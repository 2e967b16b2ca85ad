import { Input } from "~/ui/field";
import type { Tag } from "~/util/tags";
import { texts } from "../texts";
import { RowsEditor } from "./rows-editor";

interface TagsEditorProps {
  tags: readonly Tag[];
  onChange: (tags: Tag[]) => void;
}

/** Tags, a line each. Lines without a name are left out when saving. */
export function TagsEditor({ tags, onChange }: TagsEditorProps) {
  return (
    <RowsEditor
      word={texts.tag}
      rows={tags}
      onChange={onChange}
      fresh={() => ({ tag: "", value: "" })}
      columns="grid-cols-[1fr_1fr_2rem]"
    >
      {(tag, set) => (
        <>
          <Input
            aria-label={texts.tagName}
            placeholder={texts.nameWord}
            value={tag.tag}
            onChange={(e) => set({ tag: e.target.value })}
          />
          <Input
            aria-label={texts.tagValue}
            placeholder={texts.valueWord}
            value={tag.value}
            onChange={(e) => set({ value: e.target.value })}
          />
        </>
      )}
    </RowsEditor>
  );
}
