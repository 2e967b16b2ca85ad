/** The value of a select as one of those that the API takes; undefined if it is none of them. */
export function oneOf<const T extends string>(
  value: string | undefined,
  allowed: readonly T[],
): T | undefined {
  return allowed.find((one) => one === value);
}
