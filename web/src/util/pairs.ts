/** A name with its value, as the API has headers, query fields and variables. */
export interface Pair {
  name: string;
  value: string;
}

/** Pairs as lines of "name: value". */
export function pairsText(pairs: readonly Pair[]): string {
  return pairs.map((pair) => `${pair.name}: ${pair.value}`).join("\n");
}

/** The inverse of `pairsText`; lines without a colon are names. */
export function pairsOf(text: string): Pair[] {
  return text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => {
      const colon = line.indexOf(":");
      if (colon < 0) return { name: line.trim(), value: "" };
      return { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
    });
}
