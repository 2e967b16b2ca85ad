//! Actions: which of them apply to an event, and what they do then.
//!
//! The [`Escalator`] sends messages about events of all sources: it follows the events in the database, and makes alerts for
//! users ([`recipients`]) and [`commands`] for hosts in the steps of an [`escalation`].
//!
//! Their [`text`]s are made of templates for each recipient.
//!
//! Actions on what network discovery found and on agents that announced themselves also change hosts.
//! Discovery results come over a bounded queue; one thread ([`DiscoveryWriter::run`]) writes them in
//! transactions of many. Rows and what the actions do belong to one transaction; their events are
//! written with it.

mod action;
mod bundles;
mod calm;
pub mod commands;
mod conditions;
mod discovery_writer;
mod escalation;
mod escalator;
mod globals;
mod hosts;
mod operations;
mod recipients;
pub mod text;

pub use discovery_writer::DiscoveryWriter;
pub use escalator::{
    Addressee, Bell, Escalator, Expand, Explainer, Prepared, Sent, Subject, Texts, delay_s,
};

#[cfg(test)]
mod tests;
