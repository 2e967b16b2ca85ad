//! Who asks: sign-in, sessions, API tokens. Only digests are stored; sign-in is throttled.

mod accesses;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use config::db::{Row, Value};
use sha2::{Digest, Sha256};
use stdx::sync::lock;

use crate::call::{Json, User, UserType};
use crate::error::{ApiError, ApiResult};
use crate::service::Rights;
use crate::{Api, ApiError as E};
use accesses::{Accesses, Credential};

/// bcrypt cost: about 50 ms of CPU, so that a stolen table is slow to try.
const BCRYPT_COST: u32 = 10;
/// Failed sign-ins after which an account waits, and for how many seconds (Zabbix's defaults).
pub(crate) const ATTEMPTS_MAX: i64 = 5;
/// Seconds that a blocked account waits.
pub(crate) const BLOCK_S: u64 = 30;
/// Users kept authenticated in memory; beyond, all are read again.
const CACHE_MAX: usize = 10_000;
/// Seconds for which a cached user is believed: a revoked session is dropped at once by
/// [`Sessions::forget`], a changed role takes this long at most.
pub(crate) const CACHE_S: u64 = 5;

/// Recently authenticated users by digest, so that an API call costs no query for it.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    cache: Mutex<HashMap<String, (u64, User)>>,
    accesses: Accesses,
    /// What the history service knows of their rights.
    pub(crate) rights: Rights,
}

impl Sessions {
    /// Something about users, roles, sessions or tokens changed.
    pub(crate) fn forget(&self) {
        lock(&self.cache).clear();
        self.rights.forget();
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
    if let Some((until, user)) = lock(&api.sessions.cache).get(&digest)
        && now < *until
    {
        return Ok(user.clone());
    }
    // Session ids have 32 hexadecimal digits, tokens 64.
    let user = if secret.len() == 64 {
        by_token(api, &digest, now)?
    } else {
        by_session(api, &digest, now)?
    };
    let mut cache = lock(&api.sessions.cache);
    if cache.len() >= CACHE_MAX {
        cache.clear();
    }
    cache.insert(digest, (now + CACHE_S, user.clone()));
    Ok(user)
}

fn by_token(api: &Api, digest: &str, now: u64) -> ApiResult<User> {
    let rows = api.deps.config.read(|c| {
        c.query(
            "SELECT tokenid, userid, status, expires_at FROM tokens WHERE digest = ?",
            &[digest.into()],
        )
    })?;
    let token = rows.first().ok_or_else(|| E::params(NOT_AUTHORIZED))?;
    if token.int("status") != 0 {
        return Err(E::params(NOT_AUTHORIZED));
    }
    if token.id("expires_at") != 0 && token.id("expires_at") < now {
        return Err(E::application("API token expired."));
    }
    let user = user(api, token.id("userid"), digest, NOT_AUTHORIZED)?;
    api.sessions.accesses.note(Credential::Token(token.id("tokenid")), now);
    Ok(user)
}

fn by_session(api: &Api, digest: &str, now: u64) -> ApiResult<User> {
    let this = Credential::Session(digest.to_owned());
    let noted = api.sessions.accesses.last(&this);
    let rows = api.deps.config.read(|c| {
        c.query(
            "SELECT s.userid, s.lastaccess, s.status, u.autologout, u.autologin FROM sessions s \
             JOIN users u ON u.userid = s.userid WHERE s.digest = ?",
            &[digest.into()],
        )
    })?;
    let session = rows.first().ok_or_else(|| E::params(TERMINATED))?;
    let idle = now.saturating_sub(noted.unwrap_or_else(|| session.id("lastaccess")));
    let limit = idle_limit(session);
    if session.int("status") != 0 || (limit > 0 && idle > limit) {
        return Err(E::params(TERMINATED));
    }
    let user = user(api, session.id("userid"), digest, TERMINATED)?;
    api.sessions.accesses.note(this, now);
    Ok(user)
}

/// Writes which sessions and tokens have been used, and when. Blocks; run it every few seconds.
pub(crate) fn write_accesses(api: &Api) {
    let write = |noted: &_| api.deps.config.write_state(|edit| accesses::write(edit, noted));
    if let Err(error) = api.sessions.accesses.settle(write) {
        tracing::warn!(%error, "last accesses could not be written; they are tried again");
    }
}

/// Seconds after which an unused session ends; a session for ever still ends after a year.
fn idle_limit(session: &Row) -> u64 {
    const YEAR_S: u64 = 365 * 86_400;
    let text = session.text("autologout");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        Some((at, 'd')) => (&text[..at], 86_400),
        _ => (text, 1),
    };
    match digits.parse::<u64>() {
        Ok(0) | Err(_) => YEAR_S,
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
        kind: match row.int("type") {
            3 => UserType::SuperAdmin,
            2 => UserType::Admin,
            _ => UserType::User,
        },
        rules: serde_json::from_str(row.text("rules")).unwrap_or(Json::Null),
        groups: groups.iter().map(|group| group.id("usrgrpid")).collect(),
        credential: credential.to_owned(),
    })
}

