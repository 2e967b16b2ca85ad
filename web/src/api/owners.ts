import { queryOptions } from "@tanstack/react-query";
import type { HostInterface } from "~/util/interfaces";
import { rpc } from "./client";

/** What items and triggers belong to: a host or a template. */
export interface Owner {
  id: string;
  /** The technical name: what expressions and agents use. */
  host: string;
  name: string;
  template: boolean;
  interfaces: HostInterface[];
}

/** The parameter that narrows a `get` to what belongs to a host or a template. */
export function ownedBy(id: string, template: boolean) {
  return template ? { templateids: [id] } : { hostids: [id] };
}

export const ownerQuery = (id: string) =>
  queryOptions({
    queryKey: ["hosts", "owner", id],
    queryFn: async ({ signal }): Promise<Owner | null> => {
      const output = ["host", "name"] as const;
      const [hosts, templates] = await Promise.all([
        rpc("host.get", { output, hostids: [id], selectInterfaces: "extend" }, signal),
        rpc("template.get", { output, templateids: [id] }, signal),
      ]);
      const [host, template] = [hosts[0], templates[0]];
      if (host) return { ...host, id, template: false };
      return template ? { ...template, id, template: true, interfaces: [] } : null;
    },
    enabled: id !== "",
    meta: { live: "config" },
  });
