// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { coreMarks, loadsOf, perCore, roundUp } from "./load";

const NOW = 1_800_000_000;
const engines = ["1", "2", "3"].map((engineid) => ({ engineid, name: `edge${engineid}` }));
const figure = (value: number, age = 5) => ({ value, clock: NOW - age });

test("bars share scales, and unknown values are in no sum", () => {
  const figures = new Map([
    [
      "1",
      new Map([
        ["requests", figure(900)],
        ["cpu", figure(150)],
      ]),
    ],
    [
      "2",
      new Map([
        ["requests", figure(1_200)],
        ["cpu", figure(90)],
      ]),
    ],
    ["3", new Map([["requests", figure(5_000, 61)]])],
  ]);
  const loads = loadsOf(engines, figures, NOW);
  expect(loads.engines.map((one) => [one.requests, one.cores])).toEqual([
    [900, 1.5],
    [1_200, 0.9],
    [undefined, undefined],
  ]);
  expect(loads).toMatchObject({
    requests: { value: 2_100, known: 2 },
    cores: { value: 2.4, known: 2 },
    requestsMax: 2_000,
    coresMax: 2,
  });
});

test("the scale of requests ends at a round number", () => {
  expect([0, 1, 3, 51, 200, 900].map(roundUp)).toEqual([1, 1, 5, 100, 200, 1_000]);
});

test("cores have marks between them, and many cores have none", () => {
  expect(coreMarks(1)).toEqual([]);
  expect(coreMarks(4)).toEqual([0.25, 0.5, 0.75]);
  expect(coreMarks(100)).toEqual([]);
});

test("requests per core are unknown of an idle engine", () => {
  expect(perCore(300, 1.5)).toBe(200);
  expect(perCore(3, 0.001)).toBeUndefined();
  expect(perCore(undefined, 1)).toBeUndefined();
});
