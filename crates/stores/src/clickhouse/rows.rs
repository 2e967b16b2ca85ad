//! RowBinary: numbers in little endian, texts with their length in front as LEB128.

use model::{CompactString, ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};

use super::odd_answer;
use history::Reduced;
use history::{Class, Error, Kind};

/// Appends a row of the table of its kind.
pub(crate) fn put_sample(out: &mut Vec<u8>, sample: &Sample, class: Class) {
    out.extend_from_slice(&sample.item.0.to_le_bytes());
    out.extend_from_slice(&sample.at.clock.to_le_bytes());
    out.extend_from_slice(&sample.at.ns.to_le_bytes());
    match &sample.value {
        SampleValue::Float(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
        SampleValue::Unsigned(value) => out.extend_from_slice(&value.to_le_bytes()),
        SampleValue::Text(text) => put_text(out, text),
        SampleValue::Log(log) => {
            let (text, meta) = log.as_ref();
            put_text(out, text);
            out.extend_from_slice(&meta.timestamp.to_le_bytes());
            put_text(out, &meta.source);
            out.extend_from_slice(&meta.severity.to_le_bytes());
            out.extend_from_slice(&meta.eventid.to_le_bytes());
        }
    }
    out.extend_from_slice(&class.0.to_le_bytes());
}

/// Appends a row of the table of its type.
pub(crate) fn put_trend(out: &mut Vec<u8>, trend: &Trend, class: Class) {
    out.extend_from_slice(&trend.item.0.to_le_bytes());
    out.extend_from_slice(&trend.hour.to_le_bytes());
    out.extend_from_slice(&trend.num.to_le_bytes());
    let figures = match trend.values {
        TrendValues::Float { min, avg, max } => [min, avg, max].map(f64::to_bits),
        TrendValues::Unsigned { min, avg, max } => [min, avg, max],
    };
    figures.iter().for_each(|figure| out.extend_from_slice(&figure.to_le_bytes()));
    out.extend_from_slice(&class.0.to_le_bytes());
}

/// Appends a text.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

/// Appends a text that may be any bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, text: &[u8]) {
    let mut len = text.len();
    while len >= 0x80 {
        out.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
    out.extend_from_slice(text);
}

/// Columns of a table of values as [`samples`] wants them.
pub(crate) fn value_columns(kind: Kind) -> &'static str {
    match kind {
        Kind::Log => "itemid,toUInt32(clock),ns,value,timestamp,source,severity,eventid",
        _ => "itemid,toUInt32(clock),ns,value",
    }
}

/// Columns of a table of trends as [`trends`] wants them.
pub(crate) const TREND_COLUMNS: &str = "itemid,toUInt32(clock),num,min,avg,max";

/// Figures of a bucket as [`buckets`] wants them, of a column of this kind. A sum of whole numbers
/// would wrap: it is that of the upper and of the lower halves.
pub(crate) fn bucket_figures(kind: Kind, number: &str) -> String {
    if kind == Kind::Float {
        let is = format!("NOT isNaN({number})");
        return format!(
            "toUInt64(count()),toUInt64(countIf({is})),minIf({number}, {is}),\
             maxIf({number}, {is}),sumIf({number}, {is})"
        );
    }
    format!(
        "toUInt64(count()),min({number}),max({number}),sum(intDiv({number}, 4294967296)),\
         sum(modulo({number}, 4294967296))"
    )
}

/// Reads buckets of one kind.
pub(crate) fn buckets(bytes: &[u8], kind: Kind) -> Result<Vec<Reduced>, Error> {
    let mut rows = Rows(bytes);
    let mut buckets = Vec::new();
    while !rows.0.is_empty() {
        buckets.push(rows.bucket(kind).ok_or_else(|| odd_answer("a bucket"))?);
    }
    Ok(buckets)
}

/// Reads rows of one kind.
pub(crate) fn samples(bytes: &[u8], kind: Kind) -> Result<Vec<Sample>, Error> {
    let mut rows = Rows(bytes);
    let mut samples = Vec::new();
    while !rows.0.is_empty() {
        let sample = rows.sample(kind).ok_or_else(|| odd_answer("a row of values"))?;
        samples.push(sample);
    }
    Ok(samples)
}

/// Reads trends of one type.
pub(crate) fn trends(bytes: &[u8], unsigned: bool) -> Result<Vec<Trend>, Error> {
    let mut rows = Rows(bytes);
    let mut trends = Vec::new();
    while !rows.0.is_empty() {
        let trend = rows.trend(unsigned).ok_or_else(|| odd_answer("a row of trends"))?;
        trends.push(trend);
    }
    Ok(trends)
}

/// What is left of a response.
pub(crate) struct Rows<'a>(pub(crate) &'a [u8]);

