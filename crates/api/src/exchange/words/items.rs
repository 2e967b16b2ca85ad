//! Items, discovery rules and triggers.

use objects::{
    CorrelationMode, Discover, EvalType, ItemType, MacroOperator, OnFail, ProblemMode,
    RecoveryMode, Severity, Status, StepKind, ValueType,
};

use super::{INVENTORY_MODE, Word, YES, always, text, text_or, word};

const INVENTORY: &[(&str, &str)] = &[
    ("NONE", "0"),
    ("TYPE", "1"),
    ("TYPE_FULL", "2"),
    ("NAME", "3"),
    ("ALIAS", "4"),
    ("OS", "5"),
    ("OS_FULL", "6"),
    ("OS_SHORT", "7"),
    ("SERIALNO_A", "8"),
    ("SERIALNO_B", "9"),
    ("TAG", "10"),
    ("ASSET_TAG", "11"),
    ("MACADDRESS_A", "12"),
    ("MACADDRESS_B", "13"),
    ("HARDWARE", "14"),
    ("HARDWARE_FULL", "15"),
    ("SOFTWARE", "16"),
    ("SOFTWARE_FULL", "17"),
    ("SOFTWARE_APP_A", "18"),
    ("SOFTWARE_APP_B", "19"),
    ("SOFTWARE_APP_C", "20"),
    ("SOFTWARE_APP_D", "21"),
    ("SOFTWARE_APP_E", "22"),
    ("CONTACT", "23"),
    ("LOCATION", "24"),
    ("LOCATION_LAT", "25"),
    ("LOCATION_LON", "26"),
    ("NOTES", "27"),
    ("CHASSIS", "28"),
    ("MODEL", "29"),
    ("HW_ARCH", "30"),
    ("VENDOR", "31"),
    ("CONTRACT_NUMBER", "32"),
    ("INSTALLER_NAME", "33"),
    ("DEPLOYMENT_STATUS", "34"),
    ("URL_A", "35"),
    ("URL_B", "36"),
    ("URL_C", "37"),
    ("HOST_NETWORKS", "38"),
    ("HOST_NETMASK", "39"),
    ("HOST_ROUTER", "40"),
    ("OOB_IP", "41"),
    ("OOB_NETMASK", "42"),
    ("OOB_ROUTER", "43"),
    ("DATE_HW_PURCHASE", "44"),
    ("DATE_HW_INSTALL", "45"),
    ("DATE_HW_EXPIRY", "46"),
    ("DATE_HW_DECOMM", "47"),
    ("SITE_ADDRESS_A", "48"),
    ("SITE_ADDRESS_B", "49"),
    ("SITE_ADDRESS_C", "50"),
    ("SITE_CITY", "51"),
    ("SITE_STATE", "52"),
    ("SITE_COUNTRY", "53"),
    ("SITE_ZIP", "54"),
    ("SITE_RACK", "55"),
    ("SITE_NOTES", "56"),
    ("POC_1_NAME", "57"),
    ("POC_1_EMAIL", "58"),
    ("POC_1_PHONE_A", "59"),
    ("POC_1_PHONE_B", "60"),
    ("POC_1_CELL", "61"),
    ("POC_1_SCREEN", "62"),
    ("POC_1_NOTES", "63"),
    ("POC_2_NAME", "64"),
    ("POC_2_EMAIL", "65"),
    ("POC_2_PHONE_A", "66"),
    ("POC_2_PHONE_B", "67"),
    ("POC_2_CELL", "68"),
    ("POC_2_SCREEN", "69"),
    ("POC_2_NOTES", "70"),
];

/// Fields of items, prototypes and discovery rules alike.
pub(in crate::exchange) const ITEM: &[Word] = &[
    text("uuid", "uuid"),
    always("name", "name"),
    word("type", "type", &ItemType::WORDS, "0"),
    text("snmp_oid", "snmp_oid"),
    always("key", "key_"),
    text_or("delay", "delay", "1m"),
    word("status", "status", Status::WORDS, "0"),
    text("allowed_hosts", "trapper_hosts"),
    text("params", "params"),
    text("ipmi_sensor", "ipmi_sensor"),
    word(
        "authtype",
        "authtype",
        &[
            ("NONE", "0"),
            ("BASIC", "1"),
            ("NTLM", "2"),
            ("KERBEROS", "3"),
            ("DIGEST", "4"),
            ("PASSWORD", "0"),
            ("PUBLIC_KEY", "1"),
        ],
        "0",
    ),
    text("username", "username"),
    text("password", "password"),
    text("publickey", "publickey"),
    text("privatekey", "privatekey"),
    text("description", "description"),
    text("jmx_endpoint", "jmx_endpoint"),
    text("timeout", "timeout"),
    text("url", "url"),
    text("posts", "posts"),
    text_or("status_codes", "status_codes", "200"),
    word("follow_redirects", "follow_redirects", YES, "1"),
    word("post_type", "post_type", &[("RAW", "0"), ("JSON", "2"), ("XML", "3")], "0"),
    text("http_proxy", "http_proxy"),
    word("retrieve_mode", "retrieve_mode", &[("BODY", "0"), ("HEADERS", "1"), ("BOTH", "2")], "0"),
    word(
        "request_method",
        "request_method",
        &[("GET", "0"), ("POST", "1"), ("PUT", "2"), ("HEAD", "3")],
        "0",
    ),
    word("output_format", "output_format", &[("RAW", "0"), ("JSON", "1")], "0"),
    word("allow_traps", "allow_traps", YES, "0"),
    text("ssl_cert_file", "ssl_cert_file"),
    text("ssl_key_file", "ssl_key_file"),
    text("ssl_key_password", "ssl_key_password"),
    word("verify_peer", "verify_peer", YES, "0"),
    word("verify_host", "verify_host", YES, "0"),
];

