//! The driver over HBase, through its REST gateway.
//!
//! A table has the rows of one retention class (see [`schema`]); its only family has that time to
//! live. A row has what an item got within a day, each value a cell ([`rows`]): reading, finding
//! and deleting an item cost a row a day, and the gateway has no request that deletes more than a
//! row. Writing a cell again replaces it, so that a batch which is sent twice is there once. Of two
//! writes of one cell the later wins by times that we give, in milliseconds, by which cells also
//! end; and a deletion hides what was written until its time, and nothing later.

mod client;
mod rows;
mod schema;

use std::sync::Arc;
use std::time::Duration;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;

use self::client::{Client, Scan};
use self::rows::{CellSet, Cells, FoundCell};
use self::schema::{State, Table};
use super::at_most;
use super::moments::Moments;
use super::place::{self, Row, in_order};
use super::prepared::Prepared;
use super::remote::{Connection, Remote, Wanted, at_once};
use history::{
    Class, Day, Driver, DriverInfo, Durability, Error, Kind, Kinds, Retention, Span, Store,
};

/// Bytes of one request, about.
const PUT_BYTES: usize = 2 << 20;
/// Rows of one request of somebody who reads everything.
const ROWS_TOGETHER: usize = 8;
/// Rows that are looked for at once: few for somebody who wants few values.
const ROWS_LOOKED_FOR: (usize, usize) = (8, 1_000);
/// Only that there are such rows, not what is in them.
const KEYS: &str = "FirstKeyOnlyFilter() AND KeyOnlyFilter()";

/// Tables of an HBase cluster. Makes drivers that share its connections.
pub struct HBase {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    retention: Arc<dyn Retention>,
    moments: Moments,
    state: Prepared<State>,
}

impl std::fmt::Debug for HBase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HBase").field(&self.shared.client.server.location()).finish()
    }
}

impl HBase {
    /// The tables whose names begin with the path of a gateway's URL such as
    /// `http://user:password@host:8080/vedette`. Nothing is asked yet; tables are made by writing.
    pub fn new(
        url: &str,
        retention: Arc<dyn Retention>,
        clock: SharedClock,
    ) -> Result<Self, Error> {
        let client = Client::new(url)?;
        let moments = Moments::new(clock, Duration::from_millis(1));
        let state = Prepared::not_yet();
        Ok(Self { shared: Arc::new(Shared { client, retention, moments, state }) })
    }
}

impl Store for HBase {
    fn name(&self) -> String {
        format!("hbase-{}", self.shared.client.server.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        Connection::boxed(&self.shared)
    }
}

impl Shared {
    /// What is known of the tables; asks for it when that has not been done yet.
    fn with_state<T>(&self, act: impl FnOnce(&mut State) -> Result<T, Error>) -> Result<T, Error> {
        let prepare = || {
            let read = schema::prepare(&self.client)?;
            // What was told there is younger than our clock where that was set back.
            self.moments.not_before(read.moment);
            Ok(read)
        };
        self.state.with(prepare, act)
    }

    /// Tables of values or of trends, each with the first day that is shown.
    fn tables(&self, trends: bool) -> Result<Vec<(Table, Day)>, Error> {
        self.with_state(|state| {
            let ours = state.tables.iter().filter(|table| table.trends == trends);
            Ok(ours.map(|&table| (table, state.first_day(table.class))).collect())
        })
    }

    fn remember(&self, key: &str, value: i64) -> Result<(), Error> {
        schema::remember(&self.client, key, value, self.moments.next())
    }

    fn write_rows<'a>(&self, rows: impl Iterator<Item = Row<'a>>) -> Result<(), Error> {
        let rows = in_order(rows, self.retention.as_ref());
        let table_of = |place: &place::Place| {
            let (trends, class) = (place.kind.is_trend(), place.class);
            Table { trends, class }
        };
        self.with_state(|state| {
            for (place, _) in &rows {
                let table = table_of(place);
                if !state.tables.contains(&table) {
                    schema::make(&self.client, table, self.moments.next())?;
                    state.tables.insert(table);
                }
            }
            Ok(())
        })?;
        let mut cells = Cells::new(self.moments.next());
        for of_table in rows.chunk_by(|(a, _), (b, _)| table_of(a) == table_of(b)) {
            let Some((place, _)) = of_table.first() else { continue };
            let name = table_of(place).name(&self.client.prefix);
            for of_place in of_table.chunk_by(|(a, _), (b, _)| a == b) {
                let Some((place, _)) = of_place.first() else { continue };
                let key = rows::key(place.item, place.day);
                cells.begin(&key);
                for (_, row) in of_place {
                    if cells.len() >= PUT_BYTES {
                        self.client.put_rows(&name, cells.end())?;
                        cells.clear();
                        cells.begin(&key);
                    }
                    cells.put_row(place.day, *row);
                }
            }
            self.client.put_rows(&name, cells.end())?;
            cells.clear();
        }
        Ok(())
    }

