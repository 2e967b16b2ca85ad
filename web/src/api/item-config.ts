import { queryOptions } from "@tanstack/react-query";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import type { Item } from "./items";
import type { Members } from "./methods";

/** The newest values of an item. */
export interface Newest {
  lastvalue: string;
  /** "0": no value yet. */
  lastclock: string;
  prevvalue: string;
  /** "0": no value before the newest. */
  prevclock: string;
}

/** An item, an item prototype, a low-level discovery rule: they share most of their parameters. */
export type ItemKind = "item" | "prototype" | "rule";

const OBJECTS = {
  item: "item",
  prototype: "itemprototype",
  rule: "discoveryrule",
} as const satisfies Record<ItemKind, string>;

/** `operator`: 8 matches, 9 does not match, 12 exists, 13 does not exist. */
export interface FilterCondition {
  macro: string;
  value: string;
  operator: string;
  /** Its name in a formula. */
  formulaid: string;
}

/** `evaltype`: 0 and/or, 1 and, 2 or, 3 formula. */
export interface RuleFilter {
  evaltype: string;
  formula: string;
  conditions: FilterCondition[];
}

/** What discovery makes otherwise of the prototypes that it names. */
export interface OverrideOperation {
  /** 0 item, 1 trigger, 2 graph, 3 host prototypes. */
  operationobject: string;
  /** 0 equals, 1 differs, 2 contains, 3 does not contain, 8 matches, 9 does not match. */
  operator: string;
  value: string;
  opdiscover?: { discover: string };
  opstatus?: { status: string };
  opperiod?: { delay: string };
  ophistory?: { history: string };
  optrends?: { trends: string };
  opseverity?: { severity: string };
  optag?: Tag[];
  optemplate?: { templateid: string }[];
  opinventory?: { inventory_mode: string };
}

/** What discovery makes otherwise for rows that pass the filter. */
export interface Override {
  name: string;
  /** 1 = the overrides after this one are left out where it applies. */
  stop: string;
  filter: RuleFilter;
  operations: OverrideOperation[];
}

export interface MacroPath {
  lld_macro: string;
  path: string;
}

/** Members of an item of any kind. */
export type ItemMembers = Members<"item" | "itemprototype" | "discoveryrule">;

/** Everything that configures an item of any kind. */
export interface ConfigItem
  extends Omit<Item, keyof Newest | "hosts" | "valuemap" | "state" | "error" | "tags"> {
  kind: ItemKind;
  tags?: Tag[];
  [field: string]: unknown;
  /** Prototypes: whether discovery makes items of them (0 yes). */
  discover?: string;
  discoveryRule?: { itemid: string; name: string } | [];
  filter?: RuleFilter;
  lld_macro_paths?: MacroPath[];
  overrides?: Override[];
  lifetime_type?: string;
  lifetime?: string;
}

const COMMON = { output: "extend", selectPreprocessing: "extend" } as const;

async function fetchConfig(kind: ItemKind, itemid: string, signal?: AbortSignal) {
  const one = { ...COMMON, itemids: [itemid] } as const;
  switch (kind) {
    case "item":
      return rpc("item.get", { ...one, selectTags: ["tag", "value"], webitems: true }, signal);
    case "prototype":
      return rpc(
        "itemprototype.get",
        { ...one, selectTags: ["tag", "value"], selectDiscoveryRule: ["itemid", "name"] },
        signal,
      );
    case "rule":
      return rpc(
        "discoveryrule.get",
        {
          ...one,
          selectFilter: "extend",
          selectLLDMacroPaths: "extend",
          selectOverrides: ["name", "stop", "filter", "operations"],
        },
        signal,
      );
  }
}

async function read(
  kind: ItemKind,
  itemid: string,
  signal?: AbortSignal,
): Promise<ConfigItem | null> {
  const [row] = await fetchConfig(kind, itemid, signal);
  return row ? { ...row, kind } : null;
}

/** An item of a host or template, or a prototype: whichever has this id. */
export const configItemQuery = (itemid: string) =>
  queryOptions({
    queryKey: ["items", "config", itemid],
    queryFn: async ({ signal }) =>
      (await read("item", itemid, signal)) ?? (await read("prototype", itemid, signal)),
    enabled: itemid !== "",
  });

export const ruleQuery = (ruleid: string) =>
  queryOptions({
    queryKey: ["discoveryrules", "config", ruleid],
    queryFn: ({ signal }) => read("rule", ruleid, signal),
    enabled: ruleid !== "",
  });

export function saveConfigItem(
  kind: ItemKind,
  itemid: string | null,
  item: ItemMembers,
): Promise<{ itemids: string[] }> {
  const object = OBJECTS[kind];
  if (itemid) return rpc(`${object}.update`, { itemid, ...item });
  return rpc(`${object}.create`, item);
}

export function deleteConfigItem(kind: ItemKind, itemid: string): Promise<unknown> {
  return rpc(`${OBJECTS[kind]}.delete`, [itemid]);
}

const CONFIGURED = [
  "itemid",
  "name",
  "key_",
  "type",
  "value_type",
  "delay",
  "units",
  "status",
] as const;

/** An item as lists of the configuration show it. */
export interface ConfiguredItem {
  itemid: string;
  name: string;
  key_: string;
  type: string;
  value_type: string;
  delay: string;
  units: string;
  status: string;
}

export interface PrototypeRow extends ConfiguredItem {
  discover: string;
}

export const templateItemsQuery = (templateid: string) =>
  queryOptions({
    queryKey: ["templates", "items", templateid],
    queryFn: ({ signal }) =>
      rpc("item.get", { output: CONFIGURED, templateids: [templateid], sortfield: "name" }, signal),
    meta: { live: "config" },
  });

export const itemPrototypesQuery = (ruleid: string) =>
  queryOptions({
    queryKey: ["discoveryrules", "items", ruleid],
    queryFn: ({ signal }) =>
      rpc(
        "itemprototype.get",
        { output: [...CONFIGURED, "discover"], discoveryids: [ruleid], sortfield: "name" },
        signal,
      ),
    meta: { live: "config" },
  });

/** Graph prototypes: what the server keeps of them. */
export const graphPrototypesQuery = (ruleid: string) =>
  queryOptions({
    queryKey: ["discoveryrules", "graphs", ruleid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "discoveryrule.get",
        { output: ["itemid"], itemids: [ruleid], selectGraphs: ["graphid", "name"] },
        signal,
      );
      return rows[0]?.graphs ?? [];
    },
    meta: { live: "config" },
  });
