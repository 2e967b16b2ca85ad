import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { mayBalance, poolsQuery } from "~/api/balancing";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Checkbox, TextareaField } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { moved, patched, without } from "~/util/rows";
import {
  copied,
  decidesAll,
  newRule,
  type RuleDraft,
  type RulesDraft,
  refusedRule,
  ruleProblems,
  rulesDraft,
  rulesText,
} from "./draft";
import { type Pools, RuleForm } from "./rule-form";
import { ruleSentence } from "./sentence";
import { texts } from "./texts";

interface RulesEditorProps {
  rules: RulesDraft;
  onChange: (rules: RulesDraft) => void;
  /** Why the rules as a whole cannot be saved: own words, or those of the server. */
  problem?: string;
  /** Why the JSON is not a list. */
  jsonProblem: (text: string) => string | undefined;
  /** Names of the service's policies; undefined: they are edited as JSON. */
  policies: readonly string[] | undefined;
}

/** Pools whose ids are named beside the JSON; the list of pools has the others in their addresses. */
const POOLS_NAMED = 30;

type ButtonOf = "edit" | "up" | "down";

interface CardProps {
  rule: RuleDraft;
  at: number;
  count: number;
  open: boolean;
  isNew: boolean;
  pools: Pools;
  policies: readonly string[] | undefined;
  problems: Record<string, string>;
  /** Of the rule as a whole. */
  problem?: string;
  /** The ids of its buttons begin with this. */
  id: string;
  onOpen: () => void;
  onChange: (next: Partial<RuleDraft>) => void;
  onMove: (to: number, by: ButtonOf) => void;
  onCopy: () => void;
  onRemove: () => void;
}

/** The buttons of a rule, in the order of the keyboard. */
function RuleButtons({ at, count, id, onMove, onCopy, onRemove }: CardProps) {
  const number = at + 1;
  return (
    <>
      <IconButton
        id={`${id}-up`}
        icon="up"
        label={texts.moveUp(number)}
        disabled={at === 0}
        onClick={() => onMove(at - 1, "up")}
      />
      <IconButton
        id={`${id}-down`}
        icon="up"
        className="rotate-180"
        label={texts.moveDown(number)}
        disabled={at === count - 1}
        onClick={() => onMove(at + 1, "down")}
      />
      <IconButton icon="copy" label={texts.duplicate(number)} onClick={onCopy} />
      <IconButton icon="trash" label={texts.remove(number)} onClick={onRemove} />
    </>
  );
}

const HEAD = "flex min-w-56 flex-1 items-start gap-2 rounded px-1.5 py-1.5 text-left text-sm";
const NUMBER = "tabular w-4 shrink-0 text-right text-faint";
const CHEVRON = "mt-0.75 shrink-0 text-faint";

/** A rule: its sentence, and its form while it is open. */
function RuleCard(props: CardProps) {
  const { rule, at, open, pools, problems, id } = props;
  const names = new Map(pools);
  const isRaw = rule.raw !== undefined;
  const words = isRaw ? JSON.stringify(rule.raw) : ruleSentence(rule, (pool) => names.get(pool));
  const problem = props.problem ?? (open ? undefined : Object.values(problems)[0]);
  const may = mayBalance();
  return (
    <li aria-label={texts.rule(at + 1)} className="rounded-md border bg-surface">
      <div className="flex flex-wrap items-start gap-x-1 p-1.5">
        {may && !isRaw ? (
          <button
            id={`${id}-edit`}
            type="button"
            aria-expanded={open}
            onClick={props.onOpen}
            className={cx(HEAD, "hover:bg-hover")}
          >
            {/* The spaces separate the parts of its name. */}
            <span className="sr-only">{`${open ? texts.close : texts.edit} `}</span>
            <span className={NUMBER}>{`${at + 1} `}</span>
            <Icon name={open ? "down" : "right"} size={14} className={CHEVRON} />
            <span className="min-w-0 break-words">{words}</span>
          </button>
        ) : (
          <p className={HEAD}>
            <span className={NUMBER}>{at + 1}</span>
            <span className={cx("min-w-0 break-words", isRaw && "font-mono text-xs")}>{words}</span>
          </p>
        )}
        {may && (
          <span className="ml-auto flex shrink-0">
            <RuleButtons {...props} />
          </span>
        )}
      </div>
      {(problem || isRaw) && (
        <p className={cx("px-3 pb-2 text-xs", problem ? "text-bad-ink" : "text-soft")}>
          {problem ?? texts.onlyJson}
        </p>
      )}
      {open && !isRaw && (
        <RuleForm
          rule={rule}
          onChange={props.onChange}
          problems={problems}
          pools={pools}
          policies={props.policies}
          isNew={props.isNew}
        />
      )}
    </li>
  );
}

