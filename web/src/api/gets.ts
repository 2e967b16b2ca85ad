import type { ActionCondition, ActionSource } from "~/util/actions";
import type { Mapping } from "~/util/format";
import type { SnmpDetails } from "~/util/interfaces";
import type { Repeat } from "~/util/maintenance";
import type { Check } from "~/util/network";
import type { Pair } from "~/util/pairs";
import type { Tag, TagFilter } from "~/util/tags";
import type { ActionOperation } from "./actions";
import type { AlertRow } from "./alerts";
import type { SignInGets } from "./authentication";
import type { BalancingGets } from "./balancing-gets";
import type { ConnectorGets } from "./connectors";
import type { DashboardGets } from "./dashboards";
import type { Acknowledge } from "./events";
import type { GraphGets } from "./graph-gets";
import type { GroupPrototype } from "./host-prototypes";
import type { FilterCondition, MacroPath, Newest, Override, RuleFilter } from "./item-config";
import type { PreprocessingStep } from "./items";
import type { MaintenanceTag } from "./maintenance";
import type { MapGets } from "./maps";
import type { MediaTypeRow, MessageTemplate } from "./media-types";
import type { OnCallGets } from "./oncall";
import type { ActionOwn } from "./own-fields";
import type { ProxyGets } from "./proxies";
import type * as schema from "./schema";
import type { ServiceGets } from "./service-gets";
import type { UserGets } from "./user-gets";
import type { WebStep } from "./web-scenarios";

/** A row of the schema. What the server computes has no type there: it is a text, except `urls`. */
export type Row<T> = { [K in keyof Omit<T, "urls">]: unknown extends T[K] ? string : T[K] };

/** What a `select…` parameter adds to a row. */
interface Related<Name extends string, T, Shape> {
  name: Name;
  row: T;
  shape: Shape;
}
/** Rows; with "count" their number as a text. */
export type Many<Name extends string, T> = Related<Name, T, "many">;
/** A row; with `Optional` an empty list if there is none. */
export type One<Name extends string, T> = Related<Name, T, "one">;
export type Optional<Name extends string, T> = Related<Name, T, "optional">;

export interface Get<T, Selects = unknown, Filters = unknown> {
  row: T;
  selects: Selects;
  filters: Filters;
}

export type Ids = string | readonly string[];

interface Runtime {
  /** 1: not supported, see `error`. */
  state: "0" | "1";
  error: string;
}

export type HostRow = Row<schema.Host>;
type TemplateRow = Row<schema.Template>;
type ItemRow = Row<schema.Item> & Runtime & Newest;
type TriggerRow = Row<schema.Trigger>;
type RuleRow = Row<schema.DiscoveryRule> & Runtime;
type InterfaceRow = Row<schema.HostInterface> & { details: SnmpDetails | [] };
/** Secrets have no value. */
type MacroRow = Omit<schema.UserMacro, "value"> & { value?: string };
type GlobalMacroRow = Omit<schema.GlobalMacro, "value"> & { value?: string };

interface PrototypeOf {
  selectDiscoveryRule: Optional<"discoveryRule", RuleRow>;
}

interface OfOwners {
  selectTags: Many<"tags", Tag>;
  selectMacros: Many<"macros", MacroRow>;
  selectParentTemplates: Many<"parentTemplates", TemplateRow>;
  selectItems: Many<"items", ItemRow>;
  selectTriggers: Many<"triggers", TriggerRow>;
  selectDiscoveries: Many<"discoveries", RuleRow>;
}

interface OfItems {
  selectTags: Many<"tags", Tag>;
  selectPreprocessing: Many<"preprocessing", PreprocessingStep>;
  selectHosts: Many<"hosts", HostRow>;
}

interface OfTriggers {
  selectTags: Many<"tags", Tag>;
  selectHosts: Many<"hosts", HostRow>;
  selectItems: Many<"items", ItemRow>;
  selectDependencies: Many<"dependencies", TriggerRow>;
}

