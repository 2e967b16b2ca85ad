// Encodes what the build made, beside the plain files: the server sends what the browser takes.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const BYTES_MIN = 1024;
const dist = new URL("../dist/", import.meta.url);

function files(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".")) return [];
    return entry.isDirectory()
      ? files(new URL(`${entry.name}/`, folder))
      : [new URL(entry.name, folder)];
  });
}

for (const file of files(dist)) {
  // Fonts and pictures are compressed already.
  if (!/\.(js|css|html|svg)$/.test(file.pathname) || statSync(file).size < BYTES_MIN) continue;
  const plain = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  writeFileSync(new URL(`${file.href}.br`), brotliCompressSync(plain, { params }));
  writeFileSync(new URL(`${file.href}.gz`), gzipSync(plain, { level: 9 }));
}
