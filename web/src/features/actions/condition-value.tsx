import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { triggerLabel, triggerSearchQuery } from "~/api/trigger-config";
import { GroupPicker, HostPicker, TemplatePicker } from "~/shared/pickers";
import { Input, Select } from "~/ui/field";
import { Pick } from "~/ui/pick";
import type { ActionCondition, ConditionKind } from "~/util/actions";
import { isBehind, useSettled } from "~/util/hooks";
import { texts } from "./texts";

interface ReferenceProps {
  value: string;
  onChange: (value: string) => void;
  /** Names by kind and id. */
  names: ReadonlyMap<string, string>;
}

function TriggerPicker({ value, onChange, names }: ReferenceProps) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const search = useQuery(triggerSearchQuery(settled));
  return (
    <Pick
      field
      label={texts.triggers}
      values={value ? [value] : []}
      options={(search.data ?? []).map((found) => ({
        value: found.triggerid,
        label: triggerLabel(found),
      }))}
      labelOf={(id) => names.get(`trigger ${id}`)}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      onChange={(ids) => onChange(ids.at(-1) ?? "")}
    />
  );
}

/** One object, chosen by its name. */
function Reference({ kind, ...props }: ReferenceProps & { kind: string }) {
  const { value, onChange, names } = props;
  const chosen = {
    field: true,
    values: value ? [value] : [],
    // A condition has one value: another choice replaces it.
    onChange: (ids: string[]) => onChange(ids.at(-1) ?? ""),
  };
  if (kind === "group") return <GroupPicker of="host" {...chosen} />;
  if (kind === "host") return <HostPicker {...chosen} />;
  if (kind === "template") {
    const known = names.get(`template ${value}`);
    return <TemplatePicker {...chosen} names={new Map(known ? [[value, known]] : [])} />;
  }
  if (kind === "trigger") return <TriggerPicker {...props} />;
  const options = [...names].flatMap(([id, name]) => {
    const [what, number] = id.split(" ");
    return what === kind ? [[number ?? "", name] as const] : [];
  });
  return (
    <Select
      aria-label={texts.conditionValue}
      options={[["", texts.choose], ...options]}
      value={value}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}

interface ValueProps {
  kind: ConditionKind | undefined;
  condition: ActionCondition;
  onChange: (next: Partial<ActionCondition>) => void;
  names: ReadonlyMap<string, string>;
}

/** What a condition is compared with. */
export function ConditionValue({ kind, condition, onChange, names }: ValueProps) {
  const value = kind?.value ?? "text";
  if (value === "none") return null;
  const box = (
    <Input
      aria-label={texts.conditionValue}
      placeholder={kind?.hint}
      maxLength={255}
      value={condition.value}
      onChange={(e) => onChange({ value: e.target.value })}
    />
  );
  if (value === "text") return box;
  if (value === "tag")
    return (
      <span className="grid grid-cols-2 gap-2">
        <Input
          aria-label={texts.conditionTag}
          placeholder={texts.tag}
          maxLength={255}
          value={condition.value2 ?? ""}
          onChange={(e) => onChange({ value2: e.target.value })}
        />
        {box}
      </span>
    );
  if (typeof value === "string")
    return (
      <Reference
        kind={value}
        value={condition.value}
        onChange={(next) => onChange({ value: next })}
        names={names}
      />
    );
  // An existing value that forms do not offer stays.
  const known = value.some(([one]) => one === condition.value);
  const options = known ? value : [...value, [condition.value, condition.value] as const];
  return (
    <Select
      aria-label={texts.conditionValue}
      options={options}
      value={condition.value}
      onChange={(e) => onChange({ value: e.target.value })}
    />
  );
}
