//! The log of writes: every batch is one block of columns, compressed, with a checksum.
//!
//! File: header (magic, format, sequence number, checksum), then blocks. Block: magic, checksum of
//! all that follows, rows, raw length, body length, body (LZ4 of the columns). A file named
//! `<seq>.wal` holds exactly the rows that become the segments with that sequence number, and
//! is removed when these are safe, or renamed for those who read the log (see `spool`): as long as
//! it exists, it is the truth and they are not.

use std::path::{Path, PathBuf};

use crate::column::{Cursor, len_u32, put_planes, put_u32, put_u64, take_planes, take_planes_u32};
use crate::disk::Disk;
use crate::error::{Damaged, Error};
use crate::kind::Kind;
use crate::rows::{CLEAR, LATE, Rows, TEXT_BYTES_MAX};

/// Newest format of WAL files that this release reads, and the one it writes.
/// 2 has rows that clear an item, 3 those that note an hour whose trend is to be written.
pub(crate) const FORMAT: u16 = 3;

const FILE_MAGIC: &[u8; 6] = b"VEDWAL";
pub(crate) const FILE_HEADER: usize = 20;
const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"VBLK");
pub(crate) const BLOCK_HEADER: usize = 20;

/// Larger batches become several blocks.
pub(crate) const BLOCK_ROWS_MAX: usize = 1 << 16;
/// Blocks are closed when their texts reach this.
pub(crate) const BLOCK_BYTES_MAX: usize = 4 << 20;
/// No block that decompresses to more was ever written.
const RAW_MAX: u32 = 64 << 20;
/// Columns of one row that are not compressed: item, kind, second, nanosecond, value.
const ROW_BYTES: usize = 8 + 1 + 4 + 4 + 8;

const _: () = assert!(
    BLOCK_ROWS_MAX * ROW_BYTES + BLOCK_BYTES_MAX + TEXT_BYTES_MAX < RAW_MAX as usize,
    "the largest block that is written is read again"
);

/// Milliseconds in nanoseconds: most senders are no more precise.
const MS: u32 = 1_000_000;

/// The header, which names its sequence number.
pub(crate) fn file_header(seq: u64) -> Vec<u8> {
    let mut out = FILE_MAGIC.to_vec();
    out.extend_from_slice(&FORMAT.to_le_bytes());
    put_u64(&mut out, seq);
    let crc = crc32fast::hash(&out);
    put_u32(&mut out, crc);
    out
}

/// Turns rows into blocks, with buffers that are used again.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    raw: Vec<u8>,
    clock: Vec<u32>,
    ns: Vec<u32>,
}

