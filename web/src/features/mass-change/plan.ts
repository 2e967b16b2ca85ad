import type { ItemChange, MassItem } from "~/api/mass-items";
import { Origin, Status } from "~/api/schema";
import { isNumeric } from "~/util/format";
import { hasInterval, hasTimeout, WEB_ITEM } from "~/util/item-types";
import { type Tag, tagParams, tagText } from "~/util/tags";
import { texts } from "./texts";

/** What a mass change can change, in the order of the form. */
export const FIELDS = ["status", "delay", "history", "trends", "timeout", "tags"] as const;
export type Field = (typeof FIELDS)[number];
type TextField = Exclude<Field, "tags">;

/** `replace`: the item has these tags alone afterwards. */
export type TagMode = "add" | "replace" | "remove";

export interface TagChange {
  mode: TagMode;
  tags: readonly Tag[];
}

/** New values; fields without one stay as they are. */
export type Changes = { readonly [F in TextField]?: string } & { readonly tags?: TagChange };

/** Why a field of an item cannot change. */
export type Reason = "permission" | "web" | "discovered" | "interval" | "trends" | "timeout";

/** Why this field of this item cannot change; null if it can. */
export function refusal(item: MassItem, field: Field): Reason | null {
  if (item.type === WEB_ITEM) return "web";
  if (!item.editable) return "permission";
  if (item.flags === Origin.Discovered && field !== "status") return "discovered";
  if (field === "delay" && !hasInterval(item)) return "interval";
  if (field === "trends" && !isNumeric(item.value_type)) return "trends";
  if (field === "timeout" && !hasTimeout(item)) return "timeout";
  return null;
}

const sameTag = (a: Tag) => (b: Tag) => a.tag === b.tag && a.value === b.value;

/** A tag without a value stands for all values when tags are removed. */
const removes = (a: Tag) => (b: Tag) => a.tag === b.tag && (a.value === "" || a.value === b.value);

function tagsAfter(old: readonly Tag[], { mode, tags }: TagChange): readonly Tag[] {
  const wanted = tagParams(tags);
  if (mode === "remove") return old.filter((tag) => !wanted.some((one) => removes(one)(tag)));
  const all = mode === "add" ? [...old, ...wanted] : wanted;
  return all.filter((tag, at) => all.findIndex(sameTag(tag)) === at);
}

const inWords = (tags: readonly Tag[]) => tags.map(tagText).sort().join(", ");

/** A value of a field as the preview shows it. */
function words(field: TextField, value: string): string {
  if (field === "status") return value === Status.Disabled ? texts.disabled : texts.enabled;
  if (field === "timeout") return value || texts.globalTimeout;
  return (field === "history" || field === "trends") && value === "0" ? texts.notStored : value;
}

/** What changes in a field, in words. */
export interface Difference {
  field: Field;
  before: string;
  after: string;
}

function difference(item: MassItem, field: Field, changes: Changes): Difference | null {
  if (field === "tags") {
    if (!changes.tags) return null;
    const [before, after] = [inWords(item.tags), inWords(tagsAfter(item.tags, changes.tags))];
    const shown = { before: before || texts.noTags, after: after || texts.noTags };
    return before === after ? null : { field, ...shown };
  }
  const wanted = changes[field];
  if (wanted === undefined || wanted === item[field]) return null;
  return { field, before: words(field, item[field]), after: words(field, wanted) };
}

const isWanted = (changes: Changes) => (field: Field) => changes[field] !== undefined;

/** What really changes in an item: fields that can change and have another value. */
export function differences(item: MassItem, changes: Changes): Difference[] {
  return FIELDS.flatMap((field) => {
    const found = refusal(item, field) ? null : difference(item, field, changes);
    return found ? [found] : [];
  });
}

/** Why an item cannot get all wanted values: the first reason. */
export function hindrance(item: MassItem, changes: Changes): Reason | null {
  for (const field of FIELDS.filter(isWanted(changes))) {
    const reason = refusal(item, field);
    if (reason) return reason;
  }
  return null;
}

/** What `item.update` takes; null if nothing changes. */
export function changeOf(item: MassItem, changes: Changes): ItemChange | null {
  const fields = differences(item, changes).map(({ field }) => field);
  if (fields.length === 0) return null;
  const members = fields.map((field) => [
    field,
    field === "tags" && changes.tags ? tagsAfter(item.tags, changes.tags) : changes[field],
  ]);
  return { itemid: item.itemid, ...Object.fromEntries(members) };
}

/** Items whose field goes from one value to another. */
export interface Group extends Difference {
  count: number;
}

export interface Refused {
  field: Field;
  reason: Reason;
  count: number;
}

/** What a change does to items. Each item is in `changing`, `same` or `blocked`. */
export interface Plan {
  changing: MassItem[];
  /** Number of items that have all values already. */
  same: number;
  /** Number of items of which no field can change. */
  blocked: number;
  /** Fields that cannot change, also of items that change otherwise. */
  refused: Refused[];
  /** The largest first. */
  groups: Group[];
  /** Number of changing items that a template has given to their host. */
  inherited: number;
}

function counted<T extends { count: number }>(into: Map<string, T>, key: string, fresh: T): void {
  const known = into.get(key);
  if (known) known.count++;
  else into.set(key, fresh);
}

export function planOf(items: readonly MassItem[], changes: Changes): Plan {
  const wanted = FIELDS.filter(isWanted(changes));
  const plan: Plan = { changing: [], same: 0, blocked: 0, refused: [], groups: [], inherited: 0 };
  const refused = new Map<string, Refused>();
  const groups = new Map<string, Group>();
  for (const item of items) {
    for (const field of wanted) {
      const reason = refusal(item, field);
      if (reason) counted(refused, `${field} ${reason}`, { field, reason, count: 1 });
    }
    const found = differences(item, changes);
    for (const one of found)
      counted(groups, JSON.stringify([one.field, one.before, one.after]), { ...one, count: 1 });
    if (found.length > 0) {
      plan.changing.push(item);
      if (item.templateid !== "0") plan.inherited++;
    } else if (hindrance(item, changes)) plan.blocked++;
    else plan.same++;
  }
  plan.refused = [...refused.values()].sort((a, b) => b.count - a.count);
  plan.groups = [...groups.values()].sort((a, b) => b.count - a.count);
  return plan;
}
