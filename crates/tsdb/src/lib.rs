//! The embedded history engine.
//!
//! An [`Engine`] owns a directory and is owned by one thread. A batch of samples becomes one
//! compressed block of columns, appended to the **WAL** by one write, and joins the **head**, the
//! columns in memory. A full head is *sealed* in the background: its rows, sorted by item, become
//! **blocks** of immutable **segments**, one per retention class and UTC day, and the WAL file
//! goes. Small segments of a day are merged while idle; a day is deleted by unlinking.
//!
//! Reading makes a [`View`]: a copy of the few unsealed rows of the items asked for, and a
//! reference to the segments; it may be sent to another thread and decodes there. A series is
//! an item *and* a [`Kind`]; of rows with equal kind, clock and nanoseconds the last written
//! counts. Hourly trends are kept as series of their own kinds.
//!
//! The WAL can also be read by others, who copy what was written elsewhere: see [`Spool`] and
//! [`Tail`].
//!
//! What a `kill -9` or a power cut may cost, and what each file holds, is said in `wal` and
//! `recovery`; file formats are versioned and everything has a checksum.

mod block;
mod clears;
mod column;
mod damage;
mod disk;
mod engine;
mod error;
mod head;
mod inventory;
mod kind;
mod late;
mod layout;
mod manifest;
mod merge;
mod newest;
mod newest_cache;
mod newest_pages;
mod newest_read;
mod options;
mod plan;
mod recovery;
mod removal;
mod rotate;
mod rows;
mod salvage;
mod seal;
mod segment;
mod spool;
mod tail;
mod unreadable;
mod upkeep;
mod verify;
mod view;
mod wal;
mod worker;
mod writer;

pub use damage::{Damage, DamageLog};
pub use disk::{Disk, DiskFile, DiskRead, OsDisk};
pub use engine::{Committed, Engine, Sealed, Stats};
pub use error::Error;
pub use kind::{Class, Day, Kind, Kinds, Retention, Span, TrendHour};
pub use options::Options;
pub use recovery::Recovery;
pub use spool::{Position, Spool, unread};
pub use tail::{Block, Tail};
pub use verify::{Verified, verify};
pub use view::View;
