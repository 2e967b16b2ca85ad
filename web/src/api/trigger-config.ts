import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ItemReference } from "~/util/expression";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import type { Members } from "./methods";

/** A trigger of a host or template, or a prototype of one. */
export interface ConfigTrigger {
  prototype: boolean;
  triggerid: string;
  description: string;
  event_name: string;
  opdata: string;
  expression: string;
  recovery_mode: string;
  recovery_expression: string;
  priority: string;
  status: string;
  /** 1: each evaluation that finds a problem makes one. */
  type: string;
  correlation_mode: string;
  correlation_tag: string;
  manual_close: string;
  url: string;
  url_name: string;
  comments: string;
  templateid: string;
  discover?: string;
  tags: Tag[];
  dependencies: { triggerid: string; description: string }[];
  hosts: { hostid: string; name: string }[];
  discoveryRule?: { itemid: string; name: string } | [];
}

const READ = {
  output: "extend",
  expandExpression: true,
  selectTags: ["tag", "value"],
  selectDependencies: ["triggerid", "description"],
  selectHosts: ["hostid", "name"],
} as const;

async function read(
  prototype: boolean,
  triggerid: string,
  signal?: AbortSignal,
): Promise<ConfigTrigger | null> {
  const one = { ...READ, triggerids: [triggerid] } as const;
  const [row] = prototype
    ? await rpc("triggerprototype.get", { ...one, selectDiscoveryRule: ["itemid", "name"] }, signal)
    : await rpc("trigger.get", one, signal);
  return row ? { ...row, prototype } : null;
}

export const configTriggerQuery = (triggerid: string) =>
  queryOptions({
    queryKey: ["triggers", "config", triggerid],
    queryFn: async ({ signal }) =>
      (await read(false, triggerid, signal)) ?? (await read(true, triggerid, signal)),
    enabled: triggerid !== "",
  });

export function saveTrigger(
  prototype: boolean,
  triggerid: string | null,
  trigger: Members<"trigger" | "triggerprototype">,
): Promise<{ triggerids: string[] }> {
  const object = prototype ? "triggerprototype" : "trigger";
  if (triggerid) return rpc(`${object}.update`, { triggerid, ...trigger });
  return rpc(`${object}.create`, trigger);
}

export function deleteTrigger(prototype: boolean, triggerid: string): Promise<unknown> {
  return rpc(prototype ? "triggerprototype.delete" : "trigger.delete", [triggerid]);
}

export function setTriggerStatus(triggerid: string, status: "0" | "1"): Promise<unknown> {
  return rpc("trigger.update", { triggerid, status });
}

export interface PrototypeTrigger {
  triggerid: string;
  description: string;
  expression: string;
  priority: string;
  status: string;
  discover: string;
}

export const triggerPrototypesQuery = (ruleid: string) =>
  queryOptions({
    queryKey: ["discoveryrules", "triggers", ruleid],
    queryFn: ({ signal }) =>
      rpc(
        "triggerprototype.get",
        {
          output: ["triggerid", "description", "expression", "priority", "status", "discover"],
          expandExpression: true,
          discoveryids: [ruleid],
          sortfield: "description",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export interface FoundTrigger {
  triggerid: string;
  description: string;
  hosts: { name: string }[];
}

/** A handful of triggers by name, to depend on: of any host, or of one template. */
export const triggerSearchQuery = (text: string, templateid?: string) =>
  queryOptions({
    queryKey: ["triggers", "search", text, templateid],
    queryFn: ({ signal }) =>
      rpc(
        "trigger.get",
        {
          output: ["triggerid", "description"],
          selectHosts: ["name"],
          templateids: templateid ? [templateid] : undefined,
          search: text ? { description: text } : undefined,
          sortfield: "description",
          limit: 20,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** Triggers by id with their hosts, for texts. */
export const triggerNamesQuery = (triggerids: string[]) =>
  queryOptions({
    queryKey: ["triggers", "names", triggerids],
    queryFn: ({ signal }): Promise<FoundTrigger[]> =>
      rpc(
        "trigger.get",
        { output: ["triggerid", "description"], selectHosts: ["name"], triggerids },
        signal,
      ),
    enabled: triggerids.length > 0,
    staleTime: 60_000,
  });

/** "web1: Load is high". */
export const triggerLabel = ({ hosts, description }: FoundTrigger) =>
  [hosts[0]?.name, description].filter(Boolean).join(": ");

/** An item that an expression names. */
export interface ReferredItem {
  itemid: string;
  host: string;
  name: string;
  key_: string;
  value_type: string;
  units: string;
  lastvalue?: string;
  lastclock?: string;
}

/** The items that references of an expression lead to. */
export const referredItemsQuery = (references: readonly ItemReference[], prototypes: boolean) =>
  queryOptions({
    queryKey: ["items", "referred", references, prototypes],
    queryFn: async ({ signal }): Promise<ReferredItem[]> => {
      const filter = { host: [...new Set(references.map((reference) => reference.host))] };
      const [hosts, templates] = await Promise.all([
        rpc("host.get", { output: ["hostid", "host"], filter }, signal),
        rpc("template.get", { output: ["templateid", "host"], filter }, signal),
      ]);
      const names = new Map([
        ...hosts.map((row) => [row.hostid, row.host] as const),
        ...templates.map((row) => [row.templateid, row.host] as const),
      ]);
      if (names.size === 0) return [];
      const params = {
        hostids: [...names.keys()],
        filter: { key_: [...new Set(references.map((reference) => reference.key))] },
      };
      const output = ["itemid", "hostid", "name", "key_", "value_type", "units"] as const;
      const items = await Promise.all([
        rpc(
          "item.get",
          { ...params, output: [...output, "lastvalue", "lastclock"], webitems: true },
          signal,
        ),
        prototypes ? rpc("itemprototype.get", { ...params, output }, signal) : [],
      ]);
      return items.flat().map((item) => ({ ...item, host: names.get(item.hostid) ?? "" }));
    },
    enabled: references.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  });
