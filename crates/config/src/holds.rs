//! How long changes hold a writer, which all other changes wait for.

use std::sync::Mutex;
use std::time::Duration;

use stdx::clock::{RealClock, SharedClock};
use stdx::sync::lock;

/// A change that holds its writer for longer is logged as a warning: others notice it.
const NOTICED: Duration = Duration::from_millis(500);

/// Time over which the longest hold is kept, and then once more as the period before.
const PERIOD: Duration = Duration::from_secs(60);

/// How long the changes of one writer have held it.
pub(crate) struct Holds {
    /// The writer, for the log.
    of: &'static str,
    clock: SharedClock,
    longest: Mutex<Longest>,
}

/// The longest holds of two periods.
#[derive(Debug, Default)]
struct Longest {
    period: u128,
    now: Duration,
    before: Duration,
}

impl Longest {
    fn enter(&mut self, period: u128) {
        if period != self.period {
            let follows = period == self.period + 1;
            self.before = if follows { self.now } else { Duration::ZERO };
            self.now = Duration::ZERO;
            self.period = period;
        }
    }
}

impl Holds {
    pub(crate) fn new(of: &'static str) -> Self {
        Self::with_clock(of, RealClock::shared())
    }

    fn with_clock(of: &'static str, clock: SharedClock) -> Self {
        Self { of, clock, longest: Mutex::default() }
    }

    /// To be called when the writer is taken; the result is dropped before the writer is released.
    pub(crate) fn begin(&self) -> Held<'_> {
        Held { holds: self, begun: self.clock.monotonic(), committed: None }
    }

    /// The longest hold of the last one to two minutes.
    pub(crate) fn longest(&self) -> Duration {
        let mut longest = lock(&self.longest);
        longest.enter(period(self.clock.monotonic()));
        longest.now.max(longest.before)
    }
}

fn period(at: Duration) -> u128 {
    at.as_millis() / PERIOD.as_millis()
}

/// A change that holds the writer.
pub(crate) struct Held<'a> {
    holds: &'a Holds,
    begun: Duration,
    committed: Option<Duration>,
}

impl Held<'_> {
    /// The transaction has ended; the snapshot follows.
    pub(crate) fn committed(&mut self) {
        self.committed = Some(self.holds.clock.monotonic());
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let end = self.holds.clock.monotonic();
        let all = end.saturating_sub(self.begun);
        {
            let mut longest = lock(&self.holds.longest);
            longest.enter(period(end));
            longest.now = longest.now.max(all);
        }
        let transaction = self.committed.unwrap_or(end).saturating_sub(self.begun);
        let (of, transaction, all) = (self.holds.of, transaction.as_millis(), all.as_millis());
        if all > NOTICED.as_millis() {
            tracing::warn!(
                "other changes waited {all} ms for one of the {of} (transaction: {transaction} ms)"
            );
        } else {
            tracing::debug!("a change of the {of} took {all} ms (transaction: {transaction} ms)");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stdx::clock::SimClock;

    use super::*;

    #[test]
    fn longest_hold_is_kept_for_one_to_two_minutes() {
        let clock = SimClock::at(Duration::from_secs(6_000));
        let holds = Holds::with_clock("configuration", Arc::clone(&clock) as SharedClock);
        let hold = |ms| {
            let held = holds.begin();
            clock.advance(Duration::from_millis(ms));
            drop(held);
        };
        assert_eq!(holds.longest(), Duration::ZERO);
        hold(300);
        hold(200);
        assert_eq!(holds.longest(), Duration::from_millis(300));
        clock.advance(Duration::from_secs(60));
        hold(200);
        assert_eq!(holds.longest(), Duration::from_millis(300), "of the minute before");
        clock.advance(Duration::from_secs(60));
        assert_eq!(holds.longest(), Duration::from_millis(200));
        clock.advance(Duration::from_secs(120));
        assert_eq!(holds.longest(), Duration::ZERO);
    }
}
