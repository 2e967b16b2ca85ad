//! Segments: immutable files of sealed rows, and how they are read.
//!
//! File: magic, blocks with a mark in front of each (see `salvage`), index pages, pages of newest rows, their directory, tables (one entry per
//! block, one per page), footer. Files of older releases have no newest rows and no marks. All numbers
//! that a reader needs to find a run are in the tables, which have a fixed width, so that opening reads the footer and the tables and a lookup decodes one page. Everything has
//! a checksum that is verified when it is read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::block::Block;
use crate::column::{Cursor, put_u32, put_u64, unpack};
use crate::damage::DamageLog;
use crate::disk::{Disk, DiskRead};
use crate::error::{Damaged, Error};
use crate::kind::{Class, Day, Kind, Kinds, Span, at};
use crate::newest_cache::Cache;
use crate::newest_read::NewestPages;
use crate::rows::{Raw, Run, Sink};
use crate::unreadable::{Unreadable, is_refused};

/// Newest format of segments that this release reads, and the one it writes.
pub(crate) const FORMAT: u16 = 1;
pub(crate) const MAGIC: &[u8; 8] = b"VEDSEG\r\n";
/// Index entries per page.
pub(crate) const PAGE_ENTRIES: usize = 1024;

const FOOTER: usize = 96;
const BLOCK_ENTRY: usize = 16;
pub(crate) const PAGE_ENTRY: usize = 24;

/// Which file: class, day, and the numbers of the WAL files whose rows it holds. Merged segments
/// hold a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentId {
    pub(crate) class: Class,
    pub(crate) day: Day,
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
}

impl SegmentId {
    pub(crate) fn file_name(&self) -> String {
        let Self { class, day, first_seq, last_seq } = self;
        format!("{}-{}-{first_seq}-{last_seq}.seg", day.0, class.0)
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_suffix(".seg")?.split('-');
        let day = Day(parts.next()?.parse().ok()?);
        let class = Class(parts.next()?.parse().ok()?);
        let (first_seq, last_seq) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let id = Self { class, day, first_seq, last_seq };
        (parts.next().is_none() && first_seq <= last_seq).then_some(id)
    }

    /// Does this file hold all rows of the other?
    pub(crate) fn replaces(&self, other: &Self) -> bool {
        (self.class, self.day) == (other.class, other.day)
            && self != other
            && self.first_seq <= other.first_seq
            && other.last_seq <= self.last_seq
    }
}

/// Where a block or a page lies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) crc: u32,
}

/// The fixed end of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Footer {
    pub(crate) rows: u64,
    pub(crate) runs: u64,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) blocks: u32,
    pub(crate) pages: u32,
    pub(crate) tables_at: u64,
    pub(crate) tables_crc: u32,
    /// Pages of newest rows; their directory lies in front of the tables.
    pub(crate) newest_pages: u32,
    pub(crate) newest_crc: u32,
}

impl Footer {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(FOOTER);
        put_u64(&mut out, self.rows);
        put_u64(&mut out, self.runs);
        put_u32(&mut out, self.first);
        put_u32(&mut out, self.last);
        put_u32(&mut out, self.blocks);
        put_u32(&mut out, self.pages);
        put_u64(&mut out, self.tables_at);
        put_u32(&mut out, self.tables_crc);
        put_u32(&mut out, self.newest_pages);
        put_u32(&mut out, self.newest_crc);
        // Room for what later formats add.
        out.resize(FOOTER - 16, 0);
        put_u32(&mut out, FORMAT.into());
        let crc = crc32fast::hash(&out);
        put_u32(&mut out, crc);
        out.extend_from_slice(MAGIC);
        out
    }

    /// Bytes of the tables.
    fn tables_len(&self) -> Option<usize> {
        let blocks = (self.blocks as usize).checked_mul(BLOCK_ENTRY)?;
        blocks.checked_add((self.pages as usize).checked_mul(PAGE_ENTRY)?)
    }

    /// Of the bytes of a whole file, if it is not damaged.
    pub(crate) fn of_file(bytes: &[u8], path: &Path) -> Option<Self> {
        Self::decode(&bytes[bytes.len().checked_sub(FOOTER)?..], path).ok()
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let fail = |what: Damaged| what.of(path);
        if !bytes.ends_with(MAGIC) {
            return Err(fail(Damaged("it does not end like a segment")));
        }
        let checked = &bytes[..FOOTER - 12];
        let mut tail = Cursor::new(&bytes[FOOTER - 16..]);
        let (format, crc) = (tail.u32().map_err(fail)?, tail.u32().map_err(fail)?);
        if crc32fast::hash(checked) != crc {
            return Err(fail(Damaged("the footer's checksum does not fit")));
        }
        if format > u32::from(FORMAT) {
            let found = u16::try_from(format).unwrap_or(u16::MAX);
            return Err(Error::Newer { path: path.to_owned(), found, known: FORMAT });
        }
        let parse = |cursor: &mut Cursor<'_>| {
            Ok(Self {
                rows: cursor.u64()?,
                runs: cursor.u64()?,
                first: cursor.u32()?,
                last: cursor.u32()?,
                blocks: cursor.u32()?,
                pages: cursor.u32()?,
                tables_at: cursor.u64()?,
                tables_crc: cursor.u32()?,
                newest_pages: cursor.u32()?,
                newest_crc: cursor.u32()?,
            })
        };
        parse(&mut Cursor::new(checked)).map_err(fail)
    }
}