impl Encoder {
    /// Appends one block to `out`.
    pub(crate) fn encode(&mut self, rows: &Rows, out: &mut Vec<u8>) {
        let raw = &mut self.raw;
        raw.clear();
        let base = rows.clock.iter().copied().min().unwrap_or(0);
        put_u32(raw, base);
        put_planes(raw, &rows.item);
        raw.extend_from_slice(&rows.kind);
        self.clock.clear();
        self.clock.extend(rows.clock.iter().map(|clock| clock - base));
        put_planes(raw, &self.clock);
        if rows.ns.iter().all(|ns| ns % MS == 0) {
            self.ns.clear();
            self.ns.extend(rows.ns.iter().map(|ns| ns / MS));
            raw.push(1);
            put_planes(raw, &self.ns);
        } else {
            raw.push(0);
            put_planes(raw, &rows.ns);
        }
        put_planes(raw, &rows.bits);
        raw.extend_from_slice(&rows.bytes);

        let start = out.len();
        let body = start + BLOCK_HEADER;
        out.resize(body + lz4_flex::block::get_maximum_output_size(raw.len()), 0);
        let len = lz4_flex::block::compress_into(raw, &mut out[body..])
            .expect("BUG: the buffer has the size that the codec asked for");
        out.truncate(body + len);
        let header = [rows.len(), raw.len(), len].map(|n| len_u32(n).to_le_bytes());
        out[start..start + 4].copy_from_slice(&BLOCK_MAGIC.to_le_bytes());
        out[start + 8..body].copy_from_slice(header.as_flattened());
        let crc = crc32fast::hash(&out[start + 8..]);
        out[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
    }
}

/// The block at the start of `bytes`: its rows and its length in the file.
pub(crate) fn decode_block(bytes: &[u8], rows: &mut Rows) -> Result<usize, Damaged> {
    let mut cursor = Cursor::new(bytes);
    if cursor.u32()? != BLOCK_MAGIC {
        return Err(Damaged("no block where one should start"));
    }
    let crc = cursor.u32()?;
    let checked = cursor.rest();
    let (count, raw_len, body_len) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let body = cursor.take(body_len as usize)?;
    if crc32fast::hash(&checked[..12 + body.len()]) != crc {
        return Err(Damaged("a block's checksum does not fit"));
    }
    if raw_len > RAW_MAX {
        return Err(Damaged("a block is too large"));
    }
    let raw = lz4_flex::block::decompress(body, raw_len as usize)
        .map_err(|_| Damaged("a block does not decompress"))?;
    decode_rows(&raw, count as usize, rows)?;
    Ok(BLOCK_HEADER + body.len())
}

fn decode_rows(raw: &[u8], count: usize, rows: &mut Rows) -> Result<(), Damaged> {
    // Every row has at least its kind, so that a wrong count cannot ask for much memory.
    if count > raw.len() {
        return Err(Damaged("a block has too many rows"));
    }
    let mut cursor = Cursor::new(raw);
    let base = cursor.u32()?;
    rows.item = take_planes(&mut cursor, count)?;
    rows.kind = cursor.take(count)?.to_vec();
    rows.clock = take_planes_u32(&mut cursor, count)?;
    for clock in &mut rows.clock {
        *clock = clock.wrapping_add(base);
    }
    let in_ms = cursor.u8()? == 1;
    rows.ns = take_planes_u32(&mut cursor, count)?;
    if in_ms {
        for ns in &mut rows.ns {
            *ns = ns.wrapping_mul(MS);
        }
    }
    rows.bits = take_planes(&mut cursor, count)?;
    rows.bytes = cursor.rest().to_vec();
    let mut bytes = 0u64;
    for (&kind, &bits) in rows.kind.iter().zip(&rows.bits) {
        if matches!(kind, CLEAR | LATE) {
            continue;
        }
        let kind = Kind::from_number(kind).ok_or(Damaged("a row of an unknown kind"))?;
        if kind.is_bytes() {
            bytes = bytes.saturating_add(bits);
        }
    }
    if bytes == rows.bytes.len() as u64 { Ok(()) } else { Err(Damaged("texts do not fit")) }
}

/// A part of a file whose acknowledged blocks do not decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// First second of the block before; `None` = there is none.
    pub(crate) from: Option<u32>,
    /// Last second of the block that follows; `None` = there is none.
    pub(crate) till: Option<u32>,
}

/// What reading a file found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Replayed {
    pub(crate) rows: u64,
    /// Bytes that are whole; what follows was never acknowledged.
    pub(crate) valid_len: u64,
    /// Bytes that follow.
    pub(crate) torn: u64,
    /// Damaged blocks that are as long as they should be: these were acknowledged and are lost.
    pub(crate) damaged_blocks: u64,
    /// The header of the file is damaged; its blocks were found without it.
    pub(crate) header_damaged: bool,
    /// Where damaged blocks are.
    pub(crate) lost: Vec<Lost>,
    /// Seconds of the last block that was read.
    pub(crate) last_block: Option<(u32, u32)>,
}

