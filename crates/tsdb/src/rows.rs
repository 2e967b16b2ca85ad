//! A batch of rows as columns: what the WAL holds and the head takes in.

use model::{CompactString, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};

use crate::column::{Cursor, put_section, put_u32};
use crate::error::{Damaged, Error};
use crate::kind::{Kind, TrendHour, at};

/// The largest text that one row may carry.
pub(crate) const TEXT_BYTES_MAX: usize = 16 << 20;

/// Number of the kind of rows that carry no value but say that all earlier rows of their item are
/// deleted. They are in the WAL only.
pub(crate) const CLEAR: u8 = 7;

/// Number of the kind of rows that carry no value but name an hour whose trend is to be written.
/// They are in the WAL only.
pub(crate) const LATE: u8 = 6;

/// Rows as columns. The bytes of texts follow each other in the order of the rows.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) item: Vec<u64>,
    pub(crate) kind: Vec<u8>,
    pub(crate) clock: Vec<u32>,
    pub(crate) ns: Vec<u32>,
    /// The value, or the number of bytes of a text.
    pub(crate) bits: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

/// The value of a row as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Raw<'a> {
    /// A number's bits.
    Bits(u64),
    /// A text, or a log line with its metadata in front.
    Bytes(&'a [u8]),
}

/// Takes rows of many items that are read.
pub(crate) type ItemSink<'s> = dyn FnMut(u64, Kind, Timestamp, Raw<'_>) -> Result<(), Damaged> + 's;

/// Takes rows that are read.
pub(crate) type Sink<'s> = dyn FnMut(Kind, Timestamp, Raw<'_>) -> Result<(), Damaged> + 's;

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.item.len()
    }

    pub(crate) fn clear(&mut self) {
        self.item.clear();
        self.kind.clear();
        self.clock.clear();
        self.ns.clear();
        self.bits.clear();
        self.bytes.clear();
    }

    /// Deletes what the item has so far. The time is for those who read several logs.
    pub(crate) fn push_clear(&mut self, item: u64, now: Timestamp) {
        self.item.push(item);
        self.kind.push(CLEAR);
        self.clock.push(now.clock);
        self.ns.push(now.ns);
        self.bits.push(0);
    }

    /// Notes an hour whose trend is to be written.
    pub(crate) fn push_late(&mut self, hour: TrendHour) {
        self.item.push(hour.item.0);
        self.kind.push(LATE);
        self.clock.push(hour.hour);
        self.ns.push(0);
        self.bits.push(hour.unsigned.into());
    }

    /// Rows that are to be stored; the others only say something.
    pub(crate) fn stored(&self) -> usize {
        self.kind.iter().filter(|kind| !matches!(**kind, CLEAR | LATE)).count()
    }

    /// Items that are cleared here.
    pub(crate) fn cleared(&self) -> impl Iterator<Item = u64> {
        let rows = self.item.iter().zip(&self.kind);
        rows.filter(|&(_, &kind)| kind == CLEAR).map(|(&item, _)| item)
    }

    fn push(&mut self, item: u64, kind: Kind, at: Timestamp, bits: u64) {
        self.item.push(item);
        self.kind.push(kind.number());
        self.clock.push(at.clock);
        self.ns.push(at.ns);
        self.bits.push(bits);
    }

    pub(crate) fn push_sample(&mut self, sample: &Sample) -> Result<(), Error> {
        let before = self.bytes.len();
        let (kind, bits) = match &sample.value {
            SampleValue::Float(v) => (Kind::Float, v.to_bits()),
            SampleValue::Unsigned(v) => (Kind::Unsigned, *v),
            SampleValue::Text(text) => {
                self.bytes.extend_from_slice(text.as_bytes());
                (Kind::Text, 0)
            }
            SampleValue::Log(log) => {
                put_log(&mut self.bytes, &log.0, &log.1);
                (Kind::Log, 0)
            }
        };
        let bytes = self.bytes.len() - before;
        if bytes > TEXT_BYTES_MAX {
            self.bytes.truncate(before);
            return Err(Error::TooLarge { item: sample.item.0, bytes, limit: TEXT_BYTES_MAX });
        }
        let bits = if kind.is_bytes() { bytes as u64 } else { bits };
        self.push(sample.item.0, kind, sample.at, bits);
        Ok(())
    }

    /// A trend is four rows of series of their own.
    pub(crate) fn push_trend(&mut self, trend: &Trend) {
        let figures = match trend.values {
            TrendValues::Float { min, avg, max } => [
                (Kind::FloatMin, min.to_bits()),
                (Kind::FloatAvg, avg.to_bits()),
                (Kind::FloatMax, max.to_bits()),
                (Kind::FloatNum, trend.num.into()),
            ],
            TrendValues::Unsigned { min, avg, max } => [
                (Kind::UnsignedMin, min),
                (Kind::UnsignedAvg, avg),
                (Kind::UnsignedMax, max),
                (Kind::UnsignedNum, trend.num.into()),
            ],
        };
        for (kind, bits) in figures {
            self.push(trend.item.0, kind, at(trend.hour, 0), bits);
        }
    }
}

