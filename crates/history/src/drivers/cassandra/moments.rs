//! When something was written, as the cluster compares it.

use std::sync::atomic::{AtomicI64, Ordering};

use scylla::policies::timestamp_generator::TimestampGenerator;
use stdx::clock::SharedClock;

/// Microseconds, each later than the one before.
///
/// Of two writes of one row the cluster keeps the one with the later time, and nothing that was
/// written before a deletion. Taken from our clock alone, these times do not depend on how well the
/// clocks of the nodes agree; that they never go back, not even over a restart, keeps a clock that
/// was set back from hiding what comes after a deletion (see [`Self::not_before`]).
pub(crate) struct Moments {
    clock: SharedClock,
    last: AtomicI64,
}

impl Moments {
    pub(crate) fn new(clock: SharedClock) -> Self {
        Self { clock, last: AtomicI64::new(0) }
    }

    /// From now on all are later than this one.
    pub(crate) fn not_before(&self, moment: i64) {
        self.last.fetch_max(moment, Ordering::AcqRel);
    }

    /// The youngest that was given away.
    pub(crate) fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }
}

impl TimestampGenerator for Moments {
    fn next_timestamp(&self) -> i64 {
        let now = i64::try_from(self.clock.unix().as_micros()).unwrap_or(0);
        let after = |last: i64| now.max(last + 1);
        let mut last = self.last.load(Ordering::Acquire);
        while let Err(other) =
            self.last.compare_exchange_weak(last, after(last), Ordering::AcqRel, Ordering::Acquire)
        {
            last = other;
        }
        after(last)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use stdx::clock::SimClock;

    use super::*;

    #[test]
    fn moments_only_grow() {
        let clock = SimClock::at(Duration::from_secs(5));
        let moments = Moments::new(Arc::clone(&clock) as SharedClock);
        assert_eq!([moments.next_timestamp(), moments.next_timestamp()], [5_000_000, 5_000_001]);
        clock.advance(Duration::from_micros(10));
        assert_eq!(moments.next_timestamp(), 5_000_010);
        moments.not_before(7_000_000);
        moments.not_before(6_000_000);
        assert_eq!((moments.next_timestamp(), moments.last()), (7_000_001, 7_000_001));
    }
}
