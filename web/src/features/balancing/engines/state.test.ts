import { expect, test } from "vitest";
import { engineCommand, isController, isLocal } from "./command";
import { engineState, rollout } from "./state";

const NOW = 1_800_000_000;
const engine = {
  lastaccess: String(NOW - 5),
  address: "192.0.2.7",
  running_hash: "a",
  desired_hash: "a",
  error: "",
  enrolment_expires_at: "0",
};
const gone = { ...engine, lastaccess: String(NOW - 3_600) };
const never = { ...engine, lastaccess: "0", address: "", running_hash: "" };

test.each([
  ["connected and current", engine, "good", "good", /^Runs the current/],
  ["connected and behind", { ...engine, running_hash: "b" }, "good", "warn", /^Runs an older/],
  [
    "connected without a configuration",
    { ...engine, running_hash: "" },
    "good",
    "warn",
    /^Runs no/,
  ],
  ["connected and refusing", { ...engine, error: "no port" }, "good", "bad", /no port$/],
  ["gone with the current one", gone, "bad", "off", /^Had the current/],
  ["gone with an older one", { ...gone, running_hash: "b" }, "bad", "warn", /^Had an older/],
  ["gone after a refusal", { ...gone, error: "no port" }, "bad", "bad", /no port$/],
  ["never connected", never, "off", "off", /unknown/],
] as const)("an engine that is %s", (_, one, connection, configuration, words) => {
  const state = engineState(one, NOW);
  expect([state.connection.tone, state.configuration.tone]).toEqual([connection, configuration]);
  expect(state.configuration.words).toMatch(words);
});

test("an engine is connected for 30 s after its last report", () => {
  const at = (age: number) =>
    engineState({ ...engine, lastaccess: String(NOW - age) }, NOW).progress;
  expect([at(30), at(31)]).toEqual(["current", "away"]);
});

test("the token of a new engine is none, valid or expired", () => {
  const words = (until: number) =>
    engineState({ ...never, enrolment_expires_at: String(until) }, NOW).connection.words;
  expect(words(0)).toContain("needs a token");
  expect(words(NOW + 60)).toContain("valid until");
  expect(words(NOW - 60)).toContain("expired");
});

test("a configuration has arrived when all engines run it", () => {
  const older = { ...engine, running_hash: "b" };
  expect(rollout([], NOW).tone).toBe("warn");
  expect(rollout([engine], NOW)).toEqual({
    tone: "good",
    words: "The engine runs the current configuration.",
  });
  expect(rollout([engine, older], NOW).words).toBe(
    "1 of 2 engines runs the current configuration: 1 engine is being updated.",
  );
  expect(rollout([engine, gone, never, { ...engine, error: "no" }], NOW)).toEqual({
    tone: "bad",
    words:
      "1 of 4 engines runs the current configuration: 1 engine refuses it, 2 engines are not connected.",
  });
  expect(rollout([gone, gone], NOW).tone).toBe("bad");
  expect(rollout([engine, engine], NOW).words).toBe("All 2 engines run the current configuration.");
});

test("a group with one engine has the words of that engine", () => {
  const words = (one: typeof engine) => rollout([one], NOW).words;
  expect(words(engine)).toBe("The engine runs the current configuration.");
  expect(words({ ...engine, running_hash: "b" })).toBe(
    "The engine is being updated to the current configuration.",
  );
  expect(words({ ...engine, error: "no" })).toBe("The engine refuses the current configuration.");
  expect(words(gone)).toBe("The engine is not connected.");
  expect(rollout([gone], NOW).tone).toBe("bad");
});

test("a command quotes what a shell would read otherwise", () => {
  expect(engineCommand("ab.cd", "monitor:10061", "/srv/my data")).toBe(
    "VEDETTE_ENGINE_TOKEN=ab.cd vedette engine --controller monitor:10061 --data '/srv/my data'",
  );
  expect(engineCommand("t", "a:1", "it's")).toContain("'it'\\''s'");
});

test("a controller is a host with a port", () => {
  const right = ["monitor:10061", "192.0.2.1:1", "[2001:db8::1]:10061"];
  const wrong = ["monitor", "monitor:", "2001:db8::1:10061", "a b:1", "$(id):1", ""];
  expect(right.filter(isController)).toEqual(right);
  expect(wrong.filter(isController)).toEqual([]);
  expect(isLocal("127.0.0.1:10061") && isLocal("[::1]:1") && !isLocal("monitor:10061")).toBe(true);
});
