//! History in databases: the drivers of stores that are reached over a network.
//!
//! Each store implements [`history::Store`]. Cassandra, ClickHouse, HBase, OpenSearch and Riak share
//! one driver ([`remote`]); PostgreSQL and MySQL share another ([`sql`]), because their clients keep
//! one connection per session. Stores with an HTTP interface share a client ([`http`]).

mod bytes;
mod cassandra;
mod clickhouse;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod hbase;
mod http;
mod moments;
mod mysql;
mod opensearch;
mod place;
mod postgresql;
mod prepared;
mod remote;
mod riak;
#[cfg(any(test, feature = "fuzzing"))]
mod script;
mod sql;

pub use cassandra::Cassandra;
pub use clickhouse::{ClickHouse, ClickHouseRecords};
pub use hbase::HBase;
pub use mysql::open_mysql;
pub use opensearch::OpenSearch;
pub use postgresql::open_postgresql;
pub use riak::Riak;

use std::fmt::Display;
use std::sync::Arc;

use history::{Error, Keeps, Part, Retention, Store};
use stdx::clock::SharedClock;

/// The store that a parameter names, such as `clickhouse=http://host:8123/database`, with what its
/// settings make of it (`?types=…&days=…`). No message repeats the URL: it may hold a password.
pub fn named(
    word: &str,
    retention: Arc<dyn Retention>,
    keeps: Keeps,
    clock: &SharedClock,
) -> Result<Arc<dyn Store>, Error> {
    let (kind, address) = word.split_once('=').ok_or_else(|| {
        Error::config("a store is named like clickhouse=http://host:8123/database")
    })?;
    let (part, address) = Part::take_from(address)?;
    part.of(open(kind, &address, retention, clock)?, keeps)
}

/// Opens the store of records of transactions that a parameter names, such as
/// `clickhouse=http://host:8123/database`. Connects on first use. No message repeats the URL.
///
/// # Errors
/// There is no such store, or the URL is wrong.
pub fn open_records(
    word: &str,
    limits: transactions::Limits,
    clock: &SharedClock,
) -> Result<Arc<dyn transactions::Store>, Error> {
    match word.split_once('=') {
        Some(("clickhouse", url)) => {
            Ok(Arc::new(ClickHouseRecords::open(url, limits, Arc::clone(clock))?))
        }
        _ => Err(Error::config(
            "a store of transactions is named like clickhouse=http://host:8123/database",
        )),
    }
}

/// Opens the store of this kind, such as `clickhouse`, at `url`. Connects on first use.
pub fn open(
    kind: &str,
    url: &str,
    retention: Arc<dyn Retention>,
    clock: &SharedClock,
) -> Result<Arc<dyn Store>, Error> {
    Ok(match kind {
        "cassandra" => Arc::new(Cassandra::new(url, retention, Arc::clone(clock))?),
        "clickhouse" => Arc::new(ClickHouse::new(url, retention, Arc::clone(clock))?),
        "hbase" => Arc::new(HBase::new(url, retention, Arc::clone(clock))?),
        "mysql" => open_mysql(url, retention, Arc::clone(clock))?,
        "opensearch" => Arc::new(OpenSearch::new(url, retention)?),
        "postgresql" => open_postgresql(url, retention, Arc::clone(clock))?,
        "riak" => {
            tracing::warn!(
                "the history store Riak is experimental: it was never tested with a real Riak"
            );
            Arc::new(Riak::new(url, retention, Arc::clone(clock))?)
        }
        other => {
            return Err(Error::config(format!(
                "unknown history store \"{other}\"; known stores: cassandra, clickhouse, hbase, mysql, \
                 opensearch, postgresql, riak (experimental)"
            )));
        }
    })
}

/// What is told of a question that a store ended because we give it so long.
const TOO_LONG: &str = "; Vedette lets a question take 18 seconds: ask for a shorter \
                                   time, or see what keeps the server busy";

/// Most rows of one question.
const ROWS_MAX: usize = 5_000_000;

/// More rows than anybody looks at would fill the memory.
fn at_most(rows: usize) -> Result<(), Error> {
    if rows <= ROWS_MAX {
        return Ok(());
    }
    let message = format!("more than {ROWS_MAX} values match; request a shorter time range");
    Err(Error::row(message))
}

/// What a store sent cannot be what was asked for.
fn odd_answer(store: &str, what: &str, doubt: &str) -> Error {
    Error::storage_away(format!("{store} answered what cannot be read ({what}); {doubt}?"))
}

/// What a newer release made of a store is not touched.
fn not_newer<T: Ord + Display>(location: &str, found: &T, known: &T) -> Result<(), Error> {
    if found <= known {
        return Ok(());
    }
    Err(Error::config(format!(
        "what is in {location} has version {found}, this release knows {known}: run the newer \
         release"
    )))
}

/// An address as part of a name: see [`Store::name`](history::Store::name).
fn as_name(address: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    address.chars().map(fit).collect()
}
