import type { Part, RuleDraft, Verdict } from "./draft";
import { conditionKind, editKind } from "./kinds";
import { texts } from "./texts";

/** Stands for a value that is not entered yet. */
const GAP = "…";

function conditionWords({ kind, name, value }: Part): string {
  const known = conditionKind(kind);
  if (known?.pair) return `${known.words} ${name.trim() || GAP} is ${value || "empty"}`;
  return `${known?.words ?? kind} ${value.trim() || GAP}`;
}

function editWords({ kind, name, value }: Part): string {
  const words = editKind(kind)?.words ?? kind;
  return words.replace("{name}", () => name.trim() || GAP).replace("{value}", () => value || GAP);
}

function verdictWords(verdict: Verdict, poolName: (id: string) => string | undefined): string {
  const status = verdict.status.trim() || GAP;
  switch (verdict.kind) {
    case "pool": {
      const name = poolName(verdict.poolid);
      return `use ${name === undefined ? texts.unknownPool(verdict.poolid) : `pool ${name}`}`;
    }
    case "redirect":
      return `redirect to ${verdict.location.trim() || GAP} with status ${status}`;
    case "deny":
      return `respond with status ${status}`;
    case "respond":
      return `respond with status ${status} and a text`;
    case "script":
      return texts.scriptWords;
    default:
      return "";
  }
}

/** The copies that a rule asks for; pools and pool groups have different ids. */
function mirrorWords(
  { to, percent }: RuleDraft["mirror"],
  poolName: (id: string) => string | undefined,
): string {
  if (!to) return "";
  const [kind, id = ""] = to.split(" ");
  const name = kind === "pool" ? poolName(id) : undefined;
  return texts.mirrorWords(percent.trim() || "100", name === undefined ? to : `pool ${name}`);
}

/** A rule in words: "If path starts with /api/ and method is POST → use pool api". */
export function ruleSentence(
  rule: RuleDraft,
  poolName: (id: string) => string | undefined,
): string {
  const conditions = rule.conditions.map(conditionWords);
  const actions = [
    verdictWords(rule.verdict, poolName),
    ...rule.edits.map(editWords),
    mirrorWords(rule.mirror, poolName),
  ];
  return texts.sentence(
    conditions.length ? texts.ifWords(conditions) : texts.always,
    actions.filter(Boolean).join(", ") || texts.nothing,
  );
}