/** The rules as sentences in their order, each of which opens a form. */
function RulesList(props: RulesEditorProps & { pools: Pools }) {
  const { rules, onChange, problem, pools, policies } = props;
  const { list } = rules;
  const id = useId();
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [added, setAdded] = useState(0);
  const [said, setSaid] = useState("");
  const focus = useRef("");
  const keyOf = (rule: RuleDraft) => `${id}-${rule.key}`;
  const change = (next: readonly RuleDraft[]) => onChange({ ...rules, list: next });
  const refused = refusedRule(problem);
  const last = list.findIndex(decidesAll);

  // Buttons that move with their rule, or whose rule is gone, lose the focus.
  useEffect(() => {
    if (!focus.current) return;
    const wanted = [focus.current, focus.current.replace(/-(up|down)$/, "-edit")];
    focus.current = "";
    const button = wanted
      .map((one) => document.getElementById(one))
      .find((one) => one && !one.matches(":disabled"));
    button?.focus();
  });

  const toggle = (key: number) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const insert = (at: number, rule: RuleDraft) => {
    change([...list.slice(0, at), rule, ...list.slice(at)]);
    setOpen(new Set([...open, rule.key]));
    setAdded(rule.key);
  };
  const move = (rule: RuleDraft, from: number, to: number, by: ButtonOf) => {
    change(moved(list, from, to));
    setSaid(texts.movedTo(to + 1, list.length));
    focus.current = `${keyOf(rule)}-${by}`;
  };
  const remove = (at: number) => {
    change(without(list, at));
    const next = list[at + 1] ?? list[at - 1];
    focus.current = next ? `${keyOf(next)}-edit` : `${id}-add`;
  };
  return (
    <>
      {list.length === 0 && <p className="text-sm text-soft">{texts.noRules}</p>}
      <ol className="flex flex-col gap-2 empty:hidden">
        {list.map((rule, at) => {
          const server = refused?.at === at ? refused : null;
          const own = problem ? ruleProblems(rule, policies) : {};
          return (
            <RuleCard
              key={rule.key}
              rule={rule}
              at={at}
              count={list.length}
              open={open.has(rule.key)}
              isNew={added === rule.key}
              pools={pools}
              policies={policies}
              problems={server?.field ? { ...own, [server.field]: server.why } : own}
              problem={server && !server.field ? server.why : undefined}
              id={keyOf(rule)}
              onOpen={() => toggle(rule.key)}
              onChange={(next) => change(patched(list, at, next))}
              onMove={(to, by) => move(rule, at, to, by)}
              onCopy={() => insert(at + 1, copied(rule))}
              onRemove={() => remove(at)}
            />
          );
        })}
      </ol>
      {last >= 0 && last < list.length - 1 && (
        <p role="status" className="text-xs text-(--sev-2-ink)">
          {texts.decidesAll(last + 1)}
        </p>
      )}
      {mayBalance() && (
        <span id={`${id}-add`} tabIndex={-1} className="outline-none">
          <AddButton onClick={() => insert(list.length, newRule())}>{texts.addRule}</AddButton>
        </span>
      )}
      <p role="status" className="sr-only">
        {said}
      </p>
    </>
  );
}

/** Edits the rules of a virtual service, as a list or as JSON. */
export function RulesEditor(props: RulesEditorProps) {
  const { rules, onChange, problem } = props;
  const { data } = useQuery(poolsQuery());
  const pools: Pools = (data ?? []).map((row) => [row.poolid, row.name]);
  const ids = pools.slice(0, POOLS_NAMED).map(([id, name]) => `${name} ${id}`);
  const [wrong, setWrong] = useState("");
  const onSwitch = (asJson: boolean) => {
    const faulty = asJson ? undefined : props.jsonProblem(rules.json ?? "");
    setWrong(faulty ?? "");
    if (faulty) return;
    if (asJson) onChange({ ...rules, json: rulesText(rules.list) });
    else onChange(rulesDraft(rules.json?.trim() ? JSON.parse(rules.json) : []));
  };
  const lines = rules.json?.split("\n").length ?? 0;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="flex w-full flex-wrap items-center justify-between gap-2 pb-1.5">
        <span className="text-xs font-medium text-soft">{texts.rules}</span>
        {mayBalance() && (
          <Checkbox
            label={<span className="text-xs text-soft">{texts.advanced}</span>}
            checked={rules.json !== null}
            onChange={(event) => onSwitch(event.target.checked)}
          />
        )}
      </legend>
      {rules.json === null ? (
        <RulesList {...props} pools={pools} />
      ) : (
        <TextareaField
          label={texts.rulesJson}
          rows={Math.min(20, Math.max(4, lines))}
          className="font-mono text-xs"
          error={problem || wrong || undefined}
          hint={texts.jsonHint(ids.join(", "), ids.length < pools.length)}
          placeholder={texts.example}
          value={rules.json}
          onChange={(json) => onChange({ ...rules, json })}
        />
      )}
    </fieldset>
  );
}
