// Pages and actions follow the rules of the user's role: a user who may only read hosts acknowledges
// problems, and neither suppresses nor closes them, nor sees the latest data.

import { base, call, expect, newPage, stamp, step } from "./lib.mjs";

const name = `e2e-role-${stamp}`;
const secret = `Secret ${stamp}!`;

/** A user of type "user" with these rules, who may read all hosts, signed in on a page of its own. */
async function signedIn(n, rules) {
  const groups = await call("hostgroup.get", { output: ["groupid"] });
  const rights = groups.map(({ groupid }) => ({ id: groupid, permission: 2 }));
  const who = `${name}-${n}`;
  const { usrgrpids } = await call("usergroup.create", { name: who, hostgroup_rights: rights });
  const { roleids } = await call("role.create", { name: who, type: 1, rules });
  const usrgrps = [{ usrgrpid: usrgrpids[0] }];
  await call("user.create", { username: who, passwd: secret, roleid: roleids[0], usrgrps });
  const other = await newPage();
  await other.goto(`${base}/problems`);
  await other.getByLabel("User name").fill(who);
  await other.getByLabel("Password").fill(secret);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("heading", { level: 1, name: /^Problems/ }).waitFor();
  return other;
}

/** The names of the controls in the update dialog of the problem with this name. */
async function openUpdate(other, problem) {
  await other.getByRole("grid", { name: "Problems" }).getByText(problem).first().click();
  const drawer = other.getByRole("complementary", { name: "Problem" });
  await drawer.getByRole("button", { name: "More…" }).click();
  return { drawer, dialog: other.getByRole("dialog", { name: /^Update/ }) };
}

export async function roles(problem) {
  await step("a role without suppression and latest data", async () => {
    const other = await signedIn("narrow", {
      ui: [{ name: "monitoring.latest_data", status: 0 }],
      actions: [
        { name: "suppress_problems", status: 0 },
        { name: "close_problems", status: 0 },
      ],
    });
    const menu = other.getByRole("navigation", { name: "Main" });
    await menu.getByRole("link", { name: "Hosts" }).waitFor();
    await menu.getByRole("link", { name: "Latest data" }).waitFor({ state: "detached" });
    const { drawer, dialog } = await openUpdate(other, problem);
    await dialog.getByLabel("Acknowledge").waitFor();
    expect((await dialog.getByLabel("Suppression").count()) === 0, "suppression is offered");
    expect((await dialog.getByLabel(/^Close the problem/).count()) === 0, "closing is offered");
    const silence = drawer.getByRole("button", { name: "Silence…" });
    expect((await silence.count()) === 0, "silencing is offered");
    await other.goto(`${base}/latest`);
    await other.getByText("You do not have permission to open this page").waitFor();
    await other.context().close();
  });

  await step("a role with suppression suppresses without the right to write", async () => {
    const other = await signedIn("wide", {});
    const { drawer, dialog } = await openUpdate(other, problem);
    await dialog.getByLabel("Acknowledge").uncheck();
    await dialog.getByLabel("Suppression").selectOption("30");
    await dialog.getByRole("button", { name: "Update", exact: true }).click();
    await drawer.getByText(/silenced until \d{4}-\d\d-\d\d \d\d:\d\d/).waitFor();
    await other.getByRole("button", { name: "More…" }).click();
    await dialog.getByLabel("Suppression").selectOption("unsuppress");
    await dialog.getByRole("button", { name: "Update", exact: true }).click();
    await drawer.getByText(/silenced until/).waitFor({ state: "detached" });
    await other.context().close();
  });
}
