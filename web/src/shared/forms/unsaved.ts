/** What has edits: the form on the page, or the dialog above it. */
type Editor = "page" | "dialog";

/** Those with edits that are not saved. */
const dirty = new Set<Editor>();
/** Edits are on their way to the server: leaving the page does not lose them. */
let saving = false;

export function setDirty(next: boolean, editor: Editor = "page"): void {
  if (next) dirty.add(editor);
  else dirty.delete(editor);
  saving = false;
}

export function setSaving(next: boolean): void {
  saving = next;
}

/** Whether one of them has unsaved edits, or this one. */
export function hasUnsaved(editor?: Editor): boolean {
  return !saving && (editor ? dirty.has(editor) : dirty.size > 0);
}
