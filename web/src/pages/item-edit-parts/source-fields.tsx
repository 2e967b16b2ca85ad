import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { HostInterface } from "~/api/hosts";
import { itemSearchQuery, itemsQuery } from "~/api/items";
import { interfaceAddress, interfaceName } from "~/parts/availability";
import { Field, Input, Select, Textarea } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { useSettled } from "~/util/hooks";
import { isPolled, itemTypeName } from "~/util/item-types";
import { fittingInterfaces, type ItemDraft } from "./draft";

interface SourceFieldsProps {
  hostid: string;
  interfaces: readonly HostInterface[];
  draft: ItemDraft;
  set: (next: Partial<ItemDraft>) => void;
  errors: Record<string, string>;
  inherited: boolean;
}

function MasterPicker({
  hostid,
  value,
  onChange,
  id,
}: {
  hostid: string;
  value: string;
  onChange: (v: string) => void;
  id: string;
}) {
  const [text, setText] = useState("");
  const { data: found = [] } = useQuery(itemSearchQuery(useSettled(text), { hostid }));
  const { data: chosen = [] } = useQuery(itemsQuery(value === "0" ? [] : [value]));
  return (
    <Pick
      id={id}
      field
      label="Master item"
      values={value === "0" ? [] : [value]}
      options={found.map((item) => ({ value: item.itemid, label: item.name }))}
      labelOf={() => chosen[0]?.name}
      onSearch={setText}
      onChange={(values) => onChange(values.at(-1) ?? "0")}
    />
  );
}

/** Types whose every parameter this form knows; the others keep what they have elsewhere. */
const COMPLETE = new Set(["0", "2", "3", "5", "7", "10", "15", "17", "18", "19", "20"]);

/** What depends on the way of collecting: interface, master item, formula, address, interval. */
export function SourceFields({
  hostid,
  interfaces,
  draft,
  set,
  errors,
  inherited,
}: SourceFieldsProps) {
  const fitting = fittingInterfaces(draft.type, interfaces);
  const main = fitting.find((iface) => iface.main === "1") ?? fitting[0];
  return (
    <>
      {fitting.length > 0 && (
        <Field label="Host interface">
          {(id) => (
            <Select
              id={id}
              disabled={inherited}
              options={fitting.map(
                (i) =>
                  [i.interfaceid ?? "", `${interfaceName(i.type)} ${interfaceAddress(i)}`] as const,
              )}
              value={
                fitting.some((i) => i.interfaceid === draft.interfaceid)
                  ? draft.interfaceid
                  : main?.interfaceid
              }
              onChange={(e) => set({ interfaceid: e.target.value })}
            />
          )}
        </Field>
      )}
      {draft.type === "18" && (
        <Field label="Master item" required error={errors.master}>
          {(id) => (
            <MasterPicker
              id={id}
              hostid={hostid}
              value={draft.masterId}
              onChange={(masterId) => set({ masterId })}
            />
          )}
        </Field>
      )}
      {draft.type === "15" && (
        <Field
          label="Formula"
          required
          error={errors.formula}
          hint="Such as avg(/host/key,5m) / last(//other.key)"
        >
          {(id) => (
            <Textarea
              id={id}
              disabled={inherited}
              rows={3}
              className="font-mono text-xs"
              value={draft.formula}
              onChange={(e) => set({ formula: e.target.value })}
            />
          )}
        </Field>
      )}
      {draft.type === "19" && (
        <Field label="URL" required error={errors.url}>
          {(id) => (
            <Input
              id={id}
              disabled={inherited}
              value={draft.url}
              onChange={(e) => set({ url: e.target.value })}
            />
          )}
        </Field>
      )}
      {draft.type === "20" && (
        <Field
          label="SNMP OID"
          required
          error={errors.snmp}
          hint="Such as get[1.3.6.1.2.1.1.3.0] or walk[1.3.6.1.2.1.2.2]"
        >
          {(id) => (
            <Input
              id={id}
              disabled={inherited}
              value={draft.snmpOid}
              onChange={(e) => set({ snmpOid: e.target.value })}
            />
          )}
        </Field>
      )}
      {!COMPLETE.has(draft.type) && (
        <p className="rounded-md bg-sunken px-3 py-2 text-xs text-soft">
          Items of type “{itemTypeName(draft.type)}” have further parameters that only the API sets
          so far.
        </p>
      )}
      {isPolled(draft.type) && (
        <Field
          label="Update interval"
          required
          error={errors.delay}
          hint="30s, 5m, or with schedules: 1m;wd1-5h9-18"
        >
          {(id) => (
            <Input
              id={id}
              className="w-60!"
              value={draft.delay}
              onChange={(e) => set({ delay: e.target.value })}
            />
          )}
        </Field>
      )}
    </>
  );
}
