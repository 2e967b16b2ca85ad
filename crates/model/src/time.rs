//! Moments and spans.

/// Seconds of an hour.
pub const HOUR_S: u32 = 3_600;
/// Seconds of a day without a change of the clocks.
pub const DAY_S: u32 = 24 * HOUR_S;

/// Whole seconds since 1970-01-01 00:00:00 UTC (until 2106).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct UnixSeconds(pub u32);

impl UnixSeconds {
    /// Later than 2106 becomes the last second.
    pub fn saturating(seconds: u64) -> Self {
        Self(u32::try_from(seconds).unwrap_or(u32::MAX))
    }

    /// That much earlier, not before 1970.
    #[must_use]
    pub const fn before_s(self, seconds: u32) -> Self {
        Self(self.0.saturating_sub(seconds))
    }
}

impl std::fmt::Display for UnixSeconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

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

    /// Without the nanoseconds.
    pub const fn second(self) -> UnixSeconds {
        UnixSeconds(self.clock)
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
