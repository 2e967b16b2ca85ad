/** Whether a text fits a pattern in which `*` stands for anything. Case does not matter. */
export function isWild(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "is").test(text);
}
