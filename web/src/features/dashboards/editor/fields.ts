// The fields of a widget as a form reads and writes them. Names of lists end in a number (`tags.0.tag`);
// fields that no setting names stay as they are.
import type { WidgetField } from "~/api/dashboards";

export type Fields = readonly WidgetField[];

export const NUMBER_FIELD = "0";
export const TEXT_FIELD = "1";

const REFERENCE = "_reference";

export const fieldValue = (fields: Fields, name: string): string | undefined =>
  fields.find((field) => field.name === name)?.value;

/** The fields with another value of one of them; undefined removes it. */
export function withValue(
  fields: Fields,
  name: string,
  type: string,
  value: string | undefined,
): Fields {
  if (value === undefined) return fields.filter((field) => field.name !== name);
  if (fields.some((field) => field.name === name))
    return fields.map((field) => (field.name === name ? { type, name, value } : field));
  return [...fields, { type, name, value }];
}

/** The number after a name, as in `severities.3`; null: the field is no element of the list. */
function indexIn(list: string, name: string): number | null {
  if (name === list) return 0;
  const rest = name.startsWith(`${list}.`) ? name.slice(list.length + 1) : "";
  return /^\d+$/.test(rest) ? Number(rest) : null;
}

/** The values of a list, in their order. Older templates have a single one without a number. */
export const listValues = (fields: Fields, name: string): string[] =>
  fields
    .flatMap((field) => {
      const index = indexIn(name, field.name);
      return index === null ? [] : [[index, field.value] as const];
    })
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);

/** The fields with other values of a list, which is then no reference. */
export function withList(
  fields: Fields,
  name: string,
  type: string,
  values: readonly string[],
): Fields {
  const others = fields.filter(
    (field) => indexIn(name, field.name) === null && field.name !== `${name}.${REFERENCE}`,
  );
  return [...others, ...values.map((value, n) => ({ type, name: `${name}.${n}`, value }))];
}

/** The number of the row that a field belongs to, and its name in the row: `0` and `tag` of `tags.0.tag`. */
function inRow(list: string, name: string): [number, string] | null {
  const rest = name.startsWith(`${list}.`) ? name.slice(list.length + 1) : "";
  const [, row, inner] = /^(\d+)\.(.+)$/.exec(rest) ?? [];
  return row === undefined || inner === undefined ? null : [Number(row), inner];
}

/** A row of a list of groups of fields; these have the names that they have in their row. */
export type NumberedRow = readonly [number: number, fields: Fields];

/** The rows of a list, in the order of their numbers. */
export function numberedRows(fields: Fields, name: string): NumberedRow[] {
  const rows = new Map<number, WidgetField[]>();
  for (const field of fields) {
    const found = inRow(name, field.name);
    if (!found) continue;
    const [row, inner] = found;
    rows.set(row, [...(rows.get(row) ?? []), { ...field, name: inner }]);
  }
  return [...rows].sort(([a], [b]) => a - b);
}

export const rowsOf = (fields: Fields, name: string): Fields[] =>
  numberedRows(fields, name).map(([, row]) => row);

/** The fields with other rows of a list, under these numbers. */
export function withNumberedRows(
  fields: Fields,
  name: string,
  rows: readonly NumberedRow[],
): Fields {
  const others = fields.filter((field) => !inRow(name, field.name));
  return [
    ...others,
    ...rows.flatMap(([number, row]) =>
      row.map((field) => ({ ...field, name: `${name}.${number}.${field.name}` })),
    ),
  ];
}

/** The fields with other rows of a list, numbered from 0. A row without fields is none. */
export const withRows = (fields: Fields, name: string, rows: readonly Fields[]): Fields =>
  withNumberedRows(
    fields,
    name,
    rows.filter((row) => row.length > 0).map((row, n) => [n, row] as const),
  );

/** What a setting reads from the dashboard or another widget, as `DASHBOARD._hostid`; "": nothing. */
export const referenceOf = (fields: Fields, name: string): string =>
  fieldValue(fields, `${name}.${REFERENCE}`) ?? "";

/** The fields with a reference in place of all other values of the setting; "" removes it. */
export function withReference(fields: Fields, name: string, reference: string): Fields {
  const others = fields.filter((field) => !field.name.startsWith(`${name}.`));
  if (!reference) return others;
  return [...others, { type: TEXT_FIELD, name: `${name}.${REFERENCE}`, value: reference }];
}
