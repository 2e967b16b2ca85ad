//! Failures of a server in a row, and its ejection after too many of them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// What has failed at a server, for clients or for copies of requests.
#[derive(Debug, Default)]
pub(crate) struct Ejection {
    /// In a row.
    failures: AtomicU32,
    /// Monotonic milliseconds.
    at_ms: AtomicU64,
    /// Monotonic milliseconds.
    until_ms: AtomicU64,
}

impl Ejection {
    /// The server has responded.
    pub(super) fn succeeded(&self) {
        if self.failures.load(Relaxed) > 0 {
            self.failures.store(0, Relaxed);
        }
    }

    /// The server has failed; `most` failures in a row eject it for `length_ms`, 0: never. The number of failures if
    /// they have ejected it now.
    pub(super) fn failed(&self, most: u32, length_ms: u64, now_ms: u64) -> Option<u32> {
        let failures = self.failures.fetch_add(1, Relaxed) + 1;
        if most == 0 || failures < most {
            return None;
        }
        self.failures.store(0, Relaxed);
        let before_ms = self.until_ms.swap(now_ms + length_ms, Relaxed);
        if before_ms > now_ms {
            // Failures of a server that is ejected only extend the ejection.
            return None;
        }
        self.at_ms.store(now_ms, Relaxed);
        Some(failures)
    }

    pub(super) fn holds(&self, now_ms: u64) -> bool {
        self.until_ms.load(Relaxed) > now_ms
    }

    /// When the server was ejected, in monotonic milliseconds; `None`: it is not.
    pub(crate) fn since(&self, now_ms: u64) -> Option<u64> {
        self.holds(now_ms).then(|| self.at_ms.load(Relaxed))
    }

    /// Its end, in monotonic milliseconds, also of one that is over; 0: there was none.
    pub(super) fn until_ms(&self) -> u64 {
        self.until_ms.load(Relaxed)
    }

    /// The server works again.
    pub(crate) fn end(&self) {
        self.failures.store(0, Relaxed);
        self.until_ms.store(0, Relaxed);
    }
}
