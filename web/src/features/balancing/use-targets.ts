import { useQuery } from "@tanstack/react-query";
import { poolGroupsQuery, poolsQuery } from "~/api/balancing";
import type { Targets } from "./targets";

/** All pools, then all pool groups. */
export function useTargets(): Targets {
  const pools = useQuery(poolsQuery());
  const groups = useQuery(poolGroupsQuery());
  return [
    ...(pools.data ?? []).map((row) => [`pool ${row.poolid}`, row.name] as const),
    ...(groups.data ?? []).map((row) => [`group ${row.poolgroupid}`, row.name] as const),
  ];
}
