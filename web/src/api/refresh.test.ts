import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GATHER_MS, Refresher } from "./refresh";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A query whose fetches take `ms`; each reads the state of the server when it begins. */
function watched(ms: number) {
  const client = new QueryClient();
  const seen = { server: 0, fetches: 0, cancelled: 0 };
  const observer = new QueryObserver(client, {
    queryKey: ["problems"],
    queryFn: async ({ signal }) => {
      seen.fetches++;
      const state = seen.server;
      signal.addEventListener("abort", () => seen.cancelled++);
      await new Promise((done) => setTimeout(done, ms));
      return state;
    },
  });
  observer.subscribe(() => undefined);
  return { refresher: new Refresher(client), observer, seen };
}

test("a storm of notices neither cancels fetches nor holds new rows back", async () => {
  const { refresher, observer, seen } = watched(300);
  await vi.advanceTimersByTimeAsync(300);
  let worst = 0;
  for (let ms = 0; ms < 20_000; ms += 100) {
    seen.server = ms;
    refresher.notice(() => true);
    await vi.advanceTimersByTimeAsync(100);
    if (ms > 2_000) worst = Math.max(worst, ms - (observer.getCurrentResult().data ?? 0));
  }
  expect(seen.cancelled).toBe(0);
  expect(worst).toBeLessThan(1_500);
  expect(seen.fetches).toBeLessThan(30);
});

test("a notice during a fetch causes another fetch", async () => {
  const { refresher, observer, seen } = watched(1_000);
  await vi.advanceTimersByTimeAsync(500);
  seen.server = 1;
  refresher.notice(() => true);
  await vi.advanceTimersByTimeAsync(GATHER_MS + 2_200);
  expect(observer.getCurrentResult().data).toBe(1);
});

test("a slow query takes a third of the time at most", async () => {
  const { refresher, seen } = watched(2_000);
  await vi.advanceTimersByTimeAsync(2_000);
  for (let n = 0; n < 600; n++) {
    refresher.notice(() => true);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(seen.fetches).toBeLessThanOrEqual(12);
});

test("unused queries are only marked as stale", async () => {
  const client = new QueryClient();
  await client.prefetchQuery({ queryKey: ["old"], queryFn: () => 1, staleTime: 60_000 });
  new Refresher(client).notice(() => true);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(client.getQueryState(["old"])?.isInvalidated).toBe(true);
});
