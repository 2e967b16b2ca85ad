//! Events and problems as they are in the database, and how far the escalator has looked at them.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use config::{Snapshot, Statements};
use const_format::formatcp;
use events::{SuppressionEnd, suppressed};
use model::{EventOrigin, NewEvent, Timestamp, TriggerId};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{EventObject, EventSource, ProblemAction, Severity};

use super::monitored::{Key, Monitored};
use crate::escalation::{Missing, Problem, Suppressed};

/// Events and updates that are looked at in one transaction.
const BATCH_MAX: usize = 500;
/// A suppression that ends by itself is over this long after its end: an extension is written by then.
const GRACE_S: i64 = 2;
/// Longest chain of dependencies that is followed.
const DEPTH_MAX: usize = 32;

/// The row of the table `state_settings`.
const NAME: &str = "alerting_position";

/// Up to which event, which update of problems, and which change of a service's status escalations were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) event: u64,
    pub(super) update: u64,
    pub(super) alarm: u64,
}

impl Position {
    /// As it was stored; the newest event and update if none was.
    pub(super) fn read(connection: &mut dyn Reader) -> DbResult<Self> {
        let sql = "SELECT value FROM state_settings WHERE name = ?";
        let rows = connection.query(sql, &[NAME.into()])?;
        let stored = rows.first().and_then(|row| {
            let mut numbers = row.text("value").split(' ').map(|number| number.parse().ok());
            Some((numbers.next()??, numbers.next()??, numbers.next()??))
        });
        let stored = stored.map(|(event, update, alarm)| Self { event, update, alarm });
        if let Some(stored) = stored {
            return Ok(stored);
        }
        let mut newest = |table: &str, id: &str| -> DbResult<u64> {
            let sql = format!("SELECT COALESCE(MAX({id}), 0) AS newest FROM {table}");
            Ok(connection.query(&sql, &[])?.first().map_or(0, |row| row.id("newest")))
        };
        let event = newest("events", "eventid")?;
        let update = newest("acknowledges", "acknowledgeid")?;
        Ok(Self { event, update, alarm: newest("service_alarms", "servicealarmid")? })
    }

    /// The second in which it was stored last; `None` = an earlier version did, or none.
    pub(super) fn noted(connection: &mut dyn Reader) -> DbResult<Option<i64>> {
        let sql = "SELECT value FROM state_settings WHERE name = ?";
        let rows = connection.query(sql, &[NAME.into()])?;
        Ok(rows.first().and_then(|row| row.text("value").split(' ').nth(3)?.parse().ok()))
    }

    /// Stores it with the second `now`: due times that are stored were reckoned from seconds up to it.
    pub(super) fn write(self, state: &mut Statements<'_>, now: i64) -> DbResult<()> {
        let text = format!("{} {} {} {now}", self.event, self.update, self.alarm);
        state
            .execute(
                "INSERT INTO state_settings (name, value) VALUES (?, ?) \
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                &[NAME.into(), text.into()],
            )
            .map(drop)
    }
}

/// An event, as decisions and conditions need it.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) source: EventSource,
    pub(super) object: EventObject,
    pub(super) object_id: u64,
    pub(super) at: Timestamp,
    pub(super) value: i64,
    pub(super) name: String,
    /// The API's number; -1 = the end of a service's problem.
    pub(super) severity: i64,
    pub(super) acknowledged: bool,
    /// 0 = it has not ended.
    pub(super) recovery: u64,
    /// 0 = it is no symptom.
    pub(super) cause: u64,
    pub(super) tags: Vec<(String, String)>,
}

impl Event {
    /// `None` = of a later version.
    fn from_row(row: &Row) -> Option<Self> {
        let number = |name: &str| u32::try_from(row.int(name)).unwrap_or(0);
        Some(Self {
            id: row.id("eventid"),
            source: EventSource::from_number(row.int("source"))?,
            object: EventObject::from_number(row.int("object"))?,
            object_id: row.id("objectid"),
            at: Timestamp { clock: number("clock"), ns: number("ns") },
            value: row.int("value"),
            name: row.text("name").to_owned(),
            severity: row.int("severity"),
            acknowledged: row.int("acknowledged") == 1,
            recovery: row.id("r_eventid"),
            cause: row.id("cause_eventid"),
            tags: Vec::new(),
        })
    }

