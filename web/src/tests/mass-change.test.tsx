// @vitest-environment happy-dom
import { fireEvent, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3 });
  api.answers["item.update"] = (changes) => {
    const list = [changes].flat();
    for (const change of list) {
      const item = api.tables["item.get"]?.find(({ itemid }) => itemid === change.itemid);
      if (item) Object.assign(item, change);
    }
    return { itemids: list.map(({ itemid }) => itemid) };
  };
  return api;
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));

async function disableAll() {
  fireEvent.click(await screen.findByRole("button", { name: /^Change all/ }));
  const dialog = within(await screen.findByRole("dialog", { name: /^Change / }));
  fireEvent.click(await dialog.findByRole("checkbox", { name: "State" }));
  await dialog.findByText(/items change\.$/);
  return dialog;
}

test("all items that match a filter change after a preview", async () => {
  const api = estate();
  const count = api.tables["item.get"]?.length ?? 0;
  await openPage(api, "/latest");
  const dialog = await disableAll();
  dialog.getByText(`${count} of ${count} items change.`);
  expect(api.callsOf("item.update")).toEqual([]);
  press(`Change ${count} items`);
  await dialog.findByText(`${count} items changed.`);
  expect(api.tables["item.get"]?.every(({ status }) => status === "1")).toBe(true);
});

test("refused items are named", async () => {
  const api = estate();
  api.refuse("item.update", { code: -32602, message: "Invalid params.", data: "value is wrong" });
  await openPage(api, "/latest");
  const dialog = await disableAll();
  press(/^Change \d+ items$/);
  const failed = within(await dialog.findByRole("list", { name: "Failed items" }));
  const count = api.tables["item.get"]?.length ?? 0;
  expect(failed.getAllByText("value is wrong")).toHaveLength(count);
  expect(dialog.getByText("Changed").nextSibling?.textContent).toBe("0");
  dialog.getByRole("button", { name: `Retry ${count} items` });
});

test("users without the permission to configure hosts have no button", async () => {
  await openPage(estate(), "/latest", { type: 1 });
  await screen.findByRole("grid", { name: "Items" });
  expect(screen.queryByRole("button", { name: /^Change/ })).toBeNull();
});
