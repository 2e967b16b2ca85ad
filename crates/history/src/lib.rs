//! History: where samples and trends go and come from.
//!
//! [`Driver`] is the one trait behind which every store stands; each shard of the server owns
//! one driver and is the only one to write through it. Readers on other threads ask the
//! shard for a [`View`], which is cheap to make and does its work on the reader's thread.
//! [`Reader`] is the blocking face of that for the API. Beside the drivers live what the value
//! path needs from history without touching a disk: the [`value_cache`] of trigger functions and
//! the [`trends`] folder; and [`housekeeping`], which deletes whole days.
//!
//! The embedded engine stays in front. What it has acknowledged is copied to any number of stores
//! beside it by [`spool`], and [`Tiers`] reads from these what it keeps no longer. [`copy`] moves and
//! compares what is older than that. [`service`] is the face that other programs see.

mod buckets;
pub mod copy;
pub mod damage;
mod driver;
mod drivers;
mod embedded_days;
mod error;
pub mod housekeeping;
#[cfg(test)]
mod old;
mod part;
mod past;
mod reader;
pub mod service;
pub mod spool;
mod store;
mod sums;
mod tiers;
pub mod trends;
pub mod value_cache;

pub use buckets::{Bucket, HUGE, Reduced, complete, from_rows, reduce};
pub use driver::{Counters, Driver, DriverInfo, Durability, Newest, View};
pub use drivers::embedded::{Embedded, open_shards};
pub use drivers::layout::{damages, shards_below};
pub use drivers::memory::Memory;
pub use drivers::null::Null;
pub use embedded_days::EmbeddedDays;
pub use error::{Error, Fault};
pub use part::{Keeps, Part};
pub use past::{Lookback, Past, PastKind, WithPast};
pub use reader::{
    BucketQuery, Order, RangeQuery, Reader, buckets_by_parts, buckets_of, newest_of, range_of,
};
pub use store::{Extent, Store};
pub use sums::{Sums, Wide};
pub use tiers::Tiers;
pub use tsdb::{Class, Damage, Day, Kind, Kinds, Options, Recovery, Retention, Span, TrendHour};
pub use value_cache::ValueCache;