/// One run in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) item: u64,
    pub(crate) kind: Kind,
    pub(crate) block: u32,
    /// First second of the run if the series has an earlier one in this segment, else 0.
    pub(crate) start: u32,
}

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    pub(crate) path: PathBuf,
    pub(crate) footer: Footer,
    file: Arc<dyn DiskRead>,
    size: u64,
    tables: Vec<u8>,
    pub(crate) newest: NewestPages,
    pub(crate) unreadable: Unreadable,
}

/// Reads that the disk refuses are tried so often.
const READ_TRIES: usize = 3;

impl Segment {
    /// Opens a file and checks its footer and tables; blocks are not read.
    pub(crate) fn open(
        disk: &dyn Disk,
        path: &Path,
        id: SegmentId,
        log: (&Arc<Cache>, &Arc<DamageLog>),
    ) -> Result<Self, Error> {
        for _ in 1..READ_TRIES {
            match Self::try_open(disk, path, id, log) {
                Err(error) if is_refused(&error) => {}
                opened => return opened,
            }
        }
        Self::try_open(disk, path, id, log).map_err(|error| match &error {
            Error::Io { path, cause, .. } if is_refused(&error) => {
                Error::Unreadable { path: path.clone(), cause: Arc::clone(cause) }
            }
            _ => error,
        })
    }

    fn try_open(
        disk: &dyn Disk,
        path: &Path,
        id: SegmentId,
        (cache, log): (&Arc<Cache>, &Arc<DamageLog>),
    ) -> Result<Self, Error> {
        let fail = |what| Damaged(what).of(path);
        let file = disk.open(path).map_err(Error::io("open", path))?;
        let size = file.size().map_err(Error::io("look at", path))?;
        let Some(tables_end) = size.checked_sub(FOOTER as u64).filter(|&at| at >= 8) else {
            return Err(fail("it is too short"));
        };
        let mut bytes = [0; FOOTER];
        file.read_at(&mut bytes, tables_end).map_err(Error::io("read", path))?;
        let footer = Footer::decode(&bytes, path)?;
        let len = footer
            .tables_len()
            .filter(|len| footer.tables_at.checked_add(*len as u64) == Some(tables_end));
        let mut tables = vec![0; len.ok_or_else(|| fail("the tables do not fit the file"))?];
        file.read_at(&mut tables, footer.tables_at).map_err(Error::io("read", path))?;
        if crc32fast::hash(&tables) != footer.tables_crc {
            return Err(fail("the tables' checksum does not fit"));
        }
        let newest = NewestPages::open(file.as_ref(), path, &footer, cache)?;
        let (path, unreadable) = (path.to_owned(), Unreadable::new(log));
        Ok(Self { id, path, footer, file, size, tables, newest, unreadable })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.size
    }

    /// Does it hold seconds of the span?
    pub(crate) fn overlaps(&self, span: Span) -> bool {
        span.overlaps(self.footer.first, self.footer.last)
    }