    /// Days within the span of which the table has rows of the item, in order; at most `limit`.
    fn days(
        &self,
        table: Table,
        (item, first, last): (ItemId, Day, Day),
        newest_first: bool,
        limit: usize,
    ) -> Result<Vec<Day>, Error> {
        let step = place::days(table.trends);
        // The end is not asked for.
        let (start, end) = if newest_first {
            let before = first.0.checked_sub(step).map(|day| rows::key(item, Day(day)));
            (rows::key(item, last), before.unwrap_or_else(|| rows::prefix(item)))
        } else {
            (rows::key(item, first), rows::key(item, Day(last.0 + step)))
        };
        let (start, end) = (start.as_str(), end.as_str());
        let scan = Scan { start, end, newest_first, filter: KEYS, limit: Some(limit) };
        let answer = self.client.scan(&table.name(&self.client.prefix), &scan)?;
        let found = CellSet::read(&answer)?.rows;
        // Another day would be looked for again and again.
        let is_asked = |day: &Day| (first..=last).contains(day);
        let day = |key: String| rows::day(&key).filter(is_asked).ok_or_else(|| odd_answer("a key"));
        found.iter().map(|row| row.key().and_then(day)).collect()
    }

    /// Cells of one table, of rows in the order of time, until there are enough; of a row all
    /// that are within the span.
    fn search<T>(
        &self,
        table: Table,
        wanted: &Wanted,
        read: impl Fn(&FoundCell<'_>, Day) -> Result<Option<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let Wanted { item, span, newest_first, limit, .. } = *wanted;
        let step = place::days(table.trends);
        let (mut first, mut last) =
            (place::first_day(table.trends, span.from), place::first_day(table.trends, span.till));
        // Who wants a few values, or those of some hours, reads no more days than needed.
        let few = limit < usize::MAX || last.0 - first.0 <= step;
        let (together, page) =
            if few { (1, ROWS_LOOKED_FOR.0) } else { (ROWS_TOGETHER, ROWS_LOOKED_FOR.1) };
        let mut all = Vec::new();
        loop {
            let days = self.days(table, (item, first, last), newest_first, page)?;
            for days in days.chunks(together) {
                self.read_days(table, (item, days), span, (&read, &mut all))?;
                at_most(all.len())?;
                if all.len() >= limit {
                    return Ok(all);
                }
            }
            match days.last() {
                Some(day) if days.len() == page && newest_first && *day > first => {
                    last = Day(day.0.saturating_sub(step));
                }
                Some(day) if days.len() == page && !newest_first && *day < last => {
                    first = Day(day.0 + step);
                }
                _ => return Ok(all),
            }
        }
    }

    /// Appends what rows have that follow each other.
    fn read_days<T>(
        &self,
        table: Table,
        (item, days): (ItemId, &[Day]),
        span: Span,
        (read, all): (impl Fn(&FoundCell<'_>, Day) -> Result<Option<T>, Error>, &mut Vec<T>),
    ) -> Result<(), Error> {
        let (Some(first), Some(last)) = (days.iter().min(), days.iter().max()) else {
            return Ok(());
        };
        let (start, end) = (rows::key(item, *first), rows::key(item, Day(last.0 + 1)));
        let narrow = (days.len() == 1 && !table.trends)
            .then(|| rows::filter(*first, span.from, span.till))
            .flatten()
            .unwrap_or_default();
        let (newest_first, limit) = (false, None);
        let scan = Scan { start: &start, end: &end, newest_first, filter: &narrow, limit };
        let answer = self.client.scan(&table.name(&self.client.prefix), &scan)?;
        for row in CellSet::read(&answer)?.rows {
            let day = rows::day(&row.key()?).ok_or_else(|| odd_answer("a key"))?;
            for cell in &row.cells {
                all.extend(read(cell, day)?);
            }
        }
        Ok(())
    }

    /// Deletes rows of an item, until none is found.
    fn clear_item(&self, table: Table, item: ItemId) -> Result<(), Error> {
        let (start, name) = (rows::prefix(item), table.name(&self.client.prefix));
        let end = format!("{start}~");
        let mut filter = KEYS;
        loop {
            let scan = Scan { start: &start, end: &end, newest_first: false, filter, limit: None };
            let answer = self.client.scan(&name, &scan)?;
            let found = CellSet::read(&answer)?.rows;
            if found.is_empty() {
                return Ok(());
            }
            // Our clock may have been set back since they were written.
            for cell in found.iter().flat_map(|row| &row.cells) {
                self.moments.not_before(cell.timestamp);
            }
            let moment = self.moments.next();
            let mut keys = found.iter().map(rows::FoundRow::key).collect::<Result<Vec<_>, _>>()?;
            keys.dedup();
            for key in keys {
                self.client.delete(&name, &key, moment)?;
            }
            // Whatever the first cells of rows did not tell, all of them do.
            filter = "KeyOnlyFilter()";
        }
    }
}

impl Remote for Shared {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("hbase", self.client.server.location(), Durability::GroupCommit)
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.write_rows(samples.iter().map(Row::Value))
    }

    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error> {
        self.write_rows(trends.iter().map(Row::Trend))
    }

    /// What is written afterwards is younger than this, also when the program was restarted and
    /// its clock set back meanwhile.
    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        for trends in [false, true] {
            for (table, _) in self.tables(trends)? {
                at_once(items, |&item| self.clear_item(table, item))?;
            }
        }
        self.remember("cleared", self.moments.last())
    }

    /// Hides it: the region servers give the space back when the cells' time has ended.
    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error> {
        self.with_state(|state| {
            if state.first_day(class) < day {
                self.remember(&schema::dropped(class), day.0.into())?;
                state.dropped.insert(class, day);
            }
            Ok(0)
        })
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.with_state(|state| Ok(state.tables.iter().map(|table| table.class).collect()))
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        let mut samples = Vec::new();
        for (table, first) in self.tables(false)? {
            let Some(span) = since(wanted.span, first) else { continue };
            let read = |cell: &FoundCell<'_>, day| {
                let sample = cell.sample(wanted.item, day).ok_or_else(|| odd_answer("a value"))?;
                let is_wanted =
                    span.has(sample.at.clock) && wanted.kinds.has(Kind::of_value(&sample.value));
                Ok(is_wanted.then_some(sample))
            };
            samples.append(&mut self.search(table, &Wanted { span, ..*wanted }, read)?);
        }
        Ok(samples)
    }

    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        let mut trends = Vec::new();
        for (table, first) in self.tables(true)? {
            let Some(span) = since(span, first) else { continue };
            let (kinds, limit) = (Kinds::NUMBERS, usize::MAX);
            let wanted = Wanted { item, kinds, span, newest_first: false, limit };
            let read = |cell: &FoundCell<'_>, day| {
                let trend = cell.trend(item, day).ok_or_else(|| odd_answer("a trend"))?;
                Ok(span.has(trend.hour).then_some(trend))
            };
            trends.append(&mut self.search(table, &wanted, read)?);
        }
        Ok(trends)
    }
}

