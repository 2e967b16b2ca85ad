//! Actions: which of them apply to an event, and what they do then. So far: those on what network
//! discovery found and on agents that announced themselves, which change hosts.
//!
//! Discovery results come over a bounded queue; one thread ([`DiscoveryWriter::run`]) writes them in
//! transactions of many. Rows and what the actions do belong to one transaction; their events are
//! written with it.

mod action;
mod conditions;
mod discovery_writer;
#[cfg_attr(not(test), expect(dead_code, reason = "the escalator uses it"))]
mod escalation;
#[cfg_attr(not(test), expect(dead_code, reason = "the escalator uses it"))]
mod escalator;
mod globals;
mod hosts;
mod operations;
#[cfg_attr(not(test), expect(dead_code, reason = "the escalator uses it"))]
mod recipients;

pub use discovery_writer::DiscoveryWriter;

#[cfg(test)]
mod tests;
