//! Rows as statements write them, and back.
//!
//! A `DOUBLE` holds neither infinities nor NaN: of such a value `value` is NULL, and `bits` has
//! its 64 bits. So have trends with such a figure: their `bits` are those of all three.

use std::fmt::Write;

use model::{CompactString, ItemId, LogMeta, Sample, SampleValue, Trend, TrendValues};
use mysql::Row as Found;
use mysql::prelude::FromValue;

use crate::sql::rows::{Row, timestamp};
use crate::sql::tables::Set;
use history::Error;
use history::{HUGE, Reduced};

/// Appends to a `String`, which does not fail.
macro_rules! put {
    ($sql:expr, $($arg:tt)*) => {{ let _ = write!($sql, $($arg)*); }};
}

/// Bytes of a statement; more makes it no cheaper.
const STATEMENT_BYTES: usize = 512 << 10;

/// Columns behind the key, in the order in which they are written and read.
pub(crate) fn columns(set: Set) -> &'static [&'static str] {
    match set {
        Set::Float => &["value", "bits"],
        Set::Unsigned | Set::Text => &["value"],
        Set::Log => &["value", "logtime", "source", "severity", "eventid"],
        Set::FloatTrends => &["num", "min", "avg", "max", "bits"],
        Set::UnsignedTrends => &["num", "min", "avg", "max"],
    }
}

/// What has rows of its own in a table.
pub(crate) trait Put {
    /// Appends the values behind the key, each with a comma in front.
    fn put(&self, sql: &mut String);
}

/// Statements that write rows of one table, none longer than the server takes.
pub(crate) fn statements<T: Put>(rows: &[Row<T>], packet_max: usize) -> Result<Vec<String>, Error> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let table = first.part.table;
    let names = columns(table.set).join(",");
    let head = format!("REPLACE INTO {} (itemid,moment,{names}) VALUES ", table.name());
    let mut statements: Vec<String> = Vec::new();
    let mut one = String::new();
    for row in rows {
        one.clear();
        put!(one, "({},{}", row.item, row.moment);
        row.of.put(&mut one);
        one.push(')');
        if head.len() + one.len() + 64 > packet_max {
            return Err(Error::row(format!(
                "a row of {} bytes is more than MySQL takes: raise max_allowed_packet (it is \
                 {packet_max})",
                one.len()
            )));
        }
        let limit = STATEMENT_BYTES.min(packet_max.saturating_sub(64));
        match statements.last_mut().filter(|last| last.len() + 1 + one.len() <= limit) {
            Some(last) => {
                last.push(',');
                last.push_str(&one);
            }
            None => statements.push(format!("{head}{one}")),
        }
    }
    Ok(statements)
}

impl Put for &Sample {
    fn put(&self, sql: &mut String) {
        match &self.value {
            SampleValue::Float(value) if value.is_finite() => put!(sql, ",{value:e},NULL"),
            SampleValue::Float(value) => put!(sql, ",NULL,{}", value.to_bits()),
            SampleValue::Unsigned(value) => put!(sql, ",{value}"),
            SampleValue::Text(text) => put_text(sql, text),
            SampleValue::Log(log) => {
                let (text, meta) = log.as_ref();
                put_text(sql, text);
                put!(sql, ",{}", meta.timestamp);
                put_text(sql, &meta.source);
                put!(sql, ",{},{}", meta.severity, meta.eventid);
            }
        }
    }
}

impl Put for &Trend {
    fn put(&self, sql: &mut String) {
        put!(sql, ",{}", self.num);
        match self.values {
            TrendValues::Float { min, avg, max } => {
                let figures = [min, avg, max];
                for figure in figures {
                    if figure.is_finite() {
                        put!(sql, ",{figure:e}");
                    } else {
                        sql.push_str(",NULL");
                    }
                }
                if figures.iter().all(|figure| figure.is_finite()) {
                    sql.push_str(",NULL");
                } else {
                    sql.push_str(",x'");
                    figures.iter().for_each(|figure| put!(sql, "{:016x}", figure.to_bits()));
                    sql.push('\'');
                }
            }
            TrendValues::Unsigned { min, avg, max } => put!(sql, ",{min},{avg},{max}"),
        }
    }
}

fn put_text(sql: &mut String, text: &str) {
    sql.push_str(",'");
    for c in text.chars() {
        match c {
            '\0' => sql.push_str("\\0"),
            '\'' | '\\' => sql.extend(['\\', c]),
            _ => sql.push(c),
        }
    }
    sql.push('\'');
}

/// A sample from item, moment and columns.
pub(crate) fn sample(row: &Found, set: Set) -> Option<Sample> {
    let value = match set {
        Set::Float => {
            let bits = || Some(f64::from_bits(get::<Option<u64>>(row, 3)??));
            SampleValue::Float(get::<Option<f64>>(row, 2)?.or_else(bits)?)
        }
        Set::Text => SampleValue::Text(text(row, 2)?),
        Set::Log => {
            let meta = LogMeta {
                timestamp: get(row, 3)?,
                source: text(row, 4)?,
                severity: get(row, 5)?,
                eventid: get(row, 6)?,
            };
            SampleValue::Log(Box::new((text(row, 2)?, meta)))
        }
        _ => SampleValue::Unsigned(get(row, 2)?),
    };
    Some(Sample { item: ItemId(get(row, 0)?), at: timestamp(get(row, 1)?)?, value })
}

