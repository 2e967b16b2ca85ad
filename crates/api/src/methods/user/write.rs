//! `user.create`, `user.update`, `user.delete`, `user.unblock`.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::table;
use const_format::formatcp;
use objects::sql::TYPE_SUPER_ADMIN;

use super::media::{self, Media};
use super::{GUEST, USER, fields, password, provisioned};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::report;
use crate::object::{Columns, Mode, taken};
use crate::params;
use crate::session::{self, hash_password};
use crate::write::{names, nested_ids};

/// A user as a client gives it.
pub(super) struct UserInput {
    pub(super) path: String,
    columns: Columns,
    pub(super) username: Option<String>,
    name: Option<String>,
    surname: Option<String>,
    pub(super) passwd: Option<String>,
    current_passwd: Option<String>,
    /// bcrypt takes its time, so it is done before the transaction.
    hash: Option<String>,
    pub(super) roleid: Option<u64>,
    pub(super) groups: Option<Vec<u64>>,
    medias: Option<Vec<Media>>,
}

impl UserInput {
    fn parse(object: &Json, path: &str, mode: Mode) -> ApiResult<Self> {
        let mut columns = USER.validate(object, path, mode)?;
        fields::check(object, path)?;
        let at = |name: &str| format!("{path}/{name}");
        let text = |name: &str| object.get(name).map(|v| params::text(v, &at(name))).transpose();
        // Autologin disables auto-logout.
        if params::flag(object.get("autologin")) && object.get("autologout").is_none() {
            columns.push(("autologout", "0".into()));
        }
        let username = text("username")?;
        let passwd = text("passwd")?;
        if mode == Mode::Create && passwd.is_none() {
            let name = username.unwrap_or_default();
            return Err(ApiError::params(format!("User \"{name}\" must have a password.")));
        }
        if passwd.as_deref() == Some("") {
            return Err(ApiError::at(&at("passwd"), "cannot be empty"));
        }
        Ok(Self {
            path: path.to_owned(),
            columns,
            username,
            name: text("name")?,
            surname: text("surname")?,
            passwd,
            current_passwd: text("current_passwd")?,
            hash: None,
            roleid: object.get("roleid").map(|v| params::id(v, &at("roleid"))).transpose()?,
            groups: object
                .get("usrgrps")
                .map(|v| nested_ids(v, &at("usrgrps"), "usrgrpid"))
                .transpose()?,
            medias: object
                .get("medias")
                .map(|v| media::parse(v, &at("medias"), mode == Mode::Update))
                .transpose()?,
        })
    }

    /// Checks the password against the person that results, and hashes it.
    fn hash_password(&mut self, call: &Call<'_>, now: Option<&Row>) -> ApiResult<()> {
        let Some(passwd) = &self.passwd else { return Ok(()) };
        let word = |given: &Option<String>, column: &str| {
            given.clone().unwrap_or_else(|| now.map_or("", |row| row.text(column)).to_owned())
        };
        let person = [
            word(&self.username, "username"),
            word(&self.name, "name"),
            word(&self.surname, "surname"),
        ];
        let words: Vec<&str> = person.iter().map(String::as_str).collect();
        let settings = &call.config().snapshot().settings;
        password::check(passwd, &format!("{}/passwd", self.path), &words, settings)?;
        self.hash = Some(hash_password(passwd)?);
        Ok(())
    }

    /// Checks references and gives all columns.
    fn row(&self, edit: &mut Edit<'_>) -> ApiResult<Columns> {
        let mut row = self.columns.clone();
        if let Some(hash) = &self.hash {
            row.push(("passwd", hash.as_str().into()));
        }
        if let Some(role) = self.roleid.filter(|id| *id != 0)
            && names(edit, "roles", "roleid", "name", &[role])?.is_empty()
        {
            return Err(ApiError::at(&format!("{}/roleid", self.path), "object does not exist"));
        }
        if let Some(groups) = &self.groups {
            let known = names(edit, "usergroups", "usrgrpid", "name", groups)?;
            if let Some(n) = groups.iter().position(|id| !known.contains_key(id)) {
                let path = format!("{}/usrgrps/{}", self.path, n + 1);
                return Err(ApiError::at(&path, "object does not exist"));
            }
        }
        Ok(row)
    }

    fn write_members(&self, edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
        if let Some(medias) = &self.medias {
            media::write(edit, id, medias)?;
        }
        let Some(groups) = &self.groups else { return Ok(()) };
        edit.delete(&table::USER_GROUPS, "userid", &[id])?;
        for group in groups {
            let row = [("userid", Value::from(id)), ("usrgrpid", Value::from(*group))];
            edit.insert(&table::USER_GROUPS, &row)?;
        }
        Ok(())
    }
}

