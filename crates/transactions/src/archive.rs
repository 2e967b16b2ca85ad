//! Blocks of many engines, as the server keeps them: a copy of each engine's log.
//!
//! A stream is the log of one engine's folder. Its blocks have the same file numbers and offsets here as
//! there, so that the position of a block is its identity: a block that arrives twice is found in its
//! place, and a block that was cut off by a crash is overwritten when it arrives again. Each stream has a
//! folder, `ENGINE-RING`, which [`Folder`] can read alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use crate::block::{BLOCK_MAX, Header, is_intact};
use crate::folder::{Folder, names};
use crate::log::{Limits, file_path};
use crate::search::{Answer, Query, Search, Stop};

/// Space that a file counts for at least, so that small files are limited as well.
const FILE_BYTES_MIN: u64 = 64 << 10;
/// Streams of one engine: beyond, the one that was written to least recently is deleted.
const STREAMS_MAX: usize = 8;
/// Bytes that a damaged part of an engine's file may take: readers look no further for the next block.
const GAP_MAX: u64 = 2 * BLOCK_MAX as u64;
/// Blocks of a file; an engine writes a few a second, and a file for each hour. Their headers take 100 bytes each.
const BLOCKS_MAX: usize = 200_000;
/// Blocks that a search looks at before it forgets them, beside those of one file.
const BLOCKS_AT_ONCE: usize = 1_000_000;
/// Files that a search has open at once.
const FILES_AT_ONCE: usize = 256;
/// Complete files of a stream that wait for the next sync.
const UNSYNCED_MAX: usize = 8;
const US: u64 = 1_000_000;
/// Clocks of engines may be fast by this much.
const AHEAD_MAX_US: u64 = 3_600 * US;

/// The log of one engine's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stream {
    /// Id of the engine.
    pub engine: u64,
    /// Random number of the engine's folder: another folder counts from the beginning.
    pub ring: u64,
}

/// Where a block begins in its stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of the file.
    pub file: u32,
    /// Bytes before the block.
    pub offset: u32,
}

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was written.
    New,
    /// It had arrived before.
    Known,
}

/// Why a search gives no result.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The folder cannot be read.
    #[error("the records cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The database cannot be asked.
    #[error("the records cannot be read: {0}")]
    Unavailable(String),
}

#[derive(Debug)]
struct Kept {
    number: u32,
    /// Where its last block ends.
    end: u64,
    /// When its last block arrived: Unix time in microseconds.
    arrived_us: u64,
    /// First and last `began` once it is known.
    span: Option<Span>,
    /// Of the file that is written to: its blocks.
    blocks: usize,
}

impl Kept {
    fn cost(&self) -> u64 {
        self.end.max(FILE_BYTES_MIN)
    }
}

/// A file as a search finds it.
struct Candidate {
    number: u32,
    arrived_us: u64,
    span: Option<Span>,
}

#[derive(Debug, Default)]
struct Writing {
    /// Oldest first; the last one is written to.
    files: Vec<Kept>,
    open: Option<Arc<File>>,
    /// Complete files that may not be on the disk.
    unsynced: Vec<Arc<File>>,
}

impl Writing {
    fn end(&self) -> Position {
        let Some(last) = self.files.last() else { return Position::default() };
        Position { file: last.number, offset: u32::try_from(last.end).unwrap_or(u32::MAX) }
    }

    fn arrived_us(&self) -> u64 {
        self.files.iter().map(|kept| kept.arrived_us).max().unwrap_or(0)
    }
}

type Streams = BTreeMap<Stream, Writing>;

/// The folder of all streams. The caller holds it for one process.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    limits: Limits,
    streams: Mutex<Streams>,
}

