//! Rows as cells, and back.
//!
//! A row of HBase has what one item got within a day (of trends: within 31 days). Its key is made
//! of text, so that it can be part of an address and be read by people: `c7-50001-20412` is a
//! spread of the item's number, the item, and the first day since 1970. A value is a cell: its
//! qualifier `43200000000007u` is second of the day, nanosecond and kind; that of a trend
//! `0043200u` second since the first day and kind.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{DAY_S, ItemId, Sample, Timestamp, Trend};
use serde::Deserialize;

use super::super::bytes;
use super::super::place::Row;
use history::{Day, Error};

/// Digits of seconds and nanoseconds.
const DIGITS: (usize, usize) = (5, 9);
const TREND_DIGITS: usize = 7;

/// The beginning of the keys of an item's rows. Items that are made together have numbers that
/// follow each other: two digits of a hash in front spread them over the regions.
pub(crate) fn prefix(item: ItemId) -> String {
    let spread = item.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    format!("{spread:02x}-{}-", item.0)
}

/// The key of a row.
pub(crate) fn key(item: ItemId, day: Day) -> String {
    format!("{}{:05}", prefix(item), day.0)
}

/// The day of a key.
pub(crate) fn day(key: &str) -> Option<Day> {
    key.rsplit_once('-')?.1.parse().ok().map(Day)
}

/// The part of a row of values that has a span's seconds; `None` = all of it.
pub(crate) fn filter(day: Day, from: u32, till: u32) -> Option<String> {
    let begin = day.0.saturating_mul(DAY_S);
    let end = begin.saturating_add(DAY_S - 1);
    if from <= begin && till >= end {
        return None;
    }
    let (first, last) = (from.max(begin) - begin, till.min(end).saturating_sub(begin));
    // `~` is behind all that follows the second.
    Some(format!("ColumnRangeFilter('{first:05}',true,'{last:05}~',true)"))
}

/// Cells of rows as a `CellSet` of the gateway's protocol buffers: `rows = 1` with `key = 1` and
/// `values = 2`, each with `column = 2`, `timestamp = 3`, `data = 4`.
pub(crate) struct Cells {
    moment: u64,
    done: Vec<u8>,
    /// The row that is being made, and whether it has a cell.
    row: Vec<u8>,
    has_cell: bool,
    value: Vec<u8>,
}

impl Cells {
    /// All of them get this moment.
    pub(crate) fn new(moment: i64) -> Self {
        let moment = moment.cast_unsigned();
        Self { moment, done: Vec::new(), row: Vec::new(), has_cell: false, value: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.done.len() + self.row.len()
    }

    /// What comes now belongs to this row.
    pub(crate) fn begin(&mut self, key: &str) {
        self.finish();
        put_bytes(&mut self.row, 1, key.as_bytes());
    }

    /// A cell; `qualifier` without the family.
    pub(crate) fn put(&mut self, qualifier: &str, value: &[u8]) {
        let column = qualifier.len() + 2;
        let len = 1
            + varint_len(column as u64)
            + column
            + 1
            + varint_len(self.moment)
            + 1
            + varint_len(value.len() as u64)
            + value.len();
        self.has_cell = true;
        put_varint(&mut self.row, 2 << 3 | 2);
        put_varint(&mut self.row, len as u64);
        put_varint(&mut self.row, 2 << 3 | 2);
        put_varint(&mut self.row, column as u64);
        self.row.extend_from_slice(b"v:");
        self.row.extend_from_slice(qualifier.as_bytes());
        put_varint(&mut self.row, 3 << 3);
        put_varint(&mut self.row, self.moment);
        put_bytes(&mut self.row, 4, value);
    }

    /// A value or trend of the row that was begun.
    pub(crate) fn put_row(&mut self, day: Day, row: Row<'_>) {
        let letter = char::from(bytes::letter(row.kind()));
        let (clock, ns) = row.moment();
        let second = clock - day.0 * DAY_S;
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        bytes::put(&mut value, row);
        let qualifier = match row {
            Row::Value(_) => format!("{second:05}{ns:09}{letter}"),
            Row::Trend(_) => format!("{second:07}{letter}"),
        };
        self.put(&qualifier, &value);
        self.value = value;
    }

    /// HBase refuses a row without cells, and all that is sent with it.
    fn finish(&mut self) {
        if self.has_cell {
            put_bytes(&mut self.done, 1, &self.row);
        }
        self.row.clear();
        self.has_cell = false;
    }

    /// All of it.
    pub(crate) fn end(&mut self) -> &[u8] {
        self.finish();
        &self.done
    }

    /// Starts over.
    pub(crate) fn clear(&mut self) {
        self.row.clear();
        self.has_cell = false;
        self.done.clear();
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Rows of an answer.
#[derive(Deserialize)]
pub(crate) struct CellSet<'a> {
    #[serde(borrow, rename = "Row")]
    pub(crate) rows: Vec<FoundRow<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct FoundRow<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow, default, rename = "Cell")]
    pub(crate) cells: Vec<FoundCell<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct FoundCell<'a> {
    #[serde(borrow)]
    column: Cow<'a, str>,
    pub(crate) timestamp: i64,
    #[serde(borrow, default, rename = "$")]
    value: Cow<'a, str>,
}

