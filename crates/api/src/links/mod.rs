//! Links of messages, and responses to them: what their recipient does about a problem without a sign-in.
//!
//! A token says who does what. Whether the user may do it is checked when the page is shown, and again when its button
//! is pressed. A token is used once; the one that is used is stored before the problem is changed.

pub(crate) mod page;
#[cfg(test)]
mod tests;
mod throttle;

use std::net::IpAddr;

use config::Statements;
use config::audit::{AuditAction, note_link};
use config::db::{DbResult, Value};
use config::links::{Link, LinkKey, LinkKind};
use const_format::formatcp;
use jiff::tz::TimeZone;
use model::ProblemUpdate;
use objects::{MediaTypeKind, Severity};
use serde_json::json;

use crate::call::{Call, Gone, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::methods::auditlog;
use crate::methods::event::acknowledge;
use crate::rpc::{self, Origin};
use crate::{Api, permission, session};
pub(crate) use throttle::Throttle;

/// How long a link suppresses a problem, seconds.
const SUPPRESS_S: u64 = 3_600;
/// Hosts that a page names.
const HOSTS_MAX: usize = 10;

/// What a link is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct About {
    kind: LinkKind,
    /// Who acts, as messages name users.
    user: String,
    problem: String,
    hosts: Vec<String>,
    severity: Severity,
    /// When it began, in the time zone of the user.
    since: String,
    progress: Progress,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The button does it.
    Possible,
    /// The problem is acknowledged already.
    Acknowledged,
    /// The problem has ended.
    Ended,
    /// It was done now.
    Done,
}

/// Why nothing is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No such link was signed here.
    Unknown,
    Expired,
    Used,
    /// The source has sent too many links that are not good.
    TooMany,
    /// The user may not do this now, and why.
    NotAllowed(String),
    /// The server cannot do it now.
    Failed,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        if error.is_of_database() {
            tracing::warn!(%error, "a link of a message cannot be used");
            return Self::Failed;
        }
        if error.is_no_object() {
            let why = "You have no permission for this problem, or it does not exist any more.";
            return Self::NotAllowed(why.to_owned());
        }
        Self::NotAllowed(error.data)
    }
}

/// What a link does, for its page. Changes nothing.
pub(crate) fn look(api: &Api, token: &str, peer: IpAddr) -> Result<About, Refusal> {
    let link = open(api, token, peer)?;
    with_problem(api, &link, peer, |_, _, about| Ok(about))
}

/// Does what a link says.
pub(crate) fn act(api: &Api, token: &str, peer: IpAddr) -> Result<About, Refusal> {
    let link = open(api, token, peer)?;
    with_problem(api, &link, peer, |call, update, about| {
        if about.progress != Progress::Possible {
            return Ok(about);
        }
        if !claim(api, &digest(&link), link.until)? {
            return Err(bad(api, peer, Refusal::Used));
        }
        if let Err(error) = api.deps.live.update_problems(&update) {
            tracing::warn!(error, "a link of a message could not change its problem");
            release(api, &digest(&link));
            return Err(Refusal::Failed);
        }
        note(call, &link, &about.problem);
        Ok(About { progress: Progress::Done, ..about })
    })
}

/// Comments on a problem as a response to a message does. A response that comes twice counts once.
pub(crate) fn reply(api: &Api, response: &Response, peer: IpAddr) -> Result<(), Refusal> {
    // Not counted: all come from the mail server.
    let link = known(api, &response.token, |link| link.kind == LinkKind::Reply)?;
    let user = acting(api, &link)?;
    if !is_address_of(api, link.user, &response.from)? {
        let why = "The message was sent to another address. Respond from the address that it was sent to.";
        return Err(Refusal::NotAllowed(why.to_owned()));
    }
    let origin = Origin { peer, gone: Gone::default() };
    rpc::run_as(api, Some(user), &origin, |call| {
        let mut input = request(&link, call.now());
        input["message"] = response.text.as_str().into();
        let update = acknowledge::check(call, &input)?;
        let about = about(call, &link)?;
        Ok((|| {
            let once =
                session::digest(&format!("{link:?} {} {}", response.message_id, response.text));
            if !claim(api, &once, link.until)? {
                return Ok(());
            }
            if let Err(error) = api.deps.live.update_problems(&update) {
                tracing::warn!(error, "a response could not be stored");
                release(api, &once);
                return Err(Refusal::Failed);
            }
            note(call, &link, &about.problem);
            Ok(())
        })())
    })?
}

