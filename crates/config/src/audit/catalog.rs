//! What the audit log calls tables and their columns: words and numbers of `auditlog.get`.

use std::borrow::Cow;

use super::scenario;
use crate::db::{Row, Value};
use crate::schema::Table;

/// A kind of object that has entries of its own.
#[derive(Debug)]
pub(super) struct Resource {
    table: &'static str,
    /// Rows of the table that are of this kind: the values of a column; none = all others.
    of_kind: Option<(&'static str, &'static [i64])>,
    /// Value of `resourcetype`.
    pub(super) number: i64,
    /// The object's name in the API, with which details begin.
    pub(super) word: &'static str,
    /// Column with the name for people.
    pub(super) name: &'static str,
}

impl Resource {
    /// The column that tells the kinds of its table apart, if the table has several.
    pub(super) fn column(&self) -> Option<&'static str> {
        self.of_kind.map(|(column, _)| column)
    }

    /// What the API calls a column of the object.
    pub(super) fn member<'c>(&self, column: &'c str) -> &'c str {
        let is_template = ["template", "templatedashboard"].contains(&self.word);
        if is_template && column == "hostid" { "templateid" } else { column }
    }

    /// Whether an object with this value in that column is of this kind.
    pub(super) fn is(&self, value: i64) -> bool {
        self.of_kind.is_none_or(|(_, values)| values.is_empty() || values.contains(&value))
    }
}

const fn resource(
    table: &'static str,
    of_kind: Option<(&'static str, &'static [i64])>,
    number: i64,
    word: &'static str,
    name: &'static str,
) -> Resource {
    Resource { table, of_kind, number, word, name }
}

/// Numbers observed on Zabbix 7.0.22.
const RESOURCES: &[Resource] = &[
    resource("users", None, 0, "user", "username"),
    resource("media_types", None, 3, "mediatype", "name"),
    resource("hosts", Some(("kind", &[0])), 4, "host", "host"),
    resource("hosts", Some(("kind", &[1])), 30, "template", "host"),
    resource("hosts", Some(("kind", &[2])), 37, "hostprototype", "host"),
    resource("actions", None, 5, "action", "name"),
    resource("usergroups", None, 11, "usergroup", "name"),
    resource("triggers", Some(("flags", &[0, 4])), 13, "trigger", "description"),
    resource("triggers", Some(("flags", &[2])), 31, "triggerprototype", "description"),
    resource("graphs", Some(("flags", &[0, 4])), 6, "graph", "name"),
    resource("graphs", Some(("flags", &[2])), 35, "graphprototype", "name"),
    resource("groups_", Some(("type", &[0])), 14, "hostgroup", "name"),
    resource("groups_", Some(("type", &[1])), 50, "templategroup", "name"),
    resource("items", Some(("flags", &[0, 4])), 15, "item", "name"),
    resource("items", Some(("flags", &[1])), 52, "discoveryrule", "name"),
    resource("items", Some(("flags", &[2])), 36, "itemprototype", "name"),
    resource("valuemaps", None, 17, "valuemap", "name"),
    resource("drules", None, 23, "drule", "name"),
    resource("proxies", None, 26, "proxy", "name"),
    resource("scripts", None, 25, "script", "name"),
    resource("maintenances", None, 27, "maintenance", "name"),
    resource("services", None, 18, "service", "name"),
    resource("slas", None, 48, "sla", "name"),
    resource("proxy_groups", None, 55, "proxygroup", "name"),
    resource("images", None, 16, "image", "name"),
    resource("maps", None, 19, "map", "name"),
    resource("dashboards", Some(("hostid", &[0])), 33, "dashboard", "name"),
    resource("dashboards", Some(("hostid", &[])), 43, "templatedashboard", "name"),
    resource("icon_maps", None, 32, "iconmap", "name"),
    resource("regexps", None, 28, "regexp", "name"),
    resource("correlations", None, 34, "correlation", "name"),
    resource("globalmacros", None, 29, "usermacro", "macro"),
    resource("roles", None, 44, "role", "name"),
    resource("tokens", None, 45, "token", "name"),
    resource("mfa", None, 54, "mfa", "name"),
    resource("userdirectories", None, 49, "userdirectory", "name"),
    resource("connectors", None, 51, "connector", "name"),
    resource("reports", None, 46, "report", "name"),
    // Objects of the load balancer and on-call schedules, which the reference does not have.
    resource("virtualservices", None, 1000, "virtualservice", "name"),
    resource("vips", None, 1001, "vip", "name"),
    resource("pools", None, 1002, "pool", "name"),
    resource("healthmonitors", None, 1003, "healthmonitor", "name"),
    resource("certificates", None, 1004, "certificate", "name"),
    resource("enginegroups", None, 1005, "enginegroup", "name"),
    resource("engines", None, 1006, "engine", "name"),
    resource("pool_groups", None, 1007, "poolgroup", "name"),
    resource("avi_objects", None, 1008, "aviobject", "name"),
    resource("oncall_schedules", None, 1009, "oncall", "name"),
];

