//! Who sees and who changes schedules.

use config::Edit;
use config::db::{Reader, query_by_ids};
use objects::UserType;

use crate::call::{Call, User};
use crate::error::{ApiError, ApiResult};
use crate::object::Columns;
use crate::permission::Need;
use crate::plain::number;
use crate::write::no_object_at;

/// Permission of those who may change a schedule.
const WRITE: i64 = 3;

/// Condition on schedules `t` that the user sees, or may change; `None` = all.
pub(crate) fn visible(user: &User, need: Need) -> Option<String> {
    if user.kind == UserType::SuperAdmin {
        return None;
    }
    let me = user.id;
    let by_group = |least: i64| {
        format!(
            "t.scheduleid IN (SELECT g.scheduleid FROM oncall_groups g JOIN user_groups m \
             ON m.usrgrpid = g.usrgrpid WHERE m.userid = {me} AND g.permission >= {least})"
        )
    };
    Some(match need {
        Need::Write if user.kind < UserType::Admin => "1 = 0".to_owned(),
        Need::Write => by_group(WRITE),
        _ => format!(
            "({} OR t.scheduleid IN (SELECT scheduleid FROM oncall_layer_users WHERE userid = {me}) \
             OR t.scheduleid IN (SELECT scheduleid FROM oncall_overrides WHERE userid = {me}))",
            by_group(0)
        ),
    })
}

/// Those of the schedules that the user sees, or may change.
pub(super) fn among(
    call: &Call<'_>,
    connection: &mut dyn Reader,
    need: Need,
    ids: &[u64],
) -> ApiResult<Vec<u64>> {
    let condition = visible(call.user(), need).unwrap_or_else(|| "1 = 1".to_owned());
    let sql = format!(
        "SELECT t.scheduleid FROM oncall_schedules t WHERE t.scheduleid IN ({{ids}}) AND {condition}"
    );
    let rows = query_by_ids(connection, &sql, &[], ids)?;
    Ok(rows.iter().map(|row| row.id("scheduleid")).collect())
}

pub(super) fn require_writable(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    let allowed = among(call, edit, Need::Write, ids)?;
    if ids.iter().all(|id| allowed.contains(id)) { Ok(()) } else { Err(ApiError::no_object()) }
}

/// Whether members of one of the caller's groups may change the schedule.
pub(super) fn is_own_writable(call: &Call<'_>, group: &Columns) -> bool {
    let id = u64::try_from(number(group, "usrgrpid")).unwrap_or(0);
    number(group, "permission") == WRITE && call.user().groups.contains(&id)
}

/// Refuses user groups that do not exist, and of administrators those that they are no members of.
pub(super) fn check_groups(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    path: &str,
) -> ApiResult<()> {
    let id = |row: &Columns| u64::try_from(number(row, "usrgrpid")).unwrap_or(0);
    let ids: Vec<u64> = rows.iter().map(id).collect();
    let mut sql = "SELECT usrgrpid FROM usergroups WHERE usrgrpid IN ({ids})".to_owned();
    if !call.is_super_admin() {
        let me = call.user().id;
        sql += &format!(" AND usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid = {me})");
    }
    let known = query_by_ids(edit, &sql, &[], &ids)?;
    let known: Vec<u64> = known.iter().map(|row| row.id("usrgrpid")).collect();
    match ids.iter().position(|id| !known.contains(id)) {
        None => Ok(()),
        Some(n) => Err(no_object_at(&format!("{path}/{}", n + 1))),
    }
}
