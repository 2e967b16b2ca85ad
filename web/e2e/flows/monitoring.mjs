// The overview, hosts, latest data and graphs of a host with an agent.

import { testAgainst } from "../item-test.mjs";
import { dataRows, drawn, go, heading, link, page, step, until } from "../lib.mjs";
import { machine } from "../prepare.mjs";

export default async function () {
  const host = await machine();

  await step("overview", async () => {
    await go("/");
    const tiles = page.getByRole("region", { name: "Open problems by severity" });
    for (const name of [
      "Disaster",
      "High",
      "Average",
      "Warning",
      "Information",
      "Not classified",
    ]) {
      await tiles.getByRole("link", { name: new RegExp(`^${name} [0-9]`) }).waitFor();
    }
    await page.getByRole("heading", { name: "Newest problems" }).waitFor();
    await page.getByRole("group", { name: "Hosts by highest severity" }).waitFor();
    await page.getByRole("heading", { name: "Last changes" }).waitFor();
    await drawn(page.getByRole("figure", { name: "New values per second" }));
  });

  await step("hosts", async () => {
    await link("Hosts").click();
    await heading(/^Hosts/).waitFor();
    await dataRows("Hosts").getByRole("link", { name: host, exact: true }).first().waitFor();
  });

  await step("hosts search", async () => {
    await page.getByRole("searchbox", { name: "Search hosts" }).fill(host);
    await page.waitForURL(/text=/);
    await dataRows("Hosts").filter({ hasText: host }).first().waitFor();
  });

  await step("host page", async () => {
    await dataRows("Hosts").getByRole("link", { name: host, exact: true }).first().click();
    await heading(new RegExp(host)).waitFor();
    await page.getByRole("heading", { name: "Open problems" }).waitFor();
    await drawn(page.getByRole("figure", { name: new RegExp(`of ${host}$`) }));
  });

  await step("host latest data", async () => {
    await page.getByRole("tab", { name: /Latest data/ }).click();
    await dataRows("Items").nth(3).waitFor();
  });

  await step("host triggers", async () => {
    await page.getByRole("tab", { name: /Triggers/ }).click();
    await page.getByRole("columnheader", { name: "Expression" }).waitFor();
  });

  await step("host discovery rules", async () => {
    await page.getByRole("tab", { name: /Discovery rules/ }).click();
    await page
      .getByRole("columnheader", { name: "Item prototypes" })
      .or(page.getByText("No discovery rules"))
      .first()
      .waitFor();
  });

  await testAgainst(host);

  await step("latest data", async () => {
    await link("Latest data").click();
    await heading(/^Latest data/).waitFor();
    await dataRows("Items").nth(5).waitFor();
  });

  await step("latest data search", async () => {
    await page.getByRole("searchbox", { name: "Search names and keys" }).fill("cpu");
    await page.waitForURL(/text=cpu/);
    await dataRows("Items").first().filter({ hasText: /cpu/i }).waitFor();
    await dataRows("Items").nth(0).getByRole("checkbox").check();
    await dataRows("Items").nth(1).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Change 2 items…" }).waitFor();
  });

  await step("graph of selected", async () => {
    await link("Show graph").click();
    await page.waitForURL(/\/graph\?items=\d+,\d+/);
    await drawn(page.getByRole("figure"));
    await page.getByRole("columnheader", { name: "Avg" }).first().waitFor();
  });

  await step("graph range", async () => {
    await page.getByRole("button", { name: "Time range" }).click();
    await page.getByLabel("From").fill("now-3h");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/from=now-3h/);
    await page.getByRole("button", { name: "Time range" }).getByText("Last 3 hours").waitFor();
    await page.getByRole("button", { name: "Time range" }).click();
  });

  await step("graph zoom", async () => {
    await page.keyboard.press("Escape");
    const chart = page.getByRole("figure").first();
    await drawn(chart);
    const box = await chart.boundingBox();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 80, { steps: 6 });
    await page.mouse.up();
    await page.waitForURL(/from=\d{10}&to=\d{10}/);
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80);
  });

  await step("graph tooltip only where lines are drawn", async () => {
    const items = new URL(page.url()).searchParams.get("items");
    await go(`/graph?items=${items}&from=now-3h&to=now`);
    const figure = page.getByRole("figure").first();
    await drawn(figure);
    // The chart may be drawn again with its values: the mouse moves until it has them.
    let y = 60;
    const shown = (share, right) => async () => {
      const box = await figure.locator(".u-over").boundingBox();
      y = 121 - y;
      await page.mouse.move(box.x + box.width * share - right, box.y + y);
      return (await figure.getByRole("tooltip").isVisible()) ? "a tooltip" : "no tooltip";
    };
    const is = (wanted, look) => async () => (await look()) === wanted;
    await until("a tooltip at the newest values", is("a tooltip", shown(1, 4)));
    await until("no tooltip before all values", is("no tooltip", shown(0.3, 0)));
  });
}
