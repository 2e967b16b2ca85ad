// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import type { MockApi } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const now = Math.floor(Date.now() / 1000);
const RULE = '{"if":{"path_prefix":"/api/","method":"POST"},"then":{"poolid":"2"}}';

/** A service on two engines, of which one runs its configuration. */
function balanced(rules: readonly string[] = [RULE]): MockApi {
  const api = mockEstate({ hosts: 3 });
  const engine = (id: number, name: string, running: string, last: number) => ({
    engineid: String(id),
    name,
    description: "",
    enginegroupid: "1",
    enrolment_expires_at: "0",
    lastaccess: String(last),
    address: "192.0.2.9",
    running_hash: running,
    desired_hash: "aaaaaaaaaaaa",
    error: "",
  });
  api.tables["enginegroup.get"] = [
    { enginegroupid: "1", name: "edge", description: "" },
    { enginegroupid: "2", name: "inside", description: "" },
  ];
  api.tables["engine.get"] = [
    engine(1, "edge1", "aaaaaaaaaaaa", now + 3_600),
    engine(2, "edge2", "aaaaaaaaaaaa", now - 3_600),
  ];
  // Tables leave out members that are lists or objects.
  api.answers["vip.get"] = () => [
    { vipid: "1", name: "public", description: "", ipv4: "192.0.2.1", ipv6: "", dns_names: [] },
  ];
  api.answers["pool.get"] = () => [
    { poolid: "1", name: "web", description: "", servers: [] },
    { poolid: "2", name: "api", description: "", servers: [] },
  ];
  api.tables["healthmonitor.get"] = [];
  api.tables["certificate.get"] = [];
  api.answers["virtualservice.get"] = () => [
    {
      virtualserviceid: "7",
      name: "shop",
      description: "",
      status: "0",
      type: "http",
      enginegroupid: "1",
      vipid: "1",
      port: "80",
      poolid: "1",
      accept_proxy: "0",
      tls: {},
      timeouts: {},
      limits: {},
      rate_limit: {},
      authentication: {},
      compression: {},
      cache: {},
      mirror: {},
      forwarded: {},
      rules: rules.map((rule) => JSON.parse(rule)),
      allow: [],
      deny: [],
      certificates: [],
    },
  ];
  api.answers["virtualservice.update"] = () => ({ virtualserviceids: ["7"] });
  api.answers["enginegroup.compare"] = () => [
    { virtualserviceid: "7", name: "shop", enginegroupid: "1", change: "changed" },
  ];
  return api;
}

const SHOP = "/balancing/services/7/edit";
const button = (name: string | RegExp) => screen.getByRole("button", { name });
const press = (name: string | RegExp) => fireEvent.click(button(name));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
/** The dialog after saving belongs to no page. */
const closeDialog = () =>
  fireEvent.click(
    within(within(screen.getByRole("dialog")).getByRole("contentinfo")).getByRole("button"),
  );
const rule = (at: number) => screen.getByRole("listitem", { name: `Rule ${at}` });
const sentences = () =>
  screen.getAllByRole("listitem", { name: /^Rule/ }).map((one) => one.textContent);

test("rules are sentences, in their order, with the names of pools", async () => {
  await openPage(balanced([RULE, '{"then":{"deny":403}}']), SHOP);
  await screen.findByText("If path starts with /api/ and method is POST → use pool api");
  expect(sentences()).toEqual([
    "Edit rule 1 If path starts with /api/ and method is POST → use pool api",
    "Edit rule 2 Always → respond with status 403",
  ]);
});

test("a rule is added, moved, duplicated and removed, and the focus follows it", async () => {
  await openPage(balanced(), SHOP);
  await screen.findByText(/use pool api/);
  press("Add rule");
  type("Value", "/old/");
  fireEvent.change(within(rule(2)).getByLabelText("Action"), { target: { value: "redirect" } });
  type(/^Location/, "https://{host}/new/");
  press("Move rule 2 up");
  expect(sentences()[0]).toContain("redirect to https://{host}/new/ with status 301");
  // The first rule cannot move up: the focus goes to the rule.
  expect(document.activeElement?.textContent).toMatch(/^Close rule 1/);
  press("Duplicate rule 1");
  expect(sentences()).toHaveLength(3);
  press("Remove rule 1");
  expect(sentences()).toHaveLength(2);
  expect(document.activeElement?.textContent).toMatch(/rule 1 If path starts/);
});

