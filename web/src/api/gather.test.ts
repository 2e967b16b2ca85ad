import { expect, test } from "vitest";
import { type Call, Gatherer } from "./gather";

function gatherer(batches: (readonly Call[])[]) {
  return new Gatherer(async (calls) => {
    batches.push(calls);
    return calls.map(({ params }) => ({ result: params }));
  });
}

test("only reads are gathered, and only while a page asks for it", () => {
  const gather = gatherer([]);
  expect(gather.takes("item.get")).toBe(false);
  const end = gather.begin();
  expect(gather.takes("item.get")).toBe(true);
  expect(gather.takes("item.update")).toBe(false);
  end();
  expect(gather.takes("item.get")).toBe(false);
});

test("calls of one moment share at most four requests and get their own results", async () => {
  const batches: (readonly Call[])[] = [];
  const gather = gatherer(batches);
  const calls = Array.from({ length: 30 }, (_, n) => gather.call("item.get", n, undefined));
  const results = await Promise.all(calls);
  expect(results.map(({ result }) => result)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  expect(batches.map((batch) => batch.length)).toEqual([8, 8, 7, 7]);
});

test("a call that is aborted does not take its neighbours along", async () => {
  const batches: (readonly Call[])[] = [];
  const gather = gatherer(batches);
  const stop = new AbortController();
  const stopped = gather.call("item.get", 1, stop.signal);
  const other = gather.call("item.get", 2, undefined);
  stop.abort();
  await expect(stopped).rejects.toThrow();
  expect(await other).toEqual({ result: 2 });
  expect(batches.flat().map(({ params }) => params)).toEqual([2]);
});

test("a batch that fails fails its calls", async () => {
  const gather = new Gatherer(() => Promise.reject(new Error("down")));
  await expect(gather.call("item.get", 1, undefined)).rejects.toThrow("down");
});
