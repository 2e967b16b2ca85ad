// biome-ignore-all format: made from the tables of the server by `vedette api --typescript`.
// Do not edit: a test of the server compares this file with the tables.

/** As `hostgroup.get` shows it with `output: "extend"`. */
export interface HostGroup {
  /** Id of the group. */
  groupid: string;
  /** Name; `/` makes a tree. */
  name: string;
  /** 0 made by people, 4 made by discovery. */
  flags: "0" | "4";
  /** Universal id, for template exports. */
  uuid: string;
}

/** As `hostgroup.create` takes it. */
export interface HostGroupInput {
  /** Name; `/` makes a tree. */
  name: string;
  /** Universal id, for template exports. */
  uuid?: string;
}

/** As `templategroup.get` shows it with `output: "extend"`. */
export interface TemplateGroup {
  /** Id of the group. */
  groupid: string;
  /** Name; `/` makes a tree. */
  name: string;
  /** Universal id, for template exports. */
  uuid: string;
}

/** As `templategroup.create` takes it. */
export interface TemplateGroupInput {
  /** Name; `/` makes a tree. */
  name: string;
  /** Universal id, for template exports. */
  uuid?: string;
}

/** As `host.get` shows it with `output: "extend"`. */
export interface Host {
  /** Id of the host. */
  hostid: string;
  /** Proxy that monitors it, with `monitored_by` 1. */
  proxyid: string;
  /** Technical name. */
  host: string;
  /** 0 monitored, 1 not. */
  status: "0" | "1";
  /** IPMI authentication, -1 default. */
  ipmi_authtype: string;
  /** IPMI privilege, 2 user. */
  ipmi_privilege: string;
  /** IPMI user name. */
  ipmi_username: string;
  /** IPMI password. */
  ipmi_password: string;
  /** Maintenance in effect. */
  maintenanceid: string;
  /** 1 = in maintenance. */
  maintenance_status: "0" | "1";
  /** 0 with data collection, 1 without. */
  maintenance_type: "0" | "1";
  /** Unix time of its begin. */
  maintenance_from: string;
  /** Visible name; the technical one if not given. */
  name: string;
  /** 0 made by people, 4 made by discovery. */
  flags: "0" | "4";
  /** Always 0. */
  templateid: string;
  /** Free text. */
  description: string;
  /** To the host: 1 plain, 2 PSK, 4 certificate. */
  tls_connect: "1" | "2" | "4";
  /** From the host: bit mask of the same. */
  tls_accept: string;
  /** Issuer of its certificate. */
  tls_issuer: string;
  /** Subject of its certificate. */
  tls_subject: string;
  /** Interfaces of prototypes. */
  custom_interfaces: "0" | "1";
  /** Universal id. */
  uuid: string;
  /** Vendor of a template. */
  vendor_name: string;
  /** Version of a template. */
  vendor_version: string;
  /** Proxy group that monitors it, with `monitored_by` 2. */
  proxy_groupid: string;
  /** 0 server, 1 proxy, 2 proxy group. */
  monitored_by: "0" | "1" | "2";
  /** -1 off, 0 manual, 1 automatic. */
  inventory_mode: "-1" | "0" | "1";
  /** Active checks: 0 unknown, 1 available, 2 not. */
  active_available: unknown;
  /** Proxy that its proxy group chose. */
  assigned_proxyid: unknown;
}

/** As `host.create` takes it. */
export interface HostInput {
  /** Proxy that monitors it, with `monitored_by` 1. */
  proxyid?: string | number;
  /** Technical name. */
  host: string;
  /** 0 monitored, 1 not. */
  status?: "0" | "1" | 0 | 1;
  /** IPMI authentication, -1 default. */
  ipmi_authtype?: string | number;
  /** IPMI privilege, 2 user. */
  ipmi_privilege?: string | number;
  /** IPMI user name. */
  ipmi_username?: string;
  /** IPMI password. */
  ipmi_password?: string;
  /** Visible name; the technical one if not given. */
  name?: string;
  /** Free text. */
  description?: string;
  /** To the host: 1 plain, 2 PSK, 4 certificate. */
  tls_connect?: "1" | "2" | "4" | 1 | 2 | 4;
  /** From the host: bit mask of the same. */
  tls_accept?: string | number;
  /** Issuer of its certificate. */
  tls_issuer?: string;
  /** Subject of its certificate. */
  tls_subject?: string;
  /** PSK identity. */
  tls_psk_identity?: string;
  /** PSK, hexadecimal. */
  tls_psk?: string;
  /** Proxy group that monitors it, with `monitored_by` 2. */
  proxy_groupid?: string | number;
  /** 0 server, 1 proxy, 2 proxy group. */
  monitored_by?: "0" | "1" | "2" | 0 | 1 | 2;
  /** -1 off, 0 manual, 1 automatic. */
  inventory_mode?: "-1" | "0" | "1" | -1 | 0 | 1;
}

/** As `hostinterface.get` shows it with `output: "extend"`. */
export interface HostInterface {
  /** Id of the interface. */
  interfaceid: string;
  /** Host that it belongs to. */
  hostid: string;
  /** 1 = the default one of its type. */
  main: "0" | "1";
  /** 1 agent, 2 SNMP, 3 IPMI, 4 JMX. */
  type: "1" | "2" | "3" | "4";
  /** 0 connect to the DNS name, 1 to the IP address. */
  useip: "0" | "1";
  /** IP address, or a macro. */
  ip: string;
  /** DNS name, or a macro. */
  dns: string;
  /** Port, or a macro. */
  port: string;
  /** 0 unknown, 1 available, 2 not available. */
  available: unknown;
  /** Why it is not available. */
  error: unknown;
  /** Unix time since when it is not. */
  errors_from: unknown;
  /** Unix time of the next try. */
  disable_until: unknown;
}

/** As `hostinterface.create` takes it. */
export interface HostInterfaceInput {
  /** Host that it belongs to. */
  hostid: string | number;
  /** 1 = the default one of its type. */
  main: "0" | "1" | 0 | 1;
  /** 1 agent, 2 SNMP, 3 IPMI, 4 JMX. */
  type: "1" | "2" | "3" | "4" | 1 | 2 | 3 | 4;
  /** 0 connect to the DNS name, 1 to the IP address. */
  useip: "0" | "1" | 0 | 1;
  /** IP address, or a macro. */
  ip: string;
  /** DNS name, or a macro. */
  dns: string;
  /** Port, or a macro. */
  port: string;
  /** SNMP version, community, keys …; SNMP only. */
  details?: unknown;
}

/** As `template.get` shows it with `output: "extend"`. */
export interface Template {
  /** Id of the template. */
  templateid: string;
  /** Technical name. */
  host: string;
  /** Visible name; the technical one if not given. */
  name: string;
  /** Free text. */
  description: string;
  /** Universal id. */
  uuid: string;
  /** Vendor. */
  vendor_name: string;
  /** Version of the vendor. */
  vendor_version: string;
  /** Of hosts; here without meaning, as all that follow. */
  proxyid: string;
  /** Always 3. */
  status: "3";
  /** Always 0. */
  flags: "0";
  /** See hosts. */
  ipmi_authtype: string;
  /** See hosts. */
  ipmi_privilege: string;
  /** See hosts. */
  ipmi_username: string;
  /** See hosts. */
  ipmi_password: string;
  /** See hosts. */
  maintenanceid: string;
  /** See hosts. */
  maintenance_status: string;
  /** See hosts. */
  maintenance_type: string;
  /** See hosts. */
  maintenance_from: string;
  /** See hosts. */
  tls_connect: string;
  /** See hosts. */
  tls_accept: string;
  /** See hosts. */
  tls_issuer: string;
  /** See hosts. */
  tls_subject: string;
  /** Always empty. */
  tls_psk_identity: string;
  /** Always empty. */
  tls_psk: string;
  /** See hosts. */
  custom_interfaces: string;
  /** See hosts. */
  proxy_groupid: string;
  /** See hosts. */
  monitored_by: string;
}

/** As `template.create` takes it. */
export interface TemplateInput {
  /** Technical name. */
  host: string;
  /** Visible name; the technical one if not given. */
  name?: string;
  /** Free text. */
  description?: string;
  /** Universal id. */
  uuid?: string;
  /** Vendor. */
  vendor_name?: string;
  /** Version of the vendor. */
  vendor_version?: string;
  /** Template groups: `[{groupid}]`. */
  groups: unknown;
  /** Tags: `[{tag, value}]`. */
  tags?: unknown;
  /** User macros: `[{macro, value, type, description}]`. */
  macros?: unknown;
  /** Linked templates: `[{templateid}]`. */
  templates?: unknown;
  /** Templates to unlink and clear. */
  templates_clear?: unknown;
}

/** As `item.get` shows it with `output: "extend"`. */
export interface Item {
  /** Id. */
  itemid: string;
  /** Universal id; templates only. */
  uuid: string;
  /** Host or template. */
  hostid: string;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22";
  /** Key. */
  key_: string;
  /** Value type; 5 (binary) of dependent items alone. */
  value_type: "0" | "1" | "2" | "3" | "4" | "5";
  /** Units of numbers. */
  units: string;
  /** How long values are kept. */
  history: string;
  /** How long trends are kept. */
  trends: string;
  /** Value map. */
  valuemapid: string;
  /** Inventory field that the value fills. */
  inventory_link: string;
  /** Time format of log entries. */
  logtimefmt: string;
  /** Description. */
  description: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** Interface to ask. */
  interfaceid: string;
  /** Master of a dependent item. */
  master_itemid: string;
  /** Authentication. */
  authtype: "0" | "1" | "2" | "3" | "4";
  /** User. */
  username: string;
  /** Password. */
  password: string;
  /** File of the public key. */
  publickey: string;
  /** File of the private key. */
  privatekey: string;
  /** Formula, script or query. */
  params: string;
  /** SNMP object. */
  snmp_oid: string;
  /** IPMI sensor. */
  ipmi_sensor: string;
  /** JMX endpoint. */
  jmx_endpoint: string;
  /** URL. */
  url: string;
  /** Query fields of the URL. */
  query_fields: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method: "0" | "1" | "2" | "3";
  /** 0 raw, 2 JSON, 3 XML. */
  post_type: "0" | "2" | "3";
  /** HTTP body. */
  posts: string;
  /** HTTP headers. */
  headers: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes: string;
  /** Follow redirects. */
  follow_redirects: "0" | "1";
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode: "0" | "1" | "2";
  /** 0 raw, 1 JSON. */
  output_format: "0" | "1";
  /** HTTP proxy. */
  http_proxy: string;
  /** Check the certificate. */
  verify_peer: "0" | "1";
  /** Check the host's name. */
  verify_host: "0" | "1";
  /** Client certificate. */
  ssl_cert_file: string;
  /** Key of the certificate. */
  ssl_key_file: string;
  /** Password of the key. */
  ssl_key_password: string;
  /** Parameters of the script. */
  parameters: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout: string;
  /** Update interval. */
  delay: string;
  /** Accept sent values too. */
  allow_traps: "0" | "1";
  /** Who may send values. */
  trapper_hosts: string;
  /** 0 plain, 4 discovered. */
  flags: "0" | "1" | "2" | "4";
  /** Parent on the template. */
  templateid: string;
  /** Always empty. */
  formula: string;
  /** Always 0. */
  evaltype: string;
  /** 0 delete later, 1 never, 2 at once. */
  lifetime_type: "0" | "1" | "2";
  /** Lost objects are deleted then. */
  lifetime: string;
  /** 0 switch off later, 1 never, 2 at once. */
  enabled_lifetime_type: "0" | "1" | "2";
  /** Lost objects are switched off then. */
  enabled_lifetime: string;
}

/** As `item.create` takes it. */
export interface ItemInput {
  /** Universal id; templates only. */
  uuid?: string;
  /** Host or template. */
  hostid: string | number;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22" | 0 | 2 | 3 | 5 | 7 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20 | 21 | 22;
  /** Key. */
  key_: string;
  /** Value type; 5 (binary) of dependent items alone. */
  value_type: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Units of numbers. */
  units?: string;
  /** How long values are kept. */
  history?: string;
  /** How long trends are kept. */
  trends?: string;
  /** Value map. */
  valuemapid?: string | number;
  /** Inventory field that the value fills. */
  inventory_link?: string | number;
  /** Time format of log entries. */
  logtimefmt?: string;
  /** Description. */
  description?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** Tags. */
  tags?: unknown;
  /** Preprocessing steps. */
  preprocessing?: unknown;
  /** Interface to ask. */
  interfaceid?: string | number;
  /** Master of a dependent item. */
  master_itemid?: string | number;
  /** Authentication. */
  authtype?: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** User. */
  username?: string;
  /** Password. */
  password?: string;
  /** File of the public key. */
  publickey?: string;
  /** File of the private key. */
  privatekey?: string;
  /** Formula, script or query. */
  params?: string;
  /** SNMP object. */
  snmp_oid?: string;
  /** IPMI sensor. */
  ipmi_sensor?: string;
  /** JMX endpoint. */
  jmx_endpoint?: string;
  /** URL. */
  url?: string;
  /** Query fields of the URL. */
  query_fields?: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** 0 raw, 2 JSON, 3 XML. */
  post_type?: "0" | "2" | "3" | 0 | 2 | 3;
  /** HTTP body. */
  posts?: string;
  /** HTTP headers. */
  headers?: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes?: string;
  /** Follow redirects. */
  follow_redirects?: "0" | "1" | 0 | 1;
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** 0 raw, 1 JSON. */
  output_format?: "0" | "1" | 0 | 1;
  /** HTTP proxy. */
  http_proxy?: string;
  /** Check the certificate. */
  verify_peer?: "0" | "1" | 0 | 1;
  /** Check the host's name. */
  verify_host?: "0" | "1" | 0 | 1;
  /** Client certificate. */
  ssl_cert_file?: string;
  /** Key of the certificate. */
  ssl_key_file?: string;
  /** Password of the key. */
  ssl_key_password?: string;
  /** Parameters of the script. */
  parameters?: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout?: string;
  /** Update interval. */
  delay?: string;
  /** Accept sent values too. */
  allow_traps?: "0" | "1" | 0 | 1;
  /** Who may send values. */
  trapper_hosts?: string;
}

/** As `itemprototype.get` shows it with `output: "extend"`. */
export interface ItemPrototype {
  /** Id. */
  itemid: string;
  /** Universal id; templates only. */
  uuid: string;
  /** Host or template. */
  hostid: string;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22";
  /** Key. */
  key_: string;
  /** Value type; 5 (binary) of dependent items alone. */
  value_type: "0" | "1" | "2" | "3" | "4" | "5";
  /** Units of numbers. */
  units: string;
  /** How long values are kept. */
  history: string;
  /** How long trends are kept. */
  trends: string;
  /** Value map. */
  valuemapid: string;
  /** Inventory field that the value fills. */
  inventory_link: string;
  /** Time format of log entries. */
  logtimefmt: string;
  /** Description. */
  description: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** 0 is discovered, 1 is not. */
  discover: "0" | "1";
  /** Interface to ask. */
  interfaceid: string;
  /** Master of a dependent item. */
  master_itemid: string;
  /** Authentication. */
  authtype: "0" | "1" | "2" | "3" | "4";
  /** User. */
  username: string;
  /** Password. */
  password: string;
  /** File of the public key. */
  publickey: string;
  /** File of the private key. */
  privatekey: string;
  /** Formula, script or query. */
  params: string;
  /** SNMP object. */
  snmp_oid: string;
  /** IPMI sensor. */
  ipmi_sensor: string;
  /** JMX endpoint. */
  jmx_endpoint: string;
  /** URL. */
  url: string;
  /** Query fields of the URL. */
  query_fields: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method: "0" | "1" | "2" | "3";
  /** 0 raw, 2 JSON, 3 XML. */
  post_type: "0" | "2" | "3";
  /** HTTP body. */
  posts: string;
  /** HTTP headers. */
  headers: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes: string;
  /** Follow redirects. */
  follow_redirects: "0" | "1";
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode: "0" | "1" | "2";
  /** 0 raw, 1 JSON. */
  output_format: "0" | "1";
  /** HTTP proxy. */
  http_proxy: string;
  /** Check the certificate. */
  verify_peer: "0" | "1";
  /** Check the host's name. */
  verify_host: "0" | "1";
  /** Client certificate. */
  ssl_cert_file: string;
  /** Key of the certificate. */
  ssl_key_file: string;
  /** Password of the key. */
  ssl_key_password: string;
  /** Parameters of the script. */
  parameters: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout: string;
  /** Update interval. */
  delay: string;
  /** Accept sent values too. */
  allow_traps: "0" | "1";
  /** Who may send values. */
  trapper_hosts: string;
  /** 0 plain, 4 discovered. */
  flags: "0" | "1" | "2" | "4";
  /** Parent on the template. */
  templateid: string;
  /** Always empty. */
  formula: string;
  /** Always 0. */
  evaltype: string;
  /** 0 delete later, 1 never, 2 at once. */
  lifetime_type: "0" | "1" | "2";
  /** Lost objects are deleted then. */
  lifetime: string;
  /** 0 switch off later, 1 never, 2 at once. */
  enabled_lifetime_type: "0" | "1" | "2";
  /** Lost objects are switched off then. */
  enabled_lifetime: string;
}

