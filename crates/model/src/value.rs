//! Values on their way into history.

use compact_str::CompactString;
pub use objects::ValueType;

use crate::{ItemId, Timestamp};

/// What a log item's value carries beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogMeta {
    /// Time written in the log line, seconds since 1970; 0 = unknown.
    pub timestamp: u32,
    /// Source of a Windows event log entry.
    pub source: CompactString,
    /// Severity of a Windows event log entry.
    pub severity: u32,
    /// Event id of a Windows event log entry.
    pub eventid: u32,
}

/// A value that belongs to an item, before preprocessing.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    pub item: ItemId,
    /// When it was measured.
    pub at: Timestamp,
    /// What was measured.
    pub payload: Payload,
}

/// What arrived. Texts up to 24 bytes live inside, so that a number in text form costs no
/// allocation.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// The usual case: text as the wire carries it.
    Text(CompactString),
    /// A number made by Vedette itself (internal and calculated items).
    Unsigned(u64),
    /// A number made by Vedette itself (internal and calculated items).
    Float(f64),
    /// A log line with its metadata.
    Log(Box<(CompactString, LogMeta)>),
    /// The agent or the check says that the item is not supported, and why.
    NotSupported(Box<str>),
    /// Only the position of a log file moved; nothing to store.
    Meta,
}

impl Payload {
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Log(line) => line.0.len(),
            Self::NotSupported(reason) => reason.len(),
            Self::Unsigned(_) | Self::Float(_) | Self::Meta => 0,
        }
    }
}

/// A preprocessed, typed, stamped value: what history keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub item: ItemId,
    /// When it was measured.
    pub at: Timestamp,
    /// The value in the item's value type.
    pub value: SampleValue,
}

/// A typed value.
#[derive(Debug, Clone, PartialEq)]
pub enum SampleValue {
    /// [`ValueType::Float`].
    Float(f64),
    /// [`ValueType::Unsigned`].
    Unsigned(u64),
    /// [`ValueType::Char`], [`ValueType::Text`] and [`ValueType::Binary`].
    Text(CompactString),
    /// [`ValueType::Log`].
    Log(Box<(CompactString, LogMeta)>),
}

impl SampleValue {
    /// As a float, if it is a number.
    #[expect(clippy::cast_precision_loss, reason = "counters above 2^53 lose low bits by nature")]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(v) => Some(*v),
            Self::Unsigned(v) => Some(*v as f64),
            Self::Text(_) | Self::Log(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Log(log) => Some(&log.0),
            Self::Float(_) | Self::Unsigned(_) => None,
        }
    }
}

/// One hour of a numeric item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    pub item: ItemId,
    /// Start of the hour, seconds since 1970.
    pub hour: u32,
    /// Number of values.
    pub num: u32,
    /// Smallest, mean and largest value, in the item's type.
    pub values: TrendValues,
}

/// The three figures of a trend in the item's type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrendValues {
    /// Of a float item.
    Float {
        /// Smallest.
        min: f64,
        /// Mean.
        avg: f64,
        /// Largest.
        max: f64,
    },
    /// Of an unsigned item; the mean is cut to a whole number.
    Unsigned {
        /// Smallest.
        min: u64,
        /// Mean.
        avg: u64,
        /// Largest.
        max: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_small() {
        // 1,000,000 values/s pass the queues: each byte here is 1 MB/s of memory traffic.
        assert!(size_of::<Value>() <= 48, "{}", size_of::<Value>());
        assert!(size_of::<Sample>() <= 40, "{}", size_of::<Sample>());
    }
}
