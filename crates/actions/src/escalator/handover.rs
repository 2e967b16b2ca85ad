//! What a message gets only when it is handed over: links and an address for responses for its
//! recipient, its own id, and the id of the message that it may edit.
//!
//! Links are never stored: who may read alerts cannot act for their recipients. They are good from now on, also if the
//! message waited for long.

use std::collections::BTreeSet;

use config::Config;
use config::db::{DbResult, Reader, Row, query_by_ids};
use config::links::{self, Link, LinkKey, LinkKind};
use const_format::formatcp;
use eval::macros::{FunctionEnv, TokenKind, substitute_within};
use jiff::tz::TimeZone;
use model::alert::{Outcome, Outgoing, Report};
use model::{AlertId, EventId, MediaTypeId};
use objects::sql::SOURCE_TRIGGER;
use objects::{AlertStatus, AlertType};

use crate::text::{MESSAGE_BYTES_MAX, PARAMETER_BYTES_MAX};

/// How all macros of this module start.
const MACROS: &str = "{ALERT.";
const MESSAGE_ID: &str = "ALERT.MESSAGE.ID";
const ALERT_ID: &str = "ALERT.ID";
/// Seconds for which the address for responses is good: a week.
const REPLY_LIFETIME_S: u32 = 7 * 86_400;
/// Longest local part of an address (RFC 5321, 4.5.3.1.1).
const LOCAL_MAX: usize = 64;

/// Condition on rows of `alerts`: no earlier message of the same problem to the same address is on its way.
const IN_ORDER: &str = formatcp!(
    "NOT EXISTS (SELECT 1 FROM alerts b WHERE b.alertid < alerts.alertid \
     AND b.mediatypeid = alerts.mediatypeid AND b.sendto = alerts.sendto \
     AND b.status IN ({}, {}) AND b.alerttype = {} AND (b.eventid = {problem} OR b.p_eventid = {problem}))",
    AlertStatus::NotSent.text(),
    AlertStatus::New.text(),
    AlertType::Message.text(),
    problem = "CASE alerts.p_eventid WHEN 0 THEN alerts.eventid ELSE alerts.p_eventid END"
);

/// What a media type does with its messages.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Messages of one problem to one address are sent one after the other, and later ones know the id of the first.
    pub(super) is_living: bool,
    /// The receiver takes each message once, by its id: one whose outcome is not known is sent again.
    pub(super) deduplicates: bool,
    /// Where responses go to; empty = to the sender.
    pub(super) reply_address: String,
}

impl Way {
    /// The condition on rows of `alerts` that may be handed over.
    pub(super) const fn order(&self) -> &'static str {
        if self.is_living { IN_ORDER } else { "1 = 1" }
    }
}

/// The attempts of these alerts of one media type.
pub(super) fn attempts(
    config: &Config,
    rows: &[Row],
    way: &Way,
    now: i64,
) -> DbResult<Vec<Outgoing>> {
    let mut attempts: Vec<Outgoing> = rows.iter().map(outgoing).collect();
    // First, so that an id that a receiver chose makes no link.
    sign(config, rows, &mut attempts, &way.reply_address, now)?;
    if way.is_living {
        config.read(|connection| {
            rows.iter().zip(&mut attempts).try_for_each(|(row, attempt)| {
                if !texts(attempt).any(|text| text.contains(MESSAGE_ID)) {
                    return Ok(());
                }
                // A summary of several problems edits the message of none.
                let id = match row.int("summary") {
                    0 => message_id(connection, attempt)?,
                    _ => String::new(),
                };
                expand(attempt, &|name| (name == MESSAGE_ID).then(|| id.clone()));
                Ok(())
            })
        })?;
    }
    if way.deduplicates {
        for attempt in &mut attempts {
            let id = attempt.alert.0.to_string();
            expand(attempt, &|name| (name == ALERT_ID).then(|| id.clone()));
        }
    }
    Ok(attempts)
}

/// The report without the tokens that a script or a server repeats in its error: errors are stored, links are not.
pub(super) fn without_links(mut report: Report) -> Report {
    if let Outcome::Failed { error, .. }
    | Outcome::Impossible { error }
    | Outcome::Unknown { error } = &mut report.outcome
    {
        *error = links::without_tokens(error);
    }
    report
}

fn outgoing(row: &Row) -> Outgoing {
    let problem = match row.id("p_eventid") {
        0 => row.id("eventid"),
        problem => problem,
    };
    Outgoing {
        alert: AlertId(row.id("alertid")),
        media_type: MediaTypeId(row.id("mediatypeid")),
        sendto: row.text("sendto").to_owned(),
        subject: row.text("subject").to_owned(),
        message: row.text("message").to_owned(),
        parameters: serde_json::from_str(row.text("parameters")).unwrap_or_default(),
        problem: EventId(problem),
        reply_to: String::new(),
        failures: u32::try_from(row.int("retries")).unwrap_or(0),
    }
}

