//! Those who ask: the [schedule], [checks] of all kinds, network [discovery]. All asynchronous, with
//! nothing to tune; nothing here listens.
//!
//! * [`Pollers::start`] starts everything; [`Handle::stop`] ends it.
//! * *Pollers* (one thread per core, each with the hosts that `model::shard_of` gives it; they
//!   share nothing) run the schedule, checks and internal items. Their results go to the shards in
//!   batches. A full shard queue stops them; that shows as late items.
//! * The table in [engines] says which engine checks items of which type.
//! * *Discovery* (a thread) looks at the addresses of discovery rules and tells what is there.
//! * [`Commander`] runs what actions and users tell hosts to do, beside the pollers, on threads of its own.
//! * [`Poster`] sends what connectors stream, on the exporter's thread.
//! * [`Status`] is what others read and ask: queue, counters, "check now", a check of one item.

mod checks;
mod commands;
mod discovery;
mod engines;
mod handle;
mod internal;
mod outbox;
mod poller;
mod poster;
mod schedule;
mod settings;
mod sides;
mod status;

pub use checks::icmp::{Outcome, PingError, Pinger, Series};
pub use checks::reply::{CheckReply, Lines};
pub use commands::{Answer, Commander, CommanderSetup};
pub use handle::{Deps, Handle, Pollers, StartError};
pub use poster::{PostError, Poster};
pub use settings::{HostKeyPolicy, PollConfig, WebFiles};
pub use sides::{InternalValue, Internals, ScriptAnswer, ScriptCall, Scripts};
pub use status::Status;
