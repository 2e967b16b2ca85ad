import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

const load = async (navigator: object) => {
  vi.stubGlobal("navigator", navigator);
  vi.resetModules();
  return import("./copy");
};

test.each([
  ["a page in clear text", {}, false],
  ["a page with TLS", { clipboard: { writeText: () => Promise.resolve() } }, true],
])("%s: a copy is offered only where it works", async (_, navigator, can) => {
  expect((await load(navigator)).canCopy).toBe(can);
});
