//! What an archive keeps of blocks that arrive late, twice, cut off or not at all.

use super::*;
use crate::testing::transaction;
use crate::{Builder, Encoder};

const ALL: Limits = Limits { bytes: u64::MAX, age_us: u64::MAX };
const STREAM: Stream = Stream { engine: 7, ring: 0xabc };

fn block(from: u64, rows: u64) -> Vec<u8> {
    let mut builder = Builder::default();
    (from..from + rows).for_each(|number| builder.push(&transaction(number)));
    builder.finish(&mut Encoder::new().unwrap())
}

fn query(filter: &str) -> Query {
    let filter = filter.parse().unwrap();
    Query { filter, from_us: 0, to_us: u64::MAX, rows: 0, bars: 0, group: None, threads: 2 }
}

fn count(archive: &Archive, query: &Query) -> u64 {
    archive.search(query, &|| false).unwrap().matched
}

fn all(archive: &Archive) -> u64 {
    count(archive, &query(""))
}

/// Appends at the end of a file of the stream.
fn add(archive: &Archive, stream: Stream, file: u32, block: &[u8], now_us: u64) -> Taken {
    let end = archive.end(stream);
    let at = if end.file == file { end } else { Position { file, offset: 0 } };
    archive.keep(stream, at, block, now_us).unwrap()
}

#[test]
fn repeated_block_is_kept_once_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let (first, second) = (block(0, 100), block(100, 50));
    let start = Position { file: 3, offset: 0 };
    assert_eq!(archive.keep(STREAM, start, &first, 1).unwrap(), Taken::New);
    assert_eq!(archive.keep(STREAM, start, &first, 2).unwrap(), Taken::Known);
    let next = archive.end(STREAM);
    assert_eq!(next, Position { file: 3, offset: u32::try_from(first.len()).unwrap() });
    assert_eq!(archive.keep(STREAM, next, &second, 3).unwrap(), Taken::New);
    archive.sync(STREAM).unwrap();
    let end = archive.end(STREAM);
    drop(archive);
    let archive = Archive::open(folder.path(), ALL).unwrap();
    assert_eq!(archive.end(STREAM), end);
    assert_eq!(archive.keep(STREAM, next, &second, 4).unwrap(), Taken::Known);
    assert_eq!(all(&archive), 150);
}

#[test]
fn a_block_that_a_crash_cut_off_is_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    add(&archive, STREAM, 1, &block(0, 100), 1);
    let end = archive.end(STREAM);
    add(&archive, STREAM, 1, &block(100, 100), 1);
    drop(archive);
    let path = file_path(&folder.path().join(STREAM.name()), 1);
    let length = std::fs::metadata(&path).unwrap().len();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    for cut in (1..length - u64::from(end.offset)).step_by(61) {
        file.set_len(length - cut).unwrap();
        let archive = Archive::open(folder.path(), ALL).unwrap();
        assert_eq!(archive.end(STREAM), end, "{cut} bytes are missing");
        assert_eq!(add(&archive, STREAM, 1, &block(100, 100), 1), Taken::New);
        assert_eq!(all(&archive), 200);
    }
}

#[test]
fn streams_are_searched_together_within_a_time_range() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let other = Stream { engine: 8, ring: 1 };
    for file in 1..=5 {
        let from = u64::from(file) * 10_000;
        add(&archive, STREAM, file, &block(from, 100), from);
        add(&archive, other, file, &block(from + 5_000, 100), from);
    }
    let wanted = transaction(40_000).began_us..=transaction(40_000).began_us;
    let narrow = Query { from_us: *wanted.start(), to_us: *wanted.end(), ..query("") };
    // The second time, the times of complete files are known.
    for _ in 0..2 {
        assert_eq!(all(&archive), 1_000);
        assert_eq!(count(&archive, &narrow), 1);
    }
    let reopened = Archive::open(folder.path(), ALL).unwrap();
    assert_eq!(count(&reopened, &narrow), 1);
    let stopped = reopened.search(&query(""), &|| true).unwrap();
    assert_eq!((stopped.matched, stopped.scanned, stopped.stopped), (0, 0, true));
}

#[test]
fn bytes_that_are_no_block_and_gaps_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let good = block(0, 10);
    let refused = |at: Position, bytes: &[u8]| {
        let error = archive.keep(STREAM, at, bytes, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    };
    let start = Position { file: 1, offset: 0 };
    refused(start, b"");
    refused(start, &good[..good.len() - 1]);
    refused(start, &[&good[..], b"x"].concat());
    let mut changed = good.clone();
    changed[40] ^= 1;
    refused(start, &changed);
    refused(Position { file: 1, offset: u32::MAX }, &good);
    refused(Position { file: 0, offset: 1 }, &good);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing was written");
    archive.keep(STREAM, Position { file: 1, offset: 5_000 }, &good, 1).unwrap();
    add(&archive, STREAM, 1, &good, 1);
    assert_eq!(all(&archive), 20, "records behind a damaged part are found");
}