impl<'a> CellSet<'a> {
    pub(crate) fn read(answer: &'a [u8]) -> Result<Self, Error> {
        serde_json::from_slice(answer).map_err(|error| super::odd_answer(&error.to_string()))
    }
}

impl FoundRow<'_> {
    pub(crate) fn key(&self) -> Result<String, Error> {
        let key = STANDARD.decode(self.key.as_bytes()).ok();
        let key = key.and_then(|key| String::from_utf8(key).ok());
        key.ok_or_else(|| super::odd_answer("a key"))
    }
}

impl FoundCell<'_> {
    pub(crate) fn value(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.value.as_bytes()).ok()
    }

    /// Seconds, nanoseconds and letter of the qualifier.
    fn qualifier(&self, (seconds, ns): (usize, usize)) -> Option<(u32, u32, u8)> {
        let mut bytes = [0; 24];
        let len = STANDARD.decode_slice(self.column.as_bytes(), &mut bytes).ok()?;
        let text = std::str::from_utf8(bytes.get(..len)?).ok()?.strip_prefix("v:")?;
        let letter = *text.as_bytes().get(seconds + ns)?;
        if text.len() != seconds + ns + 1 {
            return None;
        }
        let ns = if ns == 0 { 0 } else { text.get(seconds..seconds + ns)?.parse().ok()? };
        Some((text.get(..seconds)?.parse().ok()?, ns, letter))
    }

    /// The value; `None` when it is none.
    pub(crate) fn sample(&self, item: ItemId, day: Day) -> Option<Sample> {
        let (second, ns, letter) = self.qualifier(DIGITS)?;
        let clock = day.0.checked_mul(DAY_S)?.checked_add(second)?;
        let value = bytes::value(letter, &self.value()?)?;
        Some(Sample { item, at: Timestamp { clock, ns }, value })
    }

    /// The trend; `None` when it is none.
    pub(crate) fn trend(&self, item: ItemId, day: Day) -> Option<Trend> {
        let (second, _, letter) = self.qualifier((TREND_DIGITS, 0))?;
        let hour = day.0.checked_mul(DAY_S)?.checked_add(second)?;
        bytes::trend((item, hour), letter, &self.value()?)
    }
}

#[cfg(test)]
mod tests {
    use model::{LogMeta, SampleValue, TrendValues};

    use super::*;

