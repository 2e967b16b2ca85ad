import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

export interface Group {
  groupid: string;
  name: string;
}

export const hostGroupsQuery = () =>
  queryOptions({
    queryKey: ["hostgroups"],
    queryFn: ({ signal }) =>
      rpc<Group[]>("hostgroup.get", { output: ["groupid", "name"], sortfield: "name" }, signal),
    staleTime: 30_000,
    meta: { live: "config" },
  });

export const templateGroupsQuery = () =>
  queryOptions({
    queryKey: ["templategroups"],
    queryFn: ({ signal }) =>
      rpc<Group[]>("templategroup.get", { output: ["groupid", "name"], sortfield: "name" }, signal),
    staleTime: 30_000,
    meta: { live: "config" },
  });

export async function createHostGroup(name: string): Promise<string> {
  const { groupids } = await rpc<{ groupids: string[] }>("hostgroup.create", { name });
  return groupids[0] ?? "";
}

export async function createTemplateGroup(name: string): Promise<string> {
  const { groupids } = await rpc<{ groupids: string[] }>("templategroup.create", { name });
  return groupids[0] ?? "";
}
