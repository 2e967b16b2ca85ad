// Silences and maintenance: from a problem's row, from a host's row, by the form.

import { dataRows, go, hasValue, heading, link, page, stamp, step, until } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const problem = (name) => dataRows("Problems").filter({ hasText: name });

async function silenceProblem(name) {
  await step("silence a problem", async () => {
    await go("/problems");
    await problem(name).getByRole("button", { name: "Silence…" }).click();
    await dialog().getByRole("button", { name: "30 min" }).click();
    await page.getByText(`${name} is silenced until`).waitFor();
    await problem(name).waitFor({ state: "detached" });
    await page.getByText(/^\d+ hidden$/).waitFor();
  });

  await step("show silenced problems", async () => {
    await page.getByRole("heading", { level: 1 }).getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/suppressed=yes/);
    await problem(name)
      .getByText(/silenced until/)
      .waitFor();
  });

  await step("silenced problem drawer", async () => {
    await problem(name).getByRole("gridcell").nth(1).click();
    const drawer = page.getByRole("complementary", { name: "Problem" });
    await drawer.getByRole("button", { name: "End now" }).waitFor();
    await drawer.getByRole("button", { name: "Close", exact: true }).click();
  });

  await step("silence again", async () => {
    const row = problem(name);
    await row.getByRole("button", { name: "Extend or end silence" }).click();
    await dialog()
      .getByText(/^Silenced by /)
      .waitFor();
    await dialog().getByRole("button", { name: "Until tomorrow 8:00" }).click();
    await row.getByText(/^silenced until [0-9-]{10} 08:00$/).waitFor();
  });

  await step("end a silence", async () => {
    await problem(name).getByRole("button", { name: "Extend or end silence" }).click();
    await dialog().getByRole("button", { name: "End now" }).click();
    await page.getByText("The silence was ended.").waitFor();
    await go("/problems");
    await problem(name).getByRole("button", { name: "Silence…" }).waitFor();
  });
}

async function silenceHost(name) {
  await step("silence a host", async () => {
    await go(`/hosts?text=${encodeURIComponent(name)}`);
    const row = dataRows("Hosts").filter({ hasText: name }).first();
    await row.getByRole("button", { name: `Silence ${name}` }).click();
    await dialog().getByRole("button", { name: "2 h" }).click();
    await row
      .getByText(/^silenced until/)
      .last()
      .waitFor();
  });

  await step("silenced host page", async () => {
    await dataRows("Hosts").getByRole("link", { name, exact: true }).first().click();
    await heading(/silenced until/).waitFor();
    await button("Silence…").click();
    await dialog().getByRole("button", { name: "Custom time…" }).click();
    await dialog().getByLabel("Silent until").waitFor();
  });

  await step("end a host's silence", async () => {
    await dialog().getByRole("button", { name: "Close", exact: true }).click();
    await button("End now").first().click();
    await heading(/silenced until/).waitFor({ state: "detached" });
  });
}

async function form(host) {
  const name = `E2E patches ${stamp}`;
  const row = () => dataRows("Maintenance").filter({ hasText: name });

  await step("create weekly maintenance", async () => {
    await link("Maintenance").click();
    await heading(/^Maintenance/).waitFor();
    await link("Create maintenance").first().click();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await page.getByRole("button", { name: /^Hosts/ }).click();
    await page.getByLabel("Search hosts").fill(host);
    await page.getByRole("option", { name: host, exact: true }).click();
    await page.keyboard.press("Escape");
    await button("Add tag").click();
    await page.getByLabel("Tag name").fill("scope");
    await page.getByLabel("Tag operator").selectOption({ label: "contains" });
    await page.getByRole("radio", { name: "Weekly" }).click();
    const days = page.getByRole("group", { name: "Days of the week" });
    await days.getByRole("button", { pressed: true }).click();
    await page.getByText("Choose at least one day of the week.").waitFor();
    await days.getByRole("button", { name: "Sat" }).click();
    await page.getByLabel("At", { exact: true }).fill("02:00");
    await page.getByLabel("Duration").fill("2h 30m");
    await page.getByText("Every Sat at 02:00 for 2h 30m").waitFor();
    const next = page.getByRole("region", { name: "Next starts" }).getByRole("listitem");
    await until("five Saturdays", async () => {
      const starts = await next.allTextContents();
      return starts.length >= 5 && starts.every((text) => /Sat/.test(text));
    });
  });

  await step("maintenance created", async () => {
    await button("Create maintenance").click();
    await row()
      .getByText(/^(Next|Running until)/)
      .waitFor();
    await row().getByText("Every Sat at 02:00").waitFor();
  });

  await step("maintenance filter", async () => {
    await page.getByRole("radio", { name: "Expired" }).click();
    await page.waitForURL(/state=over/);
    await row().waitFor({ state: "detached" });
    await page.getByRole("radio", { name: "All" }).click();
    await page.getByRole("searchbox", { name: "Search maintenance" }).fill(stamp);
    await page.waitForURL(/text=/);
    await row().waitFor();
  });

  await step("edit maintenance", async () => {
    await row().getByRole("link", { name }).click();
    await heading(`Edit ${name}`).waitFor();
    await hasValue(page.getByLabel("Duration"), "2h 30m");
    await page.getByRole("radio", { name: "Monthly" }).click();
    await page.getByRole("radio", { name: "Day of the week" }).click();
    await page.getByLabel("Week of the month").selectOption({ label: "last" });
    await page.getByText("On the last Sat of every month at 02:00").waitFor();
    await button("Save maintenance").click();
    await row().getByText("On the last Sat of every month").waitFor();
  });

  await step("delete maintenance", async () => {
    await row().getByRole("link", { name }).click();
    await button("Delete maintenance…").click();
    await dialog().getByRole("button", { name: "Delete maintenance" }).click();
    await page.getByText(`${name} was deleted.`).waitFor();
    await heading(/^Maintenance/).waitFor();
  });
}

/** `host` has an open problem called `name`. */
export async function maintenance(host, name) {
  await silenceProblem(name);
  await silenceHost(host);
  await form(host);
}
