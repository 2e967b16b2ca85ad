//! Writing batches to a database that may be down, and to one that refuses single rows.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stdx::clock::SharedClock;

use crate::db::{DbError, DbResult};

/// Pause before a failed transaction is repeated.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Time that writers go on trying after the server was asked to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Tells writers that the server stops, so that a database that is down does not hold it up.
#[derive(Clone)]
pub struct Stop {
    clock: SharedClock,
    grace: Duration,
    asked: Arc<OnceLock<Duration>>,
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Stop {
    /// Not asked yet.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, grace: GRACE, asked: Arc::default() }
    }

    /// Writers try once.
    pub fn at_once(clock: SharedClock) -> Self {
        let stop = Self { grace: Duration::ZERO, ..Self::new(clock) };
        stop.ask();
        stop
    }

    /// From now on writers give up a few seconds later.
    pub fn ask(&self) {
        let _ = self.asked.set(self.clock.monotonic());
    }

    /// Writers give up.
    pub fn is_over(&self) -> bool {
        let asked = self.asked.get();
        asked.is_some_and(|asked| self.clock.monotonic().saturating_sub(*asked) >= self.grace)
    }
}

/// How a batch is written, and what is done with its parts that cannot be.
pub struct Writing<'a, T> {
    /// Ends the repetition.
    pub stop: &'a Stop,
    /// Writes messages in one transaction.
    pub write: &'a dyn Fn(&[T]) -> DbResult<()>,
    /// Reports a message that the database refuses for its values; it is skipped.
    pub refused: &'a dyn Fn(&T, &DbError),
    /// Reports that the database is down; the batch is repeated.
    pub down: &'a dyn Fn(&DbError),
}

impl<T> Writing<'_, T> {
    /// Writes `batch` in order and returns how many of its messages are done with: all, unless the
    /// server stops while the database is down. One that is refused does not block the others:
    /// its batch is halved until it stands alone.
    pub fn keep(&self, batch: &[T]) -> usize {
        loop {
            match (self.write)(batch) {
                Ok(()) => return batch.len(),
                Err(error) if error.is_of_values() => {
                    if let [message] = batch {
                        (self.refused)(message, &error);
                        return 1;
                    }
                    let (first, second) = batch.split_at(batch.len() / 2);
                    let kept = self.keep(first);
                    return if kept < first.len() { kept } else { kept + self.keep(second) };
                }
                Err(error) => (self.down)(&error),
            }
            if self.stop.is_over() {
                return 0;
            }
            std::thread::sleep(RETRY_AFTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use stdx::clock::SimClock;

    use super::*;

    fn run(stop: &Stop, fails: &dyn Fn(&[u32]) -> DbResult<()>) -> (usize, Vec<u32>, Vec<u32>) {
        let (written, refused) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let write = |batch: &[u32]| {
            fails(batch)?;
            written.borrow_mut().extend_from_slice(batch);
            Ok(())
        };
        let writing = Writing {
            stop,
            write: &write,
            refused: &|n: &u32, _: &DbError| refused.borrow_mut().push(*n),
            down: &|_| (),
        };
        let done = writing.keep(&(0..10).collect::<Vec<u32>>());
        (done, written.into_inner(), refused.into_inner())
    }

    #[test]
    fn refused_messages_are_skipped_and_the_rest_written() {
        let stop = Stop::new(SimClock::at(Duration::ZERO));
        let (done, written, refused) = run(&stop, &|batch| {
            let bad = batch.iter().any(|n| [3, 4, 9].contains(n));
            if bad { Err(DbError::Constraint("bad".into())) } else { Ok(()) }
        });
        assert_eq!((done, written), (10, vec![0, 1, 2, 5, 6, 7, 8]));
        assert_eq!(refused, [3, 4, 9]);
    }

    #[test]
    fn stop_ends_the_tries_while_the_database_is_down() {
        let clock = SimClock::at(Duration::ZERO);
        let stop = Stop::new(clock.clone());
        stop.ask();
        let tries = Cell::new(0);
        // The batch is refused; its first half is written, then the database goes down.
        let (done, written, _) = run(&stop, &|batch| {
            tries.set(tries.get() + 1);
            match tries.get() {
                1 => Err(DbError::Constraint("bad".into())),
                2 => Ok(()),
                _ => {
                    clock.advance(Duration::from_secs(2));
                    let (sql, reason) = (String::new(), format!("down for {batch:?}"));
                    Err(DbError::Unavailable { sql, reason })
                }
            }
        });
        assert_eq!((done, tries.get()), (5, 4), "two tries within the grace");
        assert_eq!(written, [0, 1, 2, 3, 4]);
    }
}
