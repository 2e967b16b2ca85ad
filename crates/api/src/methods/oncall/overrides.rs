//! `oncall.override` and `oncall.revoke`: users stand in for one another.

use std::ops::Range;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::oncall::Named;
use config::table;
use oncall::{Schedule, TIME_MAX};
use serde_json::json;

use super::layers::seen_users;
use super::only_members;
use super::rights::among;
use super::shifts::time_of;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::Described;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Nested};
use crate::object::{field, missing};
use crate::params;
use crate::permission::Need;

/// Overrides of a schedule that have not ended long ago.
const OVERRIDES_MAX: i64 = 5_000;
/// How long ended overrides are stored, seconds.
const STORED_S: i64 = 400 * 86_400;

/// Its parameters and its result.
pub(crate) const OVERRIDE: Described = Described {
    method: "oncall.override",
    params: &[
        field("scheduleid", Id, Required, "Schedule."),
        field("userid", Id, Required, "User who is on call in the time."),
        field("from", Int(0, TIME_MAX), Required, "Unix time."),
        field("to", Int(0, TIME_MAX), Required, "Unix time at which it is over."),
        field(
            "swap",
            Nested,
            Optional,
            "`{from, to}`: a time of this user that the one who was on call takes over instead.",
        ),
    ],
    result: &[field("overrideids", Nested, ReadOnly, "The override, or the two of a swap.")],
};

/// What is asked for.
struct Asked {
    schedule: u64,
    user: u64,
    time: Range<i64>,
    /// When the one who is on call in `time` takes over instead.
    swap: Option<Range<i64>>,
}

impl Asked {
    fn parse(input: &Json) -> ApiResult<Self> {
        only_members(input, &OVERRIDE)?;
        let id = |name: &str| {
            let value = input.get(name).ok_or_else(|| missing("/", name))?;
            params::id(value, &format!("/{name}"))
        };
        let swap = input.get("swap").filter(|value| !value.is_null());
        if let Some(Json::Object(members)) = swap {
            crate::write::only(members, "/swap", &["from", "to"])?;
        }
        let asked = Self {
            schedule: id("scheduleid")?,
            user: id("userid")?,
            time: time_of(input, "/")?,
            swap: swap.map(|value| time_of(value, "/swap")).transpose()?,
        };
        if let Some(swap) = &asked.swap
            && swap.start < asked.time.end
            && asked.time.start < swap.end
        {
            return Err(ApiError::at("/swap", "the times of a swap cannot overlap"));
        }
        Ok(asked)
    }
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let asked = Asked::parse(input)?;
    call.write(|edit| {
        let id = asked.schedule;
        if among(call, edit, Need::Read, &[id])?.is_empty() {
            return Err(ApiError::no_object());
        }
        let may_all = !among(call, edit, Need::Write, &[id])?.is_empty();
        let mut within = asked.time.clone();
        if let Some(swap) = &asked.swap {
            within = within.start.min(swap.start)..within.end.max(swap.end);
        }
        let named = config::oncall::read(edit, &[id], &within)?.remove(&id);
        let named = named.ok_or_else(ApiError::no_object)?;
        require_user(call, edit, &asked, &named, may_all)?;
        let rest = |time: &Range<i64>, path: &str| {
            if may_all { Ok(time.clone()) } else { from_now_on(call, time, path) }
        };
        let time = rest(&asked.time, "")?;
        let swap = asked.swap.as_ref().map(|swap| rest(swap, "/swap")).transpose()?;
        let other = match &swap {
            Some(swap) => Some(swapped(call, &asked, &time, swap, &named, may_all)?),
            None if may_all || asked.user == call.user().id => None,
            None => {
                require_own(call, &named.schedule, &time)?;
                None
            }
        };
        make_room(edit, call, id)?;
        let first = write(call, edit, &asked, asked.user, &time, 0)?;
        let mut ids = vec![first.to_string()];
        if let (Some(user), Some(swap)) = (other, &swap) {
            let second = write(call, edit, &asked, user, swap, first)?;
            edit.update(&table::ONCALL_OVERRIDES, first, &[("swapid", second.into())])?;
            ids.push(second.to_string());
        }
        Ok(json!({ "overrideids": ids }))
    })
}

/// The part of a time that is not over.
fn from_now_on(call: &Call<'_>, time: &Range<i64>, path: &str) -> ApiResult<Range<i64>> {
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    if time.end <= now {
        return Err(ApiError::at(&format!("{path}/to"), "the time is over"));
    }
    Ok(time.start.max(now)..time.end)
}

