// What flows need on the server before they begin, made through the API with the session of the page.
// Names have a stamp, so that flows do not meet on one server.

import { call, stamp, until } from "./lib.mjs";

const WAIT_MS = 120_000;

async function groupid() {
  const name = "E2E";
  const [found] = await call("hostgroup.get", { output: ["groupid"], filter: { name } });
  return found?.groupid ?? (await call("hostgroup.create", { name })).groupids[0];
}

/** A host without anything. */
export async function plainHost(prefix = "e2e-host") {
  const host = `${prefix}-${stamp}`;
  const groups = [{ groupid: await groupid() }];
  const { hostids } = await call("host.create", { host, groups });
  return { host, hostid: hostids[0] };
}

/** A host that is not monitored, with an item that is not, and a maintenance that is over: rows that tables mute. */
export async function muted() {
  const { hostid } = await plainHost("e2e-muted");
  await call("host.update", { hostid, status: 1 });
  await call("item.create", {
    hostid,
    name: "off",
    key_: "off",
    type: 2,
    value_type: 0,
    status: 1,
  });
  const now = Math.floor(Date.now() / 1000);
  await call("maintenance.create", {
    name: `E2E past ${stamp}`,
    active_since: now - 7200,
    active_till: now - 3600,
    hosts: [{ hostid }],
    timeperiods: [{ timeperiod_type: 0, start_date: now - 7200, period: 3600 }],
  });
}

/** A host with an open problem that may be closed manually. */
export async function trouble() {
  const { host, hostid } = await plainHost("trouble");
  const problem = `Coolant is low ${stamp}`;
  await call("item.create", { hostid, name: "load", key_: "load", type: 2, value_type: 0 });
  const long = ["component", "room", "service", "team", "vendor"];
  await call("trigger.create", {
    description: problem,
    priority: 4,
    manual_close: 1,
    expression: `last(/${host}/load)>5`,
    tags: [
      { tag: "scope", value: "load" },
      ...long.map((tag) => ({ tag, value: "cooling of the first hall" })),
    ],
  });
  const opened = async () => {
    await call("history.push", [{ host, key: "load", value: 9 }]);
    const found = await call("problem.get", { search: { name: problem } });
    return found.length > 0;
  };
  await until(`the problem ${problem}`, opened, WAIT_MS);
  return { host, problem };
}

/** The visible name of the host with the built-in agent, once its values have arrived. */
export async function machine() {
  const hosts = await call("host.get", { output: ["hostid", "host", "name"] });
  const wanted =
    process.env.HOST ?? hosts.find(({ host }) => !/^(Vedette|e2e-|trouble-)/.test(host))?.name;
  const found = hosts.find(({ name }) => name === wanted);
  if (!found) throw new Error("no host with an agent; HOST names one");
  const arrived = async () => {
    const rows = await call("item.get", {
      output: ["lastclock"],
      hostids: [found.hostid],
      search: { key_: "system.cpu" },
    });
    return rows.length > 0 && rows.slice(0, 6).every((row) => row.lastclock !== "0");
  };
  await until(`values of ${found.name}`, arrived, WAIT_MS);
  return found.name;
}

/** The template "E2E template" with a trapper item. */
export async function baseTemplate() {
  const host = "E2E template";
  const [found] = await call("template.get", { output: ["templateid"], filter: { host } });
  if (found) return;
  const [group] = await call("templategroup.get", { output: ["groupid"], limit: 1 });
  const groups = [{ groupid: group.groupid }];
  const { templateids } = await call("template.create", { host, groups });
  const item = { name: `Requests ${stamp}`, key_: "e2e.requests", type: 2, value_type: 3 };
  await call("item.create", { hostid: templateids[0], ...item });
}
