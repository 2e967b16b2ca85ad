//! The file system as the engine sees it: few operations, so that tests can fail each of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::Arc;

/// A file being written.
pub trait DiskFile: Send + Sync {
    /// Appends all bytes by one `write(2)` where the system allows it.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Waits until all that was appended is on the disk.
    fn sync(&self) -> io::Result<()>;
}

/// Everything that changes the disk. Reading needs no faults injected: checksums guard it.
pub trait Disk: Send + Sync + 'static {
    /// Creates or empties a file.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file to append behind its first `len` bytes; the rest is cut off.
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames, replacing what is there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Unlinks a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Waits until creations, renames and removals in a directory are on the disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// The real one.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl DiskFile for File {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        file.write_all(bytes)
    }
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

impl Disk for OsDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(File::create(path)?))
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.seek(io::SeekFrom::Start(len))?;
        Ok(Arc::new(file))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
}
