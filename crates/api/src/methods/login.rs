//! `user.login`, `user.logout`, `user.checkAuthentication`.

use config::audit::{AuditAction, note_access};
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::methods::{auditlog, mfa};
use crate::session::Verified;
use crate::session::rules::{By, Rules};
use crate::{params, session};

pub(crate) const METHODS: &[Method] = &[
    Method::open("user.login", login),
    Method::user("user.logout", logout),
    Method::open("user.checkauthentication", check_authentication),
];

fn only(params: &Json, known: &[&str]) -> ApiResult<()> {
    let Json::Object(members) = params else {
        return Err(ApiError::at("/", "an array is expected"));
    };
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\""))),
        None => Ok(()),
    }
}

/// Checks name and password. Refused ones are in the audit log.
pub(crate) fn verify(call: &Call<'_>, username: &str, password: String) -> ApiResult<Verified> {
    session::check_password(call, username, password).inspect_err(|_| {
        let sql = "SELECT userid FROM users WHERE username = ?";
        let rows = call.rows(sql, &[username.into()]).unwrap_or_default();
        let userid = rows.first().map_or(0, |row| row.id("userid"));
        auditlog::note(call, AuditAction::FailedLogin, userid, username);
    })
}

/// Refuses users who need a second factor, where none can be given.
pub(crate) fn verify_at_once(
    call: &Call<'_>,
    username: &str,
    password: String,
) -> ApiResult<Verified> {
    let verified = verify(call, username, password)?;
    match verified.mfaid {
        0 => Ok(verified),
        _ => Err(ApiError::application(
            "The account has multi-factor authentication: sign in with an API token.",
        )),
    }
}

/// Opens a session for a user whose password is right; returns the id of the session.
pub(crate) fn open(call: &Call<'_>, username: &str, verified: Verified) -> ApiResult<String> {
    let userid = verified.userid;
    session::user(call.api, userid, "", session::NO_ACCESS)?;
    // A session that waits for a second factor is no sign-in yet.
    let entry = (verified.mfaid == 0)
        .then(|| auditlog::entry(call, AuditAction::Login, userid, username))
        .flatten();
    session::open(call.api, verified, |state| match &entry {
        Some(author) => note_access(state, AuditAction::Login, author),
        None => Ok(()),
    })
}

/// Ends the session of the call.
pub(crate) fn sign_out(call: &Call<'_>) -> ApiResult<()> {
    session::close(call.api, &call.user().credential)?;
    auditlog::note(call, AuditAction::Logout, call.user().id, &call.user().username);
    Ok(())
}

fn login(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    only(input, &["username", "password", "userData"])?;
    let text = |name: &str| match input.get(name) {
        Some(value) => params::text(value, &format!("/{name}")),
        None => Err(ApiError::at("/", format_args!("the parameter \"{name}\" is missing"))),
    };
    let (username, password) = (text("username")?, text("password")?);
    let verified = verify(call, &username, password)?;
    mfa::check_supported(call, verified.mfaid)?;
    let id = open(call, &username, verified)?;
    if params::flag(input.get("userData")) {
        user_data(call, verified.userid, Some(&id))
    } else {
        Ok(id.into())
    }
}

/// The user as `user.login` with `userData` and `user.checkAuthentication` show it.
/// A token opens no session, so there is no `sessionid` to tell.
fn user_data(call: &Call<'_>, userid: u64, sessionid: Option<&str>) -> ApiResult<Json> {
    let rows = call.rows(
        "SELECT u.*, r.type FROM users u JOIN roles r ON r.roleid = u.roleid WHERE u.userid = ?",
        &[userid.into()],
    )?;
    let row = rows.first().ok_or_else(ApiError::no_object)?;
    let mut out = serde_json::Map::new();
    for name in [
        "userid",
        "username",
        "name",
        "surname",
        "url",
        "autologin",
        "autologout",
        "lang",
        "refresh",
        "theme",
        "attempt_failed",
        "attempt_ip",
        "attempt_clock",
        "rows_per_page",
        "timezone",
        "roleid",
        "userdirectoryid",
        "ts_provisioned",
    ] {
        out.insert(
            name.to_owned(),
            Json::String(row.get(name).map(ToString::to_string).unwrap_or_default()),
        );
    }
    let rules = call.read(|reader| Rules::read(reader, userid, row.id("userdirectoryid")))?;
    out.insert("type".into(), json!(row.int("type")));
    out.insert("userip".into(), json!(call.peer.to_string()));
    out.insert("debug_mode".into(), json!(rules.debug_mode));
    // Of all these only this one is text in the reference.
    out.insert("gui_access".into(), json!(rules.gui_access.to_string()));
    out.insert(
        "mfaid".into(),
        match rules.mfaid {
            0 => json!(0),
            id => json!(id.to_string()),
        },
    );
    out.insert("deprovisioned".into(), json!(false));
    out.insert("auth_type".into(), json!(i64::from(rules.by != By::Internal)));
    if let Some(id) = sessionid {
        out.insert("sessionid".into(), json!(id));
        out.insert("secret".into(), json!(session::digest(id)[..32].to_owned()));
    }
    Ok(Json::Object(out))
}

fn logout(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let empty = match input {
        Json::Array(values) => values.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if !empty {
        return Err(ApiError::at("/", "should be empty"));
    }
    sign_out(call)?;
    Ok(true.into())
}

/// Characters of an API token; a session id has 32.
const TOKEN_LENGTH: usize = 64;

fn check_authentication(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    only(input, &["sessionid", "extend", "token"])?;
    let (secret, is_session) = match (input.get("sessionid"), input.get("token")) {
        (Some(Json::String(id)), None) => (id, true),
        (None, Some(Json::String(token))) => (token, false),
        _ => return Err(ApiError::params("Session ID or token is expected.")),
    };
    if is_session == (secret.len() == TOKEN_LENGTH) {
        let text =
            if is_session { "Session terminated, re-login, please." } else { "Not authorized." };
        return Err(ApiError::params(text));
    }
    let user = session::authenticate(call.api, Some(secret))?;
    user_data(call, user.id, is_session.then_some(secret.as_str()))
}
