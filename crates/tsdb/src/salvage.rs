//! Rebuilding a segment whose index, tables or footer are damaged from the blocks that are whole.
//!
//! Each block has a mark in front of it (magic, length, checksum), so that it is found without the
//! tables. In segments of older releases, which have no marks, a block is found by its entry in the
//! tables: offset, length and checksum, wherever in the file the entry is. A block without a valid
//! checksum is never used.

use std::collections::BTreeMap;
use std::path::Path;

use model::DAY_S;

use crate::block::Block;
use crate::column::Cursor;
use crate::damage::{Damage, ranges};
use crate::disk::{Disk, aside};
use crate::error::Error;
use crate::kind::{Kind, Span};
use crate::layout::{
    BLOCK_MAGIC, Entry, Footer, MAGIC, MARK, Place, SegmentId, decode_page, place,
};
use crate::manifest::SegmentFile;
use crate::rows::Run;
use crate::writer::{SegmentWriter, temporary};

/// Bytes of an offset, a length and a checksum.
const PLACE: usize = 16;

/// Rows of one series in a block.
#[derive(Debug, Clone, Copy)]
struct Part {
    item: u64,
    kind: Kind,
    first: u32,
    last: u32,
    rows: u64,
}

/// The parts of a file that have a valid checksum.
#[derive(Debug, Default)]
struct Contents {
    /// By offset: bytes of the block and its parts.
    blocks: BTreeMap<u64, (usize, Vec<Part>)>,
    /// Pages of the index by offset: their lengths and entries.
    pages: BTreeMap<u64, (usize, Vec<Entry>)>,
}

fn slice(bytes: &[u8], place: Place) -> Option<&[u8]> {
    let start = usize::try_from(place.offset).ok()?;
    let slice = bytes.get(start..start.checked_add(place.len as usize)?)?;
    (start >= MAGIC.len() && crc32fast::hash(slice) == place.crc).then_some(slice)
}

fn parts(bytes: &[u8]) -> Option<Vec<Part>> {
    let block = Block::decode(bytes).ok()?;
    let mut run = Run::default();
    let parts = block.series().enumerate().map(|(number, (item, kind))| {
        let kind = u8::try_from(kind).ok().and_then(Kind::from_number)?;
        run.clear();
        block.read(number, kind, &mut run).ok()?;
        let (&first, &last) = run.clock.first().zip(run.clock.last())?;
        Some(Part { item, kind, first, last, rows: run.len() as u64 })
    });
    parts.collect()
}

impl Contents {
    fn find(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        for at in MAGIC.len()..bytes.len() {
            if bytes[at..].starts_with(BLOCK_MAGIC) {
                found.take_marked(bytes, at);
            }
            found.take_entry(bytes, at);
        }
        found
    }

    fn take_marked(&mut self, bytes: &[u8], at: usize) {
        let mut cursor = Cursor::new(&bytes[at + BLOCK_MAGIC.len()..]);
        let (Ok(len), Ok(crc)) = (cursor.u32(), cursor.u32()) else { return };
        self.take_block(bytes, Place { offset: (at + MARK) as u64, len, crc });
    }

    fn take_block(&mut self, bytes: &[u8], place: Place) -> bool {
        if self.blocks.contains_key(&place.offset) {
            return true;
        }
        let Some((slice, parts)) = slice(bytes, place).and_then(|s| Some((s, parts(s)?))) else {
            return false;
        };
        self.blocks.insert(place.offset, (slice.len(), parts));
        true
    }

    /// Takes in what an entry of the tables at this position names, if it is one.
    fn take_entry(&mut self, bytes: &[u8], at: usize) {
        let Some(entry) = bytes.get(at..at + PLACE) else { return };
        let Ok(place) = place(&mut Cursor::new(entry)) else { return };
        if place.offset >= bytes.len() as u64 || place.len == 0 {
            return;
        }
        let Some(section) = slice(bytes, place) else { return };
        if self.take_block(bytes, place) {
            return;
        }
        let first = bytes.get(at - 8..at).and_then(|first| Cursor::new(first).u64().ok());
        if let Some(Ok(entries)) = first.map(|first| decode_page(section, first))
            && entries.first().map(|entry| entry.item) == first
        {
            self.pages.insert(place.offset, (section.len(), entries));
        }
    }

    /// The whole index was found, and there is nothing but blocks in front of it.
    fn is_complete(&self) -> bool {
        let mut end = MAGIC.len() as u64;
        let blocks = self.blocks.iter().map(|(offset, (len, _))| (*offset, *len));
        let pages = self.pages.iter().map(|(offset, (len, _))| (*offset, *len));
        let mut sections: Vec<_> = blocks.chain(pages).collect();
        sections.sort_unstable();
        let adjoin = sections.into_iter().all(|(offset, len)| {
            let adjoins = offset == end || offset == end + MARK as u64;
            end = offset + len as u64;
            adjoins
        });
        adjoin && !self.pages.is_empty()
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.blocks.values().flat_map(|(_, parts)| parts)
    }

