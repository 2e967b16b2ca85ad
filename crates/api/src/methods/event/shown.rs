//! What event.get and problem.get have in common: conditions on both and members beside the row.

use std::collections::HashSet;

use config::db::{Row, Value, query_by_ids};
use const_format::formatcp;
use model::Timestamp;
use objects::{EventObject, ProblemAction, UserType};
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get, Output};
use crate::permission::{Need, by_tag_filters, on_hosts, on_triggers};
use crate::{params, tags};

/// `source` and `object`, which default to trigger events.
pub(super) fn check_source(input: &Json) -> ApiResult<(i64, i64)> {
    let number = |name: &str, max: i64| match input.get(name) {
        None | Some(Json::Null) => Ok(0),
        Some(value) => {
            let path = format!("/{name}");
            let n = params::int(value, &path)?;
            if (0..=max).contains(&n) {
                return Ok(n);
            }
            let list: Vec<String> = (0..=max).map(|n| n.to_string()).collect();
            Err(ApiError::at(&path, format_args!("value must be one of {}", list.join(", "))))
        }
    };
    let found = (number("source", 4)?, number("object", 6)?);
    match input.get("evaltype").filter(|v| !v.is_null()) {
        Some(value) if !matches!(params::int(value, "/evaltype")?, 0 | 2) => {
            Err(ApiError::at("/evaltype", "value must be one of 0, 2"))
        }
        _ => Ok(found),
    }
}

/// Are events wanted by time, whatever they are about: the newest ones, or numbers by steps of time? Then
/// the index of the time reads only those, while that of the sources reads nearly all.
fn is_by_time(input: &Json) -> bool {
    let given = |name: &&str| input.get(name).is_some_and(|v| !v.is_null());
    let by_time = input.get("sortfield").map(params::list).unwrap_or_default();
    let by_time = by_time.first().is_some_and(|field| field.as_str() == Some("clock"));
    let about = ["eventids", "objectids", "hostids", "groupids"];
    let newest = by_time && given(&"limit");
    (newest || given(&"step")) && !about.iter().any(given)
}

/// An item or a discovery rule.
pub(super) const fn is_of_item(object: i64) -> bool {
    EventObject::Item.is(object) || EventObject::LldRule.is(object)
}

/// Only events about what this user may read.
fn readable(call: &Call<'_>, get: &mut Get<'_, '_>, object: i64) {
    let need = Need::of_get(get.flag("editable"));
    if EventObject::Trigger.is(object) {
        if let Some(condition) = on_triggers(call.user(), need, "t.objectid") {
            get.and(condition, []);
        }
        if let Some(condition) = by_tag_filters(call.user(), "t.eventid", "t.objectid") {
            get.and(condition, []);
        }
    } else if is_of_item(object) {
        if let Some(right) = on_hosts(call.user(), need, "i.hostid") {
            get.and(format!("t.objectid IN (SELECT i.itemid FROM items i WHERE {right})"), []);
        }
    } else if call.user().kind < UserType::Admin {
        // What the network has is nothing that rights on hosts could show.
        get.and("1 = 0", []);
    }
}

/// Conditions that both methods take.
pub(super) fn conditions(call: &Call<'_>, input: &Json, get: &mut Get<'_, '_>) -> ApiResult<()> {
    let (source, object) = check_source(input)?;
    for name in ["acknowledged", "suppressed", "symptom", "recent"] {
        if !matches!(input.get(name), None | Some(Json::Null | Json::Bool(_))) {
            return Err(ApiError::at(&format!("/{name}"), "a boolean is expected"));
        }
    }
    let plus = if is_by_time(input) { "+" } else { "" };
    let of_source = format!("{plus}t.source = ? AND {plus}t.object = ?");
    get.and(of_source, [source.into(), object.into()]);
    readable(call, get, object);
    get.by_ids("eventids", "t.eventid IN ({ids})")?;
    get.by_ids("objectids", "t.objectid IN ({ids})")?;
    let of_hosts = if is_of_item(object) {
        "SELECT i.itemid FROM items i"
    } else {
        "SELECT f.triggerid FROM functions f JOIN items i ON i.itemid = f.itemid"
    };
    for (option, condition) in [
        ("hostids", "WHERE i.hostid IN ({ids})"),
        ("groupids", "JOIN host_groups hg ON hg.hostid = i.hostid WHERE hg.groupid IN ({ids})"),
    ] {
        get.by_ids(option, &format!("t.objectid IN ({of_hosts} {condition})"))?;
    }
    for (option, condition) in [
        ("eventid_from", "t.eventid >= ?"),
        ("eventid_till", "t.eventid <= ?"),
        ("time_from", "t.clock >= ?"),
        ("time_till", "t.clock <= ?"),
    ] {
        if let Some(value) = input.get(option).filter(|v| !v.is_null()) {
            get.and(condition, [params::int(value, &format!("/{option}"))?.into()]);
        }
    }
    if let Some(severities) = params::ints(input, "severities")? {
        let list: Vec<String> = severities.iter().map(ToString::to_string).collect();
        let list = if list.is_empty() { "NULL".to_owned() } else { list.join(",") };
        get.and(format!("t.severity IN ({list})"), []);
    }
    if let Some(value) = input.get("acknowledged").filter(|v| !v.is_null()) {
        get.and("t.acknowledged = ?", [Value::from(params::flag(Some(value)))]);
    }
    if let Some(value) = input.get("symptom").filter(|v| !v.is_null()) {
        let test = if params::flag(Some(value)) { "<>" } else { "=" };
        get.and(format!("t.cause_eventid {test} 0"), []);
    }
    if let Some(value) = input.get("suppressed").filter(|v| !v.is_null()) {
        let test = if params::flag(Some(value)) { "IN" } else { "NOT IN" };
        get.and(format!("t.eventid {test} ({})", suppressed()), [Value::from(call.now())]);
    }
    let set = |test: &str| format!("SELECT eventid FROM event_tags WHERE {test}");
    if let Some((condition, values)) = tags::condition(input, "t.eventid", set)? {
        get.and(condition, values);
    }
    Ok(())
}

