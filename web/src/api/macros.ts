import { queryOptions } from "@tanstack/react-query";
import type { MacroDefinition } from "~/util/macros";
import { rpc } from "./client";

/** Ids of the templates above some objects, nearest first. */
async function templatesAbove(first: string[], signal?: AbortSignal): Promise<string[]> {
  const order = [...first];
  let level = first;
  while (level.length > 0) {
    const rows = await rpc(
      "template.get",
      { output: ["templateid"], templateids: level, selectParentTemplates: ["templateid"] },
      signal,
    );
    const above = rows.flatMap((row) => row.parentTemplates.map((parent) => parent.templateid));
    level = [...new Set(above)].filter((id) => !order.includes(id)).sort((a, b) => +a - +b);
    order.push(...level);
  }
  return order;
}

/**
 * User macros as an owner sees them: one list per level, the strongest first (its own, those of its
 * templates, the global ones).
 */
export const macroLevelsQuery = (ownerid: string) =>
  queryOptions({
    queryKey: ["macros", "levels", ownerid],
    queryFn: async ({ signal }): Promise<{ from: string; macros: MacroDefinition[] }[]> => {
      const select = { output: ["hostid"], selectParentTemplates: ["templateid"] } as const;
      const hosts = await rpc("host.get", { ...select, hostids: [ownerid] }, signal);
      const direct = hosts[0]?.parentTemplates.map((parent) => parent.templateid) ?? [];
      const above = await templatesAbove(hosts[0] ? direct : [ownerid], signal);
      const ids = hosts[0] ? [ownerid, ...above] : above;
      const [own, global, names] = await Promise.all([
        rpc("usermacro.get", { output: "extend", hostids: ids }, signal),
        rpc("usermacro.get", { output: "extend", globalmacro: true }, signal),
        rpc("template.get", { output: ["templateid", "name"], templateids: above }, signal),
      ]);
      const name = (id: string) =>
        id === ownerid ? "" : (names.find((row) => row.templateid === id)?.name ?? "a template");
      return [
        ...ids.map((id) => ({ from: name(id), macros: own.filter((m) => m.hostid === id) })),
        { from: "global", macros: global },
      ];
    },
    enabled: ownerid !== "",
    staleTime: 5_000,
    meta: { live: "config" },
  });

/** Replaces the macros of a host or template. */
export function saveMacros(ownerid: string, template: boolean, macros: object[]): Promise<unknown> {
  if (template) return rpc("template.update", { templateid: ownerid, macros });
  return rpc("host.update", { hostid: ownerid, macros });
}
