/** The words of a search text. */
export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Whether a label has all words of a search text, in any order and case. */
export function includesAll(label: string, text: string): boolean {
  const lower = label.toLowerCase();
  return wordsOf(text.toLowerCase()).every((word) => lower.includes(word));
}
