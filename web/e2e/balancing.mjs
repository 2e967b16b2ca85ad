// The load balancer: pool, VIP, engine group and service are made, edited, refused, deleted.

import { call, dataRows, expect, go, heading, link, page, stamp, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const name = () => page.getByRole("textbox", { name: "Name *", exact: true });
const box = (label) => page.getByRole("textbox", { name: label, exact: true });
const POOL = `E2E pool ${stamp}`;
const SERVICE = `E2E shop ${stamp}`;
const VIP = `E2E address ${stamp}`;
const GROUP = `E2E edge ${stamp}`;

async function create(kind, word) {
  await go(`/balancing/${kind}`);
  await link(`Create ${word}`).first().click();
  await heading(`Create ${word}`).waitFor();
}

/** Confirms a switch of one service, whose effect is shown. */
async function switched(action, effect) {
  await dialog().getByText(effect, { exact: false }).waitFor();
  await dialog().getByRole("button", { name: action, exact: true }).click();
  await dialog().getByText("Its engine group has no engines yet.").waitFor();
  await page.keyboard.press("Escape");
}

/** The text of one row of a list. */
const row = (grid, of) => dataRows(grid).filter({ hasText: of });

export async function balancing() {
  await step("create pool", async () => {
    await create("pools", "pool");
    await button("Create pool").click();
    await page.getByText("Enter a name.").first().waitFor();
    await name().fill(POOL);
    const servers = page.getByRole("textbox", { name: "IP address", exact: true });
    await servers.first().fill("10.0.0.11.5");
    await button("Add server").click();
    await servers.nth(1).fill("10.0.0.12");
    await button("Create pool").click();
    // The server's own words, at the table of servers.
    await page.getByText("1/address: an IPv4 or IPv6 address is expected.").waitFor();
    await servers.first().fill("10.0.0.11");
    await page.getByLabel("Algorithm").selectOption({ label: "Least connections" });
    await button("Create pool").click();
    await row("Pools", POOL).getByText("Least connections").waitFor();
    await row("Pools", POOL).getByText("2", { exact: true }).waitFor();
  });

  await step("create VIP and engine group", async () => {
    await create("vips", "VIP");
    await name().fill(VIP);
    await box("IPv4 address").fill("192.0.2.300");
    await button("Create VIP").click();
    await page.getByText("An IPv4 address is expected.", { exact: true }).waitFor();
    await box("IPv4 address").fill("192.0.2.30");
    await button("Create VIP").click();
    await row("VIPs", VIP).getByText("192.0.2.30").waitFor();
    await create("engine-groups", "engine group");
    await name().fill(GROUP);
    await button("Create engine group").click();
    await row("Engine groups", GROUP).waitFor();
  });

  await step("create virtual service", async () => {
    await create("services", "virtual service");
    await name().fill(SERVICE);
    await page.getByLabel("VIP *").selectOption({ label: `${VIP} (192.0.2.30)` });
    await page.getByLabel("Pool *").selectOption({ label: POOL });
    await page.getByLabel("Engine group *").selectOption({ label: GROUP });
    await box("Port *").fill("8080");
    await button("Create virtual service").click();
    await row("Virtual services", SERVICE).getByText("192.0.2.30:8080").waitFor();
  });

  await step("placement of an engine group", async () => {
    await go("/balancing/engine-groups");
    await link(GROUP).click();
    await heading(new RegExp(GROUP)).waitFor();
    await page.getByText("The group has no engines.").waitFor();
    await page.getByRole("tab", { name: "Load" }).click();
    await page.getByText("No engine of this group has reported figures recently.").waitFor();
    await link("Edit engine group").click();
    await page.getByLabel("Mode").selectOption({ label: "Active/standby" });
    await button("Save engine group").click();
    await heading(/Active\/standby/).waitFor();
    const [saved] = await call("enginegroup.get", { filter: { name: GROUP } });
    expect(saved.ha_mode === "2", `the mode is ${saved.ha_mode}`);
    await go("/balancing/services");
  });

  await step("edit virtual service", async () => {
    await link(SERVICE).click();
    await heading(`Edit ${SERVICE}`).waitFor();
    await box("Port *").fill("8081");
    await box("Response").fill("90s");
    await page.getByLabel("Compress responses").check();
    await button("Add Basic policy").click();
    await box("Policy name *").fill("staff");
    await button("Add user").click();
    await box("User").fill("alice");
    await page.getByLabel("Password hash").fill("$6$salt$hash");
    await page.getByLabel("Authentication for all requests").selectOption("staff");
    await button("Save virtual service").click();
    await dialog().getByText("Stops accepting connections on 192.0.2.30:8080.").waitFor();
    await dialog().getByRole("button", { name: "Save virtual service" }).click();
    await dialog().getByText("Its engine group has no engines yet.").waitFor();
    await dialog().getByRole("contentinfo").getByRole("button", { name: "Close" }).click();
    await row("Virtual services", SERVICE).getByText("192.0.2.30:8081").waitFor();
    const [saved] = await call("virtualservice.get", { filter: { name: SERVICE } });
    expect(saved.timeouts.server === "90s", `timeouts are ${JSON.stringify(saved.timeouts)}`);
    expect(saved.compression.algorithms.length === 3, "compression was not saved");
    expect(saved.authentication.basic[0].users.alice === "******", "the hash is not hidden");
  });

  await step("disable and enable", async () => {
    await row("Virtual services", SERVICE).getByRole("checkbox").check();
    await button("Disable").click();
    await switched("Disable", "Stops accepting connections on 192.0.2.30:8081.");
    await row("Virtual services", SERVICE).getByText("Disabled").waitFor();
    await row("Virtual services", SERVICE).getByRole("checkbox").check();
    await button("Enable").click();
    await switched("Enable", "Starts accepting connections on 192.0.2.30:8081.");
    await row("Virtual services", SERVICE).getByText("Enabled").waitFor();
  });

  await step("delete", async () => {
    await go("/balancing/pools");
    await link(POOL).click();
    await button("Delete pool…").click();
    await dialog().getByRole("button", { name: "Delete pool" }).click();
    await page.getByText(/cannot be deleted, because it is used by virtual service/).waitFor();
    await go("/balancing/services");
    await row("Virtual services", SERVICE).getByRole("checkbox").check();
    await button("Delete 1 selected…").click();
    await dialog().getByRole("button", { name: "Delete" }).click();
    await row("Virtual services", SERVICE).waitFor({ state: "detached" });
    await go("/balancing/pools");
    await link(POOL).click();
    await button("Delete pool…").click();
    await dialog().getByRole("button", { name: "Delete pool" }).click();
    await page.getByText(`${POOL} was deleted.`).waitFor();
    for (const [kind, grid, of] of [
      ["vips", "VIPs", VIP],
      ["engine-groups", "Engine groups", GROUP],
    ]) {
      await go(`/balancing/${kind}`);
      await row(grid, of).getByRole("checkbox").check();
      await button("Delete 1 selected…").click();
      await dialog().getByRole("button", { name: "Delete" }).click();
      await row(grid, of).waitFor({ state: "detached" });
    }
  });
}

export async function transactions() {
  await step("transactions", async () => {
    await go("/transactions");
    await page.getByText("No transactions in this time range").waitFor();
    await page.getByLabel("Filter").fill("status=200 stat=5");
    await button("Search").click();
    await page.getByRole("alert").getByText("stat=5", { exact: true }).waitFor();
    await page
      .getByRole("alert")
      .getByText(/No column is named "stat"/)
      .waitFor();
    expect(page.url().includes("filter=status%3D200"), `the address is ${page.url()}`);
    await page.getByLabel("Filter").fill("status=200");
    await button("Search").click();
    await page.getByText("No matching transactions").waitFor();
  });
}