impl Archive {
    /// Opens a folder; it is created with the first block. What a crash has cut off is removed.
    ///
    /// # Errors
    /// The folder cannot be read or its newest files cannot be repaired.
    pub fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        let mut streams = Streams::new();
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        for entry in entries.into_iter().flatten() {
            let name = entry?.file_name();
            if let Some(stream) = name.to_str().and_then(Stream::parse) {
                let writing = read_stream(&path.join(stream.name()))?;
                streams.insert(stream, writing);
            }
        }
        Ok(Self { path: path.to_owned(), limits, streams: Mutex::new(streams) })
    }

    /// The position behind the last block of a stream: all blocks before it are kept, or were deleted.
    #[must_use]
    pub fn end(&self, stream: Stream) -> Position {
        lock(&self.streams).get(&stream).map(Writing::end).unwrap_or_default()
    }

    /// Writes a block, which [`sync`](Self::sync) makes durable.
    ///
    /// # Errors
    /// `InvalidData`: it is no block, or its position leaves a gap. Others: it cannot be written.
    pub fn keep(
        &self,
        stream: Stream,
        at: Position,
        block: &[u8],
        now_us: u64,
    ) -> io::Result<Taken> {
        let header = header(block)?;
        let mut streams = lock(&self.streams);
        if !streams.contains_key(&stream) {
            self.make_room(&mut streams, stream.engine)?;
        }
        let writing = streams.entry(stream).or_default();
        let end = writing.end();
        if at < end {
            return Ok(Taken::Known);
        }
        let before = if at.file == end.file { u64::from(end.offset) } else { 0 };
        if u64::from(at.offset) - before > GAP_MAX || at.file == 0 {
            return Err(invalid("the position of a block leaves a gap"));
        }
        if at.file > end.file || writing.open.is_none() {
            writing.unsynced.extend(writing.open.take());
            if writing.unsynced.len() > UNSYNCED_MAX {
                writing.unsynced.iter().try_for_each(|file| file.sync_data())?;
                writing.unsynced.clear();
            }
            writing.open = Some(Arc::new(self.create(stream, at.file)?));
        }
        if at.file > end.file {
            let (number, arrived_us) = (at.file, now_us);
            writing.files.push(Kept { number, end: 0, arrived_us, span: None, blocks: 0 });
        }
        let (Some(file), Some(kept)) = (&writing.open, writing.files.last_mut()) else {
            return Err(io::Error::other("BUG: no file is open after one was created"));
        };
        if kept.blocks >= BLOCKS_MAX {
            return Err(invalid("a file of records has too many blocks"));
        }
        file.write_all_at(block, u64::from(at.offset))?;
        let first = if kept.end == 0 { Some(Span::NONE) } else { kept.span };
        kept.span = first.map(|span| Span {
            first_us: span.first_us.min(header.first_us),
            last_us: span.last_us.max(header.last_us).min(now_us.saturating_add(AHEAD_MAX_US)),
        });
        kept.blocks += 1;
        kept.end = u64::from(at.offset) + block.len() as u64;
        kept.arrived_us = now_us;
        Ok(Taken::New)
    }

    /// Waits until the blocks of a stream are on the disk.
    ///
    /// # Errors
    /// The disk fails. Blocks since the last success may be lost.
    pub fn sync(&self, stream: Stream) -> io::Result<()> {
        let files = match lock(&self.streams).get(&stream) {
            Some(writing) => Vec::from_iter(writing.unsynced.iter().chain(&writing.open).cloned()),
            None => return Ok(()),
        };
        files.iter().try_for_each(|file| file.sync_data())?;
        if let Some(writing) = lock(&self.streams).get_mut(&stream) {
            writing.unsynced.retain(|one| !files.iter().any(|file| Arc::ptr_eq(file, one)));
        }
        Ok(())
    }

    /// Deletes what is beyond the limits. Beyond the size, the oldest file of the stream with the most bytes
    /// is deleted, so that no engine displaces the records of the others.
    ///
    /// # Errors
    /// A file cannot be deleted.
    pub fn delete_old(&self, now_us: u64) -> io::Result<()> {
        let before = now_us.saturating_sub(self.limits.age_us);
        let mut streams = lock(&self.streams);
        for (stream, writing) in streams.iter_mut() {
            while writing.files.first().is_some_and(|oldest| oldest.arrived_us < before) {
                self.delete_oldest(*stream, writing)?;
            }
        }
        let bytes = |writing: &Writing| writing.files.iter().map(Kept::cost).sum::<u64>();
        while streams.values().map(bytes).sum::<u64>() > self.limits.bytes {
            let largest = streams
                .iter_mut()
                .filter(|(_, writing)| writing.files.len() > 1)
                .max_by_key(|(_, writing)| bytes(writing));
            let Some((stream, writing)) = largest else { break };
            self.delete_oldest(*stream, writing)?;
        }
        streams.retain(|_, writing| !writing.files.is_empty());
        Ok(())
    }

    /// Searches all streams.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, SearchError> {
        let mut stopped = false;
        // Of all files, first: bars have the same times in each of them.
        let (mut files, mut whole) = (Vec::new(), Span::NONE);
        for (stream, kept) in self.candidates(query) {
            if stop() {
                stopped = true;
                break;
            }
            let span = match kept.span {
                Some(span) => span,
                None => match self.index(stream, &kept)? {
                    Some((_, span)) => span,
                    None => continue,
                },
            };
            if span.overlaps(query) {
                whole = whole.with(span);
                files.push((stream, kept));
            }
        }
        let (first_us, last_us) =
            if files.is_empty() { (0, 0) } else { (whole.first_us, whole.last_us) };
        let mut search = Search::new(query, first_us, last_us);
        let (mut some, mut count) = (Folder::of_files(), 0);
        for (stream, kept) in files {
            if stopped || stop() {
                stopped = true;
                break;
            }
            let Some((one, _)) = self.index(stream, &kept)? else { continue };
            some.append(one);
            count += 1;
            if count == FILES_AT_ONCE || some.block_count() > BLOCKS_AT_ONCE {
                search.look_at(&some, stop);
                (some, count) = (Folder::of_files(), 0);
            }
        }
        search.look_at(&some, stop);
        Ok(search.finish(stopped))
    }

    /// A file with its blocks and their times; `None`: it was deleted meanwhile.
    fn index(&self, stream: Stream, kept: &Candidate) -> io::Result<Option<(Folder, Span)>> {
        let name = file_path(&self.path.join(stream.name()), kept.number.into());
        let file = match File::open(&name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let one = Folder::of_file(name.into_os_string(), file)?;
        let span = Span::of(&one, kept.arrived_us);
        self.learn(stream, kept.number, span);
        Ok(Some((one, span)))
    }

    /// Files that may have rows of the query's time, newest first.
    fn candidates(&self, query: &Query) -> Vec<(Stream, Candidate)> {
        let streams = lock(&self.streams);
        let mut files: Vec<(Stream, Candidate)> = Vec::new();
        for (stream, writing) in streams.iter() {
            for kept in &writing.files {
                if kept.span.is_none_or(|span| span.overlaps(query)) {
                    let Kept { number, arrived_us, span, .. } = *kept;
                    files.push((*stream, Candidate { number, arrived_us, span }));
                }
            }
        }
        files.sort_unstable_by_key(|(stream, kept)| {
            Reverse((kept.arrived_us, *stream, kept.number))
        });
        files
    }

    /// Remembers the times of a file that is complete.
    fn learn(&self, stream: Stream, number: u32, span: Span) {
        let mut streams = lock(&self.streams);
        let Some(writing) = streams.get_mut(&stream) else { return };
        let [complete @ .., _] = &mut writing.files[..] else { return };
        if let Some(kept) = complete.iter_mut().find(|kept| kept.number == number) {
            kept.span = Some(span);
        }
    }

    fn create(&self, stream: Stream, number: u32) -> io::Result<File> {
        let folder = self.path.join(stream.name());
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(file_path(&folder, number.into()))?;
        // Their entries have to outlive a power cut like the blocks.
        for folder in [&folder, &self.path] {
            File::open(folder)?.sync_all()?;
        }
        Ok(file)
    }

    fn delete_oldest(&self, stream: Stream, writing: &mut Writing) -> io::Result<()> {
        let Some(oldest) = writing.files.first() else { return Ok(()) };
        let folder = self.path.join(stream.name());
        remove(std::fs::remove_file(file_path(&folder, oldest.number.into())))?;
        writing.files.remove(0);
        if writing.files.is_empty() {
            writing.open = None;
            remove(std::fs::remove_dir(&folder))?;
        }
        Ok(())
    }

    /// Deletes the streams of an engine that another one leaves no room for.
    fn make_room(&self, streams: &mut Streams, engine: u64) -> io::Result<()> {
        loop {
            let own: Vec<_> =
                streams.iter().filter(|(stream, _)| stream.engine == engine).collect();
            if own.len() < STREAMS_MAX {
                return Ok(());
            }
            let oldest = own.iter().min_by_key(|(_, writing)| writing.arrived_us());
            let Some(stream) = oldest.map(|(stream, _)| **stream) else { return Ok(()) };
            remove(std::fs::remove_dir_all(self.path.join(stream.name())))?;
            streams.remove(&stream);
        }
    }
}

