//! Records of transactions: what a load balancer carried, one record for each request or connection.
//!
//! A [`Transaction`] becomes a row of a [`Builder`], which compresses up to 16,384 rows into a
//! block: each [column](columns) by itself, texts by a dictionary. A [`Log`] appends blocks to
//! files and deletes the oldest files beyond its limits; a [`Tail`] follows it. A [`Folder`] reads them, also while they are
//! written, and answers a [`Query`]: rows, a histogram, percentiles of each timing, groups. A block is
//! complete in itself: it can be stored and searched without anything else. A server keeps the blocks of many
//! engines in a [`Store`]: an [`Archive`] of files, or a database that [decodes](Decoded) them.

mod archive;
mod block;
mod builder;
pub mod columns;
mod condition;
mod decoded;
mod error;
mod filter;
mod folder;
mod log;
mod record;
mod scan;
mod search;
mod store;
mod summary;
mod tail;
#[cfg(test)]
mod testing;

pub use archive::{Archive, Position, SearchError, Stream, Taken, check};
pub use block::Encoder;
pub use builder::Builder;
pub use columns::{Cell, Column};
pub use condition::{Condition, Network, Pattern, Test};
pub use decoded::{Decoded, Field};
pub use error::{Damage, FilterError};
pub use filter::Filter;
pub use folder::Folder;
pub use log::{Limits, Log};
pub use record::{
    Cached, Client, Course, End, Fault, Protocol, Request, Response, Target, Timings, Transaction,
};
pub use search::{Answer, Query, ROWS_WANTED_MAX, Row, Stop};
pub use store::{Store, StoreError};
pub use summary::{Bar, GROUPS_MAX, Group, Histogram, Percentiles, Summary};
pub use tail::Tail;
