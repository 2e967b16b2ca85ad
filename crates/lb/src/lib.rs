//! The load balancer's engine: threads that accept connections for virtual services and forward
//! requests or bytes to the servers of pools.
//!
//! [`config`] is the file, [`snapshot`] what the threads see of it. Each thread is a [`worker`] with
//! one poll, one timer [`wheel`], its own buffers and its own connections to servers; a client's
//! connection is a [`session`], and so is each stream of its HTTP/2 connection ([`mux`], [`downlink`]), which
//! may become a stream to a server ([`uplink`]). Threads share only the snapshot and the counters of servers.
#![forbid(unsafe_code)]

mod buffer;
mod conn;
mod core;
mod downlink;
mod engine;
mod exchange;
mod form;
mod health;
pub mod import;
mod mux;
mod peer;
mod policy;
mod pool;
mod record;
mod recorder;
mod recording;
mod request;
mod response;
mod route;
mod service;
mod session;
mod slab;
mod snapshot;
mod stream;
mod tls;
mod tunnel;
mod uplink;
mod wheel;
mod worker;

pub use balancing as config;
pub use engine::{Engine, check, read};
pub use service::run;
