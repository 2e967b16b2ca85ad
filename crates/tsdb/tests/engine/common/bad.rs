//! A disk with sectors that cannot be read.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tsdb::{Disk, DiskFile, DiskRead, OsDisk};

/// A disk that does not give back some bytes of a file, or nothing of it.
#[derive(Debug, Clone)]
pub struct BadDisk {
    pub name: String,
    pub bad: std::ops::Range<u64>,
    pub opens: Result<(), i32>,
    /// So many reads of them fail.
    pub times: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct BadFile(Arc<dyn DiskRead>, std::ops::Range<u64>, Arc<AtomicUsize>);

impl BadDisk {
    /// Whenever these bytes of this file are read.
    pub fn always(name: &str, bad: std::ops::Range<u64>) -> Self {
        let times = Arc::new(AtomicUsize::new(usize::MAX));
        Self { name: name.to_owned(), bad, opens: Ok(()), times }
    }
}

impl DiskRead for BadFile {
    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let less = |n: usize| n.checked_sub(1);
        if offset < self.1.end
            && offset + buffer.len() as u64 > self.1.start
            && self.2.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
        {
            return Err(io::Error::from_raw_os_error(5));
        }
        self.0.read_at(buffer, offset)
    }
}

impl Disk for BadDisk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>> {
        let file = OsDisk.open(path)?;
        if !path.ends_with(&self.name) {
            return Ok(file);
        }
        self.opens.map_err(io::Error::from_raw_os_error)?;
        Ok(Arc::new(BadFile(file, self.bad.clone(), Arc::clone(&self.times))))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        OsDisk.create(path)
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        OsDisk.reopen(path, len)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        OsDisk.sync_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        OsDisk.list(path)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        let mut bytes = vec![0; usize::try_from(file.size()?).unwrap()];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}
