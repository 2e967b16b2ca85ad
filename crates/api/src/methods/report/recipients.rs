//! Owner and recipients of a report.

use config::Edit;
use config::db::{Row, query_by_ids};

use super::{GROUPS, USERS, visible_users};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::methods::usergroup::USER_GROUP;
use crate::object::Columns;
use crate::plain::{Draft, number};

/// Refuses reports without recipients, and users and groups that the caller does not see.
pub(super) fn check(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let mut users = owner(call, draft, before)?;
    if is_without(
        edit,
        draft,
        GROUPS,
        "SELECT reportid FROM report_user_groups WHERE reportid = ?",
    )? {
        if is_without(edit, draft, USERS, "SELECT reportid FROM report_users WHERE reportid = ?")? {
            return Err(ApiError::params("At least one user or user group must be specified."));
        }
        let included = "SELECT reportid FROM report_users WHERE reportid = ? AND exclude = 0";
        let is_included = match &draft.children[USERS] {
            Some(rows) => rows.iter().any(|row| number(row, "exclude") == 0),
            None => !edit.query(included, &[draft.id.into()])?.is_empty(),
        };
        if !is_included {
            return Err(ApiError::params(
                "If no user groups are specified, at least one user must be included in the mailing list.",
            ));
        }
    }
    users.extend(ids(draft, USERS, "userid"));
    users.extend(ids(draft, USERS, "access_userid"));
    users.extend(ids(draft, GROUPS, "access_userid"));
    users.retain(|id| *id != 0 && *id != call.user().id);
    let seen = visible_users(call, &users)?;
    if let Some(id) = users.iter().find(|id| !seen.contains(id)) {
        return Err(ApiError::params(format!("User with ID \"{id}\" is not available.")));
    }
    let groups = ids(draft, GROUPS, "usrgrpid");
    let output = Output::Fields(vec![USER_GROUP.key.to_owned()]);
    let seen = call.inside(|| call.get_keyed(&USER_GROUP, &groups, &output))?;
    match groups.iter().find(|id| !seen.contains_key(&id.to_string())) {
        Some(id) => Err(ApiError::params(format!("User group with ID \"{id}\" is not available."))),
        None => Ok(()),
    }
}

/// The owner, if it is another one than before. Only super admins give reports to others.
fn owner(call: &Call<'_>, draft: &Draft<'_>, before: Option<&Row>) -> ApiResult<Vec<u64>> {
    let owner = u64::try_from(draft.value("userid", before).as_int()).unwrap_or(0);
    let of_now = before.map_or(call.user().id, |row| row.id("userid"));
    if owner == of_now {
        return Ok(Vec::new());
    }
    if !call.is_super_admin() {
        return Err(ApiError::params("Only super admins can set report owner."));
    }
    Ok(vec![owner])
}

/// Whether the report will have no rows of this list.
fn is_without(edit: &mut Edit<'_>, draft: &Draft<'_>, list: usize, sql: &str) -> ApiResult<bool> {
    match &draft.children[list] {
        Some(rows) => Ok(rows.is_empty()),
        None => Ok(edit.query(sql, &[draft.id.into()])?.is_empty()),
    }
}

fn ids(draft: &Draft<'_>, list: usize, column: &str) -> Vec<u64> {
    let rows = draft.children[list].iter().flatten();
    let id = |row: &Columns| u64::try_from(number(row, column)).unwrap_or(0);
    rows.map(id).collect()
}

/// Refuses to delete user groups that get reports.
pub(crate) fn refuse_groups_of(edit: &mut Edit<'_>, groups: &[Row]) -> ApiResult<()> {
    let ids: Vec<u64> = groups.iter().map(|row| row.id("usrgrpid")).collect();
    let sql = "SELECT g.usrgrpid, r.name FROM report_user_groups g \
               JOIN reports r ON r.reportid = g.reportid WHERE g.usrgrpid IN ({ids}) \
               ORDER BY g.reportid";
    let used = query_by_ids(edit, sql, &[], &ids)?;
    let Some(used) = used.first() else { return Ok(()) };
    let group = groups.iter().find(|row| row.id("usrgrpid") == used.id("usrgrpid"));
    let (group, report) = (group.map_or("", |row| row.text("name")), used.text("name"));
    Err(ApiError::params(format!("User group \"{group}\" is report \"{report}\" recipient.")))
}