/** As `itemprototype.create` takes it. */
export interface ItemPrototypeInput {
  /** Universal id; templates only. */
  uuid?: string;
  /** Host or template. */
  hostid: string | number;
  /** Discovery rule of the prototype. */
  ruleid?: unknown;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22" | 0 | 2 | 3 | 5 | 7 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20 | 21 | 22;
  /** Key. */
  key_: string;
  /** Value type; 5 (binary) of dependent items alone. */
  value_type: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Units of numbers. */
  units?: string;
  /** How long values are kept. */
  history?: string;
  /** How long trends are kept. */
  trends?: string;
  /** Value map. */
  valuemapid?: string | number;
  /** Time format of log entries. */
  logtimefmt?: string;
  /** Description. */
  description?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** 0 is discovered, 1 is not. */
  discover?: "0" | "1" | 0 | 1;
  /** Tags. */
  tags?: unknown;
  /** Preprocessing steps. */
  preprocessing?: unknown;
  /** Interface to ask. */
  interfaceid?: string | number;
  /** Master of a dependent item. */
  master_itemid?: string | number;
  /** Authentication. */
  authtype?: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** User. */
  username?: string;
  /** Password. */
  password?: string;
  /** File of the public key. */
  publickey?: string;
  /** File of the private key. */
  privatekey?: string;
  /** Formula, script or query. */
  params?: string;
  /** SNMP object. */
  snmp_oid?: string;
  /** IPMI sensor. */
  ipmi_sensor?: string;
  /** JMX endpoint. */
  jmx_endpoint?: string;
  /** URL. */
  url?: string;
  /** Query fields of the URL. */
  query_fields?: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** 0 raw, 2 JSON, 3 XML. */
  post_type?: "0" | "2" | "3" | 0 | 2 | 3;
  /** HTTP body. */
  posts?: string;
  /** HTTP headers. */
  headers?: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes?: string;
  /** Follow redirects. */
  follow_redirects?: "0" | "1" | 0 | 1;
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** 0 raw, 1 JSON. */
  output_format?: "0" | "1" | 0 | 1;
  /** HTTP proxy. */
  http_proxy?: string;
  /** Check the certificate. */
  verify_peer?: "0" | "1" | 0 | 1;
  /** Check the host's name. */
  verify_host?: "0" | "1" | 0 | 1;
  /** Client certificate. */
  ssl_cert_file?: string;
  /** Key of the certificate. */
  ssl_key_file?: string;
  /** Password of the key. */
  ssl_key_password?: string;
  /** Parameters of the script. */
  parameters?: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout?: string;
  /** Update interval. */
  delay?: string;
  /** Accept sent values too. */
  allow_traps?: "0" | "1" | 0 | 1;
  /** Who may send values. */
  trapper_hosts?: string;
}

/** As `discoveryrule.get` shows it with `output: "extend"`. */
export interface DiscoveryRule {
  /** Id. */
  itemid: string;
  /** Universal id; templates only. */
  uuid: string;
  /** Host or template. */
  hostid: string;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22";
  /** Key. */
  key_: string;
  /** Value type; 5 (binary) of dependent items alone. */
  value_type: "0" | "1" | "2" | "3" | "4" | "5";
  /** Units of numbers. */
  units: string;
  /** How long values are kept. */
  history: string;
  /** How long trends are kept. */
  trends: string;
  /** Value map. */
  valuemapid: string;
  /** Inventory field that the value fills. */
  inventory_link: string;
  /** Time format of log entries. */
  logtimefmt: string;
  /** Description. */
  description: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** 0 is discovered, 1 is not. */
  discover: "0" | "1";
  /** 0 delete later, 1 never, 2 at once. */
  lifetime_type: "0" | "1" | "2";
  /** Lost objects are deleted then. */
  lifetime: string;
  /** 0 switch off later, 1 never, 2 at once. */
  enabled_lifetime_type: "0" | "1" | "2";
  /** Lost objects are switched off then. */
  enabled_lifetime: string;
  /** Interface to ask. */
  interfaceid: string;
  /** Master of a dependent item. */
  master_itemid: string;
  /** Authentication. */
  authtype: "0" | "1" | "2" | "3" | "4";
  /** User. */
  username: string;
  /** Password. */
  password: string;
  /** File of the public key. */
  publickey: string;
  /** File of the private key. */
  privatekey: string;
  /** Formula, script or query. */
  params: string;
  /** SNMP object. */
  snmp_oid: string;
  /** IPMI sensor. */
  ipmi_sensor: string;
  /** JMX endpoint. */
  jmx_endpoint: string;
  /** URL. */
  url: string;
  /** Query fields of the URL. */
  query_fields: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method: "0" | "1" | "2" | "3";
  /** 0 raw, 2 JSON, 3 XML. */
  post_type: "0" | "2" | "3";
  /** HTTP body. */
  posts: string;
  /** HTTP headers. */
  headers: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes: string;
  /** Follow redirects. */
  follow_redirects: "0" | "1";
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode: "0" | "1" | "2";
  /** HTTP proxy. */
  http_proxy: string;
  /** Check the certificate. */
  verify_peer: "0" | "1";
  /** Check the host's name. */
  verify_host: "0" | "1";
  /** Client certificate. */
  ssl_cert_file: string;
  /** Key of the certificate. */
  ssl_key_file: string;
  /** Password of the key. */
  ssl_key_password: string;
  /** Parameters of the script. */
  parameters: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout: string;
  /** Update interval. */
  delay: string;
  /** Accept sent values too. */
  allow_traps: "0" | "1";
  /** Who may send values. */
  trapper_hosts: string;
  /** 0 plain, 4 discovered. */
  flags: "0" | "1" | "2" | "4";
  /** Parent on the template. */
  templateid: string;
}

/** As `discoveryrule.create` takes it. */
export interface DiscoveryRuleInput {
  /** Universal id; templates only. */
  uuid?: string;
  /** Host or template. */
  hostid: string | number;
  /** Name. */
  name: string;
  /** How it gets its values. */
  type: "0" | "2" | "3" | "5" | "7" | "10" | "11" | "12" | "13" | "14" | "15" | "16" | "17" | "18" | "19" | "20" | "21" | "22" | 0 | 2 | 3 | 5 | 7 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20 | 21 | 22;
  /** Key. */
  key_: string;
  /** Description. */
  description?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** Preprocessing steps. */
  preprocessing?: unknown;
  /** 0 delete later, 1 never, 2 at once. */
  lifetime_type?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Lost objects are deleted then. */
  lifetime?: string;
  /** 0 switch off later, 1 never, 2 at once. */
  enabled_lifetime_type?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Lost objects are switched off then. */
  enabled_lifetime?: string;
  /** Which rows of the data count. */
  filter?: unknown;
  /** JSONPaths of LLD macros. */
  lld_macro_paths?: unknown;
  /** What is made otherwise. */
  overrides?: unknown;
  /** Interface to ask. */
  interfaceid?: string | number;
  /** Master of a dependent item. */
  master_itemid?: string | number;
  /** Authentication. */
  authtype?: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** User. */
  username?: string;
  /** Password. */
  password?: string;
  /** File of the public key. */
  publickey?: string;
  /** File of the private key. */
  privatekey?: string;
  /** Formula, script or query. */
  params?: string;
  /** SNMP object. */
  snmp_oid?: string;
  /** IPMI sensor. */
  ipmi_sensor?: string;
  /** JMX endpoint. */
  jmx_endpoint?: string;
  /** URL. */
  url?: string;
  /** Query fields of the URL. */
  query_fields?: Record<string, string>[];
  /** 0 GET, 1 POST, 2 PUT, 3 HEAD. */
  request_method?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** 0 raw, 2 JSON, 3 XML. */
  post_type?: "0" | "2" | "3" | 0 | 2 | 3;
  /** HTTP body. */
  posts?: string;
  /** HTTP headers. */
  headers?: Record<string, string>[];
  /** Accepted HTTP codes. */
  status_codes?: string;
  /** Follow redirects. */
  follow_redirects?: "0" | "1" | 0 | 1;
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** HTTP proxy. */
  http_proxy?: string;
  /** Check the certificate. */
  verify_peer?: "0" | "1" | 0 | 1;
  /** Check the host's name. */
  verify_host?: "0" | "1" | 0 | 1;
  /** Client certificate. */
  ssl_cert_file?: string;
  /** Key of the certificate. */
  ssl_key_file?: string;
  /** Password of the key. */
  ssl_key_password?: string;
  /** Parameters of the script. */
  parameters?: Record<string, string>[];
  /** Own timeout; empty = the default. */
  timeout?: string;
  /** Update interval. */
  delay?: string;
  /** Accept sent values too. */
  allow_traps?: "0" | "1" | 0 | 1;
  /** Who may send values. */
  trapper_hosts?: string;
}

/** As `hostprototype.get` shows it with `output: "extend"`. */
export interface HostPrototype {
  /** Id of the host prototype. */
  hostid: string;
  /** Technical name with LLD macros. */
  host: string;
  /** Visible name; the technical one if not given. */
  name: string;
  /** 0 its hosts are monitored, 1 not. */
  status: "0" | "1";
  /** Parent on the template. */
  templateid: string;
  /** -1 off, 0 manual, 1 automatic. */
  inventory_mode: "-1" | "0" | "1";
  /** 0 is discovered, 1 is not. */
  discover: "0" | "1";
  /** 0 those of the rule's host, 1 own ones. */
  custom_interfaces: "0" | "1";
  /** Universal id; templates only. */
  uuid: string;
}

/** As `hostprototype.create` takes it. */
export interface HostPrototypeInput {
  /** Discovery rule; must be given to create. */
  ruleid?: string | number;
  /** Technical name with LLD macros. */
  host: string;
  /** Visible name; the technical one if not given. */
  name?: string;
  /** 0 its hosts are monitored, 1 not. */
  status?: "0" | "1" | 0 | 1;
  /** -1 off, 0 manual, 1 automatic. */
  inventory_mode?: "-1" | "0" | "1" | -1 | 0 | 1;
  /** 0 is discovered, 1 is not. */
  discover?: "0" | "1" | 0 | 1;
  /** 0 those of the rule's host, 1 own ones. */
  custom_interfaces?: "0" | "1" | 0 | 1;
  /** Universal id; templates only. */
  uuid?: string;
  /** Own interfaces. */
  interfaces?: unknown;
  /** Host groups: `[{groupid}]`. */
  groupLinks: unknown;
  /** Host groups by LLD macros: `[{name}]`. */
  groupPrototypes?: unknown;
  /** Templates: `[{templateid}]`. */
  templates?: unknown;
  /** Tags: `[{tag, value}]`. */
  tags?: unknown;
  /** User macros: `[{macro, value, description, type}]`. */
  macros?: unknown;
}

/** As `httptest.get` shows it with `output: "extend"`. */
export interface WebScenario {
  /** Id of the web scenario. */
  httptestid: string;
  /** Host or template that it belongs to. */
  hostid: string;
  /** Scenario of a template that it comes from. */
  templateid: string;
  /** Name. */
  name: string;
  /** Interval; default: 1m. */
  delay: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** User agent; default: Zabbix. */
  agent: string;
  /** 0 none, 1 basic, 2 NTLM, 4 digest. */
  authentication: string;
  /** User name. */
  http_user: string;
  /** Password. */
  http_password: string;
  /** Proxy. */
  http_proxy: string;
  /** Attempts of each step; default: 1. */
  retries: string;
  /** File of the client's certificate. */
  ssl_cert_file: string;
  /** File of its key. */
  ssl_key_file: string;
  /** Password of the key. */
  ssl_key_password: string;
  /** Check the server's certificate. */
  verify_peer: "0" | "1";
  /** Check that it names the server. */
  verify_host: "0" | "1";
  /** Universal id; of templates only. */
  uuid: string;
}

/** As `httptest.create` takes it. */
export interface WebScenarioInput {
  /** Host or template that it belongs to. */
  hostid: string | number;
  /** Name. */
  name: string;
  /** Interval; default: 1m. */
  delay?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** User agent; default: Zabbix. */
  agent?: string;
  /** 0 none, 1 basic, 2 NTLM, 4 digest. */
  authentication?: string | number;
  /** User name. */
  http_user?: string;
  /** Password. */
  http_password?: string;
  /** Proxy. */
  http_proxy?: string;
  /** Attempts of each step; default: 1. */
  retries?: string | number;
  /** File of the client's certificate. */
  ssl_cert_file?: string;
  /** File of its key. */
  ssl_key_file?: string;
  /** Password of the key. */
  ssl_key_password?: string;
  /** Check the server's certificate. */
  verify_peer?: "0" | "1" | 0 | 1;
  /** Check that it names the server. */
  verify_host?: "0" | "1" | 0 | 1;
  /** Universal id; of templates only. */
  uuid?: string;
  /** `[{name, value}]` of steps that have none. */
  headers?: unknown;
  /** `[{name, value}]`: `{name}` in braces. */
  variables?: unknown;
  /** Requests: `[{name, no, url, …}]`. */
  steps: unknown;
  /** `[{tag, value}]`. */
  tags?: unknown;
}

/** As `trigger.get` shows it with `output: "extend"`. */
export interface Trigger {
  /** Id. */
  triggerid: string;
  /** Universal id; templates only. */
  uuid: string;
  /** Name; may hold macros. */
  description: string;
  /** Problem expression. */
  expression: string;
  /** Name of its events. */
  event_name: string;
  /** Operational data. */
  opdata: string;
  /** Link. */
  url: string;
  /** Name of the link. */
  url_name: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** Severity of its problems. */
  priority: "0" | "1" | "2" | "3" | "4" | "5";
  /** Description. */
  comments: string;
  /** 1: each evaluation is a problem. */
  type: "0" | "1";
  /** 0 by the problem expression, 1 by the recovery expression, 2 never. */
  recovery_mode: "0" | "1" | "2";
  /** Recovery expression. */
  recovery_expression: string;
  /** 1: close by matching tag. */
  correlation_mode: "0" | "1";
  /** That tag. */
  correlation_tag: string;
  /** People may close. */
  manual_close: "0" | "1";
  /** 0 fine, 1 problem. */
  value: "0" | "1";
  /** Unix time. */
  lastchange: string;
  /** 1: cannot be evaluated. */
  state: "0" | "1";
  /** Why not. */
  error: string;
  /** Parent on the template. */
  templateid: string;
  /** 0 plain, 4 discovered. */
  flags: "0" | "2" | "4";
}

/** As `trigger.create` takes it. */
export interface TriggerInput {
  /** Universal id; templates only. */
  uuid?: string;
  /** Name; may hold macros. */
  description: string;
  /** Problem expression. */
  expression: string;
  /** Name of its events. */
  event_name?: string;
  /** Operational data. */
  opdata?: string;
  /** Link. */
  url?: string;
  /** Name of the link. */
  url_name?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** Severity of its problems. */
  priority?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Description. */
  comments?: string;
  /** 1: each evaluation is a problem. */
  type?: "0" | "1" | 0 | 1;
  /** 0 by the problem expression, 1 by the recovery expression, 2 never. */
  recovery_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Recovery expression. */
  recovery_expression?: string;
  /** 1: close by matching tag. */
  correlation_mode?: "0" | "1" | 0 | 1;
  /** That tag. */
  correlation_tag?: string;
  /** People may close. */
  manual_close?: "0" | "1" | 0 | 1;
  /** Tags of its problems. */
  tags?: unknown;
  /** Triggers it depends on. */
  dependencies?: unknown;
}

/** As `triggerprototype.get` shows it with `output: "extend"`. */
export interface TriggerPrototype {
  /** Id. */
  triggerid: string;
  /** Universal id; templates only. */
  uuid: string;
  /** Name; may hold macros. */
  description: string;
  /** Problem expression. */
  expression: string;
  /** Name of its events. */
  event_name: string;
  /** Operational data. */
  opdata: string;
  /** Link. */
  url: string;
  /** Name of the link. */
  url_name: string;
  /** 0 on, 1 off. */
  status: "0" | "1";
  /** Severity of its problems. */
  priority: "0" | "1" | "2" | "3" | "4" | "5";
  /** Description. */
  comments: string;
  /** 1: each evaluation is a problem. */
  type: "0" | "1";
  /** 0 by the problem expression, 1 by the recovery expression, 2 never. */
  recovery_mode: "0" | "1" | "2";
  /** Recovery expression. */
  recovery_expression: string;
  /** 1: close by matching tag. */
  correlation_mode: "0" | "1";
  /** That tag. */
  correlation_tag: string;
  /** People may close. */
  manual_close: "0" | "1";
  /** 1 is not discovered. */
  discover: "0" | "1";
  /** 0 fine, 1 problem. */
  value: "0" | "1";
  /** Unix time. */
  lastchange: string;
  /** 1: cannot be evaluated. */
  state: "0" | "1";
  /** Why not. */
  error: string;
  /** Parent on the template. */
  templateid: string;
  /** 0 plain, 4 discovered. */
  flags: "0" | "2" | "4";
}

/** As `triggerprototype.create` takes it. */
export interface TriggerPrototypeInput {
  /** Universal id; templates only. */
  uuid?: string;
  /** Name; may hold macros. */
  description: string;
  /** Problem expression. */
  expression: string;
  /** Name of its events. */
  event_name?: string;
  /** Operational data. */
  opdata?: string;
  /** Link. */
  url?: string;
  /** Name of the link. */
  url_name?: string;
  /** 0 on, 1 off. */
  status?: "0" | "1" | 0 | 1;
  /** Severity of its problems. */
  priority?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Description. */
  comments?: string;
  /** 1: each evaluation is a problem. */
  type?: "0" | "1" | 0 | 1;
  /** 0 by the problem expression, 1 by the recovery expression, 2 never. */
  recovery_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Recovery expression. */
  recovery_expression?: string;
  /** 1: close by matching tag. */
  correlation_mode?: "0" | "1" | 0 | 1;
  /** That tag. */
  correlation_tag?: string;
  /** People may close. */
  manual_close?: "0" | "1" | 0 | 1;
  /** 1 is not discovered. */
  discover?: "0" | "1" | 0 | 1;
  /** Tags of its problems. */
  tags?: unknown;
  /** Triggers it depends on. */
  dependencies?: unknown;
}

/** As `graph.get` shows it with `output: "extend"`. */
export interface Graph {
  /** Id. */
  graphid: string;
  /** Name; unique on its hosts. */
  name: string;
  /** Width, pixels. */
  width: string;
  /** Height, pixels. */
  height: string;
  /** Fixed lower end of the Y axis. */
  yaxismin: string;
  /** Fixed upper end of the Y axis. */
  yaxismax: string;
  /** Parent on the template. */
  templateid: string;
  /** 1: working time is marked. */
  show_work_period: string;
  /** 1: trigger lines are drawn. */
  show_triggers: string;
  /** 0 normal, 1 stacked, 2 pie, 3 exploded (pie). */
  graphtype: string;
  /** 1: with a legend. */
  show_legend: string;
  /** 1: pies in 3D. */
  show_3d: string;
  /** Percentile of the left axis. */
  percent_left: string;
  /** Percentile of the right axis. */
  percent_right: string;
  /** Lower end: 0 calculated, 1 fixed, 2 item. */
  ymin_type: string;
  /** Upper end: 0 calculated, 1 fixed, 2 item. */
  ymax_type: string;
  /** Item of the lower end. */
  ymin_itemid: string;
  /** Item of the upper end. */
  ymax_itemid: string;
  /** 0 plain, 2 prototype, 4 discovered. */
  flags: "0" | "2" | "4";
  /** Universal id; templates only. */
  uuid: string;
}

