//! `oncall.shifts`: who is on call when.

use std::collections::BTreeSet;
use std::ops::Range;

use config::oncall::Named;
use oncall::{By, SPAN_MAX_S, Shift, TIME_MAX};
use serde_json::json;

use super::{only_members, visible};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::Described;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Nested, OneOf, Text};
use crate::object::{field, missing};
use crate::params;
use crate::permission::Need;

/// Its parameters, and the members of each row of its result.
pub(crate) const SHIFTS: Described = Described {
    method: "oncall.shifts",
    params: &[
        field("scheduleids", Nested, Optional, "Schedules; all that the user sees if not given."),
        field("from", Int(0, TIME_MAX), Required, "Unix time."),
        field("to", Int(0, TIME_MAX), Required, "Unix time, at most 400 days later."),
        field("userids", Nested, Optional, "Only shifts of these users, without gaps."),
        field("of", Text(0), Optional, "`final` (default), or `layers`: of each layer alone."),
        field("limit", Int(0, i64::MAX), Optional, "Rows at most."),
    ],
    result: &[
        field("scheduleid", Id, ReadOnly, "Schedule."),
        field("userid", Id, ReadOnly, "User on call; 0 in a gap."),
        field("from", Int(0, TIME_MAX), ReadOnly, "Unix time."),
        field("to", Int(0, TIME_MAX), ReadOnly, "Unix time at which it is over."),
        field("layer", Int(-1, i64::MAX), ReadOnly, "Place of the layer, from 0 on; -1 = none."),
        field("overrideid", Id, ReadOnly, "Override; 0 = none."),
        field("gap", OneOf(&[0, 1]), ReadOnly, "1 = nobody is on call."),
    ],
};
/// Rows of a result.
const ROWS_MAX: usize = 20_000;

/// What is asked for.
struct Asked {
    within: Range<i64>,
    /// Only shifts of these; `None` = all, with gaps.
    users: Option<BTreeSet<u64>>,
    /// Shifts of each layer instead of those of the schedule.
    of_layers: bool,
    limit: usize,
}

pub(super) fn shifts(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    only_members(input, &SHIFTS)?;
    let asked = Asked::parse(input)?;
    let seen = seen(call, params::ids(input, "scheduleids")?.as_deref())?;
    let mut rows: Vec<Json> = Vec::new();
    for id in seen {
        call.gone.check()?;
        let found = call.read(|c| Ok(config::oncall::read(c, &[id], &asked.within)?))?;
        if let Some(named) = found.get(&id) {
            asked.add(id, named, &mut rows);
        }
        if rows.len() > ROWS_MAX {
            let text = format!(
                "The result is limited to {ROWS_MAX} shifts: name fewer schedules or a shorter time."
            );
            return Err(ApiError::params(text));
        }
    }
    rows.truncate(asked.limit);
    Ok(Json::Array(rows))
}

/// A time with its members `from` and `to`.
pub(super) fn time_of(input: &Json, path: &str) -> ApiResult<Range<i64>> {
    let number = |name: &str| {
        let value = input.get(name).ok_or_else(|| missing(path, name))?;
        let at = format!("{}/{name}", path.trim_end_matches('/'));
        let number = params::int(value, &at)?;
        if !(0..=TIME_MAX).contains(&number) {
            return Err(ApiError::at(&at, format_args!("value must be one of 0-{TIME_MAX}")));
        }
        Ok(number)
    };
    let (from, to) = (number("from")?, number("to")?);
    let at = format!("{}/to", path.trim_end_matches('/'));
    if to <= from {
        return Err(ApiError::at(&at, "value must be greater than \"from\""));
    }
    if to - from > SPAN_MAX_S {
        return Err(ApiError::at(&at, "the time is limited to 400 days"));
    }
    Ok(from..to)
}

impl Asked {
    fn parse(input: &Json) -> ApiResult<Self> {
        let of = input.get("of").map(|value| params::text(value, "/of")).transpose()?;
        let of_layers = match of.as_deref() {
            None | Some("final") => false,
            Some("layers") => true,
            Some(_) => {
                return Err(ApiError::at("/of", "value must be one of \"final\", \"layers\""));
            }
        };
        let limit = input.get("limit").filter(|value| !value.is_null());
        let limit = limit.map(|value| params::int(value, "/limit")).transpose()?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
        Ok(Self {
            within: time_of(input, "/")?,
            users: params::ids(input, "userids")?.map(|ids| ids.into_iter().collect()),
            of_layers,
            limit: limit.unwrap_or(ROWS_MAX),
        })
    }

    fn add(&self, id: u64, named: &Named, rows: &mut Vec<Json>) {
        let schedule = &named.schedule;
        let (shifts, gaps) = if self.of_layers {
            let layers = 0..schedule.layers.len();
            let of = |layer| schedule.layer_shifts(layer, self.within.clone());
            (layers.flat_map(of).collect(), Vec::new())
        } else {
            (schedule.shifts(self.within.clone()), schedule.gaps(self.within.clone()))
        };
        let mut own: Vec<(i64, Json)> = Vec::new();
        for shift in &shifts {
            if self.users.as_ref().is_none_or(|users| users.contains(&shift.user)) {
                own.push((shift.time.start, shown(id, shift)));
            }
        }
        if self.users.is_none() {
            own.extend(gaps.iter().map(|gap| (gap.start, row(id, 0, gap, None))));
        }
        own.sort_by_key(|(from, _)| *from);
        rows.extend(own.into_iter().map(|(_, row)| row));
    }
}

fn shown(schedule: u64, shift: &Shift) -> Json {
    row(schedule, shift.user, &shift.time, Some(shift.by))
}

/// Without a cause it is a gap.
fn row(schedule: u64, user: u64, time: &Range<i64>, by: Option<By>) -> Json {
    let (layer, instead) = match by {
        Some(By::Layer(layer)) => (layer.to_string(), 0),
        Some(By::Override(id)) => ("-1".to_owned(), id),
        None => ("-1".to_owned(), 0),
    };
    json!({
        "scheduleid": schedule.to_string(),
        "userid": user.to_string(),
        "from": time.start.to_string(),
        "to": time.end.to_string(),
        "layer": layer,
        "overrideid": instead.to_string(),
        "gap": if by.is_none() { "1" } else { "0" },
    })
}

/// Ids of schedules that the user sees, in order; of `wanted` ones, if any are named.
fn seen(call: &Call<'_>, wanted: Option<&[u64]>) -> ApiResult<Vec<u64>> {
    let condition = visible(call.user(), Need::Read).unwrap_or_else(|| "1 = 1".to_owned());
    let sql = format!(
        "SELECT t.scheduleid FROM oncall_schedules t WHERE {condition} ORDER BY t.scheduleid"
    );
    let ids = call.rows(&sql, &[])?.into_iter().map(|row| row.id("scheduleid"));
    Ok(ids.filter(|id| wanted.is_none_or(|wanted| wanted.contains(id))).collect())
}
