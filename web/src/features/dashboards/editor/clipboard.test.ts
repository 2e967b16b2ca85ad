// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { copyWidget, parseCopied } from "./clipboard";

const copied = {
  content: {
    type: "clock",
    name: "",
    hideHeader: false,
    fields: [{ type: "0", name: "show", value: "1" }],
  },
  size: { width: 12, height: 3 },
};

test("a copied widget is read again, other contents of the store are not", () => {
  copyWidget(copied);
  expect(parseCopied(localStorage.getItem("vedette.widget"))).toEqual(copied);
  for (const text of [null, "", "{", "{}", '{"content":{"type":1}}'])
    expect(parseCopied(text), String(text)).toBeNull();
  const { content } = copied;
  const wrong = { ...copied, content: { ...content, fields: [{ name: "show" }] } };
  expect(parseCopied(JSON.stringify(wrong))).toBeNull();
});