/// A response to a message, as the program that reads mails sends it.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Response {
    token: String,
    /// Address of its author.
    from: String,
    message_id: String,
    text: String,
}

/// Whether messages to the user go to this address.
fn is_address_of(api: &Api, user: u64, from: &str) -> Result<bool, Refusal> {
    let sql = formatcp!(
        "SELECT m.sendto FROM media m JOIN media_types t ON t.mediatypeid = m.mediatypeid \
         WHERE m.userid = ? AND t.type = {}",
        MediaTypeKind::Email as i64
    );
    let rows: DbResult<_> =
        api.deps.config.read(|connection| connection.query(sql, &[user.into()]));
    let rows = rows.map_err(ApiError::from)?;
    let plain = |line: &str| {
        // `Name <address>`, or the address alone.
        let address =
            line.rsplit_once('<').map_or(line, |(_, rest)| rest.trim_end().trim_end_matches('>'));
        address.trim().to_lowercase()
    };
    let from = plain(from);
    Ok(rows.iter().any(|row| row.text("sendto").lines().any(|line| plain(line) == from)))
}

/// The link of a token that is good now and was not used.
fn open(api: &Api, token: &str, peer: IpAddr) -> Result<Link, Refusal> {
    let link = known(api, token, |link| link.kind != LinkKind::Reply)
        .map_err(|refusal| bad(api, peer, refusal))?;
    let sql = "SELECT digest FROM used_links WHERE digest = ?";
    let params = [Value::from(digest(&link))];
    let rows: DbResult<_> = api.deps.config.read(|connection| connection.query(sql, &params));
    if rows.map_err(ApiError::from)?.is_empty() {
        return Ok(link);
    }
    Err(bad(api, peer, Refusal::Used))
}

/// The link of a token that is good now, if it is one of those that are `wanted`. A good one works, whatever others
/// behind the same address send.
fn known(api: &Api, token: &str, wanted: impl Fn(&Link) -> bool) -> Result<Link, Refusal> {
    let now = api.deps.clock.unix_s();
    let key = LinkKey::stored(&api.deps.config).map_err(ApiError::from)?;
    match key.and_then(|key| key.open(token)).filter(wanted) {
        None => Err(Refusal::Unknown),
        Some(link) if now > u64::from(link.until) => Err(Refusal::Expired),
        Some(link) => Ok(link),
    }
}

/// Counts a link that is not good; a source with many of them learns nothing more.
fn bad(api: &Api, peer: IpAddr, refusal: Refusal) -> Refusal {
    if refusal == Refusal::Failed || api.bad_links.admits(peer, api.deps.clock.unix_s()) {
        return refusal;
    }
    Refusal::TooMany
}

/// Under which a used link is stored. Two tokens of one link differ in nothing but the case of letters.
fn digest(link: &Link) -> String {
    let Link { kind, user, problem, until } = link;
    session::digest(&format!("{kind:?} {user} {problem} {until}"))
}

