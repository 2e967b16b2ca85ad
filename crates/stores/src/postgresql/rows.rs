//! Rows as `COPY … (FORMAT binary)` takes them, and back.
//!
//! What PostgreSQL has no type for: unsigned numbers are kept in a `bigint` of the same 64 bits
//! (views show them as they are meant); of a text with U+0000 `value` shows U+2400 instead, and
//! `raw` has the bytes.

use bytes::{BufMut, Bytes, BytesMut};
use model::{ItemId, LogMeta, Sample, SampleValue, Trend, TrendValues};
use tokio_postgres::Row as Found;
use tokio_postgres::types::FromSql;

use crate::sql::rows::{Row, timestamp};
use crate::sql::tables::Set;
use history::Error;
use history::{HUGE, Reduced};

const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Columns in the order in which they are written and read.
pub(crate) fn columns(set: Set) -> &'static [&'static str] {
    match set {
        Set::Float | Set::Unsigned => &["value"],
        Set::Text => &["value", "raw"],
        Set::Log => &["value", "raw", "logtime", "source", "severity", "eventid"],
        Set::FloatTrends | Set::UnsignedTrends => &["num", "min", "avg", "max"],
    }
}

/// What has rows of its own in a table.
pub(crate) trait Put {
    /// Appends the columns behind the key.
    fn put(&self, out: &mut BytesMut) -> Result<(), Error>;
}

/// The data of a `COPY` of these rows.
pub(crate) fn data<T: Put + Copy>(rows: &[Row<T>]) -> Result<Bytes, Error> {
    let mut out = BytesMut::with_capacity(HEADER.len() + rows.len() * 40 + 2);
    out.put_slice(HEADER);
    for row in rows {
        let fields = 2 + columns(row.part.table.set).len();
        out.put_i16(i16::try_from(fields).unwrap_or(0));
        put_i64(&mut out, row.item);
        put_i64(&mut out, row.moment);
        row.of.put(&mut out)?;
    }
    out.put_i16(-1);
    Ok(out.freeze())
}

impl Put for &Sample {
    fn put(&self, out: &mut BytesMut) -> Result<(), Error> {
        match &self.value {
            SampleValue::Float(value) => put_f64(out, *value),
            SampleValue::Unsigned(value) => put_i64(out, value.cast_signed()),
            SampleValue::Text(text) => put_text(out, text)?,
            SampleValue::Log(log) => {
                let (text, meta) = log.as_ref();
                put_text(out, text)?;
                put_i64(out, meta.timestamp.into());
                if meta.source.contains('\0') {
                    return Err(Error::row("the source of a log line has U+0000 in it"));
                }
                put_bytes(out, meta.source.as_bytes())?;
                put_i64(out, meta.severity.into());
                put_i64(out, meta.eventid.into());
            }
        }
        Ok(())
    }
}

impl Put for &Trend {
    fn put(&self, out: &mut BytesMut) -> Result<(), Error> {
        put_i64(out, self.num.into());
        match self.values {
            TrendValues::Float { min, avg, max } => {
                [min, avg, max].into_iter().for_each(|figure| put_f64(out, figure));
            }
            TrendValues::Unsigned { min, avg, max } => {
                [min, avg, max].into_iter().for_each(|figure| put_i64(out, figure.cast_signed()));
            }
        }
        Ok(())
    }
}

fn put_i64(out: &mut BytesMut, value: i64) {
    out.put_i32(8);
    out.put_i64(value);
}

fn put_f64(out: &mut BytesMut, value: f64) {
    out.put_i32(8);
    out.put_f64(value);
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) -> Result<(), Error> {
    let len = i32::try_from(bytes.len()).map_err(|_| Error::row("a text is beyond 2 GiB"))?;
    out.put_i32(len);
    out.put_slice(bytes);
    Ok(())
}

/// The text to be shown, and its bytes where these differ.
fn put_text(out: &mut BytesMut, text: &str) -> Result<(), Error> {
    if text.contains('\0') {
        put_bytes(out, text.replace('\0', "\u{2400}").as_bytes())?;
        return put_bytes(out, text.as_bytes());
    }
    put_bytes(out, text.as_bytes())?;
    out.put_i32(-1);
    Ok(())
}

/// A sample from item, moment and columns.
pub(crate) fn sample(row: &Found, set: Set) -> Option<Sample> {
    let value = match set {
        Set::Float => SampleValue::Float(get(row, 2)?),
        Set::Text => SampleValue::Text(text(row)?.into()),
        Set::Log => {
            let meta = LogMeta {
                timestamp: number(row, 4)?,
                source: get::<&str>(row, 5)?.into(),
                severity: number(row, 6)?,
                eventid: number(row, 7)?,
            };
            SampleValue::Log(Box::new((text(row)?.into(), meta)))
        }
        _ => SampleValue::Unsigned(get::<i64>(row, 2)?.cast_unsigned()),
    };
    Some(Sample { item: item(row)?, at: timestamp(get(row, 1)?)?, value })
}

