//! Host groups and template groups: one table, two objects.

mod mass;
mod propagate;
mod write;

use config::table;
use const_format::formatcp;
use objects::sql::{GROUP_OF_HOSTS, GROUP_OF_TEMPLATES, STATUS_ENABLED};

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::{Found, Get};
use crate::methods::{graph, host, hostprototype, item, template};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::permission::{Need, on_groups};
use crate::plain::{self, Spec, Unique};
use crate::relate::Relation;
use crate::with;
use crate::write::Target;

pub(crate) const METHODS: &[Method] = &[
    Method::user("hostgroup.get", |call, input| get(call, input, &HOSTS)),
    Method::super_admin("hostgroup.create", |call, input| plain::insert(&HOSTS, call, input)),
    Method::admin("hostgroup.update", |call, input| plain::change(&HOSTS, call, input)),
    Method::admin("hostgroup.delete", |call, input| plain::remove(&HOSTS, call, input)),
    Method::admin("hostgroup.massadd", |call, input| mass::add(call, input, &HOSTS)),
    Method::admin("hostgroup.massupdate", |call, input| mass::update(call, input, &HOSTS)),
    Method::admin("hostgroup.massremove", |call, input| mass::remove(call, input, &HOSTS)),
    Method::user("hostgroup.states", host::of_groups),
    Method::super_admin("hostgroup.propagate", |call, input| {
        propagate::propagate(call, input, &HOSTS)
    }),
    Method::user("templategroup.get", |call, input| get(call, input, &TEMPLATES)),
    Method::super_admin("templategroup.create", |call, input| {
        plain::insert(&TEMPLATES, call, input)
    }),
    Method::admin("templategroup.update", |call, input| plain::change(&TEMPLATES, call, input)),
    Method::admin("templategroup.delete", |call, input| plain::remove(&TEMPLATES, call, input)),
    Method::admin("templategroup.massadd", |call, input| mass::add(call, input, &TEMPLATES)),
    Method::admin("templategroup.massupdate", |call, input| mass::update(call, input, &TEMPLATES)),
    Method::admin("templategroup.massremove", |call, input| mass::remove(call, input, &TEMPLATES)),
    Method::super_admin("templategroup.propagate", |call, input| {
        propagate::propagate(call, input, &TEMPLATES)
    }),
];

const HOST_FIELDS: &[Field] = &[
    field("groupid", Id, ReadOnly, "Id of the group."),
    field("name", Name(255), Required, "Name; `/` makes a tree."),
    field("flags", OneOf(&[0, 4]), ReadOnly, "0 made by people, 4 made by discovery."),
    field("uuid", Text(32), Optional, "Universal id, for template exports."),
];

const TEMPLATE_FIELDS: &[Field] = &[
    field("groupid", Id, ReadOnly, "Id of the group."),
    field("name", Name(255), Required, "Name; `/` makes a tree."),
    field("uuid", Text(32), Optional, "Universal id, for template exports."),
];

pub(crate) static HOST_GROUP: Object = Object {
    name: "hostgroup",
    table: "groups_",
    key: "groupid",
    keys: "groupids",
    fields: HOST_FIELDS,
    strict: true,
    sort: &["groupid", "name"],
};

pub(crate) static TEMPLATE_GROUP: Object = Object {
    name: "templategroup",
    table: "groups_",
    key: "groupid",
    keys: "groupids",
    fields: TEMPLATE_FIELDS,
    strict: true,
    sort: &["groupid", "name"],
};

/// What differs between groups of hosts and of templates.
struct Kind {
    object: &'static Object,
    spec: &'static Spec,
    /// Column `type` of the group, and `kind` of what is in it.
    number: i64,
    /// In texts.
    words: &'static str,
    groups: Target,
    members: Target,
    /// `hosts: [{hostid}]` of mass calls, `hostids` of `massremove` and `get`.
    list: &'static str,
    key: &'static str,
    ids: &'static str,
}

static HOSTS: Kind = Kind {
    object: &HOST_GROUP,
    spec: &Spec {
        unique: Some(Unique {
            columns: &["name"],
            among: Some(formatcp!("type = {GROUP_OF_HOSTS}")),
            error: "Host group \"{name}\" already exists.",
        }),
        ..Spec::new(&HOST_GROUP, &table::GROUPS, &[])
    },
    number: 0,
    words: "host group",
    groups: Target::HostGroup,
    members: Target::Host,
    list: "hosts",
    key: "hostid",
    ids: "hostids",
};

static TEMPLATES: Kind = Kind {
    object: &TEMPLATE_GROUP,
    spec: &Spec {
        unique: Some(Unique {
            columns: &["name"],
            among: Some(formatcp!("type = {GROUP_OF_TEMPLATES}")),
            error: "Template group \"{name}\" already exists.",
        }),
        ..Spec::new(&TEMPLATE_GROUP, &table::GROUPS, &[])
    },
    number: 1,
    words: "template group",
    groups: Target::TemplateGroup,
    members: Target::Template,
    list: "templates",
    key: "templateid",
    ids: "templateids",
};