/// Web scenarios, see [`super::scenario`]. The number is documented for 7.0, and was not observed.
static SCENARIO: Resource = resource("items", None, 22, "httptest", "name");

/// Objects of settings, which have no name and no table of their own. Numbers observed on Zabbix 7.0.22.
pub(super) static AUTOREGISTRATION: Resource = of_settings(38, "autoregistration");
pub(super) static SETTINGS: Resource = of_settings(40, "settings");
pub(super) static HOUSEKEEPING: Resource = of_settings(41, "housekeeping");
pub(super) static AUTHENTICATION: Resource = of_settings(42, "authentication");

const fn of_settings(number: i64, word: &'static str) -> Resource {
    resource("settings", None, number, word, "name")
}

/// Tables with rows of such objects, or of their members, with the member that the rows are.
const MEMBERS: &[(&str, &str, &str)] = &[
    ("host_groups", "hosts", "groups"),
    ("host_tags", "hosts", "tags"),
    ("host_templates", "hosts", "templates"),
    ("host_inventory", "hosts", "inventory"),
    ("hostmacros", "hosts", "macros"),
    ("interfaces", "hosts", "interfaces"),
    ("group_prototypes", "hosts", "groupPrototypes"),
    ("item_preprocessing", "items", "preprocessing"),
    ("item_tags", "items", "tags"),
    ("trigger_tags", "triggers", "tags"),
    ("trigger_depends", "triggers", "dependencies"),
    ("graph_items", "graphs", "gitems"),
    ("valuemap_mappings", "valuemaps", "mappings"),
    ("regexp_expressions", "regexps", "expressions"),
    ("user_groups", "users", "usrgrps"),
    ("media", "users", "medias"),
    ("media_type_params", "media_types", "parameters"),
    ("media_type_messages", "media_types", "message_templates"),
    ("script_params", "scripts", "parameters"),
    ("group_rights", "usergroups", "rights"),
    ("tag_filters", "usergroups", "tag_filters"),
    ("dchecks", "drules", "dchecks"),
    ("action_conditions", "actions", "filter.conditions"),
    ("operations", "actions", "operations"),
    ("correlation_conditions", "correlations", "filter.conditions"),
    ("correlation_operations", "correlations", "operations"),
    ("maintenance_hosts", "maintenances", "hosts"),
    ("maintenance_groups", "maintenances", "groups"),
    ("maintenance_periods", "maintenances", "timeperiods"),
    ("maintenance_tags", "maintenances", "tags"),
    ("service_links", "services", "parents"),
    ("service_tags", "services", "tags"),
    ("service_problem_tags", "services", "problem_tags"),
    ("service_status_rules", "services", "status_rules"),
    ("sla_schedules", "slas", "schedule"),
    ("sla_excluded_downtimes", "slas", "excluded_downtimes"),
    ("sla_service_tags", "slas", "service_tags"),
    ("icon_mappings", "icon_maps", "mappings"),
    ("map_elements", "maps", "selements"),
    ("map_element_tags", "map_elements", "tags"),
    ("map_element_triggers", "map_elements", "elements"),
    ("map_element_urls", "map_elements", "urls"),
    ("map_links", "maps", "links"),
    ("map_link_triggers", "map_links", "linktriggers"),
    ("map_shapes", "maps", "shapes"),
    ("map_urls", "maps", "urls"),
    ("map_users", "maps", "users"),
    ("map_user_groups", "maps", "userGroups"),
    ("dashboard_pages", "dashboards", "pages"),
    ("dashboard_users", "dashboards", "users"),
    ("dashboard_user_groups", "dashboards", "userGroups"),
    ("oncall_groups", "oncall_schedules", "usergroups"),
    ("oncall_layers", "oncall_schedules", "layers"),
    ("oncall_layer_users", "oncall_schedules", "layers.users"),
    ("oncall_holidays", "oncall_schedules", "holidays"),
    ("oncall_overrides", "oncall_schedules", "overrides"),
    ("userdirectory_media", "userdirectories", "provision_media"),
    ("userdirectory_groups", "userdirectories", "provision_groups"),
    ("connector_tags", "connectors", "tags"),
    ("report_users", "reports", "users"),
    ("report_user_groups", "reports", "user_groups"),
    ("pool_servers", "pools", "servers"),
    ("pool_monitors", "pools", "further_monitors"),
    ("pool_group_members", "pool_groups", "members"),
    ("virtualservice_certificates", "virtualservices", "certificates"),
    ("virtualservice_tags", "virtualservices", "tags"),
];

