// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Housekeeping } from "~/api/housekeeping";
import { mockEstate } from "~/api/mock/estate";
import { NAMES } from "~/features/housekeeping/draft";
import { hasUnsaved } from "~/shared/forms/unsaved";
import { openPage } from "./app";

/** A server without overrides, whose periods are all a year. */
function housekept() {
  const api = mockEstate({ hosts: 1 });
  const value = (name: string) => {
    if (name.endsWith("_global")) return "0";
    return name.endsWith("_mode") ? "1" : "365d";
  };
  const stored = Object.fromEntries(NAMES.map((name) => [name, value(name)])) as unknown;
  const settings = stored as Housekeeping;
  api.answers["housekeeping.get"] = () => ({ ...settings });
  api.answers["housekeeping.update"] = (next) => {
    Object.assign(settings, next);
    return Object.keys(next);
  };
  return { api, settings };
}

const entries = () => screen.findByLabelText<HTMLInputElement>(/^Entries/);
const write = async (value: string) => fireEvent.change(await entries(), { target: { value } });
const save = () => fireEvent.click(screen.getByRole("button", { name: "Save housekeeping" }));
const choose = async (name: string) =>
  fireEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name }));

test("edits stay unsaved when the user cancels the question about overrides", async () => {
  const { api } = housekept();
  await openPage(api, "/housekeeping");
  const [first] = await screen.findAllByLabelText("Override the period of items");
  if (first) fireEvent.click(first);
  save();
  await choose("Cancel");
  await waitFor(() => expect(hasUnsaved()).toBe(true));
  expect(api.callsOf("housekeeping.update")).toEqual([]);
});

test("a save by another user keeps the draft, and is not overwritten silently", async () => {
  const { api, settings } = housekept();
  const client = await openPage(api, "/housekeeping");
  await write("60d");
  settings.hk_services = "90d";
  await client.invalidateQueries({ queryKey: ["housekeeping"] });
  expect((await entries()).value).toBe("60d");
  save();
  await choose("Cancel");
  await waitFor(() => expect(hasUnsaved()).toBe(true));
  expect(api.callsOf("housekeeping.update")).toEqual([]);
  save();
  await choose("Overwrite");
  await waitFor(() => expect(settings).toMatchObject({ hk_audit: "60d", hk_services: "365d" }));
});

test("the form starts again from the server after its own save", async () => {
  const { api, settings } = housekept();
  await openPage(api, "/housekeeping");
  for (const period of ["60d", "70d"]) {
    await write(period);
    save();
    await waitFor(() => expect(settings.hk_audit).toBe(period));
    await waitFor(() => expect(hasUnsaved()).toBe(false));
    await waitFor(async () => expect((await entries()).value).toBe(period));
  }
  expect(screen.queryByRole("dialog")).toBeNull();
});