    fn rows(&self) -> u64 {
        self.parts().map(|part| part.rows).sum()
    }

    /// Items with parts that the index names and no block has; `None` = the index is not complete.
    fn lost_items(&self, pages: Option<u32>) -> Option<Vec<u64>> {
        let known = pages.map_or_else(|| self.is_complete(), |n| self.pages.len() == n as usize);
        if !known {
            return None;
        }
        let mut left: BTreeMap<(u64, Kind), i64> = BTreeMap::new();
        for entry in self.pages.values().flat_map(|(_, entries)| entries) {
            *left.entry((entry.item, entry.kind)).or_default() += 1;
        }
        for part in self.parts() {
            *left.entry((part.item, part.kind)).or_default() -= 1;
        }
        Some(left.into_iter().filter(|(_, left)| *left > 0).map(|((item, _), _)| item).collect())
    }
}

/// Writes the segment again with the blocks that were found, under its temporary name.
fn write(
    disk: &dyn Disk,
    dir: &Path,
    id: &SegmentId,
    bytes: &[u8],
    found: &Contents,
) -> Result<(), Error> {
    let mut writer = SegmentWriter::create(disk, dir, id)?;
    let mut index: Vec<(u64, Kind, u32, u32)> = Vec::new();
    let (mut first, mut last) = (u32::MAX, 0);
    for (&offset, (len, parts)) in &found.blocks {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let block = writer.put_block(&bytes[start..start + len])?;
        for part in parts {
            index.push((part.item, part.kind, part.first, block));
            (first, last) = (first.min(part.first), last.max(part.last));
        }
    }
    index.sort_unstable();
    let mut before = None;
    let entries = index.into_iter().map(|(item, kind, first, block)| {
        let is_first = before.replace((item, kind)) != Some((item, kind));
        Entry { item, kind, block, start: if is_first { 0 } else { first } }
    });
    writer.set_index(entries.collect(), found.rows(), (first, last));
    writer.finish().map(drop)
}

/// What a damaged segment lost, without changing it.
pub(crate) fn inspect(
    disk: &dyn Disk,
    dir: &Path,
    id: &SegmentId,
    known: Option<SegmentFile>,
) -> Result<Damage, Error> {
    let path = dir.join(id.file_name());
    let bytes = disk.read(&path).map_err(Error::io("read", &path))?;
    let footer = Footer::of_file(&bytes, &path);
    Ok(describe(id, &Contents::find(&bytes), footer.as_ref(), known))
}

/// Puts a segment in order that cannot be opened or has damaged blocks, and says what is lost. The
/// damaged file is kept under another name.
pub(crate) fn rebuild(
    disk: &dyn Disk,
    dir: &Path,
    id: &SegmentId,
    known: Option<SegmentFile>,
) -> Result<Damage, Error> {
    let name = id.file_name();
    let path = dir.join(&name);
    let bytes = disk.read(&path).map_err(Error::io("read", &path))?;
    let footer = Footer::of_file(&bytes, &path);
    let found = Contents::find(&bytes);
    let damage = describe(id, &found, footer.as_ref(), known);
    let aside = aside(&path);
    if found.blocks.is_empty() {
        disk.rename(&path, &aside).map_err(Error::io("rename", &path))?;
        return Ok(damage);
    }
    write(disk, dir, id, &bytes, &found)?;
    let copy = disk.create(&aside).map_err(Error::io("create", &aside))?;
    copy.append(&bytes).map_err(Error::io("write", &aside))?;
    copy.sync().map_err(Error::io("sync", &aside))?;
    let temporary = temporary(dir, id);
    disk.rename(&temporary, &path).map_err(Error::io("rename", &path))?;
    disk.sync_dir(dir).map_err(Error::io("sync", dir))?;
    Ok(damage)
}

fn describe(
    id: &SegmentId,
    found: &Contents,
    footer: Option<&Footer>,
    known: Option<SegmentFile>,
) -> Damage {
    let name = id.file_name();
    let rows = known.map(|known| known.rows).or_else(|| footer.map(|footer| footer.rows));
    let items = found.lost_items(footer.map(|footer| footer.pages));
    let lost = rows.map(|rows| rows.saturating_sub(found.rows()));
    let whole = lost == Some(0) || lost.is_none() && items.as_ref().is_some_and(Vec::is_empty);
    if whole {
        return Damage::harmless(
            &name,
            "the index was damaged and has been rebuilt; no value is lost",
        );
    }
    let span = known.map(|known| Span::new(known.first, known.last));
    let span = span.or_else(|| footer.map(|footer| Span::new(footer.first, footer.last)));
    // A segment with rows of many days is named after the youngest.
    let end = (id.day.0 + 1).saturating_mul(DAY_S) - 1;
    let span = span.unwrap_or_else(|| Span::new(id.day.0.saturating_mul(DAY_S), end));
    let what = format!("the file is damaged; {} rows were recovered", found.rows());
    let items = items.filter(|items| !items.is_empty()).map(ranges);
    Damage { items, ..Damage::of_any_item(&name, &what, span, lost) }
}
