import { queryOptions } from "@tanstack/react-query";
import type { HostInterface } from "~/util/interfaces";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import type { Macro } from "./hosts";
import type { Members } from "./methods";

/** Names of groups with discovery macros. */
export interface GroupPrototype {
  group_prototypeid: string;
  name: string;
}

/** A host prototype as lists show it. */
export interface HostPrototypeRow {
  hostid: string;
  host: string;
  name: string;
  /** 0 its hosts are monitored, 1 not. */
  status: string;
  /** 0 discovery makes hosts of it, 1 it does not. */
  discover: string;
  /** The prototype of a template that it comes from; 0 = none. */
  templateid: string;
  groupLinks: { groupid: string }[];
  groupPrototypes: GroupPrototype[];
  templates: { templateid: string; name: string }[];
}

/** A host prototype with everything that is configured. */
export interface HostPrototypeDetail extends HostPrototypeRow {
  /** -1 off, 0 by hand, 1 automatic. */
  inventory_mode: string;
  /** 0 those of the rule's host, 1 own ones. */
  custom_interfaces: string;
  interfaces: HostInterface[];
  macros: Macro[];
  tags: Tag[];
  discoveryRule: { itemid: string; name: string } | [];
  /** What the rule belongs to. */
  parentHost: { hostid: string };
}

const ROW = {
  selectGroupLinks: ["groupid"],
  selectGroupPrototypes: ["group_prototypeid", "name"],
  selectTemplates: ["templateid", "name"],
} as const;

export const hostPrototypesQuery = (ruleid: string) =>
  queryOptions({
    queryKey: ["discoveryrules", "hosts", ruleid],
    queryFn: ({ signal }) =>
      rpc(
        "hostprototype.get",
        {
          output: ["hostid", "host", "name", "status", "discover", "templateid"],
          ...ROW,
          discoveryids: [ruleid],
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export const hostPrototypeQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["hostprototypes", hostid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "hostprototype.get",
        {
          output: "extend",
          ...ROW,
          selectInterfaces: ["type", "main", "useip", "ip", "dns", "port", "details"],
          selectMacros: ["hostmacroid", "macro", "value", "type", "description"],
          selectTags: ["tag", "value"],
          selectDiscoveryRule: ["itemid", "name"],
          selectParentHost: ["hostid"],
          hostids: [hostid],
        },
        signal,
      );
      return rows[0] ?? null;
    },
  });

/** Creates a prototype, or changes the one given. */
export function saveHostPrototype(
  hostid: string | null,
  prototype: Members<"hostprototype">,
): Promise<{ hostids: string[] }> {
  if (hostid) return rpc("hostprototype.update", { hostid, ...prototype });
  return rpc("hostprototype.create", prototype);
}

export function deleteHostPrototype(hostid: string): Promise<unknown> {
  return rpc("hostprototype.delete", [hostid]);
}
