/** The address's query as plain words: lists are joined by commas, so that addresses stay readable. */
export type Search = Record<string, string | undefined>;

export function parseSearch(text: string): Search {
  const search: Search = {};
  for (const [key, value] of new URLSearchParams(text)) search[key] = value;
  return search;
}

const readable = (text: string) =>
  encodeURIComponent(text)
    .replaceAll("%2C", ",")
    .replaceAll("%3A", ":")
    .replaceAll("%2F", "/")
    .replaceAll("%20", "+");

export function stringifySearch(search: Record<string, unknown>): string {
  const parts: string[] = [];
  for (const [key, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === "") continue;
    parts.push(`${readable(key)}=${readable(String(value))}`);
  }
  return parts.length ? `?${parts.join("&")}` : "";
}

/** A list out of the address; an absent one is empty. */
export function listOf(value: string | undefined): string[] {
  return value ? value.split(",").filter(Boolean) : [];
}

/** A list for the address; an empty one disappears from it. */
export function listTo(values: readonly (string | number)[]): string | undefined {
  return values.length ? values.join(",") : undefined;
}

/** Whether something in the address narrows a list: a word that `none` takes out of it. */
export function isNarrowed(search: object, none: object): boolean {
  return Object.entries(search).some(([word, value]) => value && word in none);
}

/** Words whose next value takes the place of the last one: typing, sorting, moving between rows. */
const REPLACED = new Set(["text", "tags", "event"]);
const NEVER_ADDED = new Set(["sort", "desc"]);

/**
 * Whether a change of the address replaces its entry in the browser's history. What opens something
 * (a filter, the details of a row) adds an entry, so that Back closes it before it leaves the page.
 */
export function replacesEntry(old: Search, next: object): boolean {
  return Object.entries(next).every(([word, value]) => {
    if (NEVER_ADDED.has(word) || (old[word] ?? "") === (value ?? "")) return true;
    return REPLACED.has(word) && Boolean(old[word]) && Boolean(value);
  });
}

/** Only the known words of a query, so that a stranger's address cannot put others in. */
export function pickSearch<K extends string>(
  search: Record<string, unknown>,
  keys: readonly K[],
): Partial<Record<K, string>> {
  const picked: Partial<Record<K, string>> = {};
  for (const key of keys) {
    const value = search[key];
    if (value !== undefined && value !== null && value !== "") picked[key] = String(value);
  }
  return picked;
}
