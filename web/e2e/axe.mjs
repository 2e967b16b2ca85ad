// Accessibility: what axe finds on the page that is shown.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, page } from "./lib.mjs";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const GRAVE = ["critical", "serious"];

/** Fails on critical and serious findings; `where` is part of the message. */
export async function accessible(where = "") {
  await page.evaluate(source);
  const { violations } = await page.evaluate(() =>
    globalThis.axe.run(document, { resultTypes: ["violations"] }),
  );
  const grave = violations.filter((violation) => GRAVE.includes(violation.impact));
  const words = grave.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html}`);
  expect(grave.length === 0, `accessibility ${where}: ${words.join("; ").slice(0, 400)}`);
}
