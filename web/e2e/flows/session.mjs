// Signing in and out, a refused password, themes, addresses that do not exist or come from elsewhere.

import { drawn, fits, go, heading, page, password, step, user } from "../lib.mjs";

export default async function () {
  await step("dark", async () => {
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("button", { name: "Dark" }).click();
    await page.locator("html[data-theme=dark]").waitFor();
    await go("/");
    await heading("Overview").waitFor();
    await drawn(page.getByRole("figure", { name: "New values per second" }));
  });

  await step("bookmark of another interface", async () => {
    await go("/zabbix/zabbix.php?action=problem.view&severities[4]=4&name=load");
    await heading(/^Problems/).waitFor();
    await page.waitForURL(/\/problems\?severity=4&text=load$/);
  });

  await step("no such page", async () => {
    await go("/no/such/page");
    await page.getByText("Page not found").waitFor();
  });

  await step("narrow window", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await go("/problems");
    await page.getByRole("grid", { name: "Problems" }).waitFor();
    await fits();
  });

  await step("sign out", async () => {
    await page.getByRole("button", { name: /Signed in as/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Vedette" }).waitFor();
  });

  await step("sign in refused", async () => {
    await go("/");
    await page.getByLabel("User name").fill(user);
    await page.getByLabel("Password").fill(`${password}-wrong`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
  });

  await step("sign in after a refusal", async () => {
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await heading("Overview").waitFor();
  });
}