impl Stream {
    fn name(self) -> String {
        format!("{}-{:016x}", self.engine, self.ring)
    }

    fn parse(name: &str) -> Option<Self> {
        let (engine, ring) = name.split_once('-')?;
        let stream =
            Self { engine: engine.parse().ok()?, ring: u64::from_str_radix(ring, 16).ok()? };
        (stream.name() == name).then_some(stream)
    }
}

/// The times of a file's records, in microseconds.
#[derive(Debug, Clone, Copy)]
struct Span {
    first_us: u64,
    last_us: u64,
}

impl Span {
    /// That of no record.
    const NONE: Self = Self { first_us: u64::MAX, last_us: 0 };

    /// That of a file whose last block arrived at this time.
    fn of(file: &Folder, arrived_us: u64) -> Self {
        let latest_us = arrived_us.saturating_add(AHEAD_MAX_US);
        file.span().map_or(Self::NONE, |(first_us, last_us)| Self {
            first_us,
            last_us: last_us.min(latest_us),
        })
    }

    fn with(self, other: Self) -> Self {
        Self {
            first_us: self.first_us.min(other.first_us),
            last_us: self.last_us.max(other.last_us),
        }
    }

    const fn overlaps(self, query: &Query) -> bool {
        self.last_us >= query.from_us && self.first_us <= query.to_us
    }
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Checks that these bytes are one complete block. Its columns are not read.
///
/// # Errors
/// `InvalidData`: they are not.
pub fn check(block: &[u8]) -> io::Result<()> {
    header(block).map(drop)
}

/// The header of a block that is complete.
fn header(block: &[u8]) -> io::Result<Header> {
    let header = Header::read(block).ok().filter(|header| {
        header.length as usize == block.len()
            && header.rows > 0
            && header.first_us <= header.last_us
            && is_intact(&block[..header.front()]).is_ok()
    });
    header.ok_or_else(|| invalid("these bytes are not a block of records"))
}

fn remove(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Reads what a stream has; the last file ends with its last complete block.
fn read_stream(folder: &Path) -> io::Result<Writing> {
    let mut writing = Writing::default();
    for name in names(folder)? {
        let stem = Path::new(&name).file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let Some(number) = stem.filter(|number| *number > 0) else { continue };
        let metadata = std::fs::metadata(folder.join(&name))?;
        let arrived = metadata.modified()?.duration_since(std::time::UNIX_EPOCH);
        let arrived_us = arrived.map_or(0, |since| since.as_secs().saturating_mul(US));
        writing.files.push(Kept { number, end: metadata.len(), arrived_us, span: None, blocks: 0 });
    }
    writing.files.sort_unstable_by_key(|kept| kept.number);
    if let Some(last) = writing.files.last_mut() {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(file_path(folder, last.number.into()))?;
        let indexed = Folder::of_file("".into(), file.try_clone()?)?;
        last.end = indexed.end();
        last.span = Some(Span::of(&indexed, last.arrived_us));
        last.blocks = indexed.block_count();
        file.set_len(last.end)?;
        writing.open = Some(Arc::new(file));
    }
    Ok(writing)
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
