import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const src = join(import.meta.dirname, "..", "src");
const sources = readdirSync(src, { recursive: true }).filter(
  (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
);

/** What makes a text of a moment, except ISO texts for machines. */
const WRITES = /\.toLocale(?:Date|Time)String\(|\bDateTimeFormat\(|\.get(?:FullYear|Month)\(/;
/** Where times become texts, and where days and months are counted. */
const MAY = ["util/maintenance.ts", "util/silence.ts", "util/time.ts", "util/zone.ts"];

test("there is one format of dates: only util/time writes them", () => {
  const found = sources.filter((file) => WRITES.test(readFileSync(join(src, file), "utf8")));
  expect(found.filter((file) => !MAY.includes(file))).toEqual([]);
  expect(found).toContain("util/time.ts");
});
