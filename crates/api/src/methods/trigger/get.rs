//! `get` of triggers and trigger prototypes.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use config::db::{Cells, query_by_ids};
use const_format::formatcp;
use model::TriggerId;
use objects::sql::{KIND_HOST, KIND_TEMPLATE, OBJECT_TRIGGER, SOURCE_TRIGGER, STATUS_ENABLED};
use serde_json::Map;

use super::{Kind, expand};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::item::hosts;
use crate::methods::{event, group, item, trigger};
use crate::params;
use crate::permission::{Need, on_triggers};
use crate::relate::Relation;
use crate::tags;

/// A trigger that recovered this long ago still counts as recently in problem state.
const OK_PERIOD_S: u64 = 300;

/// The method of both objects.
pub(super) fn get(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let mut get = Get::new(call, input, kind.object(), &[])?;
    get.and(kind.condition(), []);
    conditions(&mut get, call, input)?;
    if kind == Kind::Trigger {
        state_conditions(&mut get, call, input)?;
        event_conditions(&mut get);
    }
    get.need(&["description", "comments", "expression", "recovery_expression"]);
    // A field that rows are sorted by is shown with them.
    get.also_show(&sort_fields(input));
    get.answer(|found| {
        if found.rows.is_empty() {
            return Ok(());
        }
        expand::expand(found, input)?;
        selects(found, kind)
    })
}

fn sort_fields(input: &Json) -> Vec<&'static str> {
    let given = input.get("sortfield").filter(|v| !v.is_null());
    let given: Vec<&str> =
        given.map(params::list).unwrap_or_default().iter().filter_map(|v| v.as_str()).collect();
    let known = ["status", "priority", "lastchange", "hostname", "description", "discover"];
    known.into_iter().filter(|name| given.contains(name)).collect()
}

/// Triggers one of whose items meets a condition on `i` (items) and `h` (hosts).
fn on_items(condition: &str) -> String {
    format!(
        "t.triggerid IN (SELECT f.triggerid FROM functions f JOIN items i ON i.itemid = f.itemid \
         JOIN hosts h ON h.hostid = i.hostid WHERE {condition})"
    )
}

/// Triggers all of whose items meet the condition.
fn on_all_items(condition: &str) -> String {
    format!(
        "NOT EXISTS (SELECT 1 FROM functions f JOIN items i ON i.itemid = f.itemid \
         JOIN hosts h ON h.hostid = i.hostid WHERE f.triggerid = t.triggerid AND NOT ({condition}))"
    )
}

fn conditions(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_triggers(call.user(), need, "t.triggerid") {
        get.and(condition, []);
    }
    get.by_ids("triggerids", "t.triggerid IN ({ids})")?;
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
        "t.triggerid IN (SELECT triggerid FROM functions WHERE itemid IN ({ids}))",
    )?;
    get.by_ids("discoveryids", &on_ids("i.ruleid"))?;
    let groups = "i.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))";
    get.by_ids("groupids", &on_items(groups))?;
    let text = |name: &str| input.get(name).and_then(Json::as_str);
    if let Some(host) = text("host") {
        get.and(on_items("h.host = ?"), [host.into()]);
    }
    if let Some(group) = text("group") {
        let condition = "i.hostid IN (SELECT hg.hostid FROM host_groups hg \
                         JOIN groups_ g ON g.groupid = hg.groupid WHERE g.name = ?)";
        get.and(on_items(condition), [group.into()]);
    }
    if let Some(functions) = input.get("functions").filter(|v| !v.is_null()) {
        let names = crate::get::texts_of(functions);
        let marks = config::db::placeholders(names.len());
        let names: Vec<config::db::Value> = names.into_iter().map(Into::into).collect();
        let sql =
            format!("t.triggerid IN (SELECT triggerid FROM functions WHERE name IN ({marks}))");
        get.and(sql, names);
    }
    get.extra("host", HOST_TEST);
    get.extra("hostid", HOSTID_TEST);
    let own = |test: &str| format!("SELECT triggerid FROM trigger_tags WHERE {test}");
    if let Some((condition, values)) = tags::condition(input, "t.triggerid", own)? {
        get.and(condition, values);
    }
    Ok(())
}

const HOST_TEST: &str = "t.triggerid IN (SELECT f.triggerid FROM functions f \
                         JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
                         WHERE h.host {test})";

const HOSTID_TEST: &str = "t.triggerid IN (SELECT f.triggerid FROM functions f \
                           JOIN items i ON i.itemid = f.itemid \
                           WHERE CAST(i.hostid AS TEXT) {test})";

