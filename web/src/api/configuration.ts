import { rpc } from "./client";
import { session } from "./session-store";

export type ImportFormat = "yaml" | "xml" | "json";

/** What importcompare says would change: kinds of objects, each with entries added, changed, removed. */
export type Comparison = Record<string, ComparedKind>;

export interface ComparedKind {
  added?: ComparedEntry[];
  updated?: ComparedEntry[];
  removed?: ComparedEntry[];
}

export interface ComparedEntry {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  /** Nested kinds (items, triggers, …) of an updated object. */
  [kind: string]: unknown;
}

export function formatOf(fileName: string): ImportFormat {
  const end = fileName.toLowerCase().split(".").pop();
  if (end === "xml" || end === "json") return end;
  return "yaml";
}

interface Rule {
  createMissing: boolean;
  updateExisting?: boolean;
  deleteMissing?: boolean;
}

/** What an import does, by kind of object. */
export type ImportRules = Record<string, Rule>;

/** Everything is created and updated; with `removeMissing` what the file no longer has goes. */
function rules(removeMissing: boolean): ImportRules {
  const all = { createMissing: true, updateExisting: true, deleteMissing: removeMissing };
  const two = { createMissing: true, updateExisting: true };
  return {
    template_groups: two,
    host_groups: two,
    templates: two,
    templateLinkage: { createMissing: true, deleteMissing: removeMissing },
    templateDashboards: all,
    items: all,
    triggers: all,
    discoveryRules: all,
    graphs: all,
    httptests: all,
    valueMaps: all,
    // Others may not import them.
    ...(session()?.type === 3 ? { mediaTypes: two } : {}),
  };
}

export function compareImport(
  source: string,
  format: ImportFormat,
  removeMissing: boolean,
): Promise<Comparison | []> {
  return rpc("configuration.importcompare", { source, format, rules: rules(removeMissing) });
}

export function runImport(
  source: string,
  format: ImportFormat,
  removeMissing: boolean,
): Promise<boolean> {
  return rpc("configuration.import", { source, format, rules: rules(removeMissing) });
}

export function exportTemplate(templateid: string, format: ImportFormat): Promise<string> {
  return rpc("configuration.export", {
    options: { templates: [templateid] },
    format,
    prettyprint: true,
  });
}
