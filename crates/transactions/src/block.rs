//! Blocks: up to 16,384 rows, each column compressed by itself. Numbers are little endian.
//!
//! ```text
//! header      "VTX1"; length of the block, rows, columns (u32 each); first and last `began` (u64 each);
//!             CRC-32 of header and directory (u32)
//! directory   per column: number (u8), kind (u8), 2 unused bytes; distinct texts (u32); smallest and
//!             largest number (u64 each); rows, dictionary: offset, length, CRC-32 (u32 each);
//!             length of the uncompressed dictionary (u32)
//! sections    rows: numbers or places of the dictionary, by pco; dictionary: ends (u32 each) and
//!             bytes of the texts, by zstd
//! ```
//!
//! A column whose rows are all 0 or all empty is left out; one whose rows are equal has no rows.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;

use pco::standalone::{simple_compress, simple_decompress_into};
use pco::{ChunkConfig, DeltaSpec, ModeSpec};

use crate::columns::{COLUMNS, Column};
use crate::error::Damage;

pub(crate) const MAGIC: [u8; 4] = *b"VTX1";
/// Bytes of a header.
pub(crate) const HEADER: usize = 36;
/// Rows of a block, so that a place of a dictionary fits 16 bits.
pub(crate) const ROWS_MAX: usize = 16_384;
const ENTRY: usize = 52;
/// Columns of a newer version are skipped; more than this is damage.
const COLUMNS_MAX: u32 = 250;
/// A block is never longer: every row with all its texts is shorter.
pub(crate) const BLOCK_MAX: u32 = 64 << 20;
/// A dictionary is never longer: its bytes are bounded by the builder.
const DICTIONARY_MAX: u32 = 48 << 20;
/// pco: 2 costs half the time of 8 and a few percent more bytes.
const PCO_LEVEL: usize = 2;
/// zstd: the fastest that still halves paths.
const ZSTD_LEVEL: i32 = 1;

/// Compressors with their memory, for one thread.
pub struct Encoder {
    zstd: zstd::bulk::Compressor<'static>,
}

impl Encoder {
    /// Fails without memory only.
    pub fn new() -> io::Result<Self> {
        Ok(Self { zstd: zstd::bulk::Compressor::new(ZSTD_LEVEL)? })
    }
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// A column before it is encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'v> {
    Numbers(&'v [u64]),
    Texts(TextValues<'v>),
}

/// The rows' places in a dictionary; its texts, one after the other; where each of them ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextValues<'v> {
    pub(crate) rows: &'v [u16],
    pub(crate) bytes: &'v [u8],
    pub(crate) ends: &'v [u32],
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("BUG: a section beyond 4 GiB")
}

/// A part of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Section {
    offset: u32,
    length: u32,
    crc: u32,
}

impl Section {
    fn put(out: &mut Vec<u8>, bytes: &[u8]) -> Self {
        let section = Self {
            offset: length(out.len()),
            length: length(bytes.len()),
            crc: crc32fast::hash(bytes),
        };
        out.extend_from_slice(bytes);
        section
    }
}

/// What the directory says of a column.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    number: u8,
    texts: bool,
    distinct: u32,
    min: u64,
    max: u64,
    rows: Section,
    dictionary: Section,
    dictionary_bytes: u32,
}

impl Entry {
    fn write(&self, out: &mut [u8]) {
        let mut numbers = Vec::with_capacity(ENTRY);
        numbers.extend_from_slice(&[self.number, u8::from(self.texts), 0, 0]);
        numbers.extend_from_slice(&self.distinct.to_le_bytes());
        numbers.extend_from_slice(&self.min.to_le_bytes());
        numbers.extend_from_slice(&self.max.to_le_bytes());
        for section in [self.rows, self.dictionary] {
            for number in [section.offset, section.length, section.crc] {
                numbers.extend_from_slice(&number.to_le_bytes());
            }
        }
        numbers.extend_from_slice(&self.dictionary_bytes.to_le_bytes());
        out.copy_from_slice(&numbers);
    }

