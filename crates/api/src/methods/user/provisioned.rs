//! What only its directory changes of a provisioned user.

use std::collections::BTreeSet;

use config::Edit;
use config::db::Row;

use super::write::UserInput;
use crate::error::{ApiError, ApiResult};

/// The error of a field that the directory gives.
pub(super) fn read_only(path: &str, name: &str) -> ApiError {
    let error = format_args!("cannot update readonly parameter \"{name}\" of provisioned user");
    ApiError::at(path, error)
}

/// Refuses another name, password or role of a provisioned user, whose row is given.
pub(super) fn check(user: &UserInput, now: &Row) -> ApiResult<()> {
    if now.id("userdirectoryid") == 0 {
        return Ok(());
    }
    for (name, is_changed) in [
        ("username", user.username.as_deref().is_some_and(|name| name != now.text("username"))),
        ("passwd", user.passwd.is_some()),
        ("roleid", user.roleid.is_some_and(|role| role != now.id("roleid"))),
    ] {
        if is_changed {
            return Err(read_only(&user.path, name));
        }
    }
    Ok(())
}

/// Refuses other user groups of a provisioned user.
pub(super) fn check_groups(edit: &mut Edit<'_>, user: &UserInput, now: &Row) -> ApiResult<()> {
    let Some(groups) = user.groups.as_ref().filter(|_| now.id("userdirectoryid") != 0) else {
        return Ok(());
    };
    let sql = "SELECT usrgrpid FROM user_groups WHERE userid = ?";
    let stored = edit.query(sql, &[now.id("userid").into()])?;
    let stored: BTreeSet<u64> = stored.iter().map(|row| row.id("usrgrpid")).collect();
    match stored == groups.iter().copied().collect() {
        true => Ok(()),
        false => Err(read_only(&user.path, "usrgrps")),
    }
}
