//! The parts of a segment's file as bytes: the footer, entries of its tables, pages of the index, marks in
//! front of blocks.

use std::path::Path;

use crate::column::{Cursor, len_u32, put_u32, put_u64, unpack};
use crate::error::{Damaged, Error};
use crate::kind::{Class, Day, Kind};

/// Newest format of segments that this release reads, and the one it writes.
pub(crate) const FORMAT: u16 = 1;
pub(crate) const MAGIC: &[u8; 8] = b"VEDSEG\r\n";
/// Index entries per page.
pub(crate) const PAGE_ENTRIES: usize = 1024;

/// Bytes of a footer.
pub(crate) const FOOTER: usize = 96;
/// Bytes of a block in the tables.
pub(crate) const BLOCK_ENTRY: usize = 16;
/// Bytes of a page in the tables.
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
    pub(crate) fn tables_len(&self) -> Option<usize> {
        let blocks = (self.blocks as usize).checked_mul(BLOCK_ENTRY)?;
        blocks.checked_add((self.pages as usize).checked_mul(PAGE_ENTRY)?)
    }

    /// Of the bytes of a whole file, if it is not damaged.
    pub(crate) fn of_file(bytes: &[u8], path: &Path) -> Option<Self> {
        Self::decode(&bytes[bytes.len().checked_sub(FOOTER)?..], path).ok()
    }

    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Self, Error> {
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

/// Start of a mark.
pub(crate) const BLOCK_MAGIC: &[u8; 4] = b"VSBK";
/// Bytes of a mark.
pub(crate) const MARK: usize = 12;

/// What stands in front of a block.
pub(crate) fn mark(block: &[u8]) -> Vec<u8> {
    let mut out = BLOCK_MAGIC.to_vec();
    put_u32(&mut out, len_u32(block.len()));
    put_u32(&mut out, crc32fast::hash(block));
    out
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
