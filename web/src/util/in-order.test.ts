import { expect, test } from "vitest";
import { runInOrder } from "./in-order";

/** Runs inputs of which each needs others; returns the order and the failures. */
async function check(needs: Record<string, string[]>) {
  const there = new Set<string>();
  let runs = 0;
  const outcomes = await runInOrder(
    Object.keys(needs),
    async (name) => {
      runs++;
      const missing = needs[name]?.find((need) => !there.has(need));
      if (missing) throw new Error(`${missing} is missing`);
      there.add(name);
      return name.toUpperCase();
    },
    (error) => !(error as Error).message.startsWith("silence"),
  );
  const words = outcomes.map((one) =>
    "error" in one ? `${one.of}: ${(one.error as Error).message}` : one.result,
  );
  return { words, runs };
}

test("inputs run after those they need", async () => {
  const { words } = await check({ top: ["middle"], middle: ["base"], base: [] });
  expect(words).toEqual(["BASE", "MIDDLE", "TOP"]);
});

test("an input whose need is nowhere fails alone", async () => {
  const { words } = await check({ a: ["nowhere"], b: [], c: ["b"] });
  expect(words).toEqual(["B", "C", "a: nowhere is missing"]);
});

test("inputs that need each other fail once each", async () => {
  const { words, runs } = await check({ a: ["b"], b: ["a"] });
  expect(words).toEqual(["a: b is missing", "b: a is missing"]);
  expect(runs).toBe(2);
});

test("an input whose outcome is unknown is not run again", async () => {
  const { words, runs } = await check({ a: ["silence"], b: [] });
  expect(words).toEqual(["B", "a: silence is missing"]);
  expect(runs).toBe(2);
});
