import { describe, expect, it } from "vitest";
import { type GraphableItem, keyGraphs } from "./key-graphs";

let id = 0;
const item = (key_: string, more: Partial<GraphableItem> = {}): GraphableItem => ({
  itemid: String(++id),
  name: key_,
  key_,
  value_type: "0",
  units: "",
  lastclock: "1",
  state: "0",
  ...more,
});

const titles = (items: GraphableItem[]) => keyGraphs(items).map((graph) => graph.title);

describe("keyGraphs", () => {
  it("puts what matters first", () => {
    const items = [
      item("net.if.in[eth0]"),
      item("vm.memory.utilization"),
      item("system.cpu.util"),
      item("agent.ping"),
    ];
    expect(titles(items)).toEqual(["CPU utilization", "Memory", "Traffic eth0"]);
  });
  it("pairs in and out of an interface and leaves the loopback out", () => {
    const graphs = keyGraphs([
      item('net.if.in["eth0"]'),
      item('net.if.out["eth0"]'),
      item('net.if.in["lo"]'),
      item('net.if.in["eth1"]'),
    ]);
    expect(graphs.map((g) => [g.title, g.items.length])).toEqual([
      ["Traffic eth0", 2],
      ["Traffic eth1", 1],
    ]);
  });
  it("does not count errors of an interface as traffic", () => {
    expect(titles([item("net.if.in[eth0,errors]"), item("system.cpu.util")])).toEqual([
      "CPU utilization",
    ]);
  });
  it("never mixes units on one axis", () => {
    const [graph] = keyGraphs([
      item("vm.memory.size[available]", { units: "B" }),
      item("vm.memory.size[total]", { units: "B" }),
      item("vm.memory.size[used]", { units: "%" }),
    ]);
    expect(graph?.items).toHaveLength(2);
  });
  it("falls back on the first numbers with values", () => {
    const items = [
      item("a"),
      item("b", { value_type: "4" }),
      item("c", { lastclock: "0" }),
      item("d", { state: "1" }),
      item("e", { units: "uptime" }),
      item("f"),
    ];
    expect(titles(items)).toEqual(["a", "f"]);
  });
  it("is empty for nothing", () => {
    expect(keyGraphs([])).toEqual([]);
  });
});
