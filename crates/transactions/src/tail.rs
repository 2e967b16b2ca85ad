//! The blocks of a log one after the other, for a reader that follows its writer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::archive::Position;
use crate::folder::{Indexed, names};
use crate::log::file_path;

/// Reads the blocks of a [`Log`](crate::Log) in the order in which they were written. It keeps one file
/// open, and holds no block in memory.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    open: Option<(u32, Indexed)>,
    at: Position,
}

impl Tail {
    /// Begins with the first block at or behind a position. Blocks that were deleted are skipped.
    #[must_use]
    pub fn new(path: &Path, at: Position) -> Self {
        Self { path: path.to_owned(), open: None, at }
    }

    /// Where the next block is looked for.
    #[must_use]
    pub const fn position(&self) -> Position {
        self.at
    }

    /// The next complete block; `None` = it is not written yet.
    ///
    /// # Errors
    /// The folder or a file cannot be read.
    pub fn read(&mut self) -> io::Result<Option<(Position, Vec<u8>)>> {
        loop {
            // Looked for first: once there is a next file, nothing is added to this one.
            let next = self.file_from(self.at.file + u32::from(self.open.is_some()))?;
            if let Some((number, indexed)) = &mut self.open {
                if let Some((offset, length)) = indexed.next_from(self.at.offset.into())? {
                    let at = Position { file: *number, offset: narrow(offset)? };
                    let mut block = vec![0; length as usize];
                    indexed.file().read_exact_at(&mut block, offset)?;
                    self.at.offset = narrow(offset + u64::from(length))?;
                    return Ok(Some((at, block)));
                }
                self.open = None;
                if next.is_none() {
                    return Ok(None);
                }
            }
            let Some(number) = next else { return Ok(None) };
            let name = file_path(&self.path, number.into());
            match File::open(&name) {
                Ok(file) => self.open = Some((number, Indexed::new(name.into_os_string(), file))),
                // Deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            if number != self.at.file {
                self.at = Position { file: number, offset: 0 };
            }
        }
    }

    /// Bytes of the log behind the position.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn bytes_left(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for number in self.numbers()?.into_iter().filter(|number| *number >= self.at.file) {
            let length = std::fs::metadata(file_path(&self.path, number.into()));
            let length = length.map_or(0, |metadata| metadata.len());
            let before = if number == self.at.file { self.at.offset } else { 0 };
            bytes += length.saturating_sub(before.into());
        }
        Ok(bytes)
    }

    fn file_from(&self, first: u32) -> io::Result<Option<u32>> {
        Ok(self.numbers()?.into_iter().find(|number| *number >= first))
    }

    fn numbers(&self) -> io::Result<Vec<u32>> {
        let names = names(&self.path)?;
        let number = |name| Path::new(name).file_stem()?.to_str()?.parse().ok();
        Ok(names.iter().filter_map(number).collect())
    }
}

fn narrow(offset: u64) -> io::Result<u32> {
    u32::try_from(offset).map_err(|_| io::Error::other("a file of records is longer than 4 GiB"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transaction;
    use crate::{Builder, Encoder, Folder, Limits, Log};

    fn block(number: u64) -> Vec<u8> {
        let mut builder = Builder::default();
        (0..=number).for_each(|row| builder.push(&transaction(number * 100 + row)));
        builder.finish(&mut Encoder::new().unwrap())
    }

    #[test]
    fn a_tail_reads_each_block_once_across_files_and_restarts() {
        let dir = tempfile::tempdir().unwrap();
        let all = Limits { bytes: u64::MAX, age_us: u64::MAX };
        let mut tail = Tail::new(dir.path(), Position::default());
        assert_eq!(tail.read().unwrap(), None, "an empty folder");
        let mut written = Vec::new();
        let mut read = Vec::new();
        for round in 0..4 {
            // A new log begins a new file.
            let mut log = Log::open(dir.path(), all).unwrap();
            for number in 0..3 {
                let bytes = block(round * 10 + number);
                log.append(&bytes).unwrap();
                written.push(bytes);
                if round % 2 == 0 {
                    read.extend(std::iter::from_fn(|| tail.read().unwrap()));
                    assert!(read.len() == written.len(), "{} blocks", read.len());
                }
            }
        }
        let left = tail.bytes_left().unwrap();
        let rest: Vec<_> = std::iter::from_fn(|| tail.read().unwrap()).collect();
        assert_eq!(left, rest.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
        assert_eq!(tail.bytes_left().unwrap(), 0);
        read.extend(rest);
        assert!(read.windows(2).all(|pair| pair[0].0 < pair[1].0), "positions grow");
        let bytes: Vec<_> = read.iter().map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(bytes, written);
        let (at, bytes) = &read[4];
        assert_eq!(Tail::new(dir.path(), *at).read().unwrap().unwrap(), (*at, bytes.clone()));
    }

    #[test]
    fn a_tail_passes_damaged_bytes_and_a_cut_off_block() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second, third) = (block(1), block(2), block(3));
        let cut = &third[..third.len() - 5];
        std::fs::write(file_path(dir.path(), 1), [&first[..], b"damage", &second, cut].concat())
            .unwrap();
        let mut tail = Tail::new(dir.path(), Position::default());
        let blocks: Vec<_> = std::iter::from_fn(|| tail.read().unwrap()).collect();
        assert_eq!(blocks.iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), [&first, &second]);
        std::fs::write(file_path(dir.path(), 7), &third).unwrap();
        assert_eq!(tail.read().unwrap(), Some((Position { file: 7, offset: 0 }, third)));
        assert_eq!(tail.read().unwrap(), None);
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(folder.block_count(), 3, "as other readers see it");
    }
}
