// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { treeOf } from "./maps";

test("the tree of maps follows parents and orders, and ends where parents form a circle", () => {
  const fields = Object.entries({
    "navtree.1.name": "Europe",
    "navtree.1.order": "2",
    "navtree.2.name": "America",
    "navtree.2.order": "1",
    "navtree.2.sysmapid": "7",
    "navtree.3.name": "Riga",
    "navtree.3.parent": "1",
    "navtree.3.sysmapid": "8",
    "navtree.4.name": "Lost",
    "navtree.4.parent": "4",
  }).map(([name, value]) => ({ type: "1", name, value }));
  const place = { x: "0", y: "0", width: "1", height: "1", view_mode: "0" };
  const tree = treeOf({ widgetid: "1", type: "navtree", name: "", ...place, fields });
  expect(tree.map(({ name, nodes }) => [name, nodes.map((node) => node.sysmapid)])).toEqual([
    ["America", []],
    ["Europe", ["8"]],
  ]);
});
