import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import type { Members } from "./methods";
import type * as schema from "./schema";

/** A tag that decides what a connector sends. */
export interface ConnectorTag {
  tag: string;
  operator: string;
  value: string;
}

export interface ConnectorGets {
  "connector.get": Get<
    schema.Connector,
    { selectTags: Many<"tags", ConnectorTag> },
    { connectorids?: Ids }
  >;
}

export type ConnectorInput = Omit<schema.ConnectorInput, "tags"> & { tags?: ConnectorTag[] };

const OUTPUT = [
  "connectorid",
  "name",
  "data_type",
  "url",
  "item_value_type",
  "authtype",
  "username",
  "max_records",
  "max_senders",
  "max_attempts",
  "attempt_interval",
  "timeout",
  "http_proxy",
  "verify_peer",
  "verify_host",
  "ssl_cert_file",
  "ssl_key_file",
  "description",
  "status",
  "tags_evaltype",
] as const;

/** A connector without its secrets, which the UI does not read. */
export type ConnectorRow = Pick<schema.Connector, (typeof OUTPUT)[number]> & {
  tags: ConnectorTag[];
};

export const connectorsQuery = () =>
  queryOptions({
    queryKey: ["connectors"],
    queryFn: ({ signal }): Promise<ConnectorRow[]> =>
      rpc("connector.get", { output: OUTPUT, selectTags: "extend", sortfield: "name" }, signal),
    meta: { live: "config" },
  });

/** Creates a connector, or changes the one given. */
export function saveConnector(
  connectorid: string | null,
  connector: Members<"connector">,
): Promise<unknown> {
  return connectorid
    ? rpc("connector.update", { connectorid, ...connector })
    : rpc("connector.create", connector as ConnectorInput);
}

export function deleteConnector(connectorid: string): Promise<unknown> {
  return rpc("connector.delete", [connectorid]);
}

export function enableConnector(connectorid: string, on: boolean): Promise<unknown> {
  return rpc("connector.update", { connectorid, status: on ? "1" : "0" });
}
