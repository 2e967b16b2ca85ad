// User groups, roles, users, passwords and API tokens: created, changed, deleted.

import { base, expect, go, page, stamp, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const tab = (name) => page.getByRole("tab", { name });

/** Waits for a toast, which says that the server agreed. */
const told = (text) => page.getByText(text).first().waitFor();

export async function users() {
  const user = `e2e-${stamp}`;
  await step("create user group", async () => {
    await go("/users?tab=groups");
    await button("Create user group").click();
    await dialog().getByLabel("Name").fill(user);
    await dialog().getByRole("button", { name: "Host groups" }).click();
    await page.getByRole("listbox", { name: "Host groups" }).getByRole("option").first().click();
    await page.keyboard.press("Escape");
    await dialog().getByRole("button", { name: "Save group" }).click();
    await page.getByRole("cell", { name: user, exact: true }).first().waitFor();
  });

  await step("create role", async () => {
    await tab("Roles").click();
    await button("Create role").click();
    await dialog().getByLabel("Name").fill(user);
    await dialog().getByLabel("Close problems").uncheck();
    await dialog().getByRole("button", { name: "Save role" }).click();
    await page.getByRole("cell", { name: user, exact: true }).first().waitFor();
  });

  await step("create user", async () => {
    await tab("Users").click();
    await button("Create user").click();
    await dialog().getByLabel("User name").fill(user);
    await dialog().getByLabel("Role").selectOption({ label: user });
    await dialog()
      .getByRole("button", { name: /^Groups/ })
      .click();
    await page.getByRole("listbox", { name: "Groups" }).getByRole("option", { name: user }).click();
    await page.keyboard.press("Escape");
    await dialog().getByLabel("Password *", { exact: true }).fill("first secret 1");
    await dialog().getByLabel("Repeat password").fill("first secret 2");
    await dialog().getByText("The passwords do not match.").waitFor();
    await dialog().getByLabel("Repeat password").fill("first secret 1");
    await dialog().getByRole("button", { name: "Save user" }).click();
    await page.getByRole("row", { name: new RegExp(`${user}.*${user}.*${user}`) }).waitFor();
  });

  await step("change password", async () => {
    await page.getByRole("button", { name: `Edit ${user}` }).click();
    await dialog().getByLabel("New password", { exact: true }).fill("second secret");
    await dialog().getByLabel("Repeat new password").fill("second secret");
    await dialog().getByRole("button", { name: "Save user" }).click();
    await dialog().waitFor({ state: "detached" });
    const body = {
      jsonrpc: "2.0",
      method: "user.login",
      params: { username: user, password: "second secret" },
      id: 1,
    };
    const headers = { "Content-Type": "application/json-rpc" };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await (await fetch(`${base}/api_jsonrpc.php`, request)).json();
    expect(answer.result, `the new password does not work: ${answer.error?.data}`);
  });

  await step("token", async () => {
    await tab("API tokens").click();
    await button("Create API token").first().click();
    await dialog().getByLabel("Name").fill(user);
    await dialog().getByRole("button", { name: "Create token" }).click();
    await dialog()
      .getByText(/^[0-9a-f]{64}$/)
      .waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Revoke" }).first().click();
    await dialog().getByRole("button", { name: "Revoke" }).click();
    await told(`${user} was revoked.`);
  });

  await step("delete user", async () => {
    for (const [name, list] of [
      ["Users", "users"],
      ["Roles", "roles"],
      ["User groups", "groups"],
    ]) {
      await tab(name).click();
      await page.getByRole("button", { name: `Delete ${user}` }).click();
      await dialog().getByRole("button", { name: "Delete", exact: true }).click();
      await page
        .getByRole("cell", { name: user, exact: true })
        .first()
        .waitFor({ state: "detached" });
      expect(true, list);
    }
  });
}
