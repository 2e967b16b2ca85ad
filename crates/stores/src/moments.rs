//! When something was written, as stores compare it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stdx::clock::SharedClock;

/// Times in a unit of the store's, each later than the one before.
///
/// Of two writes of one row such stores keep the one with the later time, and nothing that was
/// written before a deletion. Taken from our clock alone, these times do not depend on how well the
/// clocks of their nodes agree; that they never go back, not even over a restart, keeps a clock
/// that was set back from hiding what comes after a deletion (see [`Self::not_before`]).
pub(crate) struct Moments {
    clock: SharedClock,
    unit: Duration,
    last: AtomicI64,
}

impl Moments {
    pub(crate) fn new(clock: SharedClock, unit: Duration) -> Self {
        Self { clock, unit, last: AtomicI64::new(0) }
    }

    /// From now on all are later than this one.
    pub(crate) fn not_before(&self, moment: i64) {
        self.last.fetch_max(moment, Ordering::AcqRel);
    }

    /// The youngest that was given away.
    pub(crate) fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }

    /// One that is later than all before.
    pub(crate) fn next(&self) -> i64 {
        let units = self.clock.unix().as_nanos() / self.unit.as_nanos().max(1);
        let now = i64::try_from(units).unwrap_or(0);
        // Only a damaged store tells of one that nothing can be later than.
        let after = |last: i64| now.max(last.saturating_add(1));
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

    use stdx::clock::SimClock;

    use super::*;

    #[test]
    fn moments_only_grow() {
        let clock = SimClock::at(Duration::from_secs(5));
        let moments = Moments::new(Arc::clone(&clock) as SharedClock, Duration::from_micros(1));
        assert_eq!([moments.next(), moments.next()], [5_000_000, 5_000_001]);
        clock.advance(Duration::from_micros(10));
        assert_eq!(moments.next(), 5_000_010);
        moments.not_before(7_000_000);
        moments.not_before(6_000_000);
        assert_eq!((moments.next(), moments.last()), (7_000_001, 7_000_001));
        moments.not_before(i64::MAX);
        assert_eq!(moments.next(), i64::MAX);
        let moments = Moments::new(clock, Duration::from_millis(1));
        assert_eq!([moments.next(), moments.next()], [5_000, 5_001]);
    }
}
