//! The newest report of an engine, and what was counted since the one before.

use super::FRESH;
use std::collections::HashMap;
use std::time::Duration;

use proxying::engine_link::analytics::{Counts, Kind, Measured, Portion, State, Usage};
use proxying::engine_link::monitors::Monitored;

/// What is counted, by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Service(Box<str>),
    /// Pool and server.
    Server(Box<str>, Box<str>),
}

/// What was counted in a time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Window {
    pub(super) counts: Counts,
    pub(super) length_s: f64,
}

/// An object as an engine reported it last.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) open: u64,
    pub(super) state: State,
    pub(super) monitors: Vec<Monitored>,
    /// `None`: it was reported once.
    pub(super) window: Option<Window>,
    /// Monotonic time of the report.
    pub(super) heard: Duration,
    born: u64,
    epoch: u64,
    at_us: u64,
    counts: Counts,
}

impl Object {
    pub(super) fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.heard) < FRESH
    }
}

/// What is known of an engine.
#[derive(Debug, Default)]
pub(super) struct Engine {
    pub(super) connected: bool,
    /// It runs the newest configuration; `None`: it has not connected.
    pub(super) configured: Option<bool>,
    pub(super) objects: HashMap<Key, Object>,
    /// The newest report, and the one before.
    pub(super) newest: Option<Usage>,
    pub(super) before: Option<Usage>,
}

/// Seconds from `before` to `now`, both in microseconds.
#[expect(clippy::cast_precision_loss, reason = "for rates")]
pub(super) fn seconds(before_us: u64, now_us: u64) -> f64 {
    now_us.saturating_sub(before_us) as f64 / 1e6
}

impl Engine {
    /// An object, if it was reported lately.
    pub(super) fn fresh(&self, key: &Key, now: Duration) -> Option<&Object> {
        self.objects.get(key).filter(|object| object.is_fresh(now))
    }

    /// Takes a portion of a report; objects that are not `known` are left out.
    pub(super) fn take(&mut self, portion: Portion, now: Duration, known: impl Fn(&Key) -> bool) {
        let Portion { usage, objects } = portion;
        let same = |other: &Usage| (other.epoch, other.at_us) == (usage.epoch, usage.at_us);
        if !self.newest.as_ref().is_some_and(same) {
            self.before = self.newest;
        }
        self.newest = Some(usage);
        for object in objects {
            let key = key(&object);
            if !known(&key) {
                continue;
            }
            let window = self.window(self.objects.get(&key), &object);
            let Measured { born, open, state, counts, monitors, .. } = object;
            let Usage { epoch, at_us, .. } = usage;
            let object =
                Object { open, state, monitors, window, heard: now, born, epoch, at_us, counts };
            self.objects.insert(key, object);
        }
    }

    /// What an object counted since the last report. Of an object that is new since then, it is all that
    /// it counted; of one that had counted before the server heard of it, it is unknown.
    fn window(&self, last: Option<&Object>, object: &Measured) -> Option<Window> {
        let usage = self.newest.as_ref()?;
        let of = |counts, since_us| {
            let length_s = seconds(since_us, usage.at_us);
            (length_s > 0.0).then_some(Window { counts, length_s })
        };
        if let Some(last) = last
            && (last.epoch, last.born) == (usage.epoch, object.born)
        {
            return of(object.counts.since(&last.counts), last.at_us);
        }
        let before = self.before.as_ref()?;
        // Of a process that has started meanwhile, the time begins with it.
        let since_us = if before.epoch == usage.epoch { before.at_us } else { 0 };
        of(object.counts.clone(), since_us)
    }
}

fn key(object: &Measured) -> Key {
    let name = object.name.clone();
    match object.kind {
        Kind::Service => Key::Service(name),
        Kind::Server => Key::Server(name, object.server.clone()),
    }
}
