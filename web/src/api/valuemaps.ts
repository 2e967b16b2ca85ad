import { queryOptions } from "@tanstack/react-query";
import type { Mapping } from "~/util/format";
import { rpc } from "./client";

export interface ValueMap {
  valuemapid: string;
  name: string;
  mappings: Mapping[];
}

export const valueMapsQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["valuemaps", hostid],
    queryFn: ({ signal }) =>
      rpc<ValueMap[]>(
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
