//! How long problems are suppressed, for those who act on problems.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader, query_by_ids};
use config::{Config, table};
use const_format::formatcp;
use jiff::tz::TimeZone;
use objects::ProblemAction;

use super::{covered, open_problems, running, wanted};

/// What ends a suppression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuppressionEnd {
    /// This second, unless an event ends it before.
    At(i64),
    /// Only a user.
    User,
}

impl SuppressionEnd {
    fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::At(a), Self::At(b)) => Self::At(a.max(b)),
            _ => Self::User,
        }
    }
}

/// Ends the suppression of problems by these maintenances, which were deleted; returns the events.
pub fn end_suppressions(config: &Config, maintenances: &[u64]) -> DbResult<Vec<u64>> {
    config.write_state(|state| {
        let sql = "SELECT DISTINCT eventid FROM event_suppress WHERE maintenanceid IN ({ids})";
        let rows = query_by_ids(state, sql, &[], maintenances)?;
        state.delete(&table::EVENT_SUPPRESS, "maintenanceid", maintenances)?;
        Ok(rows.iter().map(|row| row.id("eventid")).collect())
    })
}

/// Those of `problems` that are suppressed at `now`, seconds since 1970. Problems from `fresh` on may be too new for
/// [`super::Watch`] to have suppressed them: what it will do counts.
pub fn suppressed(
    connection: &mut dyn Reader,
    problems: &[u64],
    fresh: Option<u64>,
    now: i64,
    tz: &TimeZone,
) -> DbResult<BTreeMap<u64, SuppressionEnd>> {
    let mut found = by_users(connection, problems, now)?;
    let mut add = |event: u64, until: i64| {
        if until > now {
            let end = SuppressionEnd::At(until);
            found.entry(event).and_modify(|other| *other = other.later(end)).or_insert(end);
        }
    };
    let sql = "SELECT eventid, suppress_until FROM event_suppress WHERE eventid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], problems)? {
        add(row.id("eventid"), row.int("suppress_until"));
    }
    if let Some(fresh) = fresh {
        let running = running(connection, now, tz)?;
        if !running.is_empty() {
            let of_host = covered(connection, &running)?;
            let newest = problems.iter().copied().max().unwrap_or(0);
            let mut open = open_problems(connection, Some(fresh.saturating_sub(1)), newest)?;
            open.retain(|(event, _)| problems.contains(event));
            for ((event, _), until) in wanted(connection, &open, &running, &of_host)? {
                add(event, until);
            }
        }
    }
    Ok(found)
}

/// The newest row of an update tells.
fn by_users(
    connection: &mut dyn Reader,
    problems: &[u64],
    now: i64,
) -> DbResult<BTreeMap<u64, SuppressionEnd>> {
    let sql = formatcp!(
        "SELECT eventid, action, suppress_until FROM acknowledges WHERE action >= {} \
         AND eventid IN ({{ids}}) ORDER BY acknowledgeid",
        ProblemAction::Suppress.bit()
    );
    let mut found = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], problems)? {
        let action = u32::try_from(row.int("action")).unwrap_or(0);
        let (event, until) = (row.id("eventid"), row.int("suppress_until"));
        if ProblemAction::Suppress.is_in(action) {
            let end = if until == 0 { SuppressionEnd::User } else { SuppressionEnd::At(until) };
            found.insert(event, end);
        } else if ProblemAction::Unsuppress.is_in(action) {
            found.remove(&event);
        }
    }
    found.retain(|_, end| !matches!(end, SuppressionEnd::At(until) if *until <= now));
    Ok(found)
}
