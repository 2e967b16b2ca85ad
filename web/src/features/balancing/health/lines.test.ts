import { expect, test } from "vitest";
import type { ServerHealth } from "~/api/balancing";
import { linesOf, stateOf } from "./lines";

const SERVER: ServerHealth = {
  name: "app1",
  state: "down",
  engines: [
    {
      engineid: "1",
      name: "lb-1",
      state: "down",
      monitors: [
        { name: "ping", result: "passes", reason: "", changed_at: "5", checked_at: "9" },
        {
          name: "web",
          result: "fails",
          reason: "status 503 instead of 200",
          changed_at: "8",
          checked_at: "9",
        },
      ],
    },
  ],
  host_effect: "",
  host_effect_ignored: false,
  host_checks: [
    { name: "cpu", result: "unknown", reason: "the host is not monitored", effect: "down" },
  ],
};

test("what fails comes first, and what is unknown is not good", () => {
  const lines = linesOf(SERVER);
  expect(lines.map(({ monitor, tone, by }) => [monitor, tone, by])).toEqual([
    ["web", "bad", "lb-1"],
    ["cpu", "off", "monitored host"],
    ["ping", "good", "lb-1"],
  ]);
  expect(lines[0]).toMatchObject({ reason: "status 503 instead of 200", changedAt: 8 });
});

test("a host that fails alone does not take the last server out of use", () => {
  const failed = { name: "cpu", result: "fails", reason: "", effect: "down" };
  const server = { ...SERVER, engines: [], host_effect_ignored: true, host_checks: [failed] };
  expect(linesOf(server)[0]?.by).toContain("the pool has no other server");
});

test.each([
  ["drain", "monitored host: drains the server"],
  ["down", "monitored host: takes the server out of use"],
  ["an effect of a newer server", "monitored host"],
])("the effect %s of a host is shown", (effect, words) => {
  const failed = { name: "maintenance", result: "fails", reason: "maintenance nightly", effect };
  const server = { ...SERVER, engines: [], host_effect: effect, host_checks: [failed] };
  expect(linesOf(server)[0]).toMatchObject({ by: words, reason: "maintenance nightly" });
});

test.each(["unknown", "not_checked", "a state of a newer server"])("%s is not good", (state) => {
  expect(stateOf(state).tone).toBe("off");
});
