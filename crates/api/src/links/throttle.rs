//! Counts requests with links that are not good, by source.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use stdx::seats::source;
use stdx::sync::lock;

/// Requests of a source in a minute with links that are not good.
const FAILURES_MAX: u32 = 30;
/// Sources that are counted; others are not limited, because a signature cannot be guessed in any number of requests.
const SOURCES_MAX: usize = 4_096;

/// Who has sent links that are not good within this minute.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    minute: u64,
    failures: HashMap<IpAddr, u32>,
}

impl Throttle {
    /// Counts a link of this source that is not good; `false`: it has sent too many within this minute.
    pub(super) fn admits(&self, peer: IpAddr, now: u64) -> bool {
        let mut counts = lock(&self.0);
        if counts.minute != now / 60 {
            *counts = Counts { minute: now / 60, failures: HashMap::new() };
        }
        let is_full = counts.failures.len() >= SOURCES_MAX;
        match counts.failures.get_mut(&source(peer)) {
            Some(failures) => {
                *failures = failures.saturating_add(1);
                *failures <= FAILURES_MAX
            }
            None => {
                if !is_full {
                    counts.failures.insert(source(peer), 1);
                }
                true
            }
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
        }
        assert!(!throttle.admits(ip(1), 659));
        assert!(throttle.admits(ip(2), 659), "others are not limited");
        assert!(throttle.admits(ip(1), 660));
    }

    #[test]
    fn many_sources_use_bounded_memory() {
        let throttle = Throttle::default();
        for n in 0..2 * u32::try_from(SOURCES_MAX).unwrap() {
            assert!(throttle.admits(IpAddr::from(n.to_be_bytes()), 0));
        }
        assert_eq!(lock(&throttle.0).failures.len(), SOURCES_MAX);
        assert!(throttle.admits(IpAddr::from([0, 0, 0, 1]), 0));
        assert_eq!(lock(&throttle.0).failures[&IpAddr::from([0, 0, 0, 1])], 2);
    }
}
