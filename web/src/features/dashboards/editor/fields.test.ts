import { expect, test } from "vitest";
import {
  type Fields,
  listValues,
  referenceOf,
  rowsOf,
  withList,
  withReference,
  withRows,
  withValue,
} from "./fields";

const fields: Fields = [
  { type: "0", name: "severities.10", value: "5" },
  { type: "0", name: "severities.2", value: "4" },
  { type: "1", name: "tags.0.tag", value: "site" },
  { type: "0", name: "tags.0.operator", value: "1" },
  { type: "1", name: "tags.1.tag", value: "team" },
  { type: "1", name: "unknown", value: "kept" },
];

test("a value is set, changed and removed", () => {
  const set = withValue(fields, "show", "0", "3");
  expect(set.at(-1)).toEqual({ type: "0", name: "show", value: "3" });
  expect(withValue(set, "show", "0", "1").at(-1)?.value).toBe("1");
  expect(withValue(set, "show", "0", undefined)).toEqual(fields);
});

test("a list is in the order of its numbers", () => {
  expect(listValues(fields, "severities")).toEqual(["4", "5"]);
  expect(listValues([{ type: "0", name: "severities", value: "3" }], "severities")).toEqual(["3"]);
  const next = withList(fields, "severities", "0", ["1"]);
  expect(listValues(next, "severities")).toEqual(["1"]);
  expect(next).toContainEqual({ type: "1", name: "unknown", value: "kept" });
});

test("rows are read without their prefix, and numbered again when written", () => {
  const rows = rowsOf(fields, "tags");
  expect(rows).toEqual([
    [
      { type: "1", name: "tag", value: "site" },
      { type: "0", name: "operator", value: "1" },
    ],
    [{ type: "1", name: "tag", value: "team" }],
  ]);
  expect(rowsOf(withRows(fields, "tags", rows), "tags")).toEqual(rows);
  const second = withRows(fields, "tags", rows.slice(1));
  expect(second.filter(({ name }) => name.startsWith("tags"))).toEqual([
    { type: "1", name: "tags.0.tag", value: "team" },
  ]);
});

test("rows in rows keep their names", () => {
  const threshold = { type: "1", name: "columns.0.thresholds.0.color", value: "FF0000" };
  const [column = []] = rowsOf([threshold], "columns");
  expect(rowsOf(column, "thresholds")).toEqual([[{ ...threshold, name: "color" }]]);
});

test("a reference takes the place of values, and values that of a reference", () => {
  const hosts = withList(fields, "hostids", "3", ["10"]);
  const referring = withReference(hosts, "hostids", "ABCDE._hostids");
  expect(listValues(referring, "hostids")).toEqual([]);
  expect(referenceOf(referring, "hostids")).toBe("ABCDE._hostids");
  expect(referenceOf(withList(referring, "hostids", "3", ["11"]), "hostids")).toBe("");
  expect(withReference(referring, "hostids", "")).toEqual(fields);
});