/// Members of the schedule can stand in; who may change it can name everybody whom layers can have.
fn require_user(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    asked: &Asked,
    named: &Named,
    may_all: bool,
) -> ApiResult<()> {
    if named.schedule.everyone().contains(&asked.user) {
        return Ok(());
    }
    let mut sql = "SELECT userid FROM users WHERE userid IN ({ids})".to_owned();
    if !call.is_super_admin() {
        sql += &seen_users(call.user().id, asked.schedule);
    }
    if may_all && !query_by_ids(edit, &sql, &[], &[asked.user])?.is_empty() {
        return Ok(());
    }
    let name = &named.name;
    Err(ApiError::params(format!("The user is no member of on-call schedule \"{name}\".")))
}

/// The one who is on call for the whole time.
fn holder(schedule: &Schedule, time: &Range<i64>) -> Option<u64> {
    let shifts = schedule.shifts(time.clone());
    let user = shifts.first()?.user;
    let all = schedule.gaps(time.clone()).is_empty();
    (all && shifts.iter().all(|shift| shift.user == user)).then_some(user)
}

fn require_own(call: &Call<'_>, schedule: &Schedule, time: &Range<i64>) -> ApiResult<()> {
    if holder(schedule, time) == Some(call.user().id) {
        return Ok(());
    }
    Err(ApiError::params("You can give away only time for which you are on call."))
}

/// Who takes the other time of a swap.
fn swapped(
    call: &Call<'_>,
    asked: &Asked,
    time: &Range<i64>,
    swap: &Range<i64>,
    named: &Named,
    may_all: bool,
) -> ApiResult<u64> {
    let schedule = &named.schedule;
    if !may_all {
        require_own(call, schedule, time)?;
    }
    let Some(other) = holder(schedule, time) else {
        return Err(ApiError::at("/from", "the time of a swap must belong to one user"));
    };
    if holder(schedule, swap) != Some(asked.user) {
        let error = "the user is not on call for the whole time of the swap";
        return Err(ApiError::at("/swap", error));
    }
    if other == asked.user {
        return Err(ApiError::at("/userid", "users cannot swap with themselves"));
    }
    Ok(other)
}

/// Removes what ended long ago, and refuses what is too much.
fn make_room(edit: &mut Edit<'_>, call: &Call<'_>, schedule: u64) -> ApiResult<()> {
    let now = i64::try_from(call.now()).unwrap_or(i64::MAX);
    let sql = "SELECT overrideid FROM oncall_overrides WHERE scheduleid = ? AND time_till < ?";
    let old = edit.query(sql, &[schedule.into(), now.saturating_sub(STORED_S).into()])?;
    let old: Vec<u64> = old.iter().map(|row| row.id("overrideid")).collect();
    edit.delete(&table::ONCALL_OVERRIDES, "overrideid", &old)?;
    let sql = "SELECT COUNT(*) AS n FROM oncall_overrides WHERE scheduleid = ?";
    let count = edit.query(sql, &[schedule.into()])?.first().map_or(0, |row| row.int("n"));
    if count >= OVERRIDES_MAX {
        let text = format!("A schedule is limited to {OVERRIDES_MAX} overrides.");
        return Err(ApiError::params(text));
    }
    Ok(())
}

fn write(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    asked: &Asked,
    user: u64,
    time: &Range<i64>,
    swap: u64,
) -> ApiResult<u64> {
    let row = [
        ("scheduleid", asked.schedule.into()),
        ("userid", user.into()),
        ("time_from", time.start.into()),
        ("time_till", time.end.into()),
        ("swapid", swap.into()),
        ("createdby", call.user().id.into()),
    ];
    Ok(edit.insert_new(&table::ONCALL_OVERRIDES, &row)?)
}

pub(super) fn revoke(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let sql = "SELECT * FROM oncall_overrides WHERE overrideid IN ({ids})";
        let rows = crate::write::rows_of(edit, sql, "overrideid", &ids)?;
        let schedules: Vec<u64> = rows.iter().map(|row| row.id("scheduleid")).collect();
        let writable = among(call, edit, Need::Write, &schedules)?;
        let (me, now) = (call.user().id, i64::try_from(call.now()).unwrap_or(i64::MAX));
        let mut all = ids.clone();
        all.extend(rows.iter().map(|row| row.id("swapid")).filter(|id| *id != 0));
        all.sort_unstable();
        all.dedup();
        let halves = query_by_ids(edit, sql, &[], &all)?;
        // Who has had the advantage of a swap cannot take it back.
        let is_over = |id: u64| {
            let of = |half: &&Row| [half.id("overrideid"), half.id("swapid")].contains(&id);
            halves.iter().filter(of).any(|half| half.int("time_till") <= now)
        };
        let may = |row: &Row| {
            let is_own = row.id("userid") == me || row.id("createdby") == me;
            writable.contains(&row.id("scheduleid")) || is_own && !is_over(row.id("overrideid"))
        };
        if !rows.iter().all(may) {
            return Err(ApiError::no_object());
        }
        edit.delete(&table::ONCALL_OVERRIDES, "overrideid", &all)?;
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        Ok(json!({ "overrideids": all }))
    })
}