    /// Reads a place and checks it. Not mapped: a bad sector is then an error of a call, and
    /// not the end of the process.
    pub(crate) fn at(&self, place: Place) -> Result<Vec<u8>, Error> {
        let end = place.offset.checked_add(place.len.into());
        if end.is_none_or(|end| end > self.size) {
            return Err(self.damaged(Damaged("an offset is beyond the end")));
        }
        let mut bytes = vec![0; place.len as usize];
        self.file.read_at(&mut bytes, place.offset).map_err(Error::io("read", &self.path))?;
        if crc32fast::hash(&bytes) == place.crc {
            Ok(bytes)
        } else {
            Err(self.damaged(Damaged("a block's checksum does not fit")))
        }
    }

    pub(crate) fn damaged(&self, damaged: Damaged) -> Error {
        damaged.of(&self.path)
    }

    /// First item of a page and where the page lies.
    fn page_place(&self, page: usize) -> Option<(u64, Place)> {
        let pages_at = self.footer.blocks as usize * BLOCK_ENTRY;
        let entry = self.tables.get(pages_at + page * PAGE_ENTRY..)?;
        let mut cursor = Cursor::new(entry);
        let first = cursor.u64().ok()?;
        Some((first, place(&mut cursor).ok()?))
    }

    /// The first item of a page, beyond the last page the largest id.
    pub(crate) fn first_of(&self, page: usize) -> u64 {
        let is_page = page < self.footer.pages as usize;
        self.page_place(page).filter(|_| is_page).map_or(u64::MAX, |(first, _)| first)
    }

    /// Reads a page of the index.
    pub(crate) fn page(&self, page: usize) -> Result<Vec<Entry>, Error> {
        let missing = || self.damaged(Damaged("a page is missing"));
        let (first, place) = self.page_place(page).ok_or_else(missing)?;
        decode_page(&self.at(place)?, first).map_err(|damaged| self.damaged(damaged))
    }

    /// Reads a block.
    pub(crate) fn block(&self, block: u32) -> Result<Block, Error> {
        let bytes = self.block_bytes(block)?;
        Block::decode(&bytes).map_err(|damaged| self.damaged(damaged))
    }

    /// Reads a block for the run of one series.
    pub(crate) fn block_for(&self, block: u32, item: u64, kind: Kind) -> Result<Block, Error> {
        let bytes = self.block_bytes(block)?;
        Block::decode_run(&bytes, item, kind).map_err(|damaged| self.damaged(damaged))
    }

    fn block_bytes(&self, block: u32) -> Result<Vec<u8>, Error> {
        let missing = || self.damaged(Damaged("the index names a missing block"));
        if block >= self.footer.blocks {
            return Err(missing());
        }
        let entry = self.tables.get(block as usize * BLOCK_ENTRY..).ok_or_else(missing)?;
        let place = place(&mut Cursor::new(entry)).map_err(|damaged| self.damaged(damaged))?;
        self.at(place)
    }

    /// All runs of an item. The page read last is kept for the next item.
    pub(crate) fn lookup(
        &self,
        item: u64,
        kept: &mut Option<(usize, Arc<Vec<Entry>>)>,
    ) -> Result<Vec<Entry>, Error> {
        let pages = self.footer.pages as usize;
        // Binary search for the first page that starts with this item or a later one.
        let (mut low, mut high) = (0, pages);
        while low < high {
            let middle = low.midpoint(high);
            if self.first_of(middle) < item { low = middle + 1 } else { high = middle }
        }
        let mut found = Vec::new();
        for page in low.saturating_sub(1)..pages {
            if self.first_of(page) > item {
                break;
            }
            if kept.as_ref().is_none_or(|(number, _)| *number != page) {
                *kept = Some((page, self.any_page(page)?));
            }
            let entries = kept.as_ref().map_or(&[][..], |(_, entries)| entries.as_slice());
            let start = entries.partition_point(|entry| entry.item < item);
            found.extend(entries[start..].iter().take_while(|entry| entry.item == item));
        }
        Ok(found)
    }

