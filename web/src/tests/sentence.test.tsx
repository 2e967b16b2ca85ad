// @vitest-environment happy-dom
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Sentence } from "~/ui/sentence";

test("elements stand at the places of a sentence", () => {
  const text = "Open {page} or {other}, but not {$MACRO}.";
  const places = { page: <a href="/a">the page</a>, other: "another" } as never;
  const { container } = render(
    <p>
      <Sentence text={text} places={places} />
    </p>,
  );
  expect(container.textContent).toBe("Open the page or another, but not {$MACRO}.");
  expect(container.querySelector("a")?.getAttribute("href")).toBe("/a");
});