test("a rule with an error is not saved, and the error is at its field", async () => {
  const api = balanced();
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  press(/^Edit rule 1/);
  fireEvent.change(within(rule(1)).getAllByLabelText("Value")[0] as Element, {
    target: { value: "api" },
  });
  press("Save virtual service");
  await within(rule(1)).findByText("Enter a path that begins with /.");
  expect(screen.getByRole("alert").textContent).toBe("Rule 1: Enter a path that begins with /.");
  expect(api.callsOf("enginegroup.compare")).toHaveLength(0);
});

test("rules are edited as JSON too, and come back as a list when it is valid", async () => {
  await openPage(balanced(), SHOP);
  await screen.findByText(/use pool api/);
  fireEvent.click(screen.getByLabelText("Edit as JSON"));
  type("Rules (JSON)", "[{]");
  fireEvent.click(screen.getByLabelText("Edit as JSON"));
  await screen.findByText(/This is not valid JSON/);
  type("Rules (JSON)", '[{"if": {"country": "LV"}, "then": {"poolid": "2"}}]');
  fireEvent.click(screen.getByLabelText("Edit as JSON"));
  expect(rule(1).textContent).toContain("Edit it as JSON.");
});

/** Open connections of the service, measured so many seconds ago. */
function measured(api: MockApi, age: number): void {
  const host = { hostid: "77", host: "lb.service.7", name: "shop", interfaces: [] };
  const clock = String(now - age);
  const key_ = "zabbix[vedette,lb,connections]";
  api.tables["host.get"] = [host];
  api.tables["item.get"] = [
    { itemid: "1", hostid: "77", key_, state: "0", lastvalue: "12", lastclock: clock },
  ];
}

test.each([
  [5, 1],
  [3_600, 0],
])("open connections of %i seconds ago are shown %i times", async (age, shown) => {
  const api = balanced();
  measured(api, age);
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  press("Save virtual service");
  const question = await screen.findByRole("dialog");
  await within(question).findByText(/^Open connections stay/);
  await waitFor(() => expect(api.callsOf("item.get").length).toBeGreaterThan(0));
  if (shown) await within(question).findByText("12 connections open now.");
  expect(within(question).queryAllByText(/open now/)).toHaveLength(shown);
  fireEvent.click(within(question).getByRole("button", { name: "Cancel" }));
});

test("saving shows what the change touches first, then the engines that get it", async () => {
  const api = balanced();
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  type("Port *", "81");
  press("Save virtual service");
  const question = await screen.findByRole("dialog");
  await within(question).findByText("Starts accepting connections on 192.0.2.1:81.");
  within(question).getByText(/Stops accepting connections on 192.0.2.1:80./);
  within(question).getByText("edge: 2 engines");
  expect(api.callsOf("virtualservice.update")).toHaveLength(0);
  fireEvent.click(within(question).getByRole("button", { name: "Cancel" }));
  fireEvent.click(await screen.findByRole("button", { name: "Save virtual service" }));
  const again = await screen.findByRole("dialog");
  fireEvent.click(within(again).getByRole("button", { name: "Save virtual service" }));
  await screen.findByText("The change is sent to these engines:");
  closeDialog();
  expect(api.callsOf("virtualservice.update")).toHaveLength(1);
  expect(api.callsOf("enginegroup.compare")[0]).toMatchObject({
    method: "virtualservice.update",
    params: { virtualserviceid: "7", port: "81" },
  });
});

test("a service is disabled after its listeners are named", async () => {
  const api = balanced();
  api.answers["enginegroup.compare"] = () => [
    { virtualserviceid: "7", name: "shop", enginegroupid: "1", change: "removed" },
  ];
  await openPage(api, "/balancing/services");
  fireEvent.click(await screen.findByRole("checkbox", { name: "Select row" }));
  press("Disable");
  const question = await screen.findByRole("dialog", { name: "Disable 1 virtual service?" });
  await within(question).findByText(/^Stops accepting connections on 192.0.2.1:80\./);
  expect(api.callsOf("virtualservice.update")).toHaveLength(0);
  fireEvent.click(within(question).getByRole("button", { name: "Disable" }));
  await screen.findByText("The change is sent to these engines:");
  expect(api.callsOf("virtualservice.update")).toEqual([[{ virtualserviceid: "7", status: "1" }]]);
  closeDialog();
});

