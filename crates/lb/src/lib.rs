//! The load balancer's engine: threads that accept connections for virtual services and forward
//! requests or bytes to the servers of pools.
//!
//! [`config`] is the file, [`snapshot`] what the threads see of it. Each thread is a [`worker`] with
//! one poll, one timer [`wheel`], its own buffers and its own connections to servers; a client's
//! connection is a [`session`], and so is each stream of its HTTP/2 connection ([`mux`], [`downlink`]), which
//! may become a stream to a server ([`uplink`]). Datagrams have sessions of
//! their own ([`udp`]). Threads share only the snapshot, the counters of servers and the [`cache`] of responses.
#![forbid(unsafe_code)]

pub mod acme;
mod analytics;
mod announce;
mod applied;
mod auth;
mod buffer;
mod cache;
mod carrier;
mod client;
mod compression;
mod conn;
mod core;
mod downlink;
mod drain;
mod edits;
mod engine;
mod exchange;
mod form;
mod health;
mod identity;
pub mod import;
mod local;
mod mailbox;
mod mirror;
mod mux;
mod ocsp;
mod opening;
pub mod orders;
mod origin;
mod own;
mod peer;
mod phase;
mod pipes;
mod policy;
mod pool;
mod quic;
mod quic_link;
mod quic_settings;
mod rate;
mod record;
mod recorder;
mod recording;
mod relay;
mod request;
mod response;
mod route;
mod script;
mod service;
mod session;
mod slab;
mod slot;
mod snapshot;
mod stream;
mod succession;
mod tally;
mod tickets;
mod tls;
mod tunnel;
mod udp;
mod udp_settings;
mod uplink;
mod variable;
mod wheel;
mod worker;

pub use balancing as config;
pub use engine::{Engine, check, read};
pub use recorder::Counts;
pub use service::{Service, run};
pub use succession::{Beginning, Drain, announce_ready};
pub use tickets::{TICKET_ROTATION, TicketSecrets};
