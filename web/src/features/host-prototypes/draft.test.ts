import { describe, expect, it } from "vitest";
import { draftOf, type HostPrototypeDraft, paramsOf, problemsOf } from "./draft";

const AGENT = { type: "1", main: "1", useip: "0", ip: "", dns: "{#N}.example", port: "10050" };
const draft = (more: Partial<HostPrototypeDraft> = {}): HostPrototypeDraft => ({
  ...draftOf(null),
  host: "vm {#N}",
  groupids: ["2"],
  ...more,
});

describe("problemsOf", () => {
  const cases: [Partial<HostPrototypeDraft>, string | null][] = [
    [{}, null],
    [{ host: "" }, "host"],
    [{ host: "vm" }, "host"],
    [{ host: "vm/{#N}" }, "host"],
    [{ host: '{{#N}.regsub("(.*)/", \\1)}' }, null],
    [{ groupids: [] }, "groups"],
    [{ groupNames: "In {#DC}\n\n{#CLUSTER}" }, null],
    [{ groupNames: "In {#DC}\nAll" }, "groupNames"],
    [{ macros: [{ macro: "$A", type: "0", description: "" }] }, "macros"],
  ];
  it.each(cases)("%j", (more, field) => {
    expect(Object.keys(problemsOf(draft(more)))).toEqual(field ? [field] : []);
  });
});

describe("paramsOf", () => {
  it("sends own interfaces only where they are chosen", () => {
    expect(paramsOf(draft({ interfaces: [AGENT] }), false)).toMatchObject({ interfaces: [] });
    expect(paramsOf(draft({ custom: "1", interfaces: [AGENT] }), false)).toMatchObject({
      custom_interfaces: "1",
      interfaces: [AGENT],
    });
  });
  it("names groups once, without blanks and empty lines", () => {
    const params = paramsOf(draft({ groupNames: " In {#DC} \n\nIn {#DC}\n{#C}" }), false);
    expect(params).toMatchObject({ groupPrototypes: [{ name: "In {#DC}" }, { name: "{#C}" }] });
  });
  it("keeps the ids of groups, in order those of changed ones", () => {
    const saved = ["A {#C}", "B {#C}", "C {#C}"].map((name, at) => ({
      group_prototypeid: String(at + 1),
      name,
    }));
    const cases: [string, (string | undefined)[]][] = [
      ["A {#C}\nB {#C}\nC {#C}", ["1", "2", "3"]],
      ["C {#C}\nX {#C}\nA {#C}", ["3", "2", "1"]],
      ["X {#C}\nB {#C}\nY {#C}\nZ {#C}", ["1", "2", "3", undefined]],
      ["B {#C}", ["2"]],
      ["", []],
    ];
    for (const [groupNames, ids] of cases) {
      const params = paramsOf(draft({ groupNames, savedGroups: saved }), false) as {
        groupPrototypes: { group_prototypeid?: string }[];
      };
      expect(params.groupPrototypes.map((group) => group.group_prototypeid)).toEqual(ids);
    }
  });
  it("sends the state alone of what comes from a template", () => {
    expect(paramsOf(draft({ discovered: false }), true)).toEqual({ status: "0", discover: "1" });
  });
  it("reads back what it wrote", () => {
    const written = draft({
      name: "Machine {#N}",
      groupNames: "In {#DC}",
      savedGroups: [{ group_prototypeid: "3", name: "In {#DC}" }],
      templateids: ["7"],
      inventory: "1",
      custom: "1",
      interfaces: [AGENT],
      tags: [{ tag: "vm", value: "{#N}" }],
    });
    const params = paramsOf(written, false);
    expect(draftOf({ ...params, hostid: "1", templateid: "0" } as never)).toEqual(written);
  });
});
