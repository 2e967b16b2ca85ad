/** Ways to collect an item, by the API's number, in the order offered. */
export const ITEM_TYPES: readonly (readonly [value: string, label: string])[] = [
  ["0", "Agent"],
  ["7", "Agent (active)"],
  ["2", "Trapper"],
  ["18", "Dependent item"],
  ["15", "Calculated"],
  ["5", "Internal"],
  ["3", "Simple check"],
  ["19", "HTTP agent"],
  ["20", "SNMP agent"],
  ["17", "SNMP trap"],
  ["10", "External check"],
  ["11", "Database monitor"],
  ["12", "IPMI agent"],
  ["13", "SSH agent"],
  ["14", "Telnet agent"],
  ["16", "JMX agent"],
  ["21", "Script"],
  ["22", "Browser"],
];

export const VALUE_TYPES: readonly (readonly [value: string, label: string])[] = [
  ["3", "Number (unsigned)"],
  ["0", "Number (float)"],
  ["1", "Characters"],
  ["4", "Text"],
  ["2", "Log"],
  ["5", "Binary"],
];

export function itemTypeName(type: string): string {
  return ITEM_TYPES.find(([value]) => value === type)?.[1] ?? `Type ${type}`;
}

export function valueTypeName(type: string): string {
  return VALUE_TYPES.find(([value]) => value === type)?.[1] ?? `Type ${type}`;
}

/** Types of which the server asks by itself, at an interval. */
export function isPolled(type: string): boolean {
  return type !== "2" && type !== "17" && type !== "18";
}

/** The host's interface type that an item type needs: 1 agent, 2 SNMP, 3 IPMI, 4 JMX, -1 any, 0 none. */
export function interfaceTypeFor(type: string): number {
  const needs: Record<string, number> = {
    "0": 1,
    "3": -1,
    "10": -1,
    "12": 3,
    "13": -1,
    "14": -1,
    "16": 4,
    "17": 2,
    "19": -1,
    "20": 2,
  };
  return needs[type] ?? 0;
}
