//! Groups, templates, hosts and what hangs on them.

use objects::{
    Discover, InterfaceType, InventoryMode, MacroType, MappingType, MonitoredBy, Status,
};

use super::{Word, YES, always, text, text_or, word};

pub(in crate::exchange) const GROUP: &[Word] = &[text("uuid", "uuid"), always("name", "name")];

pub(in crate::exchange) const TEMPLATE: &[Word] = &[
    text("uuid", "uuid"),
    always("template", "host"),
    always("name", "name"),
    text("description", "description"),
];

pub(in crate::exchange) const HOST: &[Word] = &[
    always("host", "host"),
    always("name", "name"),
    text("description", "description"),
    word("monitored_by", "monitored_by", MonitoredBy::WORDS, "0"),
    word("status", "status", Status::WORDS, "0"),
    word(
        "ipmi_authtype",
        "ipmi_authtype",
        &[
            ("DEFAULT", "-1"),
            ("NONE", "0"),
            ("MD2", "1"),
            ("MD5", "2"),
            ("STRAIGHT", "4"),
            ("OEM", "5"),
            ("RMCP_PLUS", "6"),
        ],
        "-1",
    ),
    word(
        "ipmi_privilege",
        "ipmi_privilege",
        &[("CALLBACK", "1"), ("USER", "2"), ("OPERATOR", "3"), ("ADMIN", "4"), ("OEM", "5")],
        "2",
    ),
    text("ipmi_username", "ipmi_username"),
    text("ipmi_password", "ipmi_password"),
];

/// Host prototypes; what the inventory mode is when left out differs between templates and hosts.
pub(in crate::exchange) const HOST_PROTOTYPE: &[Word] = &[
    text("uuid", "uuid"),
    always("host", "host"),
    always("name", "name"),
    word("status", "status", Status::WORDS, "0"),
    word("discover", "discover", Discover::WORDS, "0"),
    word("custom_interfaces", "custom_interfaces", YES, "0"),
];

pub(in crate::exchange) const INVENTORY_MODE: Word =
    word("inventory_mode", "inventory_mode", InventoryMode::WORDS, "0");

pub(in crate::exchange) const INTERFACE: &[Word] = &[
    word("default", "main", YES, "1"),
    word("type", "type", InterfaceType::WORDS, "1"),
    word("useip", "useip", YES, "1"),
    text_or("ip", "ip", "127.0.0.1"),
    text("dns", "dns"),
    text_or("port", "port", "10050"),
];

pub(in crate::exchange) const SNMP_DETAILS: &[Word] = &[
    word("version", "version", &[("SNMPV1", "1"), ("SNMPV2", "2"), ("SNMPV3", "3")], "2"),
    text("community", "community"),
    text_or("max_repetitions", "max_repetitions", "10"),
    text("contextname", "contextname"),
    text("securityname", "securityname"),
    word(
        "securitylevel",
        "securitylevel",
        &[("NOAUTHNOPRIV", "0"), ("AUTHNOPRIV", "1"), ("AUTHPRIV", "2")],
        "0",
    ),
    word(
        "authprotocol",
        "authprotocol",
        &[
            ("MD5", "0"),
            ("SHA1", "1"),
            ("SHA224", "2"),
            ("SHA256", "3"),
            ("SHA384", "4"),
            ("SHA512", "5"),
        ],
        "0",
    ),
    text("authpassphrase", "authpassphrase"),
    word(
        "privprotocol",
        "privprotocol",
        &[
            ("DES", "0"),
            ("AES128", "1"),
            ("AES192", "2"),
            ("AES256", "3"),
            ("AES192C", "4"),
            ("AES256C", "5"),
        ],
        "0",
    ),
    text("privpassphrase", "privpassphrase"),
    word("bulk", "bulk", YES, "1"),
];

pub(in crate::exchange) const MACRO: &[Word] = &[
    always("macro", "macro"),
    word("type", "type", MacroType::WORDS, "0"),
    text("value", "value"),
    text("description", "description"),
];

pub(in crate::exchange) const TAG: &[Word] = &[always("tag", "tag"), text("value", "value")];

pub(in crate::exchange) const MAPPING: &[Word] = &[
    word("type", "type", MappingType::WORDS, "0"),
    text("value", "value"),
    always("newvalue", "newvalue"),
];
