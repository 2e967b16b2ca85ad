// Fills a server that speaks the JSON-RPC API with a small invented estate: groups, hosts, items,
// triggers in every severity, six hours of history and some open problems. For developing the
// interface, not for production.
//
//   BASE_URL=http://127.0.0.1:8080 USER=Admin PASSWORD=… node scripts/seed.mjs

const base = process.env.BASE_URL ?? "http://127.0.0.1:8080";
let token = "";

async function rpc(method, params) {
  const headers = { "Content-Type": "application/json-rpc" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify({ jsonrpc: "2.0", method, params, id: 1 });
  const answer = await (
    await fetch(`${base}/api_jsonrpc.php`, { method: "POST", headers, body })
  ).json();
  if (answer.error) throw new Error(`${method}: ${answer.error.data}`);
  return answer.result;
}

const GROUPS = ["Shop/Web", "Shop/Databases", "Network/Riga", "Network/Tallinn"];
const SITES = ["riga", "tallinn", "vilnius"];
const METRICS = [
  { key: "cpu.util", name: "CPU utilization", units: "%", base: 35, swing: 25 },
  { key: "mem.used", name: "Memory used", units: "B", base: 9e9, swing: 2e9 },
  { key: "net.in", name: "Network traffic in", units: "bps", base: 4e7, swing: 3e7 },
  { key: "disk.free", name: "Free space on /", units: "%", base: 40, swing: 8 },
  { key: "resp.time", name: "Response time", units: "s", base: 0.12, swing: 0.1 },
];
const TRIGGERS = [
  { key: "cpu.util", op: ">90", priority: 3, name: "CPU is saturated" },
  { key: "mem.used", op: ">20G", priority: 4, name: "Memory is nearly exhausted" },
  { key: "net.in", op: ">900M", priority: 1, name: "Unusually high traffic" },
  { key: "disk.free", op: "<5", priority: 5, name: "File system / is full" },
  { key: "resp.time", op: ">2", priority: 2, name: "Slow responses" },
];

async function groups() {
  const ids = [];
  for (const name of GROUPS) {
    const [found] = await rpc("hostgroup.get", { output: ["groupid"], filter: { name: [name] } });
    ids.push(found?.groupid ?? (await rpc("hostgroup.create", { name })).groupids[0]);
  }
  return ids;
}

async function host(n, groupids) {
  const kind = n % 4;
  const name = `${["web", "db", "sw", "rtr"][kind]}-${SITES[n % 3]}-${String(n).padStart(3, "0")}`;
  const [found] = await rpc("host.get", { output: ["hostid"], filter: { host: [name] } });
  if (found) return { name, hostid: found.hostid };
  const { hostids } = await rpc("host.create", {
    host: name,
    groups: [{ groupid: groupids[kind] }],
    interfaces: [{ type: 1, main: 1, useip: 1, ip: `127.0.1.${n}`, dns: "", port: "10050" }],
    tags: [
      { tag: "site", value: SITES[n % 3] },
      { tag: "role", value: ["web", "database", "switch", "router"][kind] },
    ],
  });
  const items = METRICS.map((m) => ({
    hostid: hostids[0],
    name: m.name,
    key_: m.key,
    type: 2,
    value_type: 0,
    units: m.units,
    tags: [{ tag: "component", value: m.key.split(".")[0] }],
  }));
  await rpc("item.create", items);
  const triggers = TRIGGERS.map((t) => ({
    description: `${t.name} on {HOST.NAME}`,
    expression: `last(/${name}/${t.key})${t.op}`,
    priority: t.priority,
    manual_close: 1,
    opdata: "Now: {ITEM.LASTVALUE1}",
    tags: [{ tag: "scope", value: t.priority > 2 ? "availability" : "performance" }],
  }));
  await rpc("trigger.create", triggers);
  return { name, hostid: hostids[0] };
}

function series(name, metric, seed, now) {
  const values = [];
  for (let age = 6 * 3600; age > 0; age -= 120) {
    const wave = Math.sin((now - age) / 2400 + seed) + Math.sin((now - age) / 700 + seed * 3) / 3;
    const value = Math.max(
      0,
      metric.base + metric.swing * wave * 0.7 + metric.swing * 0.1 * Math.random(),
    );
    values.push({ host: name, key: metric.key, value, clock: now - age, ns: 0 });
  }
  return values;
}

const BREAK = {
  "cpu.util": 97.2,
  "mem.used": 22e9,
  "net.in": 1.1e9,
  "disk.free": 2.1,
  "resp.time": 3.4,
};

async function main() {
  token = await rpc("user.login", {
    username: process.env.USER ?? "Admin",
    password: process.env.PASSWORD ?? "zabbix",
  });
  const groupids = await groups();
  const hosts = [];
  const count = Number(process.env.HOSTS ?? 48);
  for (let n = 1; n <= count; n++) hosts.push(await host(n, groupids));
  await new Promise((done) => setTimeout(done, 12_000));
  const now = Math.floor(Date.now() / 1000);
  for (const [n, { name }] of hosts.entries()) {
    await rpc(
      "history.push",
      METRICS.flatMap((m, i) => series(name, m, n + i, now)),
    );
    for (const [i, m] of METRICS.entries()) {
      if ((n * 7 + i * 3) % 11 !== 0) continue;
      await rpc("history.push", [{ host: name, key: m.key, value: BREAK[m.key] }]);
    }
  }
  console.log(`${hosts.length} hosts, ${hosts.length * METRICS.length} items`);
}

await main();
