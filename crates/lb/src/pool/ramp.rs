//! Slow start: the share of a server that comes back grows evenly over a time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The whole share of a server; parts of it are numbers up to this.
pub(super) const FULL: u32 = 1024;

/// The share at the first moment: a twentieth.
const START: u32 = FULL / 20;

/// When a server came back: monotonic milliseconds; 0: it was there from the start.
#[derive(Debug, Default)]
pub(super) struct Ramp(AtomicU64);

impl Ramp {
    /// The server comes back.
    pub(super) fn begin(&self, now_ms: u64) {
        self.0.store(now_ms.max(1), Relaxed);
    }

    /// The part of its share that the server gets, after a beginning that is `other_ms` if that is later;
    /// `over_ms` is the time until it has all.
    pub(super) fn part(&self, other_ms: u64, over_ms: u64, now_ms: u64) -> u32 {
        let began_ms = self.0.load(Relaxed).max(other_ms);
        let elapsed_ms = now_ms.saturating_sub(began_ms);
        if began_ms == 0 || elapsed_ms >= over_ms {
            return FULL;
        }
        let grown = u128::from(FULL - START) * u128::from(elapsed_ms) / u128::from(over_ms);
        START + u32::try_from(grown).unwrap_or(0)
    }
}

/// Decisions for one request whether a server takes its turn. They are random: a count of turns would fall
/// into step with the turns of the pool.
pub(super) struct Decisions {
    state: u64,
    /// The largest part: it is the whole of what servers share.
    whole: u64,
}

impl Decisions {
    /// Of the request's random number, which the choice itself uses, too, and of the largest part of a
    /// server that may be chosen.
    pub(super) fn of(random: u64, largest: u32) -> Self {
        Self { state: random, whole: u64::from(largest) }
    }

    /// Whether a server with this part takes its turn.
    pub(super) fn takes(&mut self, part: u32) -> bool {
        // A linear congruential generator (Knuth's MMIX); its high bits are the good ones.
        const FACTOR: u64 = 6_364_136_223_846_793_005;
        const STEP: u64 = 1_442_695_040_888_963_407;
        self.state = self.state.wrapping_mul(FACTOR).wrapping_add(STEP);
        (self.state >> 54) * self.whole < u64::from(part) * u64::from(FULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_grows_evenly_from_a_twentieth_to_all() {
        let ramp = Ramp::default();
        assert_eq!(ramp.part(0, 10_000, 5), FULL, "a server that was there from the start");
        ramp.begin(1_000);
        let parts: Vec<u32> = (0..=10).map(|s| ramp.part(0, 10_000, 1_000 + s * 1_000)).collect();
        assert_eq!((parts[0], parts[10]), (START, FULL));
        let steps: Vec<u32> = parts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| (97..=98).contains(step)), "{steps:?}");
        assert_eq!(ramp.part(0, 10_000, 500), START, "a thread whose clock is behind");
        assert_eq!(ramp.part(9_000, 10_000, 11_000), ramp.part(0, 10_000, 3_000));
        assert_eq!(ramp.part(0, 0, 1_000), FULL, "no slow start");
    }

    #[test]
    fn a_part_of_the_turns_is_taken() {
        for whole in [FULL, FULL / 2, START] {
            let mut decisions = Decisions::of(7, whole);
            assert!((0..10_000).all(|_| decisions.takes(whole)));
            let taken = (0..10_000).filter(|_| decisions.takes(whole / 4)).count();
            let expected = usize::try_from(10_000 * (whole / 4) / whole).unwrap();
            // 5 standard deviations of a binomial distribution.
            assert!(taken.abs_diff(expected) <= 217, "{taken}, {expected}");
        }
    }
}
