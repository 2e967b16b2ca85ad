// Checks the length of the functions of src/. The formatter puts the first line and the closing brace of
// each function of a module into the first column.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

const LINES_MAX = 120;
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
export function faults(found) {
  return found
    .filter(({ lines }) => lines > LINES_MAX)
    .map(({ name, lines }) => `${name}: ${lines} lines, allowed ${LINES_MAX}`);
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
