//! A folder of blocks, for its one writer, and for the process that follows it.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::block::Header;
use crate::folder::{ENDING, Folder, Indexed, names};

/// What a log keeps: the newest blocks within both limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files.
    pub bytes: u64,
    /// Age of a row in microseconds.
    pub age_us: u64,
}

/// Bytes of a file before the next one begins; a limit below 16 of them makes files smaller.
const FILE_BYTES: u64 = 64 << 20;
/// Files within the limit, so that the deletion of the oldest takes a small part.
const FILES_MIN: u64 = 16;
/// Microseconds that a file covers before the next one begins.
const FILE_US: u64 = 3_600_000_000;

#[derive(Debug)]
struct Written {
    number: u64,
    bytes: u64,
    first_us: u64,
    last_us: u64,
}

impl Written {
    /// Takes in what another process has added; whether all of it is complete blocks.
    fn take_in(&mut self, file: File) -> io::Result<bool> {
        let bytes = file.metadata()?.len();
        let mut added = Indexed::new(OsString::new(), file);
        while self.bytes < bytes {
            match added.next_from(self.bytes)? {
                Some((at, length)) if at == self.bytes => self.bytes += u64::from(length),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// Appends blocks. While it exists, no other log can be opened in the folder, except
/// [beside](Self::open_beside) it.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    limits: Limits,
    /// Oldest first; the last one is written to.
    files: Vec<Written>,
    open: Option<File>,
    unsynced: bool,
    /// Locked by the process to which the folder belongs.
    owner: File,
    owned: bool,
    /// Locked by the process that appends.
    turn: File,
}

impl Log {
    /// Opens a folder for writing, and creates it where it is missing. An error of the kind
    /// `ResourceBusy` means that another process writes to it.
    pub fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        let log = Self::open_beside(path, limits)?;
        if log.owned {
            return Ok(log);
        }
        let busy = format!("{} is in use by another process", path.display());
        Err(io::Error::new(io::ErrorKind::ResourceBusy, busy))
    }

    /// The same while the log of another process may exist, which is about to end: both append to the
    /// newest file, one at a time. The folder then belongs to this process.
    pub fn open_beside(path: &Path, limits: Limits) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let owner = private().create(true).truncate(false).open(path.join("lock"))?;
        let turn = private().create(true).truncate(false).open(path.join("turn"))?;
        let owned = try_lock(&owner)?;
        let (path, open) = (path.to_owned(), None);
        let mut log =
            Self { path, limits, files: Vec::new(), open, unsynced: false, owner, owned, turn };
        log.find_files()?;
        Ok(log)
    }

    /// Adds the files that are newer than the known ones.
    fn find_files(&mut self) -> io::Result<()> {
        let newest = self.files.last().map_or(0, |written| written.number);
        for name in names(&self.path)? {
            let number = Path::new(&name).file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let Some(number) = number.filter(|number| *number > newest) else { continue };
            let file = File::open(self.path.join(&name))?;
            let folder = Folder::of_file(name, file)?;
            let (first_us, last_us) = folder.span().unwrap_or_default();
            let bytes = folder.end();
            self.files.push(Written { number, bytes, first_us, last_us });
        }
        Ok(())
    }

    /// Appends a block. After an error it is not kept, and the next one goes to a new file.
    pub fn append(&mut self, block: &[u8]) -> io::Result<()> {
        let header = Header::read(block).map_err(io::Error::other)?;
        self.owned = self.owned || try_lock(&self.owner)?;
        self.turn.lock()?;
        let appended = self.append_in_turn(block, &header);
        self.turn.unlock()?;
        appended
    }

    fn append_in_turn(&mut self, block: &[u8], header: &Header) -> io::Result<()> {
        self.follow()?;
        if self.must_rotate(header) {
            self.rotate()?;
        }
        let (Some(file), Some(written)) = (&mut self.open, self.files.last_mut()) else {
            return Err(io::Error::other("BUG: no file is open after one was created"));
        };
        if let Err(error) = file.write_all(block) {
            // What is there of the block is skipped by readers.
            self.open = None;
            return Err(error);
        }
        if written.bytes == 0 {
            written.first_us = header.first_us;
        }
        written.bytes += block.len() as u64;
        written.last_us = written.last_us.max(header.last_us);
        self.unsynced = true;
        Ok(())
    }

    /// Goes on in the newest file if another process has begun one: readers look for nothing new in the
    /// files before it. Behind a block that the other process has not completed there is no place for others:
    /// then no file is open.
    fn follow(&mut self) -> io::Result<()> {
        let known = self.files.len();
        self.find_files()?;
        let begun = self.files.len() > known;
        let Some(newest) = self.files.last_mut().filter(|_| self.open.is_some()) else {
            return Ok(());
        };
        let path = file_path(&self.path, newest.number);
        let whole = newest.take_in(File::open(&path)?)?;
        if begun || !whole {
            self.sync()?;
            let open = || File::options().append(true).open(path);
            self.open = whole.then(open).transpose()?;
        }
        Ok(())
    }

    /// Asks the disk to keep what was appended.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(file) = self.open.as_ref().filter(|_| self.unsynced) {
            file.sync_data()?;
        }
        self.unsynced = false;
        Ok(())
    }

    fn must_rotate(&self, header: &Header) -> bool {
        let (Some(_), Some(written)) = (&self.open, self.files.last()) else { return true };
        written.bytes >= FILE_BYTES.min(self.limits.bytes / FILES_MIN)
            || header.last_us.saturating_sub(written.first_us) > FILE_US && written.bytes > 0
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.sync()?;
        self.open = None;
        let number = self.files.last().map_or(1, |written| written.number + 1);
        let file = File::options()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(file_path(&self.path, number))?;
        // A power cut must not free the number for other blocks: their position is their identity.
        File::open(&self.path)?.sync_all()?;
        self.open = Some(file);
        self.files.push(Written { number, bytes: 0, first_us: 0, last_us: 0 });
        Ok(())
    }

    /// Deletes the oldest files beyond the limits. `now_us` = Unix time in microseconds.
    pub fn delete_old(&mut self, now_us: u64) -> io::Result<()> {
        let before = now_us.saturating_sub(self.limits.age_us);
        loop {
            let bytes: u64 = self.files.iter().map(|written| written.bytes).sum();
            let [oldest, _, ..] = &self.files[..] else { return Ok(()) };
            if bytes <= self.limits.bytes && oldest.last_us >= before {
                return Ok(());
            }
            match std::fs::remove_file(file_path(&self.path, oldest.number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => self.files.remove(0),
            };
        }
    }
}

/// Whether this process has the lock now.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

pub(crate) fn file_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:010}.{ENDING}"))
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
