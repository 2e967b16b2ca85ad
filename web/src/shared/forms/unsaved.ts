/** The form on the page has edits that are not saved. */
let dirty = false;
/** Its edits are on their way to the server: leaving the page does not lose them. */
let saving = false;

export function setDirty(next: boolean): void {
  dirty = next;
  saving = false;
}

export function setSaving(next: boolean): void {
  saving = next;
}

export function hasUnsaved(): boolean {
  return dirty && !saving;
}
