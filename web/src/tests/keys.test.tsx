// @vitest-environment happy-dom
import { createEvent, fireEvent, screen } from "@testing-library/react";
import { test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

/** Presses a key at a time in ms. */
function press(key: string, at: number) {
  const event = createEvent.keyDown(document.body, { key });
  Object.defineProperty(event, "timeStamp", { value: at });
  fireEvent(document.body, event);
}

const title = (name: RegExp) => screen.findByRole("heading", { level: 1, name });

test("the letter of a page counts for a while after its own g", async () => {
  await openPage(mockEstate({ hosts: 1 }), "/");
  press("g", 0);
  press("p", 100);
  await title(/^Problems/);
  press("g", 1_100);
  press("h", 1_300);
  await title(/^Hosts/);
  // A key that comes too late is none of a page.
  press("g", 5_000);
  press("?", 6_300);
  await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
});
