//! Moments and spans.

/// A moment with nanoseconds, as history keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp {
    /// Whole seconds since 1970-01-01 00:00:00 UTC (until 2106).
    pub clock: u32,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub ns: u32,
}

impl Timestamp {
    /// A moment at a whole second.
    pub const fn from_s(clock: u32) -> Self {
        Self { clock, ns: 0 }
    }

    /// A moment from the time since 1970; later than 2106 becomes the last moment.
    pub fn from_unix(since: std::time::Duration) -> Self {
        match u32::try_from(since.as_secs()) {
            Ok(clock) => Self { clock, ns: since.subsec_nanos() },
            Err(_) => Self { clock: u32::MAX, ns: 999_999_999 },
        }
    }

    /// Seconds as a float; exact to about a microsecond.
    pub fn as_secs_f64(self) -> f64 {
        f64::from(self.clock) + f64::from(self.ns) / 1e9
    }

    /// Nanoseconds since 1970.
    pub fn as_ns(self) -> u64 {
        u64::from(self.clock) * 1_000_000_000 + u64::from(self.ns)
    }
}
