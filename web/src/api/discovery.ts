import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { ownedBy } from "./owners";

/** A low-level discovery rule with the number of its prototypes. */
export interface DiscoveryRule {
  itemid: string;
  name: string;
  key_: string;
  type: string;
  delay: string;
  status: string;
  state: string;
  error: string;
  items: string;
  triggers: string;
  hostPrototypes?: string;
}

/** Rules of a host or a template. */
export const discoveryRulesQuery = (hostid: string, template = false) =>
  queryOptions({
    queryKey: ["discoveryrules", hostid],
    queryFn: ({ signal }) =>
      rpc(
        "discoveryrule.get",
        {
          output: ["itemid", "name", "key_", "type", "delay", "status", "state", "error"],
          ...ownedBy(hostid, template),
          selectItems: "count",
          selectTriggers: "count",
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });
