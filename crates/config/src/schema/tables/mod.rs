//! Every table of the database. This file describes the tables of hosts, items and triggers; the others
//! describe people, maintenance, network discovery, and the state.

mod found;
mod maintenance;
mod people;
mod state;

use super::{Column, Kind, Table};

pub(super) const fn id(name: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: None }
}

pub(super) const fn int(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Int, default, owner: None }
}

pub(super) const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, default: "", owner: None }
}

pub(super) const fn text_or(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Text, default, owner: None }
}

pub(super) const fn owned(name: &'static str, owner: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: Some(owner) }
}

pub(super) const fn table(
    name: &'static str,
    key: &'static [&'static str],
    columns: &'static [Column],
    indexes: &'static [&'static [&'static str]],
) -> Table {
    Table { name, key, columns, indexes }
}

/// All tables, owners before what they own.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    configuration_tables().chain(state_tables())
}

/// The tables that users change.
pub(crate) fn configuration_tables() -> impl Iterator<Item = &'static Table> {
    [CONFIGURATION, people::TABLES, maintenance::TABLES, found::TABLES].into_iter().flatten()
}

/// The tables that the server itself changes, see [`crate::Config::write_state`].
pub(crate) fn state_tables() -> impl Iterator<Item = &'static Table> {
    state::TABLES.iter()
}

