//! Hands stored alerts to the media, and stores how the attempts ended.
//!
//! An alert that waits has the second of its next attempt in `nextcheck`. Before an attempt is handed over, the row says so:
//! `nextcheck` is 0 until the report comes. After a crash such an alert is not sent again, because the receiver may have it;
//! its error says so. If the receiver takes each message once, it is sent again. Only as many alerts of a media type are in that state as its sessions send soon.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::Config;
use config::db::{DbResult, Reader, Row, Value};
use const_format::formatcp;
use model::AlertId;
use model::alert::{Media, Outcome, Refused, Report};
use objects::{AlertStatus, AlertType};

use super::fallback::{Fallback, Fallbacks};
use super::handover::{self, Way};
use super::outcomes::{due_after, set_due, write_ends, write_one};
use super::withdrawn::without_withdrawn;

/// Alerts of one media type that are handed over and not reported yet: twice as many as it has sessions, up to this.
const WINDOW_MAX: usize = 200;
/// A queue that is full without an alert of ours is tried again after this.
const FULL_S: i64 = 1;

/// Condition: messages that wait for an attempt, or whose attempt is being made.
const OPEN: &str = formatcp!(
    "status IN ({}, {}) AND alerttype = {}",
    AlertStatus::NotSent.text(),
    AlertStatus::New.text(),
    AlertType::Message.text()
);

/// The error of alerts whose outcome is not known.
const UNCERTAIN: &str =
    "The server stopped during the attempt. The message may have been sent; it is not sent again.";

/// The error of alerts that wait after an attempt that may have reached the receiver, which takes each message once.
const AGAIN: &str = "It is not known whether the message was sent. It is sent again.";

/// Alerts on their way.
pub(super) struct Sending {
    media: Arc<dyn Media>,
    /// When alerts of a media type are due. May have seconds in which nothing is due.
    due: BTreeSet<(i64, u64)>,
    /// Alerts that are handed over, with their media types.
    handed: BTreeMap<AlertId, u64>,
    /// How many alerts of a media type may be handed over, as of its last ones.
    windows: BTreeMap<u64, usize>,
    /// Media types whose messages of one problem to one address are sent one after the other, as of their last ones.
    living: BTreeSet<u64>,
    /// Media types whose receivers take each message once, likewise.
    deduplicating: BTreeSet<u64>,
    /// A transaction failed: rows may say that they are handed over without being so.
    doubtful: bool,
    /// The media take no more.
    stopping: bool,
}

impl Sending {
    /// Nothing is handed over. What a crash has left is marked.
    pub(super) fn start(config: &Config, media: Arc<dyn Media>) -> DbResult<Self> {
        let sql = "SELECT mediatypeid FROM media_types WHERE deduplicates = 1";
        let rows = config.read(|connection| connection.query(sql, &[]))?;
        let again: Vec<Value> = rows.iter().map(|row| row.id("mediatypeid").into()).collect();
        if !again.is_empty() {
            let marks = config::db::placeholders(again.len());
            let sql = format!(
                "UPDATE alerts SET nextcheck = 1, error = ? WHERE {OPEN} AND nextcheck = 0 \
                 AND mediatypeid IN ({marks})"
            );
            let params = Vec::from_iter(std::iter::once(AGAIN.into()).chain(again));
            config.write_state(|state| state.execute(&sql, &params))?;
        }
        let sql = formatcp!(
            "UPDATE alerts SET status = {}, error = ? WHERE {OPEN} AND nextcheck = 0",
            AlertStatus::Failed.text()
        );
        let marked = config.write_state(|state| state.execute(sql, &[Value::from(UNCERTAIN)]))?;
        if marked > 0 {
            tracing::warn!(alerts = marked, "the server stopped while it was sending messages");
        }
        let mut sending = Self {
            media,
            due: BTreeSet::new(),
            handed: BTreeMap::new(),
            windows: BTreeMap::new(),
            living: BTreeSet::new(),
            deduplicating: BTreeSet::new(),
            doubtful: false,
            stopping: false,
        };
        sending.read_due(config)?;
        Ok(sending)
    }

    fn read_due(&mut self, config: &Config) -> DbResult<()> {
        let sql = formatcp!(
            "SELECT mediatypeid, MIN(nextcheck) AS due FROM alerts WHERE {OPEN} AND nextcheck > 0 \
             GROUP BY mediatypeid"
        );
        let rows = config.read(|connection| connection.query(sql, &[]))?;
        self.due = rows.iter().map(|row| (row.int("due"), row.id("mediatypeid"))).collect();
        Ok(())
    }

    /// There are new alerts of this media type.
    pub(super) fn add(&mut self, media_type: u64, now: i64) {
        self.due.insert((now, media_type));
    }

    /// The second in which an attempt is due that can be handed over.
    pub(super) fn next_due(&self) -> Option<i64> {
        if self.stopping {
            return None;
        }
        self.due.iter().find(|(_, media_type)| self.room(*media_type) > 0).map(|(at, _)| *at)
    }

