//! Copies of requests for another pool. A copy is made while the request arrives, and is sent by a session of its own
//! when all of it has arrived. Its response is read and dropped, so the client's exchange does not depend on it.
//! A request that validates a stored response while clients get that one is sent in the same way, to the same pool.

mod copies;
mod copy;
mod launch;
mod memory;
mod refreshing;
mod sending;
mod settings;

pub(crate) use copies::Copies;
pub(crate) use copy::{Copy, Shape, Source};
pub(crate) use launch::{Launch, Refresh};
pub(crate) use settings::Mirror;
