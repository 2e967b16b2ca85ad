// Checks the imports of src/: each folder may import only the folders below it, and one feature
// may import another only through that feature's index.ts. Tests follow the same rules.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** The folders that each folder may import, besides itself. Files directly in src/ may import all. */
const ALLOWED = {
  util: [],
  api: ["util"],
  ui: ["util"],
  charts: ["ui", "util"],
  shared: ["api", "charts", "ui", "util"],
  shell: ["shared", "api", "charts", "ui", "util"],
  features: ["shared", "api", "charts", "ui", "util"],
  tests: ["features", "shell", "shared", "api", "charts", "ui", "util", "router"],
};
/** What the server's tables generate: it imports nothing, so all folders may import it. */
const GENERATED = "api/schema";
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bmock\(\s*)"([^"]+)"/g;

/** The reason why `file` may not import `target` (both relative to src/), or undefined. */
export function refusal(file, target) {
  const [folder, feature] = file.split("/");
  if (!feature) return undefined;
  const [other, otherFeature, ...rest] = target.split("/");
  const allowed = ALLOWED[folder];
  if (!allowed) return `src/${folder} is not a folder of the layout`;
  if (target === GENERATED) return undefined;
  if (folder !== other) {
    return allowed.includes(other) ? undefined : `src/${folder} must not import src/${other}`;
  }
  if (folder !== "features" || feature === otherFeature) return undefined;
  return rest.length === 0 ? undefined : `import "~/features/${otherFeature}", not a file in it`;
}

function sources(src) {
  return readdirSync(src, { recursive: true })
    .filter((file) => /\.tsx?$/.test(file))
    .sort();
}

/** All refused imports, one line each. */
export function refusals(src) {
  const found = [];
  for (const file of sources(src)) {
    for (const [, spec] of readFileSync(join(src, file), "utf8").matchAll(IMPORT)) {
      let target;
      if (spec.startsWith("~/")) target = spec.slice(2);
      else if (spec.startsWith(".")) target = normalize(join(dirname(file), spec));
      else continue;
      const why = refusal(file, target);
      if (why) found.push(`src/${file}: "${spec}": ${why}`);
    }
  }
  return found;
}

if (import.meta.filename === realpathSync(process.argv[1] ?? "")) {
  const found = refusals(join(import.meta.dirname, "..", "src"));
  for (const line of found) console.error(line);
  if (found.length) process.exit(1);
}
