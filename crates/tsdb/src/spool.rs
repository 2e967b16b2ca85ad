//! The log of writes as a spool: feeders that copy it to other stores read the WAL,
//! whose files are kept until all feeders have read them.
//!
//! A file whose head is sealed is renamed from `<seq>.wal` to `<seq>.spool` instead of removed:
//! that is one step on the disk as well, and what recovery goes by is that the old name is gone.
//! When every reader has confirmed something younger, the file is removed.
//!
//! A start never goes on with the last WAL file, and numbers no new one as a position that a
//! reader has: behind what a power cut took away there would be other rows at the same place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use stdx::sync::lock;

use crate::disk::{Disk, aside};
use crate::error::Error;
use crate::wal::{FILE_HEADER, wal_path};

/// A place in an engine's log of writes: the next block that a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Position {
    /// Number of the WAL file.
    pub file: u64,
    /// Bytes from its start.
    pub offset: u64,
}

/// What an engine and the readers of its log share; given to it with
/// [`Options::spool`](crate::Options::spool).
#[derive(Debug)]
pub struct Spool {
    bytes_max: u64,
    readers: Vec<Reader>,
    files: Mutex<Files>,
    /// Bytes of the file being written that are whole blocks. Only the engine changes it.
    len: AtomicU64,
    /// The same in bytes of all files.
    end: AtomicU64,
}

#[derive(Debug)]
struct Reader {
    start: Option<Position>,
    /// The file that was confirmed last.
    file: AtomicU64,
    /// What was confirmed, in bytes of all files.
    confirmed: AtomicU64,
}

#[derive(Debug, Default)]
struct Files {
    /// Files that are written no more.
    closed: BTreeMap<u64, Closed>,
    /// The one being written; it may not exist yet.
    current: u64,
    /// Bytes of all files before it.
    base: u64,
}

#[derive(Debug, Clone, Copy)]
struct Closed {
    /// Bytes of all files before it.
    base: u64,
    len: u64,
    /// It is no WAL any more.
    sealed: bool,
}

/// What a reader finds where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The file being written, with so many bytes of whole blocks.
    Current(u64),
    /// A file with so many bytes, and the one that follows.
    Closed(u64, u64),
    /// There is no such file; what comes next is in this one.
    Gone(u64),
}

