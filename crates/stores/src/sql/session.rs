//! What a database has to offer to be a store.

use std::num::NonZeroU32;

use model::{ItemId, Sample, Trend};

use super::address::Address;
use super::rows::Row;
use super::tables::{NS_IN_S, Part, Set, Table};
use crate::ROWS_MAX;
use history::Reduced;
use history::{Class, Day, Error};

/// A connection, used from one thread at a time.
pub(crate) trait Session: Sized + Send + 'static {
    /// Name of the driver, and scheme of its addresses.
    const NAME: &'static str;
    /// The port if an address names none.
    const PORT: u16;

    /// What is there.
    type Schema: Schema<Self>;
    /// Rows of one partition, ready to be sent.
    type Load;
    /// A row that was asked for.
    type Found;

    /// Connects; makes the database if it is missing and we may.
    fn connect(address: &Address) -> Result<Self, Error>;

    /// What has become of it.
    fn health(&self) -> Health;

    /// Samples of one partition, as they are sent.
    fn samples(&self, schema: &Self::Schema, rows: &[Row<&Sample>]) -> Result<Self::Load, Error>;

    /// Trends of one partition, as they are sent.
    fn trends(&self, schema: &Self::Schema, rows: &[Row<&Trend>]) -> Result<Self::Load, Error>;

    /// Stores all of it or nothing. With `doubt`, some rows may already exist.
    fn store(&mut self, loads: &[Self::Load], doubt: bool) -> Result<(), Error>;

    /// Deletes the rows of items.
    fn delete(&mut self, table: &Table, items: &[i64]) -> Result<(), Error>;

    /// Names of the columns behind the key.
    fn columns(set: Set) -> &'static [&'static str];

    /// The figures of the rows of a bucket, as SQL. NaN is no number; what is beyond
    /// [`HUGE`](history::HUGE) must not make it fail.
    fn figures(set: Set) -> String;

    /// A bucket from its first moment and figures.
    fn bucket(found: &Self::Found, set: Set) -> Option<Reduced>;

    /// What `read` makes of each row of a question, as they come: rows take several times the memory.
    fn ask<T>(
        &mut self,
        sql: &str,
        read: impl Fn(&Self::Found) -> Option<T>,
    ) -> Result<Vec<T>, Error>;

    /// A sample from item, moment and columns.
    fn sample(found: &Self::Found, set: Set) -> Option<Sample>;

    /// A trend from item, moment and columns.
    fn trend(found: &Self::Found, set: Set) -> Option<Trend>;
}

/// What has become of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Health {
    /// It may be in the middle of something, and is not to be used again.
    pub(crate) broken: bool,
    /// The server has ended it.
    pub(crate) ended: bool,
    /// Something was gone that is known to be there.
    pub(crate) stale: bool,
}

impl Health {
    /// May it be used again?
    pub(crate) fn is_good(self) -> bool {
        self == Self::default()
    }
}

/// Tables and partitions that are there.
pub(crate) trait Schema<S>: Sized + Send + 'static {
    /// Looks what is there; makes what does not depend on rows.
    fn prepare(session: &mut S, location: &str) -> Result<Self, Error>;

    /// The tables of values and trends.
    fn tables(&self) -> Vec<Table>;

    /// Makes the table and the partition of rows if they are missing.
    fn place(&mut self, session: &mut S, part: &Part, today: Day) -> Result<(), Error>;

    /// Drops the partitions of a class that end before a day; gives the bytes given back.
    fn drop_before(&mut self, session: &mut S, class: Class, day: Day) -> Result<u64, Error>;
}

/// Which rows are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    /// One, where a limit is given.
    pub(crate) items: &'a [ItemId],
    /// First and last moment.
    pub(crate) moments: (i64, i64),
    pub(crate) newest_first: bool,
    /// At most so many, the first in this order. `None` = all, of which there may not be more than
    /// [`ROWS_MAX`].
    pub(crate) limit: Option<usize>,
}

impl Question<'_> {
    /// The statement for a table. All numbers are in it, so that partitions of other times are not
    /// even looked at.
    pub(crate) fn sql(&self, table: &Table, columns: &[&str]) -> String {
        let way = if self.newest_first { " DESC" } else { "" };
        // One more than there may be tells that there are too many.
        let limit = self.limit.unwrap_or(ROWS_MAX + 1);
        format!(
            "SELECT itemid, moment, {} FROM {} ORDER BY itemid{way}, moment{way} LIMIT {limit}",
            columns.join(", "),
            self.rows(table),
        )
    }

    /// The statement for buckets of a table, by their first moments, with figures.
    pub(crate) fn buckets(&self, table: &Table, width: NonZeroU32, figures: &str) -> String {
        let width = i64::from(width.get()) * NS_IN_S;
        format!(
            "SELECT moment - moment % {width} AS bucket, {figures} FROM {} GROUP BY bucket",
            self.rows(table),
        )
    }

    /// What follows `FROM`.
    fn rows(&self, table: &Table) -> String {
        let (from, till) = self.moments;
        let items: Vec<String> = self.items.iter().map(|item| item.0.to_string()).collect();
        format!(
            "{} WHERE itemid IN ({}) AND moment BETWEEN {from} AND {till}",
            table.name(),
            items.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_use_the_key() {
        let table = Table { set: Set::Float, class: Class(31) };
        let one =
            Question { items: &[ItemId(7)], moments: (5, 9), newest_first: true, limit: Some(3) };
        assert_eq!(
            one.sql(&table, &["value"]),
            "SELECT itemid, moment, value FROM history_float_31 WHERE itemid IN (7) \
             AND moment BETWEEN 5 AND 9 ORDER BY itemid DESC, moment DESC LIMIT 3"
        );
        let two = [ItemId(7), ItemId(8)];
        let many = Question { items: &two, newest_first: false, limit: None, ..one };
        let sql = many.sql(&table, &["value"]);
        assert!(
            sql.contains("IN (7, 8)") && sql.ends_with(" ORDER BY itemid, moment LIMIT 5000001"),
            "{sql}"
        );
        let hour = NonZeroU32::new(3600).unwrap();
        assert_eq!(
            one.buckets(&table, hour, "count(*)"),
            "SELECT moment - moment % 3600000000000 AS bucket, count(*) FROM history_float_31 \
             WHERE itemid IN (7) AND moment BETWEEN 5 AND 9 GROUP BY bucket"
        );
    }
}
