//! The driver over Cassandra and what speaks its protocol, such as ScyllaDB.
//!
//! One table a kind of value and retention class (see [`schema`]); a partition has the rows of one
//! item and day, of trends those of 31 days. A row's key is item, second and nanosecond, and
//! writing it again replaces it, so that a batch which is sent twice is there once. Of two writes
//! of one row the later wins by [times](super::moments) that we give. Rows end by themselves: each
//! table has its time to live, and its files have rows of one window of time, so that they go as a
//! whole.
//!
//! Which days an item has is in a small table of its own ([`tables`]): reads and deletions of an
//! item query only these partitions.

mod address;
mod link;
mod rows;
mod schema;
mod tables;
mod tls;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use tokio::runtime::Runtime;

use self::address::Address;
use self::tables::Tables;
use super::moments::Moments;
use super::place::{Row, in_order};
use super::prepared::Prepared;
use super::remote::{Connection, Remote, Wanted};
use history::{Class, Day, Driver, DriverInfo, Durability, Error, Retention, Span, Store};

/// A keyspace of a Cassandra cluster. Makes drivers that share its connections.
pub struct Cassandra {
    shared: Arc<Shared>,
}

struct Shared {
    address: Address,
    retention: Arc<dyn Retention>,
    moments: Arc<Moments>,
    /// Connections live here; callers wait on their own threads.
    runtime: Option<Runtime>,
    tables: Prepared<Arc<Tables>>,
}

impl std::fmt::Debug for Cassandra {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cassandra").field(&self.shared.address.location()).finish()
    }
}

impl Cassandra {
    /// The keyspace that a URL such as
    /// `cassandra://user:password@host1,host2:9042/keyspace?consistency=quorum&replication=3`
    /// names. Nothing is asked yet; keyspace and tables are made with the first write.
    pub fn new(
        url: &str,
        retention: Arc<dyn Retention>,
        clock: SharedClock,
    ) -> Result<Self, Error> {
        let address = Address::new(url)?;
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("history-cql").enable_all().build();
        let runtime = runtime.map_err(|cause| {
            Error::config(format!("cannot start a thread: {cause}; raise the user's limit"))
        })?;
        let moments = Arc::new(Moments::new(clock, Duration::from_micros(1)));
        let (runtime, tables) = (Some(runtime), Prepared::not_yet());
        Ok(Self { shared: Arc::new(Shared { address, retention, moments, runtime, tables }) })
    }
}

impl Store for Cassandra {
    fn name(&self) -> String {
        format!("cassandra-{}", self.shared.address.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        Connection::boxed(&self.shared)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Waiting for its end is not allowed on every thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    /// Waits for an answer on the caller's thread.
    fn wait<F: Future>(&self, answer: F) -> F::Output {
        self.runtime.as_ref().expect("BUG: taken only when dropped").block_on(answer)
    }

    /// The keyspace; connects, and makes it, when that has not been done yet.
    fn tables(&self) -> Result<Arc<Tables>, Error> {
        let open = || self.wait(Tables::open(&self.address, &self.moments)).map(Arc::new);
        self.tables.with(open, |tables| Ok(Arc::clone(tables)))
    }

    fn write_rows<'a>(&self, rows: impl Iterator<Item = Row<'a>>) -> Result<(), Error> {
        let tables = self.tables()?;
        // One request may not name a key twice: its rows are all of the same time.
        let rows = in_order(rows, self.retention.as_ref());
        self.wait(tables.write(&rows))
    }
}

impl Remote for Shared {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("cassandra", self.address.location(), Durability::GroupCommit)
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.write_rows(samples.iter().map(Row::Value))
    }

    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error> {
        self.write_rows(trends.iter().map(Row::Trend))
    }

    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        self.wait(self.tables()?.clear(items))
    }

    /// Hides it: the nodes give the space back when the rows' time has ended.
    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error> {
        self.wait(self.tables()?.drop_before(class, day))?;
        Ok(0)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.wait(self.tables()?.classes())
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        self.wait(self.tables()?.samples(wanted))
    }

    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        self.wait(self.tables()?.trends(item, span))
    }
}

/// What Cassandra sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    super::odd_answer("Cassandra", what, "were its tables altered by hand")
}
