//! Field tables of items, item prototypes and discovery rules: one database table, three objects.

use const_format::formatcp;
use objects::ItemType;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL, FLAGS_RULE};

use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Json, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

/// Which of the three objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Item,
    /// `itemprototype`
    Prototype,
    /// `discoveryrule`
    Rule,
}

impl Kind {
    /// The API object.
    pub(crate) fn object(self) -> &'static Object {
        match self {
            Self::Item => &ITEM,
            Self::Prototype => &PROTOTYPE,
            Self::Rule => &RULE,
        }
    }

    /// `flags` of what people create.
    pub(crate) fn flags(self) -> i64 {
        match self {
            Self::Item => 0,
            Self::Rule => 1,
            Self::Prototype => 2,
        }
    }

    /// Condition on `flags` of what the object's methods see.
    pub(crate) fn condition(self) -> &'static str {
        match self {
            Self::Item => formatcp!("t.flags IN {FLAGS_REAL}"),
            Self::Rule => formatcp!("t.flags = {FLAGS_RULE}"),
            Self::Prototype => formatcp!("t.flags = {FLAGS_PROTOTYPE}"),
        }
    }
}

const UUID: Field = field("uuid", Text(32), Optional, "Universal id; templates only.");
const ITEMID: Field = field("itemid", Id, ReadOnly, "Id.");
const HOSTID: Field = field("hostid", Id, Required, "Host or template.");
const RULEID: Field = field("ruleid", Nested, Optional, "Discovery rule of the prototype.");
const NAME: Field = field("name", Name(255), Required, "Name.");
const KEY: Field = field("key_", Name(2048), Required, "Key.");
const TYPE: Field = field("type", OneOf(&ItemType::NUMBERS), Required, "How it gets its values.");
const VALUE_TYPE: Field = field(
    "value_type",
    OneOf(&[0, 1, 2, 3, 4, 5]),
    Required,
    "Value type; 5 (binary) of dependent items alone.",
);
const UNITS: Field = field("units", Text(255), Optional, "Units of numbers.");
const HISTORY: Field = field("history", Text(255), Optional, "How long values are kept.");
const TRENDS: Field = field("trends", Text(255), Optional, "How long trends are kept.");
const VALUEMAP: Field = field("valuemapid", Id, Optional, "Value map.");
const INVENTORY: Field =
    field("inventory_link", Int(0, 70), Optional, "Inventory field that the value fills.");
const LOGTIMEFMT: Field = field("logtimefmt", Text(64), Optional, "Time format of log entries.");
const DESCRIPTION: Field = field("description", Text(65_535), Optional, "Description.");
const STATUS: Field = field("status", OneOf(&[0, 1]), Optional, "0 on, 1 off.");
const DISCOVER: Field = field("discover", OneOf(&[0, 1]), Optional, "0 is discovered, 1 is not.");

const DELAY: Field = field("delay", Text(1024), Optional, "Update interval.");
const INTERFACE: Field = field("interfaceid", Id, Optional, "Interface to ask.");
const TRAPPER_HOSTS: Field = field("trapper_hosts", Text(255), Optional, "Who may send values.");
const TIMEOUT: Field = field("timeout", Text(255), Optional, "Own timeout; empty = the default.");
const MASTER: Field = field("master_itemid", Id, Optional, "Master of a dependent item.");
const AUTHTYPE: Field = field("authtype", OneOf(&[0, 1, 2, 3, 4]), Optional, "Authentication.");
const USERNAME: Field = field("username", Text(255), Optional, "User.");
const PASSWORD: Field = field("password", Text(255), Optional, "Password.");
const PUBLICKEY: Field = field("publickey", Text(64), Optional, "File of the public key.");
const PRIVATEKEY: Field = field("privatekey", Text(64), Optional, "File of the private key.");
const PARAMS: Field = field("params", Text(65_535), Optional, "Formula, script or query.");
const SNMP_OID: Field = field("snmp_oid", Text(512), Optional, "SNMP object.");
const SENSOR: Field = field("ipmi_sensor", Text(128), Optional, "IPMI sensor.");
const JMX: Field = field("jmx_endpoint", Text(255), Optional, "JMX endpoint.");
const URL: Field = field("url", Text(2048), Optional, "URL.");
const QUERY: Field = field("query_fields", Json, Optional, "Query fields of the URL.");
const HEADERS: Field = field("headers", Json, Optional, "HTTP headers.");
const PARAMETERS: Field = field("parameters", Json, Optional, "Parameters of the script.");
const POSTS: Field = field("posts", Text(65_535), Optional, "HTTP body.");
const STATUS_CODES: Field = field("status_codes", Text(255), Optional, "Accepted HTTP codes.");
const REDIRECTS: Field = field("follow_redirects", OneOf(&[0, 1]), Optional, "Follow redirects.");
const POST_TYPE: Field = field("post_type", OneOf(&[0, 2, 3]), Optional, "0 raw, 2 JSON, 3 XML.");
const PROXY: Field = field("http_proxy", Text(255), Optional, "HTTP proxy.");
const RETRIEVE: Field =
    field("retrieve_mode", OneOf(&[0, 1, 2]), Optional, "0 body, 1 headers, 2 both.");
