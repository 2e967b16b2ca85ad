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
use stdx::clock::SharedClock;

use self::client::Client;
use self::schema::Known;
use super::sql::address::Address;
use super::sql::driver::open;
use super::sql::rows::Row;
use super::sql::session::{Health, Session};
use super::sql::tables::{Set, Table};
use history::Reduced;
use history::{Error, Retention, Store};

/// Items of one deletion, and rows that it takes at a time.
const ITEMS_MAX: usize = 1_000;
const DELETE_ROWS: u32 = 20_000;

/// The database that a URL such as `mysql://user:password@host:3306/database` names. Nothing is asked
/// yet; tables are made with the first write.
pub fn open_mysql(
    url: &str,
    retention: Arc<dyn Retention>,
    clock: SharedClock,
) -> Result<Arc<dyn Store>, Error> {
    open::<Client>(url, retention, clock)
}

impl Session for Client {
    const NAME: &'static str = "mysql";
    const PORT: u16 = 3306;
    type Schema = Known;
    /// Statements.
    type Load = Vec<String>;
    type Found = mysql::Row;

    fn connect(address: &Address) -> Result<Self, Error> {
        Self::open(address)
    }

    fn health(&self) -> Health {
        self.health
    }

    fn samples(&self, _: &Known, rows: &[Row<&Sample>]) -> Result<Vec<String>, Error> {
        rows::statements(rows, self.packet_max)
    }

    fn trends(&self, _: &Known, rows: &[Row<&Trend>]) -> Result<Vec<String>, Error> {
        rows::statements(rows, self.packet_max)
    }

    fn store(&mut self, loads: &[Vec<String>], _: bool) -> Result<(), Error> {
        self.transaction(|client| loads.iter().flatten().try_for_each(|sql| client.put(sql)))
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

    fn columns(set: Set) -> &'static [&'static str] {
        rows::columns(set)
    }

    fn figures(set: Set) -> String {
        rows::figures(set)
    }

    fn bucket(found: &Self::Found, set: Set) -> Option<Reduced> {
        rows::bucket(found, set)
    }

    fn ask<T>(
        &mut self,
        sql: &str,
        read: impl Fn(&Self::Found) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        self.read(sql, (), |row| read(&row))
    }

    fn sample(found: &Self::Found, set: Set) -> Option<Sample> {
        rows::sample(found, set)
    }

    fn trend(found: &Self::Found, set: Set) -> Option<Trend> {
        rows::trend(found, set)
    }
}