fn put_log(out: &mut Vec<u8>, text: &str, meta: &LogMeta) {
    put_u32(out, meta.timestamp);
    put_u32(out, meta.severity);
    put_u32(out, meta.eventid);
    put_section(out, meta.source.as_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn text(bytes: &[u8]) -> Result<CompactString, Damaged> {
    CompactString::from_utf8(bytes).map_err(|_| Damaged("a text is not UTF-8"))
}

/// What a stored row means.
pub(crate) fn value_of(kind: Kind, raw: Raw<'_>) -> Result<SampleValue, Damaged> {
    match raw {
        Raw::Bits(bits) if kind.is_float() => Ok(SampleValue::Float(f64::from_bits(bits))),
        Raw::Bits(bits) => Ok(SampleValue::Unsigned(bits)),
        Raw::Bytes(bytes) if kind == Kind::Text => Ok(SampleValue::Text(text(bytes)?)),
        Raw::Bytes(bytes) => {
            let mut cursor = Cursor::new(bytes);
            let (timestamp, severity, eventid) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
            let source = text(cursor.section()?)?;
            let meta = LogMeta { timestamp, source, severity, eventid };
            Ok(SampleValue::Log(Box::new((text(cursor.rest())?, meta))))
        }
    }
}

/// Rows of one series.
#[derive(Debug, Default, Clone)]
pub(crate) struct Run {
    pub(crate) clock: Vec<u32>,
    pub(crate) ns: Vec<u32>,
    /// The value, or the number of bytes of a text.
    pub(crate) bits: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
}

impl Run {
    pub(crate) fn len(&self) -> usize {
        self.clock.len()
    }

    pub(crate) fn clear(&mut self) {
        self.clock.clear();
        self.ns.clear();
        self.bits.clear();
        self.bytes.clear();
    }

    pub(crate) fn push(&mut self, at: Timestamp, raw: Raw<'_>) {
        self.clock.push(at.clock);
        self.ns.push(at.ns);
        match raw {
            Raw::Bits(bits) => self.bits.push(bits),
            Raw::Bytes(bytes) => {
                self.bits.push(bytes.len() as u64);
                self.bytes.extend_from_slice(bytes);
            }
        }
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.clock.extend_from_slice(&other.clock);
        self.ns.extend_from_slice(&other.ns);
        self.bits.extend_from_slice(&other.bits);
        self.bytes.extend_from_slice(&other.bytes);
    }

    fn key(&self, row: usize) -> (u32, u32) {
        (self.clock[row], self.ns[row])
    }

    /// Sorts by time; of rows with the same time the last one stays.
    pub(crate) fn settle(&mut self, is_bytes: bool) {
        if (1..self.len()).all(|row| self.key(row - 1) < self.key(row)) {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&row| self.key(row));
        let mut keep = Vec::with_capacity(order.len());
        for (place, &row) in order.iter().enumerate() {
            if order.get(place + 1).is_none_or(|&next| self.key(next) != self.key(row)) {
                keep.push(row);
            }
        }
        let mut settled = Self::default();
        let starts = if is_bytes { self.starts() } else { Vec::new() };
        for row in keep {
            let raw = match starts.get(row) {
                Some(&start) => Raw::Bytes(&self.bytes[start..starts[row + 1]]),
                None => Raw::Bits(self.bits[row]),
            };
            settled.push(at(self.clock[row], self.ns[row]), raw);
        }
        *self = settled;
        debug_assert!(
            (1..self.len()).all(|row| self.key(row - 1) < self.key(row)),
            "BUG: settled rows are not in strict order of time"
        );
    }

    /// Where the bytes of each row start, and the end of the last.
    fn starts(&self) -> Vec<usize> {
        let mut end = 0;
        let ends = self.bits.iter().map(|&len| {
            end += usize::try_from(len).unwrap_or(usize::MAX);
            end
        });
        std::iter::once(0).chain(ends).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_settles_with_the_last_of_equals() {
        let mut run = Run::default();
        for (clock, text) in [(5, "a"), (3, "bb"), (5, "ccc"), (4, ""), (3, "dd"), (6, "e")] {
            run.push(at(clock, 0), Raw::Bytes(text.as_bytes()));
        }
        run.settle(true);
        assert_eq!(run.clock, [3, 4, 5, 6]);
        assert_eq!((run.bits, run.bytes), (vec![2, 0, 3, 1], b"ddccce".to_vec()));
    }

    #[test]
    fn logs_come_back_whole() {
        let meta = LogMeta { timestamp: 7, source: "src".into(), severity: 4, eventid: 9 };
        let mut bytes = Vec::new();
        put_log(&mut bytes, "a line", &meta);
        let value = value_of(Kind::Log, Raw::Bytes(&bytes)).unwrap();
        assert_eq!(value, SampleValue::Log(Box::new(("a line".into(), meta))));
        for len in 0..15 {
            assert!(value_of(Kind::Log, Raw::Bytes(&bytes[..len])).is_err());
        }
        assert!(value_of(Kind::Text, Raw::Bytes(&[0xff])).is_err());
    }
}
