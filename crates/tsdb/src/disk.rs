//! The file system as the engine sees it: few operations, so that tests can fail each of them.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use crate::error::Error;

/// A file being written.
pub trait DiskFile: Send + Sync {
    /// Appends all bytes by one `write(2)` where the system allows it. After an error any part of
    /// them may be in the file.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off all but the first `len` bytes; the next append goes there.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Waits until all that was appended is on the disk. After an error nobody knows what is,
    /// even if a later call succeeds.
    fn sync(&self) -> io::Result<()>;
}

/// A file that remembers a failed sync: the system forgets it after the first query.
pub(crate) struct Watched {
    file: Arc<dyn DiskFile>,
    failed: Mutex<Option<String>>,
}

impl Watched {
    pub(crate) fn over(file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(Self { file, failed: Mutex::new(None) })
    }
}

impl DiskFile for Watched {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        let mut failed = lock(&self.failed);
        if let Some(earlier) = &*failed {
            return Err(io::Error::other(format!("it failed before: {earlier}")));
        }
        self.file.sync().inspect_err(|error| *failed = Some(error.to_string()))
    }
}

/// A file being read in parts. It stays readable after it was unlinked.
pub trait DiskRead: Send + Sync + std::fmt::Debug {
    /// Bytes of the file.
    fn size(&self) -> io::Result<u64>;
    /// Fills the buffer from so many bytes behind the start; an end before that is an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// Everything that the engine does with files, but for the lock of its directory.
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
    /// Names in a directory.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Opens a file whose parts are to be read.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>>;
}

/// The real one.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsDisk;

impl DiskFile for File {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        file.write_all(bytes)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        let mut file = self;
        file.seek(io::SeekFrom::Start(len)).map(drop)
    }
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

impl DiskRead for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }
}

impl Disk for OsDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(File::create(path)?))
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().write(true).open(path)?;
        file.truncate(len)?;
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
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().into_string()));
        // What is not even text is none of the engine's.
        names.filter_map(|name: io::Result<_>| name.map(Result::ok).transpose()).collect()
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>> {
        Ok(Arc::new(File::open(path)?))
    }
}

/// Replaces a file and waits for the disk.
pub(crate) fn replace(dir: &Path, disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = path.with_extension("tmp");
    let file = disk.create(&temporary).map_err(Error::io("create", &temporary))?;
    file.append(bytes).map_err(Error::io("write", &temporary))?;
    file.sync().map_err(Error::io("sync", &temporary))?;
    disk.rename(&temporary, path).map_err(Error::io("rename", path))?;
    disk.sync_dir(dir).map_err(Error::io("sync", dir))
}

/// The name of a file that is damaged.
pub(crate) fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".damaged");
    PathBuf::from(name)
}
