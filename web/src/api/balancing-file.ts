import { rpc } from "./client";
import type { ComparedKind } from "./configuration";
import type { TouchedService } from "./engines";

/** Objects of the load balancer as a file. */
export interface BalancingFile {
  source: string;
  /** What is not in the file, such as private keys. */
  left_out: { object: string; name: string; what: string }[];
}

/** An object that stays by name, beside those that change. */
export interface FileKind extends ComparedKind {
  unchanged?: string[];
  skipped?: string[];
}

/** What an import changes. */
export interface BalancingImport {
  /** By kind, such as "pools". */
  objects: Record<string, FileKind>;
  /** Services that engines get or lose, or that change. */
  services: TouchedService[];
  /** Members of the file that only a lone engine uses. */
  ignored: string[];
}

const KINDS = [
  "engine_groups",
  "vips",
  "certificates",
  "health_monitors",
  "pools",
  "pool_groups",
  "virtual_services",
] as const;

export interface FileImport {
  source: string;
  rules: Record<string, { createMissing: true; updateExisting: true; deleteMissing: boolean }>;
  enginegroupid?: string;
}

interface Choice {
  source: string;
  /** Engine group of services for which the file names none; empty: there is none. */
  group: string;
  /** Objects that the file does not have are deleted. */
  remove: boolean;
}

function params({ source, group, remove }: Choice): FileImport {
  const rule = { createMissing: true, updateExisting: true, deleteMissing: remove } as const;
  const rules = Object.fromEntries(KINDS.map((kind) => [kind, rule]));
  return group ? { source, rules, enginegroupid: group } : { source, rules };
}

/** These services with all that they use, or everything. */
export const exportBalancing = (virtualserviceids: string[]) =>
  rpc("loadbalancer.export", virtualserviceids.length > 0 ? { virtualserviceids } : {});

export const compareBalancing = (choice: Choice) =>
  rpc("loadbalancer.importcompare", params(choice));

export const importBalancing = (choice: Choice) => rpc("loadbalancer.import", params(choice));
