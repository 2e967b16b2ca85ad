// Finds texts that users read and that are not in a catalog (a file texts.ts). What is left is listed in
// texts.left.json, by file: the numbers may only fall, and an entry that is too high must be corrected.
//
//   node scripts/texts.mjs            checks
//   node scripts/texts.mjs --update   writes smaller numbers
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** Properties of components whose texts are shown or spoken. */
const SHOWN = new Set([
  "alt",
  "aria-description",
  "aria-label",
  "header",
  "hint",
  "label",
  "placeholder",
  "title",
  "todo",
  "what",
  "word",
]);
/** Functions whose arguments are not shown. */
const HIDING = new Set(["cx", "querySelector", "useKeptState", "useState"]);
const LETTERS = /\p{L}{2}/u;
/** Arguments that read like texts: a word with a capital, or several words. Others are names and keys. */
const READS = /^\p{Lu}\p{Ll}+(?![\p{L}\d_]*\p{Lu})|\p{L}{2,} \p{L}{2,}/u;

const isNode = (value) => typeof value?.type === "string";
const childrenOf = (node) =>
  Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
const nameOf = (node) => node?.name ?? node?.value;

/** JSX drops line breaks with the spaces around them. */
const collapsed = (text) =>
  text
    .split(/\s*\n\s*/)
    .filter(Boolean)
    .join(" ");

const hasWords = (node) =>
  (node.type === "Literal" && typeof node.value === "string" && LETTERS.test(node.value)) ||
  (node.type === "TemplateLiteral" && node.quasis.some((part) => LETTERS.test(part.value.cooked)));

/** The literals that an expression can show: both sides of conditions, and what templates and sums contain. */
function outcomes(node) {
  switch (node?.type) {
    case "TemplateLiteral":
      return [...(hasWords(node) ? [node] : []), ...node.expressions.flatMap(outcomes)];
    case "BinaryExpression":
      return node.operator === "+" ? [...outcomes(node.left), ...outcomes(node.right)] : [];
    case "ConditionalExpression":
      return [...outcomes(node.consequent), ...outcomes(node.alternate)];
    case "LogicalExpression":
      return [...(node.operator === "&&" ? [] : outcomes(node.left)), ...outcomes(node.right)];
    case "JSXExpressionContainer":
      return outcomes(node.expression);
    default:
      return node && hasWords(node) ? [node] : [];
  }
}

const textOf = (node) =>
  node.type === "TemplateLiteral"
    ? node.quasis.map((part) => part.value.cooked).join("\u2026")
    : node.value;

/** The arguments of a call that users read. */
const argumentsOf = (call) =>
  HIDING.has(nameOf(call.callee) ?? nameOf(call.callee.property))
    ? []
    : call.arguments.flatMap(outcomes).filter((node) => READS.test(textOf(node)));

/** The labels of `options={[["value", "Label"], …]}`. */
const labelsOf = (node) =>
  (node?.expression?.elements ?? []).flatMap((option) => outcomes(option?.elements?.[1]));

/** All literal texts of a module: where they are, and whether they are a part of a sentence. */
export function literals(source) {
  const found = [];
  const add = (node, jsx, part = false) =>
    found.push({ start: node.start, end: node.end, text: node.value, jsx, part });
  const addAll = (nodes, jsx = false) => {
    for (const node of nodes) add(node, jsx && node.type === "Literal", node.type !== "Literal");
  };
  const visit = (node) => {
    if (node.type === "JSXElement" || node.type === "JSXFragment") {
      const last = node.children.length - 1;
      for (const [at, child] of node.children.entries()) {
        if (child.type === "JSXExpressionContainer") addAll(outcomes(child));
        if (child.type !== "JSXText" || !LETTERS.test(child.value)) continue;
        // On a line with something else it is a part of a sentence.
        const begins = at === 0 || /^\s*\n/.test(child.value);
        const ends = at === last || /\n\s*$/.test(child.value);
        const text = collapsed(child.value);
        found.push({
          start: child.start,
          end: child.end,
          text,
          jsx: true,
          part: !(begins && ends),
        });
      }
    }
    if (node.type === "JSXAttribute" && SHOWN.has(nameOf(node.name)) && node.value)
      addAll(outcomes(node.value), node.value.type === "Literal");
    if (node.type === "JSXAttribute" && nameOf(node.name) === "options")
      addAll(labelsOf(node.value));
    if (node.type === "Property" && nameOf(node.key) === "header") addAll(outcomes(node.value));
    if (node.type === "CallExpression" || node.type === "NewExpression") addAll(argumentsOf(node));
    childrenOf(node).forEach(visit);
  };
  visit(parseAst(source, { lang: "tsx" }));
  return found.sort((a, b) => a.start - b.start);
}

/** What is wrong with numbers of literal texts, by file, one line each. */
export function faults(counts, allowed) {
  const files = [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].sort();
  return files.flatMap((file) => {
    const [is, may] = [counts[file] ?? 0, allowed[file] ?? 0];
    if (is > may)
      return [`${file}: ${is} texts outside of a catalog, allowed ${may}: move them to texts.ts`];
    if (is < may)
      return [
        `${file}: ${is} texts outside of a catalog, listed ${may}: run node scripts/texts.mjs --update`,
      ];
    return [];
  });
}

/** Literal texts of all components below `src`, by file. */
export function found(src) {
  return readdirSync(src, { recursive: true })
    .filter((file) => file.endsWith(".tsx") && !file.endsWith(".test.tsx"))
    .sort()
    .map((file) => ({ file, texts: literals(readFileSync(join(src, file), "utf8")) }));
}

if (import.meta.filename === realpathSync(process.argv[1] ?? "")) {
  const list = join(import.meta.dirname, "texts.left.json");
  const allowed = JSON.parse(readFileSync(list, "utf8"));
  const counts = {};
  for (const { file, texts } of found(join(import.meta.dirname, "..", "src")))
    if (texts.length) counts[file] = texts.length;
  let wrong = faults(counts, allowed);
  const grown = wrong.some((line) => line.includes("allowed"));
  if (process.argv.includes("--update") && !grown) {
    writeFileSync(list, `${JSON.stringify(counts, null, 2)}\n`);
    wrong = [];
  }
  for (const line of wrong) console.error(line);
  if (wrong.length) process.exit(1);
}