interface OfProblems {
  selectTags: Many<"tags", Tag>;
  selectAcknowledges: Many<"acknowledges", Acknowledge>;
  selectSuppressionData: Many<
    "suppression_data",
    { maintenanceid: string; userid: string; suppress_until: string }
  >;
}

export interface ByHost {
  hostids?: Ids;
  groupids?: Ids;
  templateids?: Ids;
}

export interface ByTags {
  /** 2: one of the tags suffices. */
  evaltype?: 0 | 2;
  tags?: readonly TagFilter[];
}

interface ByItem extends ByHost, ByTags {
  itemids?: Ids;
  /** Only those that the user may change. */
  editable?: boolean;
  monitored?: boolean;
  templated?: boolean;
  webitems?: boolean;
  discoveryids?: Ids;
}

interface ByTrigger extends ByHost, ByTags {
  itemids?: Ids;
  triggerids?: Ids;
  monitored?: boolean;
  templated?: boolean;
  discoveryids?: Ids;
  expandExpression?: boolean;
  expandDescription?: boolean;
  expandComment?: boolean;
  expandUrl?: boolean;
}

interface ByEvent extends ByHost, ByTags {
  eventids?: Ids;
  objectids?: Ids;
  source?: number;
  object?: number;
  severities?: readonly number[];
  acknowledged?: boolean;
  suppressed?: boolean;
  time_from?: number;
  time_till?: number;
}

interface OfTime {
  itemids: Ids;
  /** Value type: 0 float, 1 character, 2 log, 3 unsigned, 4 text. */
  history: number;
  time_from?: number;
  time_till?: number;
}

export interface HistoryPoint {
  itemid: string;
  clock: string;
  ns: string;
  value: string;
}

/** An hour's trend, or a bucket of time. */
interface CoarsePoint {
  itemid: string;
  clock: string;
  value_min: string;
  value_avg: string;
  value_max: string;
}

/** Runs now, will run, will not run again. */
export type MaintenanceState = "active" | "upcoming" | "ended";

export interface Period {
  timeperiod_type: Repeat;
  every: string;
  month: string;
  dayofweek: string;
  day: string;
  start_time: string;
  period: string;
  start_date: string;
}

interface ActionFilter {
  evaltype: string;
  formula: string;
  eval_formula: string;
  conditions: ActionCondition[];
}

/**
 * What each `get` reads: fields of its rows, what `select…` adds, and what narrows the rows besides
 * the parameters of all (`GetParams`). The fields are the schema's; the schema does not have the rest.
 */
