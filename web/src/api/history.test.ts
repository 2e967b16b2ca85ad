import { expect, test, vi } from "vitest";
import { fetchHistory, fetchSparks, RAW_POINTS_MAX } from "./history";
import { answerWith } from "./mock/answer";

const HOUR = 3600;

vi.mock("./live", () => ({ pollInterval: () => 5_000 }));
vi.mock("./client", () => ({ rpc: vi.fn() }));

interface Asked {
  itemids: string[];
  time_from: number;
  time_till: number;
  width?: number;
  limit?: number;
}

/** A server whose items have a value a second; returns the methods asked. */
function serve() {
  const asked: string[] = [];
  answerWith(async (method, params) => {
    asked.push(method);
    const { itemids, time_from, time_till, width = 1, limit } = params as Asked;
    const rows: object[] = [];
    for (const itemid of itemids) {
      for (let clock = time_from; clock < time_till; clock += width) {
        const point = { itemid, clock: String(clock), ns: "0", value: "1" };
        rows.push({ ...point, value_min: "0", value_avg: "1", value_max: "2" });
      }
    }
    return limit ? rows.slice(-limit).reverse() : rows;
  });
  return asked;
}

const item = (value_type: string) => ({
  itemid: "1",
  value_type,
  delay: "0",
  history: "31d",
  trends: "365d",
});

test("a span with too many values is drawn whole, from buckets", async () => {
  const asked = serve();
  const span = { from: 1_700_000_000, till: 1_700_000_000 + 12 * HOUR };
  const series = await fetchHistory(item("0"), span);
  expect(asked).toEqual(["history.get", "history.buckets"]);
  expect(series.source).toBe("buckets");
  expect((series.clocks[0] ?? 0) - span.from).toBeLessThan(60);
  expect(span.till - (series.clocks.at(-1) ?? 0)).toBeLessThan(60);
});

test("a span with few values is drawn from raw values", async () => {
  const asked = serve();
  const span = { from: 1_700_000_000, till: 1_700_000_000 + RAW_POINTS_MAX - 1 };
  const series = await fetchHistory(item("3"), span);
  expect(asked).toEqual(["history.get"]);
  expect(series.source).toBe("history");
  expect(series.clocks).toHaveLength(RAW_POINTS_MAX - 1);
});

test("a hundred sparklines show the whole hour each", async () => {
  serve();
  const items = Array.from({ length: 100 }, (_, n) => ({ itemid: String(n), value_type: "3" }));
  const sparks = await fetchSparks(items);
  const now = Date.now() / 1000;
  expect(sparks.size).toBe(100);
  for (const spark of sparks.values()) {
    expect(now - (spark.clocks[0] ?? 0)).toBeGreaterThan(HOUR - 120);
  }
});
