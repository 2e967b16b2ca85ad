//! What the values look like: the mix of a typical estate.
//!
//! 40 % counters, 30 % gauges with two decimals, 15 % constants, 10 % noisy floats, 5 % short
//! texts. All texts of one kind have one width, so that a new value is written over the old one.

/// Kind of an item's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Unsigned integer that grows by a noisy rate; some are idle.
    Counter,
    /// Random walk between 10.00 and 99.99; half of the steps are none.
    Gauge,
    /// 0 or 1, always the same.
    Constant,
    /// Six random decimals.
    Noise,
    /// 30 to 50 characters with a running number.
    Text,
}

/// Five percent each, mixed.
const MIX: [Kind; 20] = {
    use Kind::{Constant as S, Counter as C, Gauge as G, Noise as N, Text as T};
    [C, G, S, C, G, N, C, G, C, S, G, C, T, C, G, N, C, S, G, C]
};

/// Value of an item's `value_type` in the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ValueType(pub(crate) u8);

impl ValueType {
    pub(crate) const FLOAT: Self = Self(0);
    pub(crate) const CHARACTER: Self = Self(1);
    pub(crate) const UNSIGNED: Self = Self(3);
}

impl Kind {
    /// Kind of the item with this number on its host.
    pub(crate) const fn of_item(number: usize) -> Self {
        MIX[number % MIX.len()]
    }

    /// The key's name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Constant => "constant",
            Self::Noise => "noise",
            Self::Text => "text",
        }
    }

    /// Type of information of the item.
    pub(crate) const fn value_type(self) -> ValueType {
        match self {
            Self::Counter | Self::Constant => ValueType::UNSIGNED,
            Self::Gauge | Self::Noise => ValueType::FLOAT,
            Self::Text => ValueType::CHARACTER,
        }
    }

    /// A text with the width of all values of item `number`.
    pub(crate) fn template(self, number: usize) -> String {
        match self {
            Self::Counter => "100000000000".to_owned(),
            Self::Gauge => "10.00".to_owned(),
            Self::Constant => (number % 2).to_string(),
            Self::Noise => "0.000000".to_owned(),
            Self::Text => format!(
                "job 00000000 of queue {number:06}{}",
                &" has ended without an error"[..number % 22]
            )
            .trim_end()
            .to_owned(),
        }
    }
}

/// Small, fast and good enough: xorshift64*.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }
}

const COUNTER_MIN: u64 = 100_000_000_000;
const COUNTER_END: u64 = 1_000_000_000_000;

/// One item's current value.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    kind: Kind,
    value: u64,
    /// Counters only: what a value grows by at least.
    step: u64,
}

impl Series {
    /// The series of item `number` before its first value.
    pub(crate) const fn new(number: usize, random: &mut Random) -> Self {
        let kind = Kind::of_item(number);
        let r = random.next();
        let (value, step) = match kind {
            Kind::Counter if r.is_multiple_of(10) => (COUNTER_MIN + r % COUNTER_MIN, 0),
            Kind::Counter => (COUNTER_MIN + r % COUNTER_MIN, 10u64.pow((r % 8) as u32)),
            Kind::Gauge => (1000 + r % 9000, 0),
            Kind::Constant => (number as u64 % 2, 0),
            Kind::Noise | Kind::Text => (0, 0),
        };
        Self { kind, value, step }
    }

