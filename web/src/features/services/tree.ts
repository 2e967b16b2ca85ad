import type { ServiceNode } from "~/api/services";

/** A row of the tree. A service below several others has several rows. */
export type TreeRow =
  | { is: "service"; path: string; depth: number; service: ServiceNode; open: boolean }
  | { is: "note"; path: string; depth: number; text: string };

/** What is known of the services below another. */
export interface Level {
  services?: readonly ServiceNode[];
  /** Why they are not known. */
  note?: string;
  /** There are more. */
  cut?: string;
}

/** The place of a service: the ids from the top. */
const below = (path: string, id: string) => (path ? `${path}.${id}` : id);

/** The ids of a path that ends with the service. */
export const idOfPath = (path: string) => path.split(".").at(-1) ?? "";

/** The services whose children must be read: the open ones, as far as their parents are open. */
export function parentsOf(open: readonly string[]): string[] {
  const set = new Set(open);
  const seen = open.filter((path) => {
    const parts = path.split(".");
    return parts.every((_, at) => set.has(parts.slice(0, at + 1).join(".")));
  });
  return [...new Set(seen.map(idOfPath))];
}

/**
 * The rows of the tree in their order. A service that is below itself (the server refuses such trees) is
 * not opened again.
 */
export function treeRows(
  levels: (parentid: string) => Level,
  open: ReadonlySet<string>,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (parentid: string, path: string, depth: number, above: readonly string[]) => {
    const { services = [], note, cut } = levels(parentid);
    for (const service of services) {
      const here = below(path, service.serviceid);
      const isOpen = open.has(here) && !above.includes(service.serviceid);
      rows.push({ is: "service", path: here, depth, service, open: isOpen });
      if (isOpen) add(service.serviceid, here, depth + 1, [...above, service.serviceid]);
    }
    for (const text of [note, cut])
      if (text) rows.push({ is: "note", path: `${path}/${text}`, depth, text });
  };
  add("0", "", 0, []);
  return rows;
}