const HOST_OPTIONS: &[&str] = &[
    "groupids",
    "hostids",
    "graphids",
    "triggerids",
    "maintenanceids",
    "with_hosts",
    "with_monitored_hosts",
    "monitored_hosts",
    "real_hosts",
    "selectHosts",
    "selectDiscoveryRules",
    "selectHostPrototypes",
    "selectGroupDiscoveries",
    "limitSelects",
];

const TEMPLATE_OPTIONS: &[&str] = &[
    "groupids",
    "templateids",
    "graphids",
    "triggerids",
    "with_templates",
    "selectTemplates",
    "limitSelects",
];

fn get(call: &Call<'_>, input: &Json, kind: &Kind) -> ApiResult<Json> {
    let own = if kind.number == 0 { HOST_OPTIONS } else { TEMPLATE_OPTIONS };
    let options: Vec<&str> = own.iter().chain(with::OPTIONS).copied().collect();
    let mut get = Get::new(call, input, kind.object, &options)?;
    get.and("t.type = ?", [kind.number.into()]);
    get.by_ids("groupids", "t.groupid IN ({ids})")?;
    get.by_ids(kind.ids, "t.groupid IN (SELECT groupid FROM host_groups WHERE hostid IN ({ids}))")?;
    get.by_ids(
        "triggerids",
        "t.groupid IN (SELECT hg.groupid FROM host_groups hg \
           JOIN items i ON i.hostid = hg.hostid JOIN functions f ON f.itemid = i.itemid \
         WHERE f.triggerid IN ({ids}))",
    )?;
    let by_graph = graph::of_hosts_by_id("hostid");
    get.by_ids(
        "graphids",
        &format!("t.groupid IN (SELECT groupid FROM host_groups WHERE {by_graph})"),
    )?;
    if kind.number == 0 {
        get.by_ids(
            "maintenanceids",
            "t.groupid IN (SELECT groupid FROM maintenance_groups WHERE maintenanceid IN ({ids}))",
        )?;
    }
    if let Some(condition) = members_condition(&get, kind) {
        get.and(condition, []);
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_groups(call.user(), need, "t.groupid") {
        get.and(condition, []);
    }
    get.answer(|found| attach(found, kind))
}

/// Condition of the options that ask for groups by what is in them.
fn members_condition(get: &Get<'_, '_>, kind: &Kind) -> Option<String> {
    let mut conditions = with::conditions(get, "hg.hostid");
    let monitored = get.flag("with_monitored_hosts") || get.flag("monitored_hosts");
    let any = get.flag("with_hosts") || get.flag("real_hosts") || get.flag("with_templates");
    if conditions.is_empty() && !monitored && !any {
        return None;
    }
    if kind.number == 0 && (monitored || with::wants_monitored(get)) {
        conditions.push(formatcp!("h.status = {STATUS_ENABLED}").to_owned());
    }
    conditions.push(format!("h.kind = {}", kind.number));
    // The first of thousands of hosts decides.
    Some(format!(
        "EXISTS (SELECT 1 FROM host_groups hg JOIN hosts h ON h.hostid = hg.hostid \
         WHERE hg.groupid = t.groupid AND {})",
        conditions.join(" AND ")
    ))
}

fn attach(found: &mut Found<'_, '_>, kind: &Kind) -> ApiResult<()> {
    let (option, relation) = if kind.number == 0 {
        ("selectHosts", Relation::new("hosts", &host::HOST).sorted("host"))
    } else {
        ("selectTemplates", Relation::new("templates", &template::TEMPLATE).sorted("host"))
    };
    if let Some(wanted) = found.wants(option)? {
        let pairs = found.call.pairs(
            "SELECT groupid, hostid FROM host_groups WHERE groupid IN ({ids}) ORDER BY hostid",
            &found.ids(),
        )?;
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    if kind.number == 0 { attach_origins(found) } else { Ok(()) }
}

/// Where discovered groups come from.
fn attach_origins(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let ids = found.ids();
    for (option, sql, relation) in [
        (
            "selectDiscoveryRules",
            "SELECT g.groupid, h.parent_itemid FROM group_discovery g \
             JOIN group_prototypes p ON p.group_prototypeid = g.parent_group_prototypeid \
             JOIN host_discovery h ON h.hostid = p.hostid WHERE g.groupid IN ({ids})",
            Relation::new("discoveryRules", &item::RULE),
        ),
        (
            "selectHostPrototypes",
            "SELECT g.groupid, p.hostid FROM group_discovery g \
             JOIN group_prototypes p ON p.group_prototypeid = g.parent_group_prototypeid \
             WHERE g.groupid IN ({ids})",
            Relation::new("hostPrototypes", &hostprototype::HOST_PROTOTYPE),
        ),
    ] {
        if let Some(wanted) = found.wants_list(option)? {
            let pairs = found.call.pairs(sql, &ids)?;
            found.relate_as(&relation, &wanted, &pairs)?;
        }
    }
    let Some(wanted) = found.wants_list("selectGroupDiscoveries")? else { return Ok(()) };
    found.attach(
        "groupDiscoveries",
        &wanted,
        "SELECT groupid AS owner, parent_group_prototypeid, name, lastcheck, ts_delete, status \
         FROM group_discovery WHERE groupid IN ({ids}) ORDER BY groupdiscoveryid",
        &["parent_group_prototypeid", "name", "lastcheck", "ts_delete", "status"],
    )
}

#[cfg(test)]
mod tests;
