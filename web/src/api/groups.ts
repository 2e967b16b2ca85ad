import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

export interface Group {
  groupid: string;
  name: string;
}

/** What a group is of. */
export type GroupOf = "host" | "template";

export const groupsQuery = (of: GroupOf) =>
  queryOptions({
    queryKey: [`${of}groups`],
    queryFn: ({ signal }) =>
      rpc(`${of}group.get`, { output: ["groupid", "name"], sortfield: "name" }, signal),
    staleTime: 30_000,
    meta: { live: "config" },
  });

/** Makes a group; the answer is its id. */
export async function createGroup(of: GroupOf, name: string): Promise<string> {
  const { groupids } = await rpc(`${of}group.create`, { name });
  return groupids[0] ?? "";
}