/** As `graph.create` takes it. */
export interface GraphInput {
  /** Name; unique on its hosts. */
  name: string;
  /** Width, pixels. */
  width?: string | number;
  /** Height, pixels. */
  height?: string | number;
  /** Fixed lower end of the Y axis. */
  yaxismin?: string;
  /** Fixed upper end of the Y axis. */
  yaxismax?: string;
  /** 1: working time is marked. */
  show_work_period?: string | number;
  /** 1: trigger lines are drawn. */
  show_triggers?: string | number;
  /** 0 normal, 1 stacked, 2 pie, 3 exploded (pie). */
  graphtype?: string | number;
  /** 1: with a legend. */
  show_legend?: string | number;
  /** 1: pies in 3D. */
  show_3d?: string | number;
  /** Percentile of the left axis. */
  percent_left?: string;
  /** Percentile of the right axis. */
  percent_right?: string;
  /** Lower end: 0 calculated, 1 fixed, 2 item. */
  ymin_type?: string | number;
  /** Upper end: 0 calculated, 1 fixed, 2 item. */
  ymax_type?: string | number;
  /** Item of the lower end. */
  ymin_itemid?: string | number;
  /** Item of the upper end. */
  ymax_itemid?: string | number;
  /** Universal id; templates only. */
  uuid?: string;
  /** Items: `[{itemid, color, drawtype, sortorder, …}]`. */
  gitems: unknown;
}

/** As `graphprototype.get` shows it with `output: "extend"`. */
export interface GraphPrototype {
  /** Id. */
  graphid: string;
  /** Name; unique on its hosts. */
  name: string;
  /** Width, pixels. */
  width: string;
  /** Height, pixels. */
  height: string;
  /** Fixed lower end of the Y axis. */
  yaxismin: string;
  /** Fixed upper end of the Y axis. */
  yaxismax: string;
  /** Parent on the template. */
  templateid: string;
  /** 1: working time is marked. */
  show_work_period: string;
  /** 1: trigger lines are drawn. */
  show_triggers: string;
  /** 0 normal, 1 stacked, 2 pie, 3 exploded (pie). */
  graphtype: string;
  /** 1: with a legend. */
  show_legend: string;
  /** 1: pies in 3D. */
  show_3d: string;
  /** Percentile of the left axis. */
  percent_left: string;
  /** Percentile of the right axis. */
  percent_right: string;
  /** Lower end: 0 calculated, 1 fixed, 2 item. */
  ymin_type: string;
  /** Upper end: 0 calculated, 1 fixed, 2 item. */
  ymax_type: string;
  /** Item of the lower end. */
  ymin_itemid: string;
  /** Item of the upper end. */
  ymax_itemid: string;
  /** 0 plain, 2 prototype, 4 discovered. */
  flags: "0" | "2" | "4";
  /** 1 is not discovered. */
  discover: "0" | "1";
  /** Universal id; templates only. */
  uuid: string;
}

/** As `graphprototype.create` takes it. */
export interface GraphPrototypeInput {
  /** Name; unique on its hosts. */
  name: string;
  /** Width, pixels. */
  width?: string | number;
  /** Height, pixels. */
  height?: string | number;
  /** Fixed lower end of the Y axis. */
  yaxismin?: string;
  /** Fixed upper end of the Y axis. */
  yaxismax?: string;
  /** 1: working time is marked. */
  show_work_period?: string | number;
  /** 1: trigger lines are drawn. */
  show_triggers?: string | number;
  /** 0 normal, 1 stacked, 2 pie, 3 exploded (pie). */
  graphtype?: string | number;
  /** 1: with a legend. */
  show_legend?: string | number;
  /** 1: pies in 3D. */
  show_3d?: string | number;
  /** Percentile of the left axis. */
  percent_left?: string;
  /** Percentile of the right axis. */
  percent_right?: string;
  /** Lower end: 0 calculated, 1 fixed, 2 item. */
  ymin_type?: string | number;
  /** Upper end: 0 calculated, 1 fixed, 2 item. */
  ymax_type?: string | number;
  /** Item of the lower end. */
  ymin_itemid?: string | number;
  /** Item of the upper end. */
  ymax_itemid?: string | number;
  /** 1 is not discovered. */
  discover?: "0" | "1" | 0 | 1;
  /** Universal id; templates only. */
  uuid?: string;
  /** Items: `[{itemid, color, drawtype, sortorder, …}]`. */
  gitems: unknown;
}

/** As `graphitem.get` shows it with `output: "extend"`. */
export interface GraphItem {
  /** Id. */
  gitemid: string;
  /** Graph. */
  graphid: string;
  /** Item or item prototype. */
  itemid: string;
  /** 0 line, 1 filled region, 2 bold line, 3 dots, 4 dashed line, 5 gradient line. */
  drawtype: string;
  /** Position. */
  sortorder: string;
  /** Six hexadecimal digits. */
  color: string;
  /** 0 left, 1 right. */
  yaxisside: string;
  /** 1 minimum, 2 average, 4 maximum, 7 all, 9 last (pie). */
  calc_fnc: string;
  /** 0 simple, 2 sum of the graph (pie). */
  type: string;
}

/** As `usermacro.get` shows it with `output: "extend"`. */
export interface UserMacro {
  /** Id of the macro. */
  hostmacroid: string;
  /** Host or template that it belongs to. */
  hostid: string;
  /** `{$NAME}` or `{$NAME:context}`. */
  macro: string;
  /** Value; secrets are never shown. */
  value: string;
  /** Free text. */
  description: string;
  /** 0 text, 1 secret, 2 vault path. */
  type: "0" | "1" | "2";
  /** 1 made by discovery; 0 makes it the user's own. */
  automatic: "0" | "1";
}

/** As `usermacro.create` takes it. */
export interface UserMacroInput {
  /** Host or template that it belongs to. */
  hostid: string | number;
  /** `{$NAME}` or `{$NAME:context}`. */
  macro: string;
  /** Value; secrets are never shown. */
  value: string;
  /** Free text. */
  description?: string;
  /** 0 text, 1 secret, 2 vault path. */
  type?: "0" | "1" | "2" | 0 | 1 | 2;
  /** 1 made by discovery; 0 makes it the user's own. */
  automatic?: "0" | "1" | 0 | 1;
}

/** As `usermacro.get` shows it with `output: "extend"`. */
export interface GlobalMacro {
  /** Id of the macro. */
  globalmacroid: string;
  /** `{$NAME}` or `{$NAME:context}`. */
  macro: string;
  /** Value; secrets are never shown. */
  value: string;
  /** Free text. */
  description: string;
  /** 0 text, 1 secret, 2 vault path. */
  type: "0" | "1" | "2";
}

/** As `usermacro.create` takes it. */
export interface GlobalMacroInput {
  /** `{$NAME}` or `{$NAME:context}`. */
  macro: string;
  /** Value; secrets are never shown. */
  value: string;
  /** Free text. */
  description?: string;
  /** 0 text, 1 secret, 2 vault path. */
  type?: "0" | "1" | "2" | 0 | 1 | 2;
}

/** As `valuemap.get` shows it with `output: "extend"`. */
export interface ValueMap {
  /** Id of the value map. */
  valuemapid: string;
  /** Host or template that it belongs to. */
  hostid: string;
  /** Name. */
  name: string;
  /** Universal id; of templates only. */
  uuid: string;
}

/** As `valuemap.create` takes it. */
export interface ValueMapInput {
  /** Host or template that it belongs to. */
  hostid: string | number;
  /** Name. */
  name: string;
  /** Universal id; of templates only. */
  uuid?: string;
  /** `[{type, value, newvalue}]`, the first that fits counts. */
  mappings: unknown;
}

/** As `event.get` shows it with `output: "extend"`. */
export interface Event {
  /** Id of the event. */
  eventid: string;
  /** 0 trigger, 1 network discovery, 2 autoregistration, 3 internal, 4 service. */
  source: string;
  /** 0 trigger, 1 found host, 2 found service, 3 agent, 4 item, 5 discovery rule, 6 service. */
  object: string;
  /** Id of what it is about. */
  objectid: string;
  /** When, unix time. */
  clock: string;
  /** 1 problem, 0 recovery; found: 0 up, 1 down, 2 discovered, 3 lost. */
  value: string;
  /** 1 = somebody acknowledged it. */
  acknowledged: string;
  /** Nanoseconds of the time. */
  ns: string;
  /** What the problem is called. */
  name: string;
  /** 0 not classified … 5 disaster. */
  severity: string;
  /** Event that recovered it; 0 = open. */
  r_eventid: string;
  /** Event that closed it by correlation. */
  c_eventid: string;
  /** Correlation rule that closed it. */
  correlationid: string;
  /** User who closed it. */
  userid: string;
  /** Cause of which this is a symptom. */
  cause_eventid: string;
  /** Operational data. */
  opdata: string;
  /** 1 = suppressed now. */
  suppressed: unknown;
  /** Menu entries that media types make of tags. */
  urls: unknown;
}

/** As `problem.get` shows it with `output: "extend"`. */
export interface Problem {
  /** Id of the event that opened it. */
  eventid: string;
  /** 0 = trigger, 3 = internal, 4 = service. */
  source: string;
  /** 0 = trigger, 4 = item, 5 = discovery rule, 6 = service. */
  object: string;
  /** Id of what it is about. */
  objectid: string;
  /** Since when, unix time. */
  clock: string;
  /** Nanoseconds of that time. */
  ns: string;
  /** Event that recovered it; 0 = open. */
  r_eventid: string;
  /** Until when, unix time. */
  r_clock: string;
  /** Nanoseconds of that time. */
  r_ns: string;
  /** Correlation rule that closed it. */
  correlationid: string;
  /** User who closed it. */
  userid: string;
  /** What it is called. */
  name: string;
  /** 1 = somebody acknowledged it. */
  acknowledged: string;
  /** 0 not classified … 5 disaster. */
  severity: string;
  /** Cause of which this is a symptom. */
  cause_eventid: string;
  /** Operational data. */
  opdata: string;
  /** 1 = suppressed now. */
  suppressed: unknown;
  /** Menu entries that media types make of tags. */
  urls: unknown;
}

/** As `maintenance.get` shows it with `output: "extend"`. */
export interface Maintenance {
  /** Id of the maintenance. */
  maintenanceid: string;
  /** Name. */
  name: string;
  /** 1 = without data collection. */
  maintenance_type: "0" | "1";
  /** Description. */
  description: string;
  /** Unix time from which it counts. */
  active_since: string;
  /** Unix time at which it is over. */
  active_till: string;
  /** Tags: 0 and/or, 2 or. */
  tags_evaltype: "0" | "2";
}

/** As `maintenance.create` takes it. */
export interface MaintenanceInput {
  /** Name. */
  name: string;
  /** 1 = without data collection. */
  maintenance_type?: "0" | "1" | 0 | 1;
  /** Description. */
  description?: string;
  /** Unix time from which it counts. */
  active_since: string | number;
  /** Unix time at which it is over. */
  active_till: string | number;
  /** Tags: 0 and/or, 2 or. */
  tags_evaltype?: "0" | "2" | 0 | 2;
  /** Host groups: `[{groupid}]`; their subgroups come along. */
  groups?: unknown;
  /** Hosts: `[{hostid}]`. */
  hosts?: unknown;
  /** Host groups; old form. */
  groupids?: unknown;
  /** Hosts; old form. */
  hostids?: unknown;
  /** When it runs. */
  timeperiods: unknown;
  /** Only problems with these: `[{tag, operator, value}]`. */
  tags?: unknown;
}

/** As `proxy.get` shows it with `output: "extend"`. */
export interface Proxy {
  /** Id of the proxy. */
  proxyid: string;
  /** Name that the proxy sends. */
  name: string;
  /** Proxy group; 0 = none. */
  proxy_groupid: string;
  /** In a group: address that active agents use. */
  local_address: string;
  /** In a group: port that active agents use (default: 10051). */
  local_port: string;
  /** 0 = active, 1 = passive. */
  operating_mode: "0" | "1";
  /** Active: addresses from which it may connect. */
  allowed_addresses: string;
  /** Passive: address (default: 127.0.0.1). */
  address: string;
  /** Passive: port (default: 10051). */
  port: string;
  /** Description. */
  description: string;
  /** Passive: 1 no encryption, 2 PSK, 4 certificate. */
  tls_connect: "1" | "2" | "4";
  /** Active: bit mask of the values of `tls_connect`. */
  tls_accept: string;
  /** Issuer of its certificate. */
  tls_issuer: string;
  /** Subject of its certificate. */
  tls_subject: string;
  /** 1 = the proxy has its own timeouts. */
  custom_timeouts: "0" | "1";
  /** Timeout of Zabbix agent items, with `custom_timeouts` 1. */
  timeout_zabbix_agent: string;
  /** Timeout of simple checks. */
  timeout_simple_check: string;
  /** Timeout of SNMP items. */
  timeout_snmp_agent: string;
  /** Timeout of external checks. */
  timeout_external_check: string;
  /** Timeout of ODBC items. */
  timeout_db_monitor: string;
  /** Timeout of HTTP agent items. */
  timeout_http_agent: string;
  /** Timeout of SSH items. */
  timeout_ssh_agent: string;
  /** Timeout of Telnet items. */
  timeout_telnet_agent: string;
  /** Timeout of script items. */
  timeout_script: string;
  /** Timeout of browser items. */
  timeout_browser: string;
  /** Unix time of its last message; 0 = none. */
  lastaccess: string;
  /** As in `70022`; 0 = unknown. */
  version: string;
  /** 0 unknown, 1 current, 2 outdated, 3 unsupported. */
  compatibility: string;
  /** 0 unknown, 1 offline, 2 online. */
  state: string;
}

/** As `proxy.create` takes it. */
export interface ProxyInput {
  /** Name that the proxy sends. */
  name: string;
  /** Proxy group; 0 = none. */
  proxy_groupid?: string | number;
  /** In a group: address that active agents use. */
  local_address?: string;
  /** In a group: port that active agents use (default: 10051). */
  local_port?: string;
  /** 0 = active, 1 = passive. */
  operating_mode: "0" | "1" | 0 | 1;
  /** Active: addresses from which it may connect. */
  allowed_addresses?: string;
  /** Passive: address (default: 127.0.0.1). */
  address?: string;
  /** Passive: port (default: 10051). */
  port?: string;
  /** Description. */
  description?: string;
  /** Passive: 1 no encryption, 2 PSK, 4 certificate. */
  tls_connect?: "1" | "2" | "4" | 1 | 2 | 4;
  /** Active: bit mask of the values of `tls_connect`. */
  tls_accept?: string | number;
  /** Issuer of its certificate. */
  tls_issuer?: string;
  /** Subject of its certificate. */
  tls_subject?: string;
  /** PSK identity. */
  tls_psk_identity?: string;
  /** PSK, hexadecimal. */
  tls_psk?: string;
  /** 1 = the proxy has its own timeouts. */
  custom_timeouts?: "0" | "1" | 0 | 1;
  /** Timeout of Zabbix agent items, with `custom_timeouts` 1. */
  timeout_zabbix_agent?: string;
  /** Timeout of simple checks. */
  timeout_simple_check?: string;
  /** Timeout of SNMP items. */
  timeout_snmp_agent?: string;
  /** Timeout of external checks. */
  timeout_external_check?: string;
  /** Timeout of ODBC items. */
  timeout_db_monitor?: string;
  /** Timeout of HTTP agent items. */
  timeout_http_agent?: string;
  /** Timeout of SSH items. */
  timeout_ssh_agent?: string;
  /** Timeout of Telnet items. */
  timeout_telnet_agent?: string;
  /** Timeout of script items. */
  timeout_script?: string;
  /** Timeout of browser items. */
  timeout_browser?: string;
  /** Hosts that the proxy monitors: `[{hostid}]`. */
  hosts?: unknown;
}

/** As `proxygroup.get` shows it with `output: "extend"`. */
export interface ProxyGroup {
  /** Id of the proxy group. */
  proxy_groupid: string;
  /** Name. */
  name: string;
  /** Proxies without contact are offline after this time, 10s to 15m (default: 1m). */
  failover_delay: string;
  /** Proxies online that the group needs, 1 to 1000 (default: 1). */
  min_online: string;
  /** Description. */
  description: string;
  /** 0 unknown, 1 offline, 2 recovering, 3 online, 4 degrading. */
  state: string;
}

/** As `proxygroup.create` takes it. */
export interface ProxyGroupInput {
  /** Name. */
  name: string;
  /** Proxies without contact are offline after this time, 10s to 15m (default: 1m). */
  failover_delay?: string;
  /** Proxies online that the group needs, 1 to 1000 (default: 1). */
  min_online?: string;
  /** Description. */
  description?: string;
}

/** As `drule.get` shows it with `output: "extend"`. */
export interface NetworkDiscoveryRule {
  /** Id of the rule. */
  druleid: string;
  /** Proxy that runs the rule; 0 = the server. */
  proxyid: string;
  /** Name. */
  name: string;
  /** Addresses: `10.0.0.1-254,10.1.0.0/16`. */
  iprange: string;
  /** Interval between rounds. */
  delay: string;
  /** 1 = disabled. */
  status: "0" | "1";
  /** Addresses that are checked at once; 0 = no limit. */
  concurrency_max: string;
  /** Why the rule cannot run. */
  error: string;
}

/** As `drule.create` takes it. */
export interface NetworkDiscoveryRuleInput {
  /** Proxy that runs the rule; 0 = the server. */
  proxyid?: string | number;
  /** Name. */
  name: string;
  /** Addresses: `10.0.0.1-254,10.1.0.0/16`. */
  iprange: string;
  /** Interval between rounds. */
  delay?: string;
  /** 1 = disabled. */
  status?: "0" | "1" | 0 | 1;
  /** Addresses that are checked at once; 0 = no limit. */
  concurrency_max?: string | number;
  /** Checks: `[{type, ports, key_, …}]`. */
  dchecks: unknown;
}

