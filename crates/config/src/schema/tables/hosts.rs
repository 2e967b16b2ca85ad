//! The database's own tables, settings, and hosts with what is theirs.

use super::super::{Column, Reload, Table};
use super::{AUDIT, AUDIT_INDEXES, id, int, owned, state, table, text, text_or};

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

tables! { TABLES:
    /// The next id of each table.
    IDS = table("ids", &["name"], Reload::Nothing, &[text("name"), id("next")], &[]).unrecorded();
    /// What transactions changed, see [`crate::change`].
    CHANGES = table(
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
    .unrecorded();
    /// Changes of templates that hosts have yet to take over, see `link::portions`.
    INHERITANCE = table(
        "inheritance",
        &["inheritanceid"],
        Reload::Nothing,
        &[id("inheritanceid"), text("templates"), text("work"), id("after_hostid")],
        &[],
    )
    .unrecorded();
    AUDITLOG = table("auditlog", &["auditid"], Reload::Nothing, AUDIT, AUDIT_INDEXES).unrecorded();
    SETTINGS = table("settings", &["name"], Reload::Everything, &[text("name"), text("value")], &[]);
    REGEXPS = table(
        "regexps",
        &["regexpid"],
        Reload::Everything,
        &[id("regexpid"), text("name"), text("test_string")],
        &[&["name"]],
    );
    REGEXP_EXPRESSIONS = table(
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
    );
    /// `type`: 0 host group, 1 template group: one id space
    GROUPS = table(
        "groups_",
        &["groupid"],
        OF_GROUP,
        &[id("groupid"), text("name"), int("type", "0"), int("flags", "0"), text("uuid")],
        &[&["type", "name"]],
    )
    .usual_in(&["type"]);
    /// `kind`: 0 host, 1 template, 2 host prototype: one id space.
    /// A prototype's rule is the `parent_itemid` of its row in `host_discovery`.
    HOSTS = table("hosts", &["hostid"], Reload::Host("hostid"), HOSTS_COLUMNS, HOSTS_INDEXES)
        .usual_in(&["kind", "proxyid", "proxy_groupid"]);
    HOST_GROUPS = table(
        "host_groups",
        &["hostid", "groupid"],
        Reload::Host("hostid"),
        &[owned("hostid", "hosts"), owned("groupid", "groups_")],
        &[&["groupid"]],
    );
    HOST_TAGS = table(
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
    );
    HOST_TEMPLATES = table(
        "host_templates",
        &["hostid", "templateid"],
        Reload::HostsBelow("hostid"),
        &[owned("hostid", "hosts"), id("templateid"), int("link_type", "0")],
        &[&["templateid"]],
    );
    HOST_INVENTORY = table(
        "host_inventory",
        &["hostid", "name"],
        Reload::Host("hostid"),
        &[owned("hostid", "hosts"), text("name"), text("value")],
        &[],
    );
    HOSTMACROS = table(
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
    );
    GLOBALMACROS = table(
        "globalmacros",
        &["globalmacroid"],
        Reload::Everything,
        &[id("globalmacroid"), text("macro"), text("value"), text("description"), int("type", "0")],
        &[],
    );
    INTERFACES = table(
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
    );
    VALUEMAPS = table(
        "valuemaps",
        &["valuemapid"],
        Reload::HostsBelow("hostid"),
        &[id("valuemapid"), owned("hostid", "hosts"), text("name"), text("uuid")],
        &[&["hostid"]],
    );
    VALUEMAP_MAPPINGS = table(
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
    );
    /// Graphs and dashboards of earlier versions in the form of the export, which a start turns into objects.
    PARTS = table(
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
    .read_by_discovery();
    HOST_DISCOVERY = table(
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
    .read_by_discovery();
    /// Groups of a host prototype's hosts: `groupid` one that exists, or `name` with LLD macros.
    GROUP_PROTOTYPES = table(
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
    .read_by_discovery();
    /// Where a discovered group comes from: the row of `group_prototypes` and what its name was when
    /// the group was made.
    GROUP_DISCOVERY = table(
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
    .read_by_discovery();
}

const HOSTS_INDEXES: &[&[&str]] =
    &[&["host"], &["name"], &["kind"], &["proxyid"], &["proxy_groupid"]];

const HOSTS_COLUMNS: &[Column] = &[
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
