//! The link between the server and the load balancer's engines, both of its ends.
//!
//! The [`server`] listens, lets engines enrol with a token, sends each engine the configuration of its
//! group, and keeps the records that engines send. An [`engine`] connects to it, applies and stores what
//! it gets, and goes on without the server. Both trust one certificate [`authority`], which the
//! configuration database keeps. Messages are those of [`proxying::engine_link`].
#![forbid(unsafe_code)]

pub mod analytics;
pub mod authority;
mod channel;
pub mod engine;
mod liveness;
mod purges;
pub mod server;

use std::time::Duration;

/// Each side sends at least this often.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// A peer that has sent nothing for this long is gone.
const SILENCE: Duration = Duration::from_secs(30);
/// Longest time for a connection, its handshake and the first messages together.
const OPENING: Duration = Duration::from_secs(15);