/// Fields that items and prototypes have beside [`ITEM`].
pub(in crate::exchange) const VALUES: &[Word] = &[
    text_or("history", "history", "31d"),
    text_or("trends", "trends", "365d"),
    word("value_type", "value_type", ValueType::WORDS, "3"),
    text("units", "units"),
    word("inventory_link", "inventory_link", INVENTORY, "0"),
    text("logtimefmt", "logtimefmt"),
];

pub(in crate::exchange) const DISCOVERED: &[Word] =
    &[word("discover", "discover", Discover::WORDS, "0")];

/// Fields that discovery rules have beside [`ITEM`].
pub(in crate::exchange) const RULE: &[Word] = &[
    word(
        "lifetime_type",
        "lifetime_type",
        &[("DELETE_AFTER", "0"), ("DELETE_NEVER", "1"), ("DELETE_IMMEDIATELY", "2")],
        "0",
    ),
    text_or("lifetime", "lifetime", "7d"),
    word(
        "enabled_lifetime_type",
        "enabled_lifetime_type",
        &[("DISABLE_AFTER", "0"), ("DISABLE_NEVER", "1"), ("DISABLE_IMMEDIATELY", "2")],
        "2",
    ),
    text_or("enabled_lifetime", "enabled_lifetime", "0"),
];

pub(in crate::exchange) const STEP: &[Word] = &[
    Word { export: "type", api: "type", words: StepKind::WORDS, default: None },
    word("error_handler", "error_handler", OnFail::WORDS, "0"),
    text("error_handler_params", "error_handler_params"),
];

pub(in crate::exchange) const FILTER: &[Word] =
    &[word("evaltype", "evaltype", EvalType::WORDS, "0"), text("formula", "formula")];

pub(in crate::exchange) const CONDITION: &[Word] = &[
    always("macro", "macro"),
    text("value", "value"),
    word("operator", "operator", MacroOperator::WORDS, "8"),
    text("formulaid", "formulaid"),
];

pub(in crate::exchange) const MACRO_PATH: &[Word] =
    &[always("lld_macro", "lld_macro"), always("path", "path")];

pub(in crate::exchange) const OVERRIDE: &[Word] = &[
    always("name", "name"),
    always("step", "step"),
    word("stop", "stop", &[("NO_STOP", "0"), ("STOP", "1")], "0"),
];

pub(in crate::exchange) const OPERATION: &[Word] = &[
    Word {
        export: "operationobject",
        api: "operationobject",
        words: &[
            ("ITEM_PROTOTYPE", "0"),
            ("TRIGGER_PROTOTYPE", "1"),
            ("GRAPH_PROTOTYPE", "2"),
            ("HOST_PROTOTYPE", "3"),
        ],
        default: None,
    },
    word(
        "operator",
        "operator",
        &[
            ("EQUAL", "0"),
            ("NOT_EQUAL", "1"),
            ("LIKE", "2"),
            ("NOT_LIKE", "3"),
            ("REGEXP", "8"),
            ("NOT_REGEXP", "9"),
        ],
        "0",
    ),
    text("value", "value"),
];

/// What an override's operation sets: its name in an export, the API's object and member, words.
pub(in crate::exchange) const OPERATION_SETS: &[(&str, &str, Word)] = &[
    (
        "status",
        "opstatus",
        Word { export: "status", api: "status", words: Status::WORDS, default: None },
    ),
    (
        "discover",
        "opdiscover",
        Word { export: "discover", api: "discover", words: Discover::WORDS, default: None },
    ),
    ("delay", "opperiod", always("delay", "delay")),
    ("history", "ophistory", always("history", "history")),
    ("trends", "optrends", always("trends", "trends")),
    (
        "severity",
        "opseverity",
        Word { export: "severity", api: "severity", words: Severity::WORDS, default: None },
    ),
    (
        "inventory_mode",
        "opinventory",
        Word {
            export: "inventory_mode",
            api: "inventory_mode",
            words: INVENTORY_MODE.words,
            default: None,
        },
    ),
];

pub(in crate::exchange) const TRIGGER: &[Word] = &[
    text("uuid", "uuid"),
    always("expression", "expression"),
    word("recovery_mode", "recovery_mode", RecoveryMode::WORDS, "0"),
    text("recovery_expression", "recovery_expression"),
    word("correlation_mode", "correlation_mode", CorrelationMode::WORDS, "0"),
    text("correlation_tag", "correlation_tag"),
    always("name", "description"),
    text("event_name", "event_name"),
    text("opdata", "opdata"),
    text("url_name", "url_name"),
    text("url", "url"),
    word("status", "status", Status::WORDS, "0"),
    word("priority", "priority", Severity::WORDS, "0"),
    text("description", "comments"),
    word("type", "type", ProblemMode::WORDS, "0"),
    word("manual_close", "manual_close", YES, "0"),
];
