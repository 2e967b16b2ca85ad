//! How long a server takes to respond, as all threads measure it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The mean of a server's response times; the newest counts an eighth. Without new ones it fades, so that
/// a server that was slow is tried again. Threads that measure at once may lose a measurement, which a
/// mean can bear.
#[derive(Debug, Default)]
pub(crate) struct ResponseTime {
    /// Microseconds; 0: nothing is measured yet.
    mean_us: AtomicU64,
    /// Monotonic milliseconds of the newest measurement.
    measured_ms: AtomicU64,
}

impl ResponseTime {
    /// Milliseconds after which a mean without new measurements is half as much.
    const HALF_MS: u64 = 10_000;

    /// Adds a response time in microseconds.
    pub(crate) fn add(&self, time_us: u64, now_ms: u64) {
        let mean = match self.mean_us.load(Relaxed) {
            0 => time_us,
            before => (before.saturating_mul(7).saturating_add(time_us)) / 8,
        };
        self.mean_us.store(mean.max(1), Relaxed);
        self.measured_ms.store(now_ms, Relaxed);
    }

    /// How long another request would take with so many in flight, comparable between servers of one
    /// weight. A server that is not measured gets one request at first.
    pub(super) fn load(&self, active: u32, now_ms: u64) -> u128 {
        /// More than any load that is measured.
        const UNKNOWN: u128 = 1 << 96;
        let idle_ms = now_ms.saturating_sub(self.measured_ms.load(Relaxed));
        let halvings = u32::try_from(idle_ms / Self::HALF_MS).unwrap_or(u32::MAX);
        match (self.mean_us.load(Relaxed), active) {
            (0, 0) => 0,
            (0, active) => UNKNOWN + u128::from(active),
            (mean, active) => {
                let mean = mean.checked_shr(halvings).unwrap_or(0).max(1);
                u128::from(mean) * (u128::from(active) + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_follows_the_newest_times() {
        let time = ResponseTime::default();
        time.add(8_000, 0);
        assert_eq!((time.load(0, 0), time.load(3, 0)), (8_000, 32_000));
        time.add(16_000, 0);
        assert_eq!(time.load(0, 0), 9_000);
        for _ in 0..100 {
            time.add(100, 0);
        }
        assert!(time.load(0, 0) < 120);
    }

    #[test]
    fn a_server_that_was_slow_is_tried_again() {
        let (slow, fast) = (ResponseTime::default(), ResponseTime::default());
        slow.add(1_000_000, 0);
        fast.add(10_000, 0);
        assert!(slow.load(0, 9_999) > fast.load(9, 0));
        assert_eq!(slow.load(0, 70_000), 7_812);
        assert_eq!(slow.load(0, u64::MAX), 1);
    }

    #[test]
    fn an_unknown_server_gets_one_request_at_first() {
        let (unknown, known) = (ResponseTime::default(), ResponseTime::default());
        known.add(u64::MAX, 0);
        assert!(unknown.load(0, 0) < known.load(0, 0));
        assert!(unknown.load(1, 0) > known.load(u32::MAX - 1, 0));
    }
}
