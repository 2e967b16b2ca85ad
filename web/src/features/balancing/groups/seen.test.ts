// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Engine } from "~/api/engines";
import type { GroupPlacement } from "~/api/placement";
import { columnsFor, findEngines, findVips, groupSeen, type Known } from "./seen";
import { engineSum, vipSum } from "./summary";

const NOW = 1_800_000_000;
const engine = (id: string, last = NOW - 5) =>
  ({ engineid: id, name: `edge${id}`, enginegroupid: "1", lastaccess: String(last) }) as Engine;
const on = (engineid: string, role = "active") => ({ engineid, role, since: String(NOW - 60) });
const vip = (vipid: string, wanted: number, engines: ReturnType<typeof on>[], reason = "") => ({
  vipid,
  wanted: String(wanted),
  engines,
  reason,
});
const up = (engineid: string, state = "up") => ({ engineid, state, vips: "1", room: "3" });

function seen(placement: Partial<GroupPlacement>, others: Partial<Known> = {}) {
  return groupSeen({
    placement: { enginegroupid: "1", vips: [], engines: [], ...placement },
    engines: [engine("1"), engine("2")],
    vips: [],
    mode: "0",
    now: NOW,
    stale: false,
    limited: true,
    ...others,
  });
}

const both = [up("1"), up("2")];

test("a VIP with all its engines is good and has no reason", () => {
  const { vips } = seen({ vips: [vip("9", 2, [on("1"), on("2")])], engines: both });
  expect(vips[0]).toMatchObject({ tone: "good", serving: 2, reason: "" });
});

test("a VIP with fewer engines says why", () => {
  const why = "all engines that are up are full";
  const { vips } = seen({ vips: [vip("9", 2, [on("1")], why)], engines: both });
  expect(vips[0]).toMatchObject({
    tone: "warn",
    serving: 1,
    reason: "All engines that are up are full.",
  });
  const none = seen({ vips: [vip("9", 2, [])], engines: both }).vips[0];
  expect(none).toMatchObject({ tone: "bad", serving: 0, reason: "The server gives no reason." });
});

test.each(["down", "waiting", "odd", undefined])("an engine that is %s serves no VIP", (state) => {
  const engines = [up("1"), ...(state ? [up("2", state)] : [])];
  const group = seen({ vips: [vip("9", 2, [on("1"), on("2")])], engines });
  expect(group.vips[0]).toMatchObject({ tone: "warn", serving: 1, reason: "Not up: edge2." });
  expect(group.engines[1]?.tone).not.toBe("good");
});

test("an engine without recent reports is not believed to be up", () => {
  const engines = [engine("1"), engine("2", NOW - 31)];
  const group = seen({ vips: [vip("9", 2, [on("1"), on("2")])], engines: both }, { engines });
  expect(group.engines.map((one) => [one.status, one.tone])).toEqual([
    ["up", "good"],
    ["unknown", "warn"],
  ]);
  expect(group.vips[0]?.serving).toBe(1);
});

test("nothing of an earlier time is good", () => {
  const group = seen({ vips: [vip("9", 1, [on("1")])], engines: both }, { stale: true });
  expect(group.engines.map((one) => one.tone)).toEqual(["off", "off"]);
  expect(group.engines[0]?.words).toBe("Last known: Up");
  expect(group.vips[0]?.tone).toBe("off");
  expect([vipSum(group, true).tone, engineSum(group, true).tone]).toEqual(["off", "off"]);
});

test("a VIP of active/standby needs a standby engine", () => {
  const alone = { vips: [vip("9", 1, [on("1")])], engines: both };
  expect(seen(alone).vips[0]?.tone).toBe("good");
  expect(seen(alone, { mode: "2" }).vips[0]).toMatchObject({
    tone: "warn",
    reason: "No standby engine is up.",
  });
  const pair = { vips: [vip("9", 1, [on("1"), on("2", "standby")])], engines: both };
  expect(seen(pair, { mode: "2" }).vips[0]?.tone).toBe("good");
});

test("engines that only one list has are shown too", () => {
  const group = seen({ vips: [vip("9", 1, [on("7")])], engines: [up("1")] });
  expect(group.engines.map((one) => [one.name, one.status])).toEqual([
    ["edge1", "up"],
    ["edge2", "unknown"],
    ["Engine 7", "unknown"],
  ]);
});

test("room is shown only if the group has a limit", () => {
  expect(seen({ engines: both }).engines[0]?.room).toBe(3);
  expect(seen({ engines: both }, { limited: false }).engines[0]?.room).toBeUndefined();
});

test("the search finds VIPs by engines and engines by VIPs", () => {
  const group = seen({
    vips: [vip("8", 1, [on("1")]), vip("9", 2, [on("2")], "full")],
    engines: both,
  });
  const vips = (text: string, short = false) =>
    findVips(group.vips, text, short).map((one) => one.id);
  expect([vips(""), vips("EDGE2"), vips("full"), vips("", true)]).toEqual([
    ["8", "9"],
    ["9"],
    ["9"],
    ["9"],
  ]);
  expect(findEngines(group.engines, "vip 8").map((one) => one.id)).toEqual(["1"]);
  expect(columnsFor(group.engines, "edge2").map((one) => one.id)).toEqual(["2"]);
  expect(columnsFor(group.engines, "vip 8")).toHaveLength(2);
});

test("the sums name what is wrong", () => {
  const group = seen({
    vips: [vip("7", 1, [on("1")]), vip("8", 2, [on("1")]), vip("9", 1, [])],
    engines: [up("1"), up("2", "draining")],
  });
  expect(vipSum(group, false)).toEqual({
    tone: "bad",
    words: "2 of 3 VIPs have too few engines, 1 without an engine.",
  });
  expect(engineSum(group, false)).toEqual({
    tone: "warn",
    words: "1 of 2 engines is up: 1 draining.",
  });
});
