//! What is in the database, and how it differs from what must be there.

use std::collections::{BTreeMap, BTreeSet};

use config::Config;
use config::db::{DbResult, Reader, Row};
use objects::{AlertStatus, EscalationStatus};

use super::estate::Estate;
use super::model::{Escalation, Fate, Message, Model, Waits, What};
use super::truth::{Event, Truth};
use crate::escalator::events::Position;

/// A row of `alerts`.
#[derive(Debug, Clone)]
pub(super) struct Alert {
    pub(super) id: u64,
    pub(super) message: Message,
    pub(super) status: AlertStatus,
    pub(super) error: String,
    pub(super) due: i64,
}

impl Alert {
    /// `None` = the server wrote something unheard of.
    fn from_row(row: &Row) -> Option<Self> {
        let (event, of) = (row.id("eventid"), row.id("p_eventid"));
        let (update, error) = (row.id("acknowledgeid"), row.text("error"));
        let operation = row.text("subject").parse().unwrap_or(0);
        let what = if row.text("message").starts_with("NOTE") {
            What::Cancelled
        } else if update != 0 {
            What::Update { operation, update }
        } else if of != 0 {
            What::Recovery { operation }
        } else {
            What::Step { step: u32::try_from(row.int("esc_step")).ok()?, operation }
        };
        let media_type = row.id("mediatypeid");
        let address = (media_type != 0).then(|| (media_type, row.text("sendto").to_owned()));
        let fate = match error {
            "No media defined for user." => Fate::NoMedia,
            "Media type disabled." => Fate::TypeDisabled,
            _ => Fate::Sent,
        };
        let problem = if of == 0 { event } else { of };
        let (action, user) = (row.id("actionid"), row.id("userid"));
        Some(Self {
            id: row.id("alertid"),
            message: Message { problem, action, what, user, address, fate },
            status: AlertStatus::from_number(row.int("status"))?,
            error: error.to_owned(),
            due: row.int("nextcheck"),
        })
    }

    /// It waits for an attempt, or one is being made.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.status, AlertStatus::New | AlertStatus::NotSent)
    }

    pub(super) fn media_type(&self) -> u64 {
        self.message.address.as_ref().map_or(0, |address| address.0)
    }
}

/// A row of `problems`: trigger, the event that ended it, acknowledged.
type Problem = (u64, u64, bool);

#[derive(Debug)]
pub(super) struct Seen {
    events: Vec<Event>,
    problems: BTreeMap<u64, Problem>,
    updates: u64,
    mark: u32,
    changes: u64,
    looked_at: (u64, u64),
    pub(super) escalations: BTreeMap<(u64, u64), Escalation>,
    pub(super) alerts: Vec<Alert>,
}

impl Seen {
    pub(super) fn read(config: &Config) -> DbResult<Self> {
        config.read(|connection| Self::of(connection))
    }

    fn of(connection: &mut dyn Reader) -> DbResult<Self> {
        let mut rows = |sql: &str| connection.query(sql, &[]);
        let event = |row: &Row| (row.id("eventid"), row.id("objectid"), row.int("value") == 1);
        let problem = |row: &Row| {
            let acknowledged = row.int("acknowledged") == 1;
            (row.id("eventid"), (row.id("objectid"), row.id("r_eventid"), acknowledged))
        };
        let events = rows("SELECT eventid, objectid, value FROM events ORDER BY eventid")?;
        let problems = rows("SELECT eventid, objectid, r_eventid, acknowledged FROM problems")?;
        let updates = rows("SELECT COUNT(*) AS n FROM acknowledges")?;
        let changes = rows("SELECT name FROM usergroups")?;
        let escalations = rows("SELECT * FROM escalations")?;
        let alerts = rows("SELECT * FROM alerts ORDER BY alertid")?;
        let looked_at = Position::read(connection)?;
        let mark = events::written_until(connection)?.unwrap_or(0);
        Ok(Self {
            events: events.iter().map(event).collect(),
            problems: problems.iter().map(problem).collect(),
            updates: updates.first().map_or(0, |row| row.id("n")),
            mark: u32::try_from(mark).unwrap_or(0),
            changes: changes.first().map_or(0, |row| row.text("name").parse().unwrap_or(0)),
            looked_at: (looked_at.event, looked_at.update),
            escalations: escalations.iter().map(escalation).collect(),
            alerts: alerts.iter().map(|row| Alert::from_row(row).unwrap()).collect(),
        })
    }

    /// Says how it differs from what must be there.
    pub(super) fn agrees(&self, state: &State) -> Result<(), String> {
        let State { estate, truth, model } = state;
        let is_known = |trigger: u64| estate.triggers.contains_key(&trigger);
        differ("changes of the configuration", &self.changes, &estate.changes)?;
        differ("mark", &self.mark, &truth.mark)?;
        differ("events", &self.events, &truth.events)?;
        differ("updates", &self.updates, &truth.updates)?;
        let wanted =
            truth.problems.iter().map(|(id, one)| (*id, (one.trigger, one.end, one.acknowledged)));
        // Those of deleted triggers go in time.
        let of_known = |(_, (trigger, ..)): &(u64, Problem)| is_known(*trigger);
        let seen: BTreeMap<u64, Problem> =
            self.problems.iter().map(|(id, one)| (*id, *one)).filter(of_known).collect();
        differ("problems", &seen, &wanted.filter(of_known).collect())?;
        differ("position", &self.looked_at, &model.looked_at)?;
        for (key, one) in &self.escalations {
            if model.escalations.get(key) != Some(one) {
                return Err(format!(
                    "escalation {key:?} is {one:?}, not {:?}",
                    model.escalations.get(key)
                ));
            }
        }
        if let Some(key) = model.escalations.keys().find(|key| !self.escalations.contains_key(key))
        {
            return Err(format!("escalation {key:?} is missing: {:?}", model.escalations[key]));
        }
        let mut messages = BTreeSet::new();
        for alert in &self.alerts {
            if !messages.insert(&alert.message) {
                return Err(format!("a second alert of the same: {alert:?}"));
            }
            if !model.messages.contains(&alert.message) {
                return Err(format!("no such message was due: {alert:?}"));
            }
        }
        match model.messages.iter().find(|message| !messages.contains(message)) {
            Some(message) => Err(format!("no alert for {message:?}")),
            None => Ok(()),
        }
    }

    /// Open problems of deleted triggers.
    pub(super) fn orphans(&self, estate: &Estate) -> usize {
        let is_orphan =
            |(trigger, end, _): &&Problem| *end == 0 && !estate.triggers.contains_key(trigger);
        self.problems.values().filter(is_orphan).count()
    }
}

fn escalation(row: &Row) -> ((u64, u64), Escalation) {
    let due = row.int("nextcheck");
    let waits = match (EscalationStatus::Paused.is(row.int("status")), due) {
        (true, due) => Waits::Paused(due),
        (false, 0) => Waits::End,
        (false, due) => Waits::Due(due),
    };
    let step = u32::try_from(row.int("esc_step")).unwrap_or(u32::MAX);
    ((row.id("eventid"), row.id("actionid")), Escalation { step, waits })
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, seen: &T, wanted: &T) -> Result<(), String> {
    if seen == wanted { Ok(()) } else { Err(format!("{what}: {seen:?}, must be {wanted:?}")) }
}

/// All that must be in the database.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) estate: Estate,
    pub(super) truth: Truth,
    pub(super) model: Model,
}