fn texts(attempt: &Outgoing) -> impl Iterator<Item = &str> {
    let own = [attempt.subject.as_str(), &attempt.message];
    own.into_iter()
        .chain(attempt.parameters.iter().flat_map(|(name, value)| [name.as_str(), value]))
}

/// Replaces the macros that `value` knows, without their braces.
fn expand(attempt: &mut Outgoing, value: &dyn Fn(&str) -> Option<String>) {
    let env = FunctionEnv { tz: &TimeZone::UTC };
    let put = |text: &mut String, bytes: usize| {
        if text.contains(MACROS) {
            *text = substitute_within(text, bytes, &env, &mut |token| match token.kind {
                TokenKind::Builtin { name, index: None } => value(name),
                _ => None,
            });
        }
    };
    put(&mut attempt.subject, MESSAGE_BYTES_MAX);
    put(&mut attempt.message, MESSAGE_BYTES_MAX);
    for (name, value) in &mut attempt.parameters {
        put(name, PARAMETER_BYTES_MAX);
        put(value, PARAMETER_BYTES_MAX);
    }
}

/// What the receiver called the last message of the problem to this address that has an id; empty = none has.
fn message_id(connection: &mut dyn Reader, attempt: &Outgoing) -> DbResult<String> {
    let sql = "SELECT message_id FROM alerts WHERE (eventid = ? OR p_eventid = ?) AND mediatypeid = ? \
               AND sendto = ? AND message_id <> '' AND summary = 0 ORDER BY alertid DESC LIMIT 1";
    let problem = attempt.problem.0;
    let params = [
        problem.into(),
        problem.into(),
        attempt.media_type.0.into(),
        attempt.sendto.as_str().into(),
    ];
    let rows = connection.query(sql, &params)?;
    Ok(rows.first().map_or_else(String::new, |row| row.text("message_id").to_owned()))
}

/// Signs the links of messages to users about problems of triggers, and the addresses for their responses. Without an
/// address of the interface, and without a key, the macros stay as text.
fn sign(
    config: &Config,
    rows: &[Row],
    attempts: &mut [Outgoing],
    reply_address: &str,
    now: i64,
) -> DbResult<()> {
    let settings = &config.snapshot().settings;
    let has_links = |attempt: &Outgoing| {
        !settings.links.address.is_empty()
            && texts(attempt).any(|text| text.contains("ALERT.LINK."))
    };
    let is_signed = |attempt: &&Outgoing| !reply_address.is_empty() || has_links(attempt);
    let problems: BTreeSet<u64> =
        attempts.iter().filter(is_signed).map(|attempt| attempt.problem.0).collect();
    if problems.is_empty() {
        return Ok(());
    }
    let key = match LinkKey::of(config) {
        Ok(key) => key,
        Err(error) => {
            tracing::error!(%error, "messages are sent without links");
            return Ok(());
        }
    };
    let sql = formatcp!(
        "SELECT eventid FROM events WHERE source = {SOURCE_TRIGGER} AND value = 1 AND eventid IN ({{ids}})"
    );
    let found =
        config.read(|connection| query_by_ids(connection, sql, &[], &Vec::from_iter(problems)))?;
    let of_triggers: BTreeSet<u64> = found.iter().map(|row| row.id("eventid")).collect();
    for (row, attempt) in rows.iter().zip(attempts) {
        let (user, problem) = (row.id("userid"), attempt.problem.0);
        if user == 0 || !of_triggers.contains(&problem) {
            continue;
        }
        let token = |kind: LinkKind, lifetime_s: u32| {
            let until = u32::try_from(now.saturating_add(lifetime_s.into())).unwrap_or(u32::MAX);
            key.sign(&Link { kind, user, problem, until })
        };
        if has_links(attempt) {
            expand(attempt, &|name| {
                let token = token(LinkKind::of_macro(name)?, settings.links.lifetime_s);
                Some(format!("{}/act/{token}", settings.links.address))
            });
        }
        attempt.reply_to = reply_to(reply_address, || token(LinkKind::Reply, REPLY_LIFETIME_S));
    }
    Ok(())
}

/// `local+TOKEN@domain`; empty = responses are not read, or the token is too long for an address.
fn reply_to(address: &str, token: impl FnOnce() -> String) -> String {
    let Some((local, domain)) = address.split_once('@') else { return String::new() };
    let local = format!("{local}+{}", token());
    if local.len() > LOCAL_MAX { String::new() } else { format!("{local}@{domain}") }
}
