import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import type { Members } from "./methods";

/** What a mass change shows and changes of an item. */
export interface MassItem {
  itemid: string;
  name: string;
  key_: string;
  type: string;
  value_type: string;
  delay: string;
  history: string;
  trends: string;
  status: string;
  timeout: string;
  snmp_oid: string;
  flags: string;
  templateid: string;
  tags: Tag[];
  hosts: { hostid: string; name: string }[];
  /** The user has write permission. */
  editable: boolean;
}

const OUTPUT = [
  "itemid",
  "name",
  "key_",
  "type",
  "value_type",
  "delay",
  "history",
  "trends",
  "status",
  "timeout",
  "snmp_oid",
  "flags",
  "templateid",
] as const;

/** These items, in this order, without those that do not exist. */
export async function readMassItems(
  itemids: readonly string[],
  signal?: AbortSignal,
): Promise<MassItem[]> {
  const [rows, writable] = await Promise.all([
    rpc(
      "item.get",
      { itemids, output: OUTPUT, selectTags: ["tag", "value"], selectHosts: ["hostid", "name"] },
      signal,
    ),
    rpc("item.get", { itemids, output: ["itemid"], editable: true }, signal),
  ]);
  const editable = new Set(writable.map(({ itemid }) => itemid));
  const byId = new Map(rows.map((row) => [row.itemid, row]));
  return itemids.flatMap((id) => {
    const row = byId.get(id);
    return row ? [{ ...row, editable: editable.has(id) }] : [];
  });
}

/** A change of one item. */
export type ItemChange = Members<"item"> & { itemid: string };

/** Changes all of these items, or none of them. */
export function updateItems(changes: ItemChange[]): Promise<unknown> {
  return rpc("item.update", changes);
}
