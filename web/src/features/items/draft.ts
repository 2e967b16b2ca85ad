import type {
  ConfigItem,
  ItemKind,
  ItemMembers,
  MacroPath,
  Override,
  RuleFilter,
} from "~/api/item-config";
import type { PreprocessingStep } from "~/api/items";
import type { Members } from "~/api/methods";
import { Discover, ItemType, Status, ValueType } from "~/api/schema";
import type { HostInterface } from "~/util/interfaces";
import { interfaceTypeFor, isPolled } from "~/util/item-types";
import { oneOf } from "~/util/one-of";
import { type Tag, tagParams } from "~/util/tags";
import { EXTRAS, extraParams, extraText } from "./extras";
import { overrideParams, overrideProblem } from "./overrides";
import { filterParams, NO_FILTER } from "./rule-filter";

/** An item, a prototype or a discovery rule as the form holds it. */
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
  /** Parameters that only the type has, by their names in the API. */
  extra: Record<string, string>;
  /** Prototypes: discovery makes items of it. */
  discover: boolean;
  /** Rules: lost objects: 0 deleted after `lifetime`, 1 kept, 2 deleted. */
  lifetimeType: string;
  lifetime: string;
  filter: RuleFilter;
  macroPaths: MacroPath[];
  overrides: Override[];
}

const extraOf = (item: ConfigItem | null) => {
  const extra: Record<string, string> = {};
  for (const { field } of item ? (EXTRAS[item.type] ?? []) : []) {
    extra[field] = extraText(item?.[field]);
  }
  return extra;
};

export function draftOf(item: ConfigItem | null): ItemDraft {
  return {
    extra: extraOf(item),
    discover: item?.discover !== Discover.No,
    lifetimeType: item?.lifetime_type ?? "0",
    lifetime: item?.lifetime || "7d",
    filter: item?.filter ?? NO_FILTER,
    macroPaths: item?.lld_macro_paths ?? [],
    overrides: item?.overrides ?? [],
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
    enabled: item?.status !== Status.Disabled,
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
  return valueType === ValueType.Float || valueType === ValueType.Unsigned;
}

/** What is wrong with a draft, by field. Templates have no interfaces: `interfaces` is null. */
export function problemsOf(
  draft: ItemDraft,
  interfaces: readonly HostInterface[] | null,
): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (!draft.key.trim()) problems.key = "Enter a key.";
  if (isPolled(draft.type) && !draft.delay.trim())
    problems.delay = "Enter an interval, such as 1m.";
  if (draft.type === ItemType.Dependent && draft.masterId === "0")
    problems.master = "Choose a master item.";
  if (draft.type === ItemType.Calculated && !draft.formula.trim())
    problems.formula = "Enter a formula.";
  if (draft.type === ItemType.HttpAgent && !draft.url.trim()) problems.url = "Enter a URL.";
  if (draft.type === ItemType.Snmp && !draft.snmpOid.trim()) problems.snmp = "Enter an OID.";
  for (const { field, label, required } of EXTRAS[draft.type] ?? []) {
    if (required && !draft.extra[field]?.trim()) problems[field] = `${label} cannot be empty.`;
  }
  const override = overrideProblem(draft.overrides);
  if (override) problems.overrides = override;
  if (!interfaces) return problems;
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

/** What may be changed of anything, also where a template decides the rest. */
function ownParams(draft: ItemDraft, kind: ItemKind): ItemMembers {
  const common = {
    delay: isPolled(draft.type) ? draft.delay.trim() : undefined,
    status: draft.enabled ? "0" : "1",
    description: draft.description,
  } satisfies Members<"item">;
  if (kind === "rule") {
    const timed = draft.lifetimeType === "0";
    return {
      ...common,
      lifetime_type: oneOf(draft.lifetimeType, ["0", "1", "2"]),
      lifetime: timed ? draft.lifetime.trim() : undefined,
      // Nothing is switched off before it is deleted, unless the rule says so itself.
      enabled_lifetime_type: timed ? undefined : "1",
    };
  }
  return {
    ...common,
    history: draft.history.trim() || "0",
    trends: hasTrends(draft.valueType) ? draft.trends.trim() || "0" : undefined,
    tags: tagParams(draft.tags),
    discover: kind === "prototype" ? (draft.discover ? "0" : "1") : undefined,
  };
}

function ruleParams(draft: ItemDraft): Members<"discoveryrule"> {
  return {
    filter: filterParams(draft.filter),
    lld_macro_paths: draft.macroPaths.filter((path) => path.lld_macro.trim()),
    overrides: overrideParams(draft.overrides),
  };
}

function valueParams(draft: ItemDraft): Members<"item"> {
  return {
    value_type: oneOf(draft.valueType, ["0", "1", "2", "3", "4", "5"]),
    units: hasTrends(draft.valueType) ? draft.units : undefined,
    valuemapid: draft.valuemapid,
  };
}

/** The interface that an item of this draft uses. */
export function chosenInterface(
  draft: ItemDraft,
  interfaces: readonly HostInterface[],
): HostInterface | undefined {
  const fitting = fittingInterfaces(draft.type, interfaces);
  return (
    fitting.find((iface) => iface.interfaceid === draft.interfaceid) ??
    fitting.find((iface) => iface.main === "1") ??
    fitting[0]
  );
}

/** The draft as the create and update methods take it. */
export function itemParams(
  draft: ItemDraft,
  interfaces: readonly HostInterface[],
  inherited: boolean,
  kind: ItemKind = "item",
  before: ConfigItem | null = null,
): ItemMembers {
  const own = ownParams(draft, kind);
  if (inherited) return own;
  return {
    ...own,
    ...(kind === "rule" ? ruleParams(draft) : valueParams(draft)),
    name: draft.name.trim(),
    key_: draft.key.trim(),
    type: draft.type,
    interfaceid: chosenInterface(draft, interfaces)?.interfaceid,
    master_itemid: draft.type === ItemType.Dependent ? draft.masterId : undefined,
    url: draft.type === ItemType.HttpAgent ? draft.url : undefined,
    snmp_oid: draft.type === ItemType.Snmp ? draft.snmpOid : undefined,
    preprocessing: draft.preprocessing.map(stepParams),
    ...(draft.type === ItemType.Calculated ? { params: draft.formula } : {}),
    ...extraParams(draft.type, draft.extra, before?.type === draft.type ? before : null),
  };
}
