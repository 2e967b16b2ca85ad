//! The driver over ClickHouse, by its HTTP interface.
//!
//! One table a kind of value (see [`schema`]); rows go in as RowBinary, in the batches that the
//! spool makes. A row's key is item, second and nanosecond: `ReplacingMergeTree` keeps the row that
//! was inserted last, and reading asks for `FINAL`, so that a batch that is sent twice is there
//! once. Days are dropped by partition: each has the rows of one retention class and day.
//!
//! Over a cluster rows are spread by item: `Distributed` tables write and read, and what concerns
//! tables as such (making them, deletions, dropping) is asked of each server.

mod address;
mod http;
mod legacy;
mod questions;
mod records;
mod rows;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use stdx::sync::lock;

use self::address::Address;
use self::http::Client;
use self::legacy::Legacy;
use self::questions::Question;
pub use self::records::ClickHouseRecords;
use super::place::TREND_DAYS;
use super::prepared::Prepared;
use super::remote::{Coarse, Connection, Remote, Wanted};
use history::Reduced;
use history::{
    Class, Day, Driver, DriverInfo, Durability, Error, Extent, Kind, Kinds, Retention, Span, Store,
};

/// ClickHouse refuses a batch that touches more partitions than 100.
const PARTITIONS_MAX: usize = 80;
/// Items of one statement.
const ITEMS_MAX: usize = 2_000;
/// How often the end of a deletion is looked for, and how many times.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOKS_MAX: usize = 600;
/// The first release that tells why a deletion does not end.
const TELLS_WHY: u32 = 20;
/// Signs of a server's reason that are told to people.
const SAID_MAX: usize = 300;

/// A ClickHouse database. Makes drivers that share its connections.
pub struct ClickHouse {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    retention: Arc<dyn Retention>,
    /// The tables are there and of our version.
    prepared: Prepared,
    /// Server, table and items of deletions that took too long.
    given_up: Mutex<BTreeSet<(usize, String, String)>>,
}

impl std::fmt::Debug for ClickHouse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClickHouse").field(&self.shared.client.location()).finish()
    }
}

impl ClickHouse {
    /// The database that a URL such as `http://user:password@host:8123/database` names; with
    /// `?cluster=name` hosts with commas between, with `?legacy=table` the table that patches of other
    /// servers use. Nothing is asked yet; tables are made with the first write.
    pub fn new(
        url: &str,
        retention: Arc<dyn Retention>,
        clock: SharedClock,
    ) -> Result<Self, Error> {
        let client = Client::new(Address::parse(url)?, clock);
        let (prepared, given_up) = (Prepared::not_yet(), Mutex::default());
        Ok(Self { shared: Arc::new(Shared { client, retention, prepared, given_up }) })
    }

    fn is_legacy(&self) -> bool {
        self.shared.client.address.legacy.is_some()
    }
}

impl Store for ClickHouse {
    fn name(&self) -> String {
        format!("clickhouse-{}", self.shared.client.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        match self.shared.client.address.legacy.clone() {
            Some(table) => {
                Connection::boxed(&Arc::new(Legacy { shared: Arc::clone(&self.shared), table }))
            }
            None => Connection::boxed(&self.shared),
        }
    }

    fn tells_types(&self) -> bool {
        !self.is_legacy()
    }

    fn takes(&self, _: ItemId, kind: Kind) -> bool {
        !self.is_legacy() || legacy::takes(kind)
    }

    fn extent(&self, kind: Kind) -> Extent {
        match kind {
            _ if self.takes(ItemId(0), kind) => Extent::All,
            // Lines that other servers wrote.
            Kind::Log => Extent::Some,
            _ => Extent::Nothing,
        }
    }
}

impl Shared {
    fn prepare(&self) -> Result<(), Error> {
        let prepare = || match &self.client.address.legacy {
            Some(table) => legacy::prepare(self, table),
            None => schema::prepare(&self.client),
        };
        self.prepared.with(prepare, |()| Ok(()))
    }

    /// Sorts rows by partition if they are of many, and sends them in as few inserts as may be.
    fn insert<T>(
        &self,
        table: &schema::Table,
        mut rows: Vec<(Partition, T)>,
        put: impl Fn(&mut Vec<u8>, Class, &T),
    ) -> Result<(), Error> {
        let mut partitions: Vec<Partition> = rows.iter().map(|(partition, _)| *partition).collect();
        partitions.sort_unstable();
        partitions.dedup();
        if partitions.len() > PARTITIONS_MAX {
            // Stable: of equal keys the last has to stay the last.
            rows.sort_by_key(|(partition, _)| *partition);
        }
        for few in partitions.chunks(PARTITIONS_MAX) {
            let (Some(first), Some(last)) = (few.first(), few.last()) else { break };
            let mut body = Vec::with_capacity(rows.len() * 32);
            for (partition, row) in &rows {
                if first <= partition && partition <= last {
                    put(&mut body, partition.0, row);
                }
            }
            let columns = table.columns();
            let sql = format!("INSERT INTO {} ({columns}) FORMAT RowBinary", table.name);
            self.client.insert(&sql, &body)?;
        }
        Ok(())
    }

