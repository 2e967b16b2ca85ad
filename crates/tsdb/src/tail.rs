//! Reading the log of writes while it is written, and after a restart: block by block, from a
//! position on.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ItemId, Sample, Timestamp, Trend, TrendValues};

use crate::disk::{Disk, DiskRead};
use crate::error::{Damaged, Error};
use crate::kind::{Kind, at};
use crate::rows::{CLEAR, LATE, Raw, Rows, value_of};
use crate::spool::{Place, Position, Spool, names};
use crate::wal::{BLOCK_HEADER, FILE_HEADER, body_len, check_header, decode_block};
use crate::wal::{is_whole, next_block};

/// What cannot be read is looked for in steps of so many bytes.
const STEP: u64 = 4096;
/// When so many of them cannot be read, nothing more of the file is tried: each may take seconds.
const BAD_STEPS_MAX: usize = 64;
/// What the system says of a disk that does not give back what it has: `EIO`.
const IO_ERROR: i32 = 5;

/// An existing file and its path.
type Found = (PathBuf, Arc<dyn DiskRead>);

/// What one append wrote: samples, or trends, or items that were cleared, never two of these.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// Samples in the order in which they came.
    pub samples: Vec<Sample>,
    /// Hours.
    pub trends: Vec<Trend>,
    /// Items of which everything before is deleted.
    pub clears: Vec<ItemId>,
    /// When these were cleared; the log of every shard tells a deletion, at about the same time.
    pub cleared_at: Timestamp,
    /// Bytes in the log.
    pub bytes: u64,
    /// Where the next one starts.
    pub end: Position,
}

/// A reader of an engine's log. It may live on another thread than the engine.
pub struct Tail {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    spool: Arc<Spool>,
    reader: usize,
    at: Position,
    file: Option<(u64, Arc<dyn DiskRead>)>,
    damaged_blocks: u64,
    missed_files: bool,
    buffer: Vec<u8>,
    rows: Rows,
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").field("dir", &self.dir).field("at", &self.at).finish_non_exhaustive()
    }
}

impl Tail {
    /// The reader with this number of an engine that is open in `dir`.
    pub fn open(dir: &Path, disk: Arc<dyn Disk>, spool: Arc<Spool>, reader: usize) -> Self {
        let start = spool.start(reader);
        Self {
            dir: dir.to_owned(),
            disk,
            at: start.unwrap_or_default(),
            file: None,
            damaged_blocks: 0,
            missed_files: false,
            buffer: Vec::new(),
            rows: Rows::default(),
            spool,
            reader,
        }
    }

    /// Another one that goes on where this one is.
    pub fn again(&self) -> Self {
        let (dir, disk, spool) = (&self.dir, Arc::clone(&self.disk), Arc::clone(&self.spool));
        Self { at: self.at, ..Self::open(dir, disk, spool, self.reader) }
    }

    /// Where the next block starts: what to remember once all before is copied.
    pub fn position(&self) -> Position {
        self.at
    }

    /// The file that is being written. What was written before the engine was opened is in files
    /// with smaller numbers.
    pub fn current_file(&self) -> u64 {
        self.spool.current()
    }

    /// All before this position is copied and the position is on the disk: the log may forget it.
    pub fn confirm(&self, position: Position) {
        self.spool.confirm(self.reader, position);
    }

    /// Bytes that are not confirmed.
    pub fn behind(&self) -> u64 {
        self.spool.behind_of(self.reader)
    }

    /// Blocks that did not decode: rows that the disk lost.
    pub fn damaged_blocks(&self) -> u64 {
        self.damaged_blocks
    }

    /// A file that the engine knows is gone. One that it does not know held nothing acknowledged, or
    /// was removed while the engine had no such reader: who reads has to know when that was.
    pub fn missed_files(&self) -> bool {
        self.missed_files
    }

