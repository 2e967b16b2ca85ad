import { SEVERITY_NAMES, Status } from "~/api/schema";
import { itemTypeName, valueTypeName } from "./item-types";
import { formatClock } from "./time";

/** What an entry is about, by the API's number of an action. */
export const AUDIT_ACTIONS = [
  ["0", "Add"],
  ["1", "Update"],
  ["2", "Delete"],
  ["7", "Execute"],
  ["8", "Sign in"],
  ["9", "Failed sign-in"],
  ["4", "Sign out"],
] as const;

/** Actions that the log shows in another way. */
export const OBJECT_DELETED = "2";
export const SIGN_IN_FAILED = "9";

/** The kind of users. */
export const AUDITED_USER = "0";

/** The kinds of objects, by the API's number. */
export const AUDIT_RESOURCES = [
  ["5", "Action"],
  ["42", "Authentication"],
  ["38", "Autoregistration"],
  ["1008", "Avi object"],
  ["1004", "Certificate"],
  ["34", "Event correlation"],
  ["52", "Discovery rule"],
  ["1006", "Engine"],
  ["1005", "Engine group"],
  ["1003", "Health monitor"],
  ["4", "Host"],
  ["14", "Host group"],
  ["37", "Host prototype"],
  ["41", "Housekeeping"],
  ["15", "Item"],
  ["36", "Item prototype"],
  ["29", "Macro"],
  ["27", "Maintenance"],
  ["3", "Media type"],
  ["23", "Network discovery rule"],
  ["1009", "On-call schedule"],
  ["1002", "Pool"],
  ["1007", "Pool group"],
  ["1100", "Problem"],
  ["26", "Proxy"],
  ["55", "Proxy group"],
  ["28", "Regular expression"],
  ["44", "Role"],
  ["25", "Script"],
  ["18", "Service"],
  ["40", "Settings"],
  ["48", "SLA"],
  ["30", "Template"],
  ["50", "Template group"],
  ["45", "Token"],
  ["13", "Trigger"],
  ["31", "Trigger prototype"],
  ["0", "User"],
  ["11", "User group"],
  ["17", "Value map"],
  ["1001", "VIP"],
  ["1000", "Virtual service"],
  ["22", "Web scenario"],
] as const;

const named = (list: readonly (readonly [string, string])[], number: string) =>
  list.find(([one]) => one === number)?.[1];

export const auditActionName = (action: string): string =>
  named(AUDIT_ACTIONS, action) ?? `Action ${action}`;

export const auditResourceName = (resource: string): string =>
  named(AUDIT_RESOURCES, resource) ?? `Kind ${resource}`;

/** How a field, or a part of a list, changed. */
export type ChangeKind = "add" | "update" | "delete";

/** A changed field. */
export interface AuditChange {
  /** Such as "history", "macros", "interfaces". */
  field: string;
  kind: ChangeKind;
  /** Null: the field, or the part, did not exist, or the log does not have its value. */
  before: string | null;
  after: string | null;
}

/** Whose value 0 means that an object is off; with all others 1 does. */
const ZERO_IS_OFF = new Set(["sla"]);

/** A value in words where its number is known. */
function inWords(word: string, field: string, value: string): string {
  if (field === "status" && (value === Status.Enabled || value === Status.Disabled)) {
    const isOff = (value === Status.Enabled) === ZERO_IS_OFF.has(word);
    return isOff ? "Disabled" : "Enabled";
  }
  if (/^(item|itemprototype|discoveryrule)$/.test(word)) {
    if (field === "type") return itemTypeName(value);
    if (field === "value_type") return valueTypeName(value);
  }
  if (/^trigger/.test(word) && field === "priority") return SEVERITY_NAMES[Number(value)] ?? value;
  const isMoment = /(_since|_till|_at|expires_at|^clock)$/.test(field);
  return isMoment && /^\d{9,10}$/.test(value) ? formatClock(Number(value)) : value;
}

/** `item.tags[5].value`: the object's word, the field, and for parts of lists which part and its member. */
const PATH = /^([^.[]+)\.([^[]+?)(?:\[([^\]]*)\])?(?:\.(.+))?$/;

interface Detail {
  word: string;
  field: string;
  /** Which part of a list; undefined: the field itself. */
  part: string | undefined;
  member: string;
  kind: ChangeKind;
  after: string | null;
  before: string | null;
}

const textOf = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

function detailOf(path: string, value: unknown): Detail | null {
  const [, word = "", field = "", part, member = ""] = PATH.exec(path) ?? [];
  const [kind, ...values] = Array.isArray(value) ? value : [];
  if (!field || (kind !== "add" && kind !== "update" && kind !== "delete")) return null;
  // Deletions have the old value alone.
  const [first, second] = values.map(textOf);
  const after = kind === "delete" ? null : (first ?? null);
  const before = kind === "delete" ? (first ?? null) : (second ?? null);
  return { word, field, part, member, kind, after, before };
}

/** The members of one part of a list as a line, without its id: "tag: site, value: riga". */
function joined(details: readonly Detail[], side: "before" | "after"): string | null {
  const texts = details.flatMap(({ word, member, [side]: value }) =>
    !member || /^[a-z_]+id$/.test(member) || value === null || value === ""
      ? []
      : [`${member}: ${inWords(word, member, value)}`],
  );
  return texts.length ? texts.join(", ") : null;
}

function partOf(details: readonly Detail[]): AuditChange {
  const {
    field = "",
    part = "",
    kind = "update",
  } = details.find(({ member }) => member === "") ?? details[0] ?? {};
  const [before, after] = [joined(details, "before"), joined(details, "after")];
  // Entries of deletions name the part by its id alone.
  const id = `id ${part}`;
  if (kind === "delete") return { field, kind, before: before ?? id, after: null };
  return { field, kind, before, after: after ?? (before === null ? id : null) };
}

/** The changed fields of an entry, parts of lists as one line each; null if the details cannot be read. */
export function auditChanges(details: string): AuditChange[] | null {
  if (details === "" || details === "{}" || details === "[]") return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(details);
  } catch {
    return null;
  }
  if (typeof parsed !== "object" || parsed === null) return null;
  const groups = new Map<string, Detail[]>();
  for (const [path, value] of Object.entries(parsed)) {
    const detail = detailOf(path, value);
    if (!detail) return null;
    const { field, part, member } = detail;
    const key = part === undefined ? `${field}.${member}` : `${field}[${part}]`;
    groups.set(key, [...(groups.get(key) ?? []), detail]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    if (first.part !== undefined) return [partOf(group)];
    const { word, kind, member, before, after } = first;
    const field = member ? `${first.field}.${member}` : first.field;
    const shown = (value: string | null) => (value === null ? null : inWords(word, field, value));
    return [{ field, kind, before: shown(before), after: shown(after) }];
  });
}
