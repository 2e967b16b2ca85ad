//! Those who accept: the [trapper](trapper), [active agents](active) and [SNMP traps](traps).
//! Nothing here asks anybody; who does is in `poll`.
//!
//! * [`Listener::bind`] takes the addresses, [`Bound::start`] starts everything, [`Handle::stop`]
//!   ends it.
//! * The *trapper* (any number of connections on the server's runtime) takes `sender data`,
//!   `agent data`, active checks and heartbeats, matches them with the snapshot and sends them to
//!   the shards in `ValueBatch`es with one acknowledgement; the peer hears "processed" only after
//!   the shards have kept the values. Requests of other layers go to [`Backend`].
//! * [`Intake`] takes values of the API.

mod active;
mod backend;
mod handle;
mod peers;
mod push;
mod settings;
mod shared;
mod trapper;
mod traps;

pub use backend::{Answer, Backend, Request};
pub use handle::{Bound, Handle, Listener, StartError};
pub use push::Intake;
pub use settings::{Limits, ListenConfig};
pub use trapper::matching::PushError;