    fn read(bytes: &[u8]) -> Self {
        let section = |at| Section {
            offset: u32_at(bytes, at),
            length: u32_at(bytes, at + 4),
            crc: u32_at(bytes, at + 8),
        };
        Self {
            number: bytes[0],
            texts: bytes[1] == 1,
            distinct: u32_at(bytes, 4),
            min: u64_at(bytes, 8),
            max: u64_at(bytes, 16),
            rows: section(24),
            dictionary: section(36),
            dictionary_bytes: u32_at(bytes, 48),
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Compresses the columns of [`COLUMNS`], in this order.
pub(crate) fn encode(columns: &[Values<'_>], rows: usize, encoder: &mut Encoder) -> Vec<u8> {
    let kept: Vec<_> =
        COLUMNS.iter().zip(columns).filter(|(_, values)| !is_empty(values)).collect();
    let directory_end = HEADER + kept.len() * ENTRY;
    let mut out = vec![0; directory_end];
    let (mut first, mut last) = (0, 0);
    for (place, (column, values)) in kept.iter().enumerate() {
        let entry = match **values {
            Values::Numbers(numbers) => encode_numbers(&mut out, column, numbers),
            Values::Texts(texts) => encode_texts(&mut out, column, texts, encoder),
        };
        if column.name == "began" {
            (first, last) = (entry.min, entry.max);
        }
        let at = HEADER + place * ENTRY;
        entry.write(&mut out[at..at + ENTRY]);
    }
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(&MAGIC);
    for number in [length(out.len()), length(rows), length(kept.len())] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    for time in [first, last] {
        header.extend_from_slice(&time.to_le_bytes());
    }
    out[..header.len()].copy_from_slice(&header);
    let crc = checksum(&out[..directory_end]);
    out[HEADER - 4..HEADER].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Of header and directory, without the checksum itself.
pub(crate) fn checksum(front: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&front[..HEADER - 4]);
    hasher.update(&front[HEADER..]);
    hasher.finalize()
}

/// Whether header and directory are as they were written.
pub(crate) fn is_intact(front: &[u8]) -> Result<(), Damage> {
    match checksum(front) == u32_at(front, HEADER - 4) {
        true => Ok(()),
        false => Err(Damage("the checksum of a block's directory is wrong")),
    }
}

fn is_empty(values: &Values<'_>) -> bool {
    match values {
        Values::Numbers(numbers) => numbers.iter().all(|number| *number == 0),
        Values::Texts(TextValues { bytes, ends, .. }) => bytes.is_empty() && ends.len() <= 1,
    }
}

fn compress<T: pco::data_types::Number>(values: &[T], delta: DeltaSpec) -> Vec<u8> {
    let config = ChunkConfig::default()
        .with_compression_level(PCO_LEVEL)
        .with_mode_spec(ModeSpec::Classic)
        .with_delta_spec(delta);
    simple_compress(values, &config).expect("BUG: the codec's settings are valid")
}

fn encode_numbers(out: &mut Vec<u8>, column: &Column, numbers: &[u64]) -> Entry {
    let min = numbers.iter().copied().min().unwrap_or(0);
    let max = numbers.iter().copied().max().unwrap_or(0);
    // Rows come in the order in which transactions end: their begins are nearly sorted.
    let delta = match column.name {
        "began" => DeltaSpec::TryConsecutive(1),
        _ => DeltaSpec::NoOp,
    };
    let rows = match min == max {
        true => Section::default(),
        false => Section::put(out, &compress(numbers, delta)),
    };
    Entry { number: column.number, min, max, rows, ..Entry::default() }
}

fn encode_texts(
    out: &mut Vec<u8>,
    column: &Column,
    TextValues { rows, bytes, ends }: TextValues<'_>,
    encoder: &mut Encoder,
) -> Entry {
    let mut plain = Vec::with_capacity(ends.len() * 4 + bytes.len());
    ends.iter().for_each(|end| plain.extend_from_slice(&end.to_le_bytes()));
    plain.extend_from_slice(bytes);
    let packed = encoder.zstd.compress(&plain).expect("BUG: the buffer is as large as it can get");
    let dictionary = Section::put(out, &packed);
    let rows = match ends.len() {
        0 | 1 => Section::default(),
        _ => Section::put(out, &compress(rows, DeltaSpec::NoOp)),
    };
    Entry {
        number: column.number,
        texts: true,
        distinct: length(ends.len()),
        rows,
        dictionary,
        dictionary_bytes: length(plain.len()),
        ..Entry::default()
    }
}

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of the whole block.
    pub length: u32,
    pub rows: u32,
    pub(crate) columns: u32,
    /// Smallest and largest `began`.
    pub first_us: u64,
    pub last_us: u64,
}

impl Header {
    /// Reads the [`HEADER`] bytes of a header, without their checksum, which covers the directory too.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Damage> {
        if bytes.len() < HEADER || bytes[..4] != MAGIC {
            return Err(Damage("no block begins here"));
        }
        let header = Self {
            length: u32_at(bytes, 4),
            rows: u32_at(bytes, 8),
            columns: u32_at(bytes, 12),
            first_us: u64_at(bytes, 16),
            last_us: u64_at(bytes, 24),
        };
        let sane = header.columns <= COLUMNS_MAX
            && header.rows as usize <= ROWS_MAX
            && (header.front()..=BLOCK_MAX as usize).contains(&(header.length as usize));
        if sane { Ok(header) } else { Err(Damage("a header has impossible sizes")) }
    }

    /// Bytes of header and directory.
    pub(crate) const fn front(&self) -> usize {
        HEADER + self.columns as usize * ENTRY
    }
}

/// Where blocks are read from.
pub(crate) trait ReadAt {
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>>;
}

impl ReadAt for File {
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(length);
        self.get(start..end).map(<[u8]>::to_vec).ok_or(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The texts of a column and the row's places in them.
#[derive(Debug)]
pub(crate) struct Texts {
    bytes: Vec<u8>,
    /// Bytes of the ends, at the front of `bytes`.
    front: usize,
    count: usize,
}

impl Texts {
    pub(crate) const fn len(&self) -> usize {
        self.count
    }

    /// Bytes of all texts and of their places.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The text at this place; empty beyond the end.
    pub(crate) fn get(&self, place: usize) -> &[u8] {
        if place >= self.count {
            return &[];
        }
        let end = |place: usize| self.front + u32_at(&self.bytes, place * 4) as usize;
        let start = place.checked_sub(1).map_or(self.front, end);
        self.bytes.get(start..end(place)).unwrap_or_default()
    }
}

/// A block whose header and directory are read; columns are read when they are asked for.
pub(crate) struct Block<'r, R: ?Sized> {
    reader: &'r R,
    offset: u64,
    header: Header,
    entries: [Entry; COLUMNS.len()],
}

impl<'r, R: ReadAt + ?Sized> Block<'r, R> {
    pub(crate) fn open(reader: &'r R, offset: u64, header: Header) -> Result<Self, Damage> {
        let front = reader
            .read_at(offset, header.front())
            .map_err(|_| Damage("the directory of a block cannot be read"))?;
        is_intact(&front)?;
        let mut entries = [Entry::default(); COLUMNS.len()];
        for entry in front[HEADER..].chunks_exact(ENTRY).map(Entry::read) {
            // Columns that this version does not know are skipped.
            let place = usize::from(entry.number).checked_sub(1);
            if let Some(own) = place.and_then(|place| entries.get_mut(place)) {
                *own = entry;
            }
        }
        Ok(Self { reader, offset, header, entries })
    }

    pub(crate) const fn rows(&self) -> usize {
        self.header.rows as usize
    }

    /// Smallest and largest number of a column.
    pub(crate) fn range(&self, column: &Column) -> RangeInclusive<u64> {
        let entry = &self.entries[column.place()];
        entry.min..=entry.max
    }

    fn section(&self, section: Section) -> Result<Vec<u8>, Damage> {
        if u64::from(section.offset) + u64::from(section.length) > self.header.length.into() {
            return Err(Damage("a column lies outside its block"));
        }
        let offset = self.offset + u64::from(section.offset);
        let bytes = self
            .reader
            .read_at(offset, section.length as usize)
            .map_err(|_| Damage("a column cannot be read"))?;
        match crc32fast::hash(&bytes) == section.crc {
            true => Ok(bytes),
            false => Err(Damage("the checksum of a column is wrong")),
        }
    }

    fn unpack<T: pco::data_types::Number + Default>(
        &self,
        section: Section,
    ) -> Result<Vec<T>, Damage> {
        let mut values = vec![T::default(); self.rows()];
        let progress = simple_decompress_into(&self.section(section)?, &mut values)
            .map_err(|_| Damage("a column does not decompress"))?;
        match progress.n_processed == self.rows() {
            true => Ok(values),
            false => Err(Damage("a column has a wrong number of rows")),
        }
    }

    /// The numbers of a column, one per row.
    pub(crate) fn numbers(&self, column: &Column) -> Result<Vec<u64>, Damage> {
        let entry = &self.entries[column.place()];
        match entry.rows.length {
            0 => Ok(vec![entry.min; self.rows()]),
            _ => self.unpack(entry.rows),
        }
    }

    /// The distinct texts of a column, at least one.
    pub(crate) fn texts(&self, column: &Column) -> Result<Texts, Damage> {
        let entry = &self.entries[column.place()];
        let (count, front) = (entry.distinct as usize, entry.distinct as usize * 4);
        if entry.dictionary.length == 0 {
            return Ok(Texts { bytes: vec![0; 4], front: 4, count: 1 });
        }
        if entry.dictionary_bytes > DICTIONARY_MAX || count > self.rows().max(1) {
            return Err(Damage("a dictionary is too large"));
        }
        let packed = self.section(entry.dictionary)?;
        let bytes = zstd::bulk::decompress(&packed, entry.dictionary_bytes as usize)
            .map_err(|_| Damage("a dictionary does not decompress"))?;
        match bytes.len() >= front {
            true => Ok(Texts { bytes, front, count }),
            false => Err(Damage("a dictionary ends too early")),
        }
    }

    /// Places of the rows in [`texts`](Self::texts); `None` = all are at the first.
    pub(crate) fn places(&self, column: &Column) -> Result<Option<Vec<u16>>, Damage> {
        let entry = &self.entries[column.place()];
        match entry.rows.length {
            0 => Ok(None),
            _ => self.unpack(entry.rows).map(Some),
        }
    }
}