fn check_free(edit: &mut Edit<'_>, username: &str, own: u64) -> ApiResult<()> {
    let same = edit.query(
        "SELECT userid FROM users WHERE username = ? AND userid <> ?",
        &[username.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("User with username \"{username}\" already exists.")))
}

pub(super) fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let (mut users, mut seen): (Vec<UserInput>, BTreeSet<Option<String>>) = Default::default();
    for (path, object) in params::objects(input)? {
        let mut user = UserInput::parse(object, &path, Mode::Create)?;
        if !seen.insert(user.username.clone()) {
            return Err(taken(&path, "username", user.username.unwrap_or_default()));
        }
        user.hash_password(call, None)?;
        users.push(user);
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for user in &users {
            check_free(edit, user.username.as_deref().unwrap_or_default(), 0)?;
            let row = user.row(edit)?;
            let id = edit.insert_new(&table::USERS, &row)?;
            user.write_members(edit, id)?;
            ids.push(id);
        }
        Ok(USER.result(&ids))
    })
}

pub(super) fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut users = Vec::new();
    for (path, id, object) in USER.updates(input)? {
        users.push((id, UserInput::parse(object, &path, Mode::Update)?));
    }
    let ids: Vec<u64> = users.iter().map(|(id, _)| *id).collect();
    if !call.is_super_admin() && ids.iter().any(|id| *id != call.user().id) {
        return Err(ApiError::no_object());
    }
    let rows = call
        .read(|c| Ok(query_by_ids(c, "SELECT * FROM users WHERE userid IN ({ids})", &[], &ids)?))?;
    for (id, user) in &mut users {
        let now =
            rows.iter().find(|row| row.id("userid") == *id).ok_or_else(ApiError::no_object)?;
        provisioned::check(user, now)?;
        check_rights(call, user, now)?;
        user.hash_password(call, Some(now))?;
    }
    call.write(|edit| {
        for (id, user) in &users {
            let rows = edit.query("SELECT * FROM users WHERE userid = ?", &[(*id).into()])?;
            let now = rows.first().ok_or_else(ApiError::no_object)?;
            provisioned::check_groups(edit, user, now)?;
            if let Some(username) = &user.username {
                check_free(edit, username, *id)?;
            }
            let row = user.row(edit)?;
            edit.update(&table::USERS, *id, &row)?;
            user.write_members(edit, *id)?;
            if *id == call.user().id {
                check_self(edit, *id)?;
            }
            if user.hash.is_some() {
                // A new password ends what was opened with the old one, but for this session.
                session::end_all(call.api, edit, &[*id], &call.user().credential)?;
            }
        }
        check_super_admin_left(edit)?;
        end_sessions(edit)?;
        Ok(USER.result(&ids))
    })
}

/// Who may change what of whom.
fn check_rights(call: &Call<'_>, user: &UserInput, now: &Row) -> ApiResult<()> {
    let me = now.id("userid") == call.user().id;
    if !call.is_super_admin() {
        for (name, given) in
            [("username", user.username.is_some()), ("usrgrps", user.groups.is_some())]
        {
            if given {
                return Err(ApiError::params(format!(
                    "Only Super admin users can update \"{name}\" parameter."
                )));
            }
        }
        if user.roleid.is_some_and(|role| role != now.id("roleid")) {
            return Err(ApiError::params("User cannot change own role."));
        }
    }
    if now.text("username") == GUEST {
        if user.passwd.is_some() {
            return Err(ApiError::params("Not allowed to set password for user \"guest\"."));
        }
        if user.username.as_deref().is_some_and(|name| name != GUEST) {
            return Err(ApiError::params("Cannot rename guest user."));
        }
    }
    if me && user.passwd.is_some() {
        let Some(current) = &user.current_passwd else {
            return Err(ApiError::params("Current password is mandatory."));
        };
        if !bcrypt::verify(current, now.text("passwd")).unwrap_or(false) {
            return Err(ApiError::params("Incorrect current password."));
        }
    }
    Ok(())
}

/// Nobody shuts oneself out.
fn check_self(edit: &mut Edit<'_>, id: u64) -> ApiResult<()> {
    let shut = edit.query(
        "SELECT g.usrgrpid FROM user_groups ug JOIN usergroups g ON g.usrgrpid = ug.usrgrpid \
         WHERE ug.userid = ? AND (g.users_status = 1 OR g.gui_access = 3)",
        &[id.into()],
    )?;
    if shut.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(
        "User cannot add oneself to a disabled group or a group with disabled GUI access.",
    ))
}

