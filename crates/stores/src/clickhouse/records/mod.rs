//! Records of the load balancer's transactions in a ClickHouse, by its HTTP interface.
//!
//! One table has a row for each record (see [`table`]); another one has the position behind the last block of
//! each stream, which is written after the block's rows. A row's key is its stream, the position of its block and its
//! place there, behind the time by which it is searched: `ReplacingMergeTree` and `FINAL` make one row of those
//! that are inserted twice. Blocks wait in a bounded queue for one thread, which inserts many at once.

mod queue;
mod reading;
mod sql;
mod table;
mod writer;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use history::Error;
use stdx::clock::SharedClock;
use stdx::sync::lock;
use transactions::{
    Answer, Limits, Position, Query, SearchError, Stop, Store, StoreError, Stream, Taken,
};

use self::queue::Queue;
use super::super::prepared::Prepared;
use super::address::Address;
use super::http::Client;

/// How often records beyond the limits are looked for.
const DELETE_EVERY: Duration = Duration::from_secs(60);

/// A database with records. While it exists, its thread inserts what was taken.
pub struct ClickHouseRecords {
    shared: Arc<Shared>,
}

/// What readers and the thread share.
struct Shared {
    client: Client,
    clock: SharedClock,
    limits: Limits,
    /// The tables are there and have all columns.
    prepared: Prepared,
    queue: Queue,
    /// When records beyond the limits were last looked for.
    deleted: Mutex<Option<Duration>>,
}

impl std::fmt::Debug for ClickHouseRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClickHouseRecords").field(&self.shared.client.location()).finish()
    }
}

impl ClickHouseRecords {
    /// The database that a URL such as `http://user:password@host:8123/database` names. Its thread begins to ask
    /// for positions at once, and makes what is missing.
    ///
    /// # Errors
    /// The URL is wrong, or no thread can be started. No message repeats the URL: it may hold a password.
    pub fn open(url: &str, limits: Limits, clock: SharedClock) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        if address.cluster.is_some() || address.legacy.is_some() {
            return Err(Error::config(
                "records of transactions are stored on one ClickHouse: the options cluster and legacy are for \
                 history",
            ));
        }
        let shared = Arc::new(Shared {
            client: Client::new(address, Arc::clone(&clock)),
            clock,
            limits,
            prepared: Prepared::not_yet(),
            queue: Queue::default(),
            deleted: Mutex::default(),
        });
        let own = Arc::clone(&shared);
        stdx::thread::critical("transactions", move || writer::run(&own))
            .map_err(|error| Error::config(format!("no thread can be started: {error}")))?;
        Ok(Self { shared })
    }
}

impl Drop for ClickHouseRecords {
    fn drop(&mut self) {
        // What was not inserted is not acknowledged: engines send it again.
        self.shared.queue.close();
    }
}

impl Shared {
    fn prepare(&self) -> Result<(), Error> {
        self.prepared.with(|| table::prepare(&self.client), |()| Ok(()))
    }
}

impl Store for ClickHouseRecords {
    fn end(&self, stream: Stream) -> Result<Position, StoreError> {
        self.shared.queue.end(stream)
    }

    fn keep(
        &self,
        stream: Stream,
        at: Position,
        block: &[u8],
        now_us: u64,
    ) -> Result<Taken, StoreError> {
        transactions::check(block)?;
        self.shared.queue.put(stream, at, block, now_us)
    }

    fn sync(&self, stream: Stream) -> Result<Position, StoreError> {
        self.shared.queue.stored(stream)
    }

    fn is_ready(&self) -> bool {
        self.shared.queue.is_ready()
    }

    fn delete_old(&self, now_us: u64) -> Result<(), StoreError> {
        let now = self.shared.clock.monotonic();
        let mut deleted = lock(&self.shared.deleted);
        if deleted.is_some_and(|at| now.saturating_sub(at) < DELETE_EVERY) {
            return Ok(());
        }
        *deleted = Some(now);
        let work = || {
            self.shared.prepare()?;
            table::delete_old(&self.shared.client, self.shared.limits, now_us)
        };
        work().map_err(|error| StoreError::Unavailable(error.message))
    }

    fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, SearchError> {
        let asked =
            self.shared.prepare().and_then(|()| reading::search(&self.shared.client, query, stop));
        asked.map_err(|error| SearchError::Unavailable(error.message))
    }
}