    /// What a failed transaction may have changed is read again.
    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    #[cfg(test)]
    pub(super) fn handed(&self) -> impl Iterator<Item = AlertId> {
        self.handed.keys().copied()
    }

    fn room(&self, media_type: u64) -> usize {
        let used = self.used(media_type);
        self.windows.get(&media_type).unwrap_or(&WINDOW_MAX).saturating_sub(used)
    }

    /// Alerts of a media type that are handed over.
    fn used(&self, media_type: u64) -> usize {
        self.handed.values().filter(|other| **other == media_type).count()
    }

    /// The media types of these reports have more alerts under way than reported: more reports follow, and no session waits for
    /// what these make room for.
    pub(super) fn is_busy(&self, reports: &[Report]) -> bool {
        let mut reported: BTreeMap<u64, usize> = BTreeMap::new();
        for media_type in reports.iter().filter_map(|report| self.handed.get(&report.alert)) {
            *reported.entry(*media_type).or_default() += 1;
        }
        !reported.is_empty() && reported.iter().all(|(id, n)| 2 * n < self.used(*id))
    }

    /// Hands over what is due, up to the window of each media type.
    pub(super) fn serve(&mut self, config: &Config, now: i64) -> DbResult<()> {
        if self.doubtful {
            self.release(config, now)?;
        }
        let due: BTreeSet<u64> =
            self.due.iter().take_while(|(at, _)| *at <= now).map(|(_, id)| *id).collect();
        for media_type in due {
            if self.stopping {
                return Ok(());
            }
            let (window, way) = config.read(|connection| window(connection, media_type))?;
            self.windows.insert(media_type, window);
            for (set, is_one) in
                [(&mut self.living, way.is_living), (&mut self.deduplicating, way.deduplicates)]
            {
                if is_one {
                    set.insert(media_type)
                } else {
                    set.remove(&media_type)
                };
            }
            let room = self.room(media_type);
            if room > 0 {
                self.serve_one(config, media_type, &way, room, now)?;
            }
        }
        Ok(())
    }

    fn serve_one(
        &mut self,
        config: &Config,
        media_type: u64,
        way: &Way,
        room: usize,
        now: i64,
    ) -> DbResult<()> {
        let order = way.order();
        let rows = config.read(|connection| due(connection, media_type, order, room, now))?;
        let rows = without_withdrawn(config, rows, withdrawn_error)?;
        let attempts = handover::attempts(config, &rows, way, now)?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("alertid")).collect();
        if !ids.is_empty() {
            config.write_state(|state| set_due(state, &ids, 0))?;
            // Durable before the first attempt.
            config.sync_state()?;
        }
        let mut refused = Vec::new();
        let mut again = now;
        for attempt in attempts {
            let alert = attempt.alert;
            if !refused.is_empty() {
                refused.push(alert.0);
                continue;
            }
            match self.media.send(attempt) {
                Ok(()) => drop(self.handed.insert(alert, media_type)),
                Err(Refused::Full(_)) => {
                    again = now + FULL_S;
                    refused.push(alert.0);
                }
                Err(Refused::Stopping(_)) => {
                    self.stopping = true;
                    refused.push(alert.0);
                }
            }
        }
        if !refused.is_empty() {
            config.write_state(|state| set_due(state, &refused, again))?;
        }
        self.due.retain(|(_, id)| *id != media_type);
        let next = if rows.len() == room {
            // There may be more that are due.
            Some(again)
        } else {
            // Those behind another one are looked for when that has ended.
            config.read(|connection| first_due(connection, media_type, order))?
        };
        self.due.extend(next.map(|due| (due, media_type)));
        Ok(())
    }

    /// Rows that say that they are handed over, and are not, wait again.
    fn release(&mut self, config: &Config, now: i64) -> DbResult<()> {
        let sql = formatcp!("SELECT alertid FROM alerts WHERE {OPEN} AND nextcheck = 0");
        let rows = config.read(|connection| connection.query(sql, &[]))?;
        let ids = rows.iter().map(|row| row.id("alertid"));
        let ids: Vec<u64> = ids.filter(|id| !self.handed.contains_key(&AlertId(*id))).collect();
        if !ids.is_empty() {
            config.write_state(|state| set_due(state, &ids, now))?;
        }
        self.read_due(config)?;
        self.doubtful = false;
        Ok(())
    }

    /// Alerts that are sent again: the attempt may have reached a receiver which takes each message once. And the other reports.
    fn again<'r>(&self, reports: &'r [Report]) -> (Vec<u64>, Cow<'r, [Report]>) {
        let is_again = |report: &Report| {
            let media_type = self.handed.get(&report.alert);
            matches!(report.outcome, Outcome::Unknown { .. })
                && media_type.is_some_and(|id| self.deduplicating.contains(id))
        };
        if !reports.iter().any(is_again) {
            return (Vec::new(), Cow::Borrowed(reports));
        }
        let (again, others): (Vec<&Report>, Vec<&Report>) =
            reports.iter().partition(|report| is_again(report));
        let again = again.into_iter().map(|report| report.alert.0).collect();
        (again, others.into_iter().cloned().collect())
    }

    /// Stores how attempts ended, and what is sent instead of those that failed.
    pub(super) fn settle(
        &mut self,
        config: &Config,
        reports: &[Report],
        fallbacks: &Fallbacks,
        now: i64,
    ) -> DbResult<()> {
        if reports.is_empty() {
            return Ok(());
        }
        let (again, reports) = self.again(reports);
        let reports = &*reports;
        if !again.is_empty() {
            let marks = config::db::placeholders(again.len());
            let sql =
                format!("UPDATE alerts SET nextcheck = ?, error = ? WHERE alertid IN ({marks})");
            let ids = again.iter().map(|id| Value::from(*id));
            let params = Vec::from_iter([now.into(), AGAIN.into()].into_iter().chain(ids));
            config.write_state(|state| state.execute(&sql, &params))?;
        }
        match config.write_state(|state| write_ends(state, reports, fallbacks, now)) {
            Err(error) if error.is_of_values() => {
                let mut reports = reports.iter();
                reports.try_for_each(|report| write_one(config, report, fallbacks, now))?;
            }
            written => written?,
        }
        for media_type in fallbacks.values().flat_map(Fallback::media_types) {
            self.add(media_type, now);
        }
        for alert in again {
            let media_type = self.handed.remove(&AlertId(alert));
            self.due.extend(media_type.map(|media_type| (now, media_type)));
        }
        for report in reports {
            let Some(media_type) = self.handed.remove(&report.alert) else { continue };
            let due = match &report.outcome {
                Outcome::Failed { again: Some(again), .. } => due_after(now, *again),
                Outcome::NotStarted => now,
                // The next one of the problem may go.
                _ if self.living.contains(&media_type) => now,
                // It made room for others.
                _ => continue,
            };
            self.due.insert((due, media_type));
        }
        Ok(())
    }
}