test("a service that moves to another group leaves the engines of its old one", async () => {
  const api = balanced();
  api.answers["enginegroup.compare"] = () => [
    { virtualserviceid: "7", name: "shop", enginegroupid: "2", change: "changed" },
  ];
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  type("Engine group *", "2");
  press("Save virtual service");
  const question = await screen.findByRole("dialog");
  await within(question).findByText(/^Moves from edge to inside\./);
  within(question).getByText("inside: no engine");
  fireEvent.click(within(question).getByRole("button", { name: "Save virtual service" }));
  // The engines of the old group must lose it.
  const after = await screen.findByRole("dialog", { name: "The virtual service was saved" });
  await within(after).findByText("edge1");
  closeDialog();
});

test("a change that touches no service is saved at once", async () => {
  const api = balanced();
  api.answers["enginegroup.compare"] = () => [];
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  press("Save virtual service");
  await screen.findByText("shop was saved.");
  expect(api.callsOf("virtualservice.update")).toHaveLength(1);
});

test("engines that do not report are never shown as running the configuration", async () => {
  await openPage(balanced(), "/balancing/engines");
  const list = await screen.findByRole("list", { name: "Engines: edge" });
  const [first, second] = within(list).getAllByRole("listitem");
  expect(first?.textContent).toContain("Runs the current configuration.");
  expect(second?.textContent).toContain("Not connected");
  expect(second?.textContent).not.toContain("Runs the current");
  screen.getByText("1 of 2 engines runs the current configuration: 1 engine is not connected.");
});

test("a new engine gets a token with the command that starts it", async () => {
  const api = balanced();
  api.answers["engine.create"] = () => ({ engineids: ["3"] });
  api.answers["engine.generate"] = () => [
    { engineid: "3", token: "secret.print", expires_at: String(now + 3_600) },
  ];
  await openPage(api, "/balancing/engines");
  fireEvent.click(await screen.findByRole("button", { name: "Add engine: inside" }));
  type("Name *", "inside1");
  press("Save engine");
  await screen.findByText(/^VEDETTE_ENGINE_TOKEN=secret.print vedette engine --controller/);
  expect(api.callsOf("engine.create")).toEqual([
    { name: "inside1", enginegroupid: "2", description: "" },
  ]);
  type("Server", "monitor");
  await screen.findByText("Enter a host and a port, such as monitor:10061.");
});

test("admins read rules and engines, without anything to press in vain", async () => {
  await openPage(balanced(), SHOP, { type: 2 });
  await screen.findByText(/use pool api/);
  const page = screen.getByRole("main");
  for (const name of [/^Save/, /^Delete/, /^Add rule/, /^Move rule/, "Add engine"]) {
    expect(within(page).queryByRole("button", { name })).toBeNull();
  }
  expect(within(page).queryByLabelText("Edit as JSON")).toBeNull();
});

test.each(["/balancing/services/new", "/balancing/services/balance"])(
  "admins cannot open %s",
  async (path) => {
    await openPage(balanced(), path, { type: 2 });
    await screen.findByText("You do not have permission to open this page");
  },
);

test("users cannot open engines", async () => {
  await openPage(balanced(), "/balancing/engines", { type: 1 });
  await screen.findByText("You do not have permission to open this page");
});

