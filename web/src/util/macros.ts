import { MacroType } from "~/api/schema";

/** A user macro as it is defined. `type`: 0 text, 1 secret, 2 vault; secrets come without a value. */
export interface MacroDefinition {
  macro: string;
  value?: string;
  type: string;
  description?: string;
}

/** Macros as the create and update methods take them; lines without a name are left out. */
export function macroParams(
  macros: readonly (MacroDefinition & { hostmacroid?: string; automatic?: string })[],
): object[] {
  return macros
    .filter((macro) => macro.macro.trim())
    .map(({ hostmacroid, macro, type, value, description, automatic }) => ({
      hostmacroid,
      macro: macro.trim(),
      // A secret that was not entered again is left out, which keeps the stored one.
      value: type === MacroType.Secret && hostmacroid && !value ? undefined : (value ?? ""),
      type,
      description,
      // Only so may a macro that discovery made be changed.
      automatic: automatic === "0" ? "0" : undefined,
    }));
}

export interface MacroName {
  name: string;
  /** The part after the colon, without its quotes. */
  context?: string;
  /** The context is a regular expression (only in definitions). */
  regex: boolean;
}

const NAME = /^\{\$([A-Z0-9._]+)(?::(.*))?\}$/s;
const USED = /\{\$[A-Z0-9._]+(?::(?:\s*"(?:[^"\\]|\\.)*"\s*|[^"}][^}]*)?)?\}/g;
const LLD_USED = /\{#[A-Z0-9._]+\}/g;

const unquote = (text: string) => {
  const trimmed = text.trimStart();
  if (!trimmed.startsWith('"')) return trimmed;
  return trimmed.trimEnd().slice(1, -1).replaceAll('\\"', '"');
};

/** The parts of `{$NAME}`, `{$NAME:context}`, `{$NAME:"context"}` or `{$NAME:regex:"…"}`; null for no macro. */
export function parseMacro(text: string): MacroName | null {
  const match = NAME.exec(text.trim());
  const name = match?.[1];
  if (!match || name === undefined) return null;
  const rest = match[2];
  if (rest === undefined) return { name, regex: false };
  const regex = /^\s*regex:/.test(rest);
  const context = regex ? rest.replace(/^\s*regex:/, "") : rest;
  const quoted = context.trimStart().startsWith('"');
  if (quoted && !/^\s*"(?:[^"\\]|\\.)*"\s*$/s.test(context)) return null;
  if (!quoted && context.includes("}")) return null;
  return { name, context: unquote(context), regex };
}

/** What is wrong with the name of a macro; undefined when nothing is. */
export function macroProblem(text: string): string | undefined {
  if (parseMacro(text)) return undefined;
  if (/^\{\$[a-z]/.test(text)) return "Use capital letters in macro names.";
  return 'Enter {$NAME}, {$NAME:"context"} or {$NAME:regex:"pattern"}.';
}

/** What is wrong with the first such macro of a list; lines without a name do not count. */
export function macrosProblem(macros: readonly { macro: string }[]): string | undefined {
  for (const { macro } of macros) {
    const problem = macro.trim() && macroProblem(macro);
    if (problem) return `${macro}: ${problem}`;
  }
  return undefined;
}

/** A text without its discovery macros, functions on them included. */
export function withoutLldMacros(text: string): string {
  return text
    .replaceAll(/\{\{#[A-Z0-9._]+\}\.[a-z]+\((?:"(?:[^"\\]|\\.)*"|[^"()])*\)\}/g, "")
    .replaceAll(LLD_USED, "");
}

/** User macros and, with `lld`, discovery macros in some texts, each once, in order of appearance. */
export function macrosIn(texts: readonly string[], lld = false): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const [macro] of text.matchAll(USED)) found.add(macro);
    if (lld) for (const [macro] of text.matchAll(LLD_USED)) found.add(macro);
  }
  return [...found];
}

function matches(pattern: string, context: string): boolean {
  try {
    return new RegExp(pattern).test(context);
  } catch {
    return false;
  }
}

/** How well a definition answers a use: 3 same context, 2 matching context, 1 no context, 0 not at all. */
function closeness(definition: MacroName, use: MacroName): number {
  if (definition.name !== use.name) return 0;
  if (definition.context === undefined) return 1;
  if (use.context === undefined) return 0;
  if (definition.regex) return matches(definition.context, use.context) ? 2 : 0;
  return definition.context === use.context ? 3 : 0;
}

/** The definition that counts: the nearest level with the context, else the nearest without one. */
export function resolveMacro<L extends { macros: readonly MacroDefinition[] }>(
  use: string,
  levels: readonly L[],
): { definition: MacroDefinition; level: L } | null {
  const wanted = parseMacro(use);
  if (!wanted) return null;
  let plain: { definition: MacroDefinition; level: L } | null = null;
  for (const level of levels) {
    let best = 0;
    let found: MacroDefinition | undefined;
    for (const definition of level.macros) {
      const parsed = parseMacro(definition.macro);
      const quality = parsed ? closeness(parsed, wanted) : 0;
      if (quality > best) [best, found] = [quality, definition];
    }
    if (found && best > 1) return { definition: found, level };
    if (found) plain ??= { definition: found, level };
  }
  return plain;
}

/** A text with macros replaced by values; those without a value stay. */
export function substitute(text: string, values: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(USED, (macro) => values.get(macro) ?? macro)
    .replaceAll(LLD_USED, (macro) => values.get(macro) ?? macro);
}
