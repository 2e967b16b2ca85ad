//! Rows as documents, and back.

use std::borrow::Cow;
use std::io::Write as _;

use model::{ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::indices::Index;
use history::{Class, Kind};

/// What a document calls a kind.
pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Log => "log",
        kind if kind.is_float() => "float",
        _ => "uint",
    }
}

/// Appends the two lines that store a value, and tells where: its id makes the same moment the same
/// document.
pub(crate) fn put_sample(out: &mut Vec<u8>, prefix: &str, sample: &Sample, class: Class) -> Index {
    let kind = name(Kind::of_value(&sample.value));
    let (item, Timestamp { clock, ns }) = (sample.item.0.cast_signed(), sample.at);
    let index = Index::of(false, class, clock);
    put(out, format_args!("{{\"index\":{{\"_index\":\"{}\",", index.name(prefix)));
    put(out, format_args!("\"_id\":\"{kind}-{item}-{clock}-{ns}\"}}}}\n{{\"itemid\":{item},"));
    put(out, format_args!("\"kind\":\"{kind}\",\"clock\":{clock},\"ns\":{ns},"));
    match &sample.value {
        SampleValue::Float(value) if value.is_finite() => {
            put(out, format_args!("\"value\":{value:?}"));
        }
        SampleValue::Float(value) => put(out, format_args!("\"exact\":[{}]", value.to_bits())),
        SampleValue::Unsigned(value) => put(out, format_args!("\"value\":{value}")),
        SampleValue::Text(text) => put_text(out, "text", text),
        SampleValue::Log(log) => {
            let (text, meta) = log.as_ref();
            put_text(out, "text", text);
            out.push(b',');
            put_text(out, "source", &meta.source);
            let LogMeta { timestamp, severity, eventid, .. } = meta;
            put(out, format_args!(",\"timestamp\":{timestamp},"));
            put(out, format_args!("\"severity\":{severity},\"eventid\":{eventid}"));
        }
    }
    out.extend_from_slice(b"}\n");
    index
}

/// The same for a trend.
pub(crate) fn put_trend(out: &mut Vec<u8>, prefix: &str, trend: &Trend, class: Class) -> Index {
    let kind = name(Kind::of_trend(trend));
    let (item, hour, num) = (trend.item.0.cast_signed(), trend.hour, trend.num);
    let index = Index::of(true, class, hour);
    put(out, format_args!("{{\"index\":{{\"_index\":\"{}\",", index.name(prefix)));
    put(out, format_args!("\"_id\":\"{kind}-{item}-{hour}\"}}}}\n{{\"itemid\":{item},"));
    put(out, format_args!("\"kind\":\"{kind}\",\"clock\":{hour},\"ns\":0,\"num\":{num},"));
    match trend.values {
        TrendValues::Float { min, avg, max } if [min, avg, max].iter().all(|v| v.is_finite()) => {
            put(out, format_args!("\"min\":{min:?},\"avg\":{avg:?},\"max\":{max:?}"));
        }
        TrendValues::Float { min, avg, max } => {
            put(out, format_args!("\"exact\":{:?}", [min, avg, max].map(f64::to_bits)));
        }
        TrendValues::Unsigned { min, avg, max } => {
            put(out, format_args!("\"min\":{min},\"avg\":{avg},\"max\":{max}"));
        }
    }
    out.extend_from_slice(b"}\n");
    index
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    drop(out.write_fmt(text));
}

fn put_text(out: &mut Vec<u8>, name: &str, text: &str) {
    put(out, format_args!("\"{name}\":"));
    // As above; and a text is always JSON.
    drop(serde_json::to_writer(out, text));
}

/// An answer to a search.
#[derive(Deserialize)]
pub(crate) struct Found<'a> {
    #[serde(borrow)]
    pub(crate) hits: Hits<'a>,
}

#[derive(Deserialize)]
pub(crate) struct Hits<'a> {
    #[serde(borrow)]
    pub(crate) hits: Vec<Hit<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct Hit<'a> {
    #[serde(borrow, rename = "_source")]
    pub(crate) row: Row<'a>,
    /// Where the next page begins.
    #[serde(borrow)]
    pub(crate) sort: &'a RawValue,
}

/// A document. Numbers stay text until it is known of which type they are.
#[derive(Deserialize)]
pub(crate) struct Row<'a> {
    itemid: i64,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    clock: u32,
    #[serde(default)]
    ns: u32,
    #[serde(default, borrow)]
    value: Option<&'a RawValue>,
    #[serde(default)]
    exact: Vec<u64>,
    #[serde(default, borrow)]
    text: Cow<'a, str>,
    #[serde(default)]
    timestamp: u32,
    #[serde(default, borrow)]
    source: Cow<'a, str>,
    #[serde(default)]
    severity: u32,
    #[serde(default)]
    eventid: u32,
    #[serde(default)]
    num: u32,
    #[serde(default, borrow)]
    min: Option<&'a RawValue>,
    #[serde(default, borrow)]
    avg: Option<&'a RawValue>,
    #[serde(default, borrow)]
    max: Option<&'a RawValue>,
}