/** As `dcheck.get` shows it with `output: "extend"`. */
export interface NetworkDiscoveryCheck {
  /** Id of the check. */
  dcheckid: string;
  /** Rule that has it. */
  druleid: string;
  /** 9 agent, 10, 11, 13 SNMP, 12 ICMP, else services. */
  type: string;
  /** Key of an agent, OID of SNMP. */
  key_: string;
  /** Community of SNMP 1 and 2c. */
  snmp_community: string;
  /** Ports: `22,8000-8080`. */
  ports: string;
  /** Name of SNMP 3. */
  snmpv3_securityname: string;
  /** Of SNMP 3. */
  snmpv3_securitylevel: "0" | "1" | "2";
  /** Of SNMP 3. */
  snmpv3_authpassphrase: string;
  /** Of SNMP 3. */
  snmpv3_privpassphrase: string;
  /** 1 = its value identifies the host. */
  uniq: "0" | "1";
  /** Of SNMP 3. */
  snmpv3_authprotocol: string;
  /** Of SNMP 3. */
  snmpv3_privprotocol: string;
  /** Of SNMP 3. */
  snmpv3_contextname: string;
  /** Host name: 1 DNS, 2 IP, 3 its value. */
  host_source: "1" | "2" | "3";
  /** Visible name: 0 none, else as above. */
  name_source: "0" | "1" | "2" | "3";
  /** ICMP: answers from elsewhere count. */
  allow_redirect: "0" | "1";
}

/** As `dhost.get` shows it with `output: "extend"`. */
export interface FoundHost {
  /** Id of the found host. */
  dhostid: string;
  /** Rule that found it. */
  druleid: string;
  /** 0 up, 1 down. */
  status: "0" | "1";
  /** Up since, unix time; 0 = it is down. */
  lastup: string;
  /** Down since, unix time; 0 = it is up. */
  lastdown: string;
}

/** As `dservice.get` shows it with `output: "extend"`. */
export interface FoundService {
  /** Id of the found service. */
  dserviceid: string;
  /** Found host that has it. */
  dhostid: string;
  /** What an agent or an SNMP device answered. */
  value: string;
  /** Port. */
  port: string;
  /** 0 up, 1 down. */
  status: "0" | "1";
  /** Up since, unix time; 0 = it is down. */
  lastup: string;
  /** Down since, unix time; 0 = it is up. */
  lastdown: string;
  /** Check that found it. */
  dcheckid: string;
  /** Address. */
  ip: string;
  /** Name of the address. */
  dns: string;
}

/** As `action.get` shows it with `output: "extend"`. */
export interface Action {
  /** Id of the action. */
  actionid: string;
  /** Name. */
  name: string;
  /** 0 = triggers, 1 = network discovery, 2 = autoregistration, 3 = internal events, 4 = services. */
  eventsource: "0" | "1" | "2" | "3" | "4";
  /** 1 = switched off. */
  status: "0" | "1";
  /** Duration of a step; triggers, internal events, services. */
  esc_period: string;
  /** Triggers: 1 = wait while suppressed. */
  pause_suppressed: "0" | "1";
  /** Triggers: 1 = tell of cancellations. */
  notify_if_canceled: "0" | "1";
  /** Triggers: 1 = wait while a symptom. */
  pause_symptoms: "0" | "1";
  /** How messages are grouped: `{by: [tag or {HOST.HOST}], wait, interval, repeat}`. */
  grouping?: Record<string, unknown> | null;
  /** Triggers: `{tags}`, pauses while a more severe problem with equal values of these tags is open. */
  inhibition?: Record<string, unknown> | null;
  /** Triggers: `{transients, flapping, max_hold}`, fewer messages about problems that end soon or come again. */
  calming?: Record<string, unknown> | null;
}

/** As `action.create` takes it. */
export interface ActionInput {
  /** Name. */
  name: string;
  /** 0 = triggers, 1 = network discovery, 2 = autoregistration, 3 = internal events, 4 = services. */
  eventsource: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** 1 = switched off. */
  status?: "0" | "1" | 0 | 1;
  /** Duration of a step; triggers, internal events, services. */
  esc_period?: string;
  /** Triggers: 1 = wait while suppressed. */
  pause_suppressed?: "0" | "1" | 0 | 1;
  /** Triggers: 1 = tell of cancellations. */
  notify_if_canceled?: "0" | "1" | 0 | 1;
  /** Triggers: 1 = wait while a symptom. */
  pause_symptoms?: "0" | "1" | 0 | 1;
  /** How messages are grouped: `{by: [tag or {HOST.HOST}], wait, interval, repeat}`. */
  grouping?: Record<string, unknown> | null;
  /** When: `{evaltype, formula, conditions}`. */
  filter?: unknown;
  /** What then happens, in steps. */
  operations?: unknown;
  /** What happens when the problem ends. */
  recovery_operations?: unknown;
  /** What happens when the problem is updated. */
  update_operations?: unknown;
  /** Triggers: `{tags}`, pauses while a more severe problem with equal values of these tags is open. */
  inhibition?: Record<string, unknown> | null;
  /** Triggers: `{transients, flapping, max_hold}`, fewer messages about problems that end soon or come again. */
  calming?: Record<string, unknown> | null;
}

/** As `correlation.get` shows it with `output: "extend"`. */
export interface Correlation {
  /** Id of the correlation rule. */
  correlationid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** 1 = switched off. */
  status: "0" | "1";
}

/** As `correlation.create` takes it. */
export interface CorrelationInput {
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** 1 = switched off. */
  status?: "0" | "1" | 0 | 1;
  /** When: `{evaltype, formula, conditions}`. */
  filter: unknown;
  /** `[{type}]`: 0 = close old, 1 = close new problems. */
  operations: unknown;
}

/** As `mediatype.get` shows it with `output: "extend"`. */
export interface MediaType {
  /** Id of the media type. */
  mediatypeid: string;
  /** 0 = e-mail, 1 = script, 2 = SMS, 4 = webhook. */
  type: "0" | "1" | "2" | "4";
  /** Name. */
  name: string;
  /** E-mail: host name or address of the mail server. */
  smtp_server: string;
  /** E-mail: name that the server gives itself. */
  smtp_helo: string;
  /** E-mail: address of the sender. */
  smtp_email: string;
  /** Script: name of the program. */
  exec_path: string;
  /** SMS: serial device of the modem. */
  gsm_modem: string;
  /** E-mail: user name at the mail server. */
  username: string;
  /** E-mail: password at the mail server. */
  passwd: string;
  /** 1 = switched off (default). */
  status: "0" | "1";
  /** E-mail: port of the mail server. */
  smtp_port: string;
  /** E-mail: 0 = clear text, 1 = STARTTLS, 2 = TLS. */
  smtp_security: "0" | "1" | "2";
  /** E-mail: 1 = check the certificate. */
  smtp_verify_peer: "0" | "1";
  /** E-mail: 1 = check the certificate's name. */
  smtp_verify_host: "0" | "1";
  /** E-mail: 1 = by user name and password. */
  smtp_authentication: "0" | "1";
  /** Messages sent at once; 0 = no limit. */
  maxsessions: string;
  /** Attempts to send a message. */
  maxattempts: string;
  /** Time between attempts, up to an hour. */
  attempt_interval: string;
  /** E-mail: 0 = plain text, 1 = HTML (default). */
  message_format: "0" | "1";
  /** Webhook: JavaScript. */
  script: string;
  /** Webhook: time limit of the script, 1 to 60 seconds. */
  timeout: string;
  /** Webhook: 1 = add returned tags to the event. */
  process_tags: "0" | "1";
  /** Webhook: 1 = events have a menu entry. */
  show_event_menu: "0" | "1";
  /** Webhook: address of the menu entry. */
  event_menu_url: string;
  /** Webhook: text of the menu entry. */
  event_menu_name: string;
  /** Description. */
  description: string;
  /** Webhook, script: 1 = messages of a problem to an address are sent one after the other, and may edit the first. */
  living?: "0" | "1";
  /** Webhook, script: 1 = the receiver takes each {ALERT.ID} once, so messages that a crash cut off are sent again. */
  deduplicates?: "0" | "1";
  /** E-mail: address for responses, which become comments; `vedette mail-reply` reads them. */
  reply_address?: string;
  /** E-mail: 0 = any server, 1 = Gmail, 2 = Gmail relay, 3 = Office365, 4 = Office365 relay. */
  provider: "0" | "1" | "2" | "3" | "4";
  /** Messages that an address takes: `{messages, period}`; others are told in one digest. */
  storm_limit?: Record<string, unknown> | null;
  /** Older name of `message_format`. */
  content_type: "0" | "1";
  /** Media type that sends messages instead when attempts of this one fail; 0 = none. */
  fallback_mediatypeid?: string;
}

/** As `mediatype.create` takes it. */
export interface MediaTypeInput {
  /** 0 = e-mail, 1 = script, 2 = SMS, 4 = webhook. */
  type: "0" | "1" | "2" | "4" | 0 | 1 | 2 | 4;
  /** Name. */
  name: string;
  /** E-mail: host name or address of the mail server. */
  smtp_server?: string;
  /** E-mail: name that the server gives itself. */
  smtp_helo?: string;
  /** E-mail: address of the sender. */
  smtp_email?: string;
  /** Script: name of the program. */
  exec_path?: string;
  /** SMS: serial device of the modem. */
  gsm_modem?: string;
  /** E-mail: user name at the mail server. */
  username?: string;
  /** E-mail: password at the mail server. */
  passwd?: string;
  /** 1 = switched off (default). */
  status?: "0" | "1" | 0 | 1;
  /** E-mail: port of the mail server. */
  smtp_port?: string | number;
  /** E-mail: 0 = clear text, 1 = STARTTLS, 2 = TLS. */
  smtp_security?: "0" | "1" | "2" | 0 | 1 | 2;
  /** E-mail: 1 = check the certificate. */
  smtp_verify_peer?: "0" | "1" | 0 | 1;
  /** E-mail: 1 = check the certificate's name. */
  smtp_verify_host?: "0" | "1" | 0 | 1;
  /** E-mail: 1 = by user name and password. */
  smtp_authentication?: "0" | "1" | 0 | 1;
  /** Messages sent at once; 0 = no limit. */
  maxsessions?: string | number;
  /** Attempts to send a message. */
  maxattempts?: string | number;
  /** Time between attempts, up to an hour. */
  attempt_interval?: string;
  /** E-mail: 0 = plain text, 1 = HTML (default). */
  message_format?: "0" | "1" | 0 | 1;
  /** Webhook: JavaScript. */
  script?: string;
  /** Webhook: time limit of the script, 1 to 60 seconds. */
  timeout?: string;
  /** Webhook: 1 = add returned tags to the event. */
  process_tags?: "0" | "1" | 0 | 1;
  /** Webhook: 1 = events have a menu entry. */
  show_event_menu?: "0" | "1" | 0 | 1;
  /** Webhook: address of the menu entry. */
  event_menu_url?: string;
  /** Webhook: text of the menu entry. */
  event_menu_name?: string;
  /** Description. */
  description?: string;
  /** Webhook, script: 1 = messages of a problem to an address are sent one after the other, and may edit the first. */
  living?: "0" | "1" | 0 | 1;
  /** Webhook, script: 1 = the receiver takes each {ALERT.ID} once, so messages that a crash cut off are sent again. */
  deduplicates?: "0" | "1" | 0 | 1;
  /** E-mail: address for responses, which become comments; `vedette mail-reply` reads them. */
  reply_address?: string;
  /** E-mail: 0 = any server, 1 = Gmail, 2 = Gmail relay, 3 = Office365, 4 = Office365 relay. */
  provider?: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** Messages that an address takes: `{messages, period}`; others are told in one digest. */
  storm_limit?: Record<string, unknown> | null;
  /** Older name of `message_format`. */
  content_type?: "0" | "1" | 0 | 1;
  /** Media type that sends messages instead when attempts of this one fail; 0 = none. */
  fallback_mediatypeid?: string | number;
  /** Webhook: `[{name, value}]`; script: `[{sortorder, value}]`. */
  parameters?: unknown;
  /** Default texts: `[{eventsource, recovery, subject, message}]`. */
  message_templates?: unknown;
}

/** As `script.get` shows it with `output: "extend"`. */
export interface Script {
  /** Id of the script. */
  scriptid: string;
  /** Name. */
  name: string;
  /** Command, or JavaScript of a webhook. */
  command: string;
  /** Right on the host: 2 = read, 3 = write. */
  host_access: "2" | "3";
  /** User group that may run it; 0 = all. */
  usrgrpid: string;
  /** Host group on which it runs; 0 = all. */
  groupid: string;
  /** Description. */
  description: string;
  /** Question before it runs. */
  confirmation: string;
  /** 0 = shell, 1 = IPMI, 2 = SSH, 3 = Telnet, 5 = webhook, 6 = URL. */
  type: "0" | "1" | "2" | "3" | "5" | "6";
  /** Shell: 0 = agent, 1 = server, 2 = proxy or server. */
  execute_on: "0" | "1" | "2";
  /** Webhook: time limit, 1 to 60 seconds. */
  timeout: string;
  /** Webhook: `[{name, value}]`. */
  parameters: Record<string, string>[];
  /** 1 = operations of actions, 2 = hosts, 4 = events. */
  scope: "1" | "2" | "4";
  /** SSH, Telnet: port. */
  port: string;
  /** SSH: 0 = password, 1 = key. */
  authtype: "0" | "1";
  /** SSH, Telnet: user name. */
  username: string;
  /** SSH, Telnet: password, or passphrase of the key. */
  password: string;
  /** SSH: file of the public key. */
  publickey: string;
  /** SSH: file of the private key. */
  privatekey: string;
  /** Place in the menu, with `/`. */
  menu_path: string;
  /** URL: the address. */
  url: string;
  /** URL: 1 = in a new window. */
  new_window: "0" | "1";
  /** 1 = the user gives an input. */
  manualinput: "0" | "1";
  /** Question for the input. */
  manualinput_prompt: string;
  /** Pattern or list of the input. */
  manualinput_validator: string;
  /** 0 = pattern, 1 = list. */
  manualinput_validator_type: "0" | "1";
  /** Input that is shown first. */
  manualinput_default_value: string;
}

/** As `script.create` takes it. */
export interface ScriptInput {
  /** Name. */
  name: string;
  /** Command, or JavaScript of a webhook. */
  command?: string;
  /** Right on the host: 2 = read, 3 = write. */
  host_access?: "2" | "3" | 2 | 3;
  /** User group that may run it; 0 = all. */
  usrgrpid?: string | number;
  /** Host group on which it runs; 0 = all. */
  groupid?: string | number;
  /** Description. */
  description?: string;
  /** Question before it runs. */
  confirmation?: string;
  /** 0 = shell, 1 = IPMI, 2 = SSH, 3 = Telnet, 5 = webhook, 6 = URL. */
  type: "0" | "1" | "2" | "3" | "5" | "6" | 0 | 1 | 2 | 3 | 5 | 6;
  /** Shell: 0 = agent, 1 = server, 2 = proxy or server. */
  execute_on?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Webhook: time limit, 1 to 60 seconds. */
  timeout?: string;
  /** Webhook: `[{name, value}]`. */
  parameters?: Record<string, string>[];
  /** 1 = operations of actions, 2 = hosts, 4 = events. */
  scope: "1" | "2" | "4" | 1 | 2 | 4;
  /** SSH, Telnet: port. */
  port?: string;
  /** SSH: 0 = password, 1 = key. */
  authtype?: "0" | "1" | 0 | 1;
  /** SSH, Telnet: user name. */
  username?: string;
  /** SSH, Telnet: password, or passphrase of the key. */
  password?: string;
  /** SSH: file of the public key. */
  publickey?: string;
  /** SSH: file of the private key. */
  privatekey?: string;
  /** Place in the menu, with `/`. */
  menu_path?: string;
  /** URL: the address. */
  url?: string;
  /** URL: 1 = in a new window. */
  new_window?: "0" | "1" | 0 | 1;
  /** 1 = the user gives an input. */
  manualinput?: "0" | "1" | 0 | 1;
  /** Question for the input. */
  manualinput_prompt?: string;
  /** Pattern or list of the input. */
  manualinput_validator?: string;
  /** 0 = pattern, 1 = list. */
  manualinput_validator_type?: "0" | "1" | 0 | 1;
  /** Input that is shown first. */
  manualinput_default_value?: string;
}

/** As `oncall.get` shows it with `output: "extend"`. */
export interface OnCallSchedule {
  /** Id of the schedule. */
  scheduleid: string;
  /** Name. */
  name: string;
  /** Time zone, or `system` (default). */
  timezone: string;
  /** Free text. */
  description: string;
  /** Further holidays: an iCalendar text. */
  holiday_calendar: string;
}

/** As `oncall.create` takes it. */
export interface OnCallScheduleInput {
  /** Name. */
  name: string;
  /** Time zone, or `system` (default). */
  timezone?: string;
  /** Free text. */
  description?: string;
  /** Further holidays: an iCalendar text. */
  holiday_calendar?: string;
  /** `[{name, users, start, end, period, handoff, on_holidays, restrictions, calendar}]`; a later one wins. */
  layers?: unknown;
  /** `[{date, name}]`, such as 2026-12-25. */
  holidays?: unknown;
  /** `[{usrgrpid, permission}]`: 2 members see it, 3 administrators among them change it. */
  usergroups?: unknown;
}

/** As `alert.get` shows it with `output: "extend"`. */
export interface Alert {
  /** Id of the alert. */
  alertid: string;
  /** Action that made it. */
  actionid: string;
  /** Event that it is about. */
  eventid: string;
  /** Recipient; 0 = a command. */
  userid: string;
  /** When it was made, unix time. */
  clock: string;
  /** Media type; 0 = none. */
  mediatypeid: string;
  /** Address; several are separated by line feeds. */
  sendto: string;
  /** Subject. */
  subject: string;
  /** Text, or host and command. */
  message: string;
  /** 0 in progress, 1 sent or run, 2 failed, 3 new, 4 withheld. */
  status: string;
  /** Attempts that failed. */
  retries: string;
  /** Why the last attempt failed. */
  error: string;
  /** Step of the escalation. */
  esc_step: string;
  /** 0 message, 1 command. */
  alerttype: string;
  /** Event of the problem; recoveries. */
  p_eventid: string;
  /** Update of the problem; updates. */
  acknowledgeid: string;
  /** Why it was not sent at once: 1 grouped, 2 inhibited, 3 message storm, 4 transient, 5 flapping. */
  withheld?: string;
  /** Alert whose message tells of it; 0 = none. */
  carrierid?: string;
  /** What gathers it with others now; 0 = nothing. */
  bundleid?: string;
  /** 1 = its text tells of several problems. */
  summary?: "0" | "1";
  /** Id that the receiver gave to the message. */
  message_id?: string;
  /** Alert that failed, and that it replaces; 0 = none. */
  replaced_alertid?: string;
}