impl<'a> Rows<'a> {
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.0.split_off(..4)?.try_into().ok().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.0.split_off(..8)?.try_into().ok().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<CompactString> {
        // Another tool may have written what is not UTF-8.
        self.bytes().map(CompactString::from_utf8_lossy)
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let mut len = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = *self.0.split_off_first()?;
            len |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return self.0.split_off(..len);
            }
        }
        None
    }

    fn sample(&mut self, kind: Kind) -> Option<Sample> {
        let item = ItemId(self.u64()?);
        let at = Timestamp { clock: self.u32()?, ns: self.u32()? };
        let value = match kind {
            Kind::Float => SampleValue::Float(f64::from_bits(self.u64()?)),
            Kind::Text => SampleValue::Text(self.text()?),
            Kind::Log => {
                let text = self.text()?;
                let (timestamp, source) = (self.u32()?, self.text()?);
                let (severity, eventid) = (self.u32()?, self.u32()?);
                SampleValue::Log(Box::new((text, LogMeta { timestamp, source, severity, eventid })))
            }
            _ => SampleValue::Unsigned(self.u64()?),
        };
        Some(Sample { item, at, value })
    }

    fn bucket(&mut self, kind: Kind) -> Option<Reduced> {
        let (clock, count, next) = (self.u32()?, self.u64()?, self.u64()?);
        let figures = [self.u64()?, self.u64()?, self.u64()?];
        if kind == Kind::Float {
            return Some(Reduced::floats(clock, count, next, figures.map(f64::from_bits)));
        }
        let [max, upper, lower] = figures;
        let sum = (u128::from(upper) << 32) + u128::from(lower);
        Some(Reduced::whole(clock, count, [next, max], sum))
    }

    fn trend(&mut self, unsigned: bool) -> Option<Trend> {
        let item = ItemId(self.u64()?);
        let (hour, num) = (self.u32()?, self.u32()?);
        let figures = [self.u64()?, self.u64()?, self.u64()?];
        let values = if unsigned {
            let [min, avg, max] = figures;
            TrendValues::Unsigned { min, avg, max }
        } else {
            let [min, avg, max] = figures.map(f64::from_bits);
            TrendValues::Float { min, avg, max }
        };
        Some(Trend { item, hour, num, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a server sends back of a row: no class behind.
    fn sent(row: &[u8]) -> &[u8] {
        &row[..row.len() - 2]
    }

    #[test]
    fn rows_come_back_and_cut_ones_are_refused() {
        let item = ItemId(u64::MAX);
        let meta = LogMeta { timestamp: 5, source: "kernel".into(), severity: 3, eventid: 77 };
        for (kind, value) in [
            (Kind::Float, SampleValue::Float(-0.0)),
            (Kind::Unsigned, SampleValue::Unsigned(u64::MAX)),
            (Kind::Text, SampleValue::Text("".into())),
            (Kind::Text, SampleValue::Text("x".repeat(128).into())),
            (Kind::Text, SampleValue::Text("\u{1f980}\0'".repeat(70_000).into())),
            (Kind::Log, SampleValue::Log(Box::new(("line".into(), meta)))),
        ] {
            let sample = Sample { item, at: Timestamp { clock: u32::MAX, ns: 999_999_999 }, value };
            let mut row = Vec::new();
            put_sample(&mut row, &sample, Class(31));
            let two = [sent(&row), sent(&row)].concat();
            assert_eq!(samples(&two, kind).unwrap(), [sample.clone(), sample]);
            for len in [1, 7, sent(&row).len() - 1] {
                assert!(samples(&sent(&row)[..len], kind).is_err(), "{kind:?} {len}");
            }
        }
        for (unsigned, values) in [
            (true, TrendValues::Unsigned { min: 0, avg: 1, max: u64::MAX }),
            (false, TrendValues::Float { min: -1.5, avg: 0.1, max: f64::MAX }),
        ] {
            let trend = Trend { item, hour: 3600, num: 9, values };
            let mut row = Vec::new();
            put_trend(&mut row, &trend, Class(365));
            assert_eq!(trends(sent(&row), unsigned).unwrap(), [trend]);
            assert!(trends(&sent(&row)[1..], unsigned).is_err());
        }
    }

    #[test]
    fn a_text_that_is_no_utf_8_is_shown_as_far_as_it_is() {
        let value = SampleValue::Text("a?b".into());
        let sample = Sample { item: ItemId(1), at: Timestamp { clock: 1, ns: 1 }, value };
        let mut row = Vec::new();
        put_sample(&mut row, &sample, Class(31));
        row.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
        let read = samples(sent(&row), Kind::Text).unwrap();
        assert_eq!(read[0].value, SampleValue::Text("a\u{fffd}b".into()));
    }

    #[test]
    fn buckets_are_read_and_odd_ones_refused() {
        let read = |figures: [u64; 5], kind| {
            let mut row = 7200_u32.to_le_bytes().to_vec();
            figures.iter().for_each(|figure| row.extend_from_slice(&figure.to_le_bytes()));
            assert!(buckets(&row[1..], kind).is_err());
            buckets(&[row.clone(), row].concat(), kind).unwrap()
        };
        let whole = Reduced::whole(7200, 3, [1, u64::MAX], (5 << 32) + 7);
        assert_eq!(read([3, 1, u64::MAX, 5, 7], Kind::Unsigned), [whole, whole]);
        let figures = [-1.5, 2.0, 0.5];
        let [min, max, sum] = figures.map(f64::to_bits);
        for num in [2, 3] {
            let floats = Reduced::floats(7200, 3, num, figures);
            assert_eq!(read([3, num, min, max, sum], Kind::Float), [floats, floats]);
        }
    }
}
