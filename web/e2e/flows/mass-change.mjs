// Several items of a host and of a template get new values at once; the audit log shows each change.

import { call, dataRows, expect, go, heading, openHost, page, stamp, step } from "../lib.mjs";
import { baseTemplate, plainHost } from "../prepare.mjs";

const COUNT = 600;
const dialog = () => page.getByRole("dialog", { name: /^Change / });
const button = (name) => page.getByRole("button", { name });
const field = (name) => dialog().getByRole("textbox", { name, exact: true });
const choose = (name) => dialog().getByRole("checkbox", { name, exact: true }).check();

async function items(hostid) {
  return call("item.get", {
    output: ["name", "history", "delay", "status"],
    selectTags: ["tag", "value"],
    hostids: [hostid],
    sortfield: "name",
  });
}

export default async function () {
  const { host, hostid } = await plainHost("e2e-mass");
  const made = Array.from({ length: COUNT }, (_, n) => ({
    hostid,
    name: `Mass ${String(n).padStart(3, "0")} ${stamp}`,
    key_: `mass[${n}]`,
    // Each fifth is polled, the others are trappers.
    ...(n % 5 === 0 ? { type: 7, delay: "1m" } : { type: 2 }),
    value_type: 3,
    history: n % 2 === 0 ? "31d" : "7d",
  }));
  await call("item.create", made);
  await baseTemplate();

  await step("preview", async () => {
    await openHost(host);
    await page.getByRole("tab", { name: /^Latest data/ }).click();
    await button(`Change all ${COUNT} items…`).click();
    await choose("History");
    await field("History").fill("7d");
    await choose("Update interval");
    await dialog().getByText("Enter an update interval.").waitFor();
    await field("Update interval").fill("5m");
    await dialog().getByText("360 of 600 items change.").waitFor();
    await dialog()
      .getByText(/^Update interval of 480 items: Items of this type have/)
      .waitFor();
    const groups = dialog().getByRole("list", { name: "By old value" });
    await groups.getByText("300 items").waitFor();
    await groups.getByText("120 items").waitFor();
  });

  await step("change", async () => {
    await dialog().getByRole("button", { name: "Change 360 items" }).click();
    await dialog().getByText("360 items changed.").waitFor();
    await dialog().getByRole("button", { name: "Close" }).last().click();
    const all = await items(hostid);
    expect(
      all.every(({ history }) => history === "7d"),
      "an item has another history",
    );
    const polled = all.filter(({ delay }) => delay === "5m").length;
    expect(polled === COUNT / 5, `${polled} items have the new interval`);
  });

  await step("tags of selected items", async () => {
    await dataRows("Items").getByRole("checkbox").first().check();
    await dataRows("Items").getByRole("checkbox").nth(1).check();
    await button("Change 2 items…").click();
    await choose("Tags");
    await field("Tag name").fill("team");
    await field("Tag value").fill("mass");
    await dialog().getByText("2 of 2 items change.").waitFor();
    await dialog().getByRole("button", { name: "Change 2 items" }).click();
    await dialog().getByText("2 items changed.").waitFor();
    await dialog().getByRole("button", { name: "Close" }).last().click();
    const tagged = (await items(hostid)).filter(({ tags }) => tags.length > 0);
    expect(tagged.length === 2, `${tagged.length} items have the tag`);
  });

  await step("refused values", async () => {
    await button("Change 2 items…").click();
    await choose("History");
    // The server accepts at least an hour.
    await field("History").fill("5m");
    await dialog().getByRole("button", { name: "Change 2 items" }).click();
    const failed = dialog().getByRole("list", { name: "Failed items" });
    await failed
      .getByText(/value must be/)
      .first()
      .waitFor();
    expect((await failed.getByRole("listitem").count()) === 2, "not each item is named");
    await button("Retry 2 items").waitFor();
    await dialog().getByRole("button", { name: "Close" }).last().click();
  });

  await step("items of a template", async () => {
    const [template] = await call("template.get", { filter: { host: "E2E template" } });
    await go(`/templates/${template.templateid}`);
    await heading(/E2E template/).waitFor();
    await button(/^Change (item|all \d+ items)…/).click();
    await choose("State");
    await dialog()
      .getByText("Hosts that are linked to the template get the same change.")
      .waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await button("Discard changes").click();
    await dialog().waitFor({ state: "detached" });
  });

  await step("audit log", async () => {
    const id = (await call("item.get", { hostids: [hostid], filter: { key_: "mass[0]" } }))[0]
      .itemid;
    await go(`/audit?kind=15&id=${id}`);
    const rows = dataRows("Audit log");
    await rows.filter({ hasText: "1m → 5m" }).click();
    const entry = page.getByRole("complementary", { name: "Audit entry" });
    await entry.getByRole("row", { name: "history 31d 7d" }).waitFor();
    await entry.getByRole("row", { name: "delay 1m 5m" }).waitFor();
    await entry.getByRole("link", { name: /^Mass 000/ }).waitFor();
  });

  await step("entries of one call", async () => {
    const entry = page.getByRole("complementary", { name: "Audit entry" });
    await entry.getByRole("link", { name: "All entries of this call" }).click();
    await page.waitForURL(/set=/);
    await heading(/^Audit log/).waitFor();
    await dataRows("Audit log").nth(5).waitFor();
  });
}