/// Events that are suppressed now.
pub(crate) fn suppressed() -> String {
    format!("SELECT s.eventid FROM {SUPPRESSIONS}")
}

/// What suppresses events now, as `s`: a maintenance, or a person, where the newest suppression (bit
/// 32) or its end (bit 64) decides.
const SUPPRESSIONS: &str = formatcp!(
    "(SELECT eventid, maintenanceid, suppress_until, 0 AS userid \
    FROM event_suppress UNION ALL \
    SELECT a.eventid, 0 AS maintenanceid, a.suppress_until, a.userid \
    FROM acknowledges a WHERE (a.action & {}) <> 0 \
    AND (a.suppress_until = 0 OR a.suppress_until > ?) \
    AND NOT EXISTS (SELECT 1 FROM acknowledges b WHERE b.eventid = a.eventid \
    AND b.acknowledgeid > a.acknowledgeid AND (b.action & {}) <> 0)) s",
    ProblemAction::Suppress.bit(),
    ProblemAction::Suppress.bit() | ProblemAction::Unsuppress.bit(),
);

/// Output that [`complete`] adds or changes.
pub(super) const WORKED_ON: &[&str] = &["suppressed", "urls", "opdata"];

/// Adds `suppressed` and `urls`, and what the `select…` options of both methods ask for.
pub(super) fn complete(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if found.output.has("suppressed") {
        let ids = found.ids();
        let sql = format!("{} WHERE s.eventid IN ({{ids}})", suppressed());
        let now = Value::from(found.call.now());
        let rows = found.call.read(|c| Ok(query_by_ids(c, &sql, &[now], &ids)?))?;
        let suppressed: HashSet<u64> = rows.iter().map(|row| row.id("eventid")).collect();
        for row in &mut found.rows {
            let value = if suppressed.contains(&row.id) { "1" } else { "0" };
            row.out.insert("suppressed", value.into());
        }
    }
    if found.output.has("urls") {
        super::menu::entries(found)?;
    }
    if found.output.has("opdata") {
        operational_data(found)?;
    }
    if let Some(wanted) = found.wants_list("selectTags")? {
        found.attach(
            "tags",
            &wanted,
            "SELECT eventid AS owner, tag, value FROM event_tags WHERE eventid IN ({ids}) \
             ORDER BY eventtagid",
            &["tag", "value"],
        )?;
    }
    if let Some(wanted) = found.wants_list("selectSuppressionData")? {
        suppression(found, &wanted)?;
    }
    Ok(())
}

/// Operational data as it reads now: the newest values, not those of the event's time.
fn operational_data(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let part = |row: &Row, name: &str| u32::try_from(row.int(name)).unwrap_or(u32::MAX);
    let at = |row: &Row| Timestamp { clock: part(row, "clock"), ns: part(row, "ns") };
    let events: Vec<(u64, Timestamp)> =
        found.rows.iter().map(|row| (row.row.id("objectid"), at(&row.row))).collect();
    let texts = crate::methods::trigger::operational_data(found.call, &events)?;
    for (row, text) in found.rows.iter_mut().zip(texts) {
        if let Some(text) = text {
            row.out.insert("opdata", text.into());
        }
    }
    Ok(())
}

fn suppression(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let ids = found.ids();
    let sql = format!(
        "SELECT s.eventid, s.maintenanceid, s.suppress_until, s.userid FROM {SUPPRESSIONS} \
         WHERE s.eventid IN ({{ids}}) ORDER BY s.maintenanceid, s.userid"
    );
    let now = Value::from(found.call.now());
    let rows = found.call.read(|c| Ok(query_by_ids(c, &sql, &[now], &ids)?))?;
    for found_row in &mut found.rows {
        let of_event = rows.iter().filter(|row| row.id("eventid") == found_row.id);
        let list = of_event.map(|row| {
            let members = [
                ("maintenanceid", row.id("maintenanceid").to_string()),
                ("suppress_until", row.int("suppress_until").to_string()),
                ("userid", row.int("userid").to_string()),
            ];
            let wanted = members.into_iter().filter(|(name, _)| wanted.has(name));
            wanted.map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, _>>()
        });
        found_row.out.insert("suppression_data", list.map(Json::Object).collect());
    }
    Ok(())
}

/// Adds `acknowledges`; with `names`, those of the users come along.
pub(super) fn acknowledges(
    found: &mut Found<'_, '_>,
    wanted: &Output,
    names: bool,
) -> ApiResult<()> {
    let mut fields = vec![
        "acknowledgeid",
        "userid",
        "clock",
        "message",
        "action",
        "old_severity",
        "new_severity",
        "suppress_until",
        "taskid",
    ];
    if names {
        fields.extend(["username", "name", "surname"]);
    }
    found.attach(
        "acknowledges",
        wanted,
        "SELECT a.eventid AS owner, a.acknowledgeid, a.userid, a.clock, a.message, a.action, \
         a.old_severity, a.new_severity, a.suppress_until, a.taskid, u.username, u.name, u.surname \
         FROM acknowledges a LEFT JOIN users u ON u.userid = a.userid WHERE a.eventid IN ({ids}) \
         ORDER BY a.acknowledgeid DESC",
        &fields,
    )
}
