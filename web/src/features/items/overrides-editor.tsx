import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Override, OverrideOperation } from "~/api/item-config";
import { templateNamesQuery } from "~/api/templates";
import { AddButton } from "~/shared/forms/rows-editor";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { TemplatePicker } from "~/shared/pickers";
import { IconButton } from "~/ui/button";
import { Checkbox, Input, Select } from "~/ui/field";
import { INVENTORY_MODES } from "~/util/inventory";
import { moved, replaced, without } from "~/util/rows";
import { SEVERITIES, severityName } from "~/util/severity";
import { FilterEditor } from "./filter-editor";
import {
  type Change,
  changesOf,
  newOperation,
  newOverride,
  OBJECTS,
  OPERATORS,
  onObject,
  toggled,
} from "./overrides";
import { texts } from "./texts";

const SEVERITY_OPTIONS = SEVERITIES.map((one) => [String(one), severityName(one)] as const);
const DISCOVER = [
  ["0", "yes"],
  ["1", "no"],
] as const;
const STATUS = [
  ["0", "enabled"],
  ["1", "disabled"],
] as const;

/** Changes that set one member, and what it can be; without options it is written. */
const SINGLE: Partial<
  Record<Change, { member: string; options?: readonly (readonly [string, string])[] }>
> = {
  opdiscover: { member: "discover", options: DISCOVER },
  opstatus: { member: "status", options: STATUS },
  opperiod: { member: "delay" },
  ophistory: { member: "history" },
  optrends: { member: "trends" },
  opseverity: { member: "severity", options: SEVERITY_OPTIONS },
  opinventory: { member: "inventory_mode", options: INVENTORY_MODES },
};
const WORDS: Record<Change, string> = {
  opdiscover: "Discover",
  opstatus: "Create enabled",
  opperiod: "Interval",
  ophistory: "Keep history",
  optrends: "Keep trends",
  opseverity: "Severity",
  optag: "Tags",
  optemplate: "Link templates",
  opinventory: "Inventory",
};

interface OperationProps {
  operation: OverrideOperation;
  onChange: (operation: OverrideOperation) => void;
}

/** The control for what one change sets. */
function Setting({ name, operation, onChange }: OperationProps & { name: Change }) {
  if (name === "optag") {
    return (
      <TagsEditor
        tags={operation.optag ?? []}
        onChange={(optag) => onChange({ ...operation, optag })}
      />
    );
  }
  if (name === "optemplate") return <Templates operation={operation} onChange={onChange} />;
  const { member = "", options } = SINGLE[name] ?? {};
  const control = {
    "aria-label": WORDS[name],
    className: "max-w-56",
    value: (operation[name] as Record<string, string>)[member] ?? "",
    onChange: (event: { target: { value: string } }) =>
      onChange({ ...operation, [name]: { [member]: event.target.value } }),
  };
  return options ? <Select {...control} options={options} /> : <Input {...control} />;
}

function Templates({ operation, onChange }: OperationProps) {
  const ids = (operation.optemplate ?? []).map((template) => template.templateid);
  const { data: names } = useQuery(templateNamesQuery(ids));
  return (
    <TemplatePicker
      field
      names={names}
      values={ids}
      onChange={(chosen) =>
        onChange({ ...operation, optemplate: chosen.map((templateid) => ({ templateid })) })
      }
    />
  );
}

