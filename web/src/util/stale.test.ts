import { expect, test } from "vitest";
import { changedSince } from "./stale";

test("changes by others are found, those that the server makes are not", () => {
  const host = {
    name: "web",
    items: "7",
    maintenance_status: "0",
    interfaces: [{ ip: "10.0.0.1", available: "0", error: "" }],
    tags: [{ tag: "site", value: "riga" }],
  };
  expect(changedSince(host, structuredClone(host))).toEqual([]);
  const busy = {
    ...host,
    items: "8",
    maintenance_status: "1",
    interfaces: [{ ip: "10.0.0.1", available: "2", error: "timeout" }],
  };
  expect(changedSince(host, busy)).toEqual([]);
  const edited = { ...busy, name: "web-01", tags: [{ tag: "site", value: "tartu" }] };
  expect(changedSince(host, edited)).toEqual([
    { name: "name", before: "web", now: "web-01" },
    {
      name: "tags",
      before: '[{"tag":"site","value":"riga"}]',
      now: '[{"tag":"site","value":"tartu"}]',
    },
  ]);
});

test("the state of a trigger is no edit", () => {
  const trigger = { expression: "last(/a/b)>0", description: "x", value: "0", lastchange: "1" };
  expect(changedSince(trigger, { ...trigger, value: "1", lastchange: "2" })).toEqual([]);
});
