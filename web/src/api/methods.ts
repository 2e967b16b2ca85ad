import type { AnnounceParams } from "~/util/announce";
import type { Capacity } from "~/util/capacity";
import type { RawQueueLine } from "~/util/queue";
import type { Tag } from "~/util/tags";
import type { DirectoryInput, SignInMethods } from "./authentication";
import type { PoolHealth } from "./balancing";
import type { BalancingFile, BalancingImport, FileImport } from "./balancing-file";
import type { Comparison, ImportFormat, ImportRules } from "./configuration";
import type { ConnectorInput } from "./connectors";
import type { CorrelationInput } from "./correlations";
import type { BalancingChange, Compared, EngineToken, TouchedService } from "./engines";
import type { Escalation } from "./escalations";
import type { Acknowledgement } from "./events";
import type { Explanation } from "./explanations";
import type { GetMethod, GetParams, Gets } from "./gets";
import type { RawGroupState, RawState, RawSummary } from "./host-states";
import type { HousekeepingMethods } from "./housekeeping";
import type { TestOutcome } from "./item-test";
import type { LearntMethods } from "./learnt";
import type { MediaTypeAnswer, MediaTypeRow, MediaTypeTest, MessageTemplate } from "./media-types";
import type { OnCallMethods, ScheduleInput } from "./oncall";
import type { ActionOwn } from "./own-fields";
import type { GroupPlacement } from "./placement";
import type { RawProblemGroup } from "./problems";
import type { Late } from "./queue";
import type { Rehearsal, RehearsalParams } from "./rehearsals";
import type * as schema from "./schema";
import type { Execution, MenuScript } from "./scripts";
import type { ServiceInput } from "./services";
import type { SettingsMethods } from "./settings";
import type { SlaInput, Sli, SliParams } from "./slas";
import type { TransactionAnswer, TransactionParams } from "./transactions";
import type { Confirmation, LoginAnswer } from "./users";

/** Item types come from a table (`util/item-types.ts`) that holds them as texts. */
type OfType<T extends { type: unknown }> = Omit<T, "type"> & { type: string | number };

/** Fields of a media type as texts, its password, and what belongs to it. */
type MediaTypeInput = Omit<MediaTypeRow, "mediatypeid"> & {
  passwd: string;
  message_templates: MessageTemplate[];
};

/** What `create` takes of each object; `update` takes any part of it and the id. */
interface Inputs {
  action: schema.ActionInput & Partial<ActionOwn>;
  certificate: schema.CertificateInput;
  connector: ConnectorInput;
  correlation: CorrelationInput;
  dashboard: schema.DashboardInput;
  discoveryrule: OfType<schema.DiscoveryRuleInput>;
  drule: schema.NetworkDiscoveryRuleInput;
  engine: schema.EngineInput;
  enginegroup: schema.EngineGroupInput;
  healthmonitor: schema.HealthMonitorInput;
  host: schema.HostInput;
  hostgroup: schema.HostGroupInput;
  hostprototype: schema.HostPrototypeInput;
  httptest: schema.WebScenarioInput;
  item: OfType<schema.ItemInput>;
  itemprototype: OfType<schema.ItemPrototypeInput>;
  maintenance: schema.MaintenanceInput;
  map: schema.NetworkMapInput;
  mediatype: MediaTypeInput;
  mfa: schema.MfaMethodInput;
  oncall: ScheduleInput;
  pool: schema.PoolInput;
  poolgroup: schema.PoolGroupInput;
  proxy: schema.ProxyInput;
  proxygroup: schema.ProxyGroupInput;
  role: schema.RoleInput;
  script: OfType<schema.ScriptInput>;
  service: ServiceInput;
  sla: SlaInput;
  template: schema.TemplateInput;
  templatedashboard: schema.TemplateDashboardInput;
  templategroup: schema.TemplateGroupInput;
  token: schema.TokenInput;
  trigger: schema.TriggerInput;
  triggerprototype: schema.TriggerPrototypeInput;
  user: schema.UserInput;
  userdirectory: DirectoryInput;
  usergroup: schema.UserGroupInput;
  valuemap: schema.ValueMapInput;
  vip: schema.VipInput;
  virtualservice: schema.VirtualServiceInput;
}

