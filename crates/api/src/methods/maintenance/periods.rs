//! Time periods of a maintenance, as clients give them.

use objects::PeriodType;
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::Optional;
use crate::object::FieldKind::Int;
use crate::object::{Columns, Field, field, missing};
use crate::params;

use super::TIME_MAX;

pub(super) const FIELDS: &[Field] = &[
    field("timeperiod_type", Int(0, 4), Optional, "0 once, 2 daily, 3 weekly, 4 monthly."),
    field("every", Int(1, 999), Optional, "Every so many days or weeks; which week of a month."),
    field("month", Int(0, 4_095), Optional, "Months, a bit each."),
    field("dayofweek", Int(0, 127), Optional, "Days of the week, a bit each."),
    field("day", Int(0, 31), Optional, "Day of the month."),
    field("start_time", Int(0, 86_399), Optional, "Start, seconds from midnight."),
    field("period", Int(PERIOD_MIN_S, i32::MAX as i64), Optional, "Length, seconds."),
    field("start_date", Int(0, TIME_MAX), Optional, "Start of one that comes once, unix time."),
];

/// Shortest period.
const PERIOD_MIN_S: i64 = 300;

/// Reads a period; times are cut to whole minutes, as the field does.
pub(super) fn parse(
    call: &Call<'_>,
    members: &Map<String, Json>,
    path: &str,
) -> ApiResult<Columns> {
    let now = i64::try_from(call.now()).unwrap_or(TIME_MAX);
    let values = values(members, path, now)?;
    Ok(FIELDS.iter().map(|field| field.name).zip(values.map(Into::into)).collect())
}

/// The values of [`FIELDS`].
fn values(members: &Map<String, Json>, path: &str, now: i64) -> ApiResult<[i64; 8]> {
    let given = Given { members, path };
    let kind = given.kind()?;
    let period = minutes(given.int("period", Some(3_600), (PERIOD_MIN_S, i64::from(i32::MAX)))?);
    let (start_time, every, month, dayofweek, day) = match kind {
        PeriodType::Once => {
            for name in ["every", "month", "dayofweek", "day", "start_time"] {
                given.unused(name, if name == "every" { 1 } else { 0 })?;
            }
            let start = minutes(given.int("start_date", Some(now), (0, TIME_MAX))?);
            return Ok([kind.number(), 1, 0, 0, 0, 0, period, start]);
        }
        PeriodType::Daily => {
            let start_time = given.start_time()?;
            for name in ["dayofweek", "month", "day"] {
                given.unused(name, 0)?;
            }
            (start_time, given.int("every", Some(1), (1, 999))?, 0, 0, 0)
        }
        PeriodType::Weekly => {
            let start_time = given.start_time()?;
            let days = given.int("dayofweek", None, (1, 127))?;
            given.unused("month", 0)?;
            given.unused("day", 0)?;
            (start_time, given.int("every", Some(1), (1, 99))?, 0, days, 0)
        }
        PeriodType::Monthly => {
            let start_time = given.start_time()?;
            let month = given.int("month", None, (1, 4_095))?;
            let dayofweek = given.int("dayofweek", Some(0), (0, 127))?;
            if dayofweek > 0 {
                given.unused("day", 0)?;
                (start_time, given.int("every", Some(1), (1, 5))?, month, dayofweek, 0)
            } else {
                given.unused("every", 1)?;
                (start_time, 1, month, 0, given.int("day", None, (1, 31))?)
            }
        }
    };
    Ok([kind.number(), every, month, dayofweek, day, start_time, period, 0])
}

/// `seconds` without those of the last minute.
const fn minutes(seconds: i64) -> i64 {
    seconds - seconds % 60
}

struct Given<'a> {
    members: &'a Map<String, Json>,
    path: &'a str,
}

impl Given<'_> {
    /// The type, once if none is given.
    fn kind(&self) -> ApiResult<PeriodType> {
        let Some(value) = self.members.get("timeperiod_type") else { return Ok(PeriodType::Once) };
        let path = format!("{}/timeperiod_type", self.path);
        let number = params::int(value, &path)?;
        PeriodType::from_number(number)
            .ok_or_else(|| ApiError::at(&path, "value must be one of 0, 2, 3, 4"))
    }

    /// The start of a period that comes again, seconds from midnight.
    fn start_time(&self) -> ApiResult<i64> {
        self.unused("start_date", 0)?;
        Ok(minutes(self.int("start_time", Some(0), (0, 86_399))?))
    }

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
