//! The table that patches of other servers for ClickHouse use: read and written, never made.
//!
//! One table for all: `history(day Date, itemid UInt64, clock DateTime, ns UInt32, value Int64,
//! value_dbl Float64, value_str String)`. A row does not say its type, so that a reader has to ask
//! for one; it has no room for what a log line is more than its text, nor for numbers above
//! `i64::MAX`; trends are its own materialized views, if it has any. Rows that are sent again are
//! there twice, and reading passes over one of them.

use std::sync::Arc;

use model::{ItemId, Sample, SampleValue, Trend};

use super::super::remote::{Coarse, Remote, Wanted};
use super::questions::{Question, ask_buckets};
use super::{ITEMS_MAX, Shared, list, rows};
use history::Reduced;
use history::{Class, Day, DriverInfo, Durability, Error, Kind, Kinds, Span};

/// What stays embedded instead: of a log line it would keep the text alone, of trends nothing.
pub(crate) fn takes(kind: Kind) -> bool {
    kind != Kind::Log && !kind.is_trend()
}

const COLUMNS: &str = "day,itemid,clock,ns,value,value_dbl,value_str";

/// Finds out whether the table is there and is one.
pub(crate) fn prepare(shared: &Shared, table: &str) -> Result<(), Error> {
    let sql = format!("SELECT {COLUMNS} FROM {table} LIMIT 0 FORMAT TabSeparated");
    shared.client.ask(&sql).map(drop).map_err(|error| Error {
        message: format!("{table} is not a history table with the columns {COLUMNS}: {error}"),
        ..error
    })
}

/// The statement for rows of a kind. Of all kinds together numbers that are 0 count as whole.
fn select(table: &str, kind: Kind, question: &Question<'_>) -> String {
    let alone = Kind::VALUES.iter().filter(|&&kind| question.kinds.has(kind)).count() == 1;
    let (value, rows) = match (kind, alone) {
        (Kind::Float, true) => ("value_dbl AS number", "value = 0 AND value_str = ''"),
        (Kind::Float, false) => ("value_dbl AS number", "value_dbl != 0"),
        (Kind::Text, true) => ("value_str", "value = 0 AND value_dbl = 0"),
        (Kind::Text, false) => ("value_str", "value_str != ''"),
        (Kind::Log, true) => {
            ("value_str,toUInt32(0),'',toUInt32(0),toUInt32(0)", "value = 0 AND value_dbl = 0")
        }
        // Texts have been read as such.
        (Kind::Log, false) => ("value_str,toUInt32(0),'',toUInt32(0),toUInt32(0)", "0"),
        _ => ("toUInt64(value) AS number", "value_dbl = 0 AND value_str = ''"),
    };
    let (key, order) = (question.key(), question.order());
    format!(
        "SELECT itemid,toUInt32(clock) AS second,ns,{value} FROM {table} WHERE {key} AND {rows} \
         ORDER BY {order} LIMIT 1 BY itemid,clock,ns"
    )
}

/// Appends a row.
fn put(out: &mut Vec<u8>, sample: &Sample) -> Result<(), Error> {
    // No stamp of 32 bits is beyond a Date of 16.
    let day = u16::try_from(Day::of(sample.at.clock).0).unwrap_or(u16::MAX);
    let (mut whole, mut float, mut text) = (0_i64, 0.0_f64, "");
    match &sample.value {
        SampleValue::Float(value) => float = *value,
        SampleValue::Unsigned(value) => {
            whole = i64::try_from(*value).map_err(|_| {
                Error::row(format!("{value} is more than the legacy table can hold"))
            })?;
        }
        SampleValue::Text(value) => text = value,
        SampleValue::Log(log) => text = &log.0,
    }
    out.extend_from_slice(&day.to_le_bytes());
    out.extend_from_slice(&sample.item.0.to_le_bytes());
    out.extend_from_slice(&sample.at.clock.to_le_bytes());
    out.extend_from_slice(&sample.at.ns.to_le_bytes());
    out.extend_from_slice(&whole.to_le_bytes());
    out.extend_from_slice(&float.to_bits().to_le_bytes());
    rows::put_text(out, text);
    Ok(())
}

/// Such a table.
pub(crate) struct Legacy {
    pub(crate) shared: Arc<Shared>,
    pub(crate) table: String,
}

impl Legacy {
    fn ask(&self, question: &Question<'_>) -> Result<Vec<Sample>, Error> {
        self.shared.prepare()?;
        question.ask(&self.shared.client, |kind| select(&self.table, kind, question))
    }
}

impl Remote for Legacy {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable(
            "clickhouse-legacy",
            self.shared.client.location(),
            Durability::GroupCommit,
        )
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.shared.prepare()?;
        let mut body = Vec::with_capacity(samples.len() * 48);
        samples.iter().try_for_each(|sample| put(&mut body, sample))?;
        let sql = format!("INSERT INTO {} ({COLUMNS}) FORMAT RowBinary", self.table);
        self.shared.client.insert(&sql, &body)
    }

    /// It is given none.
    fn write_trends(&self, _: &[Trend]) -> Result<(), Error> {
        Ok(())
    }

    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        self.shared.prepare()?;
        items.chunks(ITEMS_MAX).try_for_each(|some| self.shared.delete(0, &self.table, &list(some)))
    }

    /// The owner of the table drops its months.
    fn drop_before(&self, _: Class, _: Day) -> Result<u64, Error> {
        Ok(0)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        Ok(Vec::new())
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        self.ask(&Question::from(wanted))
    }

    fn read_buckets(&self, wanted: &Coarse) -> Result<Option<Vec<Reduced>>, Error> {
        self.shared.prepare()?;
        let rows = select(&self.table, wanted.kind, &Question::from(wanted));
        let rows = format!("({rows})");
        ask_buckets(&self.shared.client, wanted, ["second", "number"], &rows).map(Some)
    }

    fn read_trends(&self, _: ItemId, _: Span) -> Result<Vec<Trend>, Error> {
        Ok(Vec::new())
    }

    fn read_of(&self, items: &[ItemId], kinds: Kinds, span: Span) -> Result<Vec<Sample>, Error> {
        self.ask(&Question::all(items, kinds, span))
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;
    use history::Fault;

    #[test]
    fn row_has_its_value_in_one_column() {
        let row = |value| {
            let at = Timestamp { clock: 86_400 * 3 + 5, ns: 9 };
            let mut out = Vec::new();
            put(&mut out, &Sample { item: ItemId(7), at, value }).map(|()| out)
        };
        let key = [&[3, 0, 7, 0, 0, 0, 0, 0, 0, 0][..], &259_205_u32.to_le_bytes(), &[9, 0, 0, 0]];
        let key = key.concat();
        let zero = [0; 8];
        let float = row(SampleValue::Float(1.5)).unwrap();
        assert_eq!(float, [&key[..], &zero, &1.5_f64.to_le_bytes(), &[0]].concat());
        let whole = row(SampleValue::Unsigned(i64::MAX as u64)).unwrap();
        assert_eq!(whole, [&key[..], &i64::MAX.to_le_bytes(), &zero, &[0]].concat());
        let text = row(SampleValue::Text("ab".into())).unwrap();
        assert_eq!(text, [&key[..], &zero, &zero, b"\x02ab"].concat());
        let error = row(SampleValue::Unsigned(1 << 63)).unwrap_err();
        assert!(error.fault == Fault::Us && !error.retry, "{error}");
    }
}