/// Conditions on the state of the trigger, its items and hosts.
fn state_conditions<'c>(get: &mut Get<'c, '_>, call: &'c Call<'_>, input: &Json) -> ApiResult<()> {
    let table: &[(&str, String)] = &[
        ("inherited", "t.templateid > 0".to_owned()),
        ("templated", on_items(formatcp!("h.kind = {KIND_TEMPLATE}"))),
        ("maintenance", on_items("h.maintenance_status = 1")),
        ("dependent", "t.triggerid IN (SELECT triggerid FROM trigger_depends)".to_owned()),
    ];
    for (option, condition) in table {
        match input.get(*option) {
            None | Some(Json::Null) => {}
            value if params::flag(value) => get.and(condition.as_str(), []),
            _ => get.and(format!("NOT ({condition})"), []),
        }
    }
    if get.flag("monitored") {
        get.and(formatcp!("t.status = {STATUS_ENABLED}"), []);
        if call.transaction.is_some() {
            get.and(on_all_items(formatcp!("h.kind = {KIND_HOST} AND h.status = {STATUS_ENABLED} AND i.status = {STATUS_ENABLED}")), []);
        } else {
            // The configuration in memory knows it of each trigger of a host.
            let snapshot = call.config().snapshot();
            let enabled =
                move |id| snapshot.triggers.get(&TriggerId(id)).is_some_and(|t| t.enabled);
            get.keep(Box::new(enabled));
        }
    }
    if get.flag("active") {
        get.and(
            format!(
                "t.status = {STATUS_ENABLED} AND {}",
                on_all_items(formatcp!("h.kind = {KIND_HOST} AND h.status = {STATUS_ENABLED}"))
            ),
            [],
        );
    }
    if get.flag("skipDependent") {
        let dependencies = "SELECT COUNT(*) AS n FROM (SELECT 1 FROM trigger_depends LIMIT 1000) d";
        let rows = call.rows(dependencies, &[])?;
        // From few dependencies to the states: SQLite takes tables in the order of cross joins. Else
        // it begins with the triggers in problem state.
        let few = rows.first().is_some_and(|row| row.int("n") < 1_000);
        let join = if few { " CROSS JOIN" } else { "," };
        get.and(
            format!(
                "t.triggerid NOT IN (WITH RECURSIVE silent(id) AS (\
                   SELECT d.triggerid FROM trigger_depends d \
                   {join} triggers u{join} trigger_states s \
                   WHERE u.triggerid = d.depends_on AND s.triggerid = u.triggerid \
                   AND s.value = 1 AND u.status = {STATUS_ENABLED} UNION \
                   SELECT d.triggerid FROM trigger_depends d JOIN silent ON d.depends_on = silent.id) \
                 SELECT id FROM silent)"
            ),
            [],
        );
    }
    if get.flag("only_true") {
        let since = call.now().saturating_sub(OK_PERIOD_S);
        if call.transaction.is_some() {
            get.and(IN_PROBLEM_STATE, [since.into()]);
        } else {
            in_problem_state(get, call, since)?;
        }
    }
    for (option, condition) in [
        ("min_severity", "t.priority >= ?"),
        (
            "lastChangeSince",
            "t.triggerid IN (SELECT triggerid FROM trigger_states WHERE lastchange > ?)",
        ),
        ("lastChangeTill", "t.lastchange < ?"),
    ] {
        if let Some(n) = input.get(option).and_then(|v| params::int(v, "").ok()) {
            get.and(condition, [n.into()]);
        }
    }
    Ok(())
}

const IN_PROBLEM_STATE: &str =
    "t.triggerid IN (SELECT triggerid FROM trigger_states WHERE value = 1 OR lastchange > ?)";

