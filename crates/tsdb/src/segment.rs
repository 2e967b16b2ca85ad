//! Segments: immutable files of sealed rows, and how they are read.
//!
//! File: magic, blocks with a mark in front of each (see `layout`), index pages, pages of newest rows, their directory, tables (one entry per
//! block, one per page), footer. Files of older releases have no newest rows and no marks. All numbers
//! that a reader needs to find a run are in the tables, which have a fixed width, so that opening reads the footer and the tables and a lookup decodes one page. Everything has
//! a checksum that is verified when it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::block::Block;
use crate::column::Cursor;
use crate::damage::DamageLog;
use crate::disk::{Disk, DiskRead};
use crate::error::{Damaged, Error};
use crate::kind::{Kind, Kinds, Span, at};
use crate::layout::{
    BLOCK_ENTRY, Entry, FOOTER, Footer, PAGE_ENTRY, Place, SegmentId, decode_page, place,
};
use crate::newest_cache::Cache;
use crate::newest_pages::NewestPages;
use crate::rows::{Raw, Run, Sink};

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

/// What of one segment cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) log: Arc<DamageLog>,
    pub(crate) blocks: Mutex<BTreeSet<u32>>,
    /// Pages of the index, as their blocks say.
    pub(crate) pages: Mutex<BTreeMap<usize, Arc<Vec<Entry>>>>,
    pub(crate) newest: Mutex<BTreeSet<usize>>,
}

impl Unreadable {
    fn new(log: &Arc<DamageLog>) -> Self {
        let (blocks, pages, newest) = Default::default();
        Self { log: Arc::clone(log), blocks, pages, newest }
    }
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
                Err(error) if error.is_refused() => {}
                opened => return opened,
            }
        }
        Self::try_open(disk, path, id, log).map_err(|error| match &error {
            Error::Io { path, cause, .. } if error.is_refused() => {
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

/// The order in which segments were written.
pub(crate) fn sort(segments: &mut [Arc<Segment>]) {
    segments.sort_by_key(|segment| (segment.id.last_seq, segment.id.class, segment.id.day));
}
