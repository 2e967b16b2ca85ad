//! Counts requests with links that are not good, by source.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use stdx::seats::source;
use stdx::sync::lock;

/// Requests of a source in a minute with links that are not good.
const FAILURES_MAX: u32 = 30;
/// Sources that are counted; others are not limited. A signature cannot be guessed in any number of requests.
const SOURCES_MAX: usize = 4_096;

/// Who has sent links that are not good within this minute.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    minute: u64,
    failures: HashMap<IpAddr, u32>,
}

impl Counts {
    fn begin(&mut self, now: u64) {
        if self.minute != now / 60 {
            self.minute = now / 60;
            self.failures.clear();
        }
    }
}

impl Throttle {
    /// The source of this address may send another link.
    pub(super) fn admits(&self, peer: IpAddr, now: u64) -> bool {
        let mut counts = lock(&self.0);
        counts.begin(now);
        counts.failures.get(&source(peer)).is_none_or(|failures| *failures < FAILURES_MAX)
    }

    /// A link of this source is not good.
    pub(super) fn note(&self, peer: IpAddr, now: u64) {
        let mut counts = lock(&self.0);
        counts.begin(now);
        let is_full = counts.failures.len() >= SOURCES_MAX;
        match counts.failures.get_mut(&source(peer)) {
            Some(failures) => *failures = failures.saturating_add(1),
            None if is_full => {}
            None => drop(counts.failures.insert(source(peer), 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_with_bad_links_waits_for_the_next_minute() {
        let throttle = Throttle::default();
        let ip = |last: u8| IpAddr::from([192, 0, 2, last]);
        for _ in 0..FAILURES_MAX {
            assert!(throttle.admits(ip(1), 600));
            throttle.note(ip(1), 600);
        }
        assert!(!throttle.admits(ip(1), 659));
        assert!(throttle.admits(ip(2), 659), "others are not limited");
        assert!(throttle.admits(ip(1), 660));
    }

    #[test]
    fn many_sources_use_bounded_memory() {
        let throttle = Throttle::default();
        for n in 0..2 * u32::try_from(SOURCES_MAX).unwrap() {
            throttle.note(IpAddr::from(n.to_be_bytes()), 0);
        }
        assert_eq!(lock(&throttle.0).failures.len(), SOURCES_MAX);
        throttle.note(IpAddr::from([0, 0, 0, 1]), 0);
        assert_eq!(lock(&throttle.0).failures[&IpAddr::from([0, 0, 0, 1])], 2);
    }
}