/** As `connector.get` shows it with `output: "extend"`. */
export interface Connector {
  /** Id of the connector. */
  connectorid: string;
  /** Name. */
  name: string;
  /** 0 = streaming protocol 1.0. */
  protocol: "0";
  /** 0 = values of items, 1 = events. */
  data_type: "0" | "1";
  /** URL of the receiver. */
  url: string;
  /** Values: sum of 1 float, 2 character, 4 log, 8 unsigned, 16 text, 32 binary. */
  item_value_type: string;
  /** 0 = none, 1 = basic, 2 = NTLM, 3 = Kerberos, 4 = digest, 5 = bearer. */
  authtype: "0" | "1" | "2" | "3" | "4" | "5";
  /** User name; not with none and bearer. */
  username: string;
  /** Password; not with none and bearer. */
  password: string;
  /** Bearer: token. */
  token: string;
  /** Values or events of a message; 0 = no limit. */
  max_records: string;
  /** Messages sent at once. */
  max_senders: string;
  /** Attempts to send a message. */
  max_attempts: string;
  /** Time between attempts, up to 10 s. */
  attempt_interval: string;
  /** Time limit of a message, 1 to 60 s. */
  timeout: string;
  /** HTTP proxy. */
  http_proxy: string;
  /** 1 = check the certificate. */
  verify_peer: "0" | "1";
  /** 1 = check the certificate's name. */
  verify_host: "0" | "1";
  /** File with the client certificate. */
  ssl_cert_file: string;
  /** File with the key of the client certificate. */
  ssl_key_file: string;
  /** Password of that file. */
  ssl_key_password: string;
  /** Description. */
  description: string;
  /** 0 = switched off, 1 = on (default). */
  status: "0" | "1";
  /** 0 = and/or, 2 = or. */
  tags_evaltype: "0" | "2";
}

/** As `connector.create` takes it. */
export interface ConnectorInput {
  /** Name. */
  name: string;
  /** 0 = streaming protocol 1.0. */
  protocol?: "0" | 0;
  /** 0 = values of items, 1 = events. */
  data_type?: "0" | "1" | 0 | 1;
  /** URL of the receiver. */
  url: string;
  /** Values: sum of 1 float, 2 character, 4 log, 8 unsigned, 16 text, 32 binary. */
  item_value_type?: string | number;
  /** 0 = none, 1 = basic, 2 = NTLM, 3 = Kerberos, 4 = digest, 5 = bearer. */
  authtype?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** User name; not with none and bearer. */
  username?: string;
  /** Password; not with none and bearer. */
  password?: string;
  /** Bearer: token. */
  token?: string;
  /** Values or events of a message; 0 = no limit. */
  max_records?: string | number;
  /** Messages sent at once. */
  max_senders?: string | number;
  /** Attempts to send a message. */
  max_attempts?: string | number;
  /** Time between attempts, up to 10 s. */
  attempt_interval?: string;
  /** Time limit of a message, 1 to 60 s. */
  timeout?: string;
  /** HTTP proxy. */
  http_proxy?: string;
  /** 1 = check the certificate. */
  verify_peer?: "0" | "1" | 0 | 1;
  /** 1 = check the certificate's name. */
  verify_host?: "0" | "1" | 0 | 1;
  /** File with the client certificate. */
  ssl_cert_file?: string;
  /** File with the key of the client certificate. */
  ssl_key_file?: string;
  /** Password of that file. */
  ssl_key_password?: string;
  /** Description. */
  description?: string;
  /** 0 = switched off, 1 = on (default). */
  status?: "0" | "1" | 0 | 1;
  /** 0 = and/or, 2 = or. */
  tags_evaltype?: "0" | "2" | 0 | 2;
  /** Tags of what is sent: `[{tag, operator, value}]`. */
  tags?: unknown;
}

/** As `report.get` shows it with `output: "extend"`. */
export interface ScheduledReport {
  /** Id of the report. Reports are stored only: nothing is sent yet. */
  reportid: string;
  /** Owner; default: the user of the call. */
  userid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** 0 = switched off (default), 1 = on. */
  status: "0" | "1";
  /** Dashboard. */
  dashboardid: string;
  /** Time that it shows: 0 = day, 1 = week, 2 = month, 3 = year. */
  period: "0" | "1" | "2" | "3";
  /** Made each: 0 = day, 1 = week, 2 = month, 3 = year. */
  cycle: "0" | "1" | "2" | "3";
  /** Weekly: sum of 1 Monday, 2 Tuesday … 64 Sunday. */
  weekdays: string;
  /** Second of the day at which it is made. */
  start_time: string;
  /** First day, as `YYYY-MM-DD`; empty = no limit. */
  active_since: string;
  /** Last day, as `YYYY-MM-DD`; empty = no limit. */
  active_till: string;
  /** 0 = never made, 1 = sent, 2 = error, 3 = partly sent. */
  state: string;
  /** Unix time of the last one; 0 = never. */
  lastsent: string;
  /** Error of the last one. */
  info: string;
  /** Subject of the message. */
  subject: string;
  /** Text of the message. */
  message: string;
}

/** As `report.create` takes it. */
export interface ScheduledReportInput {
  /** Owner; default: the user of the call. */
  userid?: string | number;
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** 0 = switched off (default), 1 = on. */
  status?: "0" | "1" | 0 | 1;
  /** Dashboard. */
  dashboardid: string | number;
  /** Time that it shows: 0 = day, 1 = week, 2 = month, 3 = year. */
  period?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** Made each: 0 = day, 1 = week, 2 = month, 3 = year. */
  cycle?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** Weekly: sum of 1 Monday, 2 Tuesday … 64 Sunday. */
  weekdays?: string | number;
  /** Second of the day at which it is made. */
  start_time?: string | number;
  /** First day, as `YYYY-MM-DD`; empty = no limit. */
  active_since?: string;
  /** Last day, as `YYYY-MM-DD`; empty = no limit. */
  active_till?: string;
  /** Subject of the message. */
  subject?: string;
  /** Text of the message. */
  message?: string;
  /** Recipients: `[{userid, access_userid, exclude}]`. */
  users?: unknown;
  /** Recipients: `[{usrgrpid, access_userid}]`. */
  user_groups?: unknown;
}

/** As `service.get` shows it with `output: "extend"`. */
export interface Service {
  /** Id of the service. */
  serviceid: string;
  /** Identifies it in imports. */
  uuid: string;
  /** Name. */
  name: string;
  /** -1 = in order; otherwise a severity. */
  status: string;
  /** Status by children: 0 = always in order, 1 = most critical if all have problems, 2 = most critical. */
  algorithm: "0" | "1" | "2";
  /** Place among its siblings. */
  sortorder: string;
  /** Weight for status rules of parents. */
  weight: string;
  /** What parents see: 0 = the status, 1 = increased, 2 = decreased, 3 = nothing, 4 = a fixed status. */
  propagation_rule: "0" | "1" | "2" | "3" | "4";
  /** Severities to add or take, or the fixed status. */
  propagation_value: string;
  /** Description. */
  description: string;
  /** When it was made, unix time. */
  created_at: string;
  /** The user may only read it. */
  readonly: unknown;
}

/** As `service.create` takes it. */
export interface ServiceInput {
  /** Identifies it in imports. */
  uuid?: string;
  /** Name. */
  name: string;
  /** Status by children: 0 = always in order, 1 = most critical if all have problems, 2 = most critical. */
  algorithm: "0" | "1" | "2" | 0 | 1 | 2;
  /** Place among its siblings. */
  sortorder: string | number;
  /** Weight for status rules of parents. */
  weight?: string | number;
  /** What parents see: 0 = the status, 1 = increased, 2 = decreased, 3 = nothing, 4 = a fixed status. */
  propagation_rule?: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** Severities to add or take, or the fixed status. */
  propagation_value?: string | number;
  /** Description. */
  description?: string;
  /** Parents: `[{serviceid}]`. */
  parents?: unknown;
  /** Children: `[{serviceid}]`. */
  children?: unknown;
  /** Tags: `[{tag, value}]`. */
  tags?: unknown;
  /** Tags of its problems: `[{tag, operator, value}]`. */
  problem_tags?: unknown;
  /** Rules: `[{type, limit_value, limit_status, new_status}]`. */
  status_rules?: unknown;
}

/** As `sla.get` shows it with `output: "extend"`. */
export interface Sla {
  /** Id of the agreement. */
  slaid: string;
  /** Name. */
  name: string;
  /** 0 = days, 1 = weeks, 2 = months, 3 = quarters, 4 = years. */
  period: "0" | "1" | "2" | "3" | "4";
  /** Objective: percentage of the time in order. */
  slo: string;
  /** Unix time from which it counts. */
  effective_date: string;
  /** Time zone, or `system`. */
  timezone: string;
  /** 0 = switched off, 1 = on (default). */
  status: "0" | "1";
  /** Description. */
  description: string;
}

/** As `sla.create` takes it. */
export interface SlaInput {
  /** Name. */
  name: string;
  /** 0 = days, 1 = weeks, 2 = months, 3 = quarters, 4 = years. */
  period: "0" | "1" | "2" | "3" | "4" | 0 | 1 | 2 | 3 | 4;
  /** Objective: percentage of the time in order. */
  slo: string;
  /** Unix time from which it counts. */
  effective_date: string | number;
  /** Time zone, or `system`. */
  timezone: string;
  /** 0 = switched off, 1 = on (default). */
  status?: "0" | "1" | 0 | 1;
  /** Description. */
  description?: string;
  /** Tags of its services: `[{tag, operator, value}]`. */
  service_tags: unknown;
  /** Seconds of the week: `[{period_from, period_to}]`; none = always. */
  schedule?: unknown;
  /** What does not count: `[{name, period_from, period_to}]`. */
  excluded_downtimes?: unknown;
}

/** As `image.get` shows it with `output: "extend"`. */
export interface Image {
  /** Id of the image. */
  imageid: string;
  /** 1 = icon, 2 = background; never changes. */
  imagetype: "1" | "2";
  /** Name. */
  name: string;
}

/** As `image.create` takes it. */
export interface ImageInput {
  /** 1 = icon, 2 = background; never changes. */
  imagetype: "1" | "2" | 1 | 2;
  /** Name. */
  name: string;
  /** PNG, JPEG or GIF in base64, up to 1 MB; see `select_image`. */
  image?: string;
}

/** As `iconmap.get` shows it with `output: "extend"`. */
export interface IconMap {
  /** Id of the icon map. */
  iconmapid: string;
  /** Name. */
  name: string;
  /** Icon of hosts that no mapping fits. */
  default_iconid: string;
}

/** As `iconmap.create` takes it. */
export interface IconMapInput {
  /** Name. */
  name: string;
  /** Icon of hosts that no mapping fits. */
  default_iconid: string | number;
  /** `[{iconid, inventory_link, expression}]`; the first that fits decides. */
  mappings: unknown;
}

/** As `map.get` shows it with `output: "extend"`. */
export interface NetworkMap {
  /** Id of the map. */
  sysmapid: string;
  /** Name. */
  name: string;
  /** Width in pixels. */
  width: string;
  /** Height in pixels. */
  height: string;
  /** Background image; 0 = none. */
  backgroundid: string;
  /** Labels: 0 = label, 1 = address, 2 = name (default), 3 = status, 4 = nothing. */
  label_type: "0" | "1" | "2" | "3" | "4" | "5";
  /** Position of labels: 0 = below, 1 = left, 2 = right, 3 = above. */
  label_location: "0" | "1" | "2" | "3";
  /** 1 = highlight icons (default). */
  highlight: "0" | "1";
  /** Labels show 0 = the number of problems, 1 = the name of a single problem, 2 = the number and the most severe problem. */
  expandproblem: "0" | "1" | "2";
  /** 1 = mark elements whose status changed recently. */
  markelements: "0" | "1";
  /** Problems: 0 = all, 1 = unacknowledged ones separately, 2 = only unacknowledged ones. */
  show_unack: "0" | "1" | "2";
  /** Side of the grid in pixels. */
  grid_size: "20" | "40" | "50" | "75" | "100";
  /** 1 = show the grid (default). */
  grid_show: "0" | "1";
  /** 1 = align elements to the grid (default). */
  grid_align: "0" | "1";
  /** 1 = labels by type of element. */
  label_format: "0" | "1";
  /** Label of hosts; 5 = custom. */
  label_type_host: "0" | "1" | "2" | "3" | "4" | "5";
  /** Label of host groups. */
  label_type_hostgroup: "0" | "1" | "2" | "3" | "4" | "5";
  /** Label of triggers. */
  label_type_trigger: "0" | "1" | "2" | "3" | "4" | "5";
  /** Label of maps. */
  label_type_map: "0" | "1" | "2" | "3" | "4" | "5";
  /** Label of images. */
  label_type_image: "0" | "1" | "2" | "3" | "4" | "5";
  /** Custom label of hosts. */
  label_string_host: string;
  /** Custom label of host groups. */
  label_string_hostgroup: string;
  /** Custom label of triggers. */
  label_string_trigger: string;
  /** Custom label of maps. */
  label_string_map: string;
  /** Custom label of images. */
  label_string_image: string;
  /** Icon map; 0 = none. */
  iconmapid: string;
  /** 1 = expand macros in labels. */
  expand_macros: "0" | "1";
  /** Lowest severity that is shown. */
  severity_min: "0" | "1" | "2" | "3" | "4" | "5";
  /** Owner. */
  userid: string;
  /** 0 = public, 1 = private (default). */
  private: "0" | "1";
  /** 1 = show suppressed problems. */
  show_suppressed: "0" | "1";
}

/** As `map.create` takes it. */
export interface NetworkMapInput {
  /** Name. */
  name: string;
  /** Width in pixels. */
  width: string | number;
  /** Height in pixels. */
  height: string | number;
  /** Background image; 0 = none. */
  backgroundid?: string | number;
  /** Labels: 0 = label, 1 = address, 2 = name (default), 3 = status, 4 = nothing. */
  label_type?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Position of labels: 0 = below, 1 = left, 2 = right, 3 = above. */
  label_location?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** 1 = highlight icons (default). */
  highlight?: "0" | "1" | 0 | 1;
  /** Labels show 0 = the number of problems, 1 = the name of a single problem, 2 = the number and the most severe problem. */
  expandproblem?: "0" | "1" | "2" | 0 | 1 | 2;
  /** 1 = mark elements whose status changed recently. */
  markelements?: "0" | "1" | 0 | 1;
  /** Problems: 0 = all, 1 = unacknowledged ones separately, 2 = only unacknowledged ones. */
  show_unack?: "0" | "1" | "2" | 0 | 1 | 2;
  /** Side of the grid in pixels. */
  grid_size?: "20" | "40" | "50" | "75" | "100" | 20 | 40 | 50 | 75 | 100;
  /** 1 = show the grid (default). */
  grid_show?: "0" | "1" | 0 | 1;
  /** 1 = align elements to the grid (default). */
  grid_align?: "0" | "1" | 0 | 1;
  /** 1 = labels by type of element. */
  label_format?: "0" | "1" | 0 | 1;
  /** Label of hosts; 5 = custom. */
  label_type_host?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Label of host groups. */
  label_type_hostgroup?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Label of triggers. */
  label_type_trigger?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Label of maps. */
  label_type_map?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Label of images. */
  label_type_image?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Custom label of hosts. */
  label_string_host?: string;
  /** Custom label of host groups. */
  label_string_hostgroup?: string;
  /** Custom label of triggers. */
  label_string_trigger?: string;
  /** Custom label of maps. */
  label_string_map?: string;
  /** Custom label of images. */
  label_string_image?: string;
  /** Icon map; 0 = none. */
  iconmapid?: string | number;
  /** 1 = expand macros in labels. */
  expand_macros?: "0" | "1" | 0 | 1;
  /** Lowest severity that is shown. */
  severity_min?: "0" | "1" | "2" | "3" | "4" | "5" | 0 | 1 | 2 | 3 | 4 | 5;
  /** Owner. */
  userid?: string | number;
  /** 0 = public, 1 = private (default). */
  private?: "0" | "1" | 0 | 1;
  /** 1 = show suppressed problems. */
  show_suppressed?: "0" | "1" | 0 | 1;
  /** Elements: `[{selementid, elementtype, elements, iconid_off, label, x, y, urls, tags, …}]`. */
  selements?: unknown;
  /** Links: `[{linkid, selementid1, selementid2, drawtype, color, label, linktriggers}]`. */
  links?: unknown;
  /** URLs of elements by type: `[{name, url, elementtype}]`. */
  urls?: unknown;
  /** Shapes: `[{type, x, y, width, height, text, …}]`. */
  shapes?: unknown;
  /** Lines: `[{x1, y1, x2, y2, line_type, line_width, line_color, zindex}]`. */
  lines?: unknown;
  /** Shared with: `[{userid, permission}]`, 2 = read, 3 = write. */
  users?: unknown;
  /** Shared with: `[{usrgrpid, permission}]`. */
  userGroups?: unknown;
}

/** As `dashboard.get` shows it with `output: "extend"`. */
export interface Dashboard {
  /** Id of the dashboard. */
  dashboardid: string;
  /** Name. */
  name: string;
  /** Its owner; the caller if not given. */
  userid: string;
  /** 0 = all users see it. */
  private: "0" | "1";
  /** Seconds for which a page is shown. */
  display_period: "10" | "30" | "60" | "120" | "600" | "1800" | "3600";
  /** 1 = pages change by themselves. */
  auto_start: "0" | "1";
}