/// Refused sign-ins all read the same, so that nobody learns which names exist.
pub(crate) const BAD_LOGIN: &str =
    "Incorrect user name or password or account is temporarily blocked.";

/// Name and password are right, but there is no role, or a group is switched off.
pub(crate) const NO_ACCESS: &str = "No permissions for system access.";

/// Checks name and password; counts failures. Returns the user's id.
pub(crate) fn check_password(
    api: &Api,
    username: &str,
    password: &str,
    peer: IpAddr,
) -> ApiResult<u64> {
    let refused = || E::application(BAD_LOGIN);
    let now = api.deps.clock.unix_s();
    let rows = api.deps.config.read(|c| {
        c.query(
            "SELECT userid, passwd, attempt_failed, attempt_clock FROM users WHERE username = ?",
            &[username.into()],
        )
    })?;
    let Some(row) = rows.first() else {
        // As slow as a wrong password, so that the time tells nothing either.
        drop(hash_password(password));
        return Err(refused());
    };
    let userid = row.id("userid");
    let failed = row.int("attempt_failed");
    if failed >= ATTEMPTS_MAX && now < row.id("attempt_clock") + BLOCK_S {
        return Err(refused());
    }
    if bcrypt::verify(password, row.text("passwd")).unwrap_or(false) {
        if failed > 0 {
            let params = [Value::from(userid)];
            api.deps.config.write(|edit| {
                edit.execute("UPDATE users SET attempt_failed = 0 WHERE userid = ?", &params)
            })?;
        }
        return Ok(userid);
    }
    api.deps.config.write(|edit| {
        edit.execute(
            "UPDATE users SET attempt_failed = attempt_failed + 1, attempt_clock = ?, attempt_ip = ? \
             WHERE userid = ?",
            &[now.into(), peer.to_string().into(), userid.into()],
        )
    })?;
    Err(refused())
}

/// Opens a session; returns its id.
pub(crate) fn open(api: &Api, userid: u64) -> ApiResult<String> {
    let id = random_hex(16)?;
    let now = api.deps.clock.unix_s();
    api.deps.config.write(|edit| {
        edit.insert(
            "sessions",
            &[
                ("digest", digest(&id).into()),
                ("userid", userid.into()),
                ("created", now.into()),
                ("lastaccess", now.into()),
            ],
        )
    })?;
    Ok(id)
}

/// Ends the session with this digest.
pub(crate) fn close(api: &Api, digest: &str) -> ApiResult<()> {
    api.deps
        .config
        .write(|edit| edit.execute("DELETE FROM sessions WHERE digest = ?", &[digest.into()]))?;
    api.sessions.forget();
    Ok(())
}
