//! Maintenance: when which hosts are worked on, and whether their values are collected then.

mod members;
mod periods;
mod write;

use config::db::Value;

pub(crate) use members::Members;

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::permission::{Need, on_groups, on_hosts};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("maintenance.get", get),
    Method::admin("maintenance.create", write::create),
    Method::admin("maintenance.update", write::update),
    Method::admin("maintenance.delete", write::delete),
];

/// The last second of 2037: times fit 32 bits with a sign.
const TIME_MAX: i64 = 2_145_916_799;

const FIELDS: &[Field] = &[
    field("maintenanceid", Id, ReadOnly, "Id of the maintenance."),
    field("name", Name(128), Required, "Name."),
    field("maintenance_type", OneOf(&[0, 1]), Optional, "1 = without data collection."),
    field("description", Text(0), Optional, "Description."),
    field("active_since", Int(0, TIME_MAX), Required, "Unix time from which it counts."),
    field("active_till", Int(0, TIME_MAX), Required, "Unix time at which it is over."),
    field("tags_evaltype", OneOf(&[0, 2]), Optional, "Tags: 0 and/or, 2 or."),
    field("groups", Nested, Optional, "Host groups: `[{groupid}]`; their subgroups come along."),
    field("hosts", Nested, Optional, "Hosts: `[{hostid}]`."),
    field("groupids", Nested, Optional, "Host groups; old form."),
    field("hostids", Nested, Optional, "Hosts; old form."),
    field("timeperiods", Nested, Required, "When it runs."),
    field("tags", Nested, Optional, "Only problems with these: `[{tag, operator, value}]`."),
];

pub(crate) static MAINTENANCE: Object = Object {
    name: "maintenance",
    table: "maintenances",
    key: "maintenanceid",
    keys: "maintenanceids",
    fields: FIELDS,
    strict: false,
    sort: &["maintenanceid", "name", "maintenance_type", "active_till", "active_since"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &MAINTENANCE, &[])?;
    get.by_ids("maintenanceids", "t.maintenanceid IN ({ids})")?;
    let of_hosts = "SELECT maintenanceid FROM maintenance_hosts WHERE hostid IN";
    let of_groups = "SELECT maintenanceid FROM maintenance_groups WHERE groupid IN";
    get.by_ids("groupids", &format!("t.maintenanceid IN ({of_groups} ({{ids}}))"))?;
    // Of hosts: those that name the host or one of its groups.
    get.by_ids(
        "hostids",
        &format!(
            "EXISTS (SELECT 1 FROM hosts h WHERE h.hostid IN ({{ids}}) AND t.maintenanceid IN \
             ({of_hosts} (h.hostid) UNION {of_groups} \
             (SELECT hg.groupid FROM host_groups hg WHERE hg.hostid = h.hostid)))"
        ),
    )?;
    // A user sees those all of whose hosts and groups the user sees.
    let need = Need::of_get(get.flag("editable"));
    let all = [
        ("maintenance_hosts", on_hosts(call.user(), need, "o.hostid")),
        ("maintenance_groups", on_groups(call.user(), need, "o.groupid")),
    ];
    for (table, right) in all {
        if let Some(right) = right {
            get.and(
                format!(
                    "NOT EXISTS (SELECT 1 FROM {table} o WHERE o.maintenanceid = t.maintenanceid \
                     AND NOT ({right}))"
                ),
                [] as [Value; 0],
            );
        }
    }
    let mut found = get.run()?;
    for (option, relation, sql) in [
        (
            "selectHosts",
            Relation::new("hosts", "host.get", "hostids", "hostid"),
            "SELECT maintenanceid, hostid FROM maintenance_hosts WHERE maintenanceid IN ({ids}) \
             ORDER BY hostid",
        ),
        ("selectHostGroups", GROUPS, GROUPS_OF),
        ("selectGroups", Relation { member: "groups", ..GROUPS }, GROUPS_OF),
    ] {
        if let Some(wanted) = found.wants_uncounted(option)? {
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&relation, &wanted, &pairs)?;
        }
    }
    if let Some(wanted) = found.wants_uncounted("selectTimeperiods")? {
        found.attach(
            "timeperiods",
            &wanted,
            "SELECT maintenanceid AS owner, timeperiod_type, every, month, dayofweek, day, \
             start_time, period, start_date FROM maintenance_periods \
             WHERE maintenanceid IN ({ids}) ORDER BY maintenanceid, sortorder",
            periods::COLUMNS,
        )?;
    }
    if let Some(wanted) = found.wants_uncounted("selectTags")? {
        found.attach(
            "tags",
            &wanted,
            "SELECT maintenanceid AS owner, tag, operator, value FROM maintenance_tags \
             WHERE maintenanceid IN ({ids}) ORDER BY maintenancetagid",
            &["tag", "operator", "value"],
        )?;
    }
    Ok(found.finish())
}

const GROUPS: Relation = Relation::new("hostgroups", "hostgroup.get", "groupids", "groupid").bare();
const GROUPS_OF: &str = "SELECT maintenanceid, groupid FROM maintenance_groups \
    WHERE maintenanceid IN ({ids}) ORDER BY groupid";

#[cfg(test)]
mod tests;
