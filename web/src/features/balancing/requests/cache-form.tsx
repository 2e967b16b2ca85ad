import { Checkbox, TextareaField, TextField } from "~/ui/field";
import { type CacheDraft, cacheProblems } from "./cache-draft";
import { type PartFormProps, PartJson, PartProblem } from "./part";
import { texts } from "./texts";

/** Which responses engines keep in memory. */
export function CacheForm({ value, onChange, problem }: PartFormProps<CacheDraft>) {
  const set = (next: Partial<CacheDraft>) => onChange({ ...value, ...next });
  if (value.json !== null) {
    return (
      <PartJson
        label={texts.cacheJson}
        problem={problem}
        value={value.json}
        onChange={(json) => set({ json })}
      />
    );
  }
  const wrong = problem ? cacheProblems(value) : {};
  const field = (
    member:
      | "size"
      | "max_object"
      | "max_objects"
      | "stale_if_error"
      | "stale_while_revalidate"
      | "collapse",
    label: string,
    hint: string,
  ) => (
    <TextField
      label={label}
      hint={hint}
      error={wrong[member]}
      value={value[member]}
      onChange={(text) => set({ [member]: text })}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      <Checkbox
        label={texts.cacheResponses}
        checked={value.on}
        onChange={({ target }) => set({ on: target.checked })}
      />
      {value.on && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            {field("size", texts.cacheSize, texts.cacheSizeHint)}
            {field("max_object", texts.maxObject, texts.maxObjectHint)}
            {field("max_objects", texts.maxObjects, texts.maxObjectsHint)}
            {field("stale_if_error", texts.staleIfError, texts.staleIfErrorHint)}
            {field("stale_while_revalidate", texts.staleMeanwhile, texts.staleMeanwhileHint)}
            {field("collapse", texts.collapse, texts.collapseHint)}
          </div>
          <TextareaField
            label={texts.keyHeaders}
            rows={2}
            hint={texts.keyHeadersHint}
            error={wrong.key_headers}
            value={value.key_headers}
            onChange={(key_headers) => set({ key_headers })}
          />
          <Checkbox
            label={texts.statusHeader}
            checked={value.status_header}
            onChange={({ target }) => set({ status_header: target.checked })}
          />
        </>
      )}
      <PartProblem problem={problem} wrong={wrong} />
    </div>
  );
}
