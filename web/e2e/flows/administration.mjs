// Queue, health, capacity, system information and users of a new server.

import { call, drawn, go, heading, link, page, step, until, user } from "../lib.mjs";

/** Self-monitoring reads some items once a minute. */
const WAIT_MS = 180_000;

export default async function () {
  await go("/");
  await heading("Overview").waitFor();

  await step("queue", async () => {
    await link("Queue").click();
    await heading(/^Queue/).waitFor();
    await page.getByText("Over 10 min").waitFor();
    await page.getByRole("grid", { name: "Delayed items" }).waitFor();
  });

  await step("health", async () => {
    await link("Vedette's health").click();
    await heading("Vedette's health").waitFor();
    await page.getByRole("heading", { name: "Process utilisation" }).waitFor();
    await drawn(page.getByRole("figure", { name: "Values per second" }));
  });

  await step("capacity", async () => {
    await link("Capacity").click();
    await heading("Capacity").waitFor();
    await page.getByRole("cell", { name: /^Memory/ }).waitFor();
    await page.getByText("vedette bench capacity").first().waitFor();
  });

  await step("system information", async () => {
    const keys = ["zabbix[uptime]", "zabbix[requiredperformance]", "zabbix[wcache,values]"];
    await until(
      "values of self-monitoring",
      async () => {
        const filter = { key_: keys };
        const items = await call("item.get", { output: ["lastclock"], filter, monitored: true });
        return items.length === keys.length && items.every(({ lastclock }) => lastclock !== "0");
      },
      WAIT_MS,
    );
    await link("System information").click();
    await heading("System information").waitFor();
    await page.getByText(/^[\d.]+ required by intervals$/).waitFor();
    await page.getByText(/^since /).waitFor();
    await page.getByText(/^\d+ in problem state$/).waitFor();
  });

  await step("users and tokens", async () => {
    await link("Users and tokens").click();
    await page.getByRole("cell", { name: user }).first().waitFor();
  });

  await step("queue by type", async () => {
    await go("/queue?by=types");
    await page
      .getByRole("columnheader", { name: "Total" })
      .or(page.getByText("Nothing is overdue"))
      .first()
      .waitFor();
    await go("/users");
  });
}