const CONFIGURATION: &[Table] = &[
    // ---- the database itself
    table("ids", &["name"], &[text("name"), id("next")], &[]),
    table("settings", &["name"], &[text("name"), text("value")], &[]),
    table(
        "regexps",
        &["regexpid"],
        &[id("regexpid"), text("name"), text("test_string")],
        &[&["name"]],
    ),
    table(
        "regexp_expressions",
        &["regexpid", "position"],
        &[
            owned("regexpid", "regexps"),
            int("position", "0"),
            text("expression"),
            int("expression_type", "0"),
            text_or("exp_delimiter", ","),
            int("case_sensitive", "0"),
        ],
        &[],
    ),
    // ---- groups; `type` 0 host group, 1 template group: one id space
    table(
        "groups_",
        &["groupid"],
        &[id("groupid"), text("name"), int("type", "0"), int("flags", "0"), text("uuid")],
        &[&["type", "name"]],
    ),
    // ---- hosts and templates; `kind` 0 host, 1 template, 2 host prototype: one id space.
    // A prototype's rule is the `parent_itemid` of its row in `host_discovery`.
    table("hosts", &["hostid"], HOSTS, &[&["host"], &["name"], &["kind"]]),
    table(
        "host_groups",
        &["hostid", "groupid"],
        &[owned("hostid", "hosts"), owned("groupid", "groups_")],
        &[&["groupid"]],
    ),
    table(
        "host_tags",
        &["hosttagid"],
        &[
            id("hosttagid"),
            owned("hostid", "hosts"),
            text("tag"),
            text("value"),
            int("automatic", "0"),
        ],
        &[&["hostid"]],
    ),
    table(
        "host_templates",
        &["hostid", "templateid"],
        &[owned("hostid", "hosts"), id("templateid"), int("link_type", "0")],
        &[&["templateid"]],
    ),
    table(
        "host_inventory",
        &["hostid", "name"],
        &[owned("hostid", "hosts"), text("name"), text("value")],
        &[],
    ),
    table(
        "hostmacros",
        &["hostmacroid"],
        &[
            id("hostmacroid"),
            owned("hostid", "hosts"),
            text("macro"),
            text("value"),
            text("description"),
            int("type", "0"),
            int("automatic", "0"),
        ],
        &[&["hostid"]],
    ),
    table(
        "globalmacros",
        &["globalmacroid"],
        &[id("globalmacroid"), text("macro"), text("value"), text("description"), int("type", "0")],
        &[],
    ),
    table(
        "interfaces",
        &["interfaceid"],
        &[
            id("interfaceid"),
            owned("hostid", "hosts"),
            int("main", "0"),
            int("type", "1"),
            int("useip", "1"),
            text_or("ip", "127.0.0.1"),
            text("dns"),
            text_or("port", "10050"),
            text("details"),
        ],
        &[&["hostid"]],
    ),
    table(
        "valuemaps",
        &["valuemapid"],
        &[id("valuemapid"), owned("hostid", "hosts"), text("name"), text("uuid")],
        &[&["hostid"]],
    ),
    table(
        "valuemap_mappings",
        &["valuemapid", "sortorder"],
        &[
            owned("valuemapid", "valuemaps"),
            int("sortorder", "0"),
            int("type", "0"),
            text("value"),
            text("newvalue"),
        ],
        &[],
    ),
    // Parts of hosts and templates that nothing executes yet (graphs, dashboards, web scenarios …),
    // in the export's own form, so that nothing is lost.
    table(
        "parts",
        &["partid"],
        &[
            id("partid"),
            owned("hostid", "hosts"),
            id("ruleid"),
            text("kind"),
            text("name"),
            text("uuid"),
            text("doc"),
        ],
        &[&["hostid"], &["ruleid"]],
    ),
    // ---- items; `flags` 0 plain, 1 discovery rule, 2 prototype, 4 discovered: one id space
    table(
        "items",
        &["itemid"],
        ITEMS,
        &[
            &["hostid", "key_"],
            &["templateid"],
            &["master_itemid"],
            &["ruleid"],
            &["valuemapid"],
            &["uuid"],
        ],
    ),
    table(
        "item_preprocessing",
        &["itemid", "step"],
        &[
            owned("itemid", "items"),
            int("step", "0"),
            int("type", "0"),
            text("params"),
            int("error_handler", "0"),
            text("error_handler_params"),
        ],
        &[],
    ),
    table(
        "item_tags",
        &["itemtagid"],
        &[id("itemtagid"), owned("itemid", "items"), text("tag"), text("value")],
        &[&["itemid"]],
    ),
    // What discovery made of which prototype, and until when a lost one is kept.
    table(
        "item_discovery",
        &["itemid"],
        &[
            owned("itemid", "items"),
            id("parent_itemid"),
            text("key_"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["parent_itemid"]],
    ),
    // ---- triggers
    table(
        "triggers",
        &["triggerid"],
        TRIGGERS,
        // The last for the worst: it decides which of them are monitored without their rows.
        &[&["templateid"], &["uuid"], &["priority DESC", "triggerid", "status", "flags"]],
    ),
    table(
        "functions",
        &["functionid"],
        &[
            id("functionid"),
            owned("triggerid", "triggers"),
            owned("itemid", "items"),
            text("name"),
            text("parameter"),
        ],
        &[&["triggerid"], &["itemid"]],
    ),
    table(
        "trigger_tags",
        &["triggertagid"],
        &[id("triggertagid"), owned("triggerid", "triggers"), text("tag"), text("value")],
        &[&["triggerid"]],
    ),
    table(
        "trigger_depends",
        &["triggerid", "depends_on"],
        &[owned("triggerid", "triggers"), id("depends_on")],
        &[&["depends_on"]],
    ),
    table(
        "trigger_discovery",
        &["triggerid"],
        &[
            owned("triggerid", "triggers"),
            id("parent_triggerid"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["parent_triggerid"]],
    ),
    table(
        "host_discovery",
        &["hostid"],
        &[
            owned("hostid", "hosts"),
            id("parent_hostid"),
            id("parent_itemid"),
            text("host"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["parent_hostid"], &["parent_itemid"]],
    ),
    // Groups of a host prototype's hosts: `groupid` one that exists, or `name` with LLD macros.
    table(
        "group_prototypes",
        &["group_prototypeid"],
        &[
            id("group_prototypeid"),
            owned("hostid", "hosts"),
            id("groupid"),
            text("name"),
            id("templateid"),
        ],
        &[&["hostid"], &["groupid"]],
    ),
    // Where a discovered group comes from: the row of `group_prototypes` and what its name was when
    // the group was made.
    table(
        "group_discovery",
        &["groupdiscoveryid"],
        &[
            id("groupdiscoveryid"),
            owned("groupid", "groups_"),
            id("parent_group_prototypeid"),
            text("name"),
            int("lastcheck", "0"),
            int("ts_delete", "0"),
            int("ts_disable", "0"),
            int("disable_source", "0"),
            int("status", "0"),
        ],
        &[&["groupid"], &["parent_group_prototypeid"]],
    ),
];

const HOSTS: &[Column] = &[
    id("hostid"),
    int("kind", "0"),
    text("host"),
    text("name"),
    int("status", "0"),
    int("flags", "0"),
    text("description"),
    text("uuid"),
    id("templateid"),
    int("monitored_by", "0"),
    id("proxyid"),
    id("proxy_groupid"),
    id("maintenanceid"),
    int("maintenance_status", "0"),
    int("maintenance_type", "0"),
    int("maintenance_from", "0"),
    int("ipmi_authtype", "-1"),
    int("ipmi_privilege", "2"),
    text("ipmi_username"),
    text("ipmi_password"),
    int("tls_connect", "1"),
    int("tls_accept", "1"),
    text("tls_issuer"),
    text("tls_subject"),
    text("tls_psk_identity"),
    text("tls_psk"),
    int("inventory_mode", "-1"),
    text("vendor_name"),
    text("vendor_version"),
    int("custom_interfaces", "0"),
    int("discover", "0"),
    text("wizard"),
];

const ITEMS: &[Column] = &[
    id("itemid"),
    owned("hostid", "hosts"),
    int("flags", "0"),
    id("ruleid"),
    id("templateid"),
    int("type", "0"),
    text("name"),
    text("key_"),
    text_or("delay", "0"),
    text_or("history", "31d"),
    text_or("trends", "365d"),
    int("status", "0"),
    int("value_type", "0"),
    text("units"),
    id("interfaceid"),
    id("master_itemid"),
    id("valuemapid"),
    int("inventory_link", "0"),
    text("description"),
    text("logtimefmt"),
    text("trapper_hosts"),
    text("params"),
    text("timeout"),
    text("snmp_oid"),
    text("ipmi_sensor"),
    int("authtype", "0"),
    text("username"),
    text("password"),
    text("publickey"),
    text("privatekey"),
    text("jmx_endpoint"),
    text("url"),
    text("query_fields"),
    text("parameters"),
    text("posts"),
    text_or("status_codes", "200"),
    int("follow_redirects", "1"),
    int("post_type", "0"),
    text("http_proxy"),
    text("headers"),
    int("retrieve_mode", "0"),
    int("request_method", "0"),
    int("output_format", "0"),
    text("ssl_cert_file"),
    text("ssl_key_file"),
    text("ssl_key_password"),
    int("verify_peer", "0"),
    int("verify_host", "0"),
    int("allow_traps", "0"),
    text("uuid"),
    int("discover", "0"),
    // Discovery rules only. Filter, macro paths and overrides are the API's own JSON.
    text("filter"),
    text("lld_macro_paths"),
    text("overrides"),
    int("lifetime_type", "0"),
    text_or("lifetime", "7d"),
    int("enabled_lifetime_type", "2"),
    text_or("enabled_lifetime", "0"),
];

const TRIGGERS: &[Column] = &[
    id("triggerid"),
    int("flags", "0"),
    id("templateid"),
    text("uuid"),
    text("description"),
    text("expression"),
    int("recovery_mode", "0"),
    text("recovery_expression"),
    text("event_name"),
    text("opdata"),
    text("url"),
    text("url_name"),
    text("comments"),
    int("priority", "0"),
    int("status", "0"),
    int("type", "0"),
    int("correlation_mode", "0"),
    text("correlation_tag"),
    int("manual_close", "0"),
    int("discover", "0"),
];
