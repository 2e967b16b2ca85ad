import type { HostInterface } from "~/api/hosts";
import type { Item, PreprocessingStep } from "~/api/items";
import { interfaceTypeFor, isPolled } from "~/util/item-types";
import type { Tag } from "~/util/tags";

/** An item as the form holds it. */
export interface ItemDraft {
  name: string;
  key: string;
  type: string;
  valueType: string;
  units: string;
  delay: string;
  history: string;
  trends: string;
  interfaceid: string;
  masterId: string;
  formula: string;
  url: string;
  snmpOid: string;
  valuemapid: string;
  description: string;
  enabled: boolean;
  preprocessing: PreprocessingStep[];
  tags: Tag[];
}

export function draftOf(item: Item | null): ItemDraft {
  return {
    name: item?.name ?? "",
    key: item?.key_ ?? "",
    type: item?.type ?? "0",
    valueType: item?.value_type ?? "3",
    units: item?.units ?? "",
    delay: item && item.delay !== "0" ? item.delay : "1m",
    history: item?.history ?? "31d",
    trends: item?.trends ?? "365d",
    interfaceid: item?.interfaceid ?? "0",
    masterId: item?.master_itemid ?? "0",
    formula: item?.params ?? "",
    url: item?.url ?? "",
    snmpOid: item?.snmp_oid ?? "",
    valuemapid: item?.valuemapid ?? "0",
    description: item?.description ?? "",
    enabled: item?.status !== "1",
    preprocessing: item?.preprocessing ?? [],
    tags: item?.tags ?? [],
  };
}

/** Interfaces of the host that fit the item's type. */
export function fittingInterfaces(
  type: string,
  interfaces: readonly HostInterface[],
): HostInterface[] {
  const needed = interfaceTypeFor(type);
  if (needed === 0) return [];
  return interfaces.filter((iface) => needed === -1 || iface.type === String(needed));
}

export function hasTrends(valueType: string): boolean {
  return valueType === "0" || valueType === "3";
}

/** What is wrong with a draft, by field. */
export function problemsOf(
  draft: ItemDraft,
  interfaces: readonly HostInterface[],
): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "An item needs a name.";
  if (!draft.key.trim()) problems.key = "An item needs a key.";
  if (isPolled(draft.type) && !draft.delay.trim())
    problems.delay = "Write an interval, such as 1m.";
  if (draft.type === "18" && draft.masterId === "0")
    problems.master = "Choose the item this one depends on.";
  if (draft.type === "15" && !draft.formula.trim()) problems.formula = "Write the formula.";
  if (draft.type === "19" && !draft.url.trim()) problems.url = "Write the address to ask.";
  if (draft.type === "20" && !draft.snmpOid.trim()) problems.snmp = "Write the OID.";
  if (interfaceTypeFor(draft.type) > 0 && fittingInterfaces(draft.type, interfaces).length === 0) {
    problems.type = "The host has no interface for this type. Add one to the host first.";
  }
  return problems;
}

const stepParams = ({ type, params, error_handler, error_handler_params }: PreprocessingStep) => ({
  type,
  params,
  error_handler,
  error_handler_params,
});

/** What every kind of item may change, also one that came from a template. */
function ownParams(draft: ItemDraft): object {
  return {
    delay: isPolled(draft.type) ? draft.delay.trim() : undefined,
    history: draft.history.trim() || "0",
    trends: hasTrends(draft.valueType) ? draft.trends.trim() || "0" : undefined,
    status: draft.enabled ? "0" : "1",
    description: draft.description,
    tags: draft.tags
      .filter((tag) => tag.tag.trim())
      .map(({ tag, value }) => ({ tag: tag.trim(), value })),
  };
}

/** The draft as `item.create` and `item.update` take it. */
export function itemParams(
  draft: ItemDraft,
  interfaces: readonly HostInterface[],
  inherited: boolean,
): object {
  if (inherited) return ownParams(draft);
  const fitting = fittingInterfaces(draft.type, interfaces);
  const chosen =
    fitting.find((iface) => iface.interfaceid === draft.interfaceid) ??
    fitting.find((iface) => iface.main === "1") ??
    fitting[0];
  return {
    ...ownParams(draft),
    name: draft.name.trim(),
    key_: draft.key.trim(),
    type: draft.type,
    value_type: draft.valueType,
    units: hasTrends(draft.valueType) ? draft.units : undefined,
    interfaceid: chosen?.interfaceid,
    master_itemid: draft.type === "18" ? draft.masterId : undefined,
    params: draft.type === "15" ? draft.formula : undefined,
    url: draft.type === "19" ? draft.url : undefined,
    snmp_oid: draft.type === "20" ? draft.snmpOid : undefined,
    valuemapid: draft.valuemapid,
    preprocessing: draft.preprocessing.map(stepParams),
  };
}