/// The error of a message whose action or user was deleted.
fn withdrawn_error(alert: &Row) -> &'static str {
    match alert.text("error") {
        AGAIN => {
            "The message may have been sent. The action or the user was deleted since; it is not sent again."
        }
        _ => "The action or the user was deleted. The message is not sent.",
    }
}

/// How many alerts of a media type may be handed over, and how.
fn window(connection: &mut dyn Reader, media_type: u64) -> DbResult<(usize, Way)> {
    let sql = "SELECT maxsessions, living, deduplicates, reply_address FROM media_types \
               WHERE mediatypeid = ?";
    let rows = connection.query(sql, &[media_type.into()])?;
    // 0 = no limit; one that was deleted has one session, which says so.
    let sessions =
        rows.first().map_or(1, |row| usize::try_from(row.int("maxsessions")).unwrap_or(1));
    let way = rows.first().map_or_else(Way::default, |row| Way {
        is_living: row.int("living") == 1,
        deduplicates: row.int("deduplicates") == 1,
        reply_address: row.text("reply_address").to_owned(),
    });
    let window = if sessions == 0 { WINDOW_MAX } else { (2 * sessions).min(WINDOW_MAX) };
    Ok((window, way))
}

/// The alerts of a media type that are due first and meet the condition `order`, at most `most`. One query for each status, in the order of its index:
/// thousands may wait.
fn due(
    connection: &mut dyn Reader,
    media_type: u64,
    order: &str,
    most: usize,
    now: i64,
) -> DbResult<Vec<Row>> {
    let sql = format!(
        "SELECT * FROM alerts WHERE status = ? AND mediatypeid = ? AND nextcheck > 0 AND nextcheck <= ? \
         AND alerttype = {} AND {order} ORDER BY nextcheck, alertid LIMIT {most}",
        AlertType::Message.text()
    );
    let mut rows = Vec::new();
    for status in [AlertStatus::NotSent, AlertStatus::New] {
        let params = [status.number().into(), media_type.into(), now.into()];
        rows.append(&mut connection.query(&sql, &params)?);
    }
    rows.sort_by_key(|row| (row.int("nextcheck"), row.id("alertid")));
    rows.truncate(most);
    Ok(rows)
}

/// The second in which the next alert of a media type is due that meets the condition `order`. One query for each status, as for [`due`].
fn first_due(connection: &mut dyn Reader, media_type: u64, order: &str) -> DbResult<Option<i64>> {
    let sql = format!(
        "SELECT nextcheck FROM alerts WHERE status = ? AND mediatypeid = ? AND nextcheck > 0 \
         AND alerttype = {} AND {order} ORDER BY nextcheck LIMIT 1",
        AlertType::Message.text()
    );
    let mut first = None;
    for status in [AlertStatus::NotSent, AlertStatus::New] {
        let rows = connection.query(&sql, &[status.number().into(), media_type.into()])?;
        first = first.into_iter().chain(rows.first().map(|row| row.int("nextcheck"))).min();
    }
    Ok(first)
}
