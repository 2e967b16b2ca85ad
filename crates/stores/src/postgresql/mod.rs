//! The driver over PostgreSQL, with or without TimescaleDB.
//!
//! Batches go in by `COPY` in the binary format, straight into the partition of their day, in
//! the order of the index, one transaction a batch. That fails as a whole when a key is there
//! already: then, and after anything else that leaves doubt, the batch goes into a temporary
//! table, and from there with `ON CONFLICT DO UPDATE`, so that a batch that is sent twice is there
//! once. Copying costs a fraction of what updating does, and nearly every batch is new.

mod client;
mod rows;
mod schema;

use std::sync::Arc;

use bytes::Bytes;
use model::{Sample, Trend};
use stdx::clock::SharedClock;
use tokio_postgres::error::SqlState;

use self::client::{Client, Refusal};
use self::schema::Known;
use super::sql::address::Address;
use super::sql::driver::open;
use super::sql::rows::Row;
use super::sql::session::{Health, Session};
use super::sql::tables::{Set, Table};
use history::Reduced;
use history::{Error, Retention, Store};

/// The database that a URL such as `postgresql://user:password@host:5432/database` names. Nothing is
/// asked yet; tables are made with the first write.
pub fn open_postgresql(
    url: &str,
    retention: Arc<dyn Retention>,
    clock: SharedClock,
) -> Result<Arc<dyn Store>, Error> {
    open::<Client>(url, retention, clock)
}

/// Rows of one partition, ready to be sent.
pub(crate) struct Load {
    set: Set,
    /// The table or partition that takes them.
    target: String,
    data: Bytes,
}

impl Load {
    fn new<T: rows::Put + Copy>(known: &Known, rows: &[Row<T>]) -> Result<Self, Error> {
        let part = rows[0].part;
        let (set, target) = (part.table.set, known.target(&part));
        Ok(Self { set, target, data: rows::data(rows)? })
    }
}

impl Session for Client {
    const NAME: &'static str = "postgresql";
    const PORT: u16 = 5432;
    type Schema = Known;
    type Load = Load;
    type Found = tokio_postgres::Row;

    fn connect(address: &Address) -> Result<Self, Error> {
        Self::open(address)
    }

    fn health(&self) -> Health {
        self.health()
    }

    fn samples(&self, known: &Known, rows: &[Row<&Sample>]) -> Result<Load, Error> {
        Load::new(known, rows)
    }

    fn trends(&self, known: &Known, rows: &[Row<&Trend>]) -> Result<Load, Error> {
        Load::new(known, rows)
    }

    fn store(&mut self, loads: &[Load], doubt: bool) -> Result<(), Error> {
        if !doubt {
            let copied = self.transaction(|client| {
                loads.iter().try_for_each(|load| copy(client, load, &load.target))
            });
            match copied {
                Err(refusal) if refusal.code == Some(SqlState::UNIQUE_VIOLATION) => {}
                copied => return Ok(copied?),
            }
        }
        let merged =
            self.transaction(|client| loads.iter().try_for_each(|load| merge(client, load)));
        Ok(merged?)
    }

    fn delete(&mut self, table: &Table, items: &[i64]) -> Result<(), Error> {
        let sql = format!("DELETE FROM {} WHERE itemid = ANY($1)", table.name());
        Ok(self.delete_rows(&sql, items)?)
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
        let found: Option<Vec<T>> = self.read(sql, |row| read(&row))?.into_iter().collect();
        found.ok_or_else(|| self.odd_answer("a row"))
    }

    fn sample(found: &Self::Found, set: Set) -> Option<Sample> {
        rows::sample(found, set)
    }

    fn trend(found: &Self::Found, set: Set) -> Option<Trend> {
        rows::trend(found, set)
    }
}

fn copy(client: &mut Client, load: &Load, target: &str) -> Result<(), Refusal> {
    let columns = rows::columns(load.set).join(", ");
    let sql = format!("COPY {target} (itemid, moment, {columns}) FROM STDIN (FORMAT binary)");
    client.copy(&sql, load.data.clone())
}

/// Replaces what is there already, but leaves alone what is the same.
fn merge(client: &mut Client, load: &Load) -> Result<(), Refusal> {
    let set = load.set.name();
    if !client.stages.contains(&set) {
        client.run(&format!(
            "CREATE TEMP TABLE IF NOT EXISTS stage_{set} (LIKE {}) ON COMMIT DELETE ROWS",
            load.target
        ))?;
        client.stages.push(set);
    }
    copy(client, load, &format!("stage_{set}"))?;
    let columns = rows::columns(load.set);
    let each = |prefix: &str| {
        columns.iter().map(|column| format!("{prefix}.{column}")).collect::<Vec<_>>().join(", ")
    };
    let sets: Vec<String> = columns.iter().map(|c| format!("{c} = EXCLUDED.{c}")).collect();
    client.put(&format!(
        "INSERT INTO {} AS old (itemid, moment, {names}) SELECT itemid, moment, {names} \
         FROM stage_{set} ON CONFLICT (itemid, moment) DO UPDATE SET {} \
         WHERE ROW({}) IS DISTINCT FROM ROW({}); DELETE FROM stage_{set}",
        load.target,
        sets.join(", "),
        each("old"),
        each("EXCLUDED"),
        names = columns.join(", "),
    ))
}