/// Reads a file and hands over the rows of each block.
///
/// A block that is not whole at the end is what a crash leaves; one in the middle is damage,
/// is counted and passed over. A damaged file header costs no block.
pub(crate) fn replay(
    disk: &dyn Disk,
    path: &Path,
    each: &mut dyn FnMut(&Rows),
) -> Result<Replayed, Error> {
    let bytes = disk.read(path).map_err(Error::io("read", path))?;
    let mut found = Replayed::default();
    if bytes.len() < FILE_HEADER {
        found.torn = bytes.len() as u64;
        return Ok(found);
    }
    match check_header(&bytes[..FILE_HEADER], path) {
        Err(Error::Damaged { .. }) => found.header_damaged = true,
        checked => checked?,
    }
    let mut offset = FILE_HEADER;
    let mut rows = Rows::default();
    while offset < bytes.len() {
        if let Ok(len) = decode_block(&bytes[offset..], &mut rows) {
            each(&rows);
            found.rows += rows.len() as u64;
            found.take_span(&rows);
            offset += len;
        } else if let Some(next) = next_block(&bytes, offset, &mut rows) {
            found.lose(offset, next - offset);
            offset = next;
        } else {
            // A crash leaves the beginning of a block; a whole one was acknowledged.
            if is_whole(&bytes[offset..]) {
                found.lose(offset, bytes.len() - offset);
            }
            break;
        }
    }
    found.valid_len = offset as u64;
    found.torn = (bytes.len() - offset) as u64;
    Ok(found)
}

impl Replayed {
    fn take_span(&mut self, rows: &Rows) {
        let rows = rows.kind.iter().zip(&rows.clock);
        // Trends are of earlier hours.
        let values =
            rows.filter(|(kind, _)| Kind::from_number(**kind).is_some_and(|k| !k.is_trend()));
        let clocks = || values.clone().map(|(_, clock)| *clock);
        let span = clocks().min().zip(clocks().max());
        if let Some((_, last)) = span {
            let open = self.lost.iter_mut().rev().take_while(|lost| lost.till.is_none());
            open.for_each(|lost| lost.till = Some(last));
            self.last_block = span;
        }
    }

    fn lose(&mut self, offset: usize, len: usize) {
        self.damaged_blocks += 1;
        let from = self.last_block.map(|(first, _)| first);
        self.lost.push(Lost { offset: offset as u64, len: len as u64, from, till: None });
    }
}

/// The length of the body, as the block's header says.
pub(crate) fn body_len(header: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(header);
    let magic = cursor.u32().ok()?;
    cursor.take(12).ok()?;
    let len = cursor.u32().ok()?;
    (magic == BLOCK_MAGIC).then_some(u64::from(len))
}

/// Are there as many bytes as the block at their start says?
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes);
    let header: Result<[u32; 5], Damaged> =
        (|| Ok([cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?]))();
    header.is_ok_and(|[magic, .., len]| magic == BLOCK_MAGIC && cursor.take(len as usize).is_ok())
}

/// The first whole block behind a damaged one.
pub(crate) fn next_block(bytes: &[u8], damaged: usize, rows: &mut Rows) -> Option<usize> {
    let magic = BLOCK_MAGIC.to_le_bytes();
    let mut offset = damaged + 1;
    loop {
        offset += bytes.get(offset..)?.windows(4).position(|window| window == magic)?;
        if decode_block(&bytes[offset..], rows).is_ok() {
            return Some(offset);
        }
        offset += 1;
    }
}

pub(crate) fn check_header(header: &[u8], path: &Path) -> Result<(), Error> {
    let fail = |what| Damaged(what).of(path);
    if &header[..6] != FILE_MAGIC {
        return Err(fail("it is no WAL"));
    }
    let (checked, crc) = header.split_at(FILE_HEADER - 4);
    if crc32fast::hash(checked).to_le_bytes() != crc {
        return Err(fail("the header's checksum does not fit"));
    }
    let format = u16::from_le_bytes([header[6], header[7]]);
    if format > FORMAT {
        return Err(Error::Newer { path: path.to_owned(), found: format, known: FORMAT });
    }
    Ok(())
}

