import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { itemSearchQuery, itemsQuery } from "~/api/items";
import { ItemType } from "~/api/schema";
import { interfaceAddress, interfaceName } from "~/shared/availability";
import { Field, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { isBehind, useSettled } from "~/util/hooks";
import type { HostInterface } from "~/util/interfaces";
import { isPolled } from "~/util/item-types";
import { fittingInterfaces, type ItemDraft } from "./draft";
import { EXTRAS } from "./extras";
import { texts } from "./texts";

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
  const settled = useSettled(text);
  const search = useQuery(itemSearchQuery(settled, { hostid }));
  const { data: chosen = [] } = useQuery(itemsQuery(value === "0" ? [] : [value]));
  return (
    <Pick
      id={id}
      field
      label={texts.masterItem}
      values={value === "0" ? [] : [value]}
      options={(search.data ?? []).map((item) => ({ value: item.itemid, label: item.name }))}
      labelOf={() => chosen[0]?.name}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      onChange={(values) => onChange(values.at(-1) ?? "0")}
    />
  );
}

/** The parameters that only this type has. */
function ExtraFields({
  draft,
  set,
  errors,
  inherited,
}: Omit<SourceFieldsProps, "hostid" | "interfaces">) {
  const fields = EXTRAS[draft.type] ?? [];
  if (fields.length === 0) return null;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {fields.map((extra) => {
        const { field, label, hint, required, choices } = extra;
        const value = draft.extra[field] ?? "";
        const shared = {
          label,
          hint,
          required,
          error: errors[field],
          disabled: inherited,
          onChange: (next: string) => set({ extra: { ...draft.extra, [field]: next } }),
        };
        if (choices) {
          return (
            <SelectField
              key={field}
              {...shared}
              options={choices}
              value={value || choices[0]?.[0]}
            />
          );
        }
        if (extra.multiline) {
          return (
            <TextareaField
              key={field}
              {...shared}
              fieldClass="sm:col-span-2"
              rows={extra.pairs ? 3 : 5}
              className="font-mono text-xs"
              value={value}
            />
          );
        }
        return (
          <TextField
            key={field}
            {...shared}
            type={extra.secret ? "password" : "text"}
            autoComplete={extra.secret ? "new-password" : "off"}
            value={value}
          />
        );
      })}
    </div>
  );
}

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
        <SelectField
          label={texts.hostInterface}
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
          onChange={(interfaceid) => set({ interfaceid })}
        />
      )}
      {draft.type === ItemType.Dependent && (
        <Field label={texts.masterItem} required error={errors.master}>
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
      {draft.type === ItemType.Calculated && (
        <TextareaField
          label={texts.formula}
          required
          error={errors.formula}
          hint={texts.suchAsAvgHost}
          disabled={inherited}
          rows={3}
          className="font-mono text-xs"
          value={draft.formula}
          onChange={(formula) => set({ formula })}
        />
      )}
      {draft.type === ItemType.HttpAgent && (
        <TextField
          label={texts.url}
          required
          error={errors.url}
          disabled={inherited}
          value={draft.url}
          onChange={(url) => set({ url })}
        />
      )}
      {draft.type === ItemType.Snmp && (
        <TextField
          label={texts.snmpOid}
          required
          error={errors.snmp}
          hint={texts.oidExample}
          disabled={inherited}
          value={draft.snmpOid}
          onChange={(snmpOid) => set({ snmpOid })}
        />
      )}
      <ExtraFields draft={draft} set={set} errors={errors} inherited={inherited} />
      {isPolled(draft.type) && (
        <TextField
          label={texts.updateInterval}
          required
          error={errors.delay}
          hint={texts.n30s5mOrWith}
          className="w-60!"
          value={draft.delay}
          onChange={(delay) => set({ delay })}
        />
      )}
    </>
  );
}
