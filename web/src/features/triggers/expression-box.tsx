import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Owner } from "~/api/owners";
import { type ReferredItem, referredItemsQuery } from "~/api/trigger-config";
import { Button } from "~/ui/button";
import { Field, Textarea } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Sentence } from "~/ui/sentence";
import { checkExpression, type ItemReference } from "~/util/expression";
import { formatValue } from "~/util/format";
import { useSettled } from "~/util/hooks";
import { ConditionMaker } from "./condition-maker";
import { texts } from "./texts";

interface ExpressionBoxProps {
  label: string;
  hint: string;
  owner: Owner;
  prototype: boolean;
  value: string;
  disabled: boolean;
  required?: boolean;
  error?: string;
  onChange: (value: string) => void;
}

function newest(item: ReferredItem): string {
  if (!item.lastclock || item.lastclock === "0") return "no value yet";
  return `now ${formatValue(item.lastvalue ?? "", { value_type: item.value_type, units: item.units })}`;
}

function Reference({
  reference,
  items,
}: {
  reference: ItemReference;
  items: readonly ReferredItem[] | undefined;
}) {
  const item = items?.find((one) => one.host === reference.host && one.key_ === reference.key);
  const name = `/${reference.host}/${reference.key}`;
  if (!items) return null;
  if (!item) {
    return (
      <li className="flex items-baseline gap-1.5 text-bad-ink">
        <Icon name="problems" size={12} className="relative top-0.5" />
        <span>
          <Sentence
            text={texts.thereIsNoItem}
            places={{ item: <code className="font-mono break-all">{name}</code> }}
          />
        </span>
      </li>
    );
  }
  return (
    <li className="flex flex-wrap items-baseline gap-x-1.5 text-soft">
      <Icon name="check" size={12} className="relative top-0.5 text-good-ink" />
      <span>{item.name}</span>
      <code className="font-mono break-all text-faint">{name}</code>
      <span className="tabular">{newest(item)}</span>
    </li>
  );
}

/** An expression with what is wrong in it, and the items it names with their values, while typing. */
export function ExpressionBox(props: ExpressionBoxProps) {
  const { label, hint, owner, prototype, value, disabled, required, error, onChange } = props;
  const [making, setMaking] = useState(false);
  const settled = useSettled(value, 300);
  const { problem, items } = checkExpression(settled);
  const references = items.map((item) => (item.host ? item : { ...item, host: owner.host }));
  const { data: known } = useQuery(referredItemsQuery(references, prototype));
  const add = (condition: string) => {
    onChange(value.trim() ? `${value.trim()} and ${condition}` : condition);
    setMaking(false);
  };
  return (
    <div className="flex flex-col gap-1.5">
      <Field label={label} required={required} hint={hint} error={problem ? undefined : error}>
        {(id, describedBy) => (
          <Textarea
            id={id}
            aria-describedby={describedBy}
            aria-invalid={problem !== null || undefined}
            rows={3}
            disabled={disabled}
            className="font-mono text-xs"
            value={value}
            onChange={(e) => onChange(e.target.value)}
          />
        )}
      </Field>
      <div aria-live="polite" className="flex flex-col gap-1 text-xs">
        {problem && settled.trim() && (
          <p className="text-bad-ink">
            {problem.what}{" "}
            <code className="font-mono">
              {settled.slice(Math.max(0, problem.at - 16), problem.at)}
              <span className="font-bold underline decoration-2 underline-offset-2">
                {settled[problem.at] ?? "␣"}
              </span>
              {settled.slice(problem.at + 1, problem.at + 12)}
            </code>
          </p>
        )}
        {references.length > 0 && (
          <ul className="flex flex-col gap-0.5">
            {references.map((reference) => (
              <Reference
                key={`${reference.host}/${reference.key}`}
                reference={reference}
                items={known}
              />
            ))}
          </ul>
        )}
      </div>
      {!disabled &&
        (making ? (
          <ConditionMaker
            owner={owner}
            prototype={prototype}
            onAdd={add}
            onCancel={() => setMaking(false)}
          />
        ) : (
          <Button small icon="plus" className="self-start" onClick={() => setMaking(true)}>
            {texts.addCondition}
          </Button>
        ))}
    </div>
  );
}
