import type { ReactNode } from "react";
import { Status } from "~/api/schema";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { Checkbox, Input } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { type Draft, problemsOf } from "./draft";
import { FIELDS, type Field, type TagMode } from "./plan";
import { texts } from "./texts";

interface FieldsProps {
  draft: Draft;
  onChange: (next: Partial<Draft>) => void;
}

const MODES: readonly (readonly [TagMode, string])[] = [
  ["add", texts.tagModes.add],
  ["replace", texts.tagModes.replace],
  ["remove", texts.tagModes.remove],
];

function Tags({ draft, onChange }: FieldsProps) {
  return (
    <div className="flex flex-col items-start gap-2">
      <Segmented<TagMode>
        label={texts.tagMode}
        value={draft.mode}
        options={MODES}
        onChange={(mode) => onChange({ mode })}
      />
      <TagsEditor tags={draft.tags} onChange={(tags) => onChange({ tags })} />
      {draft.mode !== "add" && (
        <p className="text-xs text-soft">
          {draft.mode === "remove" ? texts.removeHint : texts.replaceHint}
        </p>
      )}
    </div>
  );
}

function Editor({ field, draft, onChange }: FieldsProps & { field: Field }): ReactNode {
  if (field === "tags") return <Tags draft={draft} onChange={onChange} />;
  if (field === "status") {
    return (
      <Segmented
        label={texts.fields.status}
        value={draft.status}
        options={[
          [Status.Enabled, texts.enabled],
          [Status.Disabled, texts.disabled],
        ]}
        onChange={(status) => onChange({ status })}
      />
    );
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Input
        aria-label={texts.fields[field]}
        value={draft[field]}
        onChange={(event) => onChange({ [field]: event.target.value })}
        className="w-48!"
      />
      <span className="text-xs text-soft">{texts.hints[field]}</span>
    </div>
  );
}

/** A line for each field: whether it changes, and its new value. */
export function Fields({ draft, onChange }: FieldsProps) {
  const problems = problemsOf(draft);
  const choose = (field: Field, on: boolean) => {
    const others = draft.chosen.filter((other) => other !== field);
    onChange({ chosen: on ? [...others, field] : others });
  };
  return (
    <div className="flex flex-col">
      {FIELDS.map((field) => {
        const on = draft.chosen.includes(field);
        return (
          <div
            key={field}
            className="grid min-h-11 grid-cols-[10rem_1fr] items-start gap-x-3 border-b py-1.5 last:border-0 max-sm:grid-cols-1"
          >
            <Checkbox
              label={texts.fields[field]}
              checked={on}
              onChange={(event) => choose(field, event.target.checked)}
              className="min-h-8"
            />
            {on && (
              <div className="flex min-w-0 flex-col gap-1">
                <Editor field={field} draft={draft} onChange={onChange} />
                {problems[field] && <p className="text-xs text-bad-ink">{problems[field]}</p>}
              </div>
            )}
          </div>
        );
      })}
    </div>
  );
}
