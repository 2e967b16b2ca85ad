// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { ApiError } from "~/api/client";
import type { ItemChange, MassItem } from "~/api/mass-items";
import { CHUNK, FAILURES_MAX, joined, Run } from "./run";

const itemOf = (n: number): MassItem => ({
  itemid: String(n),
  name: `Item ${n}`,
  key_: `k[${n}]`,
  type: "0",
  value_type: "0",
  delay: "1m",
  history: "31d",
  trends: "365d",
  status: "0",
  timeout: "",
  snmp_oid: "",
  flags: "0",
  templateid: "0",
  tags: [],
  hosts: [{ hostid: "7", name: "web-01" }],
  editable: true,
});

/** A server with items, which refuses a request with one of `bad`, and stops responding after `calls` updates. */
class Server {
  readonly items: Map<string, MassItem>;
  readonly bad = new Set<string>();
  calls = Number.POSITIVE_INFINITY;
  /** A request without a response is carried out all the same. */
  carriesOut = false;
  down = false;
  sizes: number[] = [];

  constructor(count: number) {
    const items = Array.from({ length: count }, (_, n) => itemOf(n));
    this.items = new Map(items.map((item) => [item.itemid, item]));
  }

  list(): MassItem[] {
    return [...this.items.values()];
  }

  read = async (ids: readonly string[]): Promise<MassItem[]> => {
    if (this.down) throw new ApiError(0, "The server does not respond.", "item.get");
    return ids.flatMap((id) => this.items.get(id) ?? []);
  };

  update = async (changes: ItemChange[]): Promise<void> => {
    this.sizes.push(changes.length);
    const silent = this.calls-- <= 0;
    if (silent && !this.carriesOut)
      throw new ApiError(0, "The server does not respond.", "item.update");
    if (changes.some(({ itemid }) => this.bad.has(itemid)))
      throw new ApiError(-32602, "value is out of range", "item.update");
    for (const change of changes) {
      const old = this.items.get(change.itemid);
      if (old) this.items.set(change.itemid, { ...old, ...change } as MassItem);
    }
    if (silent) throw new ApiError(0, "The server does not respond.", "item.update");
  };
}

const FIVE = { delay: "5m" };
const changedOn = (server: Server) =>
  server.list().filter(({ delay }) => delay === FIVE.delay).length;

describe("a mass change", () => {
  it("changes all items in portions", async () => {
    const server = new Server(20_000);
    let last = 0;
    const run = new Run(server.list(), FIVE, server, ({ changed }) => {
      last = changed;
    });
    expect(await run.go()).toMatchObject({ end: "done", changed: 20_000, failures: [], left: [] });
    expect([changedOn(server), last]).toEqual([20_000, 20_000]);
    expect(Math.max(...server.sizes)).toBe(CHUNK);
  });

  it("names the refused items, and changes the others", async () => {
    const server = new Server(600);
    for (const id of ["3", "4", "599"]) server.bad.add(id);
    const outcome = await new Run(server.list(), FIVE, server).go();
    expect(outcome).toMatchObject({ end: "done", changed: 597, left: [] });
    expect(outcome.failures.map(({ item, text }) => `${item.itemid}: ${text}`)).toEqual([
      "3: value is out of range",
      "4: value is out of range",
      "599: value is out of range",
    ]);
    expect(changedOn(server)).toBe(597);
  });

  it("stops after many refusals, and can go on", async () => {
    const server = new Server(600);
    for (const item of server.list()) server.bad.add(item.itemid);
    const items = server.list();
    const outcome = await new Run(items, FIVE, server).go();
    expect(outcome.end).toBe("failures");
    expect(outcome.failures).toHaveLength(FAILURES_MAX);
    expect(outcome.left).toHaveLength(600 - FAILURES_MAX);
    server.bad.clear();
    const later = await new Run(outcome.left, FIVE, server).go();
    const both = joined(outcome, later, outcome.left);
    expect(both).toMatchObject({ total: 600, changed: 600 - FAILURES_MAX, left: [], end: "done" });
    expect(both.failures).toHaveLength(FAILURES_MAX);
  });

  it("stops between requests", async () => {
    const server = new Server(1_000);
    const run: Run = new Run(server.list(), FIVE, server, ({ changed }) => {
      if (changed >= CHUNK) run.stop();
    });
    const outcome = await run.go();
    expect(outcome).toMatchObject({ end: "stopped", changed: CHUNK, failures: [] });
    expect(outcome.left).toHaveLength(1_000 - CHUNK);
    expect(changedOn(server)).toBe(CHUNK);
  });

  it.each([
    ["was carried out", true, CHUNK * 2, 0],
    ["was not carried out", false, CHUNK, CHUNK],
  ])("looks whether a request without a response %s", async (_, carriesOut, changed, unknown) => {
    const server = new Server(1_000);
    Object.assign(server, { calls: 1, carriesOut });
    const outcome = await new Run(server.list(), FIVE, server).go();
    expect(outcome).toMatchObject({ end: "lost", changed });
    expect(outcome.failures.filter((failure) => failure.unknown)).toHaveLength(unknown);
    expect(outcome.left).toHaveLength(1_000 - 2 * CHUNK);
  });

  it("tries nothing on a server that does not respond", async () => {
    const server = new Server(10);
    server.down = true;
    const outcome = await new Run(server.list(), FIVE, server).go();
    expect(outcome).toMatchObject({ end: "lost", changed: 0, failures: [] });
    expect(outcome.left).toHaveLength(10);
    expect(server.sizes).toEqual([]);
  });

  it("reads items again before it changes them", async () => {
    const server = new Server(3);
    const items = server.list();
    server.items.set("0", { ...itemOf(0), tags: [{ tag: "by", value: "other" }] });
    server.items.set("1", { ...itemOf(1), tags: [{ tag: "team", value: "a" }] });
    server.items.delete("2");
    const tags = { mode: "add" as const, tags: [{ tag: "team", value: "a" }] };
    const outcome = await new Run(items, { tags }, server).go();
    expect(outcome).toMatchObject({ end: "done", changed: 1, same: 1 });
    expect(outcome.failures.map(({ item }) => item.itemid)).toEqual(["2"]);
    expect(server.items.get("0")?.tags).toEqual([
      { tag: "by", value: "other" },
      { tag: "team", value: "a" },
    ]);
  });
});
