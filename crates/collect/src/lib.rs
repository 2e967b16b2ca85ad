//! What those who listen (`listen`) and those who poll (`poll`) share: [`Context`] with clock,
//! configuration, [`sink`], [`counters`], [`availability`], [`resolver`] and [`tls`]; what scripts
//! reach ([`outside`]) and how programs are started ([`program`]). Nothing here listens or asks by itself.

pub mod availability;
mod context;
pub mod counters;
pub mod expected;
pub mod outside;
pub mod positions;
pub mod program;
pub mod queue;
pub mod read;
pub mod remote;
pub mod resolver;
pub mod sink;
pub mod snapshots;
pub mod snmp;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tls;

pub use context::{Context, Parts, Remembered};
