/** The number in a box; an empty one is the default of the engine. */
export const number = (text: string) => (text.trim() ? Number(text) : undefined);

/** Whether a box is empty or has a whole number within limits. */
export const within = (text: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  !text.trim() || (/^\d{1,16}$/.test(text.trim()) && Number(text) >= min && Number(text) <= max);

// RFC 9110, 5.6.2.
export const isToken = (name: string) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name);

const UNITS_MS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a time such as 500ms, 10s or 1h; null: it is none. */
export function milliseconds(text: string): number | null {
  const [, digits, unit = ""] = /^(\d{1,10})(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const time = Number(digits) * (UNITS_MS[unit] ?? 0);
  return time > 0 ? time : null;
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The field that a refusal of the server names, such as `'mirror.percent' …` or `poolid: …`. */
export function refusedField<F extends string>(refusal: string | undefined, fields: readonly F[]) {
  const [, member, above, why] = /^(?:'\w+\.(\w+)' .*|(\w+): (.*))$/s.exec(refusal ?? "") ?? [];
  const known = fields.find((one) => one === (member ?? above));
  return known ? { [known]: sentence(why ?? refusal ?? "") } : {};
}
