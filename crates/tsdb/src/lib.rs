//! The embedded history engine: WAL, head, segment, index, recovery.

mod disk;
mod error;
mod kind;
mod options;

pub use disk::{Disk, DiskFile, OsDisk};
pub use error::Error;
pub use kind::{Class, Day, Kind, Kinds, Retention, Span};
pub use options::Options;
