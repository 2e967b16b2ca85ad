import { expect, test } from "vitest";
import { branchesOf } from "./tree";

const rows = [
  { id: 1, groups: ["Linux", "Web"], site: "riga" },
  { id: 2, groups: ["Web"], site: "" },
  { id: 10, groups: [], site: "riga" },
];
const groups = { of: (row: (typeof rows)[0]) => row.groups, otherwise: "Without group" };
const site = {
  of: (row: (typeof rows)[0]) => (row.site ? [row.site] : []),
  otherwise: "Without site",
};

test("a row stands in each of its groups, one without at the end", () => {
  const tree = branchesOf(rows, [groups]);
  expect(tree.count).toBe(3);
  expect(tree.branches.map(({ name, count }) => [name, count])).toEqual([
    ["Linux", 1],
    ["Web", 2],
    ["Without group", 1],
  ]);
});

test("levels are nested; without levels all rows are at the top", () => {
  const web = branchesOf(rows, [groups, site]).branches[1];
  expect(web?.branches.map(({ name, rows: of }) => [name, of.map(({ id }) => id)])).toEqual([
    ["riga", [1]],
    ["Without site", [2]],
  ]);
  expect(branchesOf(rows, []).rows).toHaveLength(3);
});
