//! `get` of graphs and graph prototypes, and how hosts show their graphs.

use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL, KIND_TEMPLATE};

use super::{GRAPH, Kind};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get};
use crate::methods::{group, item, template};
use crate::params;
use crate::permission::{Need, and, on_graphs, on_groups};
use crate::relate::Relation;

/// The method of both objects.
pub(super) fn get(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let mut get = Get::new(call, input, kind.object(), &[])?;
    get.and(kind.condition(), []);
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_graphs(call.user(), need, "t.graphid") {
        get.and(condition, []);
    }
    conditions(&mut get, input, kind)?;
    get.answer(|found| {
        if found.rows.is_empty() {
            return Ok(());
        }
        selects(found, kind)
    })
}

/// Graphs one of whose items meets a condition on `i` (items) and `h` (hosts).
fn on_items(condition: &str) -> String {
    format!(
        "t.graphid IN (SELECT f.graphid FROM graph_items f JOIN items i ON i.itemid = f.itemid \
         JOIN hosts h ON h.hostid = i.hostid WHERE {condition})"
    )
}

fn conditions(get: &mut Get<'_, '_>, input: &Json, kind: Kind) -> ApiResult<()> {
    get.by_ids("graphids", "t.graphid IN ({ids})")?;
    let on_ids = |column: &str| on_items(&format!("{column} IN ({{ids}})"));
    // The one list adds to the other, as clients know it.
    let hosts = params::ids(input, "hostids")?;
    let templates = params::ids(input, "templateids")?;
    if hosts.is_some() || templates.is_some() {
        let mut ids = hosts.unwrap_or_default();
        ids.extend(templates.unwrap_or_default());
        get.in_ids(&on_ids("i.hostid"), &ids);
    }
    get.by_ids(
        "itemids",
        "t.graphid IN (SELECT graphid FROM graph_items WHERE itemid IN ({ids}))",
    )?;
    if kind == Kind::Prototype {
        get.by_ids("discoveryids", &on_ids("i.ruleid"))?;
    }
    let groups = "i.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))";
    get.by_ids("groupids", &on_items(groups))?;
    for (option, condition) in [
        ("inherited", "t.templateid > 0".to_owned()),
        ("templated", on_items(formatcp!("h.kind = {KIND_TEMPLATE}"))),
    ] {
        match input.get(option) {
            None | Some(Json::Null) => {}
            value if params::flag(value) => get.and(condition, []),
            _ => get.and(format!("NOT ({condition})"), []),
        }
    }
    get.extra("host", HOST_TEST);
    get.extra("hostid", HOSTID_TEST);
    Ok(())
}

const HOST_TEST: &str = "t.graphid IN (SELECT f.graphid FROM graph_items f \
                         JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
                         WHERE h.host {test})";

const HOSTID_TEST: &str = "t.graphid IN (SELECT f.graphid FROM graph_items f \
                           JOIN items i ON i.itemid = f.itemid \
                           WHERE CAST(i.hostid AS TEXT) {test})";

const GROUPS: Relation = Relation::new("hostgroups", &group::HOST_GROUP);
const TEMPLATE_GROUPS: Relation = Relation::new("templategroups", &group::TEMPLATE_GROUP);
const TEMPLATES: Relation = Relation::new("templates", &template::TEMPLATE);
const RULE: Relation = Relation::new("discoveryRule", &item::RULE);
const GRAPHS: Relation = Relation::new("graphs", &GRAPH).sorted("name");

/// Columns of an item that `selectGraphItems` shows.
const GRAPH_ITEM: [&str; 9] = [
    "gitemid",
    "graphid",
    "itemid",
    "drawtype",
    "sortorder",
    "color",
    "yaxisside",
    "calc_fnc",
    "type",
];

