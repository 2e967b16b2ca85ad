//! A folder of blocks, for its one writer.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::block::Header;
use crate::folder::{ENDING, Folder, names};

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

/// Appends blocks. While it exists, no other log can be opened in the folder.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    limits: Limits,
    /// Oldest first; the last one is written to.
    files: Vec<Written>,
    open: Option<File>,
    unsynced: bool,
    _lock: File,
}

impl Log {
    /// Opens a folder for writing, and creates it where it is missing. An error of the kind
    /// `ResourceBusy` means that another process writes to it.
    pub fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let lock = private().create(true).truncate(false).open(path.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => io::Error::new(
                io::ErrorKind::ResourceBusy,
                format!("{} is in use by another process", path.display()),
            ),
            std::fs::TryLockError::Error(error) => error,
        })?;
        let mut files = Vec::new();
        for name in names(path)? {
            let Some(number) =
                Path::new(&name).file_stem().and_then(|stem| stem.to_str()?.parse().ok())
            else {
                continue;
            };
            let file = File::open(path.join(&name))?;
            let (first_us, last_us) = Folder::of_file(name, file)?.span().unwrap_or_default();
            let bytes = std::fs::metadata(file_path(path, number))?.len();
            files.push(Written { number, bytes, first_us, last_us });
        }
        Ok(Self { path: path.to_owned(), limits, files, open: None, unsynced: false, _lock: lock })
    }

    /// Appends a block. After an error it is not kept, and the next one goes to a new file.
    pub fn append(&mut self, block: &[u8]) -> io::Result<()> {
        let header = Header::read(block).map_err(io::Error::other)?;
        if self.must_rotate(&header) {
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
        let file = private().create_new(true).open(file_path(&self.path, number))?;
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
