import type { GroupPrototype, HostPrototypeDetail } from "~/api/host-prototypes";
import type { Macro } from "~/api/hosts";
import type { Members } from "~/api/methods";
import { Discover, Status } from "~/api/schema";
import { type HostInterface, interfaceParams } from "~/util/interfaces";
import { macroParams, macrosProblem, withoutLldMacros } from "~/util/macros";
import { oneOf } from "~/util/one-of";
import { type OwnerDraft, ownerDraft, ownerParams } from "~/util/owner-draft";

/** A host prototype as the form holds it. */
export interface HostPrototypeDraft extends OwnerDraft {
  /** Its hosts are monitored. */
  monitored: boolean;
  /** Discovery makes hosts of it. */
  discovered: boolean;
  /** Names of groups with discovery macros, one a line. */
  groupNames: string;
  /** The groups of `groupNames` as they are saved. */
  savedGroups: GroupPrototype[];
  /** -1 off, 0 by hand, 1 automatic. */
  inventory: string;
  /** "0" those of the rule's host, "1" its own. */
  custom: "0" | "1";
  interfaces: HostInterface[];
  macros: Macro[];
}

export function draftOf(prototype: HostPrototypeDetail | null): HostPrototypeDraft {
  return {
    ...ownerDraft(prototype, prototype?.groupLinks, prototype?.templates),
    monitored: prototype?.status !== Status.Disabled,
    discovered: prototype?.discover !== Discover.No,
    groupNames: prototype?.groupPrototypes.map((group) => group.name).join("\n") ?? "",
    savedGroups: prototype?.groupPrototypes ?? [],
    inventory: prototype?.inventory_mode ?? "-1",
    custom: prototype?.custom_interfaces === "1" ? "1" : "0",
    interfaces: prototype?.interfaces ?? [],
    macros: prototype?.macros ?? [],
  };
}

const linesOf = (text: string) => [
  ...new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ),
];

function hostProblem(host: string): string | undefined {
  const rest = withoutLldMacros(host);
  if (!host.trim()) return "Enter a host name.";
  if (rest === host) {
    return "The host name must contain a discovery macro, such as {#NAME}, so that each host has a unique name.";
  }
  if (!/^[\w .-]*$/.test(rest)) {
    return "Besides discovery macros, use only letters, digits, spaces, dots, dashes and underscores.";
  }
  return undefined;
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function problemsOf(draft: HostPrototypeDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  const put = (field: string, problem: string | undefined) => {
    if (problem) problems[field] = problem;
  };
  put("host", hostProblem(draft.host));
  put("groups", draft.groupids.length ? undefined : "Choose at least one group.");
  const plain = linesOf(draft.groupNames).find((name) => withoutLldMacros(name) === name);
  put(
    "groupNames",
    plain && `"${plain}" contains no discovery macro. Choose existing groups above.`,
  );
  put("macros", macrosProblem(draft.macros));
  return problems;
}

/**
 * Groups by their names. A changed line keeps the id of the one that it was, in order: so groups
 * that were discovered are renamed, with their hosts and rights, instead of created again.
 */
function groupPrototypes(draft: HostPrototypeDraft): Partial<GroupPrototype>[] {
  const names = linesOf(draft.groupNames);
  const saved = new Map(draft.savedGroups.map((group) => [group.name, group.group_prototypeid]));
  const freed = draft.savedGroups.filter((group) => !names.includes(group.name));
  return names.map((name) => {
    const id = saved.get(name) ?? freed.shift()?.group_prototypeid;
    return id ? { group_prototypeid: id, name } : { name };
  });
}

/**
 * The draft as `hostprototype.create` and `.update` take it. What comes from a template takes its
 * state alone.
 */
export function paramsOf(draft: HostPrototypeDraft, inherited: boolean): Members<"hostprototype"> {
  const state = {
    status: draft.monitored ? "0" : "1",
    discover: draft.discovered ? "0" : "1",
  } satisfies Members<"hostprototype">;
  if (inherited) return state;
  const { groups, ...members } = ownerParams(draft);
  return {
    ...state,
    ...members,
    groupLinks: groups,
    groupPrototypes: groupPrototypes(draft),
    inventory_mode: oneOf(draft.inventory, ["-1", "0", "1"]),
    custom_interfaces: oneOf(draft.custom, ["0", "1"]),
    interfaces: draft.custom === "1" ? draft.interfaces.map(interfaceParams) : [],
    macros: macroParams(draft.macros),
  };
}
