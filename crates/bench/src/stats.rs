//! Percentiles of durations in constant memory.

use std::time::Duration;

/// Steps per power of two: an error of at most 1/32.
const STEPS: usize = 32;
const STEPS_BITS: u32 = STEPS.trailing_zeros();
const BUCKETS: usize = (64 - STEPS_BITS as usize + 1) * STEPS;

/// Durations counted in buckets whose width grows with the duration.
#[derive(Clone)]
pub(crate) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS], count: 0, max_ns: 0 }
    }
}

fn bucket(ns: u64) -> usize {
    let bits = 64 - ns.leading_zeros();
    if bits <= STEPS_BITS {
        return usize::try_from(ns).expect("BUG: below 32");
    }
    let shift = bits - STEPS_BITS - 1;
    let step = usize::try_from(ns >> shift).expect("BUG: below 64") - STEPS;
    (shift as usize + 1) * STEPS + step
}

/// The smallest number of a bucket.
fn floor(bucket: usize) -> u64 {
    if bucket < STEPS {
        return bucket as u64;
    }
    ((bucket % STEPS + STEPS) as u64) << (bucket / STEPS - 1)
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn add(&mut self, duration: Duration) {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.buckets[bucket(ns)] += 1;
        self.count += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    /// Counts what another counted.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.count += other.count;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// The duration in milliseconds that `share` (0 to 1) of all do not exceed; 0 of none.
    pub(crate) fn percentile_ms(&self, share: f64) -> f64 {
        let wanted = (self.count as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (index, n) in self.buckets.iter().enumerate() {
            seen += n;
            if seen >= wanted {
                let above = floor(index + 1).saturating_sub(1);
                return above.min(self.max_ns) as f64 / 1e6;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_join_without_gap_and_stay_narrow() {
        for index in 0..BUCKETS - STEPS - 1 {
            let (low, next) = (floor(index), floor(index + 1));
            assert!(low < next, "{index}");
            assert_eq!(bucket(low), index);
            assert_eq!(bucket(next - 1), index);
            assert!((next - low) as f64 <= 1.0 + low as f64 / 32.0, "{index}: {low}..{next}");
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn percentiles() {
        let mut all = Histogram::default();
        assert_eq!(all.percentile_ms(0.5), 0.0);
        for ms in 1..=100 {
            let mut one = Histogram::default();
            one.add(Duration::from_millis(ms));
            all.merge(&one);
        }
        assert_eq!(all.count, 100);
        for (share, expected) in [(0.0, 1.0), (0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (1.0, 100.0)]
        {
            let found = all.percentile_ms(share);
            assert!((found - expected).abs() <= expected / 31.0, "{share}: {found}");
        }
        assert_eq!(all.percentile_ms(1.0), 100.0);
    }
}