    /// Hands over the rows of an item, each kind in the order of times; blocks that cannot be read are
    /// left out and recorded.
    pub(crate) fn read(
        &self,
        item: u64,
        kinds: Kinds,
        span: Span,
        sink: &mut Sink<'_>,
    ) -> Result<(), Error> {
        if !self.overlaps(span) {
            return Ok(());
        }
        let entries = self.lookup(item, &mut None)?;
        let mut run = Run::default();
        for (place, entry) in entries.iter().enumerate() {
            let ends_before = entries
                .get(place + 1)
                .is_some_and(|next| next.kind == entry.kind && next.start < span.from);
            if !kinds.has(entry.kind) || entry.start > span.till || ends_before {
                continue;
            }
            run.clear();
            let read = self.block_for(entry.block, item, entry.kind).and_then(|block| {
                let at = block.find(item, entry.kind).ok_or(Damaged("a run is missing"));
                at.and_then(|at| block.read(at, entry.kind, &mut run))
                    .and_then(|()| hand_over(&run, entry.kind, span, sink))
                    .map_err(|damaged| self.damaged(damaged))
            });
            match read {
                Err(error) if self.lose_block(entry.block, &error) => {}
                read => read?,
            }
        }
        Ok(())
    }
}

pub(crate) fn decode_page(bytes: &[u8], first: u64) -> Result<Vec<Entry>, Damaged> {
    let mut cursor = Cursor::new(bytes);
    let len = cursor.u32()? as usize;
    let steps: Vec<u64> = unpack(&mut cursor, len)?;
    let kinds: Vec<u16> = unpack(&mut cursor, len)?;
    let blocks: Vec<u32> = unpack(&mut cursor, len)?;
    let starts: Vec<u32> = unpack(&mut cursor, len)?;
    let mut item = first;
    let mut entries = Vec::with_capacity(steps.len());
    for (row, step) in steps.into_iter().enumerate() {
        item = item.wrapping_add(step);
        let kind = u8::try_from(kinds[row]).ok().and_then(Kind::from_number);
        let kind = kind.ok_or(Damaged("the index names an unknown kind"))?;
        entries.push(Entry { item, kind, block: blocks[row], start: starts[row] });
    }
    Ok(entries)
}

pub(crate) fn place(cursor: &mut Cursor<'_>) -> Result<Place, Damaged> {
    Ok(Place { offset: cursor.u64()?, len: cursor.u32()?, crc: cursor.u32()? })
}

/// Hands over the rows of a run that lie within the span.
pub(crate) fn hand_over(
    run: &Run,
    kind: Kind,
    span: Span,
    sink: &mut Sink<'_>,
) -> Result<(), Damaged> {
    let mut bytes = run.bytes.as_slice();
    for row in 0..run.len() {
        let raw = if kind.is_bytes() {
            let len = usize::try_from(run.bits[row]).unwrap_or(usize::MAX);
            let (text, rest) = bytes.split_at_checked(len).ok_or(Damaged("a text is cut"))?;
            bytes = rest;
            Raw::Bytes(text)
        } else {
            Raw::Bits(run.bits[row])
        };
        if span.has(run.clock[row]) {
            sink(kind, at(run.clock[row], run.ns[row]), raw)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_nothing_else_is_taken() {
        let id = SegmentId { class: Class(31), day: Day(19_000), first_seq: 7, last_seq: 12 };
        assert_eq!(id.file_name(), "19000-31-7-12.seg");
        assert_eq!(SegmentId::parse("19000-31-7-12.seg"), Some(id));
        for name in ["19000-31-7-12", "1-2-3.seg", "1-2-4-3.seg", "1-2-3-4-5.seg", "a-2-3-4.seg"] {
            assert_eq!(SegmentId::parse(name), None, "{name}");
        }
        let inner = SegmentId { first_seq: 7, last_seq: 7, ..id };
        assert!(id.replaces(&inner) && !inner.replaces(&id) && !id.replaces(&id));
        assert!(!id.replaces(&SegmentId { day: Day(1), ..inner }));
    }

    #[test]
    fn footers_come_back_and_damage_is_seen() {
        let footer = Footer { rows: 1, runs: 2, first: 3, last: 4, ..Footer::default() };
        let bytes = footer.encode();
        assert_eq!(bytes.len(), FOOTER);
        assert_eq!(Footer::decode(&bytes, Path::new("x")).unwrap(), footer);
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            assert!(Footer::decode(&bytes, Path::new("x")).is_err(), "byte {at}");
        }
    }
}
