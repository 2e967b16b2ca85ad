import { expect, test } from "vitest";
import type { Facts, GroupFacts } from "~/api/map-facts";
import type { MapElement, MapLink } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import { lookOf, stateOf } from "./state";

const host = (monitored: boolean) => ({
  name: "h",
  host: "h",
  address: "",
  monitored,
});
const group = (withData: number, problems: number[] = [], monitored = 1_500): GroupFacts => ({
  name: "g",
  hosts: 2_000,
  monitored,
  withData,
  problems,
});
const trigger = (problem: boolean, priority = "3") => ({
  description: "down",
  priority,
  problem,
  known: true,
  hostids: ["1"],
});
const facts = (data: boolean, problems: number[] = []): Facts => ({
  hosts: new Map([["1", host(true)]]),
  groups: new Map([["7", group(data ? 1_500 : 1_499)]]),
  triggers: new Map([
    ["5", trigger(true)],
    ["6", trigger(false)],
    ["8", trigger(true, "5")],
  ]),
  maps: new Map(),
  states: new Map([["1", { data, problems }]]),
});
const element = (elementtype: string, elements: MapElement["elements"]): MapElement => ({
  selementid: "1",
  elementtype,
  elements,
  iconid_off: "1",
  label: "",
  label_location: "-1",
  x: "0",
  y: "0",
  tags: [],
  permission: 2,
});

test("an element is good only if all of it is known to be", () => {
  const one = element(MapElementType.Host, [{ hostid: "1" }]);
  const members = element(MapElementType.HostGroup, [{ groupid: "7" }]);
  const off = element(MapElementType.Trigger, [{ triggerid: "6" }]);
  for (const shown of [one, members, off]) {
    expect(stateOf(shown, facts(true)).tone).toBe("good");
    expect(stateOf(shown, facts(false)).tone).toBe("off");
  }
  expect(stateOf(one, facts(true, [0, 0, 0, 0, 2, 0])).tone).toBe(4);
  expect(stateOf(one, { ...facts(true), hosts: new Map([["1", host(false)]]) }).tone).toBe("off");
  expect(stateOf({ ...one, permission: -1 }, facts(true)).tone).toBe("off");
  expect(stateOf(element(MapElementType.Host, [{ hostid: "2" }]), facts(true)).tone).toBe("off");
  expect(stateOf(element(MapElementType.Map, [{ sysmapid: "2" }]), facts(true)).tone).toBe("off");
  expect(stateOf(element(MapElementType.Image, []), facts(true)).tone).toBeNull();
});

test("a host group counts all of its hosts", () => {
  const members = element(MapElementType.HostGroup, [{ groupid: "7" }]);
  const toneOf = (group: GroupFacts) =>
    stateOf(members, { ...facts(true), groups: new Map([["7", group]]) }).tone;
  expect(toneOf(group(1_500, [0, 0, 0, 1, 0, 0]))).toBe(3);
  expect(toneOf(group(0, [0, 0, 0, 0, 0, 1]))).toBe(5);
  expect(toneOf(group(0, [], 0))).toBe("off");
  expect(stateOf(members, { ...facts(true), groups: new Map() }).tone).toBe("off");
});

test("a link has the look of its most severe problem", () => {
  const triggers = ["5", "6", "8"].map((triggerid) => ({
    triggerid,
    drawtype: "0",
    color: `00000${triggerid}`,
  }));
  const link: MapLink = {
    linkid: "1",
    selementid1: "1",
    selementid2: "2",
    drawtype: "0",
    color: "00CC00",
    label: "",
    linktriggers: triggers,
  };
  expect(lookOf(link, facts(true))).toMatchObject({ color: "#000008", words: "2 problems" });
  const fine = { ...link, linktriggers: triggers.filter((one) => one.triggerid === "6") };
  expect(lookOf(fine, facts(true)).color).toBe("#00CC00");
  expect(lookOf({ ...link, linktriggers: [] }, facts(false)).color).toBe("#00CC00");
});

test("a link is grey while the state of one of its triggers is unknown", () => {
  const of = (...ids: string[]): MapLink => ({
    linkid: "1",
    selementid1: "1",
    selementid2: "2",
    drawtype: "0",
    color: "00CC00",
    label: "",
    linktriggers: ids.map((triggerid) => ({ triggerid, drawtype: "2", color: "DD0000" })),
  });
  const grey = { color: "var(--line-strong)", drawtype: "0", words: "Unknown" };
  const unreadable = of("6", "99");
  expect(lookOf(unreadable, facts(true))).toEqual(grey);
  expect(lookOf(of("6"), facts(false))).toEqual(grey);
  const disabled = new Map([["6", { ...trigger(false), known: false }]]);
  expect(lookOf(of("6"), { ...facts(true), triggers: disabled })).toEqual(grey);
  expect(lookOf(of("99", "5"), facts(true)).color).toBe("#DD0000");
});