export interface Gets
  extends ServiceGets,
    OnCallGets,
    MapGets,
    DashboardGets,
    BalancingGets,
    GraphGets,
    ProxyGets,
    SignInGets,
    UserGets,
    ConnectorGets {
  "action.get": Get<
    Omit<schema.Action, "eventsource"> & ActionOwn & { eventsource: ActionSource },
    {
      selectFilter: One<"filter", ActionFilter>;
      selectOperations: Many<"operations", ActionOperation>;
      selectRecoveryOperations: Many<"recovery_operations", ActionOperation>;
      selectUpdateOperations: Many<"update_operations", ActionOperation>;
    },
    { actionids?: Ids; mediatypeids?: Ids }
  >;
  "alert.get": Get<
    AlertRow,
    {
      selectUsers: Many<"users", Row<schema.User>>;
      selectMediatypes: Many<"mediatypes", MediaTypeRow>;
      selectHosts: Many<"hosts", HostRow>;
    },
    ByHost & {
      actionids?: Ids;
      alertids?: Ids;
      eventids?: Ids;
      mediatypeids?: Ids;
      objectids?: Ids;
      userids?: Ids;
      eventsource?: number;
      eventobject?: number;
      time_from?: number;
      time_till?: number;
    }
  >;
  "auditlog.get": Get<
    Row<schema.AuditEntry>,
    unknown,
    { auditids?: Ids; userids?: Ids; time_from?: number; time_till?: number }
  >;
  "dhost.get": Get<
    schema.FoundHost,
    { selectDRules: Many<"drules", schema.NetworkDiscoveryRule> },
    { druleids?: Ids }
  >;
  "discoveryrule.get": Get<
    RuleRow,
    OfItems & {
      selectItems: Many<"items", Row<schema.ItemPrototype>>;
      selectTriggers: Many<"triggers", Row<schema.TriggerPrototype>>;
      selectGraphs: Many<"graphs", { graphid: string; name: string }>;
      selectHostPrototypes: Many<"hostPrototypes", Row<schema.HostPrototype>>;
      selectFilter: One<"filter", RuleFilter & { conditions: FilterCondition[] }>;
      selectLLDMacroPaths: Many<"lld_macro_paths", MacroPath>;
      selectOverrides: Many<"overrides", Override>;
    },
    ByItem
  >;
  "drule.get": Get<
    schema.NetworkDiscoveryRule,
    { selectDChecks: Many<"dchecks", Check>; selectDHosts: Many<"dhosts", schema.FoundHost> },
    { druleids?: Ids }
  >;
  "dservice.get": Get<
    schema.FoundService & { dhostid: string },
    { selectHosts: Many<"hosts", HostRow> },
    { druleids?: Ids }
  >;
  "event.get": Get<
    Row<schema.Event>,
    OfProblems & { selectHosts: Many<"hosts", HostRow> },
    ByEvent & { value?: number }
  >;
  "history.buckets": Get<CoarsePoint, unknown, OfTime & { width: number }>;
  "history.get": Get<HistoryPoint, unknown, OfTime>;
  "host.get": Get<
    HostRow,
    OfOwners & {
      selectInterfaces: Many<"interfaces", InterfaceRow>;
      selectInheritedTags: Many<"inheritedTags", Tag>;
      selectHostGroups: Many<"hostgroups", schema.HostGroup>;
      selectInventory: Optional<"inventory", { location_lat: string; location_lon: string }>;
    },
    ByHost & ByTags & { severities?: readonly number[] }
  >;
  "hostgroup.get": Get<schema.HostGroup, unknown, { groupids?: Ids }>;
  "hostprototype.get": Get<
    Row<schema.HostPrototype>,
    PrototypeOf & {
      selectGroupLinks: Many<"groupLinks", { groupid: string }>;
      selectGroupPrototypes: Many<"groupPrototypes", GroupPrototype>;
      selectTemplates: Many<"templates", TemplateRow>;
      selectInterfaces: Many<"interfaces", InterfaceRow>;
      selectMacros: Many<"macros", MacroRow>;
      selectTags: Many<"tags", Tag>;
      selectParentHost: One<"parentHost", HostRow>;
    },
    { hostids?: Ids; discoveryids?: Ids }
  >;
  "httptest.get": Get<
    Row<schema.WebScenario> & { headers: Pair[]; variables: Pair[] },
    { selectSteps: Many<"steps", WebStep>; selectTags: Many<"tags", Tag> },
    ByHost & { httptestids?: Ids }
  >;
  "item.get": Get<
    ItemRow,
    OfItems & {
      selectInterfaces: Many<"interfaces", InterfaceRow>;
      selectValueMap: Optional<"valuemap", schema.ValueMap & { mappings: Mapping[] }>;
      selectItemDiscovery: Optional<"itemDiscovery", { parent_itemid: string }>;
    },
    ByItem
  >;
  "itemprototype.get": Get<Row<schema.ItemPrototype>, OfItems & PrototypeOf, ByItem>;
  "maintenance.get": Get<
    schema.Maintenance,
    {
      selectTimeperiods: Many<"timeperiods", Period>;
      selectTags: Many<"tags", MaintenanceTag>;
      selectHosts: Many<"hosts", HostRow>;
      selectHostGroups: Many<"hostgroups", schema.HostGroup>;
    },
    ByHost & { maintenanceids?: Ids; states?: readonly MaintenanceState[] }
  >;
  "mediatype.get": Get<
    MediaTypeRow,
    { selectMessageTemplates: Many<"message_templates", MessageTemplate> },
    { mediatypeids?: Ids }
  >;
  "problem.get": Get<Row<schema.Problem>, OfProblems, ByEvent & { recent?: boolean }>;
  "template.get": Get<
    TemplateRow,
    OfOwners & {
      selectTemplateGroups: Many<"templategroups", schema.TemplateGroup>;
      selectHosts: Many<"hosts", HostRow>;
    },
    ByHost & { with_hosts?: boolean }
  >;
  "templategroup.get": Get<schema.TemplateGroup, unknown, { groupids?: Ids }>;
  "trend.get": Get<CoarsePoint, unknown, Omit<OfTime, "history">>;
  "trigger.get": Get<TriggerRow, OfTriggers & PrototypeOf, ByTrigger>;
  "triggerprototype.get": Get<Row<schema.TriggerPrototype>, OfTriggers & PrototypeOf, ByTrigger>;
  "usermacro.get": Get<
    GlobalMacroRow & Partial<MacroRow>,
    unknown,
    { hostids?: Ids; globalmacro?: boolean }
  >;
  "valuemap.get": Get<
    schema.ValueMap,
    { selectMappings: Many<"mappings", Mapping> },
    { hostids?: Ids; valuemapids?: Ids }
  >;
}

