import { Button, IconButton } from "~/ui/button";
import { Input } from "~/ui/field";
import type { Tag } from "~/util/tags";

interface TagsEditorProps {
  tags: readonly Tag[];
  onChange: (tags: Tag[]) => void;
}

/** Tags, a line each. Lines without a name are left out when saving. */
export function TagsEditor({ tags, onChange }: TagsEditorProps) {
  const set = (at: number, next: Partial<Tag>) =>
    onChange(tags.map((tag, i) => (i === at ? { ...tag, ...next } : tag)));
  return (
    <div className="flex flex-col gap-2">
      {tags.map((tag, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
        <div key={i} className="grid grid-cols-[1fr_1fr_2rem] gap-2">
          <Input
            aria-label="Tag name"
            placeholder="name"
            value={tag.tag}
            onChange={(e) => set(i, { tag: e.target.value })}
          />
          <Input
            aria-label="Tag value"
            placeholder="value"
            value={tag.value}
            onChange={(e) => set(i, { value: e.target.value })}
          />
          <IconButton
            icon="trash"
            label="Remove tag"
            onClick={() => onChange(tags.filter((_, at) => at !== i))}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        className="self-start"
        onClick={() => onChange([...tags, { tag: "", value: "" }])}
      >
        Add tag
      </Button>
    </div>
  );
}
