import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, HostRow, Ids, Many, Optional } from "./gets";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type * as schema from "./schema";

export interface ProxyGets {
  "proxy.get": Get<
    schema.Proxy,
    {
      selectHosts: Many<"hosts", HostRow>;
      selectProxyGroup: Optional<"proxyGroup", schema.ProxyGroup>;
    },
    { proxyids?: Ids; proxy_groupids?: Ids }
  >;
  "proxygroup.get": Get<
    schema.ProxyGroup,
    { selectProxies: Many<"proxies", schema.Proxy> },
    { proxyids?: Ids; proxy_groupids?: Ids }
  >;
}

/** A proxy with the number of its hosts. */
export interface ProxyRow extends schema.Proxy {
  hosts: string;
}

/** A proxy group with the number of its proxies. */
export interface ProxyGroupRow extends schema.ProxyGroup {
  proxies: string;
}

export const proxiesQuery = () =>
  queryOptions({
    queryKey: ["proxies"],
    queryFn: ({ signal }): Promise<ProxyRow[]> =>
      rpc("proxy.get", { output: "extend", selectHosts: "count", sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export const proxyGroupsQuery = () =>
  queryOptions({
    queryKey: ["proxygroups"],
    queryFn: ({ signal }): Promise<ProxyGroupRow[]> =>
      rpc(
        "proxygroup.get",
        { output: "extend", selectProxies: "count", sortfield: "name" },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** Creates a proxy, or changes the one given. */
export function saveProxy(proxyid: string | null, proxy: Members<"proxy">): Promise<unknown> {
  return proxyid ? rpc("proxy.update", { proxyid, ...proxy }) : rpc("proxy.create", proxy);
}

export function deleteProxy(proxyid: string): Promise<unknown> {
  return rpc("proxy.delete", [proxyid]);
}

/** Creates a proxy group, or changes the one given. */
export function saveProxyGroup(
  proxy_groupid: string | null,
  group: Members<"proxygroup">,
): Promise<unknown> {
  return proxy_groupid
    ? rpc("proxygroup.update", { proxy_groupid, ...group })
    : rpc("proxygroup.create", group);
}

export function deleteProxyGroup(proxy_groupid: string): Promise<unknown> {
  return rpc("proxygroup.delete", [proxy_groupid]);
}
