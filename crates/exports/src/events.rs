//! Events of triggers as they are in the database.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader, query_by_ids};
use model::{Timestamp, TriggerId};
use objects::EventSource;

/// Events of one read.
const BATCH_MAX: usize = 500;

/// An event of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) trigger: TriggerId,
    pub(crate) at: Timestamp,
    pub(crate) name: String,
    /// The API's number.
    pub(crate) severity: i64,
    pub(crate) tags: Vec<(String, String)>,
    pub(crate) kind: EventKind,
}

/// What it says about problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventKind {
    Problem,
    /// The end of these problems.
    Recovery(Vec<u64>),
}

/// Events after a position.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) events: Vec<Event>,
    /// The position after them.
    pub(crate) position: u64,
    /// There may be more.
    pub(crate) is_full: bool,
}

impl Batch {
    /// No events up to this position.
    pub(crate) fn none_until(position: u64) -> Self {
        Self { events: Vec::new(), position, is_full: false }
    }
}

/// The id of the newest event; 0 = there is none.
pub(crate) fn newest(connection: &mut dyn Reader) -> DbResult<u64> {
    let rows = connection.query("SELECT COALESCE(MAX(eventid), 0) AS newest FROM events", &[])?;
    Ok(rows.first().map_or(0, |row| row.id("newest")))
}

/// The next events of triggers after the event with the id `position`.
pub(crate) fn after(connection: &mut dyn Reader, position: u64) -> DbResult<Batch> {
    let sql = "SELECT eventid, source, objectid, clock, ns, value, name, severity FROM events \
               WHERE eventid > ? ORDER BY eventid LIMIT ?";
    let limit = i64::try_from(BATCH_MAX).unwrap_or(i64::MAX);
    let rows = connection.query(sql, &[position.into(), limit.into()])?;
    let is_full = rows.len() == BATCH_MAX;
    let position = rows.last().map_or(position, |row| row.id("eventid"));
    let of_triggers = rows.iter().filter(|row| EventSource::Trigger.is(row.int("source")));
    let number = |number: i64| u32::try_from(number).unwrap_or(0);
    let mut events: Vec<Event> = of_triggers
        .map(|row| Event {
            id: row.id("eventid"),
            trigger: TriggerId(row.id("objectid")),
            at: Timestamp { clock: number(row.int("clock")), ns: number(row.int("ns")) },
            name: row.text("name").to_owned(),
            severity: row.int("severity"),
            tags: Vec::new(),
            kind: match row.int("value") {
                0 => EventKind::Recovery(Vec::new()),
                _ => EventKind::Problem,
            },
        })
        .collect();
    complete(connection, &mut events)?;
    Ok(Batch { events, position, is_full })
}

/// Adds tags and the problems that ended.
fn complete(connection: &mut dyn Reader, events: &mut [Event]) -> DbResult<()> {
    let ids: Vec<u64> = events.iter().map(|event| event.id).collect();
    let mut at: BTreeMap<u64, &mut Event> =
        events.iter_mut().map(|event| (event.id, event)).collect();
    let sql =
        "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids}) ORDER BY eventtagid";
    for row in query_by_ids(connection, sql, &[], &ids)? {
        if let Some(event) = at.get_mut(&row.id("eventid")) {
            event.tags.push((row.text("tag").to_owned(), row.text("value").to_owned()));
        }
    }
    let is_recovery = |event: &&&mut Event| matches!(event.kind, EventKind::Recovery(_));
    let recoveries: Vec<u64> = at.values().filter(is_recovery).map(|event| event.id).collect();
    let sql = "SELECT eventid, r_eventid FROM problems WHERE r_eventid IN ({ids}) ORDER BY eventid";
    for row in query_by_ids(connection, sql, &[], &recoveries)? {
        let event = at.get_mut(&row.id("r_eventid"));
        if let Some(EventKind::Recovery(problems)) = event.map(|event| &mut event.kind) {
            problems.push(row.id("eventid"));
        }
    }
    Ok(())
}
