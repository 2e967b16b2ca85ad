//! What an hour of an item comes to, added value by value.

use model::{ItemId, SampleValue, Trend, TrendValues};

use crate::sums::{Sums, Wide};

/// A sum that is beyond what floats hold is kept divided by this: 2 to the power of 64, as exact.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

/// An hour of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Acc {
    pub(super) hour: u32,
    pub(super) num: u32,
    pub(super) merge: bool,
    /// The sum of floats is divided by [`SCALE`].
    scaled: bool,
    sums: Sums,
}

impl Acc {
    pub(super) fn new(hour: u32, merge: bool, value: &SampleValue) -> Option<Self> {
        Some(Self { hour, num: 1, merge, scaled: false, sums: Sums::of(value)? })
    }

    /// What a trend was made of.
    pub(super) fn of(trend: &Trend) -> Self {
        let Trend { hour, num, values, .. } = *trend;
        let (mut scaled, many) = (false, f64::from(num));
        let sums = match values {
            TrendValues::Float { min, avg, max } => {
                let mut sum = avg * many;
                if avg.is_finite() && !sum.is_finite() {
                    (scaled, sum) = (true, avg / SCALE * many);
                }
                Sums::Float { min, max, sum }
            }
            TrendValues::Unsigned { min, avg, max } => {
                let sum = Wide(u128::from(avg) * u128::from(num));
                Sums::Unsigned { min, max, sum }
            }
        };
        Self { hour, num, merge: false, scaled, sums }
    }

    /// Adds a value; false = it is a number of another type.
    #[inline]
    pub(super) fn add(&mut self, value: &SampleValue) -> bool {
        let Some(one) = Sums::of(value) else { return true };
        if self.scaled || self.overflows(&one) {
            return self.add_scaled(one);
        }
        let added = self.sums.add(one);
        self.num += u32::from(added);
        added
    }

    /// Apart from the way that nearly all values take.
    #[cold]
    fn add_scaled(&mut self, one: Sums) -> bool {
        self.join(Self { num: 1, scaled: false, sums: one, ..*self })
    }

    /// Adds others; false = they are of another type.
    pub(super) fn join(&mut self, mut others: Self) -> bool {
        if self.scaled || others.scaled || self.overflows(&others.sums) {
            self.scale();
            others.scale();
        }
        let added = self.sums.add(others.sums);
        if added {
            self.num = self.num.saturating_add(others.num);
        }
        added
    }

    /// Would the sum with others be none that a float holds?
    #[inline]
    fn overflows(&self, others: &Sums) -> bool {
        matches!(
            (&self.sums, others),
            (Sums::Float { sum, .. }, Sums::Float { sum: more, .. }) if !(sum + more).is_finite()
        )
    }

    fn scale(&mut self) {
        if let Sums::Float { sum, .. } = &mut self.sums
            && !std::mem::replace(&mut self.scaled, true)
        {
            *sum /= SCALE;
        }
    }

    pub(super) fn unsigned(&self) -> bool {
        matches!(self.sums, Sums::Unsigned { .. })
    }

    pub(super) fn trend(&self, item: ItemId) -> Trend {
        debug_assert!(self.num > 0, "BUG: a trend without values");
        let values = match self.sums {
            Sums::Float { min, max, sum } => {
                let mut avg = sum / f64::from(self.num);
                if self.scaled {
                    avg *= SCALE;
                    if avg.is_infinite() {
                        // Rounding must not lead beyond the largest number.
                        avg = avg.max(min).min(max);
                    }
                }
                TrendValues::Float { min, avg, max }
            }
            Sums::Unsigned { min, max, sum } => {
                let avg = u64::try_from(sum.0 / u128::from(self.num)).unwrap_or(max);
                TrendValues::Unsigned { min, avg, max }
            }
        };
        Trend { item, hour: self.hour, num: self.num, values }
    }
}

/// Two parts of one hour as one. The mean of unsigned parts is off by at most one, since stored
/// means are cut to whole numbers. Parts of different types: the second.
pub fn merge(one: &Trend, other: &Trend) -> Trend {
    let mut acc = Acc::of(one);
    if !acc.join(Acc::of(other)) {
        return *other;
    }
    Acc { hour: other.hour, ..acc }.trend(other.item)
}
