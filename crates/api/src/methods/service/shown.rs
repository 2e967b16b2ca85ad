//! What `service.get` shows beside the rows.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Value, query_by_ids};
use serde_json::{Map, json};
use services::access::Need;
use services::causes::causes;

use super::rights;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Output;
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

/// Periods of one call.
const PERIODS_MAX: usize = 100;

pub(super) fn readonly(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if !found.output.has("readonly") || found.rows.is_empty() {
        return Ok(());
    }
    let ids = found.ids();
    let access = rights::access(found.call);
    let open = found.call.read(|connection| Ok(access.among(connection, Need::Write, &ids)?))?;
    for row in &mut found.rows {
        row.out.insert("readonly", (!open.contains(&row.id)).into());
    }
    Ok(())
}

const EVENT: [&str; 3] = ["eventid", "severity", "name"];

pub(super) fn problem_events(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants("selectProblemEvents")? else { return Ok(()) };
    if let Output::Fields(names) = &wanted
        && let Some(n) = names.iter().position(|name| !EVENT.contains(&name.as_str()))
    {
        let path = format!("/selectProblemEvents/{}", n + 1);
        return Err(ApiError::at(
            &path,
            "value must be one of \"eventid\", \"severity\", \"name\"",
        ));
    }
    let ids = found.ids();
    let causes = found.call.read(|connection| Ok(causes(connection, &ids)?))?;
    let mut of_service: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for cause in causes {
        let members = [
            ("eventid", cause.event.to_string()),
            ("severity", cause.severity.to_string()),
            ("name", cause.name),
        ];
        let shown = members.into_iter().filter(|(name, _)| wanted.has(name));
        let event: Map<String, Json> =
            shown.map(|(name, value)| (name.to_owned(), value.into())).collect();
        of_service.entry(cause.service).or_default().push(event.into());
    }
    for row in &mut found.rows {
        let events = of_service.remove(&row.id).unwrap_or_default();
        let shown = if wanted == Output::Count { events.len().into() } else { Json::Array(events) };
        row.out.insert("problem_events", shown);
    }
    Ok(())
}

/// Status at the begin of periods, and changes in them.
pub(super) fn timeline(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(given) = found.option("selectStatusTimeline").filter(|value| !value.is_null()) else {
        return Ok(());
    };
    let path = "/selectStatusTimeline";
    let mut periods: Vec<(i64, i64)> = Vec::new();
    if !given.is_array() {
        return Err(ApiError::at(path, "an array is expected"));
    }
    for (path, members) in nested(given, path)? {
        only(members, &path, &["period_from", "period_to"])?;
        let number = |name: &str| -> ApiResult<i64> {
            let value = members.get(name).ok_or_else(|| missing(&path, name))?;
            params::int(value, &format!("{path}/{name}"))
        };
        periods.push((number("period_from")?, number("period_to")?));
    }
    if periods.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    if periods.len() > PERIODS_MAX {
        return Err(ApiError::at(path, format_args!("limited to {PERIODS_MAX} periods")));
    }
    let ids: BTreeSet<u64> = found.ids().into_iter().collect();
    let ids = Vec::from_iter(ids);
    let mut of_service: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for (from, to) in periods {
        let starts = starts(found, &ids, from)?;
        let sql = "SELECT serviceid, clock, value FROM service_alarms WHERE clock >= ? AND clock < ? \
                   AND serviceid IN ({ids}) ORDER BY clock, servicealarmid";
        let params: [Value; 2] = [from.into(), to.into()];
        let rows =
            found.call.read(|connection| Ok(query_by_ids(connection, sql, &params, &ids)?))?;
        let mut alarms: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
        for row in &rows {
            let alarm = json!({ "clock": row.int("clock"), "value": row.int("value") });
            alarms.entry(row.id("serviceid")).or_default().push(alarm);
        }
        for id in &ids {
            let start = starts.get(id).copied().unwrap_or(super::OK);
            let alarms = alarms.remove(id).unwrap_or_default();
            let period = json!({ "start_value": start, "alarms": alarms });
            of_service.entry(*id).or_default().push(period);
        }
    }
    for row in &mut found.rows {
        let periods = of_service.get(&row.id).cloned().unwrap_or_default();
        row.out.insert("status_timeline", Json::Array(periods));
    }
    Ok(())
}

/// Statuses at a moment, of services that have changed before.
fn starts(found: &Found<'_, '_>, ids: &[u64], at: i64) -> ApiResult<BTreeMap<u64, i64>> {
    let sql = "SELECT a.serviceid AS serviceid, a.value AS value FROM service_alarms a JOIN \
               (SELECT serviceid, MAX(servicealarmid) AS newest FROM service_alarms \
               WHERE clock < ? AND serviceid IN ({ids}) GROUP BY serviceid) n ON n.newest = a.servicealarmid";
    let rows =
        found.call.read(|connection| Ok(query_by_ids(connection, sql, &[at.into()], ids)?))?;
    Ok(rows.iter().map(|row| (row.id("serviceid"), row.int("value"))).collect())
}