/// Somebody must be able to change everything.
pub(crate) fn check_super_admin_left(edit: &mut Edit<'_>) -> ApiResult<()> {
    let left = edit.query(
        formatcp!(
            "SELECT u.userid FROM users u JOIN roles r ON r.roleid = u.roleid \
             WHERE r.type = {TYPE_SUPER_ADMIN} AND NOT EXISTS (SELECT 1 FROM user_groups ug \
               JOIN usergroups g ON g.usrgrpid = ug.usrgrpid \
               WHERE ug.userid = u.userid AND g.users_status = 1)"
        ),
        &[],
    )?;
    if !left.is_empty() {
        return Ok(());
    }
    Err(ApiError::params("At least one active user must exist with role \"Super admin role\"."))
}

/// Ends the sessions of users who may not sign in (any more).
pub(crate) fn end_sessions(edit: &mut Edit<'_>) -> ApiResult<()> {
    let sql = "SELECT userid, session_epoch + 1 AS epoch FROM users WHERE userid IN (\
                 SELECT ug.userid FROM user_groups ug \
                 JOIN usergroups g ON g.usrgrpid = ug.usrgrpid WHERE g.users_status = 1)";
    let rows = edit.query(sql, &[])?;
    let epochs: Vec<(u64, Value)> =
        rows.iter().map(|row| (row.id("userid"), row.int("epoch").into())).collect();
    Ok(edit.update_each(&table::USERS, "session_epoch", &epochs)?)
}

/// What a user may be used in, and the users and names of those that use them.
const USES: [(&str, &str); 4] = [
    (
        "action",
        "SELECT x.userid, a.name FROM operation_message_users x \
         JOIN operations o ON o.operationid = x.operationid \
         JOIN actions a ON a.actionid = o.actionid \
         WHERE x.userid IN ({ids}) ORDER BY x.userid, a.actionid",
    ),
    (
        "on-call schedule",
        "SELECT x.userid, s.name FROM oncall_layer_users x \
         JOIN oncall_schedules s ON s.scheduleid = x.scheduleid \
         WHERE x.userid IN ({ids}) ORDER BY x.userid, s.scheduleid",
    ),
    (
        "map",
        "SELECT m.userid, m.name FROM maps m WHERE m.userid IN ({ids}) ORDER BY m.userid, m.sysmapid",
    ),
    (
        "dashboard",
        "SELECT d.userid, d.name FROM dashboards d \
         WHERE d.userid IN ({ids}) ORDER BY d.userid, d.dashboardid",
    ),
];

pub(super) fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let known = names(edit, "users", "userid", "username", &ids)?;
        for id in &ids {
            let Some(name) = known.get(id) else { return Err(ApiError::no_object()) };
            if *id == call.user().id {
                return Err(ApiError::params("User is not allowed to delete oneself."));
            }
            if name == GUEST {
                return Err(ApiError::params(
                    "Cannot delete Zabbix internal user \"guest\", try disabling that user.",
                ));
            }
        }
        for (what, sql) in USES {
            if let Some(used) = query_by_ids(edit, sql, &[], &ids)?.first() {
                let user = known.get(&used.id("userid")).map_or("", String::as_str);
                let by = used.text("name");
                return Err(ApiError::params(match what {
                    "map" | "dashboard" => format!("User \"{user}\" is {what} \"{by}\" owner."),
                    _ => format!("User \"{user}\" is used in \"{by}\" {what}."),
                }));
            }
        }
        let users: Vec<(u64, &str)> = known.iter().map(|(id, name)| (*id, name.as_str())).collect();
        report::refuse_users_of(edit, &users)?;
        // The database deletes their tokens and memberships; a session without its user is not valid.
        edit.delete(&table::USERS, "userid", &ids)?;
        Ok(USER.result(&ids))
    })
}

pub(super) fn unblock(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let known = names(edit, "users", "userid", "username", &ids)?;
        for id in &ids {
            if !known.contains_key(id) {
                return Err(ApiError::no_object());
            }
            let columns = [("attempt_failed", Value::Int(0))];
            edit.update(&table::USERS, *id, &columns)?;
        }
        Ok(())
    })?;
    ids.iter().for_each(|id| call.api.sessions.attempts.unblock(*id));
    Ok(USER.result(&ids))
}
