// Fails when the built pages grow past the limits: what the first page needs, and each chunk after it.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const INITIAL_BYTES_MAX = 200 * 1024;
const CHUNK_BYTES_MAX = 60 * 1024;

const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8"));
const gzipped = (file) => gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length;
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`.padStart(9);

const initial = new Set();
function collect(key) {
  if (initial.has(key)) return;
  initial.add(key);
  for (const next of manifest[key].imports ?? []) collect(next);
}
for (const [key, entry] of Object.entries(manifest)) if (entry.isEntry) collect(key);

let failed = 0;
let total = 0;
for (const [key, entry] of Object.entries(manifest)) {
  if (!entry.file.endsWith(".js")) continue;
  const bytes = gzipped(entry.file);
  if (initial.has(key)) total += bytes;
  else if (bytes > CHUNK_BYTES_MAX) failed++;
  console.log(`${kb(bytes)}  ${initial.has(key) ? "initial" : "chunk  "}  ${entry.file}`);
}
if (total > INITIAL_BYTES_MAX) failed++;
console.log(`${kb(total)}  initial JavaScript (limit ${kb(INITIAL_BYTES_MAX).trim()} gzip)`);
process.exit(failed ? 1 : 0);
