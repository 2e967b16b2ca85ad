//! Time periods of a maintenance, as clients give them.

use config::db::Value;
use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

use super::TIME_MAX;

/// Columns and members, in the order of output.
pub(super) const COLUMNS: &[&str] = &[
    "timeperiod_type",
    "every",
    "month",
    "dayofweek",
    "day",
    "start_time",
    "period",
    "start_date",
];

/// Shortest period.
const PERIOD_MIN_S: i64 = 300;

/// A period: the values of [`COLUMNS`].
pub(super) type Period = [i64; 8];

/// Reads a list of periods; times are cut to whole minutes, as the field does.
pub(super) fn parse(value: &Json, path: &str, now: i64) -> ApiResult<Vec<Period>> {
    let list = nested(value, path)?;
    if list.is_empty() {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    list.into_iter().map(|(path, members)| one(members, &path, now)).collect()
}

fn one(members: &Map<String, Json>, path: &str, now: i64) -> ApiResult<Period> {
    only(members, path, COLUMNS)?;
    let given = Given { members, path };
    let kind = given.int("timeperiod_type", Some(0), (0, 4))?;
    if kind == 1 {
        let path = format!("{path}/timeperiod_type");
        return Err(ApiError::at(&path, "value must be one of 0, 2, 3, 4"));
    }
    let minutes = |seconds: i64| seconds - seconds % 60;
    let period = minutes(given.int("period", Some(3_600), (PERIOD_MIN_S, i64::from(i32::MAX)))?);
    if kind == 0 {
        for name in ["every", "month", "dayofweek", "day", "start_time"] {
            given.unused(name, if name == "every" { 1 } else { 0 })?;
        }
        let start = minutes(given.int("start_date", Some(now), (0, TIME_MAX))?);
        return Ok([kind, 1, 0, 0, 0, 0, period, start]);
    }
    given.unused("start_date", 0)?;
    let start_time = minutes(given.int("start_time", Some(0), (0, 86_399))?);
    let (every, month, dayofweek, day) = match kind {
        2 | 3 => {
            let days = if kind == 3 { given.int("dayofweek", None, (1, 127))? } else { 0 };
            if kind == 2 {
                given.unused("dayofweek", 0)?;
            }
            given.unused("month", 0)?;
            given.unused("day", 0)?;
            let max = if kind == 2 { 999 } else { 99 };
            (given.int("every", Some(1), (1, max))?, 0, days, 0)
        }
        _ => {
            let month = given.int("month", None, (1, 4_095))?;
            let dayofweek = given.int("dayofweek", Some(0), (0, 127))?;
            if dayofweek > 0 {
                given.unused("day", 0)?;
                (given.int("every", Some(1), (1, 5))?, month, dayofweek, 0)
            } else {
                given.unused("every", 1)?;
                (1, month, 0, given.int("day", None, (1, 31))?)
            }
        }
    };
    Ok([kind, every, month, dayofweek, day, start_time, period, 0])
}

struct Given<'a> {
    members: &'a Map<String, Json>,
    path: &'a str,
}

impl Given<'_> {
    fn int(&self, name: &str, default: Option<i64>, (min, max): (i64, i64)) -> ApiResult<i64> {
        let path = format!("{}/{name}", self.path);
        let value = match (self.members.get(name), default) {
            (Some(value), _) => params::int(value, &path)?,
            (None, Some(default)) => return Ok(default),
            (None, None) => return Err(missing(self.path, name)),
        };
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        Err(ApiError::at(&path, format_args!("value must be one of {min}-{max}")))
    }

    /// A member that means nothing for this type may only have its default.
    fn unused(&self, name: &str, default: i64) -> ApiResult<()> {
        let path = format!("{}/{name}", self.path);
        match self.members.get(name) {
            Some(value) if params::int(value, &path)? != default => {
                Err(ApiError::at(&path, format_args!("value must be {default}")))
            }
            _ => Ok(()),
        }
    }
}

/// The columns of a row.
pub(super) fn row(period: &Period) -> Vec<(&'static str, Value)> {
    COLUMNS.iter().copied().zip(period.iter().map(|value| Value::from(*value))).collect()
}
