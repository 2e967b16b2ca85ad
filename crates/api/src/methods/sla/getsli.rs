//! `sla.getsli`: how services were in the periods of an agreement.

use std::collections::BTreeMap;

use config::db::{Reader, Row, query_by_ids};
use jiff::tz::TimeZone;
use objects::SlaPeriod;
use serde_json::json;
use services::access::Need;
use services::sli::{
    Agreement, Asked, Downtime, Indicator, Interval, PERIODS_MAX, Period, TIME_MAX, Timeline,
};

use super::{SLA, only_seen};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::service::{TAGGED, access};
use crate::object::missing;
use crate::params;

const OPTIONS: &[&str] = &["slaid", "period_from", "period_to", "periods", "serviceids"];
/// Pairs of service and period in one answer.
const CELLS_MAX: usize = 1_000_000;
/// Services whose history is read together.
const PORTION: usize = 1_000;

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().into_iter().flatten();
    if let Some((name, _)) = members.clone().find(|(name, _)| !OPTIONS.contains(&name.as_str())) {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let id = params::id(input.get("slaid").ok_or_else(|| missing("", "slaid"))?, "/slaid")?;
    let asked = asked(input)?;
    let wanted = params::ids(input, "serviceids")?.filter(|ids| !ids.is_empty());
    let agreement = seen_agreement(call, id)?;
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let periods = agreement.periods(asked, now);
    let mut services = if periods.is_empty() { Vec::new() } else { seen_services(call, id)? };
    services.retain(|(service, _)| wanted.as_ref().is_none_or(|ids| ids.contains(service)));
    if periods.len().saturating_mul(services.len()) > CELLS_MAX {
        let text =
            format!("The result is limited to {CELLS_MAX} values: name fewer services or periods.");
        return Err(ApiError::params(text));
    }
    // By period, then by service.
    let mut cells: Vec<Vec<Json>> = vec![Vec::new(); periods.len()];
    let first = periods.first().map_or(0, |period| period.0);
    let counted: Vec<Period<'_>> = periods.iter().map(|one| agreement.within(*one)).collect();
    for portion in services.chunks(PORTION) {
        call.gone.check()?;
        let timelines = call.read(|connection| timelines(connection, portion, first))?;
        for (period, row) in counted.iter().zip(&mut cells) {
            call.gone.check()?;
            row.extend(timelines.iter().map(|one| cell(&period.indicator(one, now))));
        }
    }
    let no_services = services.is_empty();
    Ok(json!({
        "periods": periods.iter().map(shown).collect::<Vec<_>>(),
        "serviceids": services.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        "sli": if no_services { Vec::new() } else { cells },
    }))
}

fn shown((from, to): &Interval) -> Json {
    json!({ "period_from": from, "period_to": to })
}

fn cell(found: &Indicator) -> Json {
    let downtime =
        |one: &Downtime| json!({ "name": one.name, "period_from": one.from, "period_to": one.to });
    // Clients know whole percentages as whole numbers.
    let sli = match found.sli {
        None => json!(-1),
        Some(sli) if sli.fract() == 0.0 => {
            #[expect(clippy::cast_possible_truncation, reason = "between 0 and 100")]
            let whole = sli as i64;
            json!(whole)
        }
        Some(sli) => json!(sli),
    };
    json!({
        "uptime": found.uptime,
        "downtime": found.downtime,
        "sli": sli,
        "error_budget": found.error_budget,
        "excluded_downtimes": found.excluded.iter().map(downtime).collect::<Vec<_>>(),
    })
}

fn asked(input: &Json) -> ApiResult<Asked> {
    let number = |name: &str, min: i64, max: i64| -> ApiResult<Option<i64>> {
        let path = format!("/{name}");
        let Some(value) = input.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let number = params::int(value, &path)?;
        if !(min..=max).contains(&number) {
            return Err(ApiError::at(&path, format_args!("value must be one of {min}-{max}")));
        }
        Ok(Some(number))
    };
    let most = i64::try_from(PERIODS_MAX).unwrap_or(i64::MAX);
    let periods = number("periods", 1, most)?.and_then(|periods| usize::try_from(periods).ok());
    Ok(Asked {
        from: number("period_from", 0, TIME_MAX)?,
        to: number("period_to", 0, TIME_MAX)?,
        periods,
    })
}

