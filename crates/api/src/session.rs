//! Authentication: sign-in, sessions, API tokens. Only digests are stored; sign-in is throttled.

mod accesses;
mod attempts;
mod hashing;
mod password;
mod refused;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod totp;

use config::table;
use objects::{Status, UserType};
use std::collections::HashMap;
use std::sync::Mutex;

use config::db::{DbError, DbResult, Row, Value};
use config::{Edit, Statements};
use sha2::{Digest, Sha256};
use stdx::sync::lock;
use tokio::sync::watch;

use crate::call::{Call, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::service::Rights;
use crate::{Api, ApiError as E};
use accesses::{Accesses, Credential};
use attempts::Attempts;
pub(crate) use attempts::folded;
use hashing::Hasher;
#[cfg(test)]
use password::NO_HASH;
pub(crate) use password::{BAD_LOGIN, NO_ACCESS, begin_code, check_password};
#[cfg(test)]
pub(crate) use refused::REFUSED_MAX;
use refused::Refused;
use rules::Rules;

/// bcrypt cost: about 50 ms of CPU, so that a stolen table is slow to try.
const BCRYPT_COST: u32 = 10;
/// Users kept authenticated in memory; beyond, all are read again.
const CACHE_MAX: usize = 10_000;
/// Seconds for which a cached user is believed: a revoked session is dropped at once by
/// [`Sessions::forget`], a changed role takes this long at most.
pub(crate) const CACHE_S: u64 = 5;

/// Recently authenticated users by digest, so that an API call costs no query for it.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    cache: Mutex<HashMap<String, (u64, User)>>,
    /// Counts [`Sessions::forget`].
    changes: watch::Sender<u64>,
    accesses: Accesses,
    /// Failed sign-ins.
    pub(crate) attempts: Attempts,
    pub(crate) hasher: Hasher,
    /// Refused sign-ins in the audit log.
    pub(crate) refused: Mutex<Refused>,
    /// What the history service knows of their rights.
    pub(crate) rights: Rights,
}

