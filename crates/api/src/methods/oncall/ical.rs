//! Schedules as calendars for programs without a session: `oncall.ical` and `/oncall/TOKEN.ics`.

use std::collections::BTreeMap;

use config::db::{Reader, query_by_ids};
use config::table;
use const_format::formatcp;
use objects::UserType;
use objects::sql::STATUS_DISABLED;
use oncall::calendar::{self, Entry};
use serde_json::json;

use super::rights::among;
use super::{only_members, visible};
use crate::Api;
use crate::call::{Call, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::methods::Described;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, OneOf, Text};
use crate::object::{field, missing};
use crate::permission::Need;
use crate::{params, session};

/// Its parameters and its result.
pub(crate) const ICAL: Described = Described {
    method: "oncall.ical",
    params: &[
        field("scheduleid", Id, Required, "Schedule; 0 = all, with `mine`."),
        field("mine", OneOf(&[0, 1]), Optional, "1 = only shifts of the user."),
        field(
            "revoke",
            OneOf(&[0, 1]),
            Optional,
            "1 = the token stops to work, and there is no new one.",
        ),
    ],
    result: &[
        field("token", Text(0), ReadOnly, "The secret, which is shown once."),
        field("path", Text(0), ReadOnly, "Where the calendar is."),
    ],
};

/// Bytes of a token, which is written in hexadecimal digits.
const TOKEN_BYTES: usize = 32;
/// How much of a schedule a calendar has, seconds before and after now.
const BEFORE_S: i64 = 30 * 86_400;
const AFTER_S: i64 = 180 * 86_400;
/// Shifts of a calendar.
const ENTRIES_MAX: usize = 10_000;

/// Makes a token, or only revokes the one before.
pub(super) fn token(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    only_members(input, &ICAL)?;
    let schedule = input.get("scheduleid").ok_or_else(|| missing("/", "scheduleid"))?;
    let schedule = params::id(schedule, "/scheduleid")?;
    let mine = params::flag(input.get("mine"));
    if schedule == 0 && !mine {
        let error = "value must not be 0, because the calendar is not of own shifts only";
        return Err(ApiError::at("/scheduleid", error));
    }
    let (user, mine_column) = (call.user().id, i64::from(mine));
    let secret = session::random_hex(TOKEN_BYTES)?;
    let revokes = params::flag(input.get("revoke"));
    call.write(|edit| {
        let key = [
            ("userid", [user.into()]),
            ("scheduleid", [schedule.into()]),
            ("mine", [mine_column.into()]),
        ];
        let conditions = key.each_ref().map(|(name, value)| (*name, &value[..]));
        edit.delete_rows(&table::ONCALL_TOKENS, &conditions)?;
        if revokes {
            return Ok(json!({ "token": "", "path": "" }));
        }
        if schedule != 0 && among(call, edit, Need::Read, &[schedule])?.is_empty() {
            return Err(ApiError::no_object());
        }
        let row = [
            ("userid", user.into()),
            ("scheduleid", schedule.into()),
            ("mine", mine_column.into()),
            ("digest", session::digest(&secret).into()),
        ];
        edit.insert(&table::ONCALL_TOKENS, &row)?;
        Ok(json!({ "token": secret, "path": format!("/oncall/{secret}.ics") }))
    })
}

/// The calendar of a token; `None` = the token is not valid, or no longer for this user.
pub(crate) fn calendar_of(api: &Api, token: &str) -> ApiResult<Option<String>> {
    if token.len() != TOKEN_BYTES * 2 || !token.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let now = i64::try_from(api.deps.clock.unix_s()).unwrap_or(i64::MAX);
    let digest = session::digest(token);
    api.deps.config.read(|connection| calendar(connection, &digest, now))
}

fn calendar(connection: &mut dyn Reader, digest: &str, now: i64) -> ApiResult<Option<String>> {
    const TOKEN: &str = formatcp!(
        "SELECT k.userid, k.scheduleid, k.mine, r.type FROM oncall_tokens k \
         JOIN users u ON u.userid = k.userid JOIN roles r ON r.roleid = u.roleid \
         WHERE k.digest = ? AND NOT EXISTS (SELECT 1 FROM user_groups m JOIN usergroups g \
         ON g.usrgrpid = m.usrgrpid WHERE m.userid = k.userid AND g.users_status = {STATUS_DISABLED})"
    );
    let rows = connection.query(TOKEN, &[digest.into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (user, schedule, mine) = (row.id("userid"), row.id("scheduleid"), row.int("mine") == 1);
    let Some(kind) = UserType::from_number(row.int("type")) else { return Ok(None) };
    let user = User { id: user, kind, ..User::system() };
    let condition = visible(&user, Need::Read).unwrap_or_else(|| "1 = 1".to_owned());
    let sql = format!("SELECT t.scheduleid FROM oncall_schedules t WHERE {condition}");
    let seen = connection.query(&sql, &[])?;
    let mut seen: Vec<u64> = seen.iter().map(|row| row.id("scheduleid")).collect();
    if schedule != 0 {
        seen.retain(|id| *id == schedule);
        if seen.is_empty() {
            return Ok(None);
        }
    }
    let within = now.saturating_sub(BEFORE_S)..now.saturating_add(AFTER_S);
    let mut shifts = Vec::new();
    for id in seen {
        let found = config::oncall::read(connection, &[id], &within)?;
        let Some(named) = found.get(&id) else { continue };
        let own = named.schedule.shifts(within.clone()).into_iter();
        let own = own.filter(|shift| !mine || shift.user == user.id);
        shifts.extend(own.map(|shift| (id, named.name.clone(), shift)));
        shifts.truncate(ENTRIES_MAX);
    }
    let ids: Vec<u64> = shifts.iter().map(|(.., shift)| shift.user).collect();
    let names = names(connection, ids)?;
    let entry = |(id, schedule, shift): &(u64, String, oncall::Shift)| {
        let summary = match names.get(&shift.user) {
            Some(name) if !mine => format!("{name}: on call, {schedule}"),
            _ => format!("On call: {schedule}"),
        };
        let uid = format!("{id}-{}-{}@oncall", shift.user, shift.time.start);
        Entry { uid, time: shift.time.clone(), summary }
    };
    let entries: Vec<Entry> = shifts.iter().map(entry).collect();
    let name = match shifts.first() {
        Some((_, name, _)) if schedule != 0 => format!("On call: {name}"),
        _ => "On call".to_owned(),
    };
    Ok(Some(calendar::write(&name, &entries, now)))
}

/// What users are called.
fn names(connection: &mut dyn Reader, mut ids: Vec<u64>) -> ApiResult<BTreeMap<u64, String>> {
    ids.sort_unstable();
    ids.dedup();
    let sql = "SELECT userid, username, name, surname FROM users WHERE userid IN ({ids})";
    let mut names = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], &ids)? {
        let whole = format!("{} {}", row.text("name"), row.text("surname"));
        let name = match whole.trim() {
            "" => row.text("username").to_owned(),
            name => name.to_owned(),
        };
        names.insert(row.id("userid"), name);
    }
    Ok(names)
}
