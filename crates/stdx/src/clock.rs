//! Time as an argument: real in the server, simulated in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where all code takes its time from.
pub trait Clock: Send + Sync + 'static {
    /// Time since 1970-01-01 00:00:00 UTC; may step when the machine's clock is set.
    fn unix(&self) -> Duration;
    /// Time since an arbitrary start; never steps back. For durations and deadlines.
    fn monotonic(&self) -> Duration;

    /// Whole seconds since 1970-01-01 00:00:00 UTC.
    fn unix_s(&self) -> u64 {
        self.unix().as_secs()
    }
}

/// How clocks are handed around.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clocks.
#[derive(Debug)]
pub struct RealClock {
    start: std::time::Instant,
}

impl RealClock {
    /// A shared real clock whose monotonic time starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the one door to the machine's clocks")]
    pub fn shared() -> SharedClock {
        Arc::new(Self { start: std::time::Instant::now() })
    }
}

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one door to the machine's clocks")]
    fn unix(&self) -> Duration {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Moments of monotonic time in the form that libraries want.
#[derive(Debug, Clone, Copy)]
pub struct Instants {
    start: std::time::Instant,
}

impl Instants {
    /// Instants of one clock; those of different ones cannot be compared.
    #[expect(clippy::disallowed_methods, reason = "only the distance between instants counts")]
    pub fn new() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// The instant of a monotonic time.
    pub fn at(self, monotonic: Duration) -> std::time::Instant {
        self.start + monotonic
    }
}

impl Default for Instants {
    fn default() -> Self {
        Self::new()
    }
}

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct SimClock {
    now_ns: AtomicU64,
    /// How far the unix time was set back.
    back_ns: AtomicU64,
    /// Added by each look at the monotonic time.
    tick_ns: AtomicU64,
}

impl SimClock {
    /// A clock standing at `unix`.
    pub fn at(unix: Duration) -> Arc<Self> {
        let clock = Self::default();
        clock.advance(unix);
        Arc::new(clock)
    }

    /// From now on each look at the monotonic time takes this long. A caller that polls the time, such
    /// as an endless script, sees it pass, and no other caller does.
    pub fn tick(&self, by: Duration) {
        let ns = u64::try_from(by.as_nanos()).expect("BUG: ticks beyond 584 years");
        self.tick_ns.store(ns, Ordering::SeqCst);
    }

    /// Sets the unix time back, as an administrator or a time service does; the monotonic time goes
    /// on.
    pub fn set_back(&self, by: Duration) {
        let ns = u64::try_from(by.as_nanos()).expect("BUG: a clock set back beyond 584 years");
        self.back_ns.fetch_add(ns, Ordering::SeqCst);
    }

    /// Moves both the unix and the monotonic time forward.
    pub fn advance(&self, by: Duration) {
        let ns = u64::try_from(by.as_nanos()).expect("BUG: simulated time beyond 584 years");
        self.now_ns.fetch_add(ns, Ordering::SeqCst);
    }
}

impl Clock for SimClock {
    fn unix(&self) -> Duration {
        let back_ns = self.back_ns.load(Ordering::SeqCst);
        Duration::from_nanos(self.now_ns.load(Ordering::SeqCst).saturating_sub(back_ns))
    }

    fn monotonic(&self) -> Duration {
        let tick_ns = self.tick_ns.load(Ordering::SeqCst);
        Duration::from_nanos(self.now_ns.fetch_add(tick_ns, Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_moves_only_on_request() {
        let clock = SimClock::at(Duration::from_secs(100));
        assert_eq!(clock.unix_s(), 100);
        clock.advance(Duration::from_millis(1500));
        assert_eq!(clock.unix(), Duration::from_millis(101_500));
        assert_eq!(clock.monotonic(), clock.unix());
        clock.set_back(Duration::from_secs(7));
        assert_eq!(clock.unix_s(), 94);
        assert_eq!(clock.monotonic(), Duration::from_millis(101_500));
        clock.tick(Duration::from_secs(1));
        let before = clock.monotonic();
        assert_eq!(clock.monotonic(), before + Duration::from_secs(1));
    }
}
