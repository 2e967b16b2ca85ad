//! The budget of repeated requests of a pool.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::config::RetryOn;

/// Repetitions of a pool's requests.
#[derive(Debug)]
pub(crate) struct Retries {
    pub(crate) count: u8,
    pub(crate) on: Vec<RetryOn>,
    pub(crate) budget_percent: u8,
    window: AtomicU64,
    requests: AtomicU64,
    repeated: AtomicU64,
}

impl Clone for Retries {
    /// The same settings, with nothing counted.
    fn clone(&self) -> Self {
        let Self { count, budget_percent, .. } = *self;
        let (window, requests, repeated) = <(AtomicU64, AtomicU64, AtomicU64)>::default();
        Self { count, on: self.on.clone(), budget_percent, window, requests, repeated }
    }
}

impl Retries {
    pub(crate) fn new(config: &crate::config::Retries) -> Self {
        Self {
            count: config.count,
            on: config.on.clone(),
            budget_percent: config.budget_percent,
            window: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
        }
    }

    /// Counts a request. Threads that meet at the start of a window lose a few counts, which a budget
    /// can bear.
    pub(super) fn count_request(&self, now_ms: u64) {
        /// Length of a window in milliseconds.
        const WINDOW_MS: u64 = 10_000;
        let window = now_ms / WINDOW_MS;
        if self.window.swap(window, Relaxed) != window {
            self.requests.store(0, Relaxed);
            self.repeated.store(0, Relaxed);
        }
        self.requests.fetch_add(1, Relaxed);
    }

    /// Takes one repetition from the budget: servers in trouble must not get a multiple of the load.
    pub(super) fn spend(&self) -> bool {
        /// Repetitions in a window that a pool without load may make.
        const FREE: u64 = 10;
        let allowed = FREE + self.requests.load(Relaxed) * u64::from(self.budget_percent) / 100;
        self.repeated.fetch_add(1, Relaxed) < allowed
    }
}
