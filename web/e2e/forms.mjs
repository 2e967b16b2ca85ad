// Every form with an existing object, light and dark, on a phone and a desktop: no form is wider than
// its window, and axe has no critical and serious finding.

import { accessible } from "./axe.mjs";
import { call, fits, go, heading, page, stamp, step } from "./lib.mjs";

const NAME = `E2E form ${stamp}`;
const SIZES = [
  [390, 844],
  [1440, 900],
];
const button = (name) => page.getByRole("button", { name, exact: true });
const TAG = { tag: "site", value: "riga" };

/** An object of each kind, with all parts that its form has editors for; returns their ids. */
async function create() {
  const host = `e2e-form-${stamp}`;
  const [group] = await call("hostgroup.get", { output: ["groupid"], limit: 1 });
  const [templates] = await call("templategroup.get", { output: ["groupid"], limit: 1 });
  const groups = [{ groupid: group.groupid }];
  const tags = [TAG];
  const { hostids } = await call("host.create", {
    host,
    name: NAME,
    groups,
    tags,
    interfaces: [
      { type: 1, main: 1, useip: 1, ip: "127.0.0.1", dns: "", port: "10050" },
      {
        type: 2,
        main: 1,
        useip: 1,
        ip: "127.0.0.1",
        dns: "",
        port: "161",
        details: { version: 3, securityname: "monitor", securitylevel: 2, authprotocol: 1 },
      },
      { type: 3, main: 1, useip: 1, ip: "127.0.0.1", dns: "", port: "623" },
    ],
    macros: [{ macro: "{$FORM}", value: "1" }],
    tls_connect: 2,
    tls_accept: 2,
    tls_psk_identity: host,
    tls_psk: "0123456789abcdef".repeat(2),
  });
  const hostid = hostids[0];
  const { itemids } = await call("item.create", {
    hostid,
    name: NAME,
    key_: "form.item",
    type: 19,
    url: "http://127.0.0.1/",
    delay: "1h",
    value_type: 0,
    tags,
    status: 1,
    preprocessing: [
      { type: 12, params: "$.value", error_handler: 1, error_handler_params: "" },
      { type: 1, params: "8", error_handler: 2, error_handler_params: "0" },
    ],
  });
  const { triggerids } = await call("trigger.create", {
    description: NAME,
    expression: `last(/${host}/form.item)>5`,
    recovery_mode: 1,
    recovery_expression: `last(/${host}/form.item)<3`,
    correlation_mode: 1,
    correlation_tag: "site",
    tags,
  });
  const rule = { hostid, name: NAME, key_: "form.rule", type: 2 };
  const { itemids: ruleids } = await call("discoveryrule.create", {
    ...rule,
    lld_macro_paths: [{ lld_macro: "{#NAME}", path: "$.name" }],
    filter: {
      evaltype: 3,
      formula: "A",
      conditions: [{ macro: "{#NAME}", value: "x", operator: 8, formulaid: "A" }],
    },
    overrides: [
      {
        name: NAME,
        step: 1,
        stop: 0,
        operations: [
          { operationobject: 0, operator: 2, value: "x", opdiscover: { discover: 1 }, optag: tags },
        ],
      },
    ],
  });
  const ruleid = ruleids[0];
  const { itemids: prototypeids } = await call("itemprototype.create", {
    ...rule,
    ruleid,
    key_: "form.item[{#NAME}]",
    value_type: 0,
  });
  const { hostids: hostPrototypeids } = await call("hostprototype.create", {
    ruleid,
    host: "form-{#NAME}",
    groupLinks: groups,
    groupPrototypes: [{ name: "Form {#NAME}" }],
  });
  const { httptestids } = await call("httptest.create", {
    hostid,
    name: NAME,
    status: 1,
    variables: [{ name: "{a}", value: "1" }],
    steps: [{ no: 1, name: "front", url: "http://127.0.0.1/", status_codes: "200" }],
  });
  await call("valuemap.create", {
    hostid,
    name: NAME,
    mappings: [{ type: 0, value: "1", newvalue: "up" }],
  });
  const { maintenanceids } = await call("maintenance.create", {
    name: NAME,
    active_since: 2145830400,
    active_till: 2145916799,
    groups,
    hosts: [{ hostid }],
    tags: [TAG, { tag: "scope", value: "" }],
    timeperiods: [
      { timeperiod_type: 4, every: 1, month: 4095, dayofweek: 1, start_time: 0, period: 3600 },
    ],
  });
  const { druleids } = await call("drule.create", {
    name: NAME,
    iprange: "127.0.0.1",
    status: 1,
    delay: "1d",
    dchecks: [{ type: 9, key_: "agent.version", ports: "10050" }],
  });
  const { actionids } = await call("action.create", {
    name: NAME,
    eventsource: 1,
    status: 1,
    filter: {
      evaltype: 3,
      formula: "A and B",
      conditions: [
        { conditiontype: 7, operator: 0, value: "127.0.0.1", formulaid: "A" },
        { conditiontype: 10, operator: 0, value: "2", formulaid: "B" },
      ],
    },
    operations: [
      { operationtype: 4, opgroup: groups },
      { operationtype: 13, optag: tags },
    ],
  });
  const { templateids } = await call("template.create", {
    host: `${NAME} template`,
    groups: [{ groupid: templates.groupid }],
    tags,
  });
  return {
    hostid,
    itemid: itemids[0],
    triggerid: triggerids[0],
    ruleid,
    prototypeid: prototypeids[0],
    hostPrototypeid: hostPrototypeids[0],
    httptestid: httptestids[0],
    maintenanceid: maintenanceids[0],
    druleid: druleids[0],
    actionid: actionids[0],
    templateid: templateids[0],
  };
}

