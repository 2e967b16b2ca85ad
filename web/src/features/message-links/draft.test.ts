import { expect, test } from "vitest";
import { linkParams, linkProblems } from "./draft";

const stored = { url: "https://monitor.example.org/v/", link_lifetime: "24h" };

test("what the server has comes back unchanged", () => {
  expect(linkParams(stored)).toEqual(stored);
  expect(linkProblems(stored)).toEqual({});
  expect(linkProblems({ ...stored, url: "" })).toEqual({});
});

test.each([
  [{ url: "monitor.example.org" }, "url"],
  [{ url: "ftp://a" }, "url"],
  [{ url: "https://a b" }, "url"],
  [{ url: "https://a/?x" }, "url"],
  [{ link_lifetime: "59s" }, "link_lifetime"],
  [{ link_lifetime: "31d" }, "link_lifetime"],
  [{ link_lifetime: "" }, "link_lifetime"],
])("%o is refused", (change, field) => {
  expect(Object.keys(linkProblems({ ...stored, ...change }))).toEqual([field]);
});
