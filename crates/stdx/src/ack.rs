//! One acknowledgement for work that several shards do.
//!
//! A message is split over the shards; each shard reports its part, and the waiting side
//! hears once, after the last part. A part that is dropped without a report counts as failed,
//! so that a dying shard never acknowledges anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tokio::sync::oneshot;

use crate::sync::lock;

/// What became of the values of one message.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Values that are kept, or were discarded by their own preprocessing.
    pub processed: u64,
    /// Values that were refused.
    pub failed: u64,
    /// A part could not be stored: nothing of this message may be acknowledged.
    pub lost: bool,
    /// Of the processed ones: values of a [`split_doubtful`] message that were kept before.
    pub repeated: u64,
}

#[derive(Debug)]
struct Shared {
    parts: AtomicU32,
    processed: AtomicU64,
    failed: AtomicU64,
    lost: AtomicU32,
    repeated: AtomicU64,
    doubtful: bool,
    done: std::sync::Mutex<Option<oneshot::Sender<Outcome>>>,
}

/// A shard's share of an acknowledgement.
#[derive(Debug)]
pub struct Part {
    shared: Arc<Shared>,
    reported: bool,
}

/// The waiting side.
#[derive(Debug)]
pub struct Waiter {
    done: oneshot::Receiver<Outcome>,
}

/// An acknowledgement of `parts` parts.
pub fn split(parts: usize) -> (Vec<Part>, Waiter) {
    shared(parts, false)
}

/// The same for a message that may have been kept before, in part or whole, without its sender
/// having heard: the shard checks first whether they are stored.
pub fn split_doubtful(parts: usize) -> (Vec<Part>, Waiter) {
    shared(parts, true)
}

fn shared(parts: usize, doubtful: bool) -> (Vec<Part>, Waiter) {
    let (tx, rx) = oneshot::channel();
    let count = u32::try_from(parts).expect("BUG: more parts than shards");
    let shared = Arc::new(Shared {
        parts: AtomicU32::new(count),
        processed: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        lost: AtomicU32::new(0),
        repeated: AtomicU64::new(0),
        doubtful,
        done: std::sync::Mutex::new(Some(tx)),
    });
    if parts == 0 {
        finish(&shared);
    }
    let parts = (0..parts).map(|_| Part { shared: Arc::clone(&shared), reported: false });
    (parts.collect(), Waiter { done: rx })
}

fn finish(shared: &Shared) {
    let outcome = Outcome {
        processed: shared.processed.load(Ordering::Acquire),
        failed: shared.failed.load(Ordering::Acquire),
        lost: shared.lost.load(Ordering::Acquire) > 0,
        repeated: shared.repeated.load(Ordering::Acquire),
    };
    // Taken once per message by its last part, hence never contended.
    let sender = lock(&shared.done).take();
    if let Some(sender) = sender {
        // The waiter may have hung up; its values are kept all the same.
        let _ = sender.send(outcome);
    }
}

impl Part {
    /// Whether the values may have been kept before.
    pub fn is_doubtful(&self) -> bool {
        self.shared.doubtful
    }

    /// Counts values that were kept before, as processed ones.
    pub fn repeated(&self, values: u64) {
        self.shared.repeated.fetch_add(values, Ordering::AcqRel);
        self.shared.processed.fetch_add(values, Ordering::AcqRel);
    }

    /// Another part of the same message, for values that are done later than the rest.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.shared.parts.fetch_add(1, Ordering::AcqRel);
        Self { shared: Arc::clone(&self.shared), reported: false }
    }

    /// Reports this part as done.
    pub fn report(mut self, processed: u64, failed: u64) {
        self.shared.processed.fetch_add(processed, Ordering::AcqRel);
        self.shared.failed.fetch_add(failed, Ordering::AcqRel);
        self.reported = true;
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.reported {
            self.shared.lost.fetch_add(1, Ordering::AcqRel);
        }
        if self.shared.parts.fetch_sub(1, Ordering::AcqRel) == 1 {
            finish(&self.shared);
        }
    }
}

impl Waiter {
    /// Waits for the last part.
    pub async fn wait(self) -> Outcome {
        self.done.await.unwrap_or(Outcome { lost: true, ..Outcome::default() })
    }

    /// Whether the last part is done.
    pub fn is_done(&self) -> bool {
        !self.done.is_empty() || self.done.is_terminated()
    }

    /// For threads without a runtime.
    pub fn blocking_wait(self) -> Outcome {
        self.done.blocking_recv().unwrap_or(Outcome { lost: true, ..Outcome::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_completes() {
        let (mut parts, waiter) = split(2);
        parts.pop().unwrap().report(3, 1);
        parts.pop().unwrap().report(4, 0);
        let sum = Outcome { processed: 7, failed: 1, ..Outcome::default() };
        assert_eq!(waiter.blocking_wait(), sum);
    }

    #[test]
    fn a_forked_part_is_waited_for() {
        let (mut parts, waiter) = split(1);
        let part = parts.pop().unwrap();
        let later = part.fork();
        part.report(5, 0);
        assert!(!waiter.is_done());
        later.report(1, 0);
        assert_eq!(waiter.blocking_wait(), Outcome { processed: 6, ..Outcome::default() });

        let (mut parts, waiter) = split(1);
        drop(parts.pop().unwrap().fork());
        assert!(waiter.blocking_wait().lost);
    }

    #[test]
    fn repeated_values_count_as_processed() {
        let (mut parts, waiter) = split_doubtful(1);
        let part = parts.pop().unwrap();
        assert!(part.is_doubtful());
        part.repeated(2);
        part.report(3, 0);
        let outcome = waiter.blocking_wait();
        assert_eq!((outcome.processed, outcome.repeated), (5, 2));
    }

    #[test]
    fn a_dropped_part_is_a_loss() {
        let (mut parts, waiter) = split(2);
        parts.pop().unwrap().report(3, 0);
        drop(parts);
        assert!(waiter.blocking_wait().lost);
    }

    #[test]
    fn nothing_to_do_is_done() {
        let (_, waiter) = split(0);
        assert_eq!(waiter.blocking_wait(), Outcome::default());
    }
}