const METHOD: Field =
    field("request_method", OneOf(&[0, 1, 2, 3]), Optional, "0 GET, 1 POST, 2 PUT, 3 HEAD.");
const FORMAT: Field = field("output_format", OneOf(&[0, 1]), Optional, "0 raw, 1 JSON.");
const CERT: Field = field("ssl_cert_file", Text(255), Optional, "Client certificate.");
const KEY_FILE: Field = field("ssl_key_file", Text(255), Optional, "Key of the certificate.");
const KEY_PASSWORD: Field = field("ssl_key_password", Text(64), Optional, "Password of the key.");
const PEER: Field = field("verify_peer", OneOf(&[0, 1]), Optional, "Check the certificate.");
const HOST: Field = field("verify_host", OneOf(&[0, 1]), Optional, "Check the host's name.");
const TRAPS: Field = field("allow_traps", OneOf(&[0, 1]), Optional, "Accept sent values too.");

const TAGS: Field = field("tags", Nested, Optional, "Tags.");
const PREPROCESSING: Field = field("preprocessing", Nested, Optional, "Preprocessing steps.");

const FLAGS: Field = field("flags", OneOf(&[0, 1, 2, 4]), ReadOnly, "0 plain, 4 discovered.");
const TEMPLATEID: Field = field("templateid", Id, ReadOnly, "Parent on the template.");
const FORMULA: Field = field("formula", Text(0), ReadOnly, "Always empty.");
const EVALTYPE: Field = field("evaltype", Int(0, 0), ReadOnly, "Always 0.");

const LIFETIME_TYPE: Field =
    field("lifetime_type", OneOf(&[0, 1, 2]), Optional, "0 delete later, 1 never, 2 at once.");
const LIFETIME: Field = field("lifetime", Text(255), Optional, "Lost objects are deleted then.");
const ENABLED_TYPE: Field = field(
    "enabled_lifetime_type",
    OneOf(&[0, 1, 2]),
    Optional,
    "0 switch off later, 1 never, 2 at once.",
);
const ENABLED: Field =
    field("enabled_lifetime", Text(255), Optional, "Lost objects are switched off then.");
const FILTER: Field = field("filter", Nested, Optional, "Which rows of the data count.");
const PATHS: Field = field("lld_macro_paths", Nested, Optional, "JSONPaths of LLD macros.");
const OVERRIDES: Field = field("overrides", Nested, Optional, "What is made otherwise.");

const fn read_only(of: Field) -> Field {
    Field { access: ReadOnly, ..of }
}

/// Items.
pub(crate) static ITEM: Object = Object {
    name: "item",
    table: SOURCE,
    key: "itemid",
    keys: "itemids",
    fields: &[
        ITEMID,
        UUID,
        HOSTID,
        NAME,
        TYPE,
        KEY,
        VALUE_TYPE,
        UNITS,
        HISTORY,
        TRENDS,
        VALUEMAP,
        INVENTORY,
        LOGTIMEFMT,
        DESCRIPTION,
        STATUS,
        TAGS,
        PREPROCESSING,
        INTERFACE,
        MASTER,
        AUTHTYPE,
        USERNAME,
        PASSWORD,
        PUBLICKEY,
        PRIVATEKEY,
        PARAMS,
        SNMP_OID,
        SENSOR,
        JMX,
        URL,
        QUERY,
        METHOD,
        POST_TYPE,
        POSTS,
        HEADERS,
        STATUS_CODES,
        REDIRECTS,
        RETRIEVE,
        FORMAT,
        PROXY,
        PEER,
        HOST,
        CERT,
        KEY_FILE,
        KEY_PASSWORD,
        PARAMETERS,
        TIMEOUT,
        DELAY,
        TRAPS,
        TRAPPER_HOSTS,
        FLAGS,
        TEMPLATEID,
        FORMULA,
        EVALTYPE,
        read_only(LIFETIME_TYPE),
        read_only(LIFETIME),
        read_only(ENABLED_TYPE),
        read_only(ENABLED),
    ],
    strict: false,
    sort: SORT,
};