/// A trend from item, moment and columns.
pub(crate) fn trend(row: &Found, set: Set) -> Option<Trend> {
    let hour = timestamp(get(row, 1)?)?.clock;
    let values = if set == Set::FloatTrends {
        TrendValues::Float { min: get(row, 3)?, avg: get(row, 4)?, max: get(row, 5)? }
    } else {
        let figure = |index| get::<i64>(row, index).map(i64::cast_unsigned);
        TrendValues::Unsigned { min: figure(3)?, avg: figure(4)?, max: figure(5)? }
    };
    Some(Trend { item: item(row)?, hour, num: number(row, 2)?, values })
}

/// Figures of a bucket. Whole numbers are ordered with their highest bit turned round; their sum
/// lacks 2^64 for each that looks negative. A sum of floats that overflows is an error here.
pub(crate) fn figures(set: Set) -> String {
    match set {
        Set::Float => format!(
            "count(*), count(*) FILTER (WHERE value <> 'NaN'), min(value), max(value), \
             sum(value) FILTER (WHERE abs(value) < {HUGE:e})"
        ),
        _ => {
            let turned = "value # '-9223372036854775808'::bigint";
            format!(
                "count(*), count(*) FILTER (WHERE value < 0), min({turned}), max({turned}), \
                 sum(value)::text"
            )
        }
    }
}

/// A bucket from its first moment and figures.
pub(crate) fn bucket(row: &Found, set: Set) -> Option<Reduced> {
    let count = |index| u64::try_from(get::<i64>(row, index)?).ok();
    let (clock, all, some) = (timestamp(get(row, 0)?)?.clock, count(1)?, count(2)?);
    if set == Set::Float {
        // No figures of no numbers.
        let figure = |index| Some(get::<Option<f64>>(row, index)?.unwrap_or_default());
        let figures = [figure(3)?, figure(4)?, figure(5)?];
        return Some(Reduced::floats(clock, all, some, figures));
    }
    let turned = |index| Some(get::<i64>(row, index)?.cast_unsigned() ^ 1 << 63);
    let sum: i128 = get::<&str>(row, 5)?.parse().ok()?;
    let sum = sum.checked_add(i128::from(some).checked_mul(1 << 64)?)?;
    let sum = u128::try_from(sum).ok()?;
    Some(Reduced::whole(clock, all, [turned(3)?, turned(4)?], sum))
}

fn item(row: &Found) -> Option<ItemId> {
    u64::try_from(get::<i64>(row, 0)?).ok().map(ItemId)
}

fn get<'a, T: FromSql<'a>>(row: &'a Found, index: usize) -> Option<T> {
    row.try_get(index).ok()
}

fn number(row: &Found, index: usize) -> Option<u32> {
    u32::try_from(get::<i64>(row, index)?).ok()
}

fn text(row: &Found) -> Option<&str> {
    match get::<Option<&[u8]>>(row, 3)? {
        Some(raw) => str::from_utf8(raw).ok(),
        None => get(row, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql;
    use history::Class;

    fn sent(value: SampleValue) -> Result<Vec<u8>, Error> {
        let at = model::Timestamp { clock: 1, ns: 2 };
        let sample = [Sample { item: ItemId(7), at, value }];
        let rows = sql::rows::samples(&sample, &Class(31))?;
        data(&rows).map(|data| data[HEADER.len()..data.len() - 2].to_vec())
    }

    #[test]
    fn rows_are_in_the_binary_format() {
        let key = b"\0\0\0\x08\0\0\0\0\0\0\0\x07\0\0\0\x08\0\0\0\0\x3b\x9a\xca\x02";
        for (value, fields, behind) in [
            (SampleValue::Float(-0.0), 3, &b"\0\0\0\x08\x80\0\0\0\0\0\0\0"[..]),
            (SampleValue::Unsigned(u64::MAX), 3, b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xff"),
            (SampleValue::Text("ab".into()), 4, b"\0\0\0\x02ab\xff\xff\xff\xff"),
            (SampleValue::Text("\0".into()), 4, b"\0\0\0\x03\xe2\x90\x80\0\0\0\x01\0"),
        ] {
            let expected = [&[0, fields][..], key, behind].concat();
            assert_eq!(sent(value.clone()).unwrap(), expected, "{value:?}");
        }
        let source = LogMeta { source: "a\0".into(), ..LogMeta::default() };
        let error = sent(SampleValue::Log(Box::new(("".into(), source)))).unwrap_err();
        assert!(!error.retry && error.message.contains("source"), "{error}");
    }
}
