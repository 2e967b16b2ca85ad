//! What numbers come to, added one after the other.

use model::SampleValue;

/// Lowest, highest and sum of numbers of one type, at least one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sums {
    /// Of floats. Which zero the lowest of both zeros is is not said.
    Float {
        /// The lowest.
        min: f64,
        /// The highest.
        max: f64,
        /// In the order in which they were added.
        sum: f64,
    },
    /// Of whole numbers.
    Unsigned {
        /// The lowest.
        min: u64,
        /// The highest.
        max: u64,
        /// Exact.
        sum: Wide,
    },
}

/// 128 bits with the alignment of 64: an open hour of an item fits a cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, packed(8))]
pub struct Wide(pub u128);

impl Sums {
    /// Of one number. Texts, logs and NaN are none.
    #[inline]
    pub fn of(value: &SampleValue) -> Option<Self> {
        match *value {
            SampleValue::Float(v) if !v.is_nan() => Some(Self::Float { min: v, max: v, sum: v }),
            SampleValue::Unsigned(v) => {
                Some(Self::Unsigned { min: v, max: v, sum: Wide(v.into()) })
            }
            _ => None,
        }
    }

    /// Adds others; false = they are of the other type.
    #[inline]
    pub fn add(&mut self, others: Self) -> bool {
        match (self, others) {
            (Self::Float { min, max, sum }, Self::Float { min: low, max: high, sum: more }) => {
                *min = min.min(low);
                *max = max.max(high);
                *sum += more;
            }
            (
                Self::Unsigned { min, max, sum },
                Self::Unsigned { min: low, max: high, sum: more },
            ) => {
                *min = (*min).min(low);
                *max = (*max).max(high);
                *sum = Wide(sum.0 + more.0);
            }
            _ => return false,
        }
        true
    }
}