/// The agreement, if the user sees it.
fn seen_agreement(call: &Call<'_>, id: u64) -> ApiResult<Agreement> {
    let params = json!({});
    let mut get = Get::new(call, &params, &SLA, &[])?;
    get.and("t.slaid = ?", [id.into()]);
    only_seen(&mut get, call);
    let (condition, values) = get.condition()?;
    let rows = call.rows(&format!("SELECT t.* FROM slas t WHERE {condition}"), &values)?;
    let row = rows.first().ok_or_else(ApiError::no_object)?;
    call.read(|connection| agreement(connection, row))
}

fn agreement(connection: &mut dyn Reader, row: &Row) -> ApiResult<Agreement> {
    let id = row.id("slaid");
    let mut list = |table: &str| {
        let sql = format!("SELECT * FROM {table} WHERE slaid = ? ORDER BY position");
        connection.query(&sql, &[id.into()])
    };
    let interval = |row: &Row| (row.int("period_from"), row.int("period_to"));
    let schedule = list("sla_schedules")?.iter().map(interval).collect();
    let downtime = |row: &Row| {
        let (from, to) = interval(row);
        Downtime { name: row.text("name").to_owned(), from, to }
    };
    let excluded = list("sla_excluded_downtimes")?.iter().map(downtime).collect();
    let zone = match row.text("timezone") {
        "system" => TimeZone::system(),
        name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    };
    Ok(Agreement {
        period: SlaPeriod::from_number(row.int("period")).unwrap_or(SlaPeriod::Daily),
        zone,
        slo: row.text("slo").parse().unwrap_or(0.0),
        effective: row.int("effective_date"),
        schedule,
        excluded,
    })
}

/// Services of the agreement that the user sees, with the time of their creation.
fn seen_services(call: &Call<'_>, id: u64) -> ApiResult<Vec<(u64, i64)>> {
    let seen = access(call).condition(Need::Read, "s.serviceid");
    let (seen, more) =
        seen.map_or((String::new(), Vec::new()), |(sql, values)| (format!(" AND {sql}"), values));
    let mut values = vec![id.into()];
    values.extend(more);
    let sql = format!(
        "SELECT s.serviceid, s.created_at FROM services s WHERE s.serviceid IN \
         (SELECT g.serviceid FROM service_tags g JOIN sla_service_tags a ON {TAGGED} WHERE a.slaid = ?){seen} \
         ORDER BY s.serviceid"
    );
    let rows = call.rows(&sql, &values)?;
    Ok(rows.iter().map(|row| (row.id("serviceid"), row.int("created_at"))).collect())
}

/// The history of services from a moment on. Where the clock was set back, later changes replace those after them.
fn timelines(
    connection: &mut dyn Reader,
    services: &[(u64, i64)],
    from: i64,
) -> ApiResult<Vec<Timeline>> {
    let ids: Vec<u64> = services.iter().map(|(id, _)| *id).collect();
    let mut found: BTreeMap<u64, Timeline> = BTreeMap::new();
    let mut newest: BTreeMap<u64, u64> = BTreeMap::new();
    // The last change before it says how the service was.
    let sql = "SELECT a.serviceid AS serviceid, a.value AS value, n.newest AS newest FROM service_alarms a JOIN \
               (SELECT serviceid, MAX(servicealarmid) AS newest FROM service_alarms \
               WHERE clock < ? AND serviceid IN ({ids}) GROUP BY serviceid) n ON n.newest = a.servicealarmid";
    for row in query_by_ids(connection, sql, &[from.into()], &ids)? {
        let service = row.id("serviceid");
        found.entry(service).or_default().starts_down = row.int("value") >= 0;
        newest.insert(service, row.id("newest"));
    }
    let sql = "SELECT servicealarmid, serviceid, clock, value FROM service_alarms WHERE clock >= ? \
               AND serviceid IN ({ids}) ORDER BY servicealarmid";
    for row in query_by_ids(connection, sql, &[from.into()], &ids)? {
        let service = row.id("serviceid");
        if newest.get(&service).is_some_and(|newest| row.id("servicealarmid") < *newest) {
            continue;
        }
        let timeline = found.entry(service).or_default();
        let change = (row.int("clock"), row.int("value") >= 0);
        while timeline.changes.pop_if(|(at, _)| *at > change.0).is_some() {}
        // Another severity is the same downtime.
        if timeline.changes.last().map_or(timeline.starts_down, |last| last.1) != change.1 {
            timeline.changes.push(change);
        }
    }
    let one = |(id, created): &(u64, i64)| {
        let timeline = found.remove(id).unwrap_or_default();
        Timeline { created: *created, ..timeline }
    };
    Ok(services.iter().map(one).collect())
}
