//! CPU time of threads by their name, over the last minute.

use std::collections::VecDeque;
use std::time::Duration;

use stdx::machine::ThreadTimes;
use stdx::worktime::Shares;

/// Readings are averaged over this time.
const WINDOW: Duration = Duration::from_secs(60);

/// Readings of the last minute.
#[derive(Debug, Default)]
pub(crate) struct ThreadReadings(VecDeque<(Duration, ThreadTimes)>);

impl ThreadReadings {
    /// Takes a reading at a monotonic time.
    pub(crate) fn take(&mut self, at: Duration, times: ThreadTimes) {
        self.0.push_back((at, times));
        while self.0.front().is_some_and(|(from, _)| at.saturating_sub(*from) > WINDOW) {
            self.0.pop_front();
        }
    }

    /// Shares that the threads of this name worked; those that have ended are not in it.
    pub(crate) fn shares(&self, name: &str) -> Shares {
        let (Some((from, first)), Some((to, last))) = (self.0.front(), self.0.back()) else {
            return Shares::default();
        };
        let threads = last.iter().filter(|((known, _), _)| known == name);
        let (before, after): (Vec<u64>, Vec<u64>) =
            threads.map(|(thread, ns)| (first.get(thread).copied().unwrap_or(0), *ns)).unzip();
        Shares::between(&before, &after, to.saturating_sub(*from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_name_over_a_minute() {
        let mut readings = ThreadReadings::default();
        assert_eq!(readings.shares("media").count(), 0);
        let ms = |ms: u64| ms * 1_000_000;
        let times = |all: &[(&str, u32, u64)]| {
            all.iter().map(|(name, number, ns)| (((*name).to_owned(), *number), *ns)).collect()
        };
        readings.take(Duration::from_secs(1), times(&[("media", 7, ms(40_000))]));
        readings.take(Duration::from_secs(5), times(&[("media", 7, ms(50_000)), ("lld", 3, 5)]));
        // The first reading is too old now; thread 8 is new.
        let now = times(&[("media", 7, ms(56_000)), ("media", 8, ms(3_000)), ("lld", 3, 5)]);
        readings.take(Duration::from_secs(65), now);
        let shares = readings.shares("media");
        assert_eq!((shares.count(), shares.of(1), shares.of(2)), (2, Some(10.0), Some(5.0)));
        assert_eq!(readings.shares("lld").of(1), Some(0.0));
        assert_eq!(readings.shares("other").count(), 0);
    }
}
