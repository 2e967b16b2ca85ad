//! Rows as cells of CQL, and back.

use model::{CompactString, ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::value::{CqlValue, Row as Cells};

use super::super::place::Row;
use history::Kind;

/// What goes into one row of a table, in the order of its columns.
impl SerializeRow for Row<'_> {
    fn serialize(
        &self,
        _: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        let mut put = |bytes: &[u8]| {
            let written = writer.make_cell_writer().set_value(bytes);
            written.map(drop).map_err(SerializationError::new)
        };
        put(&self.item().0.to_be_bytes())?;
        put(&self.day().0.to_be_bytes())?;
        let (clock, ns) = self.moment();
        put(&u64::from(clock).to_be_bytes())?;
        match self {
            Self::Value(sample) => {
                put(&ns.to_be_bytes())?;
                match &sample.value {
                    SampleValue::Float(value) => put(&value.to_bits().to_be_bytes()),
                    SampleValue::Unsigned(value) => put(Varint::of(*value).bytes()),
                    SampleValue::Text(text) => put(text.as_bytes()),
                    SampleValue::Log(log) => {
                        let (text, meta) = log.as_ref();
                        put(text.as_bytes())?;
                        put(&u64::from(meta.timestamp).to_be_bytes())?;
                        put(meta.source.as_bytes())?;
                        put(&u64::from(meta.severity).to_be_bytes())?;
                        put(&u64::from(meta.eventid).to_be_bytes())
                    }
                }
            }
            Self::Trend(trend) => {
                put(&u64::from(trend.num).to_be_bytes())?;
                match trend.values {
                    TrendValues::Float { min, avg, max } => [min, avg, max]
                        .into_iter()
                        .try_for_each(|value| put(&value.to_bits().to_be_bytes())),
                    TrendValues::Unsigned { min, avg, max } => [min, avg, max]
                        .into_iter()
                        .try_for_each(|value| put(Varint::of(value).bytes())),
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// A whole number in as few bytes as hold it and a sign: 64 bits without sign fit no `bigint`.
struct Varint([u8; 9]);

impl Varint {
    fn of(value: u64) -> Self {
        let mut bytes = [0; 9];
        bytes[1..].copy_from_slice(&value.to_be_bytes());
        Self(bytes)
    }

    fn bytes(&self) -> &[u8] {
        let needed = |at: &usize| self.0[*at] != 0 || self.0[*at + 1] >= 0x80;
        let first = (0..8).find(needed).unwrap_or(8);
        &self.0[first..]
    }

    /// None of a negative or larger number.
    fn read(bytes: &[u8]) -> Option<u64> {
        if *bytes.first()? >= 0x80 {
            return None;
        }
        let digits = bytes.iter().position(|&byte| byte != 0).map_or(&[][..], |at| &bytes[at..]);
        let mut value = [0; 8];
        let from = 8_usize.checked_sub(digits.len())?;
        value[from..].copy_from_slice(digits);
        Some(u64::from_be_bytes(value))
    }
}

/// Columns of a table as [`sample`] or [`trend`] want them.
pub(crate) fn columns(kind: Kind) -> &'static str {
    match kind {
        Kind::Log => "clock, ns, value, timestamp, source, severity, eventid",
        kind if kind.is_trend() => "clock, num, min, avg, max",
        _ => "clock, ns, value",
    }
}

/// Reads a value of one item; `None` when the cells are something else.
pub(crate) fn sample(item: ItemId, kind: Kind, cells: Cells) -> Option<Sample> {
    let mut cells = Reading(cells.columns.into_iter());
    let at = Timestamp { clock: cells.bigint()?, ns: cells.int()? };
    let value = match kind {
        Kind::Float => SampleValue::Float(cells.double()?),
        Kind::Unsigned => SampleValue::Unsigned(cells.varint()?),
        Kind::Text => SampleValue::Text(cells.text()?),
        Kind::Log => {
            let (text, timestamp, source) = (cells.text()?, cells.bigint()?, cells.text()?);
            let (severity, eventid) = (cells.bigint()?, cells.bigint()?);
            SampleValue::Log(Box::new((text, LogMeta { timestamp, source, severity, eventid })))
        }
        _ => return None,
    };
    Some(Sample { item, at, value })
}

/// Reads a trend of one item; `None` when the cells are something else.
pub(crate) fn trend(item: ItemId, kind: Kind, cells: Cells) -> Option<Trend> {
    let mut cells = Reading(cells.columns.into_iter());
    let (hour, num) = (cells.bigint()?, cells.bigint()?);
    let values = if kind == Kind::UnsignedAvg {
        let (min, avg, max) = (cells.varint()?, cells.varint()?, cells.varint()?);
        TrendValues::Unsigned { min, avg, max }
    } else {
        let (min, avg, max) = (cells.double()?, cells.double()?, cells.double()?);
        TrendValues::Float { min, avg, max }
    };
    Some(Trend { item, hour, num, values })
}

struct Reading(std::vec::IntoIter<Option<CqlValue>>);

impl Reading {
    /// A `bigint` that holds 32 bits without sign.
    fn bigint(&mut self) -> Option<u32> {
        match self.0.next()?? {
            CqlValue::BigInt(value) => value.try_into().ok(),
            _ => None,
        }
    }

    fn int(&mut self) -> Option<u32> {
        match self.0.next()?? {
            CqlValue::Int(value) => value.try_into().ok(),
            _ => None,
        }
    }

    fn double(&mut self) -> Option<f64> {
        match self.0.next()?? {
            CqlValue::Double(value) => Some(value),
            _ => None,
        }
    }

    fn varint(&mut self) -> Option<u64> {
        match self.0.next()?? {
            CqlValue::Varint(value) => Varint::read(value.as_signed_bytes_be_slice()),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<CompactString> {
        match self.0.next()?? {
            CqlValue::Text(text) | CqlValue::Ascii(text) => Some(text.into()),
            CqlValue::Empty => Some(CompactString::default()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use scylla::value::CqlVarint;

    use super::*;

    #[test]
    fn whole_numbers_are_as_long_as_they_have_to_be() {
        for (value, bytes) in [
            (0, &[0][..]),
            (127, &[127]),
            (128, &[0, 128]),
            (256, &[1, 0]),
            (0x8000, &[0, 0x80, 0]),
            (u64::MAX >> 1, &[127, 255, 255, 255, 255, 255, 255, 255]),
            (u64::MAX, &[0, 255, 255, 255, 255, 255, 255, 255, 255]),
        ] {
            assert_eq!(Varint::of(value).bytes(), bytes);
            assert_eq!(Varint::read(bytes), Some(value));
        }
        assert_eq!(Varint::read(&[0, 0, 7]), Some(7));
        for odd in [&[][..], &[255], &[1, 0, 0, 0, 0, 0, 0, 0, 0]] {
            assert_eq!(Varint::read(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn cells_that_are_no_row_are_refused() {
        let clock = || Some(CqlValue::BigInt(i64::from(u32::MAX)));
        let row = |columns| Cells { columns };
        let whole = CqlValue::Varint(CqlVarint::from_signed_bytes_be(vec![7]));
        let at = Timestamp { clock: u32::MAX, ns: 999_999_999 };
        let good = row(vec![clock(), Some(CqlValue::Int(999_999_999)), Some(whole.clone())]);
        let read = sample(ItemId(1), Kind::Unsigned, good).unwrap();
        assert_eq!(read, Sample { item: ItemId(1), at, value: SampleValue::Unsigned(7) });
        for columns in [
            vec![],
            vec![clock(), Some(CqlValue::Int(1))],
            vec![clock(), Some(CqlValue::Int(1)), None],
            vec![clock(), Some(CqlValue::Int(-1)), Some(whole.clone())],
            vec![Some(CqlValue::BigInt(-1)), Some(CqlValue::Int(1)), Some(whole)],
            vec![clock(), Some(CqlValue::Int(1)), Some(CqlValue::Double(1.0))],
        ] {
            assert_eq!(sample(ItemId(1), Kind::Unsigned, row(columns.clone())), None);
            assert_eq!(trend(ItemId(1), Kind::UnsignedAvg, row(columns)), None);
        }
    }
}
