import { expect, test } from "vitest";
import { toFilter } from "./filter";

const now = new Date(1_800_000_000_000);
const seconds = now.getTime() / 1000;

test("the filter is the last week at first", () => {
  const filter = toFilter({}, now);
  expect(filter.till).toBeUndefined();
  expect(seconds - (filter.from ?? 0)).toBeGreaterThanOrEqual(7 * 86_400 - 3_600);
  expect(seconds - (filter.from ?? 0)).toBeLessThanOrEqual(7 * 86_400 + 3_600);
});

test("one object and one call have no time range", () => {
  expect(toFilter({ id: "5", kind: "4" }, now)).toMatchObject({
    resourceid: "5",
    resourcetypes: ["4"],
    from: undefined,
  });
  expect(toFilter({ set: "c1" }, now)).toMatchObject({ recordsetid: "c1", from: undefined });
  expect(toFilter({ set: "c1", from: "now-1h" }, now).from).toBe(seconds - 3_600);
});

test("unknown words of the address are left out", () => {
  const search = { user: "1,x", action: "2,77", kind: "4,9999", id: "abc" };
  expect(toFilter(search, now)).toMatchObject({
    userids: ["1"],
    actions: ["2"],
    resourcetypes: ["4"],
    resourceid: undefined,
  });
});
