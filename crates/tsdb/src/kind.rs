//! What a series holds, and the moments and classes the engine sorts by.

use model::{DAY_S, ItemId, SampleValue, Timestamp, Trend, TrendValues, ValueType};

/// What a series holds. A series is an item *and* a kind: an item that changes its value type
/// starts a new series and keeps the old one. The numbers are in the files: never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// 64-bit floats.
    Float = 0,
    /// 64-bit unsigned whole numbers.
    Unsigned = 1,
    /// Texts: value types character, text and binary.
    Text = 2,
    /// Log lines with their metadata.
    Log = 3,
    /// Hourly minimum of a float item.
    FloatMin = 8,
    /// Hourly mean of a float item.
    FloatAvg = 9,
    /// Hourly maximum of a float item.
    FloatMax = 10,
    /// Number of values in an hour of a float item.
    FloatNum = 11,
    /// Hourly minimum of an unsigned item.
    UnsignedMin = 12,
    /// Hourly mean of an unsigned item.
    UnsignedAvg = 13,
    /// Hourly maximum of an unsigned item.
    UnsignedMax = 14,
    /// Number of values in an hour of an unsigned item.
    UnsignedNum = 15,
}

impl Kind {
    /// Kinds that hold values, not trends.
    pub const VALUES: [Self; 4] = [Self::Float, Self::Unsigned, Self::Text, Self::Log];
    /// Kinds that hold trends: minimum, mean, maximum, number; floats first.
    pub const TRENDS: [Self; 8] = [
        Self::FloatMin,
        Self::FloatAvg,
        Self::FloatMax,
        Self::FloatNum,
        Self::UnsignedMin,
        Self::UnsignedAvg,
        Self::UnsignedMax,
        Self::UnsignedNum,
    ];

    /// The kind in which values of this type are kept.
    pub const fn of(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Float => Self::Float,
            ValueType::Unsigned => Self::Unsigned,
            ValueType::Log => Self::Log,
            ValueType::Char | ValueType::Text | ValueType::Binary => Self::Text,
        }
    }

    /// The kind in which this value is kept.
    pub const fn of_value(value: &SampleValue) -> Self {
        match value {
            SampleValue::Float(_) => Self::Float,
            SampleValue::Unsigned(_) => Self::Unsigned,
            SampleValue::Text(_) => Self::Text,
            SampleValue::Log(_) => Self::Log,
        }
    }

    /// The kind of a trend's mean, which stands for all its figures.
    pub const fn of_trend(trend: &Trend) -> Self {
        match trend.values {
            TrendValues::Float { .. } => Self::FloatAvg,
            TrendValues::Unsigned { .. } => Self::UnsignedAvg,
        }
    }

    /// From the number in a file.
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Float,
            1 => Self::Unsigned,
            2 => Self::Text,
            3 => Self::Log,
            8 => Self::FloatMin,
            9 => Self::FloatAvg,
            10 => Self::FloatMax,
            11 => Self::FloatNum,
            12 => Self::UnsignedMin,
            13 => Self::UnsignedAvg,
            14 => Self::UnsignedMax,
            15 => Self::UnsignedNum,
            _ => return None,
        })
    }

    /// The number in the files.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// A trend, not a value.
    pub const fn is_trend(self) -> bool {
        self.number() >= 8
    }

    /// Rows carry bytes instead of 64 bits.
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::Text | Self::Log)
    }

    /// The 64 bits are those of a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::FloatMin | Self::FloatAvg | Self::FloatMax)
    }
}

/// A set of [`Kind`]s to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// All kinds of values.
    pub const VALUES: Self = Self(0x000f);
    /// Floats and unsigned numbers.
    pub const NUMBERS: Self = Self(0x0003);
    /// All kinds of trends.
    pub const TRENDS: Self = Self(0xff00);
    /// Everything.
    pub const ALL: Self = Self(0xff0f);

    /// Is this kind asked for?
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind.number()) != 0
    }
}

impl From<Kind> for Kinds {
    fn from(kind: Kind) -> Self {
        Self(1 << kind.number())
    }
}

/// A day in UTC: days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(pub u32);

impl Day {
    /// The day that holds a moment (seconds since 1970).
    pub const fn of(clock: u32) -> Self {
        Self(clock / DAY_S)
    }
}

/// A retention class: whole days for which values are kept. Values of one class and day lie in
/// files of their own, so that deleting them is unlinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(pub u16);

/// Tells the retention class of a series. Asked once per series when a head is sealed, on a
/// background thread. Return few distinct classes: each makes files of its own. When an answer
/// changes, values sealed earlier keep the class they got.
pub trait Retention: Send + Sync + 'static {
    /// The class of this series; trends usually live longer than values.
    fn class(&self, item: ItemId, kind: Kind) -> Class;

    /// The classes of several series, in their order.
    fn classes(&self, series: &[(ItemId, Kind)]) -> Vec<Class> {
        series.iter().map(|&(item, kind)| self.class(item, kind)).collect()
    }
}

/// The same class for everything.
impl Retention for Class {
    fn class(&self, _: ItemId, _: Kind) -> Class {
        *self
    }
}

/// Whole seconds since 1970, both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First second.
    pub from: u32,
    /// Last second.
    pub till: u32,
}

impl Span {
    /// All time.
    pub const ALL: Self = Self { from: 0, till: u32::MAX };

    /// A span of both ends inclusive.
    pub const fn new(from: u32, till: u32) -> Self {
        Self { from, till }
    }

    /// Does the second lie inside?
    pub const fn has(self, clock: u32) -> bool {
        self.from <= clock && clock <= self.till
    }

    /// Does a range of seconds (both ends inclusive) touch this span?
    pub const fn overlaps(self, first: u32, last: u32) -> bool {
        first <= self.till && self.from <= last
    }
}

/// Moment from its parts.
pub(crate) const fn at(clock: u32, ns: u32) -> Timestamp {
    Timestamp { clock, ns }
}

/// An hour of an item whose trend is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrendHour {
    pub item: ItemId,
    /// Start of the hour, in seconds since 1970.
    pub hour: u32,
    /// The trend of unsigned values; else of floats.
    pub unsigned: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_sets_hold_what_they_say() {
        for number in 0..=u8::MAX {
            if let Some(kind) = Kind::from_number(number) {
                assert_eq!(kind.number(), number);
                assert_eq!(Kinds::VALUES.has(kind), Kind::VALUES.contains(&kind));
                assert_eq!(Kinds::TRENDS.has(kind), Kind::TRENDS.contains(&kind));
                assert_eq!(Kinds::TRENDS.has(kind), kind.is_trend());
                let is_number = matches!(kind, Kind::Float | Kind::Unsigned);
                assert_eq!(Kinds::NUMBERS.has(kind), is_number);
                assert!(Kinds::ALL.has(kind) && Kinds::from(kind).has(kind));
            }
        }
    }

    #[test]
    fn spans_include_both_ends() {
        let span = Span::new(10, 20);
        for (first, last, touches) in
            [(0, 9, false), (0, 10, true), (12, 13, true), (20, 30, true), (21, 30, false)]
        {
            assert_eq!(span.overlaps(first, last), touches, "{first}..={last}");
        }
        assert!(span.has(10) && span.has(20) && !span.has(9) && !span.has(21));
    }
}
