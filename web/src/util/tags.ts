/** A tag as hosts, items and problems carry it. */
export interface Tag {
  tag: string;
  value: string;
}

/** A tag filter. Operators are the API's: 0 contains, 1 equals, 2 not like, 3 not equal, 4 exists, 5 not exists. */
export interface TagFilter extends Tag {
  operator: number;
}

const FORMS: [RegExp, number][] = [
  [/^!\s*([^:=~!]+)$/, 5],
  [/^([^:=~!]+)!=(.*)$/, 3],
  [/^([^:=~!]+)!~(.*)$/, 2],
  [/^([^:=~!]+)~(.*)$/, 0],
  [/^([^:=~!]+)[=:](.*)$/, 1],
  [/^([^:=~!]+)$/, 4],
];

/**
 * Reads one tag filter as people type it: `site`, `!site`, `site=riga` or `site:riga`, `site~ri`,
 * `site!=riga`, `site!~ri`. Null when there is no tag name in it.
 */
export function parseTagFilter(text: string): TagFilter | null {
  const trimmed = text.trim();
  for (const [form, operator] of FORMS) {
    const match = form.exec(trimmed);
    const tag = match?.[1]?.trim();
    if (match && tag) return { tag, value: (match[2] ?? "").trim(), operator };
  }
  return null;
}

/** Several filters, separated by commas. Unreadable parts are left out. */
export function parseTagFilters(text: string): TagFilter[] {
  return text
    .split(",")
    .map(parseTagFilter)
    .filter((f): f is TagFilter => f !== null);
}

/** A tag as a filter is typed that finds it. */
export function tagFilterText({ tag, value }: Tag): string {
  return value ? `${tag}=${value}` : tag;
}

/** Tags as the create and update methods take them; lines without a name are left out. */
export function tagParams(tags: readonly Tag[]): Tag[] {
  return tags.filter((tag) => tag.tag.trim()).map(({ tag, value }) => ({ tag: tag.trim(), value }));
}

/** A tag in one piece: `site: riga`, or `site` alone where it has no value. */
export function tagText(tag: Tag): string {
  return tag.value ? `${tag.tag}: ${tag.value}` : tag.tag;
}

/** Pixels: the smallest tag, and what a shortened one needs to be legible. */
const SMALLEST_PX = 32;
const LEGIBLE_PX = 56;
/** The space between tags, and that of "+99". */
const GAP_PX = 4;
const MORE_PX = 24;
/** A tag without text, and each character of it. */
const FRAME_PX = 14;
const CHARACTER_PX = 5.5;

function neededBy(text: string): number {
  return Math.max(SMALLEST_PX, Math.min(LEGIBLE_PX, FRAME_PX + CHARACTER_PX * text.length));
}

/**
 * How many of these tags fit a line, legibly and with "+n" for the others; at least one. Without
 * `room`, in pixels, as many as `max`.
 */
export function tagsThatFit(texts: readonly string[], max: number, room?: number): number {
  const most = Math.min(texts.length, max);
  if (room === undefined) return most;
  let best = Math.min(1, most);
  let used = -GAP_PX;
  for (let count = 1; count <= most; count++) {
    used += GAP_PX + neededBy(texts[count - 1] ?? "");
    const more = count < texts.length ? GAP_PX + MORE_PX : 0;
    if (used + more <= room) best = count;
  }
  return best;
}
