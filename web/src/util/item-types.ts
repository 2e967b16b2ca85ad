import { ITEM_TYPES as CATALOG, type Choice, ItemType, VALUE_TYPES } from "~/api/schema";

export { VALUE_TYPES };

/** Ways to collect an item, by the API's number, in the order offered. */
export const ITEM_TYPES: readonly Choice[] = CATALOG.map(({ type, label }) => [type, label]);

/** The type of the items of web scenarios, which change with their scenario. */
export const WEB_ITEM = "9";

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

/** What decides which parameters an item has. */
interface Typed {
  type: string;
  key_: string;
  snmp_oid: string;
}

/** Whether the item has an update interval. */
export function hasInterval({ type, key_ }: Typed): boolean {
  return isPolled(type) && !(type === ItemType.AgentActive && key_.startsWith("mqtt.get"));
}

const WITH_TIMEOUT: ReadonlySet<string> = new Set([
  ItemType.Agent,
  ItemType.AgentActive,
  ItemType.Simple,
  ItemType.External,
  ItemType.Database,
  ItemType.Ssh,
  ItemType.Telnet,
  ItemType.HttpAgent,
  ItemType.Snmp,
  ItemType.Script,
  ItemType.Browser,
]);

/** Whether the item can have a separate timeout. */
export function hasTimeout({ type, key_, snmp_oid }: Typed): boolean {
  if (type === ItemType.Simple) return !/^(icmpping|vmware\.)/.test(key_);
  if (type === ItemType.Snmp) return /^(get|walk)\[/.test(snmp_oid);
  return WITH_TIMEOUT.has(type);
}

/** The host's interface type that an item type needs: 1 agent, 2 SNMP, 3 IPMI, 4 JMX, -1 any, 0 none. */
export function interfaceTypeFor(type: string): number {
  return of(type)?.interface ?? 0;
}
