//! Who sees and who changes dashboards of users: the owner, those it is shared with, and super admins.

use config::db::{Reader, Row, Value};
use objects::UserType;

use super::{OF_USERS, SPEC, shares};
use crate::call::{Call, User};
use crate::error::{ApiError, ApiResult};
use crate::permission::Need;
use crate::plain::Draft;

/// Condition on dashboards `t` that the user may read, or change; `None` = all.
pub(super) fn seen(user: &User, need: Need) -> Option<String> {
    if user.kind == UserType::SuperAdmin {
        return None;
    }
    let me = user.id;
    let (public, least) = match need {
        Need::Read => ("t.private = 0 OR ", 2),
        Need::Write => ("", 3),
    };
    Some(format!(
        "({public}t.userid = {me} OR EXISTS (SELECT 1 FROM dashboard_users u \
           WHERE u.dashboardid = t.dashboardid AND u.userid = {me} AND u.permission >= {least}) \
         OR EXISTS (SELECT 1 FROM dashboard_user_groups g JOIN user_groups o ON o.usrgrpid = g.usrgrpid \
           WHERE g.dashboardid = t.dashboardid AND o.userid = {me} AND g.permission >= {least}))"
    ))
}

/// The rows of dashboards that the user may change; refuses others.
pub(super) fn writable(
    call: &Call<'_>,
    connection: &mut dyn Reader,
    ids: &[u64],
) -> ApiResult<Vec<Row>> {
    let seen = seen(call.user(), Need::Write).map(|seen| format!(" AND {seen}"));
    let sql = format!(
        "SELECT t.* FROM {} t WHERE t.{OF_USERS} AND t.dashboardid IN ({{ids}}){}",
        SPEC.table,
        seen.unwrap_or_default()
    );
    let rows = config::db::query_by_ids(connection, &sql, &[], ids)?;
    if rows.len() == ids.len() { Ok(rows) } else { Err(ApiError::no_object()) }
}

/// Only super admins give dashboards to other users.
pub(super) fn check_owner(
    call: &Call<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let owner = draft.value("userid", None);
    let is_kept = before.is_some_and(|row| row.get("userid") == Some(&owner));
    if !draft.gives("userid") || is_kept || owner == Value::from(call.user().id) {
        return Ok(());
    }
    if !call.is_super_admin() {
        return Err(ApiError::params("Only super admins can set dashboard owner."));
    }
    shares::check_users(call, &[u64::try_from(owner.as_int()).unwrap_or(0)])
}