/** As `dashboard.create` takes it. */
export interface DashboardInput {
  /** Name. */
  name: string;
  /** Its owner; the caller if not given. */
  userid?: string | number;
  /** 0 = all users see it. */
  private?: "0" | "1" | 0 | 1;
  /** Shared with users: `[{userid, permission}]`. */
  users?: unknown;
  /** Shared with groups: `[{usrgrpid, permission}]`. */
  userGroups?: unknown;
  /** Seconds for which a page is shown. */
  display_period?: "10" | "30" | "60" | "120" | "600" | "1800" | "3600" | 10 | 30 | 60 | 120 | 600 | 1800 | 3600;
  /** 1 = pages change by themselves. */
  auto_start?: "0" | "1" | 0 | 1;
  /** Pages: `[{name, display_period, widgets}]`. */
  pages: unknown;
}

/** As `templatedashboard.get` shows it with `output: "extend"`. */
export interface TemplateDashboard {
  /** Id of the dashboard. */
  dashboardid: string;
  /** Name. */
  name: string;
  /** Its template. */
  templateid: string;
  /** Seconds for which a page is shown. */
  display_period: "10" | "30" | "60" | "120" | "600" | "1800" | "3600";
  /** 1 = pages change by themselves. */
  auto_start: "0" | "1";
  /** Universal id. */
  uuid: string;
}

/** As `templatedashboard.create` takes it. */
export interface TemplateDashboardInput {
  /** Name. */
  name: string;
  /** Its template. */
  templateid: string | number;
  /** Seconds for which a page is shown. */
  display_period?: "10" | "30" | "60" | "120" | "600" | "1800" | "3600" | 10 | 30 | 60 | 120 | 600 | 1800 | 3600;
  /** 1 = pages change by themselves. */
  auto_start?: "0" | "1" | 0 | 1;
  /** Universal id. */
  uuid?: string;
  /** Pages: `[{name, display_period, widgets}]`. */
  pages: unknown;
}

/** As `hostdashboard.get` shows it with `output: "extend"`. */
export interface HostDashboard {
  /** The host. */
  hostid: string;
  /** Id of the dashboard. */
  dashboardid: string;
  /** Name. */
  name: string;
  /** Seconds for which a page is shown. */
  display_period: "10" | "30" | "60" | "120" | "600" | "1800" | "3600";
  /** 1 = pages change by themselves. */
  auto_start: "0" | "1";
  /** Template of the dashboard. */
  templateid: string;
}

/** As `user.get` shows it with `output: "extend"`. */
export interface User {
  /** Id of the user. */
  userid: string;
  /** Login name. */
  username: string;
  /** First name. */
  name: string;
  /** Last name. */
  surname: string;
  /** Page after sign-in. */
  url: string;
  /** 1 = stay signed in. */
  autologin: "0" | "1";
  /** Session ends after this time unused; 0 = never. */
  autologout: string;
  /** Language. */
  lang: string;
  /** Pages refresh this often. */
  refresh: string;
  /** Theme. */
  theme: string;
  /** Failed sign-ins since the last good one. */
  attempt_failed: string;
  /** Address of the last failed sign-in. */
  attempt_ip: string;
  /** Unix time of the last failed sign-in. */
  attempt_clock: string;
  /** Rows on a page of a list. */
  rows_per_page: string;
  /** Time zone. */
  timezone: string;
  /** Role. */
  roleid: string;
  /** Directory that the user came from. */
  userdirectoryid: string;
  /** Unix time when it came. */
  ts_provisioned: string;
  /** 1 = came from a directory. */
  provisioned: unknown;
}

/** As `user.create` takes it. */
export interface UserInput {
  /** Login name. */
  username: string;
  /** Password; only written. */
  passwd?: unknown;
  /** Needed to change one's own password. */
  current_passwd?: unknown;
  /** First name. */
  name?: string;
  /** Last name. */
  surname?: string;
  /** Page after sign-in. */
  url?: string;
  /** 1 = stay signed in. */
  autologin?: "0" | "1" | 0 | 1;
  /** Session ends after this time unused; 0 = never. */
  autologout?: string;
  /** Language. */
  lang?: string;
  /** Pages refresh this often. */
  refresh?: string;
  /** Theme. */
  theme?: string;
  /** Rows on a page of a list. */
  rows_per_page?: string | number;
  /** Time zone. */
  timezone?: string;
  /** Role. */
  roleid?: string | number;
  /** User groups: `[{usrgrpid}]`. */
  usrgrps?: unknown;
  /** Media: `[{mediatypeid, sendto, active, severity, period}]`. */
  medias?: unknown;
}

/** As `usergroup.get` shows it with `output: "extend"`. */
export interface UserGroup {
  /** Id of the user group. */
  usrgrpid: string;
  /** Name. */
  name: string;
  /** Sign-in: 0 default … 3 none. */
  gui_access: "0" | "1" | "2" | "3";
  /** 1 = its users are switched off. */
  users_status: "0" | "1";
  /** 1 = debug mode. */
  debug_mode: "0" | "1";
  /** Directory for sign-in. */
  userdirectoryid: string;
  /** 1 = second factor required. */
  mfa_status: "0" | "1";
  /** Second factor. */
  mfaid: string;
}

/** As `usergroup.create` takes it. */
export interface UserGroupInput {
  /** Name. */
  name: string;
  /** Sign-in: 0 default … 3 none. */
  gui_access?: "0" | "1" | "2" | "3" | 0 | 1 | 2 | 3;
  /** 1 = its users are switched off. */
  users_status?: "0" | "1" | 0 | 1;
  /** 1 = debug mode. */
  debug_mode?: "0" | "1" | 0 | 1;
  /** Directory for sign-in. */
  userdirectoryid?: string | number;
  /** 1 = second factor required. */
  mfa_status?: "0" | "1" | 0 | 1;
  /** Second factor. */
  mfaid?: string | number;
  /** `[{id, permission}]`: 0 deny, 2 read, 3 write. */
  hostgroup_rights?: unknown;
  /** The same on template groups. */
  templategroup_rights?: unknown;
  /** Both at once; old form. */
  rights?: unknown;
  /** `[{groupid, tag, value}]`: problems shown. */
  tag_filters?: unknown;
  /** Members: `[{userid}]`. */
  users?: unknown;
  /** Members; old form. */
  userids?: unknown;
}

/** As `role.get` shows it with `output: "extend"`. */
export interface Role {
  /** Id of the role. */
  roleid: string;
  /** Name. */
  name: string;
  /** 1 user, 2 admin, 3 super admin. */
  type: "1" | "2" | "3";
  /** 1 = cannot be changed. */
  readonly: "0" | "1";
}

/** As `role.create` takes it. */
export interface RoleInput {
  /** Name. */
  name: string;
  /** 1 user, 2 admin, 3 super admin. */
  type: "1" | "2" | "3" | 1 | 2 | 3;
  /** What its users may use. */
  rules?: unknown;
}

/** As `mfa.get` shows it with `output: "extend"`. */
export interface MfaMethod {
  /** Id of the MFA method. */
  mfaid: string;
  /** 1 = TOTP, 2 = Duo (stored only). */
  type: "1" | "2";
  /** Name. */
  name: string;
  /** TOTP: 1 = SHA-1, 2 = SHA-256, 3 = SHA-512. */
  hash_function: "1" | "2" | "3";
  /** TOTP: digits of a code. */
  code_length: "6" | "8";
  /** Duo: host name of the API. */
  api_hostname: string;
  /** Duo: id of the client. */
  clientid: string;
}

/** As `mfa.create` takes it. */
export interface MfaMethodInput {
  /** 1 = TOTP, 2 = Duo (stored only). */
  type: "1" | "2" | 1 | 2;
  /** Name. */
  name: string;
  /** TOTP: 1 = SHA-1, 2 = SHA-256, 3 = SHA-512. */
  hash_function?: "1" | "2" | "3" | 1 | 2 | 3;
  /** TOTP: digits of a code. */
  code_length?: "6" | "8" | 6 | 8;
  /** Duo: host name of the API. */
  api_hostname?: string;
  /** Duo: id of the client. */
  clientid?: string;
  /** Duo: secret of the client. */
  client_secret?: string;
}

/** As `userdirectory.get` shows it with `output: "extend"`. */
export interface UserDirectory {
  /** Id of the user directory. */
  userdirectoryid: string;
  /** Name; required for LDAP. */
  name: string;
  /** 1 = LDAP, 2 = SAML (stored only). Cannot be changed. */
  idp_type: "1" | "2";
  /** 1 = users are provisioned just in time. */
  provision_status: "0" | "1";
  /** Description. */
  description: string;
  /** Attribute with the name of a group. */
  group_name: string;
  /** Attribute with the first name. */
  user_username: string;
  /** Attribute with the last name. */
  user_lastname: string;
  /** LDAP: host name, address or URI (`ldaps://…`). Required. */
  host: string;
  /** LDAP: port. Required. */
  port: string;
  /** LDAP: DN below which users are searched. Required. */
  base_dn: string;
  /** LDAP: attribute with the user name. Required. */
  search_attribute: string;
  /** LDAP: DN that binds to search; empty = anonymous. */
  bind_dn: string;
  /** LDAP: 1 = StartTLS. */
  start_tls: "0" | "1";
  /** LDAP: filter of users; empty = `(%{attr}=%{user})`. */
  search_filter: string;
  /** LDAP: DN below which groups are searched. */
  group_basedn: string;
  /** LDAP: attribute of groups with their members. */
  group_member: string;
  /** LDAP: filter of groups; empty = `(%{groupattr}=%{user})`. */
  group_filter: string;
  /** LDAP: attribute of users with the DNs of groups. */
  group_membership: string;
  /** LDAP: attribute of users for `%{ref}` in the filter of groups. */
  user_ref_attr: string;
  /** SAML: id of the identity provider. */
  idp_entityid: string;
  /** SAML: URL for sign-in. */
  sso_url: string;
  /** SAML: URL for sign-out. */
  slo_url: string;
  /** SAML: attribute with the user name. */
  username_attribute: string;
  /** SAML: id of this server. */
  sp_entityid: string;
  /** SAML: format of the name id. */
  nameid_format: string;
  /** SAML: 1 = messages are signed. */
  sign_messages: "0" | "1";
  /** SAML: 1 = assertions are signed. */
  sign_assertions: "0" | "1";
  /** SAML: 1 = sign-in requests are signed. */
  sign_authn_requests: "0" | "1";
  /** SAML: 1 = sign-out requests are signed. */
  sign_logout_requests: "0" | "1";
  /** SAML: 1 = sign-out responses are signed. */
  sign_logout_responses: "0" | "1";
  /** SAML: 1 = name ids are encrypted. */
  encrypt_nameid: "0" | "1";
  /** SAML: 1 = assertions are encrypted. */
  encrypt_assertions: "0" | "1";
  /** SAML: 1 = provisioning by SCIM. */
  scim_status: "0" | "1";
}

/** As `userdirectory.create` takes it. */
export interface UserDirectoryInput {
  /** Name; required for LDAP. */
  name?: string;
  /** 1 = LDAP, 2 = SAML (stored only). Cannot be changed. */
  idp_type: "1" | "2" | 1 | 2;
  /** 1 = users are provisioned just in time. */
  provision_status?: "0" | "1" | 0 | 1;
  /** Description. */
  description?: string;
  /** Attribute with the name of a group. */
  group_name?: string;
  /** Attribute with the first name. */
  user_username?: string;
  /** Attribute with the last name. */
  user_lastname?: string;
  /** LDAP: host name, address or URI (`ldaps://…`). Required. */
  host?: string;
  /** LDAP: port. Required. */
  port?: string | number;
  /** LDAP: DN below which users are searched. Required. */
  base_dn?: string;
  /** LDAP: attribute with the user name. Required. */
  search_attribute?: string;
  /** LDAP: DN that binds to search; empty = anonymous. */
  bind_dn?: string;
  /** LDAP: password of that DN. */
  bind_password?: string;
  /** LDAP: 1 = StartTLS. */
  start_tls?: "0" | "1" | 0 | 1;
  /** LDAP: filter of users; empty = `(%{attr}=%{user})`. */
  search_filter?: string;
  /** LDAP: DN below which groups are searched. */
  group_basedn?: string;
  /** LDAP: attribute of groups with their members. */
  group_member?: string;
  /** LDAP: filter of groups; empty = `(%{groupattr}=%{user})`. */
  group_filter?: string;
  /** LDAP: attribute of users with the DNs of groups. */
  group_membership?: string;
  /** LDAP: attribute of users for `%{ref}` in the filter of groups. */
  user_ref_attr?: string;
  /** SAML: id of the identity provider. */
  idp_entityid?: string;
  /** SAML: URL for sign-in. */
  sso_url?: string;
  /** SAML: URL for sign-out. */
  slo_url?: string;
  /** SAML: attribute with the user name. */
  username_attribute?: string;
  /** SAML: id of this server. */
  sp_entityid?: string;
  /** SAML: format of the name id. */
  nameid_format?: string;
  /** SAML: 1 = messages are signed. */
  sign_messages?: "0" | "1" | 0 | 1;
  /** SAML: 1 = assertions are signed. */
  sign_assertions?: "0" | "1" | 0 | 1;
  /** SAML: 1 = sign-in requests are signed. */
  sign_authn_requests?: "0" | "1" | 0 | 1;
  /** SAML: 1 = sign-out requests are signed. */
  sign_logout_requests?: "0" | "1" | 0 | 1;
  /** SAML: 1 = sign-out responses are signed. */
  sign_logout_responses?: "0" | "1" | 0 | 1;
  /** SAML: 1 = name ids are encrypted. */
  encrypt_nameid?: "0" | "1" | 0 | 1;
  /** SAML: 1 = assertions are encrypted. */
  encrypt_assertions?: "0" | "1" | 0 | 1;
  /** SAML: 1 = provisioning by SCIM. */
  scim_status?: "0" | "1" | 0 | 1;
  /** Media of provisioned users: `[{name, mediatypeid, attribute, active, severity, period}]`. */
  provision_media?: unknown;
  /** Groups of the directory: `[{name, roleid, user_groups: [{usrgrpid}]}]`. */
  provision_groups?: unknown;
}

/** As `token.get` shows it with `output: "extend"`. */
export interface Token {
  /** Id of the token. */
  tokenid: string;
  /** Name, unique for its user. */
  name: string;
  /** Free text. */
  description: string;
  /** User that calls with it act as; oneself if not given. */
  userid: string;
  /** Unix time of its last use. */
  lastaccess: string;
  /** 1 = switched off. */
  status: "0" | "1";
  /** Unix time of its end; 0 = never. */
  expires_at: string;
  /** Unix time when its secret was made. */
  created_at: string;
  /** User who made it. */
  creator_userid: string;
}

/** As `token.create` takes it. */
export interface TokenInput {
  /** Name, unique for its user. */
  name: string;
  /** Free text. */
  description?: string;
  /** User that calls with it act as; oneself if not given. */
  userid?: string | number;
  /** 1 = switched off. */
  status?: "0" | "1" | 0 | 1;
  /** Unix time of its end; 0 = never. */
  expires_at?: string | number;
}

/** As `regexp.get` shows it with `output: "extend"`. */
export interface Regexp {
  /** Id of the global regular expression. */
  regexpid: string;
  /** Name; used as `@name`. */
  name: string;
  /** Text to try it with. */
  test_string: string;
}

/** As `regexp.create` takes it. */
export interface RegexpInput {
  /** Name; used as `@name`. */
  name: string;
  /** Text to try it with. */
  test_string?: string;
  /** `[{expression, expression_type, exp_delimiter, case_sensitive}]`, all must hold. */
  expressions: unknown;
}

/** As `virtualservice.get` shows it with `output: "extend"`. */
export interface VirtualService {
  /** Id of the virtual service. */
  virtualserviceid: string;
  /** Name, also in records of requests. */
  name: string;
  /** Description. */
  description: string;
  /** 1 = disabled: engines do not have it. */
  status: "0" | "1";
  /** `"http"`, `"tcp"` or `"udp"`. */
  type: string;
  /** Engine group that serves it. */
  enginegroupid: string;
  /** VIP with its addresses. */
  vipid: string;
  /** Port on all addresses of the VIP. */
  port: string;
  /** Default pool; 0 = none, there is a pool group. */
  poolid: string;
  /** Default pool group; 0 = none, there is a pool. */
  poolgroupid: string;
  /** 1 = connections begin with a PROXY header. */
  accept_proxy: "0" | "1";
  /** `{alpn, alt_svc, min_version, strict_sni, client_ca, client_auth, client_crl, expired_crl}`. */
  tls: unknown;
  /** `{client_header, client_body, keepalive, server, connect, queue, tunnel, session}`. */
  timeouts: unknown;
  /** `{uri, header_bytes, headers, body, connections, h2_streams, sessions, client_sessions, responses}`. */
  limits: unknown;
  /** `{by, name, requests, per, status}`; `{}`: none. */
  rate_limit: unknown;
  /** `{require, basic, jwt}`; `{}`: none. Hashes of passwords and secrets are shown as `******`, which keeps them in an update. */
  authentication: unknown;
  /** `{algorithms, types, min_length, level, streams}`; `{}`: none. */
  compression: unknown;
  /** Responses that engines keep in memory: `{size, max_object, max_objects, key_headers, stale_if_error, stale_while_revalidate, collapse, status_header}`; `{}`: none. */
  cache: unknown;
  /** Copies of requests for another pool: `{poolid, percent, max_body, concurrent}`, or `poolgroupid` instead; `{}`: none. */
  mirror: unknown;
  /** `{x_forwarded_for, x_forwarded_proto, x_forwarded_port, forwarded, via, client_cert}`. */
  forwarded: unknown;
  /** `[{if, then}]`; `then.poolid` or `then.poolgroupid` chooses. `then.mirror` is like `mirror`. `then.script`: `{request, response, pools, timeout, on_error}`; `pools` is `[{poolid}]`, or `poolgroupid` instead. */
  rules: unknown;
  /** Networks that may connect; empty: all. */
  allow: unknown;
  /** Networks that may not connect. */
  deny: unknown;
}

