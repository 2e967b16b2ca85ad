import type { GetMethod, Gets, RowOf } from "../gets";

/** All that `select…` can add. */
type All<M extends GetMethod> = { [K in keyof Gets[M]["selects"]]: "extend" };
/** Rows of a relation, of which a mock writes the members that its readers use. */
type Loose<T> = T extends readonly (infer R)[] ? readonly Partial<R>[] : T;

/** A stored row: any fields, and the related rows under the names that `select…` gives them. */
export type Stored<M extends GetMethod> = Partial<Gets[M]["row"]> & {
  [K in Exclude<keyof RowOf<M, All<M>>, keyof Gets[M]["row"]>]?: Loose<RowOf<M, All<M>>[K]>;
} & Narrowing;

/** What parameters narrow by and no field has: a problem's host, an item's group. */
interface Narrowing {
  hosts?: readonly { hostid?: string; name?: string; host?: string; status?: "0" | "1" }[];
  hostgroups?: readonly { groupid?: string; name?: string }[];
  /** Of a maintenance: what the server computes for `states`. */
  state?: string;
}

export type Tables = { [M in GetMethod]?: Stored<M>[] };

type Row = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, unknown>>;

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];
const textOf = (value: unknown) => String(value ?? "").toLowerCase();

/** Whether the row, or one of its related rows, has one of these ids. */
function hasId(row: Row, key: string, ids: readonly unknown[]): boolean {
  const list = row[`${key}s`];
  if (Array.isArray(list)) return ids.some((id) => list.includes(String(id)));
  if (key in row) return ids.some((id) => String(id) === String(row[key]));
  const related = Object.values(row).filter(Array.isArray).flat() as Row[];
  return related.some((one) => ids.some((id) => String(id) === String(one[key])));
}

function fitsTag(row: Row, filter: { tag: string; value: string; operator: number }): boolean {
  const same = (listOf(row.tags) as { tag: string; value: string }[]).filter(
    (tag) => tag.tag === filter.tag,
  );
  const equal = same.some((tag) => tag.value === filter.value);
  const like = same.some((tag) => textOf(tag.value).includes(textOf(filter.value)));
  return [like, equal, !like, !equal, same.length > 0, same.length === 0][filter.operator] ?? false;
}

function found(row: Row, params: Params): boolean {
  const search = Object.entries(params.search ?? {}) as [string, unknown][];
  const hits = search.map(([field, text]) =>
    listOf(text).every((word) => textOf(row[field]).includes(textOf(word))),
  );
  return hits.length === 0 || (params.searchByAny ? hits.some(Boolean) : hits.every(Boolean));
}

const SEVERITIES = "severities";

/** Whether the parameters of a `get` let a row pass. */
function passes(row: Row, params: Params): boolean {
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (name.endsWith("ids") && !hasId(row, name.slice(0, -1), listOf(value))) return false;
    if (name === SEVERITIES && !listOf(value).includes(Number(row.severity))) return false;
    if (name === "states" && !listOf(value).includes(row.state)) return false;
    if ((name === "acknowledged" || name === "suppressed") && row[name] !== (value ? "1" : "0"))
      return false;
    if (name === "value" && Number(row.value ?? 1) !== value) return false;
    if (name === "time_from" && Number(row.clock) < Number(value)) return false;
    if (name === "time_till" && Number(row.clock) > Number(value)) return false;
  }
  const filter = Object.entries(params.filter ?? {}) as [string, unknown][];
  const tags = listOf(params.tags) as { tag: string; value: string; operator: number }[];
  return (
    filter.every(([field, wanted]) => listOf(wanted).map(String).includes(String(row[field]))) &&
    tags.every((tag) => fitsTag(row, tag)) &&
    found(row, params)
  );
}

function compare(a: Row, b: Row, fields: readonly string[], down: boolean): number {
  for (const field of fields) {
    const [x, y] = [a[field], b[field]];
    const order =
      Number(x) - Number(y) || (String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0);
    if (order !== 0) return down ? -order : order;
  }
  return 0;
}

const pick = (row: Row, fields: readonly string[]) =>
  Object.fromEntries(fields.map((field) => [field, row[field] === undefined ? "" : row[field]]));

/** `selectHostGroups` → `hostgroups`: the member that has this name, whatever its case. */
function relation(row: Row, select: string): string {
  const plain = select.slice("select".length).toLowerCase();
  const names: Record<string, string> = { lldmacropaths: "lld_macro_paths" };
  const known = names[plain] ?? plain;
  return (
    Object.keys(row).find((key) => key.toLowerCase().replaceAll("_", "") === known) ??
    known.replace("hostgrouprights", "hostgroup_rights")
  );
}

function shown(row: Row, params: Params): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const related = new Set(Object.keys(row).filter((key) => typeof row[key] === "object"));
  if (Array.isArray(params.output)) Object.assign(result, pick(row, params.output));
  else for (const key of Object.keys(row)) if (!related.has(key)) result[key] = row[key];
  for (const [select, wanted] of Object.entries(params)) {
    if (!select.startsWith("select") || wanted === undefined) continue;
    const name = relation(row, select);
    const value = row[name] ?? [];
    if (wanted === "count") result[name] = String(listOf(value).length);
    else if (!Array.isArray(wanted)) result[name] = value;
    else if (Array.isArray(value)) result[name] = value.map((one: Row) => pick(one, wanted));
    else result[name] = pick(value as Row, wanted);
  }
  return result;
}

/** `groupBy` clock and severity: numbers of rows by steps of time. */
function grouped(rows: readonly Row[], params: Params): unknown {
  const [from, step] = [Number(params.time_from), Number(params.step)];
  const groups = new Map<string, { clock: string; severity: string; rowscount: string }>();
  for (const row of rows) {
    const clock = String(from + Math.floor((Number(row.clock) - from) / step) * step);
    const severity = String(row.severity);
    const group = groups.get(`${clock} ${severity}`);
    const rowscount = String(Number(group?.rowscount ?? 0) + 1);
    groups.set(`${clock} ${severity}`, { clock, severity, rowscount });
  }
  return [...groups.values()];
}

/** Answers a `get` from stored rows: narrowed, counted or sorted and limited, with what is asked of each. */
export function read(rows: readonly object[], wanted: Params): unknown {
  const passing = (rows as readonly Row[]).filter((row) => passes(row, wanted));
  if (wanted.step) return grouped(passing, wanted);
  if (wanted.countOutput) return String(passing.length);
  const fields = listOf(wanted.sortfield) as string[];
  const sorted = passing.toSorted((a, b) => compare(a, b, fields, wanted.sortorder === "DESC"));
  const offset = Number(wanted.offset ?? 0);
  return sorted
    .slice(offset, offset + Number(wanted.limit ?? sorted.length))
    .map((row) => shown(row, wanted));
}
