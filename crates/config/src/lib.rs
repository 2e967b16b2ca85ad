//! Configuration: the database (SQLite or PostgreSQL), the objects in it with their linkage and
//! discovery, and the immutable [`Snapshot`] that everything on the value path reads.
//!
//! Writers go through [`Config::write`]: one transaction, a list of what it touched, then the
//! next snapshot is built from the touched objects alone and swapped in whole. Readers take
//! [`Config::snapshot`] (one atomic load) or a read connection.

pub mod access;
pub mod audit;
pub mod change;
pub mod db;
#[cfg(test)]
mod deleted_tests;
mod edit;
pub mod engines;
mod holds;
mod identity;
pub mod link;
pub mod links;
pub mod lld;
pub mod maintenance;
pub mod objects;
pub mod oncall;
mod retired;
pub mod retry;
pub mod schema;
mod seed;
pub mod snapshot;
mod sources;
mod statements;
mod store;
mod touched;

pub use edit::{Conditions, Edit};
pub use schema::table;
pub use seed::seed;
pub use snapshot::Snapshot;
pub use statements::Statements;
pub use store::{Config, Listener};
pub use touched::Touched;
