import { expect, test } from "vitest";
import { heartbeatDraft, heartbeatParams, heartbeatProblems } from "./draft";

const off = heartbeatDraft({ heartbeat_url: "", heartbeat_period: "0" });

test("a heartbeat is off at first", () => {
  expect(off).toMatchObject({ on: false, period: "1m" });
  expect(heartbeatProblems(off)).toEqual({});
  expect(heartbeatParams(off)).toEqual({ heartbeat_url: "", heartbeat_period: "0" });
});

test("what the server has comes back unchanged", () => {
  const stored = { heartbeat_url: "https://hc.example.org/ping/1", heartbeat_period: "30s" };
  const draft = heartbeatDraft(stored);
  expect(draft.on).toBe(true);
  expect(heartbeatParams(draft)).toEqual(stored);
  expect(heartbeatParams({ ...draft, on: false })).toEqual({ ...stored, heartbeat_period: "0" });
});

test.each([
  [{ url: "" }, "url"],
  [{ url: "ftp://a" }, "url"],
  [{ url: "https://a b" }, "url"],
  [{ period: "1s" }, "period"],
  [{ period: "2d" }, "period"],
  [{ period: "x" }, "period"],
])("%o is refused", (change, field) => {
  const draft = { ...off, on: true, url: "http://a", ...change };
  expect(Object.keys(heartbeatProblems(draft))).toEqual([field]);
});
