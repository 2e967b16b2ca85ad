import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the packages have the version of the workspace", () => {
  const [, version] = /^\[workspace\.package\]\n(?:.+\n)*?version = "(.+)"$/m.exec(
    read("../../Cargo.toml"),
  );
  const lock = JSON.parse(read("../package-lock.json"));
  const is = [JSON.parse(read("../package.json")), lock, lock.packages[""]].map(
    (part) => part.version,
  );
  expect(is).toEqual([version, version, version]);
});
