//! Checks of names and passwords, and the limits of wrong ones.

use std::net::{IpAddr, Ipv6Addr};

use config::db::{Reader, Row};

use super::Verified;
use super::attempts::{Attempt, Limits, of_name, of_user};
use super::rules::{By, Rules};
use crate::ApiError as E;
use crate::call::Call;
use crate::directory;
use crate::error::ApiResult;
use crate::methods::authentication::Current;

/// All refused sign-ins have the same error, which does not show whether the name exists.
pub(crate) const BAD_LOGIN: &str =
    "Incorrect user name or password or account is temporarily blocked.";

/// Name and password are right, but there is no role, or a group is switched off.
pub(crate) const NO_ACCESS: &str = "No permissions for system access.";

/// A hash of [`super::BCRYPT_COST`] that no user has, for names without a usable one.
pub(super) const NO_HASH: &str = "$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";

/// Checks name and password; counts failures. Returns the user. Every attempt compares one hash unless a directory
/// accepts the password, also of unknown users, blocked accounts and users of LDAP: its duration shows none of them.
pub(crate) fn check_password(
    call: &Call<'_>,
    username: &str,
    password: String,
) -> ApiResult<Verified> {
    let sessions = &call.api.sessions;
    let now = call.now();
    let user = Candidate::find(call, username)?;
    // They block the account for the source that they came from; Zabbix blocks it for everybody.
    let attempt = sessions.attempts.begin(call.peer, &user.key, now, limits(call), &call.gone);
    let by_directory = match (&attempt, &user.row, user.rules.by) {
        // Servers of others are not asked about blocked accounts.
        (None, ..) | (_, Some(_), By::Internal) => Ok(None),
        (_, Some(row), By::Ldap(directory)) => {
            directory::sign_in::check(call, row, directory, username, &password)
                .map(|good| good.then(|| row.id("userid")))
        }
        (_, None, _) => directory::sign_in::create(call, username, &password),
    };
    let internal = user.row.as_ref().filter(|_| user.rules.by == By::Internal);
    let good = match by_directory {
        Ok(Some(userid)) => Some(userid),
        other => {
            let is_right = is_right(call, internal, password)?;
            other?;
            internal.filter(|_| is_right).map(|row| row.id("userid"))
        }
    };
    let Some(attempt) = attempt else { return Err(E::application(BAD_LOGIN)) };
    attempt.end(good.is_some(), now);
    let Some(userid) = good else {
        if let Some(row) = &user.row {
            sessions.attempts.note(row.id("userid"), false, call.peer, now);
        }
        return Err(E::application(BAD_LOGIN));
    };
    let (row, rules) = match (user.row, user.rules.by) {
        (Some(row), By::Internal) => (row, user.rules),
        // The directory may have changed the user.
        _ => by_id(call, userid)?,
    };
    let is_noted = row.int("attempt_failed") > 0 || sessions.attempts.has_note(userid);
    // With a second factor, the password alone does not end a series of failures.
    if is_noted && rules.mfaid == 0 {
        sessions.attempts.note(userid, true, call.peer, now);
    }
    Ok(Verified { userid, epoch: row.int("session_epoch"), mfaid: rules.mfaid })
}

const USER: &str =
    "SELECT userid, passwd, attempt_failed, session_epoch, userdirectoryid FROM users WHERE";

/// Who may be meant by a user name.
struct Candidate {
    row: Option<Row>,
    rules: Rules,
    /// Failures are counted by it.
    key: String,
}

impl Candidate {
    /// The user of this name, and how the user signs in. Names of users of LDAP may be case-insensitive. Failures
    /// of a spelling variant count for the user also where they are not.
    fn find(call: &Call<'_>, username: &str) -> ApiResult<Self> {
        call.read(|reader| {
            let exact = reader.query(&format!("{USER} username = ?"), &[username.into()])?;
            let exact = exact.into_iter().next();
            let sql = format!("{USER} LOWER(username) = LOWER(?) LIMIT 2");
            let mut similar = match &exact {
                Some(_) => Vec::new(),
                None => reader.query(&sql, &[username.trim().into()])?,
            };
            let similar = similar.pop().filter(|_| similar.is_empty());
            let known = exact.as_ref().or(similar.as_ref());
            let key = known.map_or_else(|| of_name(username), |row| of_user(row.id("userid")));
            if let Some(row) = similar
                && !Current::read(reader)?.is_on("ldap_case_sensitive")
            {
                let rules = rules_of(reader, Some(&row))?;
                if rules.by != By::Internal {
                    return Ok(Self { row: Some(row), rules, key });
                }
            }
            let rules = rules_of(reader, exact.as_ref())?;
            Ok(Self { row: exact, rules, key })
        })
    }
}

fn rules_of(reader: &mut dyn Reader, row: Option<&Row>) -> ApiResult<Rules> {
    let id = |name: &str| row.map_or(0, |row| row.id(name));
    Rules::read(reader, id("userid"), id("userdirectoryid"))
}

fn by_id(call: &Call<'_>, userid: u64) -> ApiResult<(Row, Rules)> {
    call.read(|reader| {
        let rows = reader.query(&format!("{USER} userid = ?"), &[userid.into()])?;
        let row = rows.into_iter().next().ok_or_else(|| E::application(BAD_LOGIN))?;
        let rules = rules_of(reader, Some(&row))?;
        Ok((row, rules))
    })
}

/// Compares the password with the hash of the user, or with a fixed hash that no password matches.
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
