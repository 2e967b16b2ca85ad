//! How much of their time workers work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Clock;

/// Time in work since the start; it only grows. A reader compares two readings.
#[derive(Debug, Default)]
pub struct WorkTime(AtomicU64);

impl WorkTime {
    /// Adds time in work.
    pub fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(0), Ordering::Relaxed);
    }

    /// Does work and adds the time that it takes.
    pub fn count<T>(&self, clock: &dyn Clock, work: impl FnOnce() -> T) -> T {
        let begin = clock.monotonic();
        let result = work();
        self.add(clock.monotonic().saturating_sub(begin));
        result
    }

    /// Nanoseconds in work since the start.
    pub fn ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Shares of their time that the workers of one kind worked between two readings, per cent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares(Vec<f64>);

impl Shares {
    /// One worker that does nothing.
    pub fn idle() -> Self {
        Self(vec![0.0])
    }

    /// From the time in work of each worker at both readings, ns. A worker that has begun or ended
    /// meanwhile is not in it.
    pub fn between(before: &[u64], after: &[u64], over: Duration) -> Self {
        let all = over.as_secs_f64();
        let share = |(before, after): (&u64, &u64)| {
            let worked = Duration::from_nanos(after.saturating_sub(*before)).as_secs_f64();
            if all > 0.0 { (worked / all * 100.0).min(100.0) } else { 0.0 }
        };
        Self(before.iter().zip(after).map(share).collect())
    }

    /// Those of other workers of the same number, taken away from these.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let other = |at: usize| others.0.get(at).copied().unwrap_or(0.0);
        Self(self.0.iter().enumerate().map(|(at, share)| (share - other(at)).max(0.0)).collect())
    }

    /// Number of workers.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The share of one worker; the first has the number 1.
    pub fn of(&self, number: usize) -> Option<f64> {
        self.0.get(number.checked_sub(1)?).copied()
    }

    /// The average; 0 without workers.
    pub fn average(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a number of threads")]
        let count = self.0.len().max(1) as f64;
        self.0.iter().sum::<f64>() / count
    }

    /// The least; 0 without workers.
    pub fn least(&self) -> f64 {
        self.0.iter().copied().reduce(f64::min).unwrap_or(0.0)
    }

    /// The most; 0 without workers.
    pub fn most(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SimClock;

    #[test]
    fn the_time_of_each_piece_of_work_is_added() {
        let (clock, time) = (SimClock::at(Duration::from_secs(100)), WorkTime::default());
        time.add(Duration::from_nanos(7));
        let result = time.count(&*clock, || {
            clock.advance(Duration::from_micros(2));
            "done"
        });
        clock.advance(Duration::from_secs(1));
        assert_eq!((result, time.ns()), ("done", 2007));
    }

    #[test]
    fn shares_of_workers() {
        let second = Duration::from_secs(1);
        let shares = Shares::between(&[0, 500_000_000], &[250_000_000, 1_250_000_000], second);
        assert_eq!((shares.count(), shares.average()), (2, 50.0));
        assert_eq!((shares.least(), shares.most()), (25.0, 75.0));
        assert_eq!([shares.of(0), shares.of(1), shares.of(3)], [None, Some(25.0), None]);
        let rest = shares.without(&Shares::between(&[0, 0], &[500_000_000, 0], second));
        assert_eq!((rest.of(1), rest.of(2)), (Some(0.0), Some(75.0)));
        let none = Shares::default();
        assert_eq!((none.count(), none.average(), none.least(), none.most()), (0, 0.0, 0.0, 0.0));
        assert_eq!(Shares::between(&[0], &[2_000_000_000], second).of(1), Some(100.0));
        assert_eq!(Shares::between(&[0], &[1], Duration::ZERO).of(1), Some(0.0));
    }
}
