//! Times in buckets whose width grows with the time, so that any percentile is known within an eighth.

/// Buckets of equal width between a power of two and the next.
const STEPS: u64 = 8;
const STEPS_BITS: u32 = STEPS.trailing_zeros();
/// Bits of the longest time that has a bucket: 71 minutes in microseconds.
const BITS: u32 = 32;
/// Number of buckets: exact ones below [`STEPS`], and as many for each greater bit.
pub const BUCKETS: usize = ((BITS - STEPS_BITS + 1) as usize) << STEPS_BITS;

/// The bucket of a time in microseconds; longer ones are in the last.
#[must_use]
pub const fn bucket(time_us: u64) -> usize {
    if time_us >> BITS != 0 {
        return BUCKETS - 1;
    }
    if time_us < STEPS {
        return time_us as usize;
    }
    let shift = time_us.ilog2() - STEPS_BITS;
    (((shift as u64) << STEPS_BITS) + (time_us >> shift)) as usize
}

/// The first time of a bucket, in microseconds.
fn begin_us(bucket: u64) -> u64 {
    if bucket < STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    (STEPS + bucket % STEPS) << shift
}

/// Counts by bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram(Vec<(u8, u64)>);

impl Histogram {
    /// Of buckets with their counts; `None`: a bucket does not exist, is empty or not behind the one before.
    #[must_use]
    pub fn of(buckets: Vec<(u8, u64)>) -> Option<Self> {
        let ascends = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let exist =
            buckets.iter().all(|(bucket, count)| usize::from(*bucket) < BUCKETS && *count > 0);
        (ascends && exist).then_some(Self(buckets))
    }

    /// Of the counts of all buckets.
    pub fn of_all(counts: impl Iterator<Item = u64>) -> Self {
        let all = (0..=u8::MAX).zip(counts);
        Self(all.take(BUCKETS).filter(|(_, count)| *count > 0).collect())
    }

    /// Buckets that are not empty, in their order.
    #[must_use]
    pub fn buckets(&self) -> &[(u8, u64)] {
        &self.0
    }

    /// Number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }

    /// Adds the times of another one.
    pub fn add(&mut self, other: &Self) {
        let mut sums = Vec::with_capacity(self.0.len().max(other.0.len()));
        let mut others = other.0.iter().copied().peekable();
        for (bucket, count) in self.0.drain(..) {
            while let Some(before) = others.next_if(|(other, _)| *other < bucket) {
                sums.push(before);
            }
            let same = others.next_if(|(other, _)| *other == bucket).map_or(0, |(_, count)| count);
            sums.push((bucket, count.saturating_add(same)));
        }
        sums.extend(others);
        self.0 = sums;
    }

    /// The times since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let earlier = |bucket: u8| {
            let found = before.0.binary_search_by_key(&bucket, |(bucket, _)| *bucket);
            found.ok().and_then(|at| before.0.get(at)).map_or(0, |(_, count)| *count)
        };
        let all =
            self.0.iter().map(|(bucket, count)| (*bucket, count.saturating_sub(earlier(*bucket))));
        Self(all.filter(|(_, count)| *count > 0).collect())
    }

    /// The time that this share (0 to 1) of the times do not exceed, in microseconds, wrong by at most an
    /// eighth; `None`: there are no times.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the result is an estimate")]
    pub fn quantile_us(&self, share: f64) -> Option<f64> {
        let wanted = self.count() as f64 * share.clamp(0.0, 1.0);
        let mut below = 0.0;
        for (bucket, count) in &self.0 {
            let count = *count as f64;
            if below + count >= wanted {
                let (begin, end) = (begin_us(u64::from(*bucket)), begin_us(u64::from(*bucket) + 1));
                let part = ((wanted - below) / count).clamp(0.0, 1.0);
                return Some(begin as f64 + (end - begin) as f64 * part);
            }
            below += count;
        }
        None
    }

    /// Times up to this one, in microseconds, within the same error.
    #[must_use]
    pub fn up_to(&self, time_us: u64) -> u64 {
        let last = bucket(time_us);
        let within = self.0.iter().filter(|(bucket, _)| usize::from(*bucket) <= last);
        within.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_begins_where_the_one_before_ends_and_is_narrow() {
        for number in 0..BUCKETS as u64 {
            let (begin, end) = (begin_us(number), begin_us(number + 1));
            assert_eq!(bucket(begin) as u64, number);
            assert_eq!(bucket(end - 1) as u64, number);
            assert!(end - begin <= (begin / 8).max(1), "{begin} to {end}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
        assert_eq!(begin_us(BUCKETS as u64), 1 << BITS);
    }

    #[test]
    fn percentiles_are_within_an_eighth() {
        // Times from 1 ms to 1 s, as many of each.
        let mut counts = [0; BUCKETS];
        for ms in 1..=1000 {
            counts[bucket(ms * 1000)] += 1;
        }
        let histogram = Histogram::of_all(counts.into_iter());
        assert_eq!(histogram.count(), 1000);
        for share in [0.01, 0.5, 0.95, 0.99, 1.0] {
            let (found, exact) = (histogram.quantile_us(share).unwrap(), share * 1e6);
            assert!((found - exact).abs() <= exact / 8.0, "{share}: {found}");
        }
        assert_eq!(Histogram::default().quantile_us(0.5), None);
        let up_to = histogram.up_to(500_000);
        assert!((440..=565).contains(&up_to), "{up_to}");
    }

    #[test]
    fn sums_have_the_buckets_of_both() {
        let of = |buckets: &[(u8, u64)]| Histogram::of(buckets.to_vec()).unwrap();
        let mut sum = of(&[(1, 1), (5, 2)]);
        sum.add(&of(&[(0, 1), (1, 3), (7, 1)]));
        assert_eq!(sum, of(&[(0, 1), (1, 4), (5, 2), (7, 1)]));
        assert_eq!(sum.since(&of(&[(1, 4), (5, 1)])), of(&[(0, 1), (5, 1), (7, 1)]));
        assert_eq!(Histogram::of(vec![(5, 1), (5, 1)]), None);
        assert_eq!(Histogram::of(vec![(5, 0)]), None);
        assert_eq!(Histogram::of(vec![(240, 1)]), None);
    }
}