/// Item prototypes.
pub(crate) static PROTOTYPE: Object = Object {
    name: "itemprototype",
    table: SOURCE,
    key: "itemid",
    keys: "itemids",
    fields: &[
        ITEMID,
        UUID,
        HOSTID,
        RULEID,
        NAME,
        TYPE,
        KEY,
        VALUE_TYPE,
        UNITS,
        HISTORY,
        TRENDS,
        VALUEMAP,
        read_only(INVENTORY),
        LOGTIMEFMT,
        DESCRIPTION,
        STATUS,
        DISCOVER,
        TAGS,
        PREPROCESSING,
        INTERFACE,
        MASTER,
        AUTHTYPE,
        USERNAME,
        PASSWORD,
        PUBLICKEY,
        PRIVATEKEY,
        PARAMS,
        SNMP_OID,
        SENSOR,
        JMX,
        URL,
        QUERY,
        METHOD,
        POST_TYPE,
        POSTS,
        HEADERS,
        STATUS_CODES,
        REDIRECTS,
        RETRIEVE,
        FORMAT,
        PROXY,
        PEER,
        HOST,
        CERT,
        KEY_FILE,
        KEY_PASSWORD,
        PARAMETERS,
        TIMEOUT,
        DELAY,
        TRAPS,
        TRAPPER_HOSTS,
        FLAGS,
        TEMPLATEID,
        FORMULA,
        EVALTYPE,
        read_only(LIFETIME_TYPE),
        read_only(LIFETIME),
        read_only(ENABLED_TYPE),
        read_only(ENABLED),
    ],
    strict: false,
    sort: SORT,
};

/// Discovery rules.
pub(crate) static RULE: Object = Object {
    name: "discoveryrule",
    table: SOURCE,
    key: "itemid",
    keys: "itemids",
    fields: &[
        ITEMID,
        UUID,
        HOSTID,
        NAME,
        TYPE,
        KEY,
        read_only(VALUE_TYPE),
        read_only(UNITS),
        read_only(HISTORY),
        read_only(TRENDS),
        read_only(VALUEMAP),
        read_only(INVENTORY),
        read_only(LOGTIMEFMT),
        DESCRIPTION,
        STATUS,
        read_only(DISCOVER),
        PREPROCESSING,
        LIFETIME_TYPE,
        LIFETIME,
        ENABLED_TYPE,
        ENABLED,
        FILTER,
        PATHS,
        OVERRIDES,
        INTERFACE,
        MASTER,
        AUTHTYPE,
        USERNAME,
        PASSWORD,
        PUBLICKEY,
        PRIVATEKEY,
        PARAMS,
        SNMP_OID,
        SENSOR,
        JMX,
        URL,
        QUERY,
        METHOD,
        POST_TYPE,
        POSTS,
        HEADERS,
        STATUS_CODES,
        REDIRECTS,
        RETRIEVE,
        PROXY,
        PEER,
        HOST,
        CERT,
        KEY_FILE,
        KEY_PASSWORD,
        PARAMETERS,
        TIMEOUT,
        DELAY,
        TRAPS,
        TRAPPER_HOSTS,
        FLAGS,
        TEMPLATEID,
    ],
    strict: false,
    sort: SORT,
};

/// Two members are constants, which clients read all the same.
const SOURCE: &str = "(SELECT i.*, '' AS formula, 0 AS evaltype FROM items i)";

const SORT: &[&str] = &["itemid", "name", "key_", "delay", "history", "trends", "type", "status"];