/// Where a WAL file is.
pub(crate) fn wal_path(dir: &Path, seq: u64) -> PathBuf {
    dir.join(format!("{seq}.wal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ItemId, Sample, SampleValue, Timestamp};

    fn rows(first: u64, count: u64) -> Rows {
        let mut rows = Rows::default();
        for i in first..first + count {
            let value = match i % 3 {
                0 => SampleValue::Float(f64::from_bits(i << 40)),
                1 => SampleValue::Unsigned(u64::MAX - i),
                _ => SampleValue::Text(format!("text {i}").into()),
            };
            let at = Timestamp { clock: 1_700_000_000 + (i % 7) as u32, ns: i as u32 };
            rows.push_sample(&Sample { item: ItemId(i), at, value }).unwrap();
        }
        rows
    }

    fn file(blocks: u64) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = file_header(5);
        let mut starts = Vec::new();
        for block in 0..blocks {
            starts.push(bytes.len());
            Encoder::default().encode(&rows(block * 10, 10), &mut bytes);
        }
        (bytes, starts)
    }

    fn replayed(bytes: &[u8]) -> (Vec<Rows>, Result<Replayed, Error>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("5.wal");
        std::fs::write(&path, bytes).unwrap();
        let mut all = Vec::new();
        let found = replay(&crate::OsDisk, &path, &mut |rows| all.push(rows.clone()));
        (all, found)
    }

    #[test]
    fn blocks_come_back() {
        let (bytes, _) = file(3);
        let (all, found) = replayed(&bytes);
        assert_eq!(all, [rows(0, 10), rows(10, 10), rows(20, 10)]);
        let valid_len = bytes.len() as u64;
        let last_block = Some((1_700_000_000, 1_700_000_006));
        let expected = Replayed { rows: 30, valid_len, last_block, ..Replayed::default() };
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn a_file_cut_anywhere_gives_its_whole_blocks() {
        let (bytes, starts) = file(3);
        for len in 0..bytes.len() {
            let whole = starts.iter().skip(1).filter(|&&start| start <= len).count();
            let (all, found) = replayed(&bytes[..len]);
            let found = found.unwrap();
            assert_eq!(all.len(), whole, "cut at {len}");
            assert_eq!(found.valid_len + found.torn, len as u64);
            assert_eq!(found.damaged_blocks, 0);
        }
    }

    #[test]
    fn a_flipped_bit_costs_one_block_at_most() {
        let (bytes, starts) = file(3);
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << (at % 8);
            let (all, found) = replayed(&bytes);
            let found = found.unwrap();
            assert_eq!(found.header_damaged, at < FILE_HEADER, "byte {at}");
            if at < FILE_HEADER {
                assert_eq!((all.len(), found.damaged_blocks, found.torn), (3, 0, 0), "byte {at}");
                continue;
            }
            let hit = starts.iter().filter(|&&start| start <= at).count() - 1;
            let kept: Vec<Rows> =
                (0..3).filter(|&b| b != hit).map(|b| rows(b as u64 * 10, 10)).collect();
            assert_eq!(all, kept, "byte {at}");
            let last = hit == 2;
            // Of the last block a wrong mark or length looks like an unfinished write.
            let unfinished = last && matches!(at - starts[2], 0..4 | 16..20);
            let damaged = u64::from(!unfinished);
            if !last || !unfinished {
                assert_eq!((found.damaged_blocks, found.torn > 0), (damaged, last), "byte {at}");
                let [lost] = found.lost[..] else { panic!("byte {at}: {found:?}") };
                assert_eq!(lost.offset, starts[hit] as u64, "byte {at}");
                assert_eq!((lost.from.is_some(), lost.till.is_some()), (hit > 0, !last));
            }
        }
    }

    #[test]
    fn a_newer_format_is_refused() {
        let mut bytes = file_header(1);
        bytes[6] = 4;
        let crc = crc32fast::hash(&bytes[..FILE_HEADER - 4]);
        bytes[FILE_HEADER - 4..].copy_from_slice(&crc.to_le_bytes());
        assert!(matches!(replayed(&bytes).1, Err(Error::Newer { found: 4, known: 3, .. })));
    }
}
