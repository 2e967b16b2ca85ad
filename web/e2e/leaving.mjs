// Leaving a page: unsaved edits are kept or asked about, Back closes what was opened last, and Cancel
// leads to the list of the object.

import {
  base,
  call,
  dataRows,
  expect,
  go,
  hasValue,
  heading,
  link,
  page,
  password,
  stamp,
  step,
  user,
} from "./lib.mjs";

const question = () => page.getByRole("dialog", { name: "Leave without saving?" });
const answer = (name) => question().getByRole("button", { name }).click();
const name = () => page.getByRole("textbox", { name: /^Host name/ });
const text = `e2e-draft-${stamp}`;

/** Opens the form of a new host from the list and edits it. */
async function editHost() {
  await go("/hosts");
  await page.getByRole("link", { name: "Create host" }).click();
  await heading(/^Create host/).waitFor();
  await name().fill(text);
}

/** Ends the session behind the back of the page, and saves, unless the page has noticed already. */
async function expire(save) {
  await call("user.logout", []);
  await page.evaluate((name) => {
    const buttons = [...document.querySelectorAll("button")];
    buttons.find((button) => button.textContent.trim() === name)?.click();
  }, save);
}

async function signIn() {
  await page.getByRole("heading", { name: "Sign in to Vedette" }).waitFor();
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

const path = () => new URL(page.url()).pathname;

export async function leaving() {
  await step("menu asks before edits are lost", async () => {
    await editHost();
    await link("Templates").click();
    await answer("Cancel");
    await question().waitFor({ state: "detached" });
    await hasValue(name(), text);
    expect(path() === "/hosts/new", "the page is not left");
    await link("Templates").click();
    await answer("Discard changes");
    await heading(/^Templates/).waitFor();
  });

  await step("back asks before edits are lost", async () => {
    await editHost();
    await page.evaluate(() => history.back());
    await answer("Cancel");
    await question().waitFor({ state: "detached" });
    await hasValue(name(), text);
    await page.evaluate(() => history.back());
    await answer("Discard changes");
    await heading(/^Hosts/).waitFor();
  });

  await step("an expired session keeps the draft", async () => {
    await editHost();
    await expire("Create host");
    await signIn();
    await heading(/^Create host/).waitFor();
    await page.getByText("Your unsaved changes were restored.").waitFor();
    await hasValue(name(), text);
    await link("Hosts").click();
    await answer("Discard changes");
    await heading(/^Hosts/).waitFor();
  });

  await step("back closes the drawer, then the filter", async () => {
    await go("/hosts");
    await page.getByRole("link", { name: /^Problems/ }).click();
    await page
      .getByRole("radio", { name: "History" })
      .or(page.getByText("History"))
      .first()
      .click();
    await page.waitForURL(/show=history/);
    await dataRows("Problems").first().getByText(/.+/).first().waitFor();
    await dataRows("Problems").first().getByRole("gridcell").nth(1).click();
    const drawer = page.getByRole("complementary", { name: "Problem" });
    await drawer.waitFor();
    await page.evaluate(() => history.back());
    await drawer.waitFor({ state: "detached" });
    await page.waitForURL(/show=history/);
    await page.evaluate(() => history.back());
    await page.waitForURL(/\/problems$/);
    await page.evaluate(() => history.back());
    await heading(/^Hosts/).waitFor();
  });

  await step("cancel of a form opened by its address", async () => {
    for (const [form, list] of [
      ["/maintenance/new", "/maintenance"],
      ["/hosts/new", "/hosts"],
      ["/actions/new", "/actions"],
    ]) {
      const tab = await page.context().newPage();
      await tab.goto(base + form);
      await tab.getByRole("button", { name: "Cancel" }).click();
      await tab.waitForURL(`${base}${list}`);
      await tab.close();
    }
  });

  await step("dialogs ask before edits are lost", async () => {
    await go("/users?tab=groups");
    await page.getByRole("button", { name: "Create user group" }).click();
    const dialog = page.getByRole("dialog", { name: "Create user group" });
    await dialog.getByLabel("Name").fill(text);
    await page.keyboard.press("Escape");
    await answer("Cancel");
    await hasValue(dialog.getByLabel("Name"), text);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await answer("Discard changes");
    await dialog.waitFor({ state: "detached" });
  });

  await step("an expired session keeps the draft of a dialog", async () => {
    await go("/users?tab=groups");
    await page.getByRole("button", { name: "Create user group" }).click();
    const dialog = page.getByRole("dialog", { name: "Create user group" });
    await dialog.getByLabel("Name").fill(text);
    await expire("Save group");
    await signIn();
    await dialog.waitFor();
    await page.getByText("Your unsaved changes were restored.").waitFor();
    await hasValue(dialog.getByLabel("Name"), text);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await answer("Discard changes");
    await dialog.waitFor({ state: "detached" });
  });

  await step("an expired session keeps the draft of an edited object", async () => {
    await go("/users");
    await page.getByRole("button", { name: `Edit ${user}` }).click();
    const dialog = page.getByRole("dialog", { name: `Edit ${user}` });
    await dialog.getByLabel("First name").fill(text);
    await expire("Save user");
    await signIn();
    await dialog.waitFor();
    await hasValue(dialog.getByLabel("First name"), text);
    await page.keyboard.press("Escape");
    await answer("Discard changes");
    await dialog.waitFor({ state: "detached" });
    await go("/users?tab=groups");
  });

  await step("dialogs refuse a stale save", async () => {
    await page.getByRole("button", { name: "Create user group" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill(text);
    await page.getByRole("button", { name: "Save group" }).click();
    await page.getByRole("button", { name: `Edit ${text}` }).click();
    const dialog = page.getByRole("dialog", { name: `Edit ${text}` });
    await dialog.getByLabel("Name").fill(`${text} mine`);
    const [{ usrgrpid }] = await call("usergroup.get", { filter: { name: text } });
    await call("usergroup.update", { usrgrpid, gui_access: "1" });
    await dialog.getByRole("button", { name: "Save group" }).click();
    const stale = page.getByRole("dialog", { name: "This was changed in the meantime" });
    await stale.getByText("gui_access").waitFor();
    await stale.getByRole("button", { name: "Cancel" }).click();
    await dialog.getByRole("button", { name: "Save group" }).click();
    await stale.getByRole("button", { name: "Overwrite" }).click();
    await page.getByRole("button", { name: `Delete ${text} mine` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText(`${text} mine was deleted.`).waitFor();
  });
}
