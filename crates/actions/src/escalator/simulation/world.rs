//! A life of the server that a seed decides: what happens, and that the database has what must be there after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use config::Config;
use config::db::DbError;
use stdx::clock::Clock;

use super::estate::{Estate, MAINTAINED};
use super::machine::Machine;
use super::model::{Facts, Model};
use super::receivers::Receivers;
use super::seen::{Seen, State};
use super::server::{self, Server};
use super::shard::Shard;
use super::truth::Truth;
use crate::escalation::simulation::Random;
use crate::escalator::events::Position;
use crate::escalator::{SET_BACK_S, WAKE_EVERY_S};

pub(super) const START_S: u64 = 1_800_000_000;

pub(super) type Outcome<T = ()> = Result<T, String>;

pub(super) struct World {
    pub(super) random: Random,
    pub(super) machine: Arc<Machine>,
    folder: tempfile::TempDir,
    server: Option<Server>,
    pub(super) state: State,
    pub(super) shard: Shard,
    pub(super) receivers: Receivers,
    /// The process failed or died while it may have handed over messages.
    unsure: bool,
    /// How often in turn the escalator wanted to go on at once.
    pub(super) restless: u32,
    pub(super) trace: Vec<String>,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let machine = Arc::new(Machine::new(seed, START_S));
        let folder = tempfile::tempdir().unwrap();
        let estate = Estate::new(&mut random);
        let config = server::open(folder.path(), &machine).unwrap();
        let written: Result<(), DbError> = config.write(|edit| estate.write(edit));
        written.unwrap();
        let receivers = Receivers::new(Arc::clone(&machine));
        let server = Some(Server::start(config, &machine, &receivers.queue).unwrap());
        let state = State { estate, truth: Truth::default(), model: Model::default() };
        let trace = vec![format!("{:?}", state.estate)];
        let shard = Shard::default();
        Self {
            random,
            machine,
            folder,
            server,
            state,
            shard,
            receivers,
            unsure: false,
            restless: 0,
            trace,
        }
    }

    pub(super) fn now(&self) -> i64 {
        i64::try_from(self.machine.unix_s()).unwrap()
    }

    pub(super) fn server(&mut self) -> &mut Server {
        self.server.as_mut().unwrap()
    }

    pub(super) fn note(&mut self, what: String) {
        let now = self.now() - START_S as i64;
        self.trace.push(format!("{now:>6} {what}"));
    }

    /// The escalator does all that there is to do.
    pub(super) fn work(&mut self) -> Outcome {
        let (unix, monotonic) = (self.now(), self.machine.monotonic().as_secs());
        self.server().escalator.take(Duration::ZERO);
        let facts = self.facts();
        let escalator = &self.server().escalator;
        let (looked_at, woken) = (escalator.looked_at, &escalator.woken);
        let monotonic = i64::try_from(monotonic).unwrap();
        let back = looked_at.0 + (monotonic - looked_at.1) - unix;
        let wakes = woken.problems.all || monotonic >= woken.at + WAKE_EVERY_S;
        let mut candidates = Vec::new();
        let mut state = self.state.clone();
        if back > SET_BACK_S {
            state.model.set_back(back);
            candidates.push(state.clone());
        }
        if wakes {
            state.model.wake_all(unix);
            candidates.push(state.clone());
        }
        let (woken, maintained) = facts;
        let maintenance = self.state.estate.maintenance;
        let maintenance = maintenance.filter(|(since, until)| *since <= unix && unix < *until);
        let mut after = state.clone();
        after.model.look(&Facts {
            estate: &state.estate,
            truth: &state.truth,
            now: unix,
            woken,
            maintained,
            maintenance: maintenance.map(|(_, until)| (MAINTAINED, until)),
        });
        candidates.push(after);
        let mut wait = None;
        self.note("the escalator works".to_owned());
        self.unsure = true;
        let is_done = self.attempt(candidates, |server| {
            let done = server.escalator.work();
            if done.is_err() {
                server.escalator.doubt();
            }
            wait = done.ok();
            wait.is_some()
        })?;
        if is_done {
            self.unsure = false;
            self.receivers.settled();
            return self.check_dues(wait.unwrap_or_default());
        }
        self.machine.advance(1);
        Ok(())
    }

    /// What the look depends on beside the state.
    fn facts(&mut self) -> (BTreeSet<u64>, BTreeMap<u64, i64>) {
        let server = self.server.as_ref().unwrap();
        let sql =
            "SELECT eventid, MAX(suppress_until) AS until FROM event_suppress GROUP BY eventid";
        let rows: Result<_, DbError> =
            self.machine.aside(|| server.config.read(|connection| connection.query(sql, &[])));
        let rows = rows.unwrap();
        let maintained = rows.iter().map(|row| (row.id("eventid"), row.int("until"))).collect();
        (server.escalator.woken.problems.some.clone(), maintained)
    }

    pub(super) fn look(&self, config: &Config) -> Seen {
        self.machine.aside(|| Seen::read(config)).unwrap()
    }

    /// Runs a part of the server, after which the database must have one of these states: the last one if it succeeds, else
    /// any, or the state from before. Returns whether it succeeded.
    pub(super) fn attempt(
        &mut self,
        mut candidates: Vec<State>,
        run: impl FnOnce(&mut Server) -> bool,
    ) -> Outcome<bool> {
        candidates.insert(0, self.state.clone());
        let is_done = run(self.server.as_mut().unwrap());
        if self.machine.is_dead() {
            self.note("dies".to_owned());
            self.restart(&candidates, true)?;
            return Ok(false);
        }
        let config = Arc::clone(&self.server().config);
        self.settle(&config, &candidates, is_done)?;
        Ok(is_done)
    }

    /// Takes over the state that the database has.
    fn settle(&mut self, config: &Config, candidates: &[State], is_done: bool) -> Outcome<Seen> {
        let seen = self.look(config);
        let last = candidates.len() - 1;
        let from = if is_done { last } else { 0 };
        let found = candidates[from..].iter().rev().find(|state| seen.agrees(state).is_ok());
        let Some(found) = found else {
            return Err(seen.agrees(&candidates[last]).unwrap_err());
        };
        self.state = found.clone();
        let estate = self.state.estate.clone();
        self.receivers.compare(&estate, &seen.alerts)?;
        self.receivers.take(&estate, &seen.alerts)?;
        Ok(seen)
    }

    /// The process has ended, and starts again.
    pub(super) fn restart(&mut self, candidates: &[State], is_crash: bool) -> Outcome {
        self.server = None;
        let mut before = Some(candidates);
        // A start after the clock was set back moves what is due.
        let mut moves = None;
        loop {
            self.machine.revive();
            self.receivers.tally.starts += 1;
            if self.random.one_in(4) {
                let boundaries = self.random.below(40);
                self.machine.kill_after(boundaries);
            }
            let Ok(config) = self.opened()? else { continue };
            if let Some(candidates) = before.take() {
                let seen = self.settle(&config, candidates, false)?;
                let doubtful = seen.alerts.iter().filter(|one| one.is_open() && one.due == 0);
                let doubtful: BTreeSet<u64> = doubtful.map(|one| one.id).collect();
                if !is_crash && !doubtful.is_empty() {
                    return Err(format!("an orderly end leaves {doubtful:?} uncertain"));
                }
                let estate = &self.state.estate;
                self.receivers.crash(&mut self.random, estate, doubtful, self.unsure)?;
            }
            let back = self.set_back_since(&config);
            if let Some(by) = moves.take().filter(|_| back.is_none()) {
                // The start before this one had moved it when it ended.
                self.state.model.set_back(by);
            }
            moves = back;
            self.receivers.queue.set_stops(false);
            match Server::start(config, &self.machine, &self.receivers.queue) {
                Ok(server) => self.server = Some(server),
                Err(_) if self.machine.is_dead() || !self.machine.is_sound() => {
                    self.machine.fail_one_in(0);
                    continue;
                }
                Err(error) => return Err(format!("the server does not start: {error}")),
            }
            break;
        }
        if let Some(by) = moves {
            self.state.model.set_back(by);
        }
        self.machine.revive();
        self.unsure = false;
        self.note("starts".to_owned());
        let config = Arc::clone(&self.server().config);
        let state = self.state.clone();
        self.settle(&config, &[state], true)?;
        let bad = self.machine.aside(|| events::initial_triggers(&config)).unwrap();
        let bad = bad.iter().filter(|one| one.state == model::TriggerState::Problem);
        let bad = bad.map(|one| one.trigger.0).collect();
        self.shard.restart(bad, &self.state.truth, &self.state.estate)
    }

    /// By how much the clock was set back since due times were stored last, seconds; `None` = not at all.
    fn set_back_since(&self, config: &Config) -> Option<i64> {
        let noted = self.machine.aside(|| config.read(Position::noted)).unwrap();
        noted.map(|noted| noted - self.now()).filter(|back| *back > SET_BACK_S)
    }

    /// `Err` within: it died again, or the disk failed, which is repaired.
    fn opened(&mut self) -> Outcome<Result<Arc<Config>, ()>> {
        match server::open(self.folder.path(), &self.machine) {
            Ok(config) => Ok(Ok(config)),
            Err(_) if self.machine.is_dead() || !self.machine.is_sound() => {
                self.machine.fail_one_in(0);
                Ok(Err(()))
            }
            Err(error) => Err(format!("the database does not open: {error}")),
        }
    }
}
