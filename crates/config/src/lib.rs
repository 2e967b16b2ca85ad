//! Configuration: the database (SQLite or PostgreSQL), the objects in it with their linkage and
//! discovery, and the immutable [`Snapshot`] that everything on the value path reads.
//!
//! Writers go through [`Config::write`]: one transaction, a list of what it touched, then the
//! next snapshot is built from the touched objects alone and swapped in whole. Readers take
//! [`Config::snapshot`] (one atomic load) or a read connection.

pub mod audit;
pub mod change;
pub mod db;
mod edit;
pub mod engines;
pub mod link;
pub mod lld;
pub mod maintenance;
pub mod objects;
pub mod retry;
pub mod schema;
mod seed;
pub mod snapshot;
mod statements;
mod store;
mod touched;

pub use edit::{Conditions, Edit};
pub use seed::seed;
pub use snapshot::Snapshot;
pub use statements::Statements;
pub use store::{Config, Listener};
pub use touched::Touched;
