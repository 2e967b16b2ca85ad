// @vitest-environment happy-dom
import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const clipboard = vi.hoisted(() => ({ works: true, copied: [] as string[] }));
vi.mock("~/ui/copy", () => ({
  get canCopy() {
    return clipboard.works;
  },
  copy: (text: string) => clipboard.copied.push(text),
}));

beforeEach(() => {
  clipboard.copied = [];
});

async function openGraph(works: boolean) {
  clipboard.works = works;
  const api = mockEstate({ hosts: 1 });
  await openPage(api, `/graph?items=${api.tables["item.get"]?.[0]?.itemid}`);
  await screen.findByRole("button", { name: "Check now" });
}

test("a graph offers a link to itself", async () => {
  await openGraph(true);
  fireEvent.click(screen.getByRole("button", { name: "Copy link" }));
  expect(clipboard.copied).toEqual([location.href]);
});

test("without access to the clipboard there is no button that would fail", async () => {
  await openGraph(false);
  expect(screen.queryByRole("button", { name: "Copy link" })).toBeNull();
});