/** The member of each object that is its id. */
interface Keys {
  action: "actionid";
  certificate: "certificateid";
  connector: "connectorid";
  correlation: "correlationid";
  dashboard: "dashboardid";
  discoveryrule: "itemid";
  drule: "druleid";
  engine: "engineid";
  enginegroup: "enginegroupid";
  healthmonitor: "healthmonitorid";
  host: "hostid";
  hostgroup: "groupid";
  hostprototype: "hostid";
  httptest: "httptestid";
  item: "itemid";
  itemprototype: "itemid";
  maintenance: "maintenanceid";
  map: "sysmapid";
  mediatype: "mediatypeid";
  mfa: "mfaid";
  oncall: "scheduleid";
  pool: "poolid";
  poolgroup: "poolgroupid";
  proxy: "proxyid";
  proxygroup: "proxy_groupid";
  role: "roleid";
  script: "scriptid";
  service: "serviceid";
  sla: "slaid";
  template: "templateid";
  templatedashboard: "dashboardid";
  templategroup: "groupid";
  token: "tokenid";
  trigger: "triggerid";
  triggerprototype: "triggerid";
  user: "userid";
  userdirectory: "userdirectoryid";
  usergroup: "usrgrpid";
  valuemap: "valuemapid";
  vip: "vipid";
  virtualservice: "virtualserviceid";
}

type Written = keyof Inputs;
/** The ids of what a method has written, in the order of the parameters. */
type Ids<K extends Written> = Record<`${Keys[K]}s`, string[]>;

/** Members of hosts and templates that are no field of theirs in the schema. */
interface OfOwners {
  groups?: { groupid: string }[];
  interfaces?: object[];
  templates?: { templateid: string }[];
  tags?: Tag[];
  macros?: object[];
  templates_clear?: { templateid: string }[];
}
type Extra<K extends Written> = K extends "host" | "template" ? OfOwners : unknown;

/** Any members of an object. */
export type Members<K extends Written> = Partial<Inputs[K]> & Extra<K>;

/** Objects whose required members are checked. The forms of the others leave out what a template gives. */
type Typed = "hostgroup" | "templategroup" | "token" | "valuemap";
export type Input<K extends Written> = K extends Typed ? Inputs[K] : Members<K>;

/** A change of one object: its id and the members that change. */
type Change<K extends Written> = Members<K> & Record<Keys[K], string>;

type Creates = {
  [K in Written as `${K}.create`]: { params: Input<K>; result: Ids<K> };
};
type Updates = {
  [K in Written as `${K}.update`]: {
    params: Change<K> | Change<K>[];
    result: Ids<K>;
  };
};
type Deletes = { [K in Written as `${K}.delete`]: { params: string[]; result: Ids<K> } };

type Gotten = { [M in GetMethod]: { params: GetParams<M>; result: Gets[M]["row"][] } };

interface Import {
  source: string;
  format: ImportFormat;
  rules: ImportRules;
}

/** A time range whose history was lost. `shard`: it is unknown which items the lost file held. */
interface LostRow {
  itemid: string;
  time_from: string;
  time_till: string;
  scope: "item" | "shard";
  reason: string;
}

