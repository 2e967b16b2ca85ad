//! The writer of events on a configuration database that refuses writes now and then.

use config::table;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use config::Config;
use config::db::{DbError, Location};
use config::retry::Stop;
use events::{Hooks, Problems, Unsent};
use model::{InitialTrigger, TriggerFinding, TriggerId, TriggerState, UnixSeconds, Unwritten};
use stdx::clock::{Clock as _, SharedClock, SimClock};
use stdx::queue::bounded;

use crate::testing::START_S;

/// Tables without which a batch fails: at its first statement, at a late one, and when open problems
/// are read back.
const NEEDED: [&str; 3] = ["events", "trigger_states", "problems"];

pub(super) struct Database {
    config: Arc<Config>,
    clock: Arc<SimClock>,
    problems: Problems,
    /// What the writer told the shards.
    told: Told,
    unsent: Unsent,
    missing: Option<&'static str>,
    /// Findings that are not written yet.
    pub(super) pending: Vec<TriggerFinding>,
    _folder: tempfile::TempDir,
}

fn open(config: &Arc<Config>, clock: &Arc<SimClock>) -> (Problems, Told) {
    let told = Told::default();
    let note = Arc::clone(&told);
    let hooks = Hooks {
        trigger: Box::new(move |trigger, state| note.lock().unwrap().push((trigger, state))),
        ..Hooks::none()
    };
    (Problems::open(Arc::clone(config), clock.clone(), hooks).unwrap(), told)
}

type Told = Arc<Mutex<Vec<(TriggerId, TriggerState)>>>;

impl Database {
    /// With triggers 1, 2 and 3, the last with an event for each value.
    pub(super) fn new(clock: Arc<SimClock>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("config.db"));
        let config = Arc::new(Config::open(location).unwrap());
        let written: Result<(), DbError> = config.write(|edit| {
            for (id, kind) in [(1_u64, 0_i64), (2, 0), (3, 1)] {
                edit.insert(&table::TRIGGERS, &[("triggerid", id.into()), ("type", kind.into())])?;
            }
            Ok(())
        });
        written.unwrap();
        let (problems, told) = open(&config, &clock);
        let unsent = Unsent::new(folder.path().join("unsent"));
        let (missing, pending) = (None, Vec::new());
        Self { config, clock, problems, told, unsent, missing, pending, _folder: folder }
    }

    /// As it was, with another clock.
    pub(super) fn emptied(mut self, clock: Arc<SimClock>) -> Self {
        self.heal();
        for table in ["event_tags", "events", "problems", "trigger_states", "state_settings"] {
            self.run(&format!("DELETE FROM {table}"));
        }
        self.pending.clear();
        self.clock = clock;
        (self.problems, self.told) = open(&self.config, &self.clock);
        self
    }

    fn run(&self, sql: &str) {
        let done: Result<(), DbError> =
            self.config.write_state(|edit| edit.execute(sql, &[]).map(drop));
        done.unwrap();
    }

    /// From now on it refuses batches of findings.
    pub(super) fn break_down(&mut self, n: usize) {
        if self.missing.is_none() {
            let table = NEEDED[n % NEEDED.len()];
            self.run(&format!("ALTER TABLE {table} RENAME TO away"));
            self.missing = Some(table);
        }
    }

    pub(super) fn heal(&mut self) {
        if let Some(table) = self.missing.take() {
            self.run(&format!("ALTER TABLE away RENAME TO {table}"));
        }
    }

    /// Writes findings in batches of `size`, as far as the database takes them; returns what it told the
    /// shards meanwhile.
    pub(super) fn write(&mut self, size: usize) -> Vec<(TriggerId, TriggerState)> {
        while !self.pending.is_empty() {
            let batch = &self.pending[..self.pending.len().min(size)];
            if self.problems.write(batch).is_err() {
                assert!(self.missing.is_some(), "a sound database refuses");
                break;
            }
            self.pending.drain(..batch.len());
        }
        std::mem::take(&mut *self.told.lock().unwrap())
    }

    /// The process ends in good order; returns the states of triggers for the next one.
    pub(super) fn restart(&mut self) -> Vec<InitialTrigger> {
        let (tx, rx) = bounded("findings", 10_000);
        self.pending.drain(..).for_each(|finding| tx.try_send(finding).unwrap());
        drop(tx);
        let stop = Stop::at_once(self.clock.clone());
        assert!(self.problems.run(rx, &stop, &self.unsent));
        self.heal();
        let clock: SharedClock = self.clock.clone();
        events::replay(&self.config, &clock, &self.unsent).unwrap();
        self.start()
    }

    /// The process is killed: what is not written is lost.
    pub(super) fn crash(&mut self) -> (Vec<InitialTrigger>, Option<Unwritten>) {
        self.pending.clear();
        self.heal();
        let unwritten = events::unwritten(&self.config, self.now()).unwrap();
        (self.start(), unwritten)
    }

    fn now(&self) -> UnixSeconds {
        UnixSeconds::saturating(self.clock.unix_s())
    }

    fn start(&mut self) -> Vec<InitialTrigger> {
        (self.problems, self.told) = open(&self.config, &self.clock);
        events::initial_triggers(&self.config).unwrap()
    }

    /// Whether it is a problem, and its time, of each event of each trigger.
    pub(super) fn events(&self) -> BTreeMap<u64, Vec<(bool, u32)>> {
        let sql = "SELECT objectid, value, clock FROM events ORDER BY eventid";
        let rows: Result<_, DbError> = self.config.read(|c| c.query(sql, &[]));
        let mut all = BTreeMap::<u64, Vec<(bool, u32)>>::new();
        for row in rows.unwrap() {
            let at = u32::try_from(row.int("clock")).unwrap() - START_S;
            all.entry(row.id("objectid")).or_default().push((row.int("value") == 1, at));
        }
        all
    }

    /// Triggers of open problems.
    pub(super) fn open(&self) -> Vec<u64> {
        let sql = "SELECT DISTINCT objectid FROM problems WHERE r_eventid = 0 ORDER BY objectid";
        let rows: Result<_, DbError> = self.config.read(|c| c.query(sql, &[]));
        rows.unwrap().iter().map(|row| row.id("objectid")).collect()
    }
}