    /// The next block; `None` = nothing more is written yet. After an error the same is tried
    /// again.
    pub fn read(&mut self) -> Result<Option<Block>, Error> {
        loop {
            let place = self.spool.look(self.at.file);
            let (Place::Current(len) | Place::Closed(len, _)) = place else {
                let Place::Gone(next) = place else { continue };
                if self.go_to(next) {
                    continue;
                }
                return Ok(None);
            };
            self.at.offset = self.at.offset.max(FILE_HEADER as u64);
            if self.at.offset < len
                && let Some(block) = self.read_block(len)?
            {
                return Ok(Some(block));
            }
            match place {
                Place::Closed(_, next) if self.go_to(next) => {}
                _ => return Ok(None),
            }
        }
    }

    /// Leaves the place where reading fails in this way: goes to what can be read of the file behind
    /// it, or behind the file. False = time or people may mend it, nothing was left.
    pub fn skip(&mut self, error: &Error) -> bool {
        let is_lost = match error {
            Error::Damaged { .. } | Error::Io { what: "read", .. } => true,
            Error::Io { what: "open", cause, .. } => cause.raw_os_error() == Some(IO_ERROR),
            _ => false,
        };
        let (Place::Current(len) | Place::Closed(len, _)) = self.spool.look(self.at.file) else {
            return false;
        };
        if !is_lost || self.at.offset >= len {
            return false;
        }
        self.damaged_blocks += 1;
        let is_open = self.file.as_ref().is_some_and(|(seq, _)| *seq == self.at.file);
        if let (false, Ok(Some((_, file)))) = (is_open, self.find_file()) {
            // Perhaps it is the header alone.
            self.file = Some((self.at.file, file));
            return true;
        }
        self.at.offset = self.next_readable(len).unwrap_or(len);
        true
    }

    /// Where the next whole block starts behind what cannot be read.
    fn next_readable(&mut self, len: u64) -> Option<u64> {
        let (_, file) = self.file.as_ref()?;
        let start = self.at.offset;
        self.buffer.clear();
        self.buffer.resize(usize::try_from(len - start).ok()?, 0);
        let (mut offset, mut bad) = (start, 0);
        while offset < len && bad < BAD_STEPS_MAX {
            let end = len.min((offset / STEP + 1) * STEP);
            let at = |offset: u64| usize::try_from(offset - start).ok();
            let step = &mut self.buffer[at(offset)?..at(end)?];
            if file.read_at(step, offset).is_err() {
                // No block begins in zeros, and none that has them decodes.
                step.fill(0);
                bad += 1;
            }
            offset = end;
        }
        let next = next_block(&self.buffer, 0, &mut self.rows)?;
        Some(start + next as u64)
    }

    /// Goes to another file, if there is one: a position in a file that never came to be would
    /// look like one in a file that is gone.
    fn go_to(&mut self, file: u64) -> bool {
        if self.spool.look(file) == Place::Current(0) {
            return false;
        }
        self.at = Position { file, offset: FILE_HEADER as u64 };
        self.file = None;
        true
    }

    /// The block here, or the next whole one; `None` = none follows in this file.
    fn read_block(&mut self, len: u64) -> Result<Option<Block>, Error> {
        let Some(file) = self.open_file()? else {
            self.missed_files = true;
            self.at.offset = len;
            return Ok(None);
        };
        let start = self.at.offset;
        let size = match self.fill(file.as_ref(), start, BLOCK_HEADER as u64, len)? {
            true => body_len(&self.buffer).map(|body| BLOCK_HEADER as u64 + body),
            false => None,
        };
        let whole = match size {
            Some(size) => self.fill(file.as_ref(), start, size, len)?,
            None => false,
        };
        if whole && let Ok(size) = decode_block(&self.buffer, &mut self.rows) {
            return self.block(size as u64).map(Some);
        }
        self.fill(file.as_ref(), start, len - start, len)?;
        let Some(next) = next_block(&self.buffer, 0, &mut self.rows) else {
            // A crash leaves the beginning of a block.
            self.damaged_blocks += u64::from(is_whole(&self.buffer));
            self.at.offset = len;
            return Ok(None);
        };
        self.damaged_blocks += 1;
        self.at.offset += next as u64;
        let size = decode_block(&self.buffer[next..], &mut self.rows);
        self.block(size.expect("BUG: it was decoded a moment ago") as u64).map(Some)
    }