    /// What the gateway answers for the cells that it was sent.
    fn answer(sent: &[u8]) -> String {
        fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
            let mut found = Vec::new();
            while !bytes.is_empty() {
                let tag = varint(&mut bytes);
                let number = varint(&mut bytes);
                let mut content = &[][..];
                if tag & 7 == 2 {
                    (content, bytes) = bytes.split_at(usize::try_from(number).unwrap());
                }
                found.push((tag >> 3, number, content));
            }
            found
        }
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let (byte, rest) = bytes.split_first().unwrap();
                *bytes = rest;
                value |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            value
        }
        let row = |(field, _, row): &(u64, u64, &[u8])| {
            assert_eq!(*field, 1);
            let row = fields(row);
            assert_eq!(row[0].0, 1);
            let cell = |(field, _, cell): &(u64, u64, &[u8])| {
                let [(2, _, column), (3, moment, _), (4, _, value)] = fields(cell)[..] else {
                    panic!("{field} {cell:?}")
                };
                let [column, value] = [column, value].map(|bytes| STANDARD.encode(bytes));
                format!(r#"{{"column":"{column}","timestamp":{moment},"$":"{value}"}}"#)
            };
            let cells: Vec<String> = row[1..].iter().map(cell).collect();
            let key = STANDARD.encode(row[0].2);
            format!(r#"{{"key":"{key}","Cell":[{}]}}"#, cells.join(","))
        };
        let rows: Vec<String> = fields(sent).iter().map(row).collect();
        format!(r#"{{"Row":[{}]}}"#, rows.join(","))
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
            SampleValue::Text("x".repeat(300_000).into()),
            SampleValue::Log(Box::new(("line \u{1f980}\0\\".into(), meta))),
        ]);
        let item = ItemId(u64::MAX);
        let at = |ns| Timestamp { clock: u32::MAX - ns, ns: 999_999_999 - ns };
        let samples: Vec<Sample> =
            (0..).zip(values).map(|(ns, value)| Sample { item, at: at(ns), value }).collect();
        let mut cells = Cells::new(1_700_000_000_123);
        let day = Day::of(u32::MAX);
        cells.begin(&key(item, day));
        samples.iter().for_each(|sample| cells.put_row(day, Row::Value(sample)));
        cells.begin("a row without cells");
        cells.begin("other");
        cells.put("v", b"7");
        cells.begin("another one");
        assert!(cells.len() > 300_000);
        let answer = answer(cells.end());
        let found = CellSet::read(answer.as_bytes()).unwrap();
        let [row, other] = &found.rows[..] else { panic!("{answer}") };
        assert_eq!(row.key().unwrap(), key(item, day));
        let read = row.cells.iter().map(|cell| {
            assert_eq!(cell.timestamp, 1_700_000_000_123);
            cell.sample(item, day).unwrap()
        });
        assert_eq!(format!("{:?}", read.collect::<Vec<_>>()), format!("{samples:?}"));
        assert_eq!(other.cells[0].value().unwrap(), b"7");
        assert_eq!(other.cells[0].sample(item, day), None);
        cells.clear();
        assert_eq!(cells.end(), b"");
    }

    #[test]
    fn trends_come_back() {
        let (item, day) = (ItemId(7), Day(31));
        for values in [
            TrendValues::Float { min: -1.5, avg: 1.0 / 3.0, max: f64::MAX },
            TrendValues::Unsigned { min: 0, avg: u64::MAX - 1, max: u64::MAX },
        ] {
            let trend = Trend { item, hour: 62 * DAY_S - 3600, num: u32::MAX, values };
            let mut cells = Cells::new(1);
            cells.begin("k");
            cells.put_row(day, Row::Trend(&trend));
            let answer = answer(cells.end());
            let found = CellSet::read(answer.as_bytes()).unwrap();
            assert_eq!(found.rows[0].cells[0].trend(item, day), Some(trend));
            assert_eq!(found.rows[0].cells[0].sample(item, day), None);
        }
    }

    #[test]
    fn cells_that_are_no_value_are_refused() {
        let numbers = [b"12345678".as_slice(), b"1234567", b""];
        for (qualifier, value, is_value) in [
            ("v:43200000000007u", numbers[0], true),
            ("v:43200000000007f", numbers[0], true),
            ("v:43200000000007u", numbers[1], false),
            ("v:43200000000007x", numbers[0], false),
            ("v:4320000000007u", numbers[0], false),
            ("v:43200000000007uu", numbers[0], false),
            ("v:43200000000007u and much more", numbers[0], false),
            ("v:4320000000000\u{e9}", numbers[0], false),
            ("w:43200000000007t", numbers[2], false),
            ("v:43200000000007t", b"\xff", false),
            ("v:43200000000007t", numbers[2], true),
            ("v:43200000000007l", b"{}", false),
            ("v", numbers[0], false),
        ] {
            let (column, value) = (STANDARD.encode(qualifier), STANDARD.encode(value));
            let cell = FoundCell { column: column.into(), timestamp: 1, value: value.into() };
            assert_eq!(cell.sample(ItemId(1), Day(1)).is_some(), is_value, "{qualifier}");
            assert_eq!(cell.trend(ItemId(1), Day(1)), None, "{qualifier}");
        }
        for odd in ["", "[]", r#"{"Row":[{"Cell":[]}]}"#, r#"{"Row":[{"key":"YQ=="#] {
            assert!(CellSet::read(odd.as_bytes()).is_err(), "{odd}");
        }
    }

    #[test]
    fn keys_are_in_order_of_days_and_filters_narrow_the_ends() {
        assert_eq!(key(ItemId(50_001), Day(7)), "ab-50001-00007".replace("ab", &spread(50_001)));
        assert_eq!(day(&key(ItemId(1), Day(20_412))), Some(Day(20_412)));
        assert!(key(ItemId(5), Day(99)) < key(ItemId(5), Day(10_000)));
        assert_eq!((day("version"), day("a-b-c")), (None, None));
        for (from, till, expected) in [
            (0, u32::MAX, None),
            (DAY_S, 2 * DAY_S - 1, None),
            (DAY_S + 5, u32::MAX, Some("ColumnRangeFilter('00005',true,'86399~',true)")),
            (0, DAY_S + 43_200, Some("ColumnRangeFilter('00000',true,'43200~',true)")),
        ] {
            assert_eq!(filter(Day(1), from, till).as_deref(), expected, "{from} {till}");
        }
        assert_eq!(filter(Day::of(u32::MAX), 0, u32::MAX), None);
    }

    fn spread(item: u64) -> String {
        prefix(ItemId(item)).split('-').next().unwrap().to_owned()
    }
}