    /// Moves to the next value and writes it over the previous one of the same width.
    pub(crate) fn write_next(&mut self, random: &mut Random, out: &mut [u8]) {
        match self.kind {
            Kind::Counter => {
                if self.step > 0 {
                    self.value += self.step + random.next() % (self.step / 8 + 1);
                    if self.value >= COUNTER_END {
                        self.value -= COUNTER_END - COUNTER_MIN;
                    }
                }
                write_digits(out, self.value);
            }
            Kind::Gauge => {
                let r = random.next();
                if r & 1 == 0 {
                    self.value = (self.value + (r >> 1) % 41).saturating_sub(20).clamp(1000, 9999);
                }
                write_digits(&mut out[..2], self.value / 100);
                write_digits(&mut out[3..], self.value % 100);
            }
            Kind::Constant => {}
            Kind::Noise => write_digits(&mut out[2..], random.next() % 1_000_000),
            Kind::Text => {
                self.value = (self.value + 1) % 100_000_000;
                write_digits(&mut out[4..12], self.value);
            }
        }
    }
}

/// Writes the last digits of `n` with leading zeros over all of `out`.
pub(crate) fn write_digits(out: &mut [u8], mut n: u64) {
    for byte in out.iter_mut().rev() {
        *byte = b'0' + (n % 10) as u8;
        n /= 10;
    }
}

/// A value as text, made comparable however a server spells it: 12.50 is 12.5.
pub(crate) fn comparable(value_type: ValueType, text: &str) -> Option<u64> {
    match value_type {
        ValueType::FLOAT => text.parse::<f64>().ok().map(f64::to_bits),
        ValueType::UNSIGNED => text.parse().ok(),
        _ => Some(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix() {
        let share = |kind| MIX.iter().filter(|k| **k == kind).count() * 100 / MIX.len();
        let kinds = [Kind::Counter, Kind::Gauge, Kind::Constant, Kind::Noise, Kind::Text];
        assert_eq!(kinds.map(share), [40, 30, 15, 10, 5]);
    }

    #[test]
    fn values_keep_width_type_and_range() {
        let mut random = Random::new(7);
        for number in 0..2000 {
            let kind = Kind::of_item(number);
            let mut text = kind.template(number).into_bytes();
            let mut series = Series::new(number, &mut random);
            let mut before = String::new();
            for round in 0..50 {
                series.write_next(&mut random, &mut text);
                let text = str::from_utf8(&text).unwrap().to_owned();
                match kind {
                    Kind::Counter => {
                        let n: u64 = text.parse().unwrap();
                        assert_eq!(n.to_string(), text);
                        assert!(round == 0 || text >= before, "{before} {text}");
                    }
                    Kind::Gauge => {
                        let x: f64 = text.parse().unwrap();
                        assert!((10.0..100.0).contains(&x), "{text}");
                        assert_eq!(format!("{x:.2}"), text);
                    }
                    Kind::Constant => assert!(text == "0" || text == "1"),
                    Kind::Noise => assert_eq!(format!("{:.6}", text.parse::<f64>().unwrap()), text),
                    Kind::Text => {
                        assert!((28..=50).contains(&text.len()) && text.trim() == text, "{text:?}");
                        assert!(round == 0 || text != before);
                    }
                }
                before = text;
            }
        }
    }

    #[test]
    fn the_same_value_in_other_spellings() {
        let same = |t, a, b| comparable(t, a) == comparable(t, b);
        assert!(same(ValueType::FLOAT, "12.50", "12.5"));
        assert!(same(ValueType::FLOAT, "0.000120", "0.00012"));
        assert!(same(ValueType::FLOAT, "0.000120", "1.2e-4"));
        assert!(!same(ValueType::FLOAT, "12.50", "12.51"));
        assert!(same(ValueType::UNSIGNED, "7", "7") && !same(ValueType::UNSIGNED, "7", "8"));
        assert!(same(ValueType::CHARACTER, "a b", "a b") && !same(ValueType::CHARACTER, "a", "A"));
        assert_eq!(comparable(ValueType::UNSIGNED, "12.5"), None);
        assert_eq!(comparable(ValueType::FLOAT, ""), None);
    }

    #[test]
    fn digits_fill_the_width() {
        for (n, width, expected) in [(0, 3, "000"), (42, 5, "00042"), (123_456, 3, "456")] {
            let mut out = vec![b'x'; width];
            write_digits(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