fn selects(found: &mut Found<'_, '_>, kind: Kind) -> ApiResult<()> {
    let ids = found.ids();
    for (option, relation, group_type) in
        [("selectHostGroups", &GROUPS, 0), ("selectTemplateGroups", &TEMPLATE_GROUPS, 1)]
    {
        if let Some(wanted) = found.wants_uncounted(option)? {
            let sql = format!(
                "SELECT DISTINCT f.graphid, hg.groupid FROM graph_items f \
                 JOIN items i ON i.itemid = f.itemid JOIN host_groups hg ON hg.hostid = i.hostid \
                 JOIN groups_ g ON g.groupid = hg.groupid \
                 WHERE g.type = {group_type} AND f.graphid IN ({{ids}})"
            );
            let pairs = found.call.pairs(&sql, &ids)?;
            found.relate_as(relation, &wanted, &pairs)?;
        }
    }
    attach_old_groups(found)?;
    let hosts = "SELECT DISTINCT f.graphid, i.hostid FROM graph_items f \
                 JOIN items i ON i.itemid = f.itemid WHERE f.graphid IN ({ids})";
    if let Some(wanted) = found.wants_uncounted("selectHosts")? {
        let pairs = found.call.pairs(hosts, &ids)?;
        item::hosts(found, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectTemplates")? {
        let pairs = found.call.pairs(hosts, &ids)?;
        found.relate_as(&TEMPLATES, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectItems")? {
        let sql = "SELECT graphid, itemid FROM graph_items WHERE graphid IN ({ids}) \
                   ORDER BY gitemid";
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_as(&item::WITH_PROTOTYPES, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectGraphItems")? {
        let sql = "SELECT graphid AS owner, gitemid, graphid, itemid, drawtype, sortorder, color, \
                   yaxisside, calc_fnc, type FROM graph_items WHERE graphid IN ({ids}) \
                   ORDER BY gitemid";
        found.attach("gitems", &wanted, sql, &GRAPH_ITEM)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectDiscoveryRule")? {
        let sql = if kind == Kind::Prototype {
            "SELECT DISTINCT f.graphid, i.ruleid FROM graph_items f \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid > 0 AND f.graphid IN ({ids})"
        } else {
            "SELECT DISTINCT d.graphid, i.ruleid FROM graph_discovery d \
             JOIN graph_items f ON f.graphid = d.parent_graphid \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid > 0 AND d.graphid IN ({ids})"
        };
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_one(&RULE, &wanted, &pairs)?;
    }
    if kind == Kind::Graph {
        attach_discovery(found)?;
    }
    Ok(())
}

/// Adds `groups`: groups of hosts and of templates, as old clients ask for them.
fn attach_old_groups(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_uncounted("selectGroups")? else { return Ok(()) };
    let right = and(on_groups(found.call.user(), Need::Read, "g.groupid"));
    let sql = format!(
        "SELECT DISTINCT f.graphid AS owner, g.groupid, g.name, g.flags, g.uuid \
         FROM graph_items f JOIN items i ON i.itemid = f.itemid \
         JOIN host_groups hg ON hg.hostid = i.hostid JOIN groups_ g ON g.groupid = hg.groupid \
         WHERE f.graphid IN ({{ids}}){right} ORDER BY g.groupid"
    );
    found.attach("groups", &wanted, &sql, &["groupid", "name", "flags", "uuid"])
}

/// Adds `graphDiscovery`: what made a discovered graph.
fn attach_discovery(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_uncounted("selectGraphDiscovery")? else { return Ok(()) };
    found.attach(
        "graphDiscovery",
        &wanted,
        "SELECT graphid AS owner, graphid, parent_graphid, lastcheck, ts_delete, status \
         FROM graph_discovery WHERE graphid IN ({ids})",
        &["graphid", "parent_graphid", "lastcheck", "ts_delete", "status"],
    )?;
    for row in &mut found.rows {
        // One object, or an empty array.
        let list = row.out.get_mut("graphDiscovery").and_then(Json::as_array_mut);
        if let Some(one) = list.and_then(Vec::pop) {
            row.out.insert("graphDiscovery", one);
        }
    }
    Ok(())
}

/// Condition on the host id in `column`: hosts with graphs, or with prototypes.
pub(crate) fn of_hosts(column: &str, kind: Kind) -> String {
    let flags = match kind {
        Kind::Graph => formatcp!("IN {FLAGS_REAL}"),
        Kind::Prototype => formatcp!("= {FLAGS_PROTOTYPE}"),
    };
    format!(
        "{column} IN (SELECT gx.hostid FROM items gx JOIN graph_items gi ON gi.itemid = gx.itemid \
         JOIN graphs gg ON gg.graphid = gi.graphid WHERE gg.flags {flags})"
    )
}

/// Condition on the host id in `column`: hosts with one of the graphs `{ids}`.
pub(crate) fn of_hosts_by_id(column: &str) -> String {
    format!(
        "{column} IN (SELECT gx.hostid FROM graph_items gi JOIN items gx ON gx.itemid = gi.itemid \
         WHERE gi.graphid IN ({{ids}}))"
    )
}

/// `selectGraphs` of hosts and templates.
pub(crate) fn attach_to_hosts(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants("selectGraphs")? else { return Ok(()) };
    let sql = formatcp!(
        "SELECT DISTINCT i.hostid, f.graphid FROM items i JOIN graph_items f ON f.itemid = i.itemid \
         JOIN graphs g ON g.graphid = f.graphid WHERE g.flags IN {FLAGS_REAL} \
         AND i.hostid IN ({{ids}}) ORDER BY f.graphid"
    );
    let pairs = found.call.pairs(sql, &found.ids())?;
    found.relate_as(&GRAPHS, &wanted, &pairs)
}
