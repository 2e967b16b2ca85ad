//! Layers of a schedule: how they are given and stored.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Value, query_by_ids};
use config::table;
use jiff::tz::TimeZone;
use oncall::calendar::CALENDAR_MAX;
use oncall::{Period, TIME_MAX, calendar, second_of_day};
use serde_json::{Map, json};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::FieldKind::{Int, OneOf, Text};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

const LAYERS_MAX: usize = 20;
const USERS_MAX: usize = 100;
const RESTRICTIONS_MAX: usize = 20;
/// All days of the week.
const EVERY_DAY: i64 = 127;

const MEMBERS: &[&str] = &[
    "name",
    "users",
    "start",
    "end",
    "period",
    "handoff",
    "on_holidays",
    "restrictions",
    "calendar",
];

/// A layer as it is given.
#[derive(Debug)]
pub(super) struct Layer {
    path: String,
    columns: Vec<(&'static str, Value)>,
    users: Vec<u64>,
}

impl Layer {
    fn calendar_bytes(&self) -> usize {
        let calendar = self.columns.iter().find(|(name, _)| *name == "calendar");
        calendar.map_or(0, |(_, text)| text.to_string().len())
    }
}

/// The layers of an object; `None` = not given.
pub(super) fn parse(input: &Json, path: &str) -> ApiResult<Option<Vec<Layer>>> {
    let Some(list) = input.get("layers") else { return Ok(None) };
    let path = format!("{path}/layers");
    let layers = nested(list, &path)?;
    at_most(layers.len(), LAYERS_MAX, &path)?;
    let layers: Vec<Layer> =
        layers.into_iter().map(|(path, members)| layer(members, path)).collect::<ApiResult<_>>()?;
    // They are read with each change of the configuration.
    if layers.iter().map(Layer::calendar_bytes).sum::<usize>() > CALENDAR_MAX {
        return Err(ApiError::at(&path, "the calendars of a schedule are limited to 256 KiB"));
    }
    Ok(Some(layers))
}

fn at_most(length: usize, most: usize, path: &str) -> ApiResult<()> {
    if length > most {
        return Err(ApiError::at(path, format_args!("the list is limited to {most} entries")));
    }
    Ok(())
}

fn layer(members: &Map<String, Json>, path: String) -> ApiResult<Layer> {
    only(members, &path, MEMBERS)?;
    let at = |name: &str| format!("{path}/{name}");
    let text = |name: &str, default: &str, most: usize| {
        let value = members.get(name).map(|value| Text(most).check(value, &at(name)));
        let value = value.transpose()?.flatten();
        Ok::<_, ApiError>(value.map_or_else(|| default.to_owned(), |value| value.to_string()))
    };
    let number = |name: &str| {
        let value = members.get(name).map(|value| Int(0, TIME_MAX).check(value, &at(name)));
        Ok::<_, ApiError>(value.transpose()?.flatten().map_or(0, |value| value.as_int()))
    };
    let (start, end) = (number("start")?, number("end")?);
    if end != 0 && end <= start {
        return Err(ApiError::at(&at("end"), "value must be 0 or after \"start\""));
    }
    let calendar = text("calendar", "", 0)?;
    let on_holidays = members.get("on_holidays");
    let on_holidays =
        on_holidays.map(|value| OneOf(&[0, 1, 2]).check(value, &at("on_holidays"))).transpose()?;
    let mut layer = Layer {
        columns: vec![
            ("name", text("name", "", 255)?.into()),
            ("time_from", start.into()),
            ("time_till", end.into()),
            ("on_holidays", on_holidays.flatten().unwrap_or_else(|| 0.into())),
            ("restrictions", restrictions(members, &at("restrictions"))?.into()),
        ],
        users: Vec::new(),
        path: path.clone(),
    };
    if !calendar.is_empty() {
        if let Some(name) =
            ["users", "period", "handoff"].iter().find(|name| !is_empty(members.get(**name)))
        {
            let error = "value must be empty, because the layer has a calendar";
            return Err(ApiError::at(&at(name), error));
        }
        check_calendar(&calendar, &at("calendar"))?;
        layer.columns.extend([("calendar", calendar.into()), ("period", "".into())]);
        return Ok(layer);
    }
    if !members.contains_key("start") {
        return Err(missing(&path, "start"));
    }
    let (period, handoff) = (text("period", "1w", 10)?, text("handoff", "", 5)?);
    let length = Period::parse(&period).ok_or_else(|| {
        ApiError::at(&at("period"), "a time of 1h to 53w is expected, such as 12h, 1d or 1w")
    })?;
    if !handoff.is_empty() {
        if matches!(length, Period::Hours(_)) {
            let error = "value must be empty, because the period is not of whole days";
            return Err(ApiError::at(&at("handoff"), error));
        }
        if second_of_day(&handoff).is_none_or(|second| second == 86_400) {
            return Err(ApiError::at(
                &at("handoff"),
                "a time of the day from 00:00 to 23:59 is expected",
            ));
        }
    }
    layer.columns.extend([("period", period.into()), ("handoff", handoff.into())]);
    layer.users = users(members, &path)?;
    Ok(layer)
}

/// Forms send empty values for what does not count.
fn is_empty(value: Option<&Json>) -> bool {
    match value {
        None | Some(Json::Null) => true,
        Some(Json::String(text)) => text.is_empty(),
        Some(Json::Array(list)) => list.is_empty(),
        Some(_) => false,
    }
}

fn users(members: &Map<String, Json>, path: &str) -> ApiResult<Vec<u64>> {
    let list = members.get("users").ok_or_else(|| missing(path, "users"))?;
    let path = format!("{path}/users");
    let mut users = Vec::new();
    for (path, members) in nested(list, &path)? {
        only(members, &path, &["userid"])?;
        let id = members.get("userid").ok_or_else(|| missing(&path, "userid"))?;
        users.push(params::id(id, &format!("{path}/userid"))?);
    }
    if users.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    at_most(users.len(), USERS_MAX, &path)?;
    Ok(users)
}

/// The restrictions as they are stored: JSON in the form of the API.
fn restrictions(members: &Map<String, Json>, path: &str) -> ApiResult<String> {
    let Some(list) = members.get("restrictions") else { return Ok("[]".to_owned()) };
    let list = nested(list, path)?;
    at_most(list.len(), RESTRICTIONS_MAX, path)?;
    let mut stored = Vec::new();
    for (path, members) in list {
        only(members, &path, &["weekdays", "from", "to"])?;
        let weekdays = members.get("weekdays");
        let weekdays = weekdays
            .map(|value| Int(1, EVERY_DAY).check(value, &format!("{path}/weekdays")))
            .transpose()?
            .flatten();
        let time = |name: &str| {
            let value = members.get(name).ok_or_else(|| missing(&path, name))?;
            let at = format!("{path}/{name}");
            let text = params::text(value, &at)?;
            let is_time = second_of_day(&text).is_some_and(|at| name == "to" || at < 86_400);
            if !is_time {
                let error = "a time of the day is expected, such as 18:00";
                return Err(ApiError::at(&at, error));
            }
            Ok::<_, ApiError>(text)
        };
        stored.push(json!({
            "weekdays": weekdays.map_or(EVERY_DAY, |value| value.as_int()).to_string(),
            "from": time("from")?,
            "to": time("to")?,
        }));
    }
    Ok(Json::Array(stored).to_string())
}

/// Refuses a text that is no calendar.
pub(super) fn check_calendar(text: &str, path: &str) -> ApiResult<()> {
    match calendar::read(text, &TimeZone::UTC, &(0..TIME_MAX)) {
        Ok(_) => Ok(()),
        Err(error) => Err(ApiError::at(path, error)),
    }
}

/// Replaces the layers of a schedule.
pub(super) fn write(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    schedule: u64,
    layers: &[Layer],
) -> ApiResult<()> {
    check_users(call, edit, schedule, layers)?;
    edit.delete(&table::ONCALL_LAYERS, "scheduleid", &[schedule])?;
    edit.delete(&table::ONCALL_LAYER_USERS, "scheduleid", &[schedule])?;
    for (position, layer) in (0_u64..).zip(layers) {
        let mut row = layer.columns.clone();
        row.extend([("scheduleid", schedule.into()), ("position", position.into())]);
        edit.insert(&table::ONCALL_LAYERS, &row)?;
        let user = |(n, user): (u64, &u64)| -> Vec<Value> {
            vec![schedule.into(), position.into(), n.into(), (*user).into()]
        };
        let rows: Vec<Vec<Value>> = (0..).zip(&layer.users).map(user).collect();
        let columns = ["scheduleid", "layer", "position", "userid"];
        edit.insert_many(&table::ONCALL_LAYER_USERS, &columns, &rows)?;
    }
    Ok(())
}

/// Refuses users who do not exist, and of administrators those of other groups. Who is in the schedule can stay.
fn check_users(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    schedule: u64,
    layers: &[Layer],
) -> ApiResult<()> {
    let all: BTreeSet<u64> = layers.iter().flat_map(|layer| layer.users.iter().copied()).collect();
    let all: Vec<u64> = all.into_iter().collect();
    let mut sql = "SELECT userid FROM users WHERE userid IN ({ids})".to_owned();
    if !call.is_super_admin() {
        sql += &seen_users(call.user().id, schedule);
    }
    let known: BTreeSet<u64> =
        query_by_ids(edit, &sql, &[], &all)?.iter().map(|row| row.id("userid")).collect();
    for layer in layers {
        if let Some(n) = layer.users.iter().position(|user| !known.contains(user)) {
            let path = format!("{}/users/{}", layer.path, n + 1);
            return Err(crate::write::no_object_at(&path));
        }
    }
    Ok(())
}

/// Condition on users whom an administrator may put on call.
pub(super) fn seen_users(me: u64, schedule: u64) -> String {
    format!(
        " AND (userid = {me} OR userid IN (SELECT o.userid FROM user_groups o JOIN user_groups m \
         ON m.usrgrpid = o.usrgrpid WHERE m.userid = {me}) \
         OR userid IN (SELECT userid FROM oncall_layer_users WHERE scheduleid = {schedule}))"
    )
}