    pub(super) fn is_of_trigger(&self) -> bool {
        self.source == EventSource::Trigger
    }

    /// A problem that may end.
    pub(super) fn has_end(&self) -> bool {
        matches!(self.source, EventSource::Trigger | EventSource::Internal | EventSource::Service)
    }

    /// What it is about, if that is a trigger or an item.
    pub(super) fn monitored(&self) -> Option<Key> {
        match (self.source, self.object) {
            (EventSource::Trigger | EventSource::Internal, EventObject::Trigger) => {
                Some(Key::Trigger(self.object_id))
            }
            (EventSource::Internal, EventObject::Item | EventObject::LldRule) => {
                Some(Key::Item(self.object_id))
            }
            _ => None,
        }
    }

    /// The trigger that found a problem; 0 = it is about something else.
    pub(super) fn trigger(&self) -> u64 {
        if self.is_of_trigger() { self.object_id } else { 0 }
    }

    /// The service; 0 = it is about something else.
    pub(super) fn service(&self) -> u64 {
        if self.source == EventSource::Service { self.object_id } else { 0 }
    }

    /// Its severity, where no trigger has one.
    pub(super) fn own_severity(&self) -> Severity {
        Severity::from_number(self.severity).unwrap_or(Severity::NotClassified)
    }

    /// As network discovery and autoregistration know it.
    pub(super) fn found(&self) -> Option<NewEvent> {
        let origin = match self.object {
            EventObject::DiscoveredHost => EventOrigin::DiscoveredHost(self.object_id),
            EventObject::DiscoveredService => EventOrigin::DiscoveredService(self.object_id),
            EventObject::AutoregisteredHost => EventOrigin::AutoregisteredHost(self.object_id),
            _ => return None,
        };
        Some(NewEvent { origin, at: self.at, value: self.value })
    }
}

/// A change of a problem by a user, or another status of a service that has a problem.
#[derive(Debug, Clone, Default)]
pub(super) struct Update {
    /// The row of `acknowledges`; 0 = no user changed the problem.
    pub(super) id: u64,
    pub(super) event: u64,
    pub(super) user: u64,
    actions: u32,
    /// The row of `service_alarms`; 0 = a user changed the problem.
    pub(super) alarm: u64,
}

impl Update {
    /// Whether users get a message of it.
    pub(super) fn is_told(&self) -> bool {
        self.alarm != 0 || is_told(self.actions)
    }

    /// It may end a pause.
    fn wakes(&self) -> bool {
        use ProblemAction as Action;
        [Action::Suppress, Action::Unsuppress, Action::RankCause, Action::RankSymptom]
            .iter()
            .any(|action| action.is_in(self.actions))
    }
}

/// Whether users get a message of an update with these actions. A change of the rank alone is not worth one.
pub(super) fn is_told(actions: u32) -> bool {
    use ProblemAction as Action;
    actions & !(Action::RankCause.bit() | Action::RankSymptom.bit()) != 0
}

/// Events and updates after a position.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Problems, and events that have no end.
    pub(super) opened: Vec<u64>,
    /// Problems that ended.
    pub(super) ended: Vec<u64>,
    /// Triggers whose problems ended.
    pub(super) recovered: Vec<u64>,
    pub(super) updates: Vec<Update>,
    /// Problems whose pause may be over.
    pub(super) woken: BTreeSet<u64>,
    /// There may be more after the position.
    pub(super) is_full: bool,
}

