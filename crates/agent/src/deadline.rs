//! The time that a check has.

use std::time::Duration;

use stdx::clock::SharedClock;

/// When a check must end. Loops over contents of unknown length ask it at every step.
pub(crate) struct Deadline {
    clock: SharedClock,
    at: Duration,
    limit: Duration,
}

impl std::fmt::Debug for Deadline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deadline").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Deadline {
    /// `limit` from now.
    pub(crate) fn after(limit: Duration, clock: &SharedClock) -> Self {
        Self { at: clock.monotonic() + limit, limit, clock: SharedClock::clone(clock) }
    }

    /// Fails when the time is over.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.left().is_zero() { Err(timed_out(self.limit)) } else { Ok(()) }
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_sub(self.clock.monotonic())
    }
}

/// The error of an item whose check took longer.
pub(crate) fn timed_out(limit: Duration) -> String {
    format!("Timeout while evaluating the item: {} s.", limit.as_secs())
}
