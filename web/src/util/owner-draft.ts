import { type Tag, tagParams } from "./tags";

/** What hosts, host prototypes and templates have in common, as their forms hold it. */
export interface OwnerDraft {
  /** The technical name. */
  host: string;
  /** The visible name; empty where it is the technical one. */
  name: string;
  groupids: string[];
  /** Templates that are linked. */
  templateids: string[];
  tags: Tag[];
}

interface Named {
  host: string;
  name: string;
  tags: Tag[];
}

interface Linked {
  templateid: string;
}

/** A draft of what is there, or of something new. */
export function ownerDraft(
  owner: Named | null,
  groups: readonly { groupid: string }[] = [],
  templates: readonly Linked[] = [],
): OwnerDraft {
  return {
    host: owner?.host ?? "",
    name: owner && owner.name !== owner.host ? owner.name : "",
    groupids: groups.map((group) => group.groupid),
    templateids: templates.map((template) => template.templateid),
    tags: owner?.tags ?? [],
  };
}

/** Templates that it had and the draft no longer has. */
export function unlinkedTemplates<T extends Linked>(
  draft: OwnerDraft,
  before: { parentTemplates: readonly T[] } | null,
): T[] {
  return before?.parentTemplates.filter((t) => !draft.templateids.includes(t.templateid)) ?? [];
}

/**
 * The draft as the create and update methods take it. What the `cleared` templates brought goes
 * with them; what others brought that are unlinked stays as its own.
 */
export function ownerParams(draft: OwnerDraft, cleared: readonly Linked[] = []) {
  const host = draft.host.trim();
  return {
    host,
    name: draft.name.trim() || host,
    groups: draft.groupids.map((groupid) => ({ groupid })),
    templates: draft.templateids.map((templateid) => ({ templateid })),
    templates_clear: cleared.length ? cleared.map(({ templateid }) => ({ templateid })) : undefined,
    tags: tagParams(draft.tags),
  };
}
