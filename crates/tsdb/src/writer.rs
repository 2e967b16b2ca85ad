//! Writing a segment: runs come sorted by item and kind, blocks leave as they fill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::block::{BYTES_MAX, Builder, Likeness, ROWS_MAX, shape};
use crate::column::{len_u32, pack, put_u32, put_u64};
use crate::disk::{Disk, DiskFile};
use crate::error::Error;
use crate::kind::Kind;
use crate::layout::{Entry, Footer, MAGIC, PAGE_ENTRIES, Place, SegmentId, mark};
use crate::newest;
use crate::rows::Run;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

/// A file under a temporary name, gathered into large writes.
struct Out {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    buffer: Vec<u8>,
    offset: u64,
}

impl Out {
    fn put(&mut self, bytes: &[u8]) -> Result<Place, Error> {
        let place =
            Place { offset: self.offset, len: len_u32(bytes.len()), crc: crc32fast::hash(bytes) };
        self.buffer.extend_from_slice(bytes);
        self.offset += bytes.len() as u64;
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(place)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.file.append(&self.buffer).map_err(Error::io("write", &self.path))?;
        self.buffer.clear();
        Ok(())
    }
}

/// A segment being written.
pub(crate) struct SegmentWriter {
    out: Out,
    builders: BTreeMap<Likeness, (Builder, Vec<usize>)>,
    entries: Vec<Entry>,
    blocks: Vec<Place>,
    newest: newest::Builder,
    footer: Footer,
    whole: Vec<i64>,
    block: Vec<u8>,
}

/// The name under which a segment is written before it is whole.
pub(crate) fn temporary(dir: &Path, id: &SegmentId) -> PathBuf {
    dir.join(format!("{}.tmp", id.file_name()))
}

impl SegmentWriter {
    pub(crate) fn create(disk: &dyn Disk, dir: &Path, id: &SegmentId) -> Result<Self, Error> {
        let path = temporary(dir, id);
        let file = disk.create(&path).map_err(Error::io("create", &path))?;
        let mut out = Out { file, path, buffer: Vec::with_capacity(2 * BUFFER), offset: 0 };
        out.put(MAGIC)?;
        Ok(Self {
            out,
            builders: BTreeMap::new(),
            entries: Vec::new(),
            blocks: Vec::new(),
            newest: newest::Builder::default(),
            footer: Footer { first: u32::MAX, ..Footer::default() },
            whole: Vec::new(),
            block: Vec::new(),
        })
    }

    /// Adds the settled rows of a series; series come sorted by item and kind.
    pub(crate) fn push(&mut self, item: u64, kind: Kind, run: &Run) -> Result<(), Error> {
        let Some((&first, &last)) = run.clock.first().zip(run.clock.last()) else { return Ok(()) };
        self.footer.first = self.footer.first.min(first);
        self.footer.last = self.footer.last.max(last);
        self.footer.rows += run.len() as u64;
        self.newest.push(item, kind, run);
        let fits = run.len() <= ROWS_MAX && run.bytes.len() <= BYTES_MAX;
        if fits {
            return self.push_part(item, kind, run, 0);
        }
        let mut start = 0;
        for part in split(kind, run) {
            self.push_part(item, kind, &part, start)?;
            // What follows has the clock of its first row in the index.
            start += part.len();
        }
        Ok(())
    }

    fn push_part(
        &mut self,
        item: u64,
        kind: Kind,
        run: &Run,
        rows_before: usize,
    ) -> Result<(), Error> {
        let shape = shape(kind, run, &mut self.whole);
        let (builder, waiting) = self.builders.entry(shape.likeness).or_default();
        builder.add(item, kind, run, &shape, &self.whole);
        waiting.push(self.entries.len());
        let start = if rows_before == 0 { 0 } else { run.clock[0] };
        self.entries.push(Entry { item, kind, block: u32::MAX, start });
        // A part of the largest size always closes its block, hence no block has two runs of
        // one series.
        if builder.is_full() { self.close(shape.likeness) } else { Ok(()) }
    }

