//! Every table of the database. This file describes the tables of hosts and what is theirs; the others
//! describe items and triggers, people, maintenance, network discovery, the load balancer, and the state.

mod balancing;
mod found;
mod items;
mod maintenance;
mod people;
mod state;

use super::{Column, Kind, Reload, Table};

pub(super) const fn id(name: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: None, state: false }
}

pub(super) const fn int(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Int, default, owner: None, state: false }
}

pub(super) const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, default: "", owner: None, state: false }
}

pub(super) const fn text_or(name: &'static str, default: &'static str) -> Column {
    Column { name, kind: Kind::Text, default, owner: None, state: false }
}

pub(super) const fn owned(name: &'static str, owner: &'static str) -> Column {
    Column { name, kind: Kind::Int, default: "0", owner: Some(owner), state: false }
}

/// The same column for something that the server notes beside the configuration.
pub(super) const fn state(column: Column) -> Column {
    Column { state: true, ..column }
}

pub(super) const fn table(
    name: &'static str,
    key: &'static [&'static str],
    reload: Reload,
    columns: &'static [Column],
    indexes: &'static [&'static [&'static str]],
) -> Table {
    Table { name, key, reload, read_by_discovery: false, recorded: true, columns, indexes }
}

/// Hosts know the names of their groups.
const OF_GROUP: Reload = Reload::HostsOf {
    subject: "groupid",
    hosts: "SELECT DISTINCT m.hostid FROM host_groups m JOIN hosts h ON h.hostid = m.hostid \
            WHERE h.kind = 0 AND m.groupid IN ({ids})",
};

const OF_VALUE_MAP: Reload = Reload::HostsOf {
    subject: "valuemapid",
    hosts: "SELECT DISTINCT hostid FROM valuemaps WHERE valuemapid IN ({ids})",
};

/// All tables, owners before what they own.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    configuration_tables().chain(state_tables())
}

/// The tables that users change.
pub(crate) fn configuration_tables() -> impl Iterator<Item = &'static Table> {
    [
        CONFIGURATION,
        items::TABLES,
        people::TABLES,
        maintenance::TABLES,
        found::TABLES,
        balancing::TABLES,
    ]
    .into_iter()
    .flatten()
}

/// The tables that the server itself changes, see [`crate::Config::write_state`].
pub(crate) fn state_tables() -> impl Iterator<Item = &'static Table> {
    state::TABLES.iter()
}

const CONFIGURATION: &[Table] = &[
    // ---- the database itself
    table("ids", &["name"], Reload::Nothing, &[text("name"), id("next")], &[]).unrecorded(),
    // What transactions changed, see [`crate::change`].
    table(
        "changes",
        &["revision", "position"],
        Reload::Nothing,
        &[
            id("revision"),
            int("position", "0"),
            text("name"),
            text("operation"),
            text("columns"),
            text("subjects"),
            id("userid"),
        ],
        &[],
    )
    .unrecorded(),
    // Changes of templates that hosts have yet to take over, see `link::portions`.
    table(
        "inheritance",
        &["inheritanceid"],
        Reload::Nothing,
        &[id("inheritanceid"), text("templates"), text("work"), id("after_hostid")],
        &[],
    )
    .unrecorded(),
    table("auditlog", &["auditid"], Reload::Nothing, AUDIT, AUDIT_INDEXES).unrecorded(),
    table("settings", &["name"], Reload::Everything, &[text("name"), text("value")], &[]),
    table(
        "regexps",
        &["regexpid"],
        Reload::Everything,
        &[id("regexpid"), text("name"), text("test_string")],
        &[&["name"]],
    ),
    table(
        "regexp_expressions",
        &["regexpid", "position"],
        Reload::Everything,
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
        OF_GROUP,
        &[id("groupid"), text("name"), int("type", "0"), int("flags", "0"), text("uuid")],
        &[&["type", "name"]],
    ),
    // ---- hosts and templates; `kind` 0 host, 1 template, 2 host prototype: one id space.
    // A prototype's rule is the `parent_itemid` of its row in `host_discovery`.
    table("hosts", &["hostid"], Reload::Host("hostid"), HOSTS, &[&["host"], &["name"], &["kind"]]),
    table(
        "host_groups",
        &["hostid", "groupid"],
        Reload::Host("hostid"),
        &[owned("hostid", "hosts"), owned("groupid", "groups_")],
        &[&["groupid"]],
    ),
    table(
        "host_tags",
        &["hosttagid"],
        Reload::HostsBelow("hostid"),
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
        Reload::HostsBelow("hostid"),
        &[owned("hostid", "hosts"), id("templateid"), int("link_type", "0")],
        &[&["templateid"]],
    ),
    table(
        "host_inventory",
        &["hostid", "name"],
        Reload::Host("hostid"),
        &[owned("hostid", "hosts"), text("name"), text("value")],
        &[],
    ),
    table(
        "hostmacros",
        &["hostmacroid"],
        Reload::HostsBelow("hostid"),
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
        Reload::Everything,
        &[id("globalmacroid"), text("macro"), text("value"), text("description"), int("type", "0")],
        &[],
    ),
    table(
        "interfaces",
        &["interfaceid"],
        Reload::Host("hostid"),
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
        Reload::HostsBelow("hostid"),
        &[id("valuemapid"), owned("hostid", "hosts"), text("name"), text("uuid")],
        &[&["hostid"]],
    ),
    table(
        "valuemap_mappings",
        &["valuemapid", "sortorder"],
        OF_VALUE_MAP,
        &[
            owned("valuemapid", "valuemaps"),
            int("sortorder", "0"),
            int("type", "0"),
            text("value"),
            text("newvalue"),
        ],
        &[],
    ),
    // Unserved objects: those of hosts and templates that have no methods yet (graphs, dashboards …), in
    // the export's own form, so that nothing is lost.
    table(
        "parts",
        &["partid"],
        Reload::Nothing,
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
    )
    .read_by_discovery(),
    table(
        "host_discovery",
        &["hostid"],
        Reload::Nothing,
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
    )
    .read_by_discovery(),
    // Groups of a host prototype's hosts: `groupid` one that exists, or `name` with LLD macros.
    table(
        "group_prototypes",
        &["group_prototypeid"],
        Reload::Nothing,
        &[
            id("group_prototypeid"),
            owned("hostid", "hosts"),
            id("groupid"),
            text("name"),
            id("templateid"),
        ],
        &[&["hostid"], &["groupid"]],
    )
    .read_by_discovery(),
    // Where a discovered group comes from: the row of `group_prototypes` and what its name was when
    // the group was made.
    table(
        "group_discovery",
        &["groupdiscoveryid"],
        Reload::Nothing,
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
    )
    .read_by_discovery(),
];

/// Who did what, see [`crate::audit`].
const AUDIT: &[Column] = &[
    text("auditid"),
    id("userid"),
    text("username"),
    int("clock", "0"),
    text("ip"),
    int("action", "0"),
    int("resourcetype", "0"),
    id("resourceid"),
    text("resource_cuid"),
    text("resourcename"),
    text("recordsetid"),
    text("details"),
];

const AUDIT_INDEXES: &[&[&str]] =
    &[&["clock"], &["userid", "clock"], &["resourcetype", "resourceid"], &["recordsetid"]];

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
    state(id("maintenanceid")),
    state(int("maintenance_status", "0")),
    state(int("maintenance_type", "0")),
    state(int("maintenance_from", "0")),
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