impl Spool {
    /// For readers that want to go on there; `None` = from the oldest row that the log has.
    /// Where a reader is `bytes_max` behind, the engine takes no more samples.
    pub fn new(readers: &[Option<Position>], bytes_max: u64) -> Self {
        let reader = |&start: &Option<Position>| {
            let file = AtomicU64::new(start.map_or(0, |start| start.file));
            Reader { start, file, confirmed: AtomicU64::new(0) }
        };
        Self {
            bytes_max,
            readers: readers.iter().map(reader).collect(),
            files: Mutex::default(),
            len: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    /// No file gets a number that a reader's position may have.
    pub(crate) fn floor(&self) -> u64 {
        let starts = self.readers.iter().filter_map(|reader| reader.start);
        starts.map(|start| start.file).max().unwrap_or(0)
    }

    /// The engine is open: these files are closed (number, bytes, sealed), and this comes next.
    pub(crate) fn opened(&self, closed: &[(u64, u64, bool)], current: u64) {
        let mut files = lock(&self.files);
        let mut base = 0;
        for &(seq, len, sealed) in closed {
            files.closed.insert(seq, Closed { base, len, sealed });
            base += len;
        }
        (files.current, files.base) = (current, base);
        self.end.store(base, Ordering::Release);
        let oldest = files.closed.keys().next().copied().unwrap_or(current);
        drop(files);
        for (number, reader) in self.readers.iter().enumerate() {
            self.confirm(number, reader.start.unwrap_or(Position { file: oldest, offset: 0 }));
        }
    }

    /// The current file exists, with its header alone.
    pub(crate) fn created(&self) {
        let base = lock(&self.files).base;
        self.len.store(FILE_HEADER as u64, Ordering::Release);
        self.end.store(base + FILE_HEADER as u64, Ordering::Release);
    }

    /// The current file is closed; the next one exists.
    pub(crate) fn rotated(&self, next: u64) {
        let mut files = lock(&self.files);
        let (base, len) = (files.base, self.len.load(Ordering::Acquire));
        let current = std::mem::replace(&mut files.current, next);
        files.closed.insert(current, Closed { base, len, sealed: false });
        files.base = base + len;
        let base = files.base;
        self.len.store(FILE_HEADER as u64, Ordering::Release);
        self.end.store(base + FILE_HEADER as u64, Ordering::Release);
    }

    /// A block is whole in the current file. No lock: values pass here.
    pub(crate) fn appended(&self, bytes: u64) {
        self.len.fetch_add(bytes, Ordering::AcqRel);
        self.end.fetch_add(bytes, Ordering::AcqRel);
    }

    /// The file is no WAL any more.
    pub(crate) fn sealed(&self, seq: u64) {
        if let Some(file) = lock(&self.files).closed.get_mut(&seq) {
            file.sealed = true;
        }
    }

    /// Bytes between the slowest reader and the end of the log.
    pub fn behind(&self) -> u64 {
        let confirmed = self.readers.iter().map(|reader| reader.confirmed.load(Ordering::Acquire));
        let end = self.end.load(Ordering::Acquire);
        confirmed.min().map_or(0, |confirmed| end.saturating_sub(confirmed))
    }

    /// Bytes between this reader and the end of the log.
    pub fn behind_of(&self, reader: usize) -> u64 {
        let end = self.end.load(Ordering::Acquire);
        let confirmed = self.readers.get(reader).map(|r| r.confirmed.load(Ordering::Acquire));
        confirmed.map_or(0, |confirmed| end.saturating_sub(confirmed))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.behind() >= self.bytes_max
    }

    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    pub(crate) fn start(&self, reader: usize) -> Option<Position> {
        self.readers.get(reader).and_then(|reader| reader.start)
    }

    /// All before this position is where the reader copies to, for good.
    pub(crate) fn confirm(&self, reader: usize, position: Position) {
        let files = lock(&self.files);
        let linear = if position.file >= files.current {
            let len = self.len.load(Ordering::Acquire);
            files.base + if position.file > files.current { len } else { position.offset.min(len) }
        } else {
            let next = files.closed.range(position.file..).next();
            next.map_or(files.base, |(&seq, file)| {
                file.base + if seq == position.file { position.offset.min(file.len) } else { 0 }
            })
        };
        drop(files);
        if let Some(reader) = self.readers.get(reader) {
            reader.confirmed.store(linear, Ordering::Release);
            reader.file.store(position.file, Ordering::Release);
        }
    }

    /// Number of the file being written.
    pub(crate) fn current(&self) -> u64 {
        lock(&self.files).current
    }

    /// What is where a reader stands.
    pub(crate) fn look(&self, file: u64) -> Place {
        let files = lock(&self.files);
        let after = |seq: u64| {
            let next = files.closed.range(seq + 1..).next();
            next.map_or(files.current, |(&next, _)| next)
        };
        if file == files.current {
            Place::Current(self.len.load(Ordering::Acquire))
        } else if let Some(closed) = files.closed.get(&file) {
            Place::Closed(closed.len, after(file))
        } else {
            Place::Gone(after(file))
        }
    }

    /// Takes out the files that nobody wants any more.
    pub(crate) fn removable(&self) -> Vec<u64> {
        let wanted = self.readers.iter().map(|reader| reader.file.load(Ordering::Acquire)).min();
        let mut files = lock(&self.files);
        let read = files.closed.range(..wanted.unwrap_or(u64::MAX));
        let gone: Vec<u64> = read.filter(|(_, file)| file.sealed).map(|(&seq, _)| seq).collect();
        files.closed.retain(|seq, _| !gone.contains(seq));
        gone
    }
}

/// Bytes of the log in `dir`, which no engine has open, that only readers of the log wait for, and of
/// which one at this position has not read (`None` = any): an engine without readers removes them. What
/// is not sealed yet is none of it.
pub fn unread(disk: &dyn Disk, dir: &Path, from: Option<Position>) -> Result<u64, Error> {
    let from = from.unwrap_or_default();
    let mut unread = 0;
    for name in disk.list(dir).map_err(Error::io("list", dir))? {
        let seq = name.strip_suffix(".spool").and_then(|seq| seq.parse().ok());
        let Some(seq) = seq.filter(|&seq: &u64| seq >= from.file) else { continue };
        let path = spool_path(dir, seq);
        let size = disk.open(&path).and_then(|file| file.size());
        let size = size.map_err(Error::io("look at", &path))?;
        let read = if seq == from.file { from.offset } else { FILE_HEADER as u64 };
        unread += size.saturating_sub(read);
    }
    Ok(unread)
}

/// Where a file is kept once its head is sealed.
pub(crate) fn spool_path(dir: &Path, seq: u64) -> PathBuf {
    dir.join(format!("{seq}.spool"))
}

/// The names that a file may have while somebody reads.
pub(crate) fn names(dir: &Path, seq: u64) -> [PathBuf; 4] {
    let wal = wal_path(dir, seq);
    // It may get its next name between two looks.
    [wal.clone(), spool_path(dir, seq), aside(&wal), spool_path(dir, seq)]
}