impl Sessions {
    /// Something about users, roles, sessions or tokens changed.
    pub(crate) fn forget(&self) {
        // Counted first: what was read before is not remembered afterwards.
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
        lock(&self.cache).clear();
        self.rights.forget();
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Changes whenever a session may have ended or a right may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// bcrypt of a password, for the users table.
pub fn hash_password(password: &str) -> Result<String, ApiError> {
    bcrypt::hash(password, BCRYPT_COST).map_err(|error| {
        E::params(format!("The password cannot be used: {error}. It may have at most 72 bytes."))
    })
}

/// A password that nobody guesses and everybody can type: 20 letters and digits, about 100 bits.
pub fn generate_password() -> Result<String, ApiError> {
    // Without 0, O, 1, l and I, which look alike; 32 signs, so that each byte gives five fair bits.
    const SIGNS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0_u8; 20];
    getrandom::fill(&mut bytes)
        .map_err(|error| E::application(format!("The machine gives no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| char::from(SIGNS[usize::from(byte % 32)])).collect())
}

/// Digest under which a session id or token is stored.
pub(crate) fn digest(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().fold(String::with_capacity(64), |mut text, byte| {
        use std::fmt::Write;
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// `bytes` random bytes in hexadecimal digits.
pub(crate) fn random_hex(bytes: usize) -> ApiResult<String> {
    let mut buffer = vec![0_u8; bytes];
    getrandom::fill(&mut buffer)
        .map_err(|error| E::application(format!("The machine gives no random numbers: {error}")))?;
    use std::fmt::Write;
    Ok(buffer.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

const NOT_AUTHORIZED: &str = "Not authorized.";
const TERMINATED: &str = "Session terminated, re-login, please.";

/// The user of a session id or an API token.
pub(crate) fn authenticate(api: &Api, secret: Option<&str>) -> ApiResult<User> {
    let secret = secret.filter(|s| !s.is_empty()).ok_or_else(|| E::params(NOT_AUTHORIZED))?;
    let now = api.deps.clock.unix_s();
    let digest = digest(secret);
    if let Some(user) = cached(api, &digest, now) {
        return Ok(user);
    }
    let changes = *api.sessions.changes.borrow();
    let (user, by) = resolve(api, secret, &digest, now)?;
    api.sessions.accesses.note(by, now);
    let mut cache = lock(&api.sessions.cache);
    if *api.sessions.changes.borrow() != changes {
        return Ok(user);
    }
    if cache.len() >= CACHE_MAX {
        cache.clear();
    }
    cache.insert(digest, (now + CACHE_S, user.clone()));
    Ok(user)
}

/// The same without counting as a use of the session or token.
pub(crate) fn look(api: &Api, secret: &str) -> ApiResult<User> {
    let now = api.deps.clock.unix_s();
    let digest = digest(secret);
    match cached(api, &digest, now) {
        Some(user) => Ok(user),
        None => Ok(resolve(api, secret, &digest, now)?.0),
    }
}

fn cached(api: &Api, digest: &str, now: u64) -> Option<User> {
    let cache = lock(&api.sessions.cache);
    cache.get(digest).filter(|(until, _)| now < *until).map(|(_, user)| user.clone())
}

fn resolve(api: &Api, secret: &str, digest: &str, now: u64) -> ApiResult<(User, Credential)> {
    // Session ids have 32 hexadecimal digits, tokens 64.
    if secret.len() == 64 { by_token(api, digest, now) } else { by_session(api, digest, now) }
}

fn by_token(api: &Api, digest: &str, now: u64) -> ApiResult<(User, Credential)> {
    let rows = api.deps.config.read(|c| {
        c.query(
            "SELECT tokenid, userid, status, expires_at FROM tokens WHERE digest = ?",
            &[digest.into()],
        )
    })?;
    let token = rows.first().ok_or_else(|| E::params(NOT_AUTHORIZED))?;
    if Status::Disabled.is(token.int("status")) {
        return Err(E::params(NOT_AUTHORIZED));
    }
    if token.id("expires_at") != 0 && token.id("expires_at") < now {
        return Err(E::application("API token expired."));
    }
    let user = user(api, token.id("userid"), digest, NOT_AUTHORIZED)?;
    Ok((user, Credential::Token(token.id("tokenid"))))
}

fn by_session(api: &Api, digest: &str, now: u64) -> ApiResult<(User, Credential)> {
    let this = Credential::Session(digest.to_owned());
    let noted = api.sessions.accesses.last(&this);
    let sql = "SELECT s.userid, s.lastaccess, s.status, u.autologout FROM sessions s \
               JOIN users u ON u.userid = s.userid \
               WHERE s.digest = ? AND s.epoch >= u.session_epoch";
    let rows = api.deps.config.read(|c| c.query(sql, &[digest.into()]))?;
    let session = rows.first().ok_or_else(|| E::params(TERMINATED))?;
    let idle = now.saturating_sub(noted.unwrap_or_else(|| session.id("lastaccess")));
    let limit = idle_limit(api, session);
    if session.int("status") == UNCONFIRMED || (limit > 0 && idle > limit) {
        return Err(E::params(TERMINATED));
    }
    let userid = session.id("userid");
    // The user must have confirmed the session, also if that was not required when it was opened.
    if session.int("status") == UNASKED && api.deps.config.read(|c| rules::needs_code(c, userid))? {
        return Err(E::params(TERMINATED));
    }
    let user = user(api, userid, digest, TERMINATED)?;
    Ok((user, this))
}

/// Writes which sessions and tokens have been used, and when, and failed sign-ins. Blocks; run it every
/// few seconds.
pub(crate) fn write_accesses(api: &Api) {
    let write = |noted: &_| api.deps.config.write_state(|edit| accesses::write(edit, noted));
    if let Err(error) = api.sessions.accesses.settle(write) {
        tracing::warn!(%error, "cannot write the time of last access; retrying");
    }
    let write = |noted: &_| api.deps.config.write(|edit| attempts::write(edit, noted));
    if let Err(error) = api.sessions.attempts.settle(write) {
        tracing::warn!(%error, "cannot write failed sign-ins to the database; retrying");
    }
}

/// Seconds after which an unused session ends; one for ever still ends when the settings say.
fn idle_limit(api: &Api, session: &Row) -> u64 {
    let text = session.text("autologout");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    match digits.parse::<u64>() {
        Ok(0) | Err(_) => {
            api.deps.config.snapshot().settings.retention.sessions_s.unwrap_or(u64::MAX)
        }
        Ok(n) => n * unit,
    }
}

/// Reads a user with role and groups; refuses disabled ones.
pub(crate) fn user(api: &Api, userid: u64, credential: &str, refused: &str) -> ApiResult<User> {
    let (users, groups) = api.deps.config.read(|c| {
        let users = c.query(
            "SELECT u.username, r.roleid, r.type, r.rules FROM users u \
             JOIN roles r ON r.roleid = u.roleid WHERE u.userid = ?",
            &[userid.into()],
        )?;
        let groups = c.query(
            "SELECT g.usrgrpid, g.users_status FROM user_groups ug \
             JOIN usergroups g ON g.usrgrpid = ug.usrgrpid WHERE ug.userid = ?",
            &[userid.into()],
        )?;
        Ok::<_, ApiError>((users, groups))
    })?;
    let row = users.first().ok_or_else(|| E::params(refused))?;
    if groups.iter().any(|group| group.int("users_status") == 1) {
        return Err(E::params(refused));
    }
    Ok(User {
        id: userid,
        username: row.text("username").to_owned(),
        roleid: row.id("roleid"),
        kind: UserType::from_number(row.int("type")).unwrap_or(UserType::User),
        rules: serde_json::from_str(row.text("rules")).unwrap_or(Json::Null),
        groups: groups.iter().map(|group| group.id("usrgrpid")).collect(),
        credential: credential.to_owned(),
    })
}

/// Who gave the right password, and the sessions' epoch when it was read. If the password is another
/// one when the comparison ends, the epoch is higher, and the session that is opened is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) userid: u64,
    epoch: i64,
    /// MFA method that confirms the session; 0 = none is required.
    pub(crate) mfaid: u64,
}

/// Value of `status` of sessions of users who needed no second factor.
const UNASKED: i64 = 0;
/// Value of `status` of sessions that a second factor has confirmed.
const CONFIRMED: i64 = 1;
/// Value of `status` of sessions that a second factor must confirm.
const UNCONFIRMED: i64 = 2;
/// Seconds within which a session must be confirmed.
const CONFIRM_S: u64 = 300;

/// What failed when a session was opened.
enum Opening {
    Session(DbError),
    Also(DbError),
}

impl From<DbError> for Opening {
    fn from(error: DbError) -> Self {
        Self::Session(error)
    }
}

/// Opens a session; returns its id. Waits for no change of the configuration. `also` is done in the same
/// transaction, so that a sign-in waits once for those of others. The session opens even if that fails.
/// It must be confirmed before it can be used if the user needs a second factor.
pub(crate) fn open(
    api: &Api,
    by: Verified,
    also: impl Fn(&mut Statements<'_>) -> DbResult<()>,
) -> ApiResult<String> {
    let id = random_hex(16)?;
    let now = api.deps.clock.unix_s();
    let row = [
        ("digest", digest(&id).into()),
        ("userid", by.userid.into()),
        ("created", now.into()),
        ("lastaccess", now.into()),
        ("epoch", by.epoch.into()),
        ("status", (if by.mfaid == 0 { UNASKED } else { UNCONFIRMED }).into()),
    ];
    with_entry(api, |state| state.insert(&table::SESSIONS, &row), also)?;
    Ok(id)
}

/// Writes the state of a session, and `also` in the same transaction: without it if that fails.
fn with_entry(
    api: &Api,
    session: impl Fn(&mut Statements<'_>) -> DbResult<()>,
    also: impl Fn(&mut Statements<'_>) -> DbResult<()>,
) -> ApiResult<()> {
    let config = &api.deps.config;
    let both = config.write_state(|state| {
        session(state)?;
        also(state).map_err(Opening::Also)
    });
    match both {
        Ok(()) => {}
        Err(Opening::Also(error)) => {
            tracing::warn!(%error, "a sign-in could not be written to the audit log");
            config.write_state(session)?;
        }
        Err(Opening::Session(error)) => return Err(error.into()),
    }
    config.sync_state()?;
    Ok(())
}

/// A session that waits for a second factor, or enrols one.
pub(crate) struct Unconfirmed {
    pub(crate) userid: u64,
    /// The MFA method that confirms it.
    pub(crate) mfaid: u64,
    /// Secret of the authenticator that the user enrols with it; empty = none yet.
    pub(crate) enrolled: String,
}

/// The session with this id, if it waits for a second factor.
pub(crate) fn unconfirmed(call: &Call<'_>, secret: &str) -> ApiResult<Unconfirmed> {
    let oldest = call.now().saturating_sub(CONFIRM_S);
    let sql = "SELECT s.userid, s.secret, u.userdirectoryid FROM sessions s JOIN users u ON u.userid = s.userid \
               WHERE s.digest = ? AND s.status = ? AND s.created >= ? AND s.epoch >= u.session_epoch";
    let found = call.read(|reader| {
        let values = [digest(secret).into(), UNCONFIRMED.into(), oldest.into()];
        let Some(row) = reader.query(sql, &values)?.into_iter().next() else { return Ok(None) };
        let userid = row.id("userid");
        let rules = Rules::read(reader, userid, row.id("userdirectoryid"))?;
        let enrolled = row.text("secret").to_owned();
        Ok((rules.mfaid != 0).then_some(Unconfirmed { userid, mfaid: rules.mfaid, enrolled }))
    })?;
    found.ok_or_else(|| E::params(TERMINATED))
}

/// The session of the call as one that enrols an authenticator.
pub(crate) fn enrolling(call: &Call<'_>) -> ApiResult<Unconfirmed> {
    let userid = call.user().id;
    let sql = "SELECT s.secret, u.userdirectoryid FROM sessions s JOIN users u ON u.userid = s.userid \
               WHERE s.digest = ?";
    let digest = call.user().credential.as_str();
    let found = call.read(|reader| {
        let rows = reader.query(sql, &[digest.into()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let mfaid = Rules::read(reader, userid, row.id("userdirectoryid"))?.mfaid;
        Ok(Some(Unconfirmed { userid, mfaid, enrolled: row.text("secret").to_owned() }))
    })?;
    let session = found.ok_or_else(|| E::params("API tokens need no authenticator."))?;
    match session.mfaid {
        0 => Err(E::params("No user group of the user requires a code.")),
        _ => Ok(session),
    }
}

/// Gives the session with this digest the secret of an authenticator, unless it has one. Returns the one that it
/// has then.
pub(crate) fn begin_enrolment(api: &Api, digest: &str, secret: &str) -> ApiResult<String> {
    let rows = api.deps.config.write_state(|state| {
        let sql = "UPDATE sessions SET secret = ? WHERE digest = ? AND secret = ''";
        state.execute(sql, &[secret.into(), digest.into()])?;
        state.query("SELECT secret FROM sessions WHERE digest = ?", &[digest.into()])
    })?;
    let row = rows.first().ok_or_else(|| E::params(TERMINATED))?;
    Ok(row.text("secret").to_owned())
}

/// The session with this digest enrols no authenticator any more.
pub(crate) fn end_enrolment(api: &Api, digest: &str) -> ApiResult<()> {
    let sql = "UPDATE sessions SET secret = '' WHERE digest = ?";
    api.deps.config.write_state(|state| state.execute(sql, &[digest.into()]))?;
    Ok(())
}

/// The second factor of a session was right; `also` as for [`open`].
pub(crate) fn activate(
    api: &Api,
    secret: &str,
    also: impl Fn(&mut Statements<'_>) -> DbResult<()>,
) -> ApiResult<()> {
    let now = api.deps.clock.unix_s();
    let sql = "UPDATE sessions SET status = ?, lastaccess = ?, secret = '' WHERE digest = ? AND status = ?";
    let values = [CONFIRMED.into(), now.into(), digest(secret).into(), UNCONFIRMED.into()];
    with_entry(api, |state| state.execute(sql, &values).map(drop), also)
}

/// Ends the session with this digest.
pub(crate) fn close(api: &Api, digest: &str) -> ApiResult<()> {
    api.deps.config.write_state(|state| {
        state.execute("DELETE FROM sessions WHERE digest = ?", &[digest.into()])
    })?;
    api.sessions.forget();
    api.deps.config.sync_state()?;
    Ok(())
}

/// Ends all sessions of these users with the transaction, but for the one with the digest `kept`.
pub(crate) fn end_all(
    api: &Api,
    edit: &mut Edit<'_>,
    userids: &[u64],
    kept: &str,
) -> ApiResult<()> {
    for id in userids {
        let sql = "SELECT session_epoch + 1 AS epoch FROM users WHERE userid = ?";
        let rows = edit.query(sql, &[(*id).into()])?;
        let Some(epoch) = rows.first().map(|row| Value::from(row.int("epoch"))) else { continue };
        edit.update(&table::USERS, *id, &[("session_epoch", epoch.clone())])?;
        // Before the commit, so that this session is valid at every moment.
        api.deps.config.write_state(|state| {
            state.execute(
                "UPDATE sessions SET epoch = ? WHERE digest = ? AND userid = ?",
                &[epoch, kept.into(), (*id).into()],
            )
        })?;
    }
    Ok(())
}

/// Removes sessions that are no longer valid from the database, and the states of what was deleted. To be called now and then.
pub(crate) fn remove_ended(api: &Api) -> DbResult<()> {
    let limit = api.deps.config.snapshot().settings.retention.sessions_s.unwrap_or(u64::MAX);
    let now = api.deps.clock.unix_s();
    let oldest = now.saturating_sub(limit);
    api.deps.config.write_state(|state| {
        state.execute("DELETE FROM used_links WHERE until < ?", &[now.into()])?;
        state.execute(
            "DELETE FROM sessions WHERE lastaccess < ? OR NOT EXISTS (SELECT 1 FROM users u \
             WHERE u.userid = sessions.userid AND sessions.epoch >= u.session_epoch) \
             OR (status = ? AND created < ?)",
            &[oldest.into(), UNCONFIRMED.into(), now.saturating_sub(CONFIRM_S).into()],
        )?;
        state.execute(
            "DELETE FROM token_accesses WHERE NOT EXISTS \
             (SELECT 1 FROM tokens t WHERE t.tokenid = token_accesses.tokenid)",
            &[],
        )?;
        state.execute(
            "DELETE FROM engine_states WHERE NOT EXISTS \
             (SELECT 1 FROM engines e WHERE e.engineid = engine_states.engineid)",
            &[],
        )?;
        state.execute(
            "DELETE FROM certificate_states WHERE NOT EXISTS (SELECT 1 FROM certificates c \
             WHERE c.certificateid = certificate_states.certificateid)",
            &[],
        )?;
        state.execute(
            "DELETE FROM ticket_secrets WHERE NOT EXISTS (SELECT 1 FROM enginegroups g \
             WHERE g.enginegroupid = ticket_secrets.enginegroupid)",
            &[],
        )?;
        state.execute(
            "DELETE FROM engine_placements WHERE NOT EXISTS (SELECT 1 FROM enginegroups g \
             WHERE g.enginegroupid = engine_placements.enginegroupid)",
            &[],
        )
    })?;
    Ok(())
}
