import { expect, test } from "vitest";
import type { ServiceNode } from "~/api/services";
import { parentsOf, treeRows } from "./tree";

const node = (serviceid: string): ServiceNode => ({
  serviceid,
  name: `Service ${serviceid}`,
  status: "-1",
  readonly: false,
  description: "",
  children: "1",
  tags: [],
  problem_events: [],
});
const LEVELS: Record<string, string[]> = { "0": ["1", "2"], "1": ["3"], "2": ["3"], "3": ["1"] };
const levels = (id: string) => ({ services: (LEVELS[id] ?? []).map(node) });
const shown = (open: string[]) =>
  treeRows(levels, new Set(open)).map(({ path, depth }) => `${"  ".repeat(depth)}${path}`);

test("a service below two others has two rows, each opened alone", () => {
  expect(shown(["1", "2"])).toEqual(["1", "  1.3", "2", "  2.3"]);
  expect(shown(["1", "2", "2.3"])).toEqual(["1", "  1.3", "2", "  2.3", "    2.3.1"]);
});

test("a service is not opened below itself", () => {
  expect(shown(["1", "1.3", "1.3.1", "1.3.1.3"])).toEqual(["1", "  1.3", "    1.3.1", "2"]);
});

test("only services in sight are read", () => {
  expect(parentsOf(["1", "1.3", "2.3"])).toEqual(["1", "3"]);
  expect(parentsOf(["2.3"])).toEqual([]);
});

test("what is not known below a service is said there", () => {
  const rows = treeRows(
    (id) => (id === "1" ? { note: "No response" } : id === "0" ? levels("0") : {}),
    new Set(["1"]),
  );
  expect(rows.map((row) => (row.is === "note" ? row.text : row.path))).toEqual([
    "1",
    "No response",
    "2",
  ]);
});
