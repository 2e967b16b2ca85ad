// "Balance a service" on a new server: a failure that names what was made, the service, its engine with the
// command of the page, requests through the engine, a change that the engine gets, one that it refuses.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createListener } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessible } from "./axe.mjs";
import {
  call,
  expect,
  fits,
  go,
  hasValue,
  heading,
  page,
  stamp,
  step,
  typeInFocus,
  until,
} from "./lib.mjs";

const SERVICE = `shop-${stamp}`;
const HOST = `web-${stamp}`;
const PEM = "-----BEGIN CERTIFICATE-----\nno certificate\n-----END CERTIFICATE-----\n";

const button = (name) => page.getByRole("button", { name, exact: true });
const box = (label) => page.getByRole("textbox", { name: label, exact: true });
const dialog = () => page.getByRole("dialog");
const panel = () => page.getByRole("region", { name: "Engines", exact: true });

/** A host with an interface on loopback. */
async function host() {
  const { groupids } = await call("hostgroup.create", { name: HOST });
  const address = { type: 1, main: 1, useip: 1, ip: "127.0.0.1", dns: "", port: "10050" };
  const { hostids } = await call("host.create", {
    host: HOST,
    status: 1,
    groups: [{ groupid: groupids[0] }],
    interfaces: [address],
  });
  return hostids[0];
}

/** Listens on a port of loopback, by default on any that is free; `end` releases it. */
function listen(server, port = 0) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () =>
      resolve({ port: String(server.address().port), end: () => server.close() }),
    );
  });
}

/** A free port that the system does not give to connections until something listens on it. */
async function freePort() {
  for (;;) {
    const port = 61_000 + Math.floor(Math.random() * 4_000);
    const found = await listen(createListener(), port).catch(() => undefined);
    if (!found) continue;
    found.end();
    return found.port;
  }
}

/** The response of the service to a request; "" while nothing listens. */
const ask = async (port, path) => {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { Connection: "close" },
    });
    return `${answer.status} ${await answer.text()}`;
  } catch {
    return "";
  }
};

const responds = (port, path, wanted) => async () => (await ask(port, path)) === wanted;

/** Runs a command line of the page as a shell does; the answer ends it. */
function run(command) {
  const PATH = `${process.env.PROGRAMS}:${process.env.PATH}`;
  const options = { detached: true, stdio: "ignore", env: { ...process.env, PATH } };
  const child = spawn("sh", ["-c", command], options);
  return () => {
    try {
      process.kill(-child.pid);
    } catch {
      // It has ended.
    }
  };
}

async function changed(port) {
  await button("Save virtual service").click();
  await dialog()
    .getByText(/affects 1 virtual service/)
    .waitFor();
  if (port)
    await dialog().getByText(`Starts accepting connections on 127.0.0.1:${port}.`).waitFor();
  await dialog().getByRole("button", { name: "Save virtual service" }).click();
  await dialog().getByText("The change is sent to these engines:").waitFor();
}

async function makeService(port, server) {
  const hostid = await host();

  await step("a failure names what was created", async () => {
    await go("/balancing/services");
    await page.getByRole("link", { name: "Balance a service" }).first().click();
    await heading("Balance a service").waitFor();
    await box("Name *").fill(SERVICE);
    await page.getByRole("radio", { name: "HTTPS" }).click();
    await page.getByLabel("Address", { exact: true }).selectOption({ label: "Another address…" });
    await box("IP address *").fill("127.0.0.1");
    await box("Port *").fill(port);
    await box("Certificate, then its chain (PEM) *").fill(PEM);
    await box("Private key (PEM) *").fill(PEM);
    await box("IP address").fill(`127.0.0.1:${server}`);
    await hasValue(box("Port"), server);
    await button("Create service").click();
    await page.getByText("The certificate was not created.").waitFor();
    await page.getByText("VIP 127.0.0.1", { exact: true }).waitFor();
    await fits();
    await accessible();
    await button("Remove these objects").click();
    await page.getByText("The objects were removed.").waitFor();
    expect((await call("vip.get", {})).length === 0, "the VIP remains");
  });

  await step("create the service", async () => {
    await page.getByRole("radio", { name: "HTTP", exact: true }).click();
    await box("Path *").fill("/health");
    await page.getByLabel("Monitored hosts", { exact: true }).click();
    await page.getByRole("textbox", { name: "Search hosts" }).fill(HOST);
    await page.getByRole("option", { name: HOST }).click();
    await page.keyboard.press("Escape");
    await hasValue(box("IP address").nth(1), "127.0.0.1");
    await page
      .getByText(`Creates: VIP 127.0.0.1, engine group default,`, { exact: false })
      .waitFor();
    await button("Create service").click();
    await heading(`Edit ${SERVICE}`).waitFor();
    await panel().getByText("This group has no engines yet.").waitFor();
    const [service] = await call("virtualservice.get", { filter: { name: SERVICE } });
    expect(service.type === "http" && service.port === port, JSON.stringify(service));
    const [pool] = await call("pool.get", { poolids: service.poolid, selectServers: "extend" });
    expect(
      pool.servers.map((one) => `${one.port} ${one.hostid}`).join() ===
        `${server} 0,${server} ${hostid}`,
      JSON.stringify(pool.servers),
    );
  });
}

