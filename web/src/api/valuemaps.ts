import { queryOptions } from "@tanstack/react-query";
import type { Mapping } from "~/util/format";
import { rpc } from "./client";
import { MappingType } from "./schema";

export interface ValueMap {
  valuemapid: string;
  name: string;
  mappings: Mapping[];
}

export const valueMapsQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["valuemaps", hostid],
    queryFn: ({ signal }) =>
      rpc(
        "valuemap.get",
        {
          output: ["valuemapid", "name"],
          hostids: [hostid],
          selectMappings: "extend",
          sortfield: "name",
        },
        signal,
      ),
    enabled: hostid !== "",
    meta: { live: "config" },
  });

/** Creates a value map of a host or template, or changes the one given. */
export function saveValueMap(
  hostid: string,
  valuemapid: string | null,
  name: string,
  mappings: readonly Mapping[],
): Promise<unknown> {
  const map = {
    name,
    mappings: mappings.map(({ type, value, newvalue }) =>
      type === MappingType.Default ? { type, newvalue } : { type, value, newvalue },
    ),
  };
  if (valuemapid) return rpc("valuemap.update", { valuemapid, ...map });
  return rpc("valuemap.create", { hostid, ...map });
}

export function deleteValueMap(valuemapid: string): Promise<unknown> {
  return rpc("valuemap.delete", [valuemapid]);
}
