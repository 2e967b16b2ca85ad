//! What threads share about a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::checks::Checks;
use super::ejection::Ejection;
use super::load::ResponseTime;
use super::ramp::Ramp;
use crate::tally::Tally;

/// What all threads share about a server. It outlives a change of the configuration.
#[derive(Debug)]
pub(crate) struct ServerState {
    /// Number within this process.
    pub(crate) id: u32,
    /// Requests or connections in flight.
    pub(super) active: AtomicU32,
    /// By its health monitors; a server without any is healthy.
    pub(super) healthy: AtomicBool,
    /// The health monitors have decided.
    pub(super) checked: AtomicBool,
    pub(super) failures_total: AtomicU64,
    /// After failures of requests of clients.
    pub(crate) ejection: Ejection,
    /// After failures of copies, which do not take the server from clients.
    pub(crate) ejection_of_copies: Ejection,
    ramp: Ramp,
    pub(crate) response_time: ResponseTime,
    pub(crate) tally: Tally,
    pub(crate) checks: Checks,
}

impl ServerState {
    pub(crate) fn new(healthy: bool, threads: usize) -> Arc<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Relaxed),
            active: AtomicU32::new(0),
            healthy: AtomicBool::new(healthy),
            checked: AtomicBool::new(false),
            failures_total: AtomicU64::new(0),
            ejection: Ejection::default(),
            ejection_of_copies: Ejection::default(),
            ramp: Ramp::default(),
            response_time: ResponseTime::default(),
            tally: Tally::new(threads),
            checks: Checks::default(),
        })
    }

    /// Set by the health monitors; true: this is a change. A server that passes is no longer ejected.
    pub(crate) fn set_healthy(&self, healthy: bool, now_ms: u64) -> bool {
        if healthy && self.ejection.holds(now_ms) {
            self.come_back(now_ms);
            self.ejection.end();
        }
        if healthy && !self.healthy.load(Relaxed) {
            self.come_back(now_ms);
        }
        self.checked.store(true, Relaxed);
        self.healthy.swap(healthy, Relaxed) != healthy
    }

    /// The pool has no health monitors: only failures of clients' requests count, as before.
    pub(crate) fn set_unmonitored(&self, now_ms: u64) {
        if !self.healthy.load(Relaxed) {
            self.come_back(now_ms);
        }
        self.checked.store(true, Relaxed);
        self.healthy.store(true, Relaxed);
    }

    /// The health monitors do not know how it is: it keeps the state that it had.
    pub(crate) fn set_unknown(&self) {
        self.checked.store(false, Relaxed);
    }

    /// A slow start begins, if the pool has any.
    pub(crate) fn come_back(&self, now_ms: u64) {
        self.ramp.begin(now_ms);
    }

    /// The part of its share that the server gets; `slow_ms` is the length of a slow start.
    pub(super) fn part(&self, slow_ms: u64, now_ms: u64) -> u32 {
        self.ramp.part(self.ejection.until_ms(), slow_ms, now_ms)
    }

    /// Attempts that failed since it exists.
    pub(crate) fn failures_total(&self) -> u64 {
        self.failures_total.load(Relaxed)
    }

    /// A request or connection has ended.
    pub(crate) fn release(&self) {
        self.active.fetch_sub(1, Relaxed);
    }
}
