//! What `oncall.get` adds to schedules.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Row, query_by_ids};
use serde_json::{Map, json};

use super::rights::among;
use crate::call::Json;
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Output;
use crate::object::FieldKind;
use crate::permission::Need;

/// How long overrides are shown after they ended, seconds.
const OVERRIDES_SHOWN_S: u64 = 90 * 86_400;

pub(super) fn show(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = found.wants("selectLayers")? {
        layers(found, &wanted)?;
    }
    if let Some(wanted) = found.wants("selectOverrides")? {
        let since = found.call.now().saturating_sub(OVERRIDES_SHOWN_S);
        let sql = format!(
            "SELECT scheduleid AS owner, overrideid, userid, time_from AS \"from\", \
             time_till AS \"to\", swapid, createdby FROM oncall_overrides \
             WHERE scheduleid IN ({{ids}}) AND time_till >= {since} ORDER BY scheduleid, overrideid"
        );
        let fields = ["overrideid", "userid", "from", "to", "swapid", "createdby"];
        found.attach("overrides", &wanted, &sql, &fields)?;
    }
    if let Some(wanted) = found.wants("selectUsers")? {
        users(found, &wanted)?;
    }
    Ok(())
}

/// An object with those of the members that are wanted.
fn picked(wanted: &Output, members: Json) -> Json {
    let Json::Object(members) = members else { return members };
    let members = members.into_iter().filter(|(name, _)| wanted.has(name));
    Json::Object(members.collect::<Map<String, Json>>())
}

/// The list, or how long it is.
fn list(wanted: &Output, list: Vec<Json>) -> Json {
    if *wanted == Output::Count { list.len().to_string().into() } else { list.into() }
}

fn layers(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let (ids, call) = (found.ids(), found.call);
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let (rows, users, named, own) = call.read(|connection| {
        let mut of = |sql: &str| query_by_ids(connection, sql, &[], &ids);
        let rows = of(
            "SELECT * FROM oncall_layers WHERE scheduleid IN ({ids}) ORDER BY scheduleid, position",
        )?;
        let users = of("SELECT * FROM oncall_layer_users WHERE scheduleid IN ({ids}) \
             ORDER BY scheduleid, layer, position")?;
        let has_calendar =
            wanted.has("calendar_error") && rows.iter().any(|row| !row.text("calendar").is_empty());
        let named = match has_calendar {
            true => config::oncall::read(connection, &ids, &config::oncall::around(now))?,
            false => BTreeMap::new(),
        };
        Ok((rows, users, named, among(call, connection, Need::Write, &ids)?))
    })?;
    let shown = |row: &Row| {
        let (schedule, position) = (row.id("scheduleid"), row.id("position"));
        let own_users = users
            .iter()
            .filter(|one| (one.id("scheduleid"), one.id("layer")) == (schedule, position));
        let own_users = own_users.map(|one| json!({ "userid": one.id("userid").to_string() }));
        let errors = named.get(&schedule).map(|named| &named.errors);
        let error = errors.and_then(|errors| errors.get(&usize::try_from(position).ok()?));
        // Events of calendars have more in them than shifts.
        let calendar = if own.contains(&schedule) { row.text("calendar") } else { "" };
        picked(
            wanted,
            json!({
                "name": row.text("name"),
                "users": own_users.collect::<Vec<_>>(),
                "start": row.int("time_from").to_string(),
                "end": row.int("time_till").to_string(),
                "period": row.text("period"),
                "handoff": row.text("handoff"),
                "on_holidays": row.int("on_holidays").to_string(),
                "restrictions": FieldKind::Json.stored_json(row.text("restrictions")),
                "calendar": calendar,
                "calendar_error": error.map_or("", String::as_str),
            }),
        )
    };
    let mut of_schedule: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in &rows {
        of_schedule.entry(row.id("scheduleid")).or_default().push(shown(row));
    }
    for row in &mut found.rows {
        let own = of_schedule.remove(&row.id).unwrap_or_default();
        row.out.insert("layers", list(wanted, own));
    }
    Ok(())
}

/// Everybody whom a schedule names, also for users who may not read users.
fn users(found: &mut Found<'_, '_>, wanted: &Output) -> ApiResult<()> {
    let (ids, call) = (found.ids(), found.call);
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let (of_schedule, rows) = call.read(|connection| {
        let named = config::oncall::read(connection, &ids, &config::oncall::around(now))?;
        let of_schedule: BTreeMap<u64, BTreeSet<u64>> =
            named.into_iter().map(|(id, one)| (id, one.schedule.everyone())).collect();
        let all: BTreeSet<u64> = of_schedule.values().flatten().copied().collect();
        let all: Vec<u64> = all.into_iter().collect();
        let sql = "SELECT userid, username, name, surname FROM users WHERE userid IN ({ids})";
        Ok((of_schedule, query_by_ids(connection, sql, &[], &all)?))
    })?;
    let rows: BTreeMap<u64, &Row> = rows.iter().map(|row| (row.id("userid"), row)).collect();
    let shown = |row: &&Row| {
        picked(
            wanted,
            json!({
                "userid": row.id("userid").to_string(),
                "username": row.text("username"),
                "name": row.text("name"),
                "surname": row.text("surname"),
            }),
        )
    };
    for row in &mut found.rows {
        let own = of_schedule.get(&row.id).into_iter().flatten();
        let own = own.filter_map(|id| rows.get(id)).map(shown).collect();
        row.out.insert("users", list(wanted, own));
    }
    Ok(())
}
