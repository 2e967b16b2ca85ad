//! The driver over MySQL and MariaDB.
//!
//! Batches go in as statements of many rows, in the order of the clustered key, one transaction a
//! batch. `REPLACE` keeps one row a key, the later written, so that a batch which is sent twice
//! is there once.

mod client;
mod rows;
mod schema;

use std::sync::Arc;

use model::{Sample, Trend};

use self::client::Client;
use self::schema::Known;
use super::sql::address::Address;
use super::sql::driver::Database;
use super::sql::rows::Row;
use super::sql::session::{Question, Session};
use super::sql::tables::{Part, Table};
use crate::{Class, Day, Driver, Error, Retention, Store};

/// Items of one deletion, and rows that it takes at a time.
const ITEMS_MAX: usize = 1_000;
const DELETE_ROWS: u32 = 20_000;

/// A MySQL or MariaDB database. Makes drivers, each with a connection of its own.
pub struct MySql(Arc<Database<Client>>);

impl std::fmt::Debug for MySql {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("MySql").field(&self.0.address.location()).finish()
    }
}

impl MySql {
    /// The database that a URL such as `mysql://user:password@host:3306/database` names. Nothing
    /// is asked yet; tables are made with the first write.
    pub fn new(url: &str, retention: Arc<dyn Retention>) -> Result<Self, Error> {
        Ok(Self(Database::new(url, retention)?))
    }
}

impl Store for MySql {
    fn name(&self) -> String {
        self.0.address.name()
    }

    fn driver(&self) -> Box<dyn Driver> {
        self.0.driver()
    }
}

impl Session for Client {
    const NAME: &'static str = "mysql";
    const PORT: u16 = 3306;
    type Known = Known;
    /// Statements.
    type Load = Vec<String>;

    fn connect(address: &Address) -> Result<Self, Error> {
        Self::open(address)
    }

    fn is_fit(&self) -> bool {
        !self.broken
    }

    fn is_closed(&self) -> bool {
        self.ended
    }

    fn is_stale(&self) -> bool {
        self.stale
    }

    fn prepare(&mut self, location: &str) -> Result<Known, Error> {
        schema::prepare(self, location)
    }

    fn tables(known: &Known) -> Vec<Table> {
        known.tables.keys().copied().collect()
    }

    fn place(&mut self, known: &mut Known, part: &Part) -> Result<(), Error> {
        known.place(self, part)
    }

    fn drop_before(&mut self, known: &mut Known, class: Class, day: Day) -> Result<u64, Error> {
        known.drop_before(self, class, day)
    }

    fn samples(&self, _: &Known, rows: &[Row<&Sample>]) -> Result<Vec<String>, Error> {
        rows::statements(rows, self.packet_max)
    }

    fn trends(&self, _: &Known, rows: &[Row<&Trend>]) -> Result<Vec<String>, Error> {
        rows::statements(rows, self.packet_max)
    }

    fn store(&mut self, loads: &[Vec<String>], _: bool) -> Result<(), Error> {
        self.transaction(|client| loads.iter().flatten().try_for_each(|sql| client.run(sql)))
    }

    fn delete(&mut self, table: &Table, items: &[i64]) -> Result<(), Error> {
        for some in items.chunks(ITEMS_MAX) {
            let list: Vec<String> = some.iter().map(i64::to_string).collect();
            let sql = format!(
                "DELETE FROM {} WHERE itemid IN ({}) LIMIT {DELETE_ROWS}",
                table.name(),
                list.join(",")
            );
            while self.run_counted(&sql)? > 0 {}
        }
        Ok(())
    }

    fn read_samples(&mut self, question: &Question) -> Result<Vec<Sample>, Error> {
        let set = question.table.set;
        let found = self.answer(question)?;
        let read = |row| rows::sample(row, question.item, set);
        let samples: Option<Vec<Sample>> = found.into_iter().map(read).collect();
        samples.ok_or_else(|| self.odd_answer("a row of values"))
    }

    fn read_trends(&mut self, question: &Question) -> Result<Vec<Trend>, Error> {
        let set = question.table.set;
        let found = self.answer(question)?;
        let read = |row| rows::trend(row, question.item, set);
        let trends: Option<Vec<Trend>> = found.into_iter().map(read).collect();
        trends.ok_or_else(|| self.odd_answer("a row of trends"))
    }
}

impl Client {
    fn answer(&mut self, question: &Question) -> Result<Vec<mysql::Row>, Error> {
        // With parameters, the server prepares it once.
        let sql = question.sql(rows::columns(question.table.set), ["?"; 3]);
        let (from, till) = question.moments;
        self.ask(&sql, (question.item.0, from, till))
    }
}
