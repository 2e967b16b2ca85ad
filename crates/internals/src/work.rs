//! Which threads do the work that has a process of its own on other servers.

use pipeline::Stage;

/// What does the work of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// A part of collection, which measures it under the name of the process.
    Collection,
    /// A part of the shards' time.
    Shards(Stage),
    /// Threads of this name (CPU time).
    Threads(&'static str),
    /// The worker of low-level discovery.
    Discovery,
    /// The task that deletes what is expired.
    Housekeeping,
    /// The meter that takes the readings.
    Meter,
    /// The thread that makes records of real-time export.
    Exporter,
    /// Messages of connectors.
    Connectors,
    /// Nothing: there is no such work here, or it is part of other work.
    Nothing,
}
