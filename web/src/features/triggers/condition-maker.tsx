import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { itemPrototypeSearchQuery, itemSearchQuery } from "~/api/items";
import type { Owner } from "~/api/owners";
import { Button } from "~/ui/button";
import { Input, Select } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { isBehind, useSettled } from "~/util/hooks";
import { texts } from "./texts";

interface Maker {
  label: string;
  /** Whether it takes a period or a count, and which. */
  period?: string;
  operator: string;
  value: string;
}

const FUNCTIONS: Record<string, Maker> = {
  last: { label: "Newest value", operator: ">", value: "" },
  avg: { label: "Average", period: "5m", operator: ">", value: "" },
  min: { label: "Minimum", period: "5m", operator: ">", value: "" },
  max: { label: "Maximum", period: "5m", operator: "<", value: "" },
  change: { label: "Change", operator: "<>", value: "0" },
  nodata: { label: "No data for", period: "5m", operator: "=", value: "1" },
  count: { label: "Number of values", period: "10m", operator: ">", value: "" },
};
const OPERATORS = [">", ">=", "<", "<=", "=", "<>"].map((o) => [o, o] as const);

/** A value as an expression takes it: numbers and macros as they are, texts in quotes. */
export function operandText(value: string): string {
  const text = value.trim();
  if (/^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[KMGTsmhdwy]?$/.test(text) || /^\{.*\}$/.test(text))
    return text;
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

interface ConditionMakerProps {
  owner: Owner;
  prototype: boolean;
  onAdd: (condition: string) => void;
  onCancel: () => void;
}

/** Puts a condition together for those who do not know the syntax. */
export function ConditionMaker({ owner, prototype, onAdd, onCancel }: ConditionMakerProps) {
  const [text, setText] = useState("");
  const [name, setName] = useState("last");
  const [key, setKey] = useState("");
  const start = FUNCTIONS.last as Maker;
  const [maker, setMaker] = useState(start);
  const needle = useSettled(text);
  const items = useQuery(itemSearchQuery(needle, { hostid: owner.id }));
  const prototypes = useQuery({
    ...itemPrototypeSearchQuery(needle, owner.id),
    enabled: prototype,
  });
  const found = [...(prototypes.data ?? []), ...(items.data ?? [])];
  const period = maker.period === undefined ? "" : `,${maker.period}`;
  const operand = operandText(maker.value);
  const condition = `${name}(/${owner.host}/${key}${period})${maker.operator}${operand}`;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-md bg-sunken p-2">
      <Pick
        label={texts.item}
        values={key ? [key] : []}
        options={found.map((item) => ({ value: item.key_, label: item.name }))}
        labelOf={(value) => value}
        onSearch={setText}
        busy={isBehind(text, needle, items) || (prototype && isBehind(text, needle, prototypes))}
        onChange={(keys) => setKey(keys.at(-1) ?? "")}
      />
      <Select
        aria-label={texts.function}
        className="w-40!"
        options={Object.entries(FUNCTIONS).map(([fn, { label }]) => [fn, label] as const)}
        value={name}
        onChange={(e) => {
          setName(e.target.value);
          setMaker(FUNCTIONS[e.target.value] ?? start);
        }}
      />
      {maker.period !== undefined && (
        <Input
          aria-label={texts.period}
          title={texts.aTimeSuchAs}
          className="w-20!"
          value={maker.period}
          onChange={(e) => setMaker({ ...maker, period: e.target.value })}
        />
      )}
      <Select
        aria-label={texts.operator}
        className="w-20!"
        options={OPERATORS}
        value={maker.operator}
        onChange={(e) => setMaker({ ...maker, operator: e.target.value })}
      />
      <Input
        aria-label={texts.comparedWith}
        placeholder={texts.value}
        className="w-32!"
        value={maker.value}
        onChange={(e) => setMaker({ ...maker, value: e.target.value })}
      />
      <Button
        small
        look="primary"
        disabled={!key || maker.value.trim() === ""}
        onClick={() => onAdd(condition)}
      >
        {texts.add}
      </Button>
      <Button small look="quiet" onClick={onCancel}>
        {texts.cancel}
      </Button>
    </div>
  );
}
