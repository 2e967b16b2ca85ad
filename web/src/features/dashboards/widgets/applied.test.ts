// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { notApplied } from "./applied";

const widget = (type: string, fields: Record<string, string>) => ({
  widgetid: "1",
  type,
  name: "",
  x: "0",
  y: "0",
  width: "12",
  height: "5",
  view_mode: "0",
  fields: Object.entries(fields).map(([name, value]) => ({ type: "1", name, value })),
});

test("settings that are applied, or say what is shown anyway, are not listed", () => {
  const fields = {
    "thresholds.0.color": "FF0000",
    "thresholds.0.threshold": "5",
    "itemid._reference": "NAV._itemid",
    rf_rate: "30",
    reference: "AAAAA",
    history: "0",
  };
  expect(notApplied(widget("item", fields), "item")).toEqual([]);
});

test("sizes of texts are listed once, others by name", () => {
  const fields = { desc_size: "10", value_size: "20", value_bold: "1", "or.0.unknown": "1" };
  expect(notApplied(widget("item", fields), "item")).toEqual([
    "sizes and positions of texts",
    "or.unknown",
  ]);
});