export type GetMethod = keyof Gets;

type Name<T> = Extract<keyof T, string>;
type Scalar = string | number;
type Fields<T> = "extend" | readonly Name<T>[];
type Selected<S> =
  S extends Related<string, infer T, infer Shape>
    ? Fields<T> | (Shape extends "many" ? "count" : never)
    : never;

/** Parameters of a `get`: those of all methods, those of the object, and its `select…`. */
export type GetParams<M extends GetMethod> = {
  output?: Fields<Gets[M]["row"]>;
  filter?: { [K in Name<Gets[M]["row"]>]?: Scalar | readonly Scalar[] };
  search?: { [K in Name<Gets[M]["row"]>]?: string | readonly string[] };
  searchByAny?: boolean;
  searchWildcardsEnabled?: boolean;
  startSearch?: boolean;
  sortfield?: Name<Gets[M]["row"]> | readonly Name<Gets[M]["row"]>[];
  sortorder?: "ASC" | "DESC";
  limit?: number;
  offset?: number;
} & Gets[M]["filters"] & { [K in keyof Gets[M]["selects"]]?: Selected<Gets[M]["selects"][K]> };

/** The members of a row that are read with `"extend"`, a list of names, or nothing. */
type Read<T, Wanted> = Wanted extends readonly (infer F)[] ? Pick<T, Extract<F, keyof T>> : T;

type Shaped<S, Wanted> = Wanted extends "count"
  ? string
  : S extends Related<string, infer T, infer Shape>
    ? { many: Read<T, Wanted>[]; one: Read<T, Wanted>; optional: Read<T, Wanted> | [] }[Shape &
        ("many" | "one" | "optional")]
    : never;

type NameOf<S> = S extends Related<infer N, unknown, unknown> ? N : never;

/** What the `select…` of these parameters add. A select that may be undefined adds nothing for sure. */
type Added<Selects, P> = {
  [K in keyof P & keyof Selects as undefined extends P[K] ? never : NameOf<Selects[K]>]: Shaped<
    Selects[K],
    P[K]
  >;
} & {
  [K in keyof P & keyof Selects as undefined extends P[K] ? NameOf<Selects[K]> : never]?: Shaped<
    Selects[K],
    Exclude<P[K], undefined>
  >;
};

type Flat<T> = { [K in keyof T]: T[K] };

/** A row of what a `get` with these parameters returns. */
export type RowOf<M extends GetMethod, P> = M extends GetMethod
  ? P extends { output: infer O }
    ? Flat<Read<Gets[M]["row"], O> & Added<Gets[M]["selects"], P>>
    : Flat<Gets[M]["row"] & Added<Gets[M]["selects"], P>>
  : never;
