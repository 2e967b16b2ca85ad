//! Real-time export: newline-delimited JSON in files, and streamed to the receivers of connectors.
//!
//! Shards hand over stored values and written trends through [`pipeline::ExportTap`], a bounded queue that
//! drops instead of making them wait. Events are read from the database, behind a bell. The *exporter* (a
//! thread) makes records of both and gives each to the file writer (another thread) and to the connectors
//! whose filters it passes. Each connector has its own bounded queue and its own senders, tasks of the
//! exporter's thread: a receiver that does not respond delays only its own connector.

mod bell;
mod connector;
mod describe;
mod events;
mod exporter;
mod files;
mod record;

pub use bell::Bell;
pub use exporter::{Handle, Setup, start};
pub use files::{Files, Kinds};
