//! What network discovery found and which agents announced themselves: rows, events, and the
//! actions that make hosts of both.
//!
//! Sightings come over a bounded queue; one thread ([`Sightings::run`]) writes them in transactions
//! of many. Rows and what the actions do belong to one transaction; their events are written with it.

mod actions;
mod agents;
mod conditions;
mod hosts;
mod network;
mod operations;

use std::collections::BTreeSet;
use std::sync::Arc;

use config::db::{DbError, DbResult, Value};
use config::objects::Deleted;
use config::{Config, Edit, Statements};
use model::{Sighting, Timestamp};
use stdx::queue::Receiver;

use actions::Actions;
use network::Rules;

use crate::retry::{Stop, Writing};

/// Sightings per transaction.
const BATCH_MAX: usize = 200;
/// The API's number of events of network discovery.
const SOURCE_DISCOVERY: i64 = 1;
/// The API's number of events of agents that announce themselves.
const SOURCE_AUTOREGISTRATION: i64 = 2;

/// What an event is about. The numbers are the API's `object`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Object {
    Host = 1,
    Service = 2,
    Agent = 3,
}

/// The API's values of events of network discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up = 0,
    Down = 1,
    Discovered = 2,
    Lost = 3,
}

/// An event that the actions judge, and that is then written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event {
    object: Object,
    id: u64,
    value: i64,
    at: Timestamp,
}

impl Event {
    fn source(&self) -> i64 {
        match self.object {
            Object::Agent => SOURCE_AUTOREGISTRATION,
            Object::Host | Object::Service => SOURCE_DISCOVERY,
        }
    }
}

/// Told of what actions have deleted, after the commit: history of items and problems of triggers
/// go with them.
pub type GoneHook = Box<dyn Fn(&Deleted) + Send>;

/// Writes sightings.
pub struct Sightings {
    config: Arc<Config>,
    gone: GoneHook,
}

impl std::fmt::Debug for Sightings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sightings").finish_non_exhaustive()
    }
}

impl Sightings {
    /// Nothing is kept in memory: the database is the truth.
    pub fn new(config: Arc<Config>, gone: GoneHook) -> Self {
        Self { config, gone }
    }

    /// Writes sightings until [`Sighting::End`], or until all senders are gone. Blocks: give it a
    /// thread of its own. While the database is down, a batch is repeated each second and the queue
    /// fills. When the server stops meanwhile, the rest is dropped: discovery finds it again.
    pub fn run(&self, mut sightings: Receiver<Sighting>, stop: &Stop) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        let mut dropped = 0;
        while let Some(first) = sightings.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH_MAX
                && let Some(next) = sightings.try_recv()
            {
                batch.push(next);
            }
            let kept = if dropped > 0 { 0 } else { self.keep(&batch, stop) };
            dropped += batch.len() - kept;
            if batch.contains(&Sighting::End) {
                break;
            }
            batch.clear();
        }
        if dropped > 0 {
            tracing::warn!(
                dropped,
                "the configuration database is down: dropped discovery results"
            );
        }
    }

    /// Returns how many are done with: written, or refused by the database and reported.
    fn keep(&self, batch: &[Sighting], stop: &Stop) -> usize {
        let writing = Writing {
            stop,
            write: &|sightings: &[Sighting]| self.write(sightings),
            refused: &|sighting, error| {
                tracing::error!(%error, ?sighting, "skipping a discovery result that cannot be written");
            },
            down: &|error| {
                tracing::error!(%error, results = batch.len(), "cannot write discovery results; retrying");
            },
        };
        writing.keep(batch)
    }

    /// Writes one batch in one transaction. After an error nothing of it is written.
    pub fn write(&self, sightings: &[Sighting]) -> DbResult<()> {
        // Most of a network's addresses are nobody's, and nobody waits for the database then.
        let wanted = self.config.read(|connection| network::worth(connection, sightings))?;
        if wanted.is_empty() {
            return Ok(());
        }
        let deleted = self.config.write(|edit| {
            let (events, deleted) = write(edit, &wanted)?;
            // At the end: the state is locked for its own rows alone, and before the commit: events may
            // come twice after a crash, and none is lost.
            if !events.is_empty() {
                self.config.write_state(|state| insert(state, &events))?;
                self.config.sync_state()?;
            }
            Ok::<_, DbError>(deleted)
        })?;
        if !deleted.items.is_empty() || !deleted.triggers.is_empty() {
            (self.gone)(&deleted);
        }
        Ok(())
    }
}

fn write(edit: &mut Edit<'_>, sightings: &[&Sighting]) -> DbResult<(Vec<Event>, Deleted)> {
    let mut all_events = Vec::new();
    let mut rules = Rules::default();
    let mut actions = Actions::default();
    let mut deleted = Deleted::default();
    let mut seen = BTreeSet::new();
    for sighting in sightings {
        let mut events = Vec::new();
        match sighting {
            Sighting::Address(address) => {
                network::address(edit, &mut rules, address, &mut events)?;
            }
            Sighting::Round { rule, error } => network::round(edit, *rule, error)?,
            // Thousands of requests of one agent within a batch say the same.
            Sighting::Agent(agent) if !seen.insert((&agent.host, &agent.metadata)) => {}
            Sighting::Agent(agent) => agents::agent(edit, agent, &mut events)?,
            Sighting::End => {}
        }
        for event in &events {
            actions.run(edit, event, &mut deleted)?;
        }
        all_events.append(&mut events);
    }
    Ok((all_events, deleted))
}

fn insert(edit: &mut Statements<'_>, events: &[Event]) -> DbResult<()> {
    let first = edit.next_id("events", events.len() as u64)?;
    let row = |(id, event): (u64, &Event)| -> Vec<Value> {
        vec![
            id.into(),
            event.source().into(),
            (event.object as i64).into(),
            event.id.into(),
            event.at.clock.into(),
            event.at.ns.into(),
            event.value.into(),
        ]
    };
    let rows: Vec<Vec<Value>> = (first..).zip(events).map(row).collect();
    let columns = ["eventid", "source", "object", "objectid", "clock", "ns", "value"];
    edit.insert_many("events", &columns, &rows)
}

#[cfg(test)]
mod tests;
