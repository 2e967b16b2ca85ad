//! Host, item, trigger, value, sample, event: plain data. No input or output, no clock.
//!
//! A value changes its name at every hop, so that a signature tells how far it has come:
//! `Frame` (bytes of one message) → `Reading` (parsed, no item known; both in `wire`) →
//! [`Value`] (belongs to an item) → [`Sample`] (preprocessed, typed, stamped) → `Block` →
//! `Segment` (both in `tsdb`).

pub mod alert;
mod availability;
mod batch;
pub mod command;
mod discovery;
mod event;
mod finding;
mod id;
mod lld;
pub mod measured;
mod problem_update;
mod push;
mod time;
mod value;

pub use alert::Outgoing;
pub use availability::*;
pub use batch::*;
pub use compact_str::CompactString;
pub use discovery::*;
pub use event::*;
pub use finding::*;
pub use id::*;
pub use lld::*;
pub use problem_update::*;
pub use push::*;
pub use time::*;
pub use value::*;
