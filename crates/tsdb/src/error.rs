//! What can go wrong, whose fault it is and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why the engine could not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// A call to the file system failed.
    #[error(
        "cannot {what} {path:?}: {cause}; check that the disk is healthy, has space and belongs to the server's user"
    )]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system answered.
        cause: Arc<io::Error>,
    },
    /// What is in memory cannot be written to segments now, and there is no room for more.
    #[error(
        "history accepts no values now ({cause}); stored values are safe and readable, and writing is retried automatically"
    )]
    Refused {
        /// What failed.
        cause: Arc<str>,
    },
    /// A store to which the values are copied is too far behind.
    #[error(
        "history accepts no values now: {bytes} bytes wait for a history store (limit {limit}); stored values are safe; repair the store, or raise the limit of the spool"
    )]
    SpoolFull {
        /// Bytes that wait.
        bytes: u64,
        /// So many may wait.
        limit: u64,
    },
    /// A thread of the engine is gone.
    #[error(
        "history no longer accepts values ({cause}); existing values are readable; restart the server"
    )]
    Poisoned {
        /// What happened.
        cause: Arc<str>,
    },
    /// A file does not hold what was written into it.
    #[error(
        "{path:?} is damaged ({what}); restore the file from a backup, or move it away to continue without its values"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: &'static str,
    },
    /// The disk does not return what a file holds. That is no damage of the file: it is left alone.
    #[error(
        "cannot read {path:?}: {cause}; the file was not changed. Check the disk, and start again or copy the data folder to another disk; to continue without the values of this file, move it away"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        cause: Arc<io::Error>,
    },
    /// A file was written by a newer release.
    #[error(
        "{path:?} has format {found}, this release supports up to {known}; run the newer release, or move the file away"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Format in the file.
        found: u16,
        /// Newest format this release reads.
        known: u16,
    },
    /// Another process has the directory open.
    #[error("{path:?} is in use by another process; stop it, or configure another data directory")]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// A single text is larger than the engine takes.
    #[error(
        "a text of {bytes} bytes for item {item} is too large (limit {limit}); cut it before it is stored"
    )]
    TooLarge {
        item: u64,
        /// Size of the text.
        bytes: usize,
        /// Largest text taken.
        limit: usize,
    },
    /// The system refused a thread.
    #[error(
        "cannot start the history thread {name}: {cause}; raise the limit of processes of the server's user"
    )]
    Thread {
        /// The thread's name.
        name: &'static str,
        /// What the system answered.
        cause: Arc<io::Error>,
    },
}

/// `EIO`: the disk does not return what it holds.
const IO_ERROR: i32 = 5;

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Io { what, path, cause: Arc::new(cause) }
    }

    pub(crate) fn thread(name: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Thread { name, cause: Arc::new(cause) }
    }

    /// Will the same read fail again, because of what is on the disk?
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Io { what: "read", cause, .. } => {
                self.is_refused() || cause.kind() == io::ErrorKind::UnexpectedEof
            }
            _ => false,
        }
    }

    /// Is what was read not what was written? A read that the disk refuses says nothing of that.
    pub(crate) fn is_damage(&self) -> bool {
        self.is_lost() && !self.is_refused()
    }

    /// Did the disk refuse a read?
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self, Self::Io { what: "read", cause, .. } if cause.raw_os_error() == Some(IO_ERROR))
    }
}

/// Bytes that do not decode; becomes [`Error::Damaged`] where the file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged(pub(crate) &'static str);

impl Damaged {
    pub(crate) fn of(self, path: &Path) -> Error {
        Error::Damaged { path: path.to_owned(), what: self.0 }
    }
}
