// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Fields } from "./fields";
import { KIND_OPTIONS, kindOf } from "./kinds";
import { sourcesOf, withReferences } from "./references";
import {
  choice,
  colour,
  counts,
  flag,
  freshRow,
  problemIn,
  type Setting,
  settingValue,
  text,
  withSetting,
  withSeveral,
} from "./settings";

const SHOW: Setting = choice("show", "Show", [
  ["1", "Recent"],
  ["3", "Open"],
]);

/** Each list of settings of a kind: its form, and those of its rows. */
function forms(settings: readonly Setting[]): (readonly Setting[])[] {
  const rows = settings.flatMap((one) => (one.kind === "rows" ? forms(one.settings) : []));
  return [settings, ...rows];
}

test("the table of kinds is consistent", () => {
  expect(KIND_OPTIONS).toHaveLength(30);
  for (const [type] of KIND_OPTIONS)
    for (const settings of forms(kindOf(type).settings)) {
      const names = settings.map(({ kind, name }) => `${kind} ${name}`);
      expect(new Set(names).size, type).toBe(names.length);
      for (const { name, when } of settings) {
        if (!when) continue;
        const decisive = settings.find((one) => one.name === when.name);
        expect(decisive, `${type}: ${name} depends on ${when.name}`).toBeDefined();
        if (decisive?.kind !== "choice" && decisive?.kind !== "several") continue;
        const values = decisive.options.map(([value]) => value);
        expect(values, `${type}: ${name}`).toEqual(expect.arrayContaining([...when.is]));
      }
    }
});

test("a new widget of each kind with its required settings has no problem", () => {
  expect(problemIn(kindOf("clock").settings, [])).toBeUndefined();
  expect(problemIn(kindOf("item").settings, [])).toBe("Item: choose one.");
  const item: Fields = [{ type: "4", name: "itemid.0", value: "1" }];
  expect(problemIn(kindOf("item").settings, item)).toBeUndefined();
  const reference: Fields = [{ type: "1", name: "itemid._reference", value: "AAAAA._itemid" }];
  expect(problemIn(kindOf("item").settings, reference)).toBeUndefined();
  expect(problemIn(kindOf("svggraph").settings, [])).toBe("Data sets: add at least one.");
  const empty: Fields = [{ type: "1", name: "ds.0.color", value: "FF0000" }];
  expect(problemIn(kindOf("svggraph").settings, empty)).toBe("Host patterns: enter at least one.");
});

test("a default has no field, in rows it has one", () => {
  expect(withSetting([], SHOW, "1", false)).toEqual([]);
  expect(withSetting([], SHOW, "1", true)).toEqual([{ type: "0", name: "show", value: "1" }]);
  const set = withSetting([], SHOW, "3", false);
  expect(settingValue(set, SHOW)).toBe("3");
  expect(withSetting(set, SHOW, "1", false)).toEqual([]);
  expect(withSetting([], flag("bold", "Bold", true), "0", false)).toEqual([
    { type: "0", name: "bold", value: "0" },
  ]);
});

test("a new row has its defaults and a colour", () => {
  const row = freshRow([colour("color", "Colour", "FF465C"), SHOW, text("name", "Name")]);
  expect(row).toEqual([
    { type: "1", name: "color", value: "FF465C" },
    { type: "0", name: "show", value: "1" },
  ]);
});

test("a list that is the default has no fields", () => {
  const show = kindOf("item").settings.find(({ name }) => name === "show");
  if (!show) throw new Error("an item value has parts");
  const three = withSeveral([], show, ["1", "2", "3"]);
  expect(three).toHaveLength(3);
  expect(withSeveral(three, show, ["1", "2", "3", "4"])).toEqual([]);
});

test("settings count while those that they depend on do", () => {
  const { settings } = kindOf("piechart");
  const size = settings.find(({ name }) => name === "value_size");
  if (!size) throw new Error("a pie chart has a total");
  const custom: Fields = [
    { type: "0", name: "value_size_type", value: "1" },
    { type: "0", name: "total_show", value: "1" },
  ];
  expect(counts(size, settings, custom)).toBe(false);
  const doughnut = [...custom, { type: "0", name: "draw_type", value: "1" }];
  expect(counts(size, settings, doughnut)).toBe(true);
});

test("widgets that give the kind of data are sources, with the dashboard first", () => {
  const widgets = withReferences(
    [
      { type: "hostnavigator", name: "", fields: [] },
      { type: "map", name: "Plan", fields: [{ type: "1", name: "reference", value: "AAAAA" }] },
      { type: "clock", name: "Clock", fields: [] },
    ],
    [{ type: "map", name: "Plan", fields: [{ type: "1", name: "reference", value: "AAAAA" }] }],
  );
  expect(sourcesOf(widgets, "_hostid", "Dashboard")).toEqual([
    ["DASHBOARD._hostid", "Dashboard"],
    ["AAAAB._hostid", "Host navigator"],
    ["AAAAA._hostid", "Plan"],
  ]);
  expect(sourcesOf(widgets, "_hostgroupids", "Dashboard")).toEqual([
    ["AAAAA._hostgroupids", "Plan"],
  ]);
  expect(widgets[2]?.fields).toEqual([]);
});