impl News {
    /// Reads what follows the position, and moves it.
    pub(super) fn read(connection: &mut dyn Reader, position: &mut Position) -> DbResult<Self> {
        let mut news = Self::default();
        let sql = formatcp!(
            "SELECT eventid, source, object, objectid, value FROM events WHERE eventid > ? \
             ORDER BY eventid LIMIT {BATCH_MAX}"
        );
        let rows = connection.query(sql, &[position.event.into()])?;
        let mut ends = Vec::new();
        for row in &rows {
            let id = row.id("eventid");
            position.event = id;
            use EventSource::{Internal, Service, Trigger};
            match EventSource::from_number(row.int("source")) {
                Some(source @ (Trigger | Internal | Service)) if row.int("value") == 0 => {
                    ends.push(id);
                    if source == Trigger {
                        news.recovered.push(row.id("objectid"));
                    }
                }
                Some(_) => news.opened.push(id),
                // Of a later version.
                None => {}
            }
        }
        let silent = closed_at_once(connection, &news.opened)?;
        news.opened.retain(|id| !silent.contains(id));
        let sql = "SELECT eventid FROM problems WHERE r_eventid IN ({ids}) ORDER BY eventid";
        let ended = query_by_ids(connection, sql, &[], &ends)?;
        news.ended = ended.iter().map(|row| row.id("eventid")).collect();
        let sql = formatcp!(
            "SELECT acknowledgeid, eventid, userid, action FROM acknowledges \
             WHERE acknowledgeid > ? ORDER BY acknowledgeid LIMIT {BATCH_MAX}"
        );
        let updates = connection.query(sql, &[position.update.into()])?;
        let sql = formatcp!(
            "SELECT servicealarmid, eventid FROM service_alarms WHERE servicealarmid > ? \
             ORDER BY servicealarmid LIMIT {BATCH_MAX}"
        );
        let alarms = connection.query(sql, &[position.alarm.into()])?;
        let full = |rows: &[Row]| rows.len() == BATCH_MAX;
        news.is_full = full(&rows) || full(&updates) || full(&alarms);
        // Updates of problems that are looked at later wait for them: users who get the problem's message are involved.
        let newest = if full(&rows) { position.event } else { u64::MAX };
        let of_looked_at = |row: &&Row| row.id("eventid") <= newest;
        for row in alarms.iter().take_while(of_looked_at) {
            position.alarm = row.id("servicealarmid");
            let event = row.id("eventid");
            // Others open or close a problem, which is an event.
            if event != 0 {
                news.updates.push(Update { event, alarm: position.alarm, ..Update::default() });
            }
        }
        for row in updates.iter().take_while(of_looked_at) {
            position.update = row.id("acknowledgeid");
            let update = Update {
                id: position.update,
                event: row.id("eventid"),
                user: row.id("userid"),
                actions: u32::try_from(row.int("action")).unwrap_or(0),
                alarm: 0,
            };
            if update.wakes() {
                news.woken.insert(update.event);
            }
            news.updates.push(update);
        }
        Ok(news)
    }
}

/// New events that a correlation rule closed at once: no message is sent for them.
fn closed_at_once(connection: &mut dyn Reader, opened: &[u64]) -> DbResult<BTreeSet<u64>> {
    let sql = "SELECT e.eventid AS eventid FROM events e JOIN events r ON r.eventid = e.r_eventid \
               WHERE r.c_eventid = e.eventid AND e.eventid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], opened)?;
    Ok(rows.iter().map(|row| row.id("eventid")).collect())
}

/// Events by id, with their tags; those that were deleted are missing.
pub(super) fn read(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Event>> {
    let sql = "SELECT * FROM events WHERE eventid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let mut events: BTreeMap<u64, Event> =
        rows.iter().filter_map(Event::from_row).map(|event| (event.id, event)).collect();
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids}) \
               ORDER BY eventtagid";
    for row in query_by_ids(connection, sql, &[], ids)? {
        if let Some(event) = events.get_mut(&row.id("eventid")) {
            event.tags.push((row.text("tag").to_owned(), row.text("value").to_owned()));
        }
    }
    Ok(events)
}

/// Triggers that depend on these, directly or through others.
pub(super) fn dependents(connection: &mut dyn Reader, triggers: &[u64]) -> DbResult<Vec<u64>> {
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    let mut level = triggers.to_vec();
    for _ in 0..DEPTH_MAX {
        if level.is_empty() {
            break;
        }
        let sql = "SELECT triggerid FROM trigger_depends WHERE depends_on IN ({ids})";
        let rows = query_by_ids(connection, sql, &[], &level)?;
        level = rows.iter().map(|row| row.id("triggerid")).filter(|id| seen.insert(*id)).collect();
    }
    Ok(seen.into_iter().collect())
}