/** What a method that is neither of these takes and returns. */
interface Others
  extends OnCallMethods,
    SettingsMethods,
    HousekeepingMethods,
    LearntMethods,
    SignInMethods {
  "action.rehearse": { params: RehearsalParams; result: Rehearsal };
  "apiinfo.timezone": { params: []; result: string };
  "apiinfo.version": { params: []; result: string };
  "autoregistration.get": { params: Record<never, never>; result: { tls_accept: string } };
  "autoregistration.update": { params: AnnounceParams; result: boolean };
  "capacity.get": { params: Record<never, never>; result: Capacity };
  "certificate.renew": { params: string[]; result: { certificateids: string[] } };
  "configuration.export": {
    params: { options: { templates: string[] }; format: ImportFormat; prettyprint?: boolean };
    result: string;
  };
  "configuration.import": { params: Import; result: boolean };
  "configuration.importcompare": { params: Import; result: Comparison | [] };
  "engine.generate": { params: string[]; result: EngineToken[] };
  "enginegroup.compare": {
    params: BalancingChange & { moves?: boolean };
    result: TouchedService[] | Compared;
  };
  "enginegroup.placement": { params: { enginegroupids: string[] }; result: GroupPlacement[] };
  "escalation.get": { params: { eventids: string[] }; result: Escalation[] };
  "event.acknowledge": { params: Acknowledgement; result: { eventids: (string | number)[] } };
  "event.explain": { params: { eventid: string; userids?: string[] }; result: Explanation };
  "history.gaps": {
    params: { itemids: string[]; time_from?: number; time_till?: number; limit?: number };
    result: LostRow[];
  };
  "host.massadd": {
    params: { hosts: { hostid: string }[]; templates?: { templateid: string }[] };
    result: { hostids: string[] };
  };
  "host.massremove": {
    params: { hostids: string[]; templateids?: string[]; templateids_clear?: string[] };
    result: { hostids: string[] };
  };
  "host.states": { params: { hostids: readonly string[] }; result: RawState[] };
  "host.summary": { params: { limit: number }; result: RawSummary };
  "hostgroup.states": { params: { groupids: readonly string[] }; result: RawGroupState[] };
  "item.test": { params: object; result: TestOutcome };
  "loadbalancer.export": { params: { virtualserviceids?: string[] }; result: BalancingFile };
  "loadbalancer.import": { params: FileImport; result: BalancingImport };
  "loadbalancer.importcompare": { params: FileImport; result: BalancingImport };
  "mediatype.test": { params: MediaTypeTest; result: MediaTypeAnswer };
  "pool.health": { params: { poolids: string[] }; result: PoolHealth[] };
  "problem.groups": {
    params: object;
    result: { rowscount: string; groups: RawProblemGroup[] };
  };
  "problem.counts": { params: { suppressed?: boolean }; result: string[] };
  "queue.get": {
    params: { type: "overview" | "overview by proxy" | "details"; limit?: number };
    result: (RawQueueLine & Late)[];
  };
  "script.execute": {
    params: { scriptid: string; hostid?: string; eventid?: string; manualinput?: string };
    result: Execution;
  };
  "script.getscriptsbyevents": {
    params: { eventid: string; scriptid?: string; manualinput?: string };
    result: Record<string, MenuScript[]> | MenuScript[][];
  };
  "script.getscriptsbyhosts": {
    params: { hostid: string; scriptid?: string; manualinput?: string };
    result: Record<string, MenuScript[]> | MenuScript[][];
  };
  "sla.getsli": { params: SliParams; result: Sli };
  "task.create": {
    params: { type: number; request: { itemid: string } }[];
    result: { taskids: string[] };
  };
  "token.generate": { params: string[]; result: { tokenid: string; token: string }[] };
  "transaction.get": { params: TransactionParams; result: TransactionAnswer };
  "user.login": {
    params: { username: string; password: string; userData: true };
    result: LoginAnswer;
  };
  "user.confirmation": { params: { sessionid: string }; result: Confirmation };
  "user.confirm": { params: { sessionid: string; code: string }; result: string };
  "user.logout": { params: []; result: boolean };
  "user.unblock": { params: string[]; result: { userids: string[] } };
}

/** Parameters and result of every method that the UI calls. */
export type Methods = Creates & Updates & Deletes & Gotten & Others;

/** A method that the UI calls; a name that the server does not have is none. */
export type Method = keyof Methods & schema.MethodName;

/** The methods whose result does not follow from their parameters. */
export type FixedMethod = Exclude<Method, GetMethod>;