/** As `virtualservice.create` takes it. */
export interface VirtualServiceInput {
  /** Name, also in records of requests. */
  name: string;
  /** Description. */
  description?: string;
  /** 1 = disabled: engines do not have it. */
  status?: "0" | "1" | 0 | 1;
  /** `"http"`, `"tcp"` or `"udp"`. */
  type?: string;
  /** Engine group that serves it. */
  enginegroupid: string | number;
  /** VIP with its addresses. */
  vipid: string | number;
  /** Port on all addresses of the VIP. */
  port: string | number;
  /** Default pool; 0 = none, there is a pool group. */
  poolid?: string | number;
  /** Default pool group; 0 = none, there is a pool. */
  poolgroupid?: string | number;
  /** 1 = connections begin with a PROXY header. */
  accept_proxy?: "0" | "1" | 0 | 1;
  /** `{alpn, alt_svc, min_version, strict_sni, client_ca, client_auth, client_crl, expired_crl}`. */
  tls?: unknown;
  /** `{client_header, client_body, keepalive, server, connect, queue, tunnel, session}`. */
  timeouts?: unknown;
  /** `{uri, header_bytes, headers, body, connections, h2_streams, sessions, client_sessions, responses}`. */
  limits?: unknown;
  /** `{by, name, requests, per, status}`; `{}`: none. */
  rate_limit?: unknown;
  /** `{require, basic, jwt}`; `{}`: none. Hashes of passwords and secrets are shown as `******`, which keeps them in an update. */
  authentication?: unknown;
  /** `{algorithms, types, min_length, level, streams}`; `{}`: none. */
  compression?: unknown;
  /** Responses that engines keep in memory: `{size, max_object, max_objects, key_headers, stale_if_error, stale_while_revalidate, collapse, status_header}`; `{}`: none. */
  cache?: unknown;
  /** Copies of requests for another pool: `{poolid, percent, max_body, concurrent}`, or `poolgroupid` instead; `{}`: none. */
  mirror?: unknown;
  /** `{x_forwarded_for, x_forwarded_proto, x_forwarded_port, forwarded, via, client_cert}`. */
  forwarded?: unknown;
  /** `[{if, then}]`; `then.poolid` or `then.poolgroupid` chooses. `then.mirror` is like `mirror`. `then.script`: `{request, response, pools, timeout, on_error}`; `pools` is `[{poolid}]`, or `poolgroupid` instead. */
  rules?: unknown;
  /** Networks that may connect; empty: all. */
  allow?: unknown;
  /** Networks that may not connect. */
  deny?: unknown;
  /** `[{certificateid}]`, the default first; TLS if any. */
  certificates?: unknown;
  /** `[{tag, value}]`. */
  tags?: unknown;
}

/** As `vip.get` shows it with `output: "extend"`. */
export interface Vip {
  /** Id of the VIP. */
  vipid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** IPv4 address; `0.0.0.0`: all of the engine's machine. */
  ipv4: string;
  /** IPv6 address; `::`: all of the engine's machine. */
  ipv6: string;
  /** Names that users give it; for readers alone. */
  dns_names: unknown;
}

/** As `vip.create` takes it. */
export interface VipInput {
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** IPv4 address; `0.0.0.0`: all of the engine's machine. */
  ipv4?: string;
  /** IPv6 address; `::`: all of the engine's machine. */
  ipv6?: string;
  /** Names that users give it; for readers alone. */
  dns_names?: unknown;
}

/** As `pool.get` shows it with `output: "extend"`. */
export interface Pool {
  /** Id of the pool. */
  poolid: string;
  /** Name, also in records; unique among pools and pool groups. */
  name: string;
  /** Description. */
  description: string;
  /** How a server is chosen, such as `"round_robin"`. */
  algorithm: string;
  /** Header of the algorithm `header_hash`. */
  hash_key: string;
  /** First health monitor; 0 = none. */
  healthmonitorid: string;
  /** Monitors that a server must pass, without those of type `trigger`; 0 = all. */
  min_monitors: string;
  /** What a maintenance of the monitored host does to its server: `"ignore"` or `"drain"`. */
  host_maintenance: string;
  /** `{type, name}`; `{}`: none. */
  persistence: unknown;
  /** `{count, on, budget_percent}`. */
  retries: unknown;
  /** `{failures, for}`. */
  eject: unknown;
  /** Time in which the share of a server that comes back grows, such as `"30s"`; `""`: it is whole at once. */
  slow_start: string;
  /** `"v1"`, `"v2"`, or `""`: none. */
  send_proxy: string;
  /** `{ca, sni, crl, expired_crl}`, authorities and revocation lists as PEM text; `{}`: none. */
  tls: unknown;
}

/** As `pool.create` takes it. */
export interface PoolInput {
  /** Name, also in records; unique among pools and pool groups. */
  name: string;
  /** Description. */
  description?: string;
  /** How a server is chosen, such as `"round_robin"`. */
  algorithm?: string;
  /** Header of the algorithm `header_hash`. */
  hash_key?: string;
  /** First health monitor; 0 = none. */
  healthmonitorid?: string | number;
  /** Monitors that a server must pass, without those of type `trigger`; 0 = all. */
  min_monitors?: string | number;
  /** What a maintenance of the monitored host does to its server: `"ignore"` or `"drain"`. */
  host_maintenance?: string;
  /** `{type, name}`; `{}`: none. */
  persistence?: unknown;
  /** `{count, on, budget_percent}`. */
  retries?: unknown;
  /** `{failures, for}`. */
  eject?: unknown;
  /** Time in which the share of a server that comes back grows, such as `"30s"`; `""`: it is whole at once. */
  slow_start?: string;
  /** `"v1"`, `"v2"`, or `""`: none. */
  send_proxy?: string;
  /** `{ca, sni, crl, expired_crl}`, authorities and revocation lists as PEM text; `{}`: none. */
  tls?: unknown;
  /** Servers, at least one. */
  servers: unknown;
  /** Health monitors beside the first one. */
  further_monitors?: unknown;
}

/** As `poolgroup.get` shows it with `output: "extend"`. */
export interface PoolGroup {
  /** Id of the pool group. */
  poolgroupid: string;
  /** Name, unique among pool groups and pools. */
  name: string;
  /** Description. */
  description: string;
  /** Servers that a priority needs to get requests. */
  min_servers: string;
}

/** As `poolgroup.create` takes it. */
export interface PoolGroupInput {
  /** Name, unique among pool groups and pools. */
  name: string;
  /** Description. */
  description?: string;
  /** Servers that a priority needs to get requests. */
  min_servers?: string | number;
  /** Pools, at least one. */
  members: unknown;
}

/** As `healthmonitor.get` shows it with `output: "extend"`. */
export interface HealthMonitor {
  /** Id of the health monitor. */
  healthmonitorid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** `"tcp"`: connects; `"http"`: requests a path; `"udp"`: sends a datagram; `"dns"`: sends a query of DNS; `"smtp"`: EHLO; `"icmp"`: ping; `"script"`: runs a program; `"trigger"`: problems of the server's monitored host. */
  type: string;
  /** Path and query of the request. */
  path: string;
  /** Expected status. */
  status: string;
  /** Text that the first 16 KiB of the response contain. */
  body: string;
  /** Of type `udp`: `{send, expect}`; `{}`: none. */
  udp: unknown;
  /** Of type `dns`: `{name, type, rcodes}`; `{}`: none. */
  dns: unknown;
  /** Of type `script`: `{program, parameters}`; `{}`: none. */
  script: unknown;
  /** Of type `trigger`: `{name, tags, min_severity, effect}`; `{}`: any problem, and the server is down. */
  trigger_filter: unknown;
  /** Time between two checks, such as `"5s"`. */
  interval: string;
  /** Time of one check, such as `"500ms"`. */
  timeout: string;
  /** Successes until the server is used. */
  up: string;
  /** Failures until the server is no longer used. */
  down: string;
}

/** As `healthmonitor.create` takes it. */
export interface HealthMonitorInput {
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** `"tcp"`: connects; `"http"`: requests a path; `"udp"`: sends a datagram; `"dns"`: sends a query of DNS; `"smtp"`: EHLO; `"icmp"`: ping; `"script"`: runs a program; `"trigger"`: problems of the server's monitored host. */
  type: string;
  /** Path and query of the request. */
  path?: string;
  /** Expected status. */
  status?: string | number;
  /** Text that the first 16 KiB of the response contain. */
  body?: string;
  /** Of type `udp`: `{send, expect}`; `{}`: none. */
  udp?: unknown;
  /** Of type `dns`: `{name, type, rcodes}`; `{}`: none. */
  dns?: unknown;
  /** Of type `script`: `{program, parameters}`; `{}`: none. */
  script?: unknown;
  /** Of type `trigger`: `{name, tags, min_severity, effect}`; `{}`: any problem, and the server is down. */
  trigger_filter?: unknown;
  /** Time between two checks, such as `"5s"`. */
  interval?: string;
  /** Time of one check, such as `"500ms"`. */
  timeout?: string;
  /** Successes until the server is used. */
  up?: string | number;
  /** Failures until the server is no longer used. */
  down?: string | number;
}

/** As `certificate.get` shows it with `output: "extend"`. */
export interface Certificate {
  /** Id of the certificate. */
  certificateid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** PEM text: the certificate, then its chain; required for new ones without `acme`. */
  certificate: string;
  /** What the server orders from an authority: `{domains, challenge, directory, ca, contact, terms_agreed}`; `{}`: the certificate is given. */
  acme: unknown;
  /** `"waiting"`, `"ordering"`, `"issued"` or `"failed"`; `""`: it is not ordered. */
  order_state: string;
  /** Why the last order failed, or why none begins. */
  error: string;
  /** Unix time of the next order; 0 = none. */
  next_attempt: string;
  /** Subject, such as `CN=www.example.com`. */
  subject: string;
  /** Issuer. */
  issuer: string;
  /** DNS names and addresses that it is for. */
  names: unknown;
  /** Algorithm of the key, such as `ECDSA P-256`. */
  algorithm: string;
  /** SHA-256 in hexadecimal digits. */
  fingerprint: string;
  /** Unix time from which it is valid. */
  valid_from: string;
  /** Unix time of its end. */
  valid_until: string;
}

/** As `certificate.create` takes it. */
export interface CertificateInput {
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** PEM text: the certificate, then its chain; required for new ones without `acme`. */
  certificate?: string;
  /** PEM text of its key; required for new ones without `acme`. */
  private_key?: string;
  /** What the server orders from an authority: `{domains, challenge, directory, ca, contact, terms_agreed}`; `{}`: the certificate is given. */
  acme?: unknown;
}

/** As `enginegroup.get` shows it with `output: "extend"`. */
export interface EngineGroup {
  /** Id of the engine group. */
  enginegroupid: string;
  /** Name. */
  name: string;
  /** Description. */
  description: string;
  /** 0 = active/active: a VIP has several engines; 1 = N+M: room of spare engines stays free; 2 = active/standby: a VIP has one engine, another takes over. */
  ha_mode: "0" | "1" | "2";
  /** 0 = distributed: the engine with the fewest VIPs gets the next one; 1 = compact: the one with the most that has room. */
  placement: "0" | "1";
  /** Engines that announce a VIP; 0 = all with `ha_mode` 0, one with 1. With 2 it is one. */
  engines_per_vip: string;
  /** Engines whose room stays free for VIPs of failed ones, with `ha_mode` 1; needs `vips_per_engine`. */
  spare_engines: string;
  /** VIPs of an engine at most; 0 = no limit. */
  vips_per_engine: string;
  /** 1 = VIPs return to an engine that returns, and spread to a new one; each move breaks connections. */
  rebalance: "0" | "1";
  /** Seconds without connection after which other engines take the VIPs of an engine over. */
  failover_after: string;
  /** How engines announce VIPs, as `announce` of the engine's file; `{}` = as the file of each engine says. */
  announce: unknown;
}

/** As `enginegroup.create` takes it. */
export interface EngineGroupInput {
  /** Name. */
  name: string;
  /** Description. */
  description?: string;
  /** 0 = active/active: a VIP has several engines; 1 = N+M: room of spare engines stays free; 2 = active/standby: a VIP has one engine, another takes over. */
  ha_mode?: "0" | "1" | "2" | 0 | 1 | 2;
  /** 0 = distributed: the engine with the fewest VIPs gets the next one; 1 = compact: the one with the most that has room. */
  placement?: "0" | "1" | 0 | 1;
  /** Engines that announce a VIP; 0 = all with `ha_mode` 0, one with 1. With 2 it is one. */
  engines_per_vip?: string | number;
  /** Engines whose room stays free for VIPs of failed ones, with `ha_mode` 1; needs `vips_per_engine`. */
  spare_engines?: string | number;
  /** VIPs of an engine at most; 0 = no limit. */
  vips_per_engine?: string | number;
  /** 1 = VIPs return to an engine that returns, and spread to a new one; each move breaks connections. */
  rebalance?: "0" | "1" | 0 | 1;
  /** Seconds without connection after which other engines take the VIPs of an engine over. */
  failover_after?: string | number;
  /** How engines announce VIPs, as `announce` of the engine's file; `{}` = as the file of each engine says. */
  announce?: unknown;
}

/** As `engine.get` shows it with `output: "extend"`. */
export interface Engine {
  /** Id of the engine. */
  engineid: string;
  /** Name, also in records of requests. */
  name: string;
  /** Description. */
  description: string;
  /** Engine group. */
  enginegroupid: string;
  /** 1 = its VIPs move to other engines, and it gets no others. */
  drain: "0" | "1";
  /** End of its token; 0 = it has none. */
  enrolment_expires_at: string;
  /** Unix time of its last report; 0 = none. */
  lastaccess: string;
  /** Address that it reports from. */
  address: string;
  /** Hash of the configuration that it runs. */
  running_hash: string;
  /** Why it does not run the newest configuration. */
  error: string;
  /** Hash of the configuration of its group. */
  desired_hash: unknown;
  /** Version of its program. */
  version: string;
  /** Unix time of the begin of its connection. */
  connected_at: string;
  /** Unix time of the end of its certificate, which it renews before. */
  certificate_until: string;
}

/** As `engine.create` takes it. */
export interface EngineInput {
  /** Name, also in records of requests. */
  name: string;
  /** Description. */
  description?: string;
  /** Engine group. */
  enginegroupid: string | number;
  /** 1 = its VIPs move to other engines, and it gets no others. */
  drain?: "0" | "1" | 0 | 1;
}

/** As `auditlog.get` shows it with `output: "extend"`. */
export interface AuditEntry {
  /** Id of the entry; ids sort by time. */
  auditid: string;
  /** Id of the user; 0 = the server, or an unknown user. */
  userid: string;
  /** Name of the user at that time; `System` = the server. */
  username: string;
  /** Unix time. */
  clock: string;
  /** Address that the call came from. */
  ip: string;
  /** 0 add, 1 update, 2 delete, 4 sign-out, 7 script, 8 sign-in, 9 refused sign-in. */
  action: string;
  /** Kind of the object; the numbers are 7.0's up to 54. 1100 = a problem that was changed by a link. */
  resourcetype: string;
  /** Id of the object. */
  resourceid: string;
  /** Always 0. */
  resource_cuid: string;
  /** Name of the object. */
  resourcename: string;
  /** Entries of one call have the same. */
  recordsetid: string;
  /** JSON: `{"host.name":["update","new","old"]}`. */
  details: string;
}

/** As `hanode.get` shows it with `output: "extend"`. */
export interface HaNode {
  /** Id of the node. */
  ha_nodeid: string;
  /** Name; empty for a server that is no part of a cluster. */
  name: string;
  /** Address. */
  address: string;
  /** Port. */
  port: string;
  /** Unix time at which it was alive. */
  lastaccess: string;
  /** 0 standby, 1 stopped, 2 unavailable, 3 active. */
  status: "0" | "1" | "2" | "3";
}

/** As `module.get` shows it with `output: "extend"`. */
export interface FrontEndModule {
  /** Id of the module. This server has no modules. */
  moduleid: string;
  /** Id that the module gives itself. */
  id: string;
  /** Folder. */
  relative_path: string;
  /** 1 = on. */
  status: "0" | "1";
  /** Configuration. */
  config: Record<string, string>[];
}

