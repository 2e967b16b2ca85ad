import { describe, expect, it } from "vitest";
import { toFilter } from "./filter";

const now = new Date(1_800_000_000_000);
const seconds = now.getTime() / 1000;

describe("the filter of the action log", () => {
  it("is the last day of trigger events at first", () => {
    expect(toFilter({}, now)).toMatchObject({
      eventsource: 0,
      eventobject: 0,
      statuses: undefined,
      from: seconds - 86_400,
      till: undefined,
    });
  });
  it("reads words of the address", () => {
    const search = { source: "3-4", status: "waiting", user: "3,4", from: "now-2h", to: "now-1h" };
    expect(toFilter(search, now)).toMatchObject({
      eventsource: 3,
      eventobject: 4,
      statuses: ["0", "3"],
      userids: ["3", "4"],
      from: seconds - 7_200,
      till: seconds - 3_600,
    });
  });
  it("finds withheld messages by their reason", () => {
    expect(toFilter({ status: "withheld", withheld: "1,3" }, now)).toMatchObject({
      statuses: ["4"],
      reasons: ["1", "3"],
    });
  });
  it("has no time range for one problem", () => {
    expect(toFilter({ event: "5,6" }, now)).toMatchObject({
      eventids: ["5", "6"],
      from: undefined,
      till: undefined,
    });
    expect(toFilter({ event: "5", from: "now-1h" }, now).from).toBe(seconds - 3_600);
  });
  it.each([{ source: "9-9" }, { status: "x" }])("ignores %o", (search) => {
    expect(toFilter(search, now)).toEqual(toFilter({}, now));
  });
});
