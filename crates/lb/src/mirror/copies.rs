//! What a service knows of its copies: how many are being sent, and those that were lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use proxying::engine_link::analytics::Counter;

use crate::slot::Slot;
use crate::tally::Tally;

/// Why a request that was chosen has no copy with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// As many copies are being sent as may be.
    Full,
    /// All copies of the engine take as much memory as they may.
    Memory,
    /// No server of the mirror has responded completely and in time.
    Unanswered,
    /// Its content is larger than that of copies may be.
    Large,
    /// It has not arrived in time.
    Slow,
    /// It did not arrive completely.
    Incomplete,
}

const LOSSES: usize = 6;

/// The copies of a service, of all threads. They outlive a change of the configuration.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    open: Arc<AtomicU32>,
    /// Since the last report, by [`Loss`].
    lost: [AtomicU64; LOSSES],
    /// Monotonic milliseconds of the last report.
    reported_ms: AtomicU64,
}

impl Copies {
    /// Whether `most` copies are being sent already.
    pub(super) fn are_full(&self, most: u32) -> bool {
        self.open.load(Relaxed) >= most
    }

    #[cfg(test)]
    pub(super) fn lost(&self, loss: Loss) -> u64 {
        self.lost[loss as usize].load(Relaxed)
    }

    /// Reports losses in the log, at most every ten seconds. What clients cause is no warning.
    pub(crate) fn report(&self, service: &str, now_ms: u64) {
        const EVERY_MS: u64 = 10_000;
        let before = self.reported_ms.load(Relaxed);
        if self.lost.iter().all(|lost| lost.load(Relaxed) == 0)
            || (before > 0 && now_ms < before + EVERY_MS)
        {
            return;
        }
        if self.reported_ms.compare_exchange(before, now_ms.max(1), Relaxed, Relaxed).is_err() {
            // Another thread reports.
            return;
        }
        let [full, memory, unanswered, large, slow, incomplete] =
            self.lost.each_ref().map(|lost| lost.swap(0, Relaxed));
        if full + memory + unanswered > 0 {
            tracing::warn!(
                "virtual service '{service}': {} requests were not mirrored: {full} beyond 'mirror.concurrent', {memory} beyond the memory for copies, {unanswered} without a complete response of the mirror",
                full + memory + unanswered
            );
        }
        if large + slow + incomplete > 0 {
            tracing::info!(
                "virtual service '{service}': {} requests were not mirrored: {large} larger than 'mirror.max_body', {slow} did not arrive in time, {incomplete} did not arrive completely",
                large + slow + incomplete
            );
        }
    }
}

/// What a chosen request counts for. When it is dropped, the request is counted once: as mirrored or as lost.
#[derive(Debug)]
pub(crate) struct Stake {
    copies: Arc<Copies>,
    tally: Arc<Tally>,
    /// Number of the thread, if it counts.
    thread: Option<usize>,
    /// What is wrong until now; `None`: the mirror has responded.
    pub(super) loss: Option<Loss>,
    /// The place of a copy that is being sent.
    slot: Option<Slot>,
}

impl Stake {
    /// That of a request that arrives. `thread`: its number, if it counts.
    pub(super) fn new(copies: &Arc<Copies>, tally: &Arc<Tally>, thread: Option<usize>) -> Self {
        let (copies, tally) = (Arc::clone(copies), Arc::clone(tally));
        Self { copies, tally, thread, loss: Some(Loss::Incomplete), slot: None }
    }

    /// Takes one of `most` places for copies that are being sent; false: none is free, and the copy is lost.
    pub(super) fn begin(&mut self, most: u32) -> bool {
        self.slot = Slot::take(&self.copies.open, most);
        self.loss = Some(if self.slot.is_some() { Loss::Unanswered } else { Loss::Full });
        self.slot.is_some()
    }
}

impl Drop for Stake {
    fn drop(&mut self) {
        let counter = match self.loss {
            None => Counter::Mirrored,
            Some(loss) => {
                self.copies.lost[loss as usize].fetch_add(1, Relaxed);
                Counter::Unmirrored
            }
        };
        if let Some(thread) = self.thread {
            self.tally.add(thread, counter, 1);
        }
    }
}
