//! `states` of `maintenance.get`, which is ours: maintenances that run, will run, or are over.

use std::collections::HashMap;

use config::maintenance::periods;
use eval::maintenance::Maintenance;
use jiff::tz::TimeZone;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::params;

/// What a maintenance does now, in the order of lists. Times are Unix times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Runs until then.
    Active { until: i64 },
    /// Starts next then.
    Upcoming { next: i64 },
    /// Will not run again. Holds the negative end of its active time, so that the newest is first.
    Ended { age: i64 },
}

impl State {
    fn of(maintenance: &Maintenance, now: i64, tz: &TimeZone) -> Self {
        if let Some(running) = maintenance.running(now, tz) {
            return Self::Active { until: running.until };
        }
        match maintenance.next_start(now, tz).filter(|_| now < maintenance.active_till) {
            Some(next) => Self::Upcoming { next },
            None => Self::Ended { age: maintenance.active_till.saturating_neg() },
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Active { .. } => "active",
            Self::Upcoming { .. } => "upcoming",
            Self::Ended { .. } => "ended",
        }
    }
}

/// Limits `get` to maintenances in these states. Without `sortfield`, active ones come first by their
/// end, then upcoming ones by their next start, then ended ones with the newest end first.
pub(super) fn select(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
    let given = |name: &str| input.get(name).filter(|value| !value.is_null());
    let Some(wanted) = given("states") else { return Ok(()) };
    let wanted = names(wanted)?;
    let mut found = states(call)?;
    found.retain(|(state, _)| wanted.contains(&state.name()));
    found.sort_unstable();
    let places: HashMap<u64, usize> =
        found.into_iter().enumerate().map(|(place, (_, id))| (id, place)).collect();
    if given("sortfield").is_none() {
        let places = places.clone();
        get.rank(Box::new(move |id| places.get(&id).copied().unwrap_or(usize::MAX)));
    }
    get.keep(Box::new(move |id| places.contains_key(&id)));
    Ok(())
}

fn names(wanted: &Json) -> ApiResult<Vec<&'static str>> {
    const NAMES: [&str; 3] = ["active", "upcoming", "ended"];
    let name = |(at, value): (usize, &Json)| {
        let name = NAMES.into_iter().find(|name| value.as_str() == Some(name));
        name.ok_or_else(|| {
            let error = "value must be one of \"active\", \"upcoming\", \"ended\"";
            ApiError::at(&format!("/states/{}", at + 1), error)
        })
    };
    params::list(wanted).into_iter().enumerate().map(name).collect()
}

/// The states of all maintenances, also of those that the user does not see.
fn states(call: &Call<'_>) -> ApiResult<Vec<(State, u64)>> {
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let tz = call.config().snapshot().settings.time_zone();
    let sql = "SELECT maintenanceid, active_since, active_till FROM maintenances";
    let rows = call.rows(sql, &[])?;
    let open = rows.iter().filter(|row| row.int("active_till") > now);
    let open: Vec<u64> = open.map(|row| row.id("maintenanceid")).collect();
    let mut periods = call.read(|connection| Ok(periods(connection, &open)?))?;
    let state = rows.iter().map(|row| {
        let id = row.id("maintenanceid");
        let maintenance = Maintenance {
            active_since: row.int("active_since"),
            active_till: row.int("active_till"),
            periods: periods.remove(&id).unwrap_or_default(),
        };
        (State::of(&maintenance, now, &tz), id)
    });
    Ok(state.collect())
}