/** All methods. */
export type MethodName =
  | "action.create"
  | "action.delete"
  | "action.get"
  | "action.rehearse"
  | "action.update"
  | "alert.get"
  | "apiinfo.timezone"
  | "apiinfo.version"
  | "auditlog.get"
  | "authentication.get"
  | "authentication.update"
  | "autoregistration.get"
  | "autoregistration.update"
  | "capacity.get"
  | "certificate.create"
  | "certificate.delete"
  | "certificate.get"
  | "certificate.renew"
  | "certificate.update"
  | "configuration.export"
  | "configuration.import"
  | "configuration.importcompare"
  | "connector.create"
  | "connector.delete"
  | "connector.get"
  | "connector.update"
  | "correlation.create"
  | "correlation.delete"
  | "correlation.get"
  | "correlation.update"
  | "dashboard.create"
  | "dashboard.delete"
  | "dashboard.get"
  | "dashboard.update"
  | "dcheck.get"
  | "dhost.get"
  | "discoveryrule.copy"
  | "discoveryrule.create"
  | "discoveryrule.delete"
  | "discoveryrule.get"
  | "discoveryrule.update"
  | "drule.create"
  | "drule.delete"
  | "drule.get"
  | "drule.update"
  | "dservice.get"
  | "engine.create"
  | "engine.delete"
  | "engine.generate"
  | "engine.get"
  | "engine.update"
  | "enginegroup.compare"
  | "enginegroup.configuration"
  | "enginegroup.create"
  | "enginegroup.delete"
  | "enginegroup.get"
  | "enginegroup.placement"
  | "enginegroup.update"
  | "escalation.get"
  | "event.acknowledge"
  | "event.explain"
  | "event.get"
  | "graph.create"
  | "graph.delete"
  | "graph.get"
  | "graph.update"
  | "graphitem.get"
  | "graphprototype.create"
  | "graphprototype.delete"
  | "graphprototype.get"
  | "graphprototype.update"
  | "hanode.get"
  | "healthmonitor.create"
  | "healthmonitor.delete"
  | "healthmonitor.get"
  | "healthmonitor.update"
  | "history.buckets"
  | "history.clear"
  | "history.gaps"
  | "history.get"
  | "history.push"
  | "host.create"
  | "host.delete"
  | "host.get"
  | "host.massadd"
  | "host.massremove"
  | "host.massupdate"
  | "host.states"
  | "host.summary"
  | "host.update"
  | "hostdashboard.get"
  | "hostgroup.create"
  | "hostgroup.delete"
  | "hostgroup.get"
  | "hostgroup.massadd"
  | "hostgroup.massremove"
  | "hostgroup.massupdate"
  | "hostgroup.propagate"
  | "hostgroup.states"
  | "hostgroup.update"
  | "hostinterface.create"
  | "hostinterface.delete"
  | "hostinterface.get"
  | "hostinterface.massadd"
  | "hostinterface.massremove"
  | "hostinterface.replacehostinterfaces"
  | "hostinterface.update"
  | "hostprototype.create"
  | "hostprototype.delete"
  | "hostprototype.get"
  | "hostprototype.update"
  | "housekeeping.get"
  | "housekeeping.update"
  | "httptest.create"
  | "httptest.delete"
  | "httptest.get"
  | "httptest.update"
  | "iconmap.create"
  | "iconmap.delete"
  | "iconmap.get"
  | "iconmap.update"
  | "image.create"
  | "image.delete"
  | "image.get"
  | "image.update"
  | "item.create"
  | "item.delete"
  | "item.get"
  | "item.test"
  | "item.update"
  | "itemprototype.create"
  | "itemprototype.delete"
  | "itemprototype.get"
  | "itemprototype.update"
  | "loadbalancer.export"
  | "loadbalancer.import"
  | "loadbalancer.importcompare"
  | "maintenance.create"
  | "maintenance.delete"
  | "maintenance.get"
  | "maintenance.update"
  | "map.create"
  | "map.delete"
  | "map.get"
  | "map.update"
  | "mediatype.create"
  | "mediatype.delete"
  | "mediatype.get"
  | "mediatype.test"
  | "mediatype.update"
  | "mfa.create"
  | "mfa.delete"
  | "mfa.get"
  | "mfa.update"
  | "module.get"
  | "oncall.create"
  | "oncall.delete"
  | "oncall.get"
  | "oncall.ical"
  | "oncall.override"
  | "oncall.revoke"
  | "oncall.shifts"
  | "oncall.update"
  | "pool.create"
  | "pool.delete"
  | "pool.get"
  | "pool.health"
  | "pool.update"
  | "poolgroup.create"
  | "poolgroup.delete"
  | "poolgroup.get"
  | "poolgroup.update"
  | "problem.counts"
  | "problem.get"
  | "problem.groups"
  | "proxy.create"
  | "proxy.delete"
  | "proxy.get"
  | "proxy.update"
  | "proxygroup.create"
  | "proxygroup.delete"
  | "proxygroup.get"
  | "proxygroup.update"
  | "queue.get"
  | "regexp.create"
  | "regexp.delete"
  | "regexp.get"
  | "regexp.update"
  | "report.create"
  | "report.delete"
  | "report.get"
  | "report.update"
  | "role.create"
  | "role.delete"
  | "role.get"
  | "role.update"
  | "script.create"
  | "script.delete"
  | "script.execute"
  | "script.get"
  | "script.getscriptsbyevents"
  | "script.getscriptsbyhosts"
  | "script.update"
  | "service.create"
  | "service.delete"
  | "service.get"
  | "service.update"
  | "settings.get"
  | "settings.update"
  | "sla.create"
  | "sla.delete"
  | "sla.get"
  | "sla.getsli"
  | "sla.update"
  | "task.create"
  | "task.get"
  | "template.create"
  | "template.delete"
  | "template.get"
  | "template.massadd"
  | "template.massremove"
  | "template.massupdate"
  | "template.update"
  | "templatedashboard.create"
  | "templatedashboard.delete"
  | "templatedashboard.get"
  | "templatedashboard.update"
  | "templategroup.create"
  | "templategroup.delete"
  | "templategroup.get"
  | "templategroup.massadd"
  | "templategroup.massremove"
  | "templategroup.massupdate"
  | "templategroup.propagate"
  | "templategroup.update"
  | "token.create"
  | "token.delete"
  | "token.generate"
  | "token.get"
  | "token.update"
  | "transaction.get"
  | "trend.get"
  | "trigger.create"
  | "trigger.delete"
  | "trigger.get"
  | "trigger.learnt"
  | "trigger.update"
  | "triggerprototype.create"
  | "triggerprototype.delete"
  | "triggerprototype.get"
  | "triggerprototype.update"
  | "user.checkAuthentication"
  | "user.confirm"
  | "user.confirmation"
  | "user.create"
  | "user.delete"
  | "user.get"
  | "user.login"
  | "user.logout"
  | "user.provision"
  | "user.replacetotp"
  | "user.resettotp"
  | "user.unblock"
  | "user.update"
  | "userdirectory.create"
  | "userdirectory.delete"
  | "userdirectory.get"
  | "userdirectory.test"
  | "userdirectory.update"
  | "usergroup.create"
  | "usergroup.delete"
  | "usergroup.get"
  | "usergroup.update"
  | "usermacro.create"
  | "usermacro.createglobal"
  | "usermacro.delete"
  | "usermacro.deleteglobal"
  | "usermacro.get"
  | "usermacro.update"
  | "usermacro.updateglobal"
  | "valuemap.create"
  | "valuemap.delete"
  | "valuemap.get"
  | "valuemap.update"
  | "vip.create"
  | "vip.delete"
  | "vip.get"
  | "vip.update"
  | "virtualservice.create"
  | "virtualservice.delete"
  | "virtualservice.get"
  | "virtualservice.purge"
  | "virtualservice.update";

/** A value of a field, and its name for people. */
export type Choice = readonly [value: string, label: string];

/** A type of items. */
export interface ItemTypeInfo {
  type: string;
  label: string;
  /** Type of the host interface that its items need; -1 any, 0 none. */
  interface: number;
  /** Its items have an update interval. */
  interval: boolean;
}

/** A parameter of a preprocessing step. */
export interface StepParam {
  label: string;
  placeholder?: string;
  multiline?: boolean;
  choices?: readonly Choice[];
  optional?: boolean;
}

/** A kind of preprocessing step. Parameters are joined by line breaks. */
export interface StepKind {
  type: string;
  label: string;
  group: string;
  params: readonly StepParam[];
  /** There is no choice of what happens when it fails. */
  neverFails?: boolean;
  /** Discovery rules can have it. */
  forRules?: boolean;
}

export const ITEM_TYPES: readonly ItemTypeInfo[] = [
  {"type":"0","label":"Agent","interface":1,"interval":true},
  {"type":"7","label":"Agent (active)","interface":0,"interval":true},
  {"type":"2","label":"Trapper","interface":0,"interval":false},
  {"type":"18","label":"Dependent item","interface":0,"interval":false},
  {"type":"15","label":"Calculated","interface":0,"interval":true},
  {"type":"5","label":"Internal","interface":0,"interval":true},
  {"type":"3","label":"Simple check","interface":-1,"interval":true},
  {"type":"19","label":"HTTP agent","interface":-1,"interval":true},
  {"type":"20","label":"SNMP agent","interface":2,"interval":true},
  {"type":"17","label":"SNMP trap","interface":2,"interval":false},
  {"type":"10","label":"External check","interface":-1,"interval":true},
  {"type":"11","label":"Database monitor","interface":0,"interval":true},
  {"type":"12","label":"IPMI agent","interface":3,"interval":true},
  {"type":"13","label":"SSH agent","interface":-1,"interval":true},
  {"type":"14","label":"Telnet agent","interface":-1,"interval":true},
  {"type":"16","label":"JMX agent","interface":4,"interval":true},
  {"type":"21","label":"Script","interface":0,"interval":true},
  {"type":"22","label":"Browser","interface":0,"interval":true},
] as const;

export const VALUE_TYPES: readonly Choice[] = [
  ["3","Number (unsigned)"],
  ["0","Number (float)"],
  ["1","Characters"],
  ["4","Text"],
  ["2","Log"],
  ["5","Binary"],
] as const;

export const SEVERITY_NAMES = [
  "Not classified",
  "Information",
  "Warning",
  "Average",
  "High",
  "Disaster",
] as const;

export const STEP_KINDS: readonly StepKind[] = [
  {"type":"5","label":"Regular expression","group":"Text","params":[{"label":"Pattern","placeholder":"([0-9]+)"},{"label":"Output","placeholder":"\\1"}],"forRules":true},
  {"type":"25","label":"Replace","group":"Text","params":[{"label":"Search"},{"label":"Replacement","optional":true}],"neverFails":true,"forRules":true},
  {"type":"4","label":"Trim","group":"Text","params":[{"label":"List of characters","placeholder":" \\n\\t"}],"neverFails":true},
  {"type":"2","label":"Right trim","group":"Text","params":[{"label":"List of characters","placeholder":" \\n\\t"}],"neverFails":true},
  {"type":"3","label":"Left trim","group":"Text","params":[{"label":"List of characters","placeholder":" \\n\\t"}],"neverFails":true},
  {"type":"11","label":"XML XPath","group":"Structured data","params":[{"label":"XPath","placeholder":"//disk/used"}],"forRules":true},
  {"type":"12","label":"JSONPath","group":"Structured data","params":[{"label":"Path","placeholder":"$.path.to.node"}],"forRules":true},
  {"type":"24","label":"CSV to JSON","group":"Structured data","params":[{"label":"Delimiter","placeholder":","},{"label":"Quotation","placeholder":"\""},{"label":"First row is the header","choices":[["1","Header row"],["0","No header row"]]}],"forRules":true},
  {"type":"27","label":"XML to JSON","group":"Structured data","params":[],"forRules":true},
  {"type":"28","label":"SNMP walk value","group":"SNMP","params":[{"label":"OID"},{"label":"Format","choices":[["0","Unchanged"],["1","UTF-8 from hex string"],["2","MAC from hex string"],["3","Integer from BITS"]]}],"forRules":true},
  {"type":"29","label":"SNMP walk to JSON","group":"SNMP","params":[{"label":"Field, OID, format: one per line","multiline":true}],"forRules":true},
  {"type":"30","label":"SNMP get value","group":"SNMP","params":[{"label":"Format","choices":[["1","UTF-8 from hex string"],["2","MAC from hex string"],["3","Integer from BITS"]]}],"forRules":true},
  {"type":"1","label":"Custom multiplier","group":"Arithmetic","params":[{"label":"Factor","placeholder":"8"}]},
  {"type":"9","label":"Simple change","group":"Change","params":[]},
  {"type":"10","label":"Change per second","group":"Change","params":[]},
  {"type":"6","label":"Boolean to decimal","group":"Numeral systems","params":[]},
  {"type":"7","label":"Octal to decimal","group":"Numeral systems","params":[]},
  {"type":"8","label":"Hexadecimal to decimal","group":"Numeral systems","params":[]},
  {"type":"21","label":"JavaScript","group":"Custom scripts","params":[{"label":"Script: body of function (value)","placeholder":"return value;","multiline":true}],"neverFails":true,"forRules":true},
  {"type":"13","label":"In range","group":"Validation","params":[{"label":"Minimum","optional":true},{"label":"Maximum","optional":true}]},
  {"type":"14","label":"Matches regular expression","group":"Validation","params":[{"label":"Pattern"}],"forRules":true},
  {"type":"15","label":"Does not match regular expression","group":"Validation","params":[{"label":"Pattern"}],"forRules":true},
  {"type":"16","label":"Check for error in JSON","group":"Validation","params":[{"label":"Path","placeholder":"$.error"}],"forRules":true},
  {"type":"17","label":"Check for error in XML","group":"Validation","params":[{"label":"XPath"}],"forRules":true},
  {"type":"18","label":"Check for error using regular expression","group":"Validation","params":[{"label":"Pattern"},{"label":"Output","placeholder":"\\1"}]},
  {"type":"26","label":"Check for not supported value","group":"Validation","params":[{"label":"Scope","choices":[["-1","Any error"],["0","Error matches"],["1","Error does not match"]]},{"label":"Pattern","optional":true}]},
  {"type":"19","label":"Discard unchanged","group":"Throttling","params":[],"neverFails":true},
  {"type":"20","label":"Discard unchanged with heartbeat","group":"Throttling","params":[{"label":"Heartbeat","placeholder":"1h"}],"neverFails":true,"forRules":true},
  {"type":"22","label":"Prometheus pattern","group":"Prometheus","params":[{"label":"Pattern","placeholder":"metric{label=\"value\"}"},{"label":"Result","choices":[["value","Value"],["label","Label"],["function","Function"]]},{"label":"Label or function","optional":true}]},
  {"type":"23","label":"Prometheus to JSON","group":"Prometheus","params":[{"label":"Pattern","optional":true}],"forRules":true},
] as const;

export const ON_FAIL: readonly Choice[] = [
  ["0","Original error"],
  ["1","Discard value"],
  ["2","Set value to"],
  ["3","Set error to"],
] as const;

export const AlertStatus = {
  NotSent: "0",
  Sent: "1",
  Failed: "2",
  New: "3",
  Withheld: "4",
} as const;

export const AlertType = {
  Message: "0",
  Command: "1",
} as const;

export const ConditionKind = {
  HostGroup: "0",
  Host: "1",
  Trigger: "2",
  EventName: "3",
  Severity: "4",
  TimePeriod: "6",
  Address: "7",
  ServiceType: "8",
  ServicePort: "9",
  DiscoveryState: "10",
  Uptime: "11",
  ReceivedValue: "12",
  Template: "13",
  Acknowledged: "14",
  Suppressed: "16",
  DiscoveryRule: "18",
  DiscoveryCheck: "19",
  Proxy: "20",
  DiscoveryObject: "21",
  AgentName: "22",
  InternalEvent: "23",
  AgentMetadata: "24",
  Tag: "25",
  TagValue: "26",
  Service: "27",
  ServiceName: "28",
} as const;

export const ConditionOperator = {
  Equals: "0",
  NotEquals: "1",
  Contains: "2",
  NotContains: "3",
  In: "4",
  AtLeast: "5",
  AtMost: "6",
  NotIn: "7",
  Matches: "8",
  NotMatches: "9",
  Yes: "10",
  No: "11",
} as const;

export const CorrelationMode = {
  All: "0",
  ByTag: "1",
} as const;

export const Discover = {
  Yes: "0",
  No: "1",
} as const;

export const DiscoveryCheckType = {
  Ssh: "0",
  Ldap: "1",
  Smtp: "2",
  Ftp: "3",
  Http: "4",
  Pop: "5",
  Nntp: "6",
  Imap: "7",
  Tcp: "8",
  Agent: "9",
  SnmpV1: "10",
  SnmpV2: "11",
  Icmp: "12",
  SnmpV3: "13",
  Https: "14",
  Telnet: "15",
} as const;

export const DiscoveryState = {
  Up: "0",
  Down: "1",
  Discovered: "2",
  Lost: "3",
} as const;

export const EmailProvider = {
  Smtp: "0",
  Gmail: "1",
  GmailRelay: "2",
  Office365: "3",
  Office365Relay: "4",
} as const;

export const EvalType = {
  AndOr: "0",
  And: "1",
  Or: "2",
  Formula: "3",
} as const;

export const EventSource = {
  Trigger: "0",
  Discovery: "1",
  Autoregistration: "2",
  Internal: "3",
  Service: "4",
} as const;

export const InterfaceType = {
  Agent: "1",
  Snmp: "2",
  Ipmi: "3",
  Jmx: "4",
} as const;

export const MacroOperator = {
  Matches: "8",
  NotMatches: "9",
  Exists: "12",
  NotExists: "13",
} as const;

export const MacroType = {
  Text: "0",
  Secret: "1",
  Vault: "2",
} as const;

export const MaintenanceType = {
  WithData: "0",
  WithoutData: "1",
} as const;

export const MapElementType = {
  Host: "0",
  Map: "1",
  Trigger: "2",
  HostGroup: "3",
  Image: "4",
} as const;

export const MapLabelType = {
  Label: "0",
  Address: "1",
  Name: "2",
  Status: "3",
  Nothing: "4",
  Custom: "5",
} as const;

export const MappingType = {
  Equal: "0",
  AtLeast: "1",
  AtMost: "2",
  InRange: "3",
  Regexp: "4",
  Default: "5",
} as const;

export const MediaTypeKind = {
  Email: "0",
  Script: "1",
  Sms: "2",
  Webhook: "4",
} as const;

export const MessageFormat = {
  Text: "0",
  Html: "1",
} as const;

export const OnFail = {
  Original: "0",
  Discard: "1",
  SetValue: "2",
  SetError: "3",
} as const;

export const OperationKind = {
  Message: "0",
  Script: "1",
  AddHost: "2",
  RemoveHost: "3",
  AddGroups: "4",
  RemoveGroups: "5",
  Link: "6",
  Unlink: "7",
  Enable: "8",
  Disable: "9",
  Inventory: "10",
  NotifyRecovered: "11",
  NotifyUpdated: "12",
  AddTags: "13",
  RemoveTags: "14",
} as const;

export const OperationMode = {
  Problem: "0",
  Recovery: "1",
  Update: "2",
} as const;

export const Origin = {
  Plain: "0",
  Rule: "1",
  Prototype: "2",
  Discovered: "4",
} as const;

export const PeriodType = {
  Once: "0",
  Daily: "2",
  Weekly: "3",
  Monthly: "4",
} as const;

export const ProblemMode = {
  Single: "0",
  Multiple: "1",
} as const;

export const RecoveryMode = {
  Expression: "0",
  RecoveryExpression: "1",
  None: "2",
} as const;

export const SmtpAuthentication = {
  None: "0",
  Password: "1",
} as const;

export const SmtpSecurity = {
  None: "0",
  StartTls: "1",
  Tls: "2",
} as const;

export const State = {
  Normal: "0",
  NotSupported: "1",
} as const;

export const Status = {
  Enabled: "0",
  Disabled: "1",
} as const;

export const ValueType = {
  Float: "0",
  Char: "1",
  Log: "2",
  Unsigned: "3",
  Text: "4",
  Binary: "5",
} as const;

export const Withholding = {
  Grouped: "1",
  Inhibited: "2",
  Storm: "3",
  Transient: "4",
  Flapping: "5",
} as const;

export const ItemType = {
  Agent: "0",
  AgentActive: "7",
  Trapper: "2",
  Dependent: "18",
  Calculated: "15",
  Internal: "5",
  Simple: "3",
  HttpAgent: "19",
  Snmp: "20",
  SnmpTrap: "17",
  External: "10",
  Database: "11",
  Ipmi: "12",
  Ssh: "13",
  Telnet: "14",
  Jmx: "16",
  Script: "21",
  Browser: "22",
} as const;