    /// Reads so many bytes; false = the file does not have them.
    fn fill(
        &mut self,
        file: &dyn DiskRead,
        from: u64,
        bytes: u64,
        len: u64,
    ) -> Result<bool, Error> {
        if from.saturating_add(bytes) > len {
            return Ok(false);
        }
        self.buffer.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        let read = file.read_at(&mut self.buffer, from);
        let path = self.dir.join(format!("{}.wal", self.at.file));
        read.map(|()| true).map_err(Error::io("read", &path))
    }

    fn open_file(&mut self) -> Result<Option<Arc<dyn DiskRead>>, Error> {
        if let Some((seq, file)) = &self.file
            && *seq == self.at.file
        {
            return Ok(Some(Arc::clone(file)));
        }
        let Some((path, file)) = self.find_file()? else { return Ok(None) };
        let mut header = [0; FILE_HEADER];
        file.read_at(&mut header, 0).map_err(Error::io("read", &path))?;
        check_header(&header, &path)?;
        self.file = Some((self.at.file, Arc::clone(&file)));
        Ok(Some(file))
    }

    fn find_file(&self) -> Result<Option<Found>, Error> {
        for path in names(&self.dir, self.at.file) {
            match self.disk.open(&path) {
                Ok(file) => return Ok(Some((path, file))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("open", &path)(error)),
            }
        }
        Ok(None)
    }

    /// Makes a block of the rows and goes behind it.
    fn block(&mut self, bytes: u64) -> Result<Block, Error> {
        let end = Position { offset: self.at.offset + bytes, ..self.at };
        let mut block = Block { bytes, end, ..Block::default() };
        let path = || self.dir.join(format!("{}.wal", self.at.file));
        take_apart(&self.rows, &mut block).map_err(|damaged| damaged.of(&path()))?;
        self.at = end;
        Ok(block)
    }
}

fn take_apart(rows: &Rows, block: &mut Block) -> Result<(), Damaged> {
    let mut texts = rows.bytes.as_slice();
    let mut figures = [0; 4];
    for row in 0..rows.len() {
        let (item, bits) = (ItemId(rows.item[row]), rows.bits[row]);
        match rows.kind[row] {
            CLEAR => {
                block.clears.push(item);
                block.cleared_at = at(rows.clock[row], rows.ns[row]);
            }
            LATE => {}
            number => {
                let kind = Kind::from_number(number).ok_or(Damaged("a row of an unknown kind"))?;
                if kind.is_trend() {
                    figures[usize::from(kind.number() % 4)] = bits;
                    block.trends.extend(trend(kind, item, rows.clock[row], figures));
                    continue;
                }
                let raw = if kind.is_bytes() {
                    let len = usize::try_from(bits).unwrap_or(usize::MAX);
                    let text = texts.split_off(..len).ok_or(Damaged("texts do not fit"))?;
                    Raw::Bytes(text)
                } else {
                    Raw::Bits(bits)
                };
                let at = at(rows.clock[row], rows.ns[row]);
                block.samples.push(Sample { item, at, value: value_of(kind, raw)? });
            }
        }
    }
    Ok(())
}

/// A trend is four rows that follow each other: minimum, mean, maximum, number.
fn trend(kind: Kind, item: ItemId, hour: u32, [min, avg, max, num]: [u64; 4]) -> Option<Trend> {
    let values = match kind {
        Kind::FloatNum => {
            let [min, avg, max] = [min, avg, max].map(f64::from_bits);
            TrendValues::Float { min, avg, max }
        }
        Kind::UnsignedNum => TrendValues::Unsigned { min, avg, max },
        _ => return None,
    };
    Some(Trend { item, hour, num: u32::try_from(num).unwrap_or(u32::MAX), values })
}
