import { describe, expect, it } from "vitest";
import { draftOf, fittingInterfaces, type ItemDraft, itemParams, problemsOf } from "./draft";

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
  ];
  it.each(cases)("%j", (more, fields) => {
    expect(Object.keys(problemsOf(draft(more), [AGENT]))).toEqual(fields);
  });
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
  it("leaves alone what a template decides", () => {
    expect(itemParams(draft(), [AGENT], true)).not.toHaveProperty("key_");
  });
});
