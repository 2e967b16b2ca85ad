import { expect, test } from "vitest";
import { hasTimeout, ITEM_TYPES } from "~/util/item-types";
import { EXTRAS } from "./extras";

test.each(ITEM_TYPES)("the form and mass changes agree on the timeout of type %s", (type) => {
  const inForm = (EXTRAS[type] ?? []).some(({ field }) => field === "timeout");
  expect(hasTimeout({ type, key_: "net.tcp.service[ssh]", snmp_oid: "walk[1.3]" })).toBe(inForm);
});

test.each([
  ["3", "icmpping[]", ""],
  ["3", "vmware.version[x]", ""],
  ["20", "k", "1.3.6.1"],
])("an item of type %s with key %s has no separate timeout", (type, key_, snmp_oid) => {
  expect(hasTimeout({ type, key_, snmp_oid })).toBe(false);
});
