//! Values and trends as bytes, for stores that know nothing else, and back.

use std::borrow::Cow;

use model::{LogMeta, SampleValue, Trend, TrendValues};
use serde::{Deserialize, Serialize};

use super::place::Row;
use history::Kind;

/// What tells the kind of bytes.
pub(crate) fn letter(kind: Kind) -> u8 {
    match kind {
        Kind::Text => b't',
        Kind::Log => b'l',
        kind if kind.is_float() => b'f',
        _ => b'u',
    }
}

/// A log line.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    value: Cow<'a, str>,
    timestamp: u32,
    #[serde(borrow)]
    source: Cow<'a, str>,
    severity: u32,
    eventid: u32,
}

/// Appends a row: numbers in 8 bytes, the highest first; texts as they are; log lines as JSON; of
/// trends number (4 bytes), minimum, mean and maximum.
pub(crate) fn put(out: &mut Vec<u8>, row: Row<'_>) {
    match row {
        Row::Value(sample) => put_value(out, &sample.value),
        Row::Trend(trend) => {
            out.extend_from_slice(&trend.num.to_be_bytes());
            let figures = match trend.values {
                TrendValues::Float { min, avg, max } => [min, avg, max].map(f64::to_bits),
                TrendValues::Unsigned { min, avg, max } => [min, avg, max],
            };
            figures.iter().for_each(|figure| out.extend_from_slice(&figure.to_be_bytes()));
        }
    }
}

fn put_value(out: &mut Vec<u8>, value: &SampleValue) {
    match value {
        SampleValue::Float(value) => out.extend_from_slice(&value.to_bits().to_be_bytes()),
        SampleValue::Unsigned(value) => out.extend_from_slice(&value.to_be_bytes()),
        SampleValue::Text(text) => out.extend_from_slice(text.as_bytes()),
        SampleValue::Log(log) => {
            let (text, meta) = log.as_ref();
            let LogMeta { timestamp, ref source, severity, eventid } = *meta;
            let (value, source) = (Cow::from(text.as_str()), Cow::from(source.as_str()));
            let line = Line { value, timestamp, source, severity, eventid };
            // Writing to memory does not fail, and this is always JSON.
            drop(serde_json::to_writer(out, &line));
        }
    }
}

/// The value; `None` when the bytes are none.
pub(crate) fn value(letter: u8, bytes: &[u8]) -> Option<SampleValue> {
    let number = || bytes.try_into().map(u64::from_be_bytes).ok();
    Some(match letter {
        b'f' => SampleValue::Float(f64::from_bits(number()?)),
        b'u' => SampleValue::Unsigned(number()?),
        b't' => SampleValue::Text(std::str::from_utf8(bytes).ok()?.into()),
        b'l' => {
            let line: Line<'_> = serde_json::from_slice(bytes).ok()?;
            let Line { value, timestamp, source, severity, eventid } = line;
            let meta = LogMeta { timestamp, source: source.into(), severity, eventid };
            SampleValue::Log(Box::new((value.into(), meta)))
        }
        _ => return None,
    })
}

/// The trend of an item and hour; `None` when the bytes are none.
pub(crate) fn trend((item, hour): (model::ItemId, u32), letter: u8, bytes: &[u8]) -> Option<Trend> {
    let (num, figures) = bytes.split_first_chunk()?;
    let (figures, rest) = figures.as_chunks();
    let ([min, avg, max], []) = (figures, rest) else { return None };
    let [min, avg, max] = [min, avg, max].map(|figure| u64::from_be_bytes(*figure));
    let values = match letter {
        b'f' => {
            let [min, avg, max] = [min, avg, max].map(f64::from_bits);
            TrendValues::Float { min, avg, max }
        }
        b'u' => TrendValues::Unsigned { min, avg, max },
        _ => return None,
    };
    Some(Trend { item, hour, num: u32::from_be_bytes(*num), values })
}

#[cfg(test)]
mod tests {
    use model::{ItemId, Sample, Timestamp};

    use super::*;

    fn bytes_of(row: Row<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, row);
        bytes
    }

    #[test]
    fn values_come_back_as_they_were() {
        let meta = LogMeta { timestamp: 5, source: "ker\"nel".into(), severity: 3, eventid: 77 };
        let numbers = [0.1, -0.0, f64::MAX, f64::INFINITY, f64::from_bits(0xfff8_0000_dead_beef)];
        let mut values: Vec<SampleValue> = numbers.into_iter().map(SampleValue::Float).collect();
        values.extend([
            SampleValue::Unsigned(u64::MAX),
            SampleValue::Text("".into()),
            SampleValue::Text("\u{1f980}\0\n\t\"'\\".into()),
            SampleValue::Log(Box::new(("line \u{1f980}\0\\".into(), meta))),
        ]);
        for sent in values {
            let kind = Kind::of_value(&sent);
            let at = Timestamp { clock: 1, ns: 2 };
            let sample = Sample { item: ItemId(7), at, value: sent.clone() };
            let read = value(letter(kind), &bytes_of(Row::Value(&sample)));
            assert_eq!(format!("{read:?}"), format!("{:?}", Some(sent)));
        }
        for (letter, bytes) in [
            (b'u', b"1234567".as_slice()),
            (b'f', b""),
            (b'x', b"12345678"),
            (b't', b"\xff"),
            (b'l', b"{}"),
        ] {
            assert_eq!(value(letter, bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn trends_come_back() {
        let (item, hour) = (ItemId(7), 3600);
        for (letter, values) in [
            (b'f', TrendValues::Float { min: -1.5, avg: 1.0 / 3.0, max: f64::MAX }),
            (b'u', TrendValues::Unsigned { min: 0, avg: u64::MAX - 1, max: u64::MAX }),
        ] {
            let sent = Trend { item, hour, num: u32::MAX, values };
            let bytes = bytes_of(Row::Trend(&sent));
            assert_eq!(trend((item, hour), letter, &bytes), Some(sent));
            for (letter, bytes) in [(letter, &bytes[1..]), (b't', &bytes[..]), (letter, &[])] {
                assert_eq!(trend((item, hour), letter, bytes), None);
            }
        }
    }
}
