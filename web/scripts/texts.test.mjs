import { expect, test } from "vitest";
import { faults, literals } from "./texts.mjs";

const textsOf = (jsx) => literals(`const a = ${jsx};`).map(({ text }) => text);

test.each([
  ["<p>No values yet.</p>", ["No values yet."]],
  ["<p>\n  Two\n  lines\n</p>", ["Two lines"]],
  ['<Page title="Hosts" />', ["Hosts"]],
  ['<Page title={open ? "Open" : "Closed"} />', ["Open", "Closed"]],
  ['<p>{empty && "Nothing"}</p>', ["Nothing"]],
  ['<Pick options={[["0", "Enabled"]]} />', ["Enabled"]],
  ['toast("It was saved.", "good")', ["It was saved."]],
  ['confirmed("Delete it?", body, "Delete")', ["Delete it?", "Delete"]],
  ['text("name", "User name")', ["User name"]],
  ['new Error("The range is invalid.")', ["The range is invalid."]],
  ['show(many ? "Several hosts" : "one")', ["Several hosts"]],
  [`<Tick label={\`\${on ? "Disable" : "Enable"} \${name}\`} />`, ["Disable", "Enable"]],
  [`<p>{\`\${on ? "Disable" : "Enable"}: \${name}\`}</p>`, ["Disable", "Enable"]],
  ['<Tick label={"Enable " + name} />', ["Enable "]],
  ['[{ id: "host", header: "Host" }]', ["Host"]],
])("%s has texts outside of a catalog", (jsx, texts) => {
  expect(textsOf(jsx)).toEqual(texts);
});

test.each([
  "<p>{texts.noValues}</p>",
  `<Tick label={\`\${on ? texts.disable : texts.enable} \${name}\`} />`,
  '<p>{texts.count(rows.length + "1")}</p>',
  '<p className="text-soft">–</p>',
  '<Icon name="check" />',
  '<Link to="/hosts" />',
  "<Page title={texts.hosts} />",
  'cx("flex items-center", "Flex")',
  'useKeptState("edit dialog", null)',
  'route("/inside/hosts", "hostid", "ArrowDown")',
  '<p>{state === "open" ? texts.open : null}</p>',
])("%s has none", (jsx) => {
  expect(textsOf(jsx)).toEqual([]);
});

test("a text with values in it is one that counts", () => {
  expect(literals(`const a = <p>{\`Delete \${name}\`}</p>;`)).toHaveLength(1);
});

test("the numbers may only fall, and the list follows", () => {
  expect(faults({ a: 2 }, { a: 2 })).toEqual([]);
  expect(faults({ a: 3 }, { a: 2 })[0]).toContain("allowed 2");
  expect(faults({ b: 1 }, {})[0]).toContain("allowed 0");
  expect(faults({ a: 1 }, { a: 2 })[0]).toContain("--update");
  expect(faults({}, { a: 2 })[0]).toContain("--update");
});