async function remove(ids) {
  await call("maintenance.delete", [ids.maintenanceid]);
  await call("action.delete", [ids.actionid]);
  await call("drule.delete", [ids.druleid]);
  await call("template.delete", [ids.templateid]);
  await call("host.delete", [ids.hostid]);
}

/** What opens each form: an address, the heading there, and what to click after that. */
function formsOf(ids, user) {
  const edit = (name) => button(`Edit ${name}`).first().click();
  const tab = (path) => `/hosts/${ids.hostid}?tab=${path}`;
  const host = new RegExp(NAME);
  return [
    ["host", `/hosts/${ids.hostid}/edit`, /Edit/],
    ["item", `/items/${ids.itemid}/edit`, /Edit/],
    ["trigger", `/triggers/${ids.triggerid}/edit`, /Edit/],
    ["low-level discovery rule", `/rules/${ids.ruleid}`, host],
    ["item prototype", `/items/${ids.prototypeid}/edit`, /Edit/],
    ["host prototype", `/host-prototypes/${ids.hostPrototypeid}/edit`, /Edit/],
    ["web scenario", `/web/${ids.httptestid}/edit`, /Edit/],
    ["maintenance", `/maintenance/${ids.maintenanceid}/edit`, /Edit/],
    ["discovery rule", `/discovery-rules/${ids.druleid}/edit`, /Edit/],
    ["action", `/actions/${ids.actionid}/edit`, /Edit/],
    ["macros", tab("macros"), host, () => button("Edit macros").click()],
    ["value map", tab("valuemaps"), host, () => edit(NAME)],
    ["template", `/templates/${ids.templateid}`, host, () => button("Edit template").click()],
    ["user", "/users", /^Users/, () => edit(user)],
    ["user group", "/users?tab=groups", /^Users/, () => button("Create user group").click()],
    ["role", "/users?tab=roles", /^Users/, () => button("Create role").click()],
    ["token", "/users?tab=tokens", /^Users/, () => button("Create API token").first().click()],
    ["import", "/templates", /^Templates/, () => button("Import").click()],
    [
      "graph",
      `/graph?items=${ids.itemid}`,
      host,
      () => page.getByRole("button", { name: `${NAME}: ${NAME}` }).click(),
    ],
    ["item test", `/items/${ids.itemid}/edit`, /Edit/, () => button("Test").click()],
    ["web test", `/web/${ids.httptestid}/edit`, /Edit/, () => button("Test").click()],
  ];
}

async function theme(name) {
  await page.evaluate((value) => {
    document.documentElement.dataset.theme = value;
  }, name);
}

export async function forms(user) {
  let ids;
  await step("objects for the forms", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    ids = await create();
  });
  if (!ids) return;
  for (const [name, path, title, open] of formsOf(ids, user)) {
    await step(`form ${name}`, async () => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await go(path);
      await heading(title).waitFor();
      await open?.();
      await page
        .locator("form input, dialog input, [placeholder='Search items']")
        .first()
        .waitFor();
      for (const [width, height] of SIZES) {
        await page.setViewportSize({ width, height });
        for (const tone of ["light", "dark"]) {
          await theme(tone);
          await fits();
          await accessible(`${width} px, ${tone}`);
        }
      }
    });
  }
  await step("objects of the forms deleted", () => remove(ids));
}
