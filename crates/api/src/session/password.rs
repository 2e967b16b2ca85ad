//! Checks of names and passwords, and the limits of wrong ones.

use std::net::{IpAddr, Ipv6Addr};

use config::db::{Reader, Row};

use super::Verified;
use super::attempts::{Attempt, Limits};
use super::rules::{By, Rules};
use crate::ApiError as E;
use crate::call::Call;
use crate::directory;
use crate::error::ApiResult;
use crate::methods::authentication::Current;

/// Refused sign-ins all read the same, so that nobody learns which names exist.
pub(crate) const BAD_LOGIN: &str =
    "Incorrect user name or password or account is temporarily blocked.";

/// Name and password are right, but there is no role, or a group is switched off.
pub(crate) const NO_ACCESS: &str = "No permissions for system access.";

/// A hash of [`super::BCRYPT_COST`] that no user has, for names without a usable one.
pub(super) const NO_HASH: &str = "$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";

/// Checks name and password; counts failures. Returns the user. Every attempt on an account of this server
/// compares one hash, also of unknown users and blocked accounts, so that its duration shows neither.
pub(crate) fn check_password(
    call: &Call<'_>,
    username: &str,
    password: String,
) -> ApiResult<Verified> {
    let sessions = &call.api.sessions;
    let now = call.now();
    // They block the account for the source that they came from; Zabbix blocks it for everybody.
    let attempt = sessions.attempts.begin(call.peer, username, now, limits(call), &call.gone);
    let (mut row, mut rules) = login_user(call, username)?;
    let is_blocked = attempt.is_none();
    let good = match (&row, rules.by) {
        // Servers of others are not asked about blocked accounts.
        (Some(_), By::Ldap(_)) if is_blocked => false,
        (Some(row), By::Ldap(directory)) => {
            directory::sign_in::check(call, row, directory, username, &password)?
        }
        (None, _) if !is_blocked && directory::sign_in::create(call, username, &password)? => true,
        _ => is_right(call, row.as_ref(), password)?,
    };
    let Some(attempt) = attempt else { return Err(E::application(BAD_LOGIN)) };
    attempt.end(good, now);
    if good && (row.is_none() || rules.by != By::Internal) {
        // The directory may have changed the user.
        (row, rules) = login_user(call, username)?;
    }
    let Some(row) = row else { return Err(E::application(BAD_LOGIN)) };
    let userid = row.id("userid");
    let is_noted = row.int("attempt_failed") > 0 || sessions.attempts.has_note(userid);
    // With a second factor, the password alone does not end a series of failures.
    if !good || is_noted && rules.mfaid == 0 {
        sessions.attempts.note(userid, good, call.peer, now);
    }
    match good {
        true => Ok(Verified { userid, epoch: row.int("session_epoch"), mfaid: rules.mfaid }),
        false => Err(E::application(BAD_LOGIN)),
    }
}

/// The user of this name, and how the user signs in. Names of users of LDAP may be case-insensitive.
fn login_user(call: &Call<'_>, username: &str) -> ApiResult<(Option<Row>, Rules)> {
    const COLUMNS: &str =
        "SELECT userid, passwd, attempt_failed, session_epoch, userdirectoryid FROM users WHERE";
    call.read(|reader| {
        let rules = |reader: &mut dyn Reader, row: Option<&Row>| {
            let id = |name: &str| row.map_or(0, |row| row.id(name));
            Rules::read(reader, id("userid"), id("userdirectoryid"))
        };
        let exact = reader.query(&format!("{COLUMNS} username = ?"), &[username.into()])?;
        if exact.is_empty() && !Current::read(reader)?.is_on("ldap_case_sensitive") {
            let sql = format!("{COLUMNS} LOWER(username) = LOWER(?) LIMIT 2");
            let mut similar = reader.query(&sql, &[username.into()])?;
            if let (Some(row), true) = (similar.pop(), similar.is_empty()) {
                let rules = rules(reader, Some(&row))?;
                if rules.by != By::Internal {
                    return Ok((Some(row), rules));
                }
            }
        }
        let row = exact.into_iter().next();
        let rules = rules(reader, row.as_ref())?;
        Ok((row, rules))
    })
}

/// Compares the password with the user's hash, or with one that nobody has.
fn is_right(call: &Call<'_>, row: Option<&Row>, password: String) -> ApiResult<bool> {
    let hash = row.map(|row| row.text("passwd").to_owned());
    let usable = hash.filter(|hash| hash.parse::<bcrypt::HashParts>().is_ok());
    let exists = usable.is_some();
    let hash = usable.unwrap_or_else(|| NO_HASH.to_owned());
    Ok(call.api.sessions.hasher.verify(call.peer, &call.gone, password, hash)? && exists)
}

fn limits(call: &Call<'_>) -> Limits {
    let logins = &call.config().snapshot().settings.logins;
    Limits { attempts: logins.attempts.into(), block_s: logins.block_s }
}

/// Starts an attempt to confirm a session with a code; `None` = too many codes were wrong. Codes are few: they
/// are limited for the account, from wherever they come. Only a client with the right password gets here.
pub(crate) fn begin_code(call: &Call<'_>, userid: u64) -> Option<Attempt> {
    let everywhere = IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    let account = format!("code of {userid}");
    call.api.sessions.attempts.begin(everywhere, &account, call.now(), limits(call), &call.gone)
}