    /// Runs a deletion in one table of a server and waits until no reader sees these items any more.
    /// It is not waited for as such: where one of others fails, a part that has none of our rows
    /// may keep it open for ever.
    fn delete(&self, server: usize, table: &str, items: &str) -> Result<(), Error> {
        let any = format!("SELECT 1 FROM {table} WHERE itemid IN ({items}) LIMIT 1");
        let is_done = || Ok::<_, Error>(self.client.ask_at(server, &any)?.is_empty());
        let this = (server, table.to_owned(), items.to_owned());
        if is_done()? {
            lock(&self.given_up).remove(&this);
            return Ok(());
        }
        // One that was given up waiting for is not asked for once more beside itself.
        if !lock(&self.given_up).contains(&this) {
            let sql = format!("ALTER TABLE {table} DELETE WHERE itemid IN ({items})");
            self.client.ask_at(server, &sql)?;
        }
        for _ in 0..LOOKS_MAX {
            if is_done()? {
                lock(&self.given_up).remove(&this);
                return Ok(());
            }
            std::thread::sleep(LOOK_EVERY);
        }
        lock(&self.given_up).insert(this);
        let why = self.why_not_deleted(server, table)?;
        Err(Error::storage_away(format!(
            "a deletion in {table} does not end ({why}); trying again, see system.mutations"
        )))
    }

    /// What the server says of deletions that fail.
    fn why_not_deleted(&self, server: usize, table: &str) -> Result<String, Error> {
        if self.client.release(server)? < TELLS_WHY {
            return Ok(String::new());
        }
        let why = format!(
            "SELECT max(latest_fail_reason) FROM system.mutations \
             WHERE database = currentDatabase() AND table = '{table}' AND is_done = 0"
        );
        let said = self.client.ask_at(server, &why)?;
        Ok(String::from_utf8_lossy(&said).trim().chars().take(SAID_MAX).collect())
    }

    /// Drops the partitions of a class on a server, as far as it lets.
    fn drop_at(&self, server: usize, class: Class, day: Day) -> Vec<Result<u64, Error>> {
        let parts = match schema::partitions(&self.client, server) {
            Ok(parts) => parts,
            Err(error) => return vec![Err(error)],
        };
        let drop_old = |part: schema::Part| {
            let table = schema::tables().find(|table| table.name == part.table)?;
            let is_old = part.class == class && table.ends(&part) <= day;
            is_old.then(|| schema::drop_partition(&self.client, server, table, &part))
        };
        parts.into_iter().filter_map(drop_old).collect()
    }
}

/// Class and what its rows share: the day, or the span of 31 days for trends.
type Partition = (Class, u32);

impl Remote for Shared {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("clickhouse", self.client.location(), Durability::GroupCommit)
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.prepare()?;
        let mut kinds: [Vec<(Partition, &Sample)>; 4] = Default::default();
        for sample in samples {
            let kind = Kind::of_value(&sample.value);
            let class = self.retention.class(sample.item, kind);
            let partition = (class, Day::of(sample.at.clock).0);
            // Numbers of kinds of values are their places among the tables.
            kinds[usize::from(kind.number())].push((partition, sample));
        }
        for (table, rows) in schema::VALUES.iter().zip(kinds) {
            self.insert(table, rows, |body, class, sample| rows::put_sample(body, sample, class))?;
        }
        Ok(())
    }

    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error> {
        self.prepare()?;
        let mut kinds: [Vec<(Partition, &Trend)>; 2] = Default::default();
        for trend in trends {
            let kind = Kind::of_trend(trend);
            let class = self.retention.class(trend.item, kind);
            let span = Day::of(trend.hour).0 / TREND_DAYS;
            // Floats come first, as their table does.
            kinds[usize::from(!kind.is_float())].push(((class, span), trend));
        }
        for (table, rows) in schema::TRENDS.iter().zip(kinds) {
            self.insert(table, rows, |body, class, trend| rows::put_trend(body, trend, class))?;
        }
        Ok(())
    }

    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        self.prepare()?;
        for some in items.chunks(ITEMS_MAX) {
            let list = list(some);
            for table in schema::tables() {
                let table = table.local(self.client.address.cluster.is_some());
                for server in self.client.servers() {
                    self.delete(server, &table, &list)?;
                }
            }
        }
        Ok(())
    }

    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error> {
        self.prepare()?;
        // A partition or a server that fails keeps none of the others from dropping.
        let servers = self.client.servers();
        let dropped: Vec<_> = servers.flat_map(|server| self.drop_at(server, class, day)).collect();
        dropped.into_iter().try_fold(0_u64, |all, bytes| Ok(all.saturating_add(bytes?)))
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.prepare()?;
        // What a server has that does not answer is dropped later: who drops is told.
        let parts = self.client.servers().map(|server| schema::partitions(&self.client, server));
        let (known, failed): (Vec<_>, Vec<_>) = parts.partition(Result::is_ok);
        match failed.into_iter().next() {
            Some(Err(error)) if known.is_empty() => Err(error),
            _ => Ok(known.into_iter().flatten().flatten().map(|part| part.class).collect()),
        }
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        self.prepare()?;
        Question::from(wanted).samples(&self.client)
    }

    fn read_buckets(&self, wanted: &Coarse) -> Result<Option<Vec<Reduced>>, Error> {
        self.prepare()?;
        Question::from(wanted).buckets(&self.client, wanted).map(Some)
    }

    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        self.read_trends_of(&[item], span)
    }

    fn read_of(&self, items: &[ItemId], kinds: Kinds, span: Span) -> Result<Vec<Sample>, Error> {
        self.prepare()?;
        Question::all(items, kinds, span).samples(&self.client)
    }

    fn read_trends_of(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, Error> {
        self.prepare()?;
        Question::all(items, Kinds::NUMBERS, span).trends(&self.client)
    }
}

/// Items as SQL has them, with commas between.
fn list(items: &[ItemId]) -> String {
    items.iter().map(|item| item.0.to_string()).collect::<Vec<_>>().join(",")
}

/// What ClickHouse sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    super::odd_answer("ClickHouse", what, "is it a ClickHouse")
}