async function startEngine(folder) {
  let end = () => undefined;
  await step("start an engine with the command", async () => {
    await panel().getByRole("button", { name: "Add engine" }).click();
    await dialog().getByRole("textbox", { name: "Name *" }).fill("edge1");
    await dialog().getByRole("button", { name: "Save engine" }).click();
    await dialog().getByLabel("Server").fill(process.env.ENGINES);
    await dialog().getByLabel("Data folder").fill(folder);
    await dialog()
      .getByText("Has never connected. Its token is valid until", { exact: false })
      .waitFor();
    await accessible();
    end = run(await dialog().getByRole("status", { name: "Command" }).textContent());
    await dialog().getByText("Runs the current configuration.").waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
    await panel().getByText("The engine runs the current configuration.").waitFor();
  });
  return () => end();
}

async function changes(port, taken) {
  await step("requests go through the engine", async () => {
    await until("a response through the engine", responds(port, "/a", "200 /a"));
  });

  await step("a change reaches the engine", async () => {
    await button("Add rule").click();
    const firstRule = page.getByRole("listitem", { name: "Rule 1", exact: true });
    await typeInFocus(firstRule.getByLabel("Value", { exact: true }), "/closed");
    await page.getByLabel("Action", { exact: true }).selectOption({ label: "Respond with a text" });
    await box("Status *").fill("410");
    await box("Text").fill("closed");
    await changed();
    await dialog().getByText("Runs the current configuration.").waitFor();
    await dialog().getByRole("contentinfo").getByRole("button", { name: "Close" }).click();
    await until("the rule", responds(port, "/closed/x", "410 closed"));
    expect((await ask(port, "/a")) === "200 /a", "other requests are affected");
  });

  await step("a refused change says why", async () => {
    await page.getByRole("link", { name: SERVICE, exact: true }).click();
    await box("Port *").fill(taken);
    await changed(taken);
    await dialog()
      .getByText(/^Refuses the current configuration .*cannot listen on/)
      .waitFor();
    await dialog().getByRole("contentinfo").getByRole("button", { name: "Close" }).click();
    await go("/balancing/engines");
    await page.getByText("The engine refuses the current configuration.").waitFor();
    expect((await ask(port, "/a")) === "200 /a", "the engine gave up its configuration");
  });
}

async function engines() {
  await step("engines on a phone in the dark", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(() => localStorage.setItem("vedette.theme", "dark"));
    await go("/balancing/engines");
    await page.getByText(/^Connected, last report/).waitFor();
    await fits();
    await accessible();
    await go("/balancing/services/balance");
    await heading("Balance a service").waitFor();
    await fits();
    await accessible();
    await page.evaluate(() => localStorage.setItem("vedette.theme", "light"));
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await step("edit an engine and renew its token", async () => {
    await go("/balancing/engines");
    await button("Edit edge1").click();
    await dialog().getByRole("textbox", { name: "Description" }).fill("Rack 4");
    await dialog().getByRole("button", { name: "Save engine" }).click();
    await page.getByText("Rack 4").waitFor();
    await button("New token for edge1").click();
    await dialog()
      .getByText(/Older tokens of the engine stop working/)
      .waitFor();
    await dialog().getByRole("button", { name: "Generate token" }).click();
    await dialog()
      .getByText(/^VEDETTE_ENGINE_TOKEN=/)
      .waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
  });

  await step("delete an engine", async () => {
    await button("Delete edge1").click();
    await dialog()
      .getByText(/continues with its last configuration until you stop it/)
      .waitFor();
    await dialog().getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText(/^This group has no engines/).waitFor();
    expect((await call("engine.get", {})).length === 0, "the engine exists");
  });
}

export async function balance() {
  const folder = mkdtempSync(join(tmpdir(), "vedette-engine-"));
  const backend = await listen(createServer((request, response) => response.end(request.url)));
  const taken = await listen(createListener());
  const port = await freePort();
  let end = () => undefined;
  try {
    await makeService(port, backend.port);
    end = await startEngine(folder);
    await changes(port, taken.port);
    await engines();
  } finally {
    end();
    backend.end();
    taken.end();
    rmSync(folder, { recursive: true, force: true });
  }
}
