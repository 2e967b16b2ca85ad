import { expect, test } from "vitest";
import { Settings } from "./settings";

const of = (fields: Record<string, string>) =>
  Settings.of({
    fields: Object.entries(fields).map(([name, value]) => ({ type: "1", name, value })),
  });

test("lists are in the order of their numbers, and do not contain parts", () => {
  const settings = of({ "hostids.10": "b", "hostids.9": "a", "hostids.0.x": "no", hostids: "c" });
  expect(settings.list("hostids")).toEqual(["c", "a", "b"]);
});

test("parts have the settings below their number", () => {
  const settings = of({ "ds.10.color": "FF0000", "ds.2.items.0": "cpu*", "ds.2.axisy": "1" });
  const [first, second] = settings.parts("ds");
  expect(first?.list("items")).toEqual(["cpu*"]);
  expect(first?.flag("axisy")).toBe(true);
  expect(second?.color("color")).toBe("#FF0000");
});

test("defaults hold for what is absent, empty or no number", () => {
  const settings = of({ min: "", max: "x", colour: "red" });
  expect(settings.number("min", 3)).toBe(3);
  expect(settings.maybe("max")).toBeUndefined();
  expect(settings.flag("legend", true)).toBe(true);
  expect(settings.color("colour")).toBeUndefined();
});

test("tag conditions without a name are left out", () => {
  const settings = of({
    "tags.0.tag": "site",
    "tags.0.operator": "1",
    "tags.0.value": "riga",
    "tags.1.tag": "",
  });
  expect(settings.tags("tags")).toEqual([{ tag: "site", operator: 1, value: "riga" }]);
});