/// What escalations have to know of problems.
#[derive(Debug)]
pub(super) struct Problems {
    suppressed: BTreeMap<u64, SuppressionEnd>,
    /// Triggers that depend on a trigger with a problem.
    silenced: BTreeSet<u64>,
}

impl Problems {
    /// Of these events; those from `fresh` on were just made.
    pub(super) fn read(
        connection: &mut dyn Reader,
        events: &BTreeMap<u64, Event>,
        fresh: Option<u64>,
        snapshot: &Snapshot,
        now: i64,
    ) -> DbResult<Self> {
        let of_triggers: Vec<u64> =
            events.values().filter(|event| event.is_of_trigger()).map(|event| event.id).collect();
        let tz = snapshot.settings.time_zone();
        let triggers: BTreeSet<u64> = events.values().map(Event::trigger).collect();
        Ok(Self {
            suppressed: suppressed(connection, &of_triggers, fresh, now, &tz)?,
            silenced: silenced(connection, &triggers, snapshot)?,
        })
    }

    pub(super) fn is_suppressed(&self, event: u64) -> bool {
        self.suppressed.contains_key(&event)
    }

    /// As an escalation sees it. `action_off`: the name of its action, which is switched off.
    pub(super) fn state(
        &self,
        event: &Event,
        monitored: Option<&Monitored>,
        action_off: Option<&str>,
    ) -> Problem {
        let missing = match monitored {
            None if event.monitored().is_some() => Some(Missing::Deleted),
            monitored => action_off
                .map(|name| Missing::Action(name.to_owned()))
                .or_else(|| monitored.and_then(|monitored| monitored.missing.clone())),
        };
        Problem {
            recovered: event.recovery != 0,
            acknowledged: event.acknowledged,
            suppressed: match self.suppressed.get(&event.id) {
                None => Suppressed::No,
                Some(SuppressionEnd::At(at)) => Suppressed::Until(at + GRACE_S),
                Some(SuppressionEnd::User) => Suppressed::UntilEvent,
            },
            symptom: event.cause != 0,
            depends_on_problem: self.silenced.contains(&event.trigger()),
            calm: None,
            reopened: false,
            missing,
        }
    }
}

/// Those of `triggers` that depend, directly or through others, on an enabled trigger with a problem.
fn silenced(
    connection: &mut dyn Reader,
    triggers: &BTreeSet<u64>,
    snapshot: &Snapshot,
) -> DbResult<BTreeSet<u64>> {
    let mut masters: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for id in triggers {
        let mut seen: BTreeSet<u64> = BTreeSet::new();
        let mut level = vec![*id];
        for _ in 0..DEPTH_MAX {
            let of = |id: u64| snapshot.triggers.get(&TriggerId(id));
            let next = level.iter().filter_map(|id| of(*id)).flat_map(|one| &one.depends_on);
            let enabled = next.map(|id| id.0).filter(|id| of(*id).is_some_and(|one| one.enabled));
            level = enabled.filter(|id| seen.insert(*id)).collect();
            if level.is_empty() {
                break;
            }
        }
        if !seen.is_empty() {
            masters.insert(*id, seen);
        }
    }
    let all: BTreeSet<u64> = masters.values().flatten().copied().collect();
    let sql = formatcp!(
        "SELECT DISTINCT objectid FROM problems WHERE source = {SOURCE_TRIGGER} \
         AND object = {OBJECT_TRIGGER} AND r_eventid = 0 AND objectid IN ({{ids}})"
    );
    let rows = query_by_ids(connection, sql, &[] as &[Value], &Vec::from_iter(all))?;
    let open: BTreeSet<u64> = rows.iter().map(|row| row.id("objectid")).collect();
    masters.retain(|_, masters| !masters.is_disjoint(&open));
    Ok(masters.into_keys().collect())
}
