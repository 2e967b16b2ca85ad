import type * as schema from "./schema";

/** What `create` takes of each object; `update` takes any part of it and the id. */
interface Inputs {
  action: schema.ActionInput;
  discoveryrule: schema.DiscoveryRuleInput;
  drule: schema.NetworkDiscoveryRuleInput;
  host: schema.HostInput;
  hostgroup: schema.HostGroupInput;
  hostprototype: schema.HostPrototypeInput;
  httptest: schema.WebScenarioInput;
  item: schema.ItemInput;
  itemprototype: schema.ItemPrototypeInput;
  maintenance: schema.MaintenanceInput;
  role: schema.RoleInput;
  template: schema.TemplateInput;
  templategroup: schema.TemplateGroupInput;
  token: schema.TokenInput;
  trigger: schema.TriggerInput;
  triggerprototype: schema.TriggerPrototypeInput;
  user: schema.UserInput;
  usergroup: schema.UserGroupInput;
  valuemap: schema.ValueMapInput;
}

/** The member of each object that is its id. */
interface Keys {
  action: "actionid";
  discoveryrule: "itemid";
  drule: "druleid";
  host: "hostid";
  hostgroup: "groupid";
  hostprototype: "hostid";
  httptest: "httptestid";
  item: "itemid";
  itemprototype: "itemid";
  maintenance: "maintenanceid";
  role: "roleid";
  template: "templateid";
  templategroup: "groupid";
  token: "tokenid";
  trigger: "triggerid";
  triggerprototype: "triggerid";
  user: "userid";
  usergroup: "usrgrpid";
  valuemap: "valuemapid";
}

type Written = keyof Inputs;
/** The ids of what a method has written, in the order of the parameters. */
type Ids<K extends Written> = Record<`${Keys[K]}s`, string[]>;

/** Members of hosts and templates that are no field of theirs in the schema. */
interface OfOwners {
  macros?: object[];
  templates_clear?: { templateid: string }[];
}
type Extra<K extends Written> = K extends "host" | "template" ? OfOwners : unknown;

/** Objects whose `create` is typed. The forms of the others make their parameters as `object`. */
type Typed = "hostgroup" | "templategroup" | "token" | "valuemap";
type Input<K extends Written> = K extends Typed ? Inputs[K] : object;

/** A change of one object: its id and the members that change. */
type Change<K extends Written> = Partial<Inputs[K]> & Record<Keys[K], string> & Extra<K>;

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

/** Parameters and result of the methods that write. `get` methods: what they return depends on `output`. */
export type Writes = Creates & Updates & Deletes;
