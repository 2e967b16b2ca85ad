//! Collection: the trapper's listener, passive checks, internal items, their schedule, and who
//! is available. All asynchronous, with nothing to tune.
//!
//! * [`Collector::start`] starts everything; [`Handle::stop`] ends it.
//! * The *trapper* (any number of connections on the server's runtime) takes `sender data`,
//!   `agent data`, active checks and heartbeats, matches them with the snapshot and sends them to
//!   the shards in `ValueBatch`es with one acknowledgement; the peer hears "processed" only after
//!   the shards have kept the values. Requests of other layers go to [`Backend`].
//! * *Pollers* (one thread per core, each with the hosts that `model::shard_of` gives it; they
//!   share nothing) run the schedule, passive agent checks and internal items. Their results go to
//!   the shards in batches. A full shard queue stops them; that shows as late items.
//! * *Discovery* (a thread) looks at the addresses of discovery rules and tells what is there.
//! * [`Status`] is what others read and ask: queue, availability, counters, "check now", values
//!   from the API, a check of one item.
//!
//! Items of types that are not collected yet (simple checks, SNMP, HTTP agent without trapping)
//! never get values and are never listed as late.

mod availability;
mod counters;
mod deps;
mod discovery;
mod handle;
mod internal;
mod outbox;
mod peers;
mod poll;
mod resolver;
mod schedule;
mod settings;
mod sink;
mod status;
mod table;
mod tls;
mod trapper;
mod traps;

#[cfg(test)]
mod testing;

pub use availability::{Availability, Available, InterfaceState};
pub use counters::{Busy, Counters};
pub use deps::{
    Answer, Backend, Deps, InternalValue, Internals, Request, ScriptAnswer, ScriptCall, Snapshots,
};
pub use handle::{Collector, Handle, StartError};
pub use poll::agent::{AgentReply, Lines};
pub use poll::icmp::{Outcome, PingError, Pinger, Series};
pub use schedule::{Late, QueueReport, QueueRow, Reason};
pub use settings::{
    CollectorConfig, HostKeyPolicy, Limits, ReachDelays, Remembered, TlsConfig, WebFiles,
};
pub use status::{Push, PushError, PushValue, Status};
pub use tls::TlsError;
pub use trapper::active::LogPosition;
pub use traps::TrapPosition;
