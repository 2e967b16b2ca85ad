export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Text of a scalar; empty for anything else. */
export const textOf = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

/** The object with members replaced; `undefined` removes one. Members that are not named stay. */
export function put(original: Json, members: Json): Json {
  const all = Object.entries({ ...original, ...members });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** The same text for values that differ only in the order of members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`,
  );
  return `{${members.sort().join()}}`;
}

/** Whether a form that writes `written` shows everything that `given` holds. */
export const isSame = (given: unknown, written: unknown) => canonical(given) === canonical(written);

export const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);
