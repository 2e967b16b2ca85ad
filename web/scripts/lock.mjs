// Completes package-lock.json after `npm install`.
//
// Tools with native parts name one optional package per platform. Where a registry does not have the
// package of some other platform, npm leaves it out of the lock file, and `npm ci` then refuses the
// file, on this platform too. The missing entries are added here; what they need (version, os, cpu)
// stands in the name and in the package that asks for them.

import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));

const SYSTEMS = [
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "aix",
  "win32",
];
const PROCESSORS = [
  "arm64",
  "arm",
  "x64",
  "ia32",
  "ppc64",
  "riscv64",
  "s390x",
  "loong64",
  "mips64el",
  "wasm32",
];

let added = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`;
    const top = `node_modules/${name}`;
    if (lock.packages[nested] || lock.packages[top]) continue;
    const os = SYSTEMS.find((system) => name.includes(system));
    const cpu = PROCESSORS.find((processor) => name.includes(processor));
    if (!os && !cpu) continue;
    lock.packages[top] = {
      version,
      cpu: [cpu ?? "x64"],
      dev: true,
      optional: true,
      ...(os ? { os: [os] } : {}),
      ...(name.includes("musl") ? { libc: ["musl"] } : {}),
    };
    added++;
  }
}

const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(sorted);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added for other platforms`);