/// A trend from item, moment and columns.
pub(crate) fn trend(row: &Found, set: Set) -> Option<Trend> {
    let values = if set == Set::FloatTrends {
        let bits: Option<Vec<u8>> = get(row, 6)?;
        let figure = |index: usize| match &bits {
            Some(bits) => {
                let bytes = bits.get(index * 8..index * 8 + 8)?.try_into().ok()?;
                Some(f64::from_bits(u64::from_be_bytes(bytes)))
            }
            None => get(row, index + 3),
        };
        TrendValues::Float { min: figure(0)?, avg: figure(1)?, max: figure(2)? }
    } else {
        TrendValues::Unsigned { min: get(row, 3)?, avg: get(row, 4)?, max: get(row, 5)? }
    };
    let hour = timestamp(get(row, 1)?)?.clock;
    Some(Trend { item: ItemId(get(row, 0)?), hour, num: get(row, 2)?, values })
}

/// Figures of a bucket. A sum of whole numbers is exact, and more than a column of 64 bits holds;
/// one of floats that overflows is an error here.
pub(crate) fn figures(set: Set) -> String {
    match set {
        Set::Float => format!(
            "COUNT(*), COUNT(value), MIN(value), MAX(value), \
             SUM(CASE WHEN ABS(value) < {HUGE:e} THEN value END)"
        ),
        _ => "COUNT(*), MIN(value), MAX(value), CAST(SUM(value) AS CHAR)".to_owned(),
    }
}

/// A bucket from its first moment and figures.
pub(crate) fn bucket(row: &Found, set: Set) -> Option<Reduced> {
    let (clock, all) = (timestamp(get(row, 0)?)?.clock, get(row, 1)?);
    if set == Set::Float {
        // No figures of no numbers.
        let figure = |index| Some(get::<Option<f64>>(row, index)?.unwrap_or_default());
        let figures = [figure(3)?, figure(4)?, figure(5)?];
        return Some(Reduced::floats(clock, all, get(row, 2)?, figures));
    }
    let sum = get::<String>(row, 4)?.parse().ok()?;
    Some(Reduced::whole(clock, all, [get(row, 2)?, get(row, 3)?], sum))
}

fn get<T: FromValue>(row: &Found, index: usize) -> Option<T> {
    row.get_opt(index)?.ok()
}

fn text(row: &Found, index: usize) -> Option<CompactString> {
    get::<String>(row, index).map(CompactString::from)
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;
    use crate::sql;
    use history::Class;

    fn written(values: &[SampleValue], packet_max: usize) -> Result<Vec<String>, Error> {
        let sample = |(clock, value): (u32, &SampleValue)| Sample {
            item: ItemId(7),
            at: Timestamp { clock, ns: 5 },
            value: value.clone(),
        };
        let samples: Vec<Sample> = (0..).zip(values).map(sample).collect();
        let rows = sql::rows::samples(&samples, &Class(31))?;
        statements(&rows, packet_max)
    }

    #[test]
    fn statements_say_what_is_meant() {
        let meta = LogMeta { timestamp: 5, source: "s'".into(), severity: 3, eventid: 77 };
        for (value, expected) in [
            (
                SampleValue::Float(-0.0),
                "_float_31 (itemid,moment,value,bits) VALUES (7,5,-0e0,NULL)",
            ),
            (SampleValue::Float(1e300), "(7,5,1e300,NULL)"),
            (SampleValue::Float(f64::INFINITY), "(7,5,NULL,9218868437227405312)"),
            (SampleValue::Unsigned(u64::MAX), "(7,5,18446744073709551615)"),
            (SampleValue::Text("it's \\ \0 \n é".into()), "(7,5,'it\\'s \\\\ \\0 \n é')"),
            (SampleValue::Log(Box::new(("".into(), meta))), "(7,5,'',5,'s\\'',3,77)"),
        ] {
            let got = written(std::slice::from_ref(&value), 1 << 20).unwrap();
            assert!(got.len() == 1 && got[0].ends_with(expected), "{got:?} {expected}");
        }
    }

    #[test]
    fn trends_keep_figures_that_are_no_numbers() {
        let written = |min: f64| {
            let values = TrendValues::Float { min, avg: 1.0, max: 2.5 };
            let trend = Trend { item: ItemId(7), hour: 0, num: 3, values };
            let rows = [trend];
            let rows = sql::rows::trends(&rows, &Class(31)).unwrap();
            statements(&rows, 1 << 20).unwrap().remove(0)
        };
        assert!(written(-1.5).ends_with(" VALUES (7,0,3,-1.5e0,1e0,2.5e0,NULL)"));
        let bits = "x'7ff80000000000003ff00000000000004004000000000000'";
        assert!(written(f64::NAN).ends_with(&format!("(7,0,3,NULL,1e0,2.5e0,{bits})")));
    }

    #[test]
    fn statements_are_as_long_as_the_server_takes_and_no_longer() {
        let many = vec![SampleValue::Text("x".repeat(100).into()); 50];
        for packet_max in [400, 1000, 1 << 20] {
            let got = written(&many, packet_max).unwrap();
            assert!(got.iter().all(|one| one.len() < packet_max), "{packet_max}");
            let rows: usize = got.iter().map(|one| one.matches("(7,").count()).sum();
            assert_eq!(rows, 50, "{packet_max}");
        }
        let error = written(&many, 150).unwrap_err();
        assert!(!error.retry && error.message.contains("max_allowed_packet"), "{error}");
    }
}