/// Runs `work` as the link's user, with what the link changes, if the user may do so now.
fn with_problem<T>(
    api: &Api,
    link: &Link,
    peer: IpAddr,
    work: impl FnOnce(&Call<'_>, ProblemUpdate, About) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let user = acting(api, link)?;
    let origin = Origin { peer, gone: Gone::default() };
    let done = rpc::run_as(api, Some(user), &origin, |call| {
        let update = acknowledge::check(call, &request(link, call.now()))?;
        let about = about(call, link)?;
        Ok(work(call, update, about))
    });
    done?
}

/// The user of a link, if the role allows what it does.
fn acting(api: &Api, link: &Link) -> Result<User, Refusal> {
    let gone = "The user of this link is disabled or does not exist any more.";
    let user = session::user(api, link.user, "", gone)?;
    let (rule, what) = match link.kind {
        LinkKind::Acknowledge => ("acknowledge_problems", "acknowledge problems"),
        LinkKind::Suppress => ("suppress_problems", "suppress problems"),
        LinkKind::Close => ("close_problems", "close problems"),
        LinkKind::Reply => ("add_problem_comments", "comment on problems"),
    };
    if !permission::action_allowed(&user, rule) {
        return Err(Refusal::NotAllowed(format!("Your role does not allow you to {what}.")));
    }
    Ok(user)
}

/// The parameters of `event.acknowledge` that do the same.
fn request(link: &Link, now: u64) -> Json {
    use objects::ProblemAction as Action;
    let action = match link.kind {
        LinkKind::Acknowledge => Action::Acknowledge,
        LinkKind::Suppress => Action::Suppress,
        LinkKind::Close => Action::Close,
        LinkKind::Reply => Action::Message,
    };
    let mut input = json!({ "eventids": [link.problem], "action": action.bit() });
    if link.kind == LinkKind::Suppress {
        input["suppress_until"] = (now + SUPPRESS_S).into();
    }
    input
}

fn about(call: &Call<'_>, link: &Link) -> ApiResult<About> {
    call.read(|connection| {
        let sql = "SELECT objectid, clock, name, severity, acknowledged, r_eventid FROM events \
                   WHERE eventid = ?";
        let rows = connection.query(sql, &[link.problem.into()])?;
        let event = rows.first().ok_or_else(ApiError::no_object)?;
        let sql = format!(
            "SELECT DISTINCT h.name FROM functions f JOIN items i ON i.itemid = f.itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE f.triggerid = ? ORDER BY h.name LIMIT {HOSTS_MAX}"
        );
        let hosts = connection.query(&sql, &[event.id("objectid").into()])?;
        let sql = "SELECT username, name, surname, timezone FROM users WHERE userid = ?";
        let users = connection.query(sql, &[link.user.into()])?;
        let user = users.first().ok_or_else(ApiError::no_object)?;
        let zone = zone(call, user.text("timezone"));
        let since = eval::calendar::local(event.int("clock"), &zone);
        let ended = event.id("r_eventid") != 0;
        let progress = match link.kind {
            LinkKind::Acknowledge if event.int("acknowledged") == 1 => Progress::Acknowledged,
            LinkKind::Suppress | LinkKind::Close if ended => Progress::Ended,
            _ => Progress::Possible,
        };
        let names = [user.text("name"), user.text("surname")];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let username = user.text("username").to_owned();
        Ok(About {
            kind: link.kind,
            user: if names.is_empty() { username } else { names.join(" ") },
            problem: event.text("name").to_owned(),
            hosts: hosts.iter().map(|row| row.text("name").to_owned()).collect(),
            severity: Severity::from_number(event.int("severity")).unwrap_or(Severity::NotClassified),
            since: since.strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
            progress,
        })
    })
}

fn zone(call: &Call<'_>, name: &str) -> TimeZone {
    let server = || call.config().snapshot().settings.time_zone();
    match name {
        "" | "default" => server(),
        "system" => TimeZone::system(),
        name => TimeZone::get(name).unwrap_or_else(|_| server()),
    }
}

/// Stores that a link is used; `false`: it was used before.
fn claim(api: &Api, digest: &str, until: u32) -> Result<bool, Refusal> {
    let row = [Value::from(digest), until.into()];
    let claimed: DbResult<u64> = api.deps.config.write_state(|state| {
        let sql =
            "INSERT INTO used_links (digest, until) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING";
        state.execute(sql, &row)
    });
    let claimed = claimed.map_err(ApiError::from)?;
    // A restart must not make it good again.
    api.deps.config.sync_state().map_err(ApiError::from)?;
    Ok(claimed > 0)
}

/// The link was not used after all.
fn release(api: &Api, digest: &str) {
    let sql = "DELETE FROM used_links WHERE digest = ?";
    let released: DbResult<u64> =
        api.deps.config.write_state(|state| state.execute(sql, &[digest.into()]));
    if let Err(error) = released {
        tracing::warn!(%error, "a link of a message that did nothing stays used");
    }
}

/// The entry of the audit log. What was done is done, even if it cannot be written.
fn note(call: &Call<'_>, link: &Link, problem: &str) {
    let user = call.user();
    let Some(author) = auditlog::entry(call, AuditAction::Update, user.id, &user.username) else {
        return;
    };
    let what = match link.kind {
        LinkKind::Acknowledge => "acknowledge",
        LinkKind::Suppress => "suppress",
        LinkKind::Close => "close",
        LinkKind::Reply => "reply",
    };
    let details = json!({ "problem.link": ["add", what] }).to_string();
    let write = |state: &mut Statements<'_>| {
        note_link(state, &author, link.problem, problem, details.clone())
    };
    let written: DbResult<()> = call.config().write_state(write);
    if let Err(error) = written {
        tracing::warn!(%error, "a link of a message could not be written to the audit log");
    }
}
