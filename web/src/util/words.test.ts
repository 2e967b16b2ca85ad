import { describe, expect, it } from "vitest";
import { includesAll } from "./words";

describe("includesAll", () => {
  const cases: [string, string, boolean][] = [
    ["web-01 CPU load", "web-01 cpu", true],
    ["web-01 CPU load", "  load   WEB ", true],
    ["web-01 CPU load", "web-02 cpu", false],
    ["anything", "", true],
  ];
  it.each(cases)("%s for %s: %s", (label, text, found) => {
    expect(includesAll(label, text)).toBe(found);
  });
});