test("a service is balanced from nothing, and a failure names what was made", async () => {
  const api = balanced();
  api.tables["enginegroup.get"] = [];
  for (const get of ["vip.get", "pool.get", "virtualservice.get"] as const)
    api.answers[get] = () => [];
  const made: string[] = [];
  api.answers["vip.create"] = () => ({ vipids: ["1"] });
  api.answers["enginegroup.create"] = () => ({ enginegroupids: ["1"] });
  api.answers["healthmonitor.create"] = () => ({ healthmonitorids: ["1"] });
  api.answers["vip.delete"] = (ids) => {
    made.push("vip");
    return { vipids: ids };
  };
  api.answers["enginegroup.delete"] = (ids) => ({ enginegroupids: ids });
  api.answers["healthmonitor.delete"] = (ids) => ({ healthmonitorids: ids });
  api.refuse("pool.create", {
    code: -32602,
    message: "Invalid params.",
    data: 'Invalid parameter "/1/servers/1/address": an IPv4 or IPv6 address is expected.',
  });
  await openPage(api, "/balancing/services/balance");
  await screen.findByLabelText(/^Name \*/);
  type(/^Name \*/, "shop");
  type("IP address", "10.0.0.300");
  press("Create service");
  await screen.findByText("The pool was not created.");
  screen.getByText("1/address: an IPv4 or IPv6 address is expected.");
  const left = screen.getByRole("region", { name: "These objects were created and remain:" });
  expect(
    within(left)
      .getAllByRole("listitem")
      .map((one) => one.textContent),
  ).toEqual(["VIP 0.0.0.0", "engine group default", "health monitor shop"]);
  press("Remove these objects");
  await screen.findByText("The objects were removed.");
  expect(made).toEqual(["vip"]);
});

/** The service with members in the place of its own. */
function withMembers(members: object): MockApi {
  const api = balanced();
  const answer = api.answers["virtualservice.get"] ?? (() => []);
  api.answers["virtualservice.get"] = (params) =>
    (answer(params) as object[]).map((row) => ({ ...row, ...members }));
  api.answers["enginegroup.compare"] = () => [];
  return api;
}

const saved = async (api: MockApi) => {
  press("Save virtual service");
  await waitFor(() => expect(api.callsOf("virtualservice.update")).toHaveLength(1));
  return api.callsOf("virtualservice.update")[0];
};
const BASIC = { name: "staff", users: { alice: "******" }, pass_authorization: true };

test("stored hashes are kept, and a new user gets one", async () => {
  const api = withMembers({ authentication: { require: "staff", basic: [BASIC] } });
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  const hash = screen.getByLabelText("Password hash") as HTMLInputElement;
  expect([hash.value, hash.type]).toEqual(["", "password"]);
  press("Add user");
  const second = (label: string) => screen.getAllByLabelText(label)[1] as Element;
  fireEvent.change(second("User"), { target: { value: "bob" } });
  press("Save virtual service");
  await screen.findAllByText("Enter a hash that begins with $.");
  expect(api.callsOf("virtualservice.update")).toHaveLength(0);
  fireEvent.change(second("Password hash"), { target: { value: "$6$salt$hash" } });
  expect(await saved(api)).toMatchObject({
    authentication: {
      require: "staff",
      basic: [{ ...BASIC, users: { alice: "******", bob: "$6$salt$hash" } }],
    },
  });
});

test("compression is switched on with the defaults, and its level is checked", async () => {
  const api = withMembers({});
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  fireEvent.click(screen.getByLabelText("Compress responses"));
  fireEvent.click(screen.getByLabelText("Zstandard"));
  type("Level", "10");
  press("Save virtual service");
  await screen.findAllByText("Enter a number from 1 to 9.");
  type("Level", "3");
  expect(await saved(api)).toMatchObject({ compression: { algorithms: ["br", "gzip"], level: 3 } });
});

test("a refusal of the server is shown at the key that it names", async () => {
  const keys = [{ algorithm: "HS256", id: "a", key: "******" }];
  const api = withMembers({ authentication: { jwt: [{ name: "api", keys }] } });
  api.refuse("virtualservice.update", {
    code: -32602,
    message: "Invalid params.",
    data: 'Invalid parameter "/1/authentication/jwt/1/keys/1/key": is too short.',
  });
  await openPage(api, SHOP);
  await screen.findByText(/use pool api/);
  press("Save virtual service");
  const policy = screen.getByRole("region", { name: "api" });
  await within(policy).findByText(/is too short\./i);
});

test("a certificate that waits for its order says what the order needs", async () => {
  const api = balanced();
  api.answers["certificate.get"] = () => [
    {
      certificateid: "1",
      name: "shop",
      description: "",
      certificate: "",
      acme: { domains: ["shop.example.com"] },
      names: [],
      not_after: "0",
      order_state: "waiting",
      error: "",
      next_attempt: "0",
    },
  ];
  await openPage(api, "/balancing/certificates/1/edit");
  await screen.findByText(/start the server with --engines ADDRESS/);
});