#[test]
fn largest_engine_loses_its_oldest_records_first() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: 8 * FILE_BYTES_MIN, age_us: u64::MAX };
    let archive = Archive::open(folder.path(), limits).unwrap();
    let quiet = Stream { engine: 1, ring: 1 };
    add(&archive, quiet, 1, &block(0, 10), 1);
    for file in 1..=20 {
        add(&archive, STREAM, file, &block(u64::from(file) * 1_000, 10), 100);
        archive.delete_old(100).unwrap();
    }
    assert_eq!(all(&archive), 80);
    assert_eq!(count(&archive, &Query { to_us: 1_200_000, ..query("") }), 10, "of the other one");
    assert_eq!(archive.end(STREAM).file, 20);
}

#[test]
fn records_are_deleted_by_age_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: u64::MAX, age_us: 3_600 * US };
    let archive = Archive::open(folder.path(), limits).unwrap();
    add(&archive, STREAM, 1, &block(0, 10), 1);
    drop(archive);
    let archive = Archive::open(folder.path(), limits).unwrap();
    let now = std::fs::metadata(file_path(&folder.path().join(STREAM.name()), 1)).unwrap();
    let now = now.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now_us = u64::try_from(now.as_micros()).unwrap();
    archive.delete_old(now_us).unwrap();
    assert_eq!(all(&archive), 10);
    archive.delete_old(now_us + 3_601 * US).unwrap();
    assert_eq!(all(&archive), 0);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "its folder is gone");
    add(&archive, STREAM, 2, &block(0, 10), now_us);
    assert_eq!(all(&archive), 10);
}

#[test]
fn an_engine_has_few_streams_and_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    for ring in 1..=20 {
        add(&archive, Stream { engine: 7, ring }, 1, &block(ring * 100, 10), ring);
    }
    add(&archive, Stream { engine: 8, ring: 1 }, 1, &block(0, 10), 1);
    assert_eq!(all(&archive), 90);
    assert_eq!(archive.end(Stream { engine: 7, ring: 12 }), Position::default());
    assert_ne!(archive.end(Stream { engine: 7, ring: 13 }), Position::default());
    let place = folder.path().join(Stream { engine: 7, ring: 20 }.name());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place), mode(&file_path(&place, 1))), (0o700, 0o600));
}

#[test]
fn blocks_without_rows_or_with_turned_times_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let mut turned = block(0, 10);
    // First and last `began`.
    turned[16..24].fill(0xff);
    turned[24..32].fill(0);
    let front = Header::read(&turned).unwrap().front();
    let sum = crate::block::checksum(&turned[..front]).to_le_bytes();
    turned[32..36].copy_from_slice(&sum);
    for bytes in [block(0, 0), turned] {
        let error = archive.keep(STREAM, Position { file: 1, offset: 0 }, &bytes, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    }
}

#[test]
fn times_ahead_of_the_clock_do_not_reach_every_search() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let ahead = block(10_000_000_000, 10);
    add(&archive, STREAM, 1, &ahead, 5_000 * US);
    add(&archive, STREAM, 2, &ahead, 5_000 * US);
    let late = Query { from_us: 9_000 * US, ..query("") };
    assert!(archive.candidates(&late).is_empty());
    assert_eq!(all(&archive), 20, "they are found without a time");
}

#[test]
fn no_number_of_files_is_too_many_for_a_search() {
    const FILES: u32 = 4_200;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(STREAM.name());
    std::fs::create_dir(&path).unwrap();
    for number in 1..=FILES {
        let block = block(u64::from(number) * 1_000, 1);
        std::fs::write(file_path(&path, number.into()), block).unwrap();
    }
    let archive = Archive::open(folder.path(), ALL).unwrap();
    let wanted = Query { rows: 600, bars: 7, ..query("") };
    let found = archive.search(&wanted, &|| false).unwrap();
    assert_eq!((found.matched, found.scanned, found.damaged), (FILES.into(), FILES.into(), 0));
    let began: Vec<u64> = found.rows.iter().map(crate::Row::began_us).collect();
    let newest = (FILES - 599..=FILES).rev();
    let newest: Vec<u64> = newest.map(|n| transaction(u64::from(n) * 1_000).began_us).collect();
    assert_eq!(began, newest);
    let bars = found.summary.unwrap().histogram.bars;
    assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), FILES.into());
    assert!(bars.iter().all(|bar| bar.count > 0), "of equal times in all files");
}
