import { ITEM_TYPES as CATALOG, type Choice, VALUE_TYPES } from "~/api/schema";

export { VALUE_TYPES };

/** Ways to collect an item, by the API's number, in the order offered. */
export const ITEM_TYPES: readonly Choice[] = CATALOG.map(({ type, label }) => [type, label]);

const of = (type: string) => CATALOG.find((entry) => entry.type === type);

export function itemTypeName(type: string): string {
  return of(type)?.label ?? `Type ${type}`;
}

export function valueTypeName(type: string): string {
  return VALUE_TYPES.find(([value]) => value === type)?.[1] ?? `Type ${type}`;
}

/** Types of which the server asks by itself, at an interval. */
export function isPolled(type: string): boolean {
  return of(type)?.interval ?? true;
}

/** The host's interface type that an item type needs: 1 agent, 2 SNMP, 3 IPMI, 4 JMX, -1 any, 0 none. */
export function interfaceTypeFor(type: string): number {
  return of(type)?.interface ?? 0;
}
