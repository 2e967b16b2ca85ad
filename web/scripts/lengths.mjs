// Checks the length of the functions of src/. The formatter puts the first line and the closing brace of
// each function of a module into the first column. Longer ones are listed with their lines: the
// numbers may only fall, and an entry that is no longer needed must go.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

const LINES_MAX = 120;
const LONGER = {
  "features/graph/page.tsx:GraphPage": 128,
  "features/hosts/columns.tsx:hostColumns": 125,
  "features/hosts/page.tsx:HostsPage": 142,
  "features/latest/page.tsx:LatestPage": 122,
  "features/problems/page.tsx:ProblemsPage": 139,
  "features/templates/import-dialog.tsx:ImportDialog": 125,
  "features/templates/template.tsx:TemplatePage": 132,
};

/** Name and number of lines of each function at the top of a module. */
export function functions(text) {
  const found = [];
  let open;
  for (const [at, line] of text.split("\n").entries()) {
    const head = /^(?:export )?(?:default )?(?:async )?(?:function\*? |const )(\w+)/.exec(line);
    if (head) open = { name: head[1], at };
    if (open && /^[}\])]+;?$/.test(line)) {
      found.push({ name: open.name, lines: at - open.at + 1 });
      open = undefined;
    }
  }
  return found;
}

/** What is wrong with the functions that were found (`file:name` and lines), one line each. */
export function faults(found, longer = LONGER) {
  const over = found.filter(({ lines }) => lines > LINES_MAX);
  const names = new Set(over.map(({ name }) => name));
  return [
    ...over
      .filter(({ name, lines }) => lines !== longer[name])
      .map(({ name, lines }) => `${name}: ${lines} lines, allowed ${longer[name] ?? LINES_MAX}`),
    ...Object.keys(longer)
      .filter((name) => !names.has(name))
      .map((name) => `${name}: remove it from the list of longer functions`),
  ];
}

if (import.meta.filename === realpathSync(process.argv[1] ?? "")) {
  const src = join(import.meta.dirname, "..", "src");
  const found = readdirSync(src, { recursive: true })
    .filter((file) => file.endsWith(".tsx"))
    .sort()
    .flatMap((file) =>
      functions(readFileSync(join(src, file), "utf8")).map(({ name, lines }) => ({
        name: `${file}:${name}`,
        lines,
      })),
    );
  const wrong = faults(found);
  for (const line of wrong) console.error(line);
  if (wrong.length) process.exit(1);
}