/// Columns whose values are secrets.
const SECRETS: &[(&str, &str)] = &[
    ("users", "passwd"),
    // Receivers often take the address for a token.
    ("media", "sendto"),
    ("media_types", "passwd"),
    ("media_type_params", "value"),
    ("scripts", "password"),
    ("script_params", "value"),
    ("hosts", "tls_psk"),
    ("hosts", "tls_psk_identity"),
    ("hosts", "ipmi_password"),
    ("proxies", "tls_psk"),
    ("proxies", "tls_psk_identity"),
    ("interfaces", "details"),
    ("items", "password"),
    ("items", "privatekey"),
    ("items", "ssl_key_password"),
    ("items", "headers"),
    ("items", "parameters"),
    ("dchecks", "snmp_community"),
    ("dchecks", "snmpv3_authpassphrase"),
    ("dchecks", "snmpv3_privpassphrase"),
    ("tokens", "digest"),
    // Calendars tell more than shifts.
    ("oncall_schedules", "holiday_calendar"),
    ("oncall_layers", "calendar"),
    // It is as long as the image.
    ("images", "image"),
    ("mfa", "client_secret"),
    ("userdirectories", "bind_password"),
    ("connectors", "password"),
    ("connectors", "token"),
    ("connectors", "ssl_key_password"),
    ("certificates", "private_key"),
    ("virtualservices", "authentication"),
    ("engines", "enrolment_digest"),
    ("avi_objects", "document"),
];

/// Columns that the API does not have, or has in another form: see [`Edit::describe`](crate::Edit::describe).
const HIDDEN: &[(&str, &str)] = &[
    ("hosts", "kind"),
    ("groups_", "type"),
    ("triggers", "expression"),
    ("triggers", "recovery_expression"),
];

/// Whether a table is in the log, with objects or with members of objects.
pub(super) fn is_audited(table: &Table) -> bool {
    is_object(table) || member(table).is_some()
}

/// Whether rows of the table are objects with entries of their own.
pub(crate) fn is_object(table: &Table) -> bool {
    kinds(table).next().is_some()
}

/// The kinds of objects of this table.
pub(super) fn kinds(table: &Table) -> impl Iterator<Item = &'static Resource> {
    RESOURCES.iter().filter(|resource| resource.table == table.name)
}

/// The objects that rows of the table are members of, and which member.
pub(super) fn member(table: &Table) -> Option<(&'static Table, &'static str)> {
    let found = MEMBERS.iter().find(|(name, ..)| *name == table.name);
    found.map(|(_, owner, member)| (Table::named(owner), *member))
}

/// The kind of an object of this table.
pub(super) fn kind(table: &Table, row: &Row) -> Option<&'static Resource> {
    if scenario::is_part(table, row) {
        return scenario::has_document(row).then_some(&SCENARIO);
    }
    kinds(table).find(|kind| kind.is(kind.column().map_or(0, |column| row.int(column))))
}

/// The name of an object of this kind.
pub(super) fn name(kind: &Resource, row: &Row) -> String {
    match kind.number {
        number if number == SCENARIO.number => scenario::name(row),
        _ => row.text(kind.name).to_owned(),
    }
}

/// Columns of the key that tell the members of an object apart.
pub(super) fn member_key(table: &'static Table) -> impl Iterator<Item = &'static str> {
    let subject = table.subject();
    let key = table.key.iter().copied();
    key.filter(move |column| *column != subject || table.key.len() == 1)
}

/// Whether the log leaves the column out.
pub(super) fn is_hidden(table: &Table, column: &str) -> bool {
    HIDDEN.contains(&(table.name, column))
}

/// Whether the values of the column are secrets.
pub(super) fn is_secret(table: &Table, column: &str) -> bool {
    SECRETS.contains(&(table.name, column))
}

/// A value as the log shows it.
pub(super) fn shown(value: &Value, is_secret: bool) -> Cow<'_, str> {
    let text = match value {
        Value::Text(text) => Cow::from(text),
        Value::Int(number) => Cow::from(number.to_string()),
    };
    if is_secret { Cow::Owned(mask(&text).to_owned()) } else { text }
}

/// What is shown of a secret.
pub(super) fn mask(value: &str) -> &str {
    if value.is_empty() { value } else { "******" }
}

/// Macros of type 1 hold a secret.
pub(super) fn is_secret_row(table: &Table, of: impl Fn(&str) -> Option<i64>) -> bool {
    matches!(table.name, "hostmacros" | "globalmacros") && of("type") == Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_columns_of_the_catalog_exist() {
        for resource in RESOURCES {
            let table = Table::named(resource.table);
            assert!(table.column(resource.name).is_some(), "{}", resource.word);
            assert!(resource.column().is_none_or(|column| table.column(column).is_some()));
            // New rows are looked at by the columns of the first kind of their table.
            let first = kinds(table).next().unwrap();
            assert_eq!((resource.column(), resource.name), (first.column(), first.name));
        }
        for (name, owner, _) in MEMBERS {
            let subject = Table::named(name).subject();
            assert_eq!(subject, Table::named(owner).key[0], "{name}");
        }
        for (table, column) in SECRETS.iter().chain(HIDDEN) {
            assert!(Table::named(table).column(column).is_some(), "{table}.{column}");
        }
    }
}
