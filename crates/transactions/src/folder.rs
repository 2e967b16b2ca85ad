//! A folder of blocks, for readers. Another process may write to it meanwhile.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::block::{BLOCK_MAX, HEADER, Header, MAGIC, is_intact};

/// Ending of the files' names. They are numbered, with leading zeros.
pub(crate) const ENDING: &str = "vtx";

/// Where a block is.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    pub(crate) header: Header,
}

/// A file and the blocks that were found in it.
#[derive(Debug)]
pub(crate) struct Indexed {
    name: OsString,
    file: Arc<File>,
    blocks: Vec<(u64, Header)>,
    /// Up to here it is indexed.
    end: u64,
    damaged: u64,
}

/// The blocks of a folder. [`refresh`](Self::refresh) takes in what was written or deleted since.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: Vec<Indexed>,
}

/// Names of the files, in the order in which they were written.
pub(crate) fn names(path: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let name = entry?.file_name();
        if Path::new(&name).extension().is_some_and(|ending| ending == ENDING) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

impl Folder {
    /// Opens a folder and indexes its files.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut folder = Self { path: path.to_owned(), files: Vec::new() };
        folder.refresh()?;
        Ok(folder)
    }

    /// One file alone.
    pub(crate) fn of_file(name: OsString, file: File) -> io::Result<Self> {
        let mut folder = Self::of_files();
        folder.add(name, file)?;
        Ok(folder)
    }

    /// A choice of files, which [`add`](Self::add) takes in. It is never refreshed.
    pub(crate) const fn of_files() -> Self {
        Self { path: PathBuf::new(), files: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: OsString, file: File) -> io::Result<()> {
        let mut indexed = Indexed::new(name, file);
        indexed.extend()?;
        self.files.push(indexed);
        Ok(())
    }

    /// Adds the files of another choice.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
    }

    pub(crate) fn block_count(&self) -> usize {
        self.files.iter().map(|indexed| indexed.blocks.len()).sum()
    }

    /// Where the readable blocks of the last file end.
    pub(crate) fn end(&self) -> u64 {
        self.files.last().map_or(0, |indexed| indexed.end)
    }

    /// Takes in files and blocks that are new, and forgets files that are gone.
    pub fn refresh(&mut self) -> io::Result<()> {
        let names = names(&self.path)?;
        self.files.retain(|indexed| names.binary_search(&indexed.name).is_ok());
        for name in names {
            if self.files.iter().any(|indexed| indexed.name == name) {
                continue;
            }
            match File::open(self.path.join(&name)) {
                Ok(file) => self.files.push(Indexed::new(name, file)),
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        self.files.iter_mut().try_for_each(Indexed::extend)
    }

    /// Leaves out what is there now: only what is written later is found.
    pub fn skip(&mut self) {
        self.files.iter_mut().for_each(|indexed| indexed.blocks.clear());
    }

    /// Rows in all blocks.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.headers().map(|header| u64::from(header.rows)).sum()
    }

    /// Stretches of files that hold no readable block, such as the end after a crash.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.files.iter().map(|indexed| indexed.damaged).sum()
    }

    /// First and last `began` of all rows; `None` without rows.
    #[must_use]
    pub fn span(&self) -> Option<(u64, u64)> {
        let first = self.headers().map(|header| header.first_us).min()?;
        Some((first, self.headers().map(|header| header.last_us).max()?))
    }

    fn headers(&self) -> impl Iterator<Item = &Header> {
        self.files.iter().flat_map(|indexed| &indexed.blocks).map(|(_, header)| header)
    }

    /// Blocks with rows of this time, newest first.
    pub(crate) fn blocks(&self, time: &RangeInclusive<u64>) -> Vec<Place> {
        let mut places = Vec::new();
        for indexed in &self.files {
            for (offset, header) in &indexed.blocks {
                if header.last_us >= *time.start() && header.first_us <= *time.end() {
                    let (file, offset, header) = (Arc::clone(&indexed.file), *offset, *header);
                    places.push(Place { file, offset, header });
                }
            }
        }
        places.sort_by_key(|place| std::cmp::Reverse(place.header.last_us));
        places
    }
}

impl Indexed {
    pub(crate) fn new(name: OsString, file: File) -> Self {
        Self { name, file: Arc::new(file), blocks: Vec::new(), end: 0, damaged: 0 }
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Offset and length of the first complete block at or behind an offset. It is not indexed.
    pub(crate) fn next_from(&mut self, offset: u64) -> io::Result<Option<(u64, u32)>> {
        self.end = offset;
        let length = self.file.metadata()?.len();
        while let Some(header) = self.header(length)? {
            match header {
                Ok(header) if self.end + u64::from(header.length) > length => break,
                Ok(header) => return Ok(Some((self.end, header.length))),
                Err(_) => match self.next_block(length)? {
                    Some(next) => self.end = next,
                    None => break,
                },
            }
        }
        Ok(None)
    }

    /// Indexes what follows the known end.
    fn extend(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        while let Some(header) = self.header(length)? {
            match header {
                Ok(header) if self.end + u64::from(header.length) > length => break,
                Ok(header) => {
                    self.blocks.push((self.end, header));
                    self.end += u64::from(header.length);
                }
                Err(_) => match self.next_block(length)? {
                    Some(next) => {
                        self.end = next;
                        self.damaged += 1;
                    }
                    None => break,
                },
            }
        }
        Ok(())
    }

    /// The header at the end; `None` = it is not complete yet.
    fn header(&self, length: u64) -> io::Result<Option<Result<Header, crate::Damage>>> {
        let rest = length.saturating_sub(self.end);
        if rest < HEADER as u64 {
            return Ok(None);
        }
        let mut bytes = vec![0; HEADER];
        self.file.read_exact_at(&mut bytes, self.end)?;
        let header = match Header::read(&bytes) {
            Ok(header) => header,
            Err(damage) => return Ok(Some(Err(damage))),
        };
        if rest < header.front() as u64 {
            return Ok(None);
        }
        bytes.resize(header.front(), 0);
        self.file.read_exact_at(&mut bytes, self.end)?;
        Ok(Some(is_intact(&bytes).map(|()| header)))
    }

    /// Where the next block may begin, behind damaged bytes.
    fn next_block(&self, length: u64) -> io::Result<Option<u64>> {
        const STEP: usize = 64 * 1024;
        let finder = memchr::memmem::Finder::new(&MAGIC);
        let mut at = self.end + 1;
        let limit = length.min(self.end.saturating_add(2 * u64::from(BLOCK_MAX)));
        while at < limit {
            let size = usize::try_from(length - at).unwrap_or(STEP).min(STEP);
            let mut bytes = vec![0; size];
            self.file.read_exact_at(&mut bytes, at)?;
            if let Some(found) = finder.find(&bytes) {
                return Ok(Some(at + found as u64));
            }
            // A magic number may lie across two steps.
            at += (size.saturating_sub(MAGIC.len() - 1)).max(1) as u64;
        }
        Ok(None)
    }
}
