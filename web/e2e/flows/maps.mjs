// The map editor: create a map with elements and a link, move elements with the pointer and the keyboard, undo,
// save, and edit again while the map changes on the server.

import { accessible } from "../axe.mjs";
import { call, expect, go, hasValue, heading, link, page, stamp, step, until } from "../lib.mjs";
import { plainHost } from "../prepare.mjs";

const MAP = `E2E map ${stamp}`;
const button = (name) => page.getByRole("button", { name, exact: true });
const label = (name) => page.getByLabel(name, { exact: false }).first();
const plane = () => page.getByRole("region", { name: "Elements on the map" });
const element = (name) => plane().getByRole("button", { name });

async function pickHost(host) {
  await page.getByText("Choose hosts").click();
  await page.getByPlaceholder("Search hosts").fill(host);
  await page.getByRole("option", { name: host }).click();
  await page.keyboard.press("Escape");
}

async function stored() {
  const [map] = await call("map.get", {
    filter: { name: MAP },
    selectSelements: "extend",
    selectLinks: "extend",
  });
  return map;
}

async function create(host) {
  await step("create map", async () => {
    await link("Maps").click();
    await heading(/^Maps/).waitFor();
    await link("Create map").first().click();
    await heading("Create map").waitFor();
    await button("Create map").click();
    await page.getByText("Enter a name.").first().waitFor();
    await label("Name").fill(MAP);
    await button("Add element").click();
    await pickHost(host);
    await element(new RegExp(`^${host} at`)).waitFor();
    await label("New element").selectOption({ label: "Image" });
    await button("Add element").click();
    await element(/^Image at/).waitFor();
    await accessible("of the map editor");
  });

  await step("move elements", async () => {
    const box = await element(/^Image at/).boundingBox();
    await page.mouse.move(box.x + 10, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 130, box.y + 115, { steps: 4 });
    await page.mouse.up();
    const dragged = await element(/^Image at/).getAttribute("aria-label");
    const [x, y] = dragged.match(/\d+/g).map(Number);
    expect(x % 50 === 0 && y % 50 === 0, `${dragged} is on the grid`);
    await element(/^Image at/).press("ArrowRight");
    await element(`Image at ${x + 50}, ${y}`).waitFor();
    await element(`Image at ${x + 50}, ${y}`).press("Shift+ArrowDown");
    await element(`Image at ${x + 50}, ${y + 1}`).waitFor();
    await button("Undo").click();
    await element(`Image at ${x + 50}, ${y}`).waitFor();
    await button("Redo").click();
    await element(`Image at ${x + 50}, ${y + 1}`).waitFor();
  });

  await step("remove an element and undo", async () => {
    await element(/^Image at/).press("Delete");
    await element(/^Image at/).waitFor({ state: "detached" });
    await button("Undo").click();
    await element(/^Image at/).waitFor();
  });

  await step("add a link and save", async () => {
    await button("Add link").click();
    await page.getByLabel("Line style", { exact: true }).selectOption({ label: "Bold" });
    await page.getByLabel("Colour", { exact: true }).fill("#1122cc");
    await button("Create map").click();
    await heading(MAP).waitFor();
    await page
      .getByRole("img", { name: `Map ${MAP}` })
      .or(page.locator("svg title"))
      .first()
      .waitFor({ state: "attached" });
    const map = await stored();
    expect(map.selements.length === 2, "two elements");
    expect(map.selements[0].elements[0].hostid !== undefined, "a host");
    const [{ color, drawtype }] = map.links;
    expect(color === "1122CC" && drawtype === "2", `a bold link in colour, not ${color}`);
  });
}

async function edit() {
  await step("edit map", async () => {
    await link("Edit").click();
    await heading(`Edit ${MAP}`).waitFor();
    await hasValue(label("Width"), "800");
    await label("Width").fill("900");
    await button("Save map").click();
    await heading(MAP).waitFor();
    await until("the width", async () => (await stored()).width === "900");
  });

  await step("a map that changed meanwhile", async () => {
    await link("Edit").click();
    await heading(`Edit ${MAP}`).waitFor();
    await label("Height").fill("700");
    const { sysmapid } = await stored();
    await call("map.update", { sysmapid, width: 1000 });
    await button("Save map").click();
    const dialog = page.getByRole("dialog").last();
    await dialog.getByRole("button", { name: "Overwrite" }).click();
    await heading(MAP).waitFor();
    await until("the height", async () => (await stored()).height === "700");
  });

  await step("delete map", async () => {
    await link("Edit").click();
    await heading(`Edit ${MAP}`).waitFor();
    await button("Delete map…").click();
    await page
      .getByRole("dialog")
      .last()
      .getByRole("button", { name: /^Delete/ })
      .click();
    await heading(/^Maps/).waitFor();
    expect((await stored()) === undefined, "the map is deleted");
  });
}

export default async function () {
  await go("/");
  const { host } = await plainHost("e2e-map");
  await create(host);
  await edit();
}