function Operation({ operation, onChange, onRemove }: OperationProps & { onRemove: () => void }) {
  return (
    <div className="flex flex-col gap-2 border-l-2 pl-3">
      <div className="grid grid-cols-[1fr_2rem] gap-2 sm:grid-cols-[10rem_13rem_1fr_2rem]">
        <Select
          aria-label={texts.prototypes}
          options={OBJECTS}
          value={operation.operationobject}
          onChange={(e) => onChange(onObject(operation, e.target.value))}
        />
        <Select
          aria-label={texts.nameCondition}
          options={OPERATORS}
          value={operation.operator}
          className="max-sm:col-start-1"
          onChange={(e) => onChange({ ...operation, operator: e.target.value })}
        />
        <Input
          aria-label={texts.name}
          placeholder={texts.anyName}
          value={operation.value}
          className="max-sm:col-start-1"
          onChange={(e) => onChange({ ...operation, value: e.target.value })}
        />
        <IconButton
          icon="trash"
          label={texts.removeOperation}
          className="max-sm:col-start-2 max-sm:row-start-1"
          onClick={onRemove}
        />
      </div>
      <div className="flex flex-col gap-1.5">
        {changesOf(operation.operationobject).map((name) => (
          <div key={name} className="grid min-h-8 grid-cols-[9rem_1fr] items-center gap-2">
            <Checkbox
              label={WORDS[name]}
              checked={operation[name] !== undefined}
              onChange={() => onChange(toggled(operation, name))}
            />
            {operation[name] !== undefined && (
              <Setting name={name} operation={operation} onChange={onChange} />
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

interface OverrideCardProps {
  override: Override;
  onChange: (next: Override) => void;
  onRemove: () => void;
  /** Absent: it is the first. */
  onUp?: () => void;
}

function OverrideCard({ override, onChange, onRemove, onUp }: OverrideCardProps) {
  // A new one is open, and stays so while its name is typed.
  const [fresh] = useState(override.name === "");
  return (
    <details open={fresh} className="rounded-md border px-3 py-2">
      <summary className="cursor-pointer font-medium">{override.name || texts.newOverride}</summary>
      <div className="flex flex-col gap-4 pt-3">
        <div className="flex items-center gap-1">
          <Input
            aria-label={texts.nameOfTheOverride}
            placeholder={texts.nameWord}
            value={override.name}
            onChange={(e) => onChange({ ...override, name: e.target.value })}
          />
          {onUp && <IconButton icon="up" label={texts.moveUp} onClick={onUp} />}
          <IconButton icon="trash" label={texts.removeOverride} onClick={onRemove} />
        </div>
        <Rules override={override} onChange={onChange} />
      </div>
    </details>
  );
}

function Rules({ override, onChange }: Pick<OverrideCardProps, "override" | "onChange">) {
  const { operations } = override;
  const set = (next: OverrideOperation[]) => onChange({ ...override, operations: next });
  return (
    <>
      <div className="flex flex-col gap-2">
        <span className="text-xs font-medium text-soft">{texts.filterNoConditionsAll}</span>
        <FilterEditor
          filter={override.filter}
          onChange={(filter) => onChange({ ...override, filter })}
        />
      </div>
      <div className="flex flex-col gap-3">
        <span className="text-xs font-medium text-soft">{texts.operations}</span>
        {operations.map((operation, i) => (
          <Operation
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            key={i}
            operation={operation}
            onChange={(next) => set(replaced(operations, i, next))}
            onRemove={() => set(without(operations, i))}
          />
        ))}
        <AddButton onClick={() => set([...operations, newOperation()])}>
          {texts.addOperation}
        </AddButton>
      </div>
      <Checkbox
        label={texts.ifTheFilterMatches}
        checked={override.stop === "1"}
        onChange={(e) => onChange({ ...override, stop: e.target.checked ? "1" : "0" })}
      />
    </>
  );
}

interface OverridesEditorProps {
  overrides: readonly Override[];
  onChange: (overrides: Override[]) => void;
}

/** What discovery makes otherwise for some of the rows, tried in this order. */
export function OverridesEditor({ overrides, onChange }: OverridesEditorProps) {
  return (
    <div className="flex flex-col gap-3">
      {overrides.map((override, i) => (
        <OverrideCard
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={i}
          override={override}
          onChange={(next) => onChange(replaced(overrides, i, next))}
          onRemove={() => onChange(without(overrides, i))}
          onUp={i > 0 ? () => onChange(moved(overrides, i, i - 1)) : undefined}
        />
      ))}
      <AddButton onClick={() => onChange([...overrides, newOverride()])}>
        {texts.addOverride}
      </AddButton>
    </div>
  );
}