    fn close(&mut self, likeness: Likeness) -> Result<(), Error> {
        let Some((builder, waiting)) = self.builders.get_mut(&likeness) else { return Ok(()) };
        if builder.is_empty() {
            return Ok(());
        }
        builder.finish(likeness, &mut self.block);
        let number = len_u32(self.blocks.len());
        for entry in waiting.drain(..) {
            self.entries[entry].block = number;
        }
        self.out.put(&mark(&self.block))?;
        self.blocks.push(self.out.put(&self.block)?);
        Ok(())
    }

    /// Adds a whole block as it is; [`SegmentWriter::set_index`] says what it holds. Returns its number.
    pub(crate) fn put_block(&mut self, block: &[u8]) -> Result<u32, Error> {
        self.out.put(&mark(block))?;
        self.blocks.push(self.out.put(block)?);
        Ok(len_u32(self.blocks.len() - 1))
    }

    /// The index of whole blocks, sorted, with the number of their rows and the first and last second.
    pub(crate) fn set_index(&mut self, entries: Vec<Entry>, rows: u64, (first, last): (u32, u32)) {
        self.entries = entries;
        (self.footer.rows, self.footer.first, self.footer.last) = (rows, first, last);
    }

    /// Writes index and footer and waits for the disk. The file still has its temporary name.
    pub(crate) fn finish(mut self) -> Result<Footer, Error> {
        let likenesses: Vec<Likeness> = self.builders.keys().copied().collect();
        for likeness in likenesses {
            self.close(likeness)?;
        }
        let mut tables = Vec::new();
        for block in &self.blocks {
            put_place(&mut tables, *block);
        }
        let mut page = Vec::new();
        for entries in self.entries.chunks(PAGE_ENTRIES) {
            encode_page(entries, &mut page);
            put_u64(&mut tables, entries[0].item);
            put_place(&mut tables, self.out.put(&page)?);
        }
        self.footer.runs = self.entries.len() as u64;
        self.footer.blocks = len_u32(self.blocks.len());
        self.footer.pages = len_u32(self.entries.len().div_ceil(PAGE_ENTRIES));
        let mut directory = Vec::new();
        for (first, page) in self.newest.finish() {
            put_u64(&mut directory, first);
            put_place(&mut directory, self.out.put(&page)?);
            self.footer.newest_pages += 1;
        }
        self.footer.newest_crc = crc32fast::hash(&directory);
        self.out.put(&directory)?;
        self.footer.tables_at = self.out.offset;
        self.footer.tables_crc = crc32fast::hash(&tables);
        self.out.put(&tables)?;
        self.out.put(&self.footer.encode())?;
        self.out.flush()?;
        self.out.file.sync().map_err(Error::io("sync", &self.out.path))?;
        Ok(self.footer)
    }
}

fn put_place(out: &mut Vec<u8>, place: Place) {
    put_u64(out, place.offset);
    put_u32(out, place.len);
    put_u32(out, place.crc);
}

fn encode_page(entries: &[Entry], out: &mut Vec<u8>) {
    out.clear();
    put_u32(out, len_u32(entries.len()));
    let mut last = entries[0].item;
    let steps = entries.iter().map(|entry| {
        let step = entry.item - last;
        last = entry.item;
        step
    });
    pack(out, &steps.collect::<Vec<u64>>());
    pack(out, &entries.iter().map(|e| u16::from(e.kind.number())).collect::<Vec<_>>());
    pack(out, &entries.iter().map(|e| e.block).collect::<Vec<_>>());
    pack(out, &entries.iter().map(|e| e.start).collect::<Vec<_>>());
}

/// Cuts a run into parts that fit a block.
fn split(kind: Kind, run: &Run) -> Vec<Run> {
    let mut parts = Vec::new();
    let mut part = Run::default();
    let mut bytes_at = 0;
    for row in 0..run.len() {
        part.clock.push(run.clock[row]);
        part.ns.push(run.ns[row]);
        part.bits.push(run.bits[row]);
        if kind.is_bytes() {
            let len = usize::try_from(run.bits[row]).expect("BUG: a text beyond memory");
            part.bytes.extend_from_slice(&run.bytes[bytes_at..bytes_at + len]);
            bytes_at += len;
        }
        if part.len() == ROWS_MAX || part.bytes.len() >= BYTES_MAX {
            parts.push(std::mem::take(&mut part));
        }
    }
    if part.len() > 0 {
        parts.push(part);
    }
    parts
}
