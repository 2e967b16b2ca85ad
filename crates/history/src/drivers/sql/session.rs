//! What a database has to offer to be a store.

use model::{ItemId, Sample, Trend};

use super::address::Address;
use super::rows::Row;
use super::tables::{Part, Table};
use crate::{Class, Day, Error};

/// A connection, used from one thread at a time. After a failure that may have left it in the
/// middle of something it is not fit any more: it is dropped, and a new one made.
pub(crate) trait Session: Sized + Send + 'static {
    /// Name of the driver, and scheme of its addresses.
    const NAME: &'static str;
    /// The port if an address names none.
    const PORT: u16;

    /// Tables and partitions that are there.
    type Known: Send + 'static;
    /// Rows of one partition, ready to be sent.
    type Load;

    /// Connects; makes the database if it is missing and we may.
    fn connect(address: &Address) -> Result<Self, Error>;

    /// May it be used again?
    fn is_fit(&self) -> bool;

    /// Has the server ended it?
    fn is_closed(&self) -> bool;

    /// Was something gone that is known to be there?
    fn is_stale(&self) -> bool;

    /// Looks what is there; makes what does not depend on rows.
    fn prepare(&mut self, location: &str) -> Result<Self::Known, Error>;

    /// The tables of values and trends.
    fn tables(known: &Self::Known) -> Vec<Table>;

    /// Makes the table and the partition of rows if they are missing.
    fn place(&mut self, known: &mut Self::Known, part: &Part) -> Result<(), Error>;

    /// Drops the partitions of a class that end before a day; gives the bytes given back.
    fn drop_before(
        &mut self,
        known: &mut Self::Known,
        class: Class,
        day: Day,
    ) -> Result<u64, Error>;

    /// Samples of one partition, as they are sent.
    fn samples(&self, known: &Self::Known, rows: &[Row<&Sample>]) -> Result<Self::Load, Error>;

    /// Trends of one partition, as they are sent.
    fn trends(&self, known: &Self::Known, rows: &[Row<&Trend>]) -> Result<Self::Load, Error>;

    /// Stores all of it or nothing. In doubt, some rows may be there already.
    fn store(&mut self, loads: &[Self::Load], doubt: bool) -> Result<(), Error>;

    /// Deletes the rows of items.
    fn delete(&mut self, table: &Table, items: &[i64]) -> Result<(), Error>;

    /// Samples of a table.
    fn read_samples(&mut self, question: &Question) -> Result<Vec<Sample>, Error>;

    /// Trends of a table.
    fn read_trends(&mut self, question: &Question) -> Result<Vec<Trend>, Error>;
}

/// Which rows of a table are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    pub(crate) table: Table,
    pub(crate) item: ItemId,
    /// First and last moment.
    pub(crate) moments: (i64, i64),
    pub(crate) newest_first: bool,
    /// At most so many, the first in this order.
    pub(crate) n: Option<usize>,
}

impl Question {
    /// The statement that asks for these columns, with the item and both moments where the
    /// database wants parameters.
    pub(crate) fn sql(&self, columns: &[&str], [item, from, till]: [&str; 3]) -> String {
        let way = if self.newest_first { " DESC" } else { "" };
        let limit = self.n.map(|n| format!(" LIMIT {n}")).unwrap_or_default();
        format!(
            "SELECT moment, {} FROM {} WHERE itemid = {item} AND moment BETWEEN {from} AND {till} \
             ORDER BY moment{way}{limit}",
            columns.join(", "),
            self.table.name()
        )
    }
}
