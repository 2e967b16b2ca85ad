import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Tag } from "~/util/tags";
import { wordsOf } from "~/util/words";
import { rpc, rpcCount } from "./client";
import type { GetParams } from "./gets";
import type { Members } from "./methods";

export interface TemplateRow {
  templateid: string;
  host: string;
  name: string;
  description: string;
  vendor_name: string;
  vendor_version: string;
  templategroups: { groupid: string; name: string }[];
  tags: Tag[];
  items: string;
  triggers: string;
  discoveries: string;
  hosts: string;
}

export interface Template extends Omit<TemplateRow, "hosts"> {
  hosts: { hostid: string; name: string }[];
  parentTemplates: { templateid: string; name: string }[];
  macros: { macro: string; value?: string; type: string; description: string }[];
}

const OUTPUT = [
  "templateid",
  "host",
  "name",
  "description",
  "vendor_name",
  "vendor_version",
] as const;
const COUNTS = {
  selectItems: "count",
  selectTriggers: "count",
  selectDiscoveries: "count",
  selectTemplateGroups: ["groupid", "name"],
  selectTags: ["tag", "value"],
} as const;

export interface TemplateFilter {
  text?: string;
  groupids?: string[];
  /** Only templates that some host uses. */
  linked?: boolean;
}

function narrowed(filter: TemplateFilter) {
  return {
    groupids: filter.groupids?.length ? filter.groupids : undefined,
    with_hosts: filter.linked || undefined,
    search: filter.text ? { name: filter.text, host: filter.text } : undefined,
    searchByAny: filter.text ? true : undefined,
  } satisfies GetParams<"template.get">;
}

/** How many templates match. */
export const templateTotalQuery = (filter: TemplateFilter) =>
  queryOptions({
    queryKey: ["templates", "total", filter],
    queryFn: ({ signal }) => rpcCount("template.get", narrowed(filter), signal),
    placeholderData: keepPreviousData,
    meta: { live: "config" },
  });

/** The rows of a window of the list; the server sorts and cuts. */
export function templateWindow(
  filter: TemplateFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<TemplateRow[]> {
  return rpc(
    "template.get",
    {
      ...COUNTS,
      ...narrowed(filter),
      output: OUTPUT,
      selectHosts: "count",
      sortfield: "name",
      limit,
      offset: offset || undefined,
    },
    signal,
  );
}

export const templateQuery = (templateid: string) =>
  queryOptions({
    queryKey: ["templates", "one", templateid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "template.get",
        {
          ...COUNTS,
          output: OUTPUT,
          templateids: [templateid],
          selectHosts: ["hostid", "name"],
          selectParentTemplates: ["templateid", "name"],
          selectMacros: "extend",
        },
        signal,
      );
      return rows[0] ?? null;
    },
    meta: { live: "config" },
  });

/** Names of templates by their ids. */
export const templateNamesQuery = (templateids: string[]) =>
  queryOptions({
    queryKey: ["templates", "names", templateids],
    queryFn: async ({ signal }) => {
      const output = ["templateid", "name"] as const;
      const rows = await rpc("template.get", { output, templateids }, signal);
      return new Map(rows.map((row) => [row.templateid, row.name]));
    },
    enabled: templateids.length > 0,
    staleTime: 60_000,
  });

/** A handful of templates by name, for pickers and the palette. */
export const templateSearchQuery = (text: string) =>
  queryOptions({
    queryKey: ["templates", "search", text],
    queryFn: ({ signal }) =>
      rpc(
        "template.get",
        {
          output: ["templateid", "name"],
          search: text ? { name: wordsOf(text) } : undefined,
          sortfield: "name",
          limit: 50,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

export function deleteTemplate(templateid: string): Promise<unknown> {
  return rpc("template.delete", [templateid]);
}

/** Creates a template, or changes the one given; the answer is its id. */
export async function saveTemplate(
  templateid: string | null,
  template: Members<"template">,
): Promise<string> {
  const { templateids } = templateid
    ? await rpc("template.update", { templateid, ...template })
    : await rpc("template.create", template);
  return templateids[0] ?? "";
}