impl Row<'_> {
    /// The value; `None` when it is none.
    pub(crate) fn sample(self) -> Option<Sample> {
        let item = ItemId(self.itemid.cast_unsigned());
        let at = Timestamp { clock: self.clock, ns: self.ns };
        let value = match self.kind.as_ref() {
            "float" => SampleValue::Float(float(self.value, self.exact.first())?),
            "uint" => SampleValue::Unsigned(self.value?.get().parse().ok()?),
            "text" => SampleValue::Text(self.text.into()),
            "log" => {
                let (timestamp, source) = (self.timestamp, self.source.into());
                let (severity, eventid) = (self.severity, self.eventid);
                let meta = LogMeta { timestamp, source, severity, eventid };
                SampleValue::Log(Box::new((self.text.into(), meta)))
            }
            _ => return None,
        };
        Some(Sample { item, at, value })
    }

    /// The trend; `None` when it is none.
    pub(crate) fn trend(self) -> Option<Trend> {
        let item = ItemId(self.itemid.cast_unsigned());
        let figures = [self.min, self.avg, self.max];
        let values = if self.kind == "float" {
            let mut exact = self.exact.iter();
            let [min, avg, max] = figures.map(|figure| float(figure, exact.next()));
            TrendValues::Float { min: min?, avg: avg?, max: max? }
        } else {
            let [min, avg, max] = figures.map(|figure| figure?.get().parse().ok());
            TrendValues::Unsigned { min: min?, avg: avg?, max: max? }
        };
        Some(Trend { item, hour: self.clock, num: self.num, values })
    }
}

/// A number, or the bits of what is none in JSON. Read by the standard library: exactly.
fn float(value: Option<&RawValue>, bits: Option<&u64>) -> Option<f64> {
    match value {
        Some(value) => value.get().parse().ok(),
        None => bits.copied().map(f64::from_bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document of two lines.
    fn document(lines: &[u8]) -> &[u8] {
        let lines: Vec<&[u8]> = lines.split(|byte| *byte == b'\n').collect();
        assert!(lines.len() == 3 && lines[2].is_empty(), "{lines:?}");
        serde_json::from_slice::<serde_json::Value>(lines[0]).unwrap();
        lines[1]
    }

    #[test]
    fn values_come_back_as_they_were() {
        let meta = LogMeta { timestamp: 5, source: "ker\"nel".into(), severity: 3, eventid: 77 };
        let numbers = [0.1, -0.0, f64::MAX, f64::MIN_POSITIVE, 1e21, f64::INFINITY, f64::NAN];
        let mut values: Vec<SampleValue> = numbers.into_iter().map(SampleValue::Float).collect();
        values.extend([
            SampleValue::Unsigned(u64::MAX),
            SampleValue::Text("".into()),
            SampleValue::Text("\u{1f980}\0\n\t\"'\\".into()),
            SampleValue::Log(Box::new(("line".into(), meta))),
        ]);
        for value in values {
            let at = Timestamp { clock: u32::MAX, ns: 999_999_999 };
            let sample = Sample { item: ItemId(7), at, value };
            let mut lines = Vec::new();
            put_sample(&mut lines, "x", &sample, Class(31));
            let row: Row<'_> = serde_json::from_slice(document(&lines)).unwrap();
            let read = row.sample().unwrap();
            assert_eq!(format!("{read:?}"), format!("{sample:?}"));
        }
    }

    #[test]
    fn trends_come_back_and_other_documents_do_not() {
        let nan = f64::NAN;
        for values in [
            TrendValues::Float { min: -1.5, avg: 1.0 / 3.0, max: f64::MAX },
            TrendValues::Float { min: f64::NEG_INFINITY, avg: nan, max: 1.0 },
            TrendValues::Unsigned { min: 0, avg: u64::MAX - 1, max: u64::MAX },
        ] {
            let trend = Trend { item: ItemId(7), hour: 3600, num: 9, values };
            let mut lines = Vec::new();
            put_trend(&mut lines, "x", &trend, Class(372));
            let row: Row<'_> = serde_json::from_slice(document(&lines)).unwrap();
            assert_eq!(format!("{:?}", row.trend().unwrap()), format!("{trend:?}"));
        }
        for odd in [
            r#"{"itemid":1,"kind":"float","clock":1}"#,
            r#"{"itemid":1,"kind":"uint","clock":1,"value":-1}"#,
            r#"{"itemid":1,"kind":"other","clock":1,"value":1}"#,
        ] {
            let row: Row<'_> = serde_json::from_str(odd).unwrap();
            assert!(row.sample().is_none(), "{odd}");
        }
    }
}
