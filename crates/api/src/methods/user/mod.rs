//! Users.

mod fields;
mod get;
mod media;
mod password;
mod provisioned;
mod write;

use config::db::Row;

use crate::call::{Call, Json, Method};
use crate::directory;
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::params;

pub(crate) use fields::{as_browsers_read, is_address as is_web_address};
pub(crate) use media::{is_address, is_period};
pub(crate) use write::{check_super_admin_left, end_sessions};

pub(crate) const METHODS: &[Method] = &[
    Method::user("user.get", get::get),
    Method::super_admin("user.create", write::create),
    Method::user("user.update", write::update),
    Method::super_admin("user.delete", write::delete),
    Method::super_admin("user.unblock", write::unblock),
    Method::super_admin("user.provision", provision),
];

const FIELDS: &[Field] = &[
    field("userid", Id, ReadOnly, "Id of the user."),
    field("username", Name(100), Required, "Login name."),
    field("passwd", Nested, Optional, "Password; only written."),
    field("current_passwd", Nested, Optional, "Needed to change one's own password."),
    field("name", Text(100), Optional, "First name."),
    field("surname", Text(100), Optional, "Last name."),
    field("url", Text(2048), Optional, "Page after sign-in."),
    field("autologin", OneOf(&[0, 1]), Optional, "1 = stay signed in."),
    field("autologout", Text(32), Optional, "Session ends after this time unused; 0 = never."),
    field("lang", Text(7), Optional, "Language."),
    field("refresh", Text(32), Optional, "Pages refresh this often."),
    field("theme", Text(128), Optional, "Theme."),
    field("attempt_failed", Int(0, i64::MAX), ReadOnly, "Failed sign-ins since the last good one."),
    field("attempt_ip", Text(39), ReadOnly, "Address of the last failed sign-in."),
    field("attempt_clock", Int(0, i64::MAX), ReadOnly, "Unix time of the last failed sign-in."),
    field("rows_per_page", Int(1, 999_999), Optional, "Rows on a page of a list."),
    field("timezone", Text(50), Optional, "Time zone."),
    field("roleid", Id, Optional, "Role."),
    field("userdirectoryid", Id, ReadOnly, "Directory that the user came from."),
    field("ts_provisioned", Int(0, i64::MAX), ReadOnly, "Unix time when it came."),
    field("provisioned", Nested, ReadOnly, "1 = came from a directory."),
    field("usrgrps", Nested, Optional, "User groups: `[{usrgrpid}]`."),
    field(
        "medias",
        Nested,
        Optional,
        "Media: `[{mediatypeid, sendto, active, severity, period}]`.",
    ),
];

pub(crate) static USER: Object = Object {
    name: "user",
    table: "users",
    key: "userid",
    keys: "userids",
    fields: FIELDS,
    strict: false,
    sort: &["userid", "username"],
};

/// `user.provision`: provisions users of LDAP again. Users of other directories are left alone.
fn provision(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let sql = "SELECT u.userid, u.username, u.userdirectoryid, \
               COALESCE(d.provision_status, 0) AS provision_status FROM users u \
               LEFT JOIN userdirectories d ON d.userdirectoryid = u.userdirectoryid \
               WHERE u.userid IN ({ids}) ORDER BY u.userid";
    let users = call.rows_by_ids(sql, &ids)?;
    let is_unmapped =
        |row: &Row| row.id("userdirectoryid") != 0 && row.int("provision_status") != 1;
    if users.iter().any(is_unmapped) {
        return Err(ApiError::no_object());
    }
    Ok(USER.result(&directory::sign_in::provision_again(call, &users)?))
}

/// The user that nobody signs in as with a password.
const GUEST: &str = "guest";

#[cfg(test)]
mod tests;
