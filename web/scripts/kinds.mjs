// Finds comparisons of a kind with a bare number: the names of kinds are in src/api/schema.ts.
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { extname, join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** Members of objects and drafts that contain a kind of a catalog. */
const KINDS = new Set([
  "conditiontype",
  "correlation_mode",
  "discover",
  "error_handler",
  "evaltype",
  "flags",
  "maintenance_type",
  "recoveryMode",
  "recovery_mode",
  "repeat",
  "state",
  "status",
  "tags_evaltype",
  "type",
  "valueType",
  "value_type",
]);
const NUMBER = /^-?\d+$/;

const isNode = (value) => typeof value?.type === "string";
const isNumber = (node) => typeof node.value === "string" && NUMBER.test(node.value);
const inner = (node) => (node.type === "ChainExpression" ? inner(node.expression) : node);
const nameOf = (node) => node.property?.name ?? node.name;

/** The comparisons of a module (`ts` or `tsx`), as they are written. */
export function comparisons(source, lang) {
  const found = [];
  const visit = (node) => {
    if (node.type === "BinaryExpression" && /^[!=]==?$/.test(node.operator)) {
      const sides = [inner(node.left), inner(node.right)];
      if (sides.some(isNumber) && sides.some((side) => KINDS.has(nameOf(side))))
        found.push(source.slice(node.start, node.end));
    }
    for (const value of Object.values(node))
      for (const child of [value].flat()) if (isNode(child)) visit(child);
  };
  visit(parseAst(source, { lang }));
  return found;
}

if (import.meta.filename === realpathSync(process.argv[1] ?? "")) {
  const src = join(import.meta.dirname, "..", "src");
  const wrong = readdirSync(src, { recursive: true })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^api\/mock\//.test(file))
    .sort()
    .flatMap((file) =>
      comparisons(readFileSync(join(src, file), "utf8"), extname(file).slice(1)).map(
        (text) => `${file}: ${text}`,
      ),
    );
  for (const line of wrong) console.error(`${line}: compare with a name of src/api/schema.ts`);
  if (wrong.length) process.exit(1);
}
