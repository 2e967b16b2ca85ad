// How users sign in: settings, an LDAP server with provisioning, codes of an authenticator, provisioned users; and
// connectors.

import { accessible } from "../axe.mjs";
import { call, expect, fits, go, heading, page, signIn, step } from "../lib.mjs";
import { codeOf } from "../totp.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const field = (name) => dialog().getByLabel(name, { exact: true });
const told = (text) => page.getByText(text).first().waitFor();
const save = (word) =>
  dialog()
    .getByRole("button", { name: `Save ${word}` })
    .click();

/** Looks at what is shown on a phone and a desktop, light and dark. */
async function looksGood(where) {
  for (const [width, height] of [
    [390, 844],
    [1440, 900],
  ])
    for (const colorScheme of ["dark", "light"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      await fits();
      await accessible(`${where}, ${width} px, ${colorScheme}`);
      const name = `${where.replaceAll(" ", "-")}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: `${process.env.OUT}/${name}` });
    }
}

async function signOut() {
  await page.getByRole("button", { name: /Signed in as/ }).click();
  await button("Sign out").click();
  await page.getByRole("heading", { name: "Sign in to Vedette" }).waitFor();
}

async function server() {
  await go("/authentication?tab=ldap");
  await button("Create LDAP server").click();
  await field("Name *").fill("Directory");
  await field("Host *").fill("127.0.0.1");
  await field("Port *").fill(process.env.LDAP_PORT);
  await field("Base DN *").fill("dc=example");
  await field("Bind DN").fill("cn=reader,dc=example");
  await field("Bind password").fill("reads");
  await field("Provision users of this server").check();
  await dialog().getByRole("radio", { name: "Search for groups" }).click();
  await field("Group base DN *").fill("dc=example");
  await field("Reference attribute of users").fill("uid");
  await field("Group filter").fill("(member=uid=%{ref},dc=example)");
  await field("First name attribute").fill("givenName");
  await field("Last name attribute").fill("sn");
  await dialog().getByText("Add a group mapping.").waitFor();
  await dialog().getByRole("button", { name: "Add group mapping" }).click();
  await field("Group of the directory *").fill("oper*");
  await field("Role *").selectOption({ label: "Admin role" });
  await dialog()
    .getByRole("button", { name: /^User groups/ })
    .click();
  const groups = page.getByRole("listbox", { name: "User groups" });
  await groups.getByRole("option", { name: "Operators" }).click();
  await page.keyboard.press("Escape");
  await dialog().getByRole("button", { name: "Add media mapping" }).click();
  const medium = dialog().getByLabel("Name *", { exact: true }).nth(1);
  await medium.fill("mail");
  await dialog().getByRole("button", { name: "Not classified" }).click();
  await field("Media type").selectOption({ label: "Email" });
}

async function test(password, text) {
  await field("User name").fill("ann");
  await field("Password").fill(password);
  await dialog().getByRole("button", { name: "Test", exact: true }).click();
  await dialog().getByText(text).first().waitFor();
}

async function ldap() {
  await step("LDAP server", async () => {
    await call("usergroup.create", { name: "Operators" });
    await server();
    await test("wrong", "Incorrect user name or password");
    await test("Ann's secret", "ann can sign in.");
    await dialog().getByText("Name: Ann Berg").waitFor();
    await dialog().getByText("User groups: Operators").waitFor();
    await dialog().getByText("Media: ann@example.com").waitFor();
    await looksGood("LDAP server");
    await save("server");
    await page.getByRole("cell", { name: "Directory default" }).waitFor();
    const selectProvisionMedia = ["severity"];
    const [stored] = await call("userdirectory.get", { output: ["host"], selectProvisionMedia });
    expect(stored.provision_media[0].severity === "62", JSON.stringify(stored));
  });

  await step("LDAP server is changed without its password", async () => {
    await button("Edit Directory").click();
    await field("Description").fill("of the office");
    await test("Ann's secret", "ann can sign in.");
    await field("Port *").fill("1");
    await dialog().getByText("Enter the bind password for this host.").waitFor();
    await field("Port *").fill(process.env.LDAP_PORT);
    await save("server");
    await told("Directory was saved.");
    await dialog().waitFor({ state: "detached" });
  });
}

async function settings() {
  await step("MFA method", async () => {
    await page.getByRole("tab", { name: "MFA methods" }).click();
    await button("Create MFA method").click();
    await field("Name *").fill("Phone");
    await looksGood("MFA method");
    await save("method");
    await page.getByRole("cell", { name: "Phone default" }).waitFor();
  });

  await step("settings", async () => {
    await page.getByRole("tab", { name: "Settings" }).click();
    await page.getByLabel("Minimum length").fill("71");
    await page.getByLabel("Default authentication").selectOption("LDAP");
    await button("Save authentication").click();
    await page.getByText("Enter a length from 1 to 70.").first().waitFor();
    await page
      .getByText(/^Enable LDAP authentication, or/)
      .first()
      .waitFor();
    await page.getByLabel("Minimum length").fill("9");
    await button("Digits").click();
    await page.getByLabel("Enable LDAP authentication").check();
    await page.getByLabel("Provision users at sign-in").check();
    await page.getByLabel("Group of deprovisioned users").selectOption("Disabled");
    await page.getByLabel("Enable multi-factor authentication").check();
    await looksGood("settings");
    await button("Save authentication").click();
    await told("The settings of authentication were saved.");
    const names = ["authentication_type", "passwd_min_length", "passwd_check_rules", "mfa_status"];
    const stored = await call("authentication.get", { output: names });
    expect(names.map((name) => stored[name]).join() === "1,9,10,1", JSON.stringify(stored));
  });

  await step("user groups", async () => {
    await go("/users?tab=groups");
    await button("Edit Operators").click();
    await field("LDAP server").selectOption("Directory");
    await field("Multi-factor authentication").selectOption("Required, with the default method");
    await save("group");
    await told("Operators was saved.");
    await dialog().waitFor({ state: "detached" });
    // The user of this flow signs in with the internal password.
    const internal = await call("usergroup.create", {
      name: "Inside",
      gui_access: 1,
      users: [{ userid: "1" }],
    });
    expect(internal.usrgrpids.length === 1, "a group");
  });
}

async function users() {
  let key = "";
  await step("user of LDAP signs in", async () => {
    await signOut();
    await page.getByLabel("User name").fill("ann");
    await page.getByLabel("Password").fill("Ann's secret");
    await button("Sign in").click();
    await page.getByRole("img", { name: "QR code for the authenticator" }).waitFor();
    key = await page.getByLabel("Key").inputValue();
    await page.getByLabel("Verification code").fill(codeOf(key));
    await button("Verify").click();
    await heading("Users and tokens").waitFor();
    await button("Edit ann").click();
    expect(await field("First name").isDisabled(), "the directory gives the name");
    await field("Sign out after").fill("20m");
    await save("user");
    await told("ann was saved.");
    await dialog().waitFor({ state: "detached" });
  });

  await step("authenticator is replaced", async () => {
    await button("Edit ann").click();
    await button("Replace authenticator…").click();
    const replacement = page.getByRole("dialog", { name: "Replace your authenticator" });
    const other = await replacement.getByLabel("Key").inputValue();
    const codes = async (ofOther, ofKey) => {
      await replacement.getByLabel("Code of the new authenticator").fill(ofOther);
      await replacement.getByLabel("Code of your current authenticator").fill(ofKey);
      await replacement.getByRole("button", { name: "Replace" }).click();
    };
    await codes(codeOf(other), codeOf(other));
    await replacement.getByText("The verification code was incorrect, please try again.").waitFor();
    await looksGood("authenticator");
    // That of now was used to sign in.
    await codes(codeOf(other), codeOf(key, 1));
    await told("Your authenticator was replaced.");
    await replacement.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await signOut();
  });

  await step("provisioned user", async () => {
    await signIn();
    await go("/users");
    await page.getByRole("cell", { name: "ann LDAP" }).waitFor();
    await button("Edit ann").click();
    for (const name of ["User name *", "First name", "Last name", "Role *"])
      expect(await field(name).isDisabled(), `${name} is fixed`);
    expect((await field("New password").count()) === 0, "the directory has the password");
    await looksGood("provisioned user");
    await button("Provision now").click();
    await told("ann was read from the directory.");
    await button("Reset authenticator…").click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset", exact: true }).click();
    await told("The authenticator of ann was reset.");
    const entries = await call("auditlog.get", {
      search: { details: "totp_secret" },
      countOutput: true,
    });
    expect(entries === "3", `${entries} entries of the enrolment, the replacement and the reset`);
  });
}

async function connectors() {
  await step("connectors", async () => {
    await go("/connectors");
    await button("Create connector").click();
    await field("Name *").fill("Lake");
    await field("URL *").fill("https://example.com/in");
    await dialog().getByRole("button", { name: "Add tag" }).click();
    await field("Tag name").fill("service");
    await field("HTTP authentication").selectOption("Bearer");
    await dialog().getByText("Enter a token.").waitFor();
    await field("Bearer token *").fill("secret");
    await looksGood("connector");
    await save("connector");
    await page.getByRole("cell", { name: "service" }).waitFor();
    await button("Disable Lake").click();
    await button("Enable Lake").waitFor();
    await button("Edit Lake").click();
    await dialog().getByRole("radio", { name: "Events" }).click();
    await save("connector");
    await page.getByRole("cell", { name: "Events" }).waitFor();
    const [stored] = await call("connector.get", { output: ["token", "status"] });
    expect(stored.token === "secret" && stored.status === "0", JSON.stringify(stored));
    await button("Delete Lake").click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("No connectors").waitFor();
  });
}

export default async function () {
  await ldap();
  await settings();
  await users();
  await connectors();
}
