//! Network discovery: rules and what they found, agents that announced themselves, and actions with
//! what they do to hosts.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, state, table, text, text_or};

tables! { TABLES:
    DRULES = table(
        "drules",
        &["druleid"],
        Reload::Discovery,
        &[
            id("druleid"),
            id("proxyid"),
            text("name"),
            text("iprange"),
            text_or("delay", "1h"),
            int("status", "0"),
            int("concurrency_max", "0"),
            state(text("error")),
        ],
        &[&["name"]],
    );
    DCHECKS = table("dchecks", &["dcheckid"], Reload::Discovery, DCHECKS_COLUMNS, &[&["druleid"]]);
    DHOSTS = table(
        "dhosts",
        &["dhostid"],
        Reload::Nothing,
        &[
            id("dhostid"),
            owned("druleid", "drules"),
            int("status", "0"),
            int("lastup", "0"),
            int("lastdown", "0"),
        ],
        &[&["druleid"]],
    )
    .unrecorded();
    DSERVICES = table(
        "dservices",
        &["dserviceid"],
        Reload::Nothing,
        &[
            id("dserviceid"),
            owned("dhostid", "dhosts"),
            text("value"),
            int("port", "0"),
            int("status", "0"),
            int("lastup", "0"),
            int("lastdown", "0"),
            owned("dcheckid", "dchecks"),
            text("ip"),
            text("dns"),
        ],
        &[&["dhostid"], &["dcheckid", "ip", "port"], &["ip"]],
    )
    .unrecorded();
    AUTOREG_HOSTS = table(
        "autoreg_hosts",
        &["autoreg_hostid"],
        Reload::Nothing,
        &[
            id("autoreg_hostid"),
            text("host"),
            text("host_metadata"),
            text("listen_ip"),
            text("listen_dns"),
            int("listen_port", "0"),
            int("flags", "0"),
            int("tls_accepted", "1"),
        ],
        &[&["host"]],
    )
    .unrecorded();
    ACTIONS = table(
        "actions",
        &["actionid"],
        Reload::Discovery,
        &[
            id("actionid"),
            text("name"),
            int("eventsource", "0"),
            int("status", "0"),
            text_or("esc_period", "1h"),
            int("pause_suppressed", "1"),
            int("notify_if_canceled", "1"),
            int("pause_symptoms", "1"),
            int("evaltype", "0"),
            text("formula"),
            // JSON; empty = messages are not grouped.
            text("grouping"),
            // JSON; empty = none.
            text("inhibition"),
            text("calming"),
        ],
        &[&["name"], &["eventsource"]],
    );
    /// In the order of their letters.
    ACTION_CONDITIONS = table(
        "action_conditions",
        &["actionid", "sortorder"],
        Reload::Discovery,
        &[
            owned("actionid", "actions"),
            int("sortorder", "0"),
            int("conditiontype", "0"),
            int("operator", "0"),
            text("value"),
            text("value2"),
            text("formulaid"),
        ],
        &[],
    );
    OPERATIONS = table(
        "operations",
        &["operationid"],
        Reload::Discovery,
        &[
            id("operationid"),
            owned("actionid", "actions"),
            int("operationtype", "0"),
            int("inventory_mode", "0"),
            text_or("esc_period", "0"),
            int("esc_step_from", "1"),
            int("esc_step_to", "1"),
            int("evaltype", "0"),
            // The operation mode: 0 problem, 1 recovery, 2 update.
            int("recovery", "0"),
        ],
        &[&["actionid"]],
    );
    OPERATION_GROUPS = table(
        "operation_groups",
        &["operationid", "groupid"],
        Reload::Discovery,
        &[owned("operationid", "operations"), owned("groupid", "groups_")],
        &[&["groupid"]],
    );
    /// Templates share their id space with hosts; who deletes one deletes its rows here.
    OPERATION_TEMPLATES = table(
        "operation_templates",
        &["operationid", "templateid"],
        Reload::Discovery,
        &[owned("operationid", "operations"), id("templateid")],
        &[&["templateid"]],
    );
    OPERATION_TAGS = table(
        "operation_tags",
        &["operationid", "sortorder"],
        Reload::Discovery,
        &[owned("operationid", "operations"), int("sortorder", "0"), text("tag"), text("value")],
        &[],
    );
}

const DCHECKS_COLUMNS: &[Column] = &[
    id("dcheckid"),
    owned("druleid", "drules"),
    int("type", "0"),
    text("key_"),
    text("snmp_community"),
    text_or("ports", "0"),
    text("snmpv3_securityname"),
    int("snmpv3_securitylevel", "0"),
    text("snmpv3_authpassphrase"),
    text("snmpv3_privpassphrase"),
    int("uniq", "0"),
    int("snmpv3_authprotocol", "0"),
    int("snmpv3_privprotocol", "0"),
    text("snmpv3_contextname"),
    int("host_source", "1"),
    int("name_source", "0"),
    int("allow_redirect", "0"),
];
