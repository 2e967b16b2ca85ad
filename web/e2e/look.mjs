// Every page on a phone and in the dark: pictures to look at, no page wider than its window, and no
// grave finding of axe.

import { accessible } from "./axe.mjs";
import { dataRows, fits, go, heading, loaded, openHost, page, step, until } from "./lib.mjs";

const PAGES = [
  ["overview", "/", /^Overview/],
  ["problems", "/problems", /^Problems/],
  ["hosts", "/hosts", /^Hosts/],
  ["latest data", "/latest", /^Latest data/],
  ["graph", "/graph", /^Graph/],
  ["templates", "/templates", /^Templates/],
  ["maintenance", "/maintenance", /^Maintenance/],
  ["create maintenance", "/maintenance/new", /^Create maintenance/],
  ["discovery", "/discovery", /^Discovery/],
  ["discovery rules", "/discovery-rules", /^Discovery rules/],
  ["create discovery rule", "/discovery-rules/new", /^Create discovery rule/],
  ["actions", "/actions", /^Trigger actions/],
  ["create action", "/actions/new", /^Create trigger action/],
  ["media types", "/media-types", /^Media types/],
  ["create media type", "/media-types/new", /^Create media type/],
  ["scripts", "/scripts", /^Scripts/],
  ["create script", "/scripts/new", /^Create script/],
  ["services", "/services", /^Services/],
  ["create service", "/services/new", /^Create service/],
  ["SLA", "/sla", /^SLA/],
  ["create SLA", "/sla/new", /^Create SLA/],
  ["SLA report", "/sla-report", /^SLA report/],
  ["event correlation", "/correlation", /^Event correlation/],
  ["create correlation", "/correlation/new", /^Create correlation/],
  ["maps", "/maps", /^Maps/],
  ["create map", "/maps/new", /^Create map/],
  ["action log", "/alerts", /^Action log/],
  ["on-call", "/oncall", /^On-call/],
  ["create schedule", "/oncall/new", /^Create schedule/],
  ["heartbeat", "/heartbeat", /^Heartbeat/],
  ["autoregistration", "/autoregistration", /^Autoregistration/],
  ["virtual services", "/balancing/services", /^Virtual services/],
  ["balance a service", "/balancing/services/balance", /^Balance a service/],
  ["engines", "/balancing/engines", /^Engines/],
  ["engine groups", "/balancing/engine-groups", /^Engine groups/],
  ["create engine group", "/balancing/engine-groups/new", /^Create engine group/],
  ["create virtual service", "/balancing/services/new", /^Create virtual service/],
  ["create pool", "/balancing/pools/new", /^Create pool/],
  ["transactions", "/transactions", /^Transactions/],
  ["queue", "/queue", /^Queue/],
  ["health", "/health", /health/],
  ["capacity", "/capacity", /^Capacity/],
  ["system", "/system", /^System information/],
  ["audit log", "/audit", /^Audit log/],
  ["users", "/users", /^Users/],
  ["authentication", "/authentication", /^Authentication/],
  ["LDAP servers", "/authentication?tab=ldap", /^Authentication/],
  ["connectors", "/connectors", /^Connectors/],
  ["create host", "/hosts/new", /^Create host/],
];
const SIZES = [
  ["phone", 390, 844],
  ["desk", 1440, 900],
];

/** The theme at the next load of a page. */
const theme = (tone) =>
  page.evaluate((value) => localStorage.setItem("vedette.theme", value), tone);

/** Shows the loaded page in the dark, and waits until no colour changes any more. */
const darken = () =>
  page.evaluate(() => {
    document.documentElement.dataset.theme = "dark";
    const ends = (one) => one.effect.getComputedTiming().endTime !== Infinity;
    const ending = document.getAnimations().filter(ends);
    return Promise.all(ending.map((one) => one.finished.catch(() => {})));
  });

/** Opens a page in the light and checks it, then in the dark. */
async function bothTones(name, open) {
  await step(`${name} light`, async () => {
    await theme("light");
    await open();
    await loaded();
    await fits();
    await accessible();
  });
  await step(`${name} dark`, async () => {
    await darken();
    await fits();
    await accessible();
  });
}

/** Pictures of all pages; `host` is the visible name of a host with data. */
export async function look(host) {
  for (const [size, width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    for (const [name, path, title] of PAGES) {
      await bothTones(`${size} ${name}`, async () => {
        await go(path);
        await heading(title).waitFor();
      });
    }
    await bothTones(`${size} host`, () => openHost(host));
  }

  await step("phone menu", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await go("/");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("dialog", { name: "Menu" }).getByRole("link", { name: "Hosts" }).click();
    await heading(/^Hosts/).waitFor();
    await page.getByRole("dialog", { name: "Menu" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Filters" }).click();
    await page.getByRole("searchbox", { name: "Search hosts" }).waitFor();
  });

  await step("a window that becomes narrow", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go("/hosts");
    await dataRows("Hosts").nth(1).getByRole("link").first().waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await until("rows below each other", async () => {
      const rows = await dataRows("Hosts").all();
      const boxes = await Promise.all(rows.map((row) => row.boundingBox()));
      const apart = (box, at) => at === 0 || box.y >= boxes[at - 1].y + boxes[at - 1].height - 1;
      return boxes[0].height > 50 && boxes.every(apart);
    });
  });

  await step("keys without a click", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go("/hosts");
    // A row without its host yet opens nothing.
    await dataRows("Hosts").getByRole("link").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/hosts\/\d+/);
  });
}
