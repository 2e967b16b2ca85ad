import { expect, test } from "vitest";
import { hasUnsaved, setDirty, setSaving } from "./unsaved";

test("a dialog that closes leaves the edits of the page unsaved", () => {
  setDirty(true);
  setDirty(false, "dialog");
  expect(hasUnsaved("dialog")).toBe(false);
  setDirty(true, "dialog");
  setSaving(true);
  expect(hasUnsaved()).toBe(false);
  setDirty(false, "dialog");
  expect(hasUnsaved()).toBe(true);
  setDirty(false);
  expect(hasUnsaved()).toBe(false);
});
