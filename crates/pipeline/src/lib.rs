//! The value path: preprocessing, history syncer, triggers, calculated items; one shard per core.
//!
//! A shard owns its hosts: their preprocessing state, value cache, triggers and history. It is a
//! thread that takes batches of values, group by group, through these stages, in this order:
//!
//! 1. `preprocess`: value → sample, error or nothing; dependent items fan out.
//! 2. `syncer`: WAL → value cache → acknowledge.
//! 3. `triggers`: those that name an item with a new value; findings go to the writer of events.
//!
//! `core` is the wiring. Shards never wait for each other: what one needs of another travels in
//! messages, and a shard whose messages find no room stops taking values until they do.

mod calculated;
mod command;
mod configure;
mod core;
mod environment;
mod evaluator;
mod export;
mod fault;
mod foreign;
mod functions;
mod gauges;
mod live;
mod needs;
mod outbox;
mod peers;
mod plain;
mod preprocess;
mod progress;
mod recent;
mod refold;
mod resent;
mod round;
mod scripts;
mod set;
mod shard;
mod slots;
mod spawn;
mod states;
mod step_error;
mod syncer;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod texts;
mod triggers;
mod warm;
mod wheel;

pub use command::{Command, ItemReport, ItemReports, Scope, TriggerReport};
pub use export::{ExportFigures, ExportTap, Exported};
pub use gauges::{GaugeReading, Gauges, STAGES, Stage, VALUE_TYPES};
pub use live::LiveNote;
pub use scripts::ScriptRunner;
pub use set::{ShardHandle, ShardSet};
pub use spawn::{Deps, ShardsConfig};