/// The part of a span that begins with a day, if there is one.
fn since(span: Span, day: Day) -> Option<Span> {
    let from = span.from.max(day.0.saturating_mul(86_400));
    (from <= span.till).then(|| Span::new(from, span.till))
}

/// What the gateway sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    super::odd_answer("HBase", what, "is it a REST gateway, and were its tables altered by hand")
}

#[cfg(test)]
mod tests {
    use stdx::clock::SimClock;

    use super::super::script::Script;
    use super::*;

    /// Values between two seconds, from a gateway that answers so.
    fn read(answers: &[&str], span: Span) -> Result<Vec<Sample>, Error> {
        let clock = SimClock::at(Duration::from_secs(5));
        let make = || HBase::new("http://h", Arc::new(Class(31)), clock);
        let store = Script::bodies(answers, make).unwrap();
        store.driver().view(&[], span).newest(ItemId(7), Kinds::VALUES, 3)
    }

    #[test]
    fn a_day_that_was_not_asked_for_is_refused() {
        // Of `history_31d`, told at the end of all time; `version` is missing.
        let state = r#"{"Row":[{"key":"aGlzdG9yeV8zMWQ=",
            "Cell":[{"column":"djp2","timestamp":9223372036854775807,"$":"MQ=="}]}]}"#;
        // The days 4294967295 and 20000 of an item.
        for key in ["YS03LTQyOTQ5NjcyOTU=", "YS03LTIwMDAw"] {
            let days = format!(r#"{{"Row":[{{"key":"{key}"}}]}}"#);
            let answers = ["", state, "", days.as_str(), r#"{"Row":[]}"#];
            let error = read(&answers, Span::new(86_400, 86_405)).unwrap_err();
            assert!(error.retry && error.message.contains("(a key)"), "{error}");
        }
    }
}