/// Triggers in problem state. A few are named in the statement. If many are, it tests the state of each
/// trigger that it reads: that needs no list of them, and no order of all for the first by priority.
fn in_problem_state(get: &mut Get<'_, '_>, call: &Call<'_>, since: u64) -> ApiResult<()> {
    const FEW: usize = if cfg!(test) { 2 } else { 1_000 };
    let some = FEW.max(call.config().snapshot().triggers.len() / 16);
    let mut ids: Vec<u64> = Vec::new();
    call.read(|connection| {
        let row = &mut |row: &dyn Cells| {
            ids.push(row.id(0));
            if ids.len() > 2 * some { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let open = "SELECT triggerid FROM trigger_states WHERE value = 1";
        connection.each_until(open, &[], row)?;
        let recent = "SELECT triggerid FROM trigger_states WHERE lastchange > ?";
        Ok(connection.each_until(recent, &[since.into()], row)?)
    })?;
    ids.sort_unstable();
    ids.dedup();
    if ids.len() <= FEW {
        get.in_ids("t.triggerid IN ({ids})", &ids);
    } else if ids.len() <= some {
        get.and(IN_PROBLEM_STATE, [since.into()]);
    } else {
        get.and("(t.value = 1 OR t.lastchange > ?)", [since.into()]);
    }
    Ok(())
}

/// Conditions on the trigger's events.
fn event_conditions(get: &mut Get<'_, '_>) {
    let open = formatcp!(
        "SELECT 1 FROM events e WHERE e.source = {SOURCE_TRIGGER} AND e.object = {OBJECT_TRIGGER} \
         AND e.objectid = t.triggerid AND e.value = 1 AND e.acknowledged = 0"
    );
    if get.flag("withUnacknowledgedEvents") {
        get.and(format!("EXISTS ({open})"), []);
    }
    if get.flag("withAcknowledgedEvents") {
        get.and(format!("NOT EXISTS ({open})"), []);
    }
    if get.flag("withLastEventUnacknowledged") {
        get.and(
            format!(
                "EXISTS ({open} AND e.eventid = (SELECT MAX(l.eventid) FROM events l \
                 WHERE l.source = {SOURCE_TRIGGER} AND l.object = {OBJECT_TRIGGER} \
                 AND l.objectid = t.triggerid AND l.value = 1))"
            ),
            [],
        );
    }
}

const GROUPS: Relation = Relation::new("hostgroups", &group::HOST_GROUP);
const OLD_GROUPS: Relation = Relation::new("groups", &group::HOST_GROUP);
const TEMPLATE_GROUPS: Relation = Relation::new("templategroups", &group::TEMPLATE_GROUP);
const LAST_EVENT: Relation = Relation::new("lastEvent", &event::EVENT).bare();
/// What "extend" means for `selectLastEvent`.
const LAST_EVENT_FIELDS: [&str; 10] = [
    "eventid",
    "source",
    "object",
    "objectid",
    "clock",
    "value",
    "acknowledged",
    "ns",
    "name",
    "severity",
];
const RULE: Relation = Relation::new("discoveryRule", &item::RULE);
const DEPENDENCIES: Relation = Relation::new("dependencies", &trigger::TRIGGER);

fn selects(found: &mut Found<'_, '_>, kind: Kind) -> ApiResult<()> {
    let ids = found.ids();
    for (option, relation, group_type) in [
        ("selectHostGroups", &GROUPS, 0),
        ("selectGroups", &OLD_GROUPS, 0),
        ("selectTemplateGroups", &TEMPLATE_GROUPS, 1),
    ] {
        if let Some(wanted) = found.wants_uncounted(option)? {
            let sql = format!(
                "SELECT DISTINCT f.triggerid, hg.groupid FROM functions f \
                 JOIN items i ON i.itemid = f.itemid JOIN host_groups hg ON hg.hostid = i.hostid \
                 JOIN groups_ g ON g.groupid = hg.groupid \
                 WHERE g.type = {group_type} AND f.triggerid IN ({{ids}})"
            );
            let pairs = found.call.pairs(&sql, &ids)?;
            found.relate_as(relation, &wanted, &pairs)?;
        }
    }
    if let Some(wanted) = found.wants_uncounted("selectHosts")? {
        let sql = "SELECT DISTINCT f.triggerid, i.hostid FROM functions f \
                   JOIN items i ON i.itemid = f.itemid WHERE f.triggerid IN ({ids})";
        let pairs = found.call.pairs(sql, &ids)?;
        hosts(found, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectItems")? {
        let sql = "SELECT DISTINCT triggerid, itemid FROM functions WHERE triggerid IN ({ids})";
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_as(&item::WITH_PROTOTYPES, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectFunctions")? {
        functions(found, &wanted, &ids)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectTags")? {
        found.attach(
            "tags",
            &wanted,
            "SELECT triggerid AS owner, tag, value FROM trigger_tags WHERE triggerid IN ({ids}) \
             ORDER BY triggertagid",
            &["tag", "value"],
        )?;
    }
    if let Some(wanted) = found.wants_uncounted("selectDependencies")? {
        dependencies(found, &wanted, &ids, kind)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectDiscoveryRule")? {
        let sql = if kind == Kind::Prototype {
            "SELECT DISTINCT f.triggerid, i.ruleid FROM functions f \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid > 0 AND f.triggerid IN ({ids})"
        } else {
            "SELECT DISTINCT d.triggerid, i.ruleid FROM trigger_discovery d \
             JOIN functions f ON f.triggerid = d.parent_triggerid \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid > 0 AND d.triggerid IN ({ids})"
        };
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_one(&RULE, &wanted, &pairs)?;
    }
    if kind == Kind::Trigger {
        if let Some(wanted) = found.wants("selectLastEvent")? {
            let sql = formatcp!(
                "SELECT objectid, MAX(eventid) FROM events \
                 WHERE source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER} \
                 AND objectid IN ({{ids}}) GROUP BY objectid"
            );
            let pairs = found.call.pairs(sql, &ids)?;
            let wanted = match wanted {
                Output::Extend => Output::Fields(LAST_EVENT_FIELDS.map(String::from).into()),
                wanted => wanted,
            };
            found.relate_one(&LAST_EVENT, &wanted, &pairs)?;
        }
        if let Some(wanted) = found.wants_uncounted("selectTriggerDiscovery")? {
            discovery(found, &wanted, &ids)?;
        }
    }
    Ok(())
}

/// Adds `functions`. Their name is asked for as `name` and shown as `function`; an object of which
/// nothing is wanted is an empty array.
fn functions(found: &mut Found<'_, '_>, wanted: &Output, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT functionid, itemid, triggerid, parameter, name FROM functions \
               WHERE triggerid IN ({ids}) ORDER BY functionid";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))?;
    let mut of_row: HashMap<u64, Vec<Json>> = HashMap::new();
    for row in rows {
        let mut out = Map::new();
        for name in ["functionid", "itemid", "triggerid", "parameter", "name"] {
            if wanted.has(name) {
                let shown = if name == "name" { "function" } else { name };
                let value = row.get(name).map(ToString::to_string).unwrap_or_default();
                out.insert(shown.to_owned(), value.into());
            }
        }
        of_row.entry(row.id("triggerid")).or_default().push(empty_as_array(out));
    }
    for row in &mut found.rows {
        let functions = of_row.remove(&row.id).unwrap_or_default();
        row.out.insert("functions", functions.into());
    }
    Ok(())
}

fn empty_as_array(out: Map<String, Json>) -> Json {
    if out.is_empty() { Json::Array(Vec::new()) } else { Json::Object(out) }
}

fn dependencies(
    found: &mut Found<'_, '_>,
    wanted: &Output,
    ids: &[u64],
    kind: Kind,
) -> ApiResult<()> {
    let sql = "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})";
    let pairs = found.call.pairs(sql, ids)?;
    if kind == Kind::Trigger {
        return found.relate_as(&DEPENDENCIES, wanted, &pairs);
    }
    // A prototype depends on prototypes and on plain triggers.
    let all: BTreeSet<u64> = pairs.iter().map(|(_, on)| *on).collect();
    let all: Vec<u64> = all.into_iter().collect();
    let mut shown = found.call.get_keyed(&trigger::TRIGGER, &all, wanted)?;
    shown.extend(found.call.get_keyed(&trigger::PROTOTYPE, &all, wanted)?);
    for row in &mut found.rows {
        let on = pairs.iter().filter(|(trigger, _)| *trigger == row.id);
        let list: Json = on.filter_map(|(_, on)| shown.get(&on.to_string()).cloned()).collect();
        row.out.insert("dependencies", list);
    }
    Ok(())
}

/// Adds `triggerDiscovery`: what made a discovered trigger.
fn discovery(found: &mut Found<'_, '_>, wanted: &Output, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT * FROM trigger_discovery WHERE triggerid IN ({ids})";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))?;
    let mut shown: HashMap<u64, Json> = HashMap::new();
    for row in rows {
        let mut out = Map::new();
        for name in ["parent_triggerid", "status", "ts_delete", "ts_disable", "disable_source"] {
            if wanted.has(name) {
                let value = row.get(name).map(ToString::to_string).unwrap_or_default();
                out.insert(name.to_owned(), value.into());
            }
        }
        shown.insert(row.id("triggerid"), empty_as_array(out));
    }
    for row in &mut found.rows {
        let one = shown.remove(&row.id).unwrap_or_else(|| Json::Array(Vec::new()));
        row.out.insert("triggerDiscovery", one);
    }
    Ok(())
}
