import { describe, expect, it } from "vitest";
import type { ConfigItem } from "~/api/item-config";
import { draftOf, fittingInterfaces, type ItemDraft, itemParams, problemsOf } from "./draft";
import { NO_FILTER } from "./rule-filter";

const iface = (interfaceid: string, type: string, main = "1") => ({
  interfaceid,
  type,
  main,
  useip: "1",
  ip: "127.0.0.1",
  dns: "",
  port: "1",
});
const AGENT = iface("1", "1");
const SNMP = iface("2", "2");
const draft = (more: Partial<ItemDraft> = {}): ItemDraft => ({
  ...draftOf(null),
  name: "n",
  key: "k",
  ...more,
});

describe("problemsOf", () => {
  const cases: [Partial<ItemDraft>, string[]][] = [
    [{}, []],
    [{ name: "", key: "" }, ["name", "key"]],
    [{ delay: "" }, ["delay"]],
    [{ type: "2", delay: "" }, []],
    [{ type: "18" }, ["master"]],
    [{ type: "15" }, ["formula"]],
    [{ type: "19" }, ["url"]],
    [{ type: "20" }, ["snmp", "type"]],
    [{ type: "5" }, []],
    [{ type: "21" }, ["params"]],
    [{ type: "21", extra: { params: "return 1" } }, []],
  ];
  it.each(cases)("%j", (more, fields) => {
    expect(Object.keys(problemsOf(draft(more), [AGENT]))).toEqual(fields);
  });
});

it("asks no interface of a template", () => {
  expect(problemsOf(draft({ type: "20", snmpOid: "1.3" }), null)).toEqual({});
});

describe("itemParams", () => {
  it("gives only what the type has", () => {
    expect(itemParams(draft({ type: "2" }), [AGENT], false)).toMatchObject({
      delay: undefined,
      interfaceid: undefined,
      master_itemid: undefined,
    });
    expect(itemParams(draft({ valueType: "4" }), [AGENT], false)).toMatchObject({
      trends: undefined,
      units: undefined,
      interfaceid: "1",
    });
  });
  it("takes an interface that fits", () => {
    expect(fittingInterfaces("20", [AGENT, SNMP])).toEqual([SNMP]);
    expect(fittingInterfaces("3", [AGENT, SNMP])).toHaveLength(2);
    expect(fittingInterfaces("2", [AGENT, SNMP])).toEqual([]);
    const params = itemParams(
      draft({ type: "0", interfaceid: "9" }),
      [iface("8", "1", "0"), iface("9", "1")],
      false,
    );
    expect(params).toMatchObject({ interfaceid: "9" });
  });
  it("gives the parameters of the type alone, and empty ones only to clear them", () => {
    const http = draft({
      type: "19",
      url: "http://x",
      extra: { headers: "A: 1\nB:2", timeout: "", posts: "", params: "of another type" },
    });
    const params = itemParams(http, [AGENT], false, "item", null);
    expect(params).toMatchObject({
      headers: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
    });
    expect(params).not.toHaveProperty("timeout");
    expect(params).not.toHaveProperty("params");
    const before = { type: "19", timeout: "9s" } as unknown as ConfigItem;
    expect(itemParams(http, [AGENT], false, "item", before)).toMatchObject({ timeout: "" });
  });
  it("writes a rule with its filter and overrides", () => {
    const condition = { macro: "{#A}", value: "x", operator: "8", formulaid: "A" };
    const rule = draft({
      filter: { evaltype: "0", formula: "", conditions: [condition] },
      overrides: [{ name: "o", stop: "0", filter: NO_FILTER, operations: [] }],
    });
    const params = itemParams(rule, [AGENT], false, "rule");
    expect(params).toMatchObject({
      filter: { evaltype: "0", conditions: [{ macro: "{#A}", value: "x" }] },
      overrides: [{ name: "o", step: "1" }],
    });
    expect(params).not.toHaveProperty("value_type");
    expect(itemParams(rule, [AGENT], true, "rule")).not.toHaveProperty("filter");
  });
  it("leaves alone what a template decides", () => {
    expect(itemParams(draft(), [AGENT], true)).not.toHaveProperty("key_");
  });
});
