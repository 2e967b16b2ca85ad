//! How attempts ended, as rows.

use std::collections::BTreeSet;

use config::db::{DbError, DbResult, Reader, Value, query_by_ids};
use config::{Config, Statements, table};
use model::AlertId;
use model::alert::{Outcome, Report};
use objects::AlertStatus;

use super::fallback::{self, ERROR_CHARS_MAX, Fallbacks, Instead};
use super::refused::plain;

/// Alerts that one statement changes.
const IDS_MAX: usize = 5_000;

/// Stores how one attempt ended. What the database refuses of a report is left out.
pub(super) fn write_one(
    config: &Config,
    report: &Report,
    fallbacks: &Fallbacks,
    now: i64,
) -> DbResult<()> {
    let write = |report: &Report| {
        let reports = std::slice::from_ref(report);
        config.write_state(|state| write_ends(state, reports, fallbacks, now))
    };
    let refused = |error: &DbError| {
        let alert = report.alert.0;
        tracing::error!(%error, alert, "the database refuses how an attempt ended");
    };
    match write(report) {
        Err(error) if error.is_of_values() => refused(&error),
        written => return written,
    }
    match write(&plain(report)) {
        Err(error) if error.is_of_values() => {
            refused(&error);
            Ok(())
        }
        written => written,
    }
}

/// The ends of attempts, with what is sent instead.
pub(super) fn write_ends(
    state: &mut Statements<'_>,
    reports: &[Report],
    fallbacks: &Fallbacks,
    now: i64,
) -> DbResult<()> {
    let instead = fallback::write(state, reports, fallbacks, now)?;
    // Nearly all, usually.
    let (sent, others): (Vec<&Report>, Vec<&Report>) =
        reports.iter().partition(|report| report.outcome == Outcome::SENT);
    for portion in sent.chunks(IDS_MAX) {
        let marks = config::db::placeholders(portion.len());
        let sql = format!(
            "UPDATE alerts SET status = {}, error = '', nextcheck = 0 WHERE alertid IN ({marks})",
            AlertStatus::Sent.text()
        );
        let ids: Vec<Value> = portion.iter().map(|report| report.alert.0.into()).collect();
        state.execute(&sql, &ids)?;
    }
    let mut others = others.into_iter();
    others.try_for_each(|report| write_outcome(state, report, instead.get(&report.alert.0), now))
}

/// The end of an attempt. `instead`: what carries the message, if it failed.
pub(super) fn write_outcome(
    state: &mut Statements<'_>,
    report: &Report,
    instead: Option<&Instead<'_>>,
    now: i64,
) -> DbResult<()> {
    let (status, failures, error, due) = match &report.outcome {
        Outcome::Sent { tags, message_id } => {
            add_tags(state, report.alert, tags)?;
            add_message_id(state, report.alert, message_id)?;
            (AlertStatus::Sent, 0, "", 0)
        }
        Outcome::Failed { error, again: Some(again) } => {
            (AlertStatus::NotSent, 1, error.as_str(), due_after(now, *again))
        }
        Outcome::Failed { error, again: None } => (AlertStatus::Failed, 1, error.as_str(), 0),
        Outcome::Impossible { error } | Outcome::Unknown { error } => {
            (AlertStatus::Failed, 0, error.as_str(), 0)
        }
        Outcome::NotStarted => return set_due(state, &[report.alert.0], now),
    };
    let error: String = error.chars().take(ERROR_CHARS_MAX).collect();
    let error = match instead {
        None => error,
        Some(instead) => {
            let sql = "UPDATE alerts SET carrierid = ? WHERE alertid = ?";
            state.execute(sql, &[instead.carrier.into(), report.alert.0.into()])?;
            instead.error(&error)
        }
    };
    state
        .execute(
            "UPDATE alerts SET status = ?, retries = retries + ?, error = ?, nextcheck = ? \
             WHERE alertid = ?",
            &[
                status.number().into(),
                failures.into(),
                error.into(),
                due.into(),
                report.alert.0.into(),
            ],
        )
        .map(drop)
}

/// Keeps what the receiver calls the message, for those that edit it.
fn add_message_id(state: &mut Statements<'_>, alert: AlertId, id: &str) -> DbResult<()> {
    if id.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE alerts SET message_id = ? WHERE alertid = ?";
    state.execute(sql, &[id.into(), alert.0.into()]).map(drop)
}

/// Adds the tags that a webhook returned to the problem, and to the event that ended it if the message was about that. A
/// tag of the same name with another value stays.
fn add_tags(state: &mut Statements<'_>, alert: AlertId, tags: &[(String, String)]) -> DbResult<()> {
    if tags.is_empty() {
        return Ok(());
    }
    let sql = "SELECT e.eventid AS eventid FROM alerts a \
               JOIN events e ON e.eventid IN (a.eventid, a.p_eventid) WHERE a.alertid = ?";
    let rows = state.query(sql, &[alert.0.into()])?;
    rows.iter().try_for_each(|row| add_tags_of(state, row.id("eventid"), tags))
}

fn add_tags_of(state: &mut Statements<'_>, event: u64, tags: &[(String, String)]) -> DbResult<()> {
    let sql = "SELECT tag, value FROM event_tags WHERE eventid IN ({ids})";
    let rows = query_by_ids(state as &mut dyn Reader, sql, &[], &[event])?;
    let mut known: BTreeSet<(String, String)> =
        rows.iter().map(|row| (row.text("tag").to_owned(), row.text("value").to_owned())).collect();
    for tag in tags.iter().filter(|tag| known.insert((*tag).clone())) {
        let row = [
            ("eventid", event.into()),
            ("tag", tag.0.as_str().into()),
            ("value", tag.1.as_str().into()),
        ];
        state.insert_new(&table::EVENT_TAGS, &row)?;
    }
    Ok(())
}

/// In whole seconds, not earlier.
pub(super) fn due_after(now: i64, again: std::time::Duration) -> i64 {
    let seconds = again.as_secs() + u64::from(again.subsec_nanos() > 0);
    now.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Sets the second of the next attempt of alerts; 0 = the attempt is being made.
pub(super) fn set_due(state: &mut Statements<'_>, alerts: &[u64], due: i64) -> DbResult<()> {
    for portion in alerts.chunks(IDS_MAX) {
        let marks = config::db::placeholders(portion.len());
        let sql = format!("UPDATE alerts SET nextcheck = ? WHERE alertid IN ({marks})");
        let params = std::iter::once(due.into()).chain(portion.iter().map(|id| Value::from(*id)));
        state.execute(&sql, &Vec::from_iter(params))?;
    }
    Ok(())
}
