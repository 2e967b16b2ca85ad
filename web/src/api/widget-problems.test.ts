// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { problemGroups } from "./widget-problems";
import { frequencies } from "./widget-triggers";

const group = (groupid: string) => ({ groupid, name: `Group ${groupid}` });
const problems = (severity: number) => [0, 0, 0, 0, 0, 0].map((_, n) => (n === severity ? 1 : 0));

test("a host counts in its groups with its worst problem; without values it is unknown", () => {
  const hosts = [
    { hostid: "1", hostgroups: [group("7"), group("8")] },
    { hostid: "2", hostgroups: [group("7")] },
    { hostid: "3", hostgroups: [group("7")] },
  ];
  const states = new Map([
    ["1", { data: true, problems: problems(4) }],
    ["2", { data: true, problems: [] }],
  ]);
  const [seven, eight] = problemGroups(hosts, states, []);
  expect(seven).toMatchObject({ worst: [0, 0, 0, 0, 1, 0], well: 1, unknown: 1 });
  expect(eight).toMatchObject({ worst: [0, 0, 0, 0, 1, 0], well: 0, unknown: 0 });
  expect(problemGroups(hosts, states, ["8"])).toHaveLength(1);
});

test("the most frequent come first", () => {
  expect(frequencies(["5", "7", "7", "9"], 2)).toEqual([
    ["7", 2],
    ["5", 1],
  ]);
});
