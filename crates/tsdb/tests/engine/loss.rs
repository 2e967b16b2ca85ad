//! Files that are cut, flipped or deleted: what is lost is the damaged blocks and nothing else, and all
//! of it is reported.

use crate::common::*;
use model::ItemId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tsdb::{Engine, Error, Kinds, Recovery, Span};

fn copy(from: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    dir
}

fn is_wal(path: &Path) -> bool {
    path.extension().unwrap() == "wal"
}

/// Where the blocks of a file start and end, with their marks.
fn blocks(path: &Path, bytes: &[u8]) -> Vec<(usize, usize)> {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (magic, header, len_at) = if is_wal(path) { (b"VBLK", 20, 16) } else { (b"VSBK", 12, 4) };
    let starts = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(magic));
    starts.map(|at| (at, at + header + number(at + len_at))).collect()
}

/// Changes one file in a copy and opens that.
fn changed(
    dir: &Path,
    path: &Path,
    change: impl Fn(&mut Vec<u8>),
) -> (tempfile::TempDir, Engine, Recovery) {
    let copy = copy(dir);
    let path = copy.path().join(path.file_name().unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    change(&mut bytes);
    std::fs::write(&path, bytes).unwrap();
    let (engine, recovery) = reopened(copy.path()).unwrap();
    (copy, engine, recovery)
}

fn all_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = files(dir);
    files.push(dir.join("manifest"));
    files
}

#[test]
fn flipped_bit_loses_at_most_the_block_that_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let model = fill(dir.path());
    for path in all_files(dir.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let blocks = if path.ends_with("manifest") { Vec::new() } else { blocks(&path, &bytes) };
        for at in (0..bytes.len()).step_by(13).chain([6, bytes.len() - 1]) {
            let what = format!("{path:?} byte {at} of {}", bytes.len());
            let (_copy, engine, recovery) =
                changed(dir.path(), &path, |bytes| bytes[at] ^= 1 << (at % 8));
            let missing = missing(&engine, &model);
            assert_reported(&engine, &missing, &what);
            let hit = blocks.iter().any(|&(start, end)| start <= at && at < end);
            if missing.is_empty() {
                // Rows of trends, or a mark that nothing needs.
                continue;
            }
            assert!(hit, "{what}: {} values are lost and no block was hit", missing.len());
            assert!(!is_wal(&path) || missing.len() == 5, "{what}: {}", missing.len());
            assert!(!recovery.clean || !is_wal(&path), "{what}");
        }
    }
}

#[test]
fn cut_file_keeps_the_blocks_in_front_of_the_cut() {
    let dir = tempfile::tempdir().unwrap();
    let model = fill(dir.path());
    for path in files(dir.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let blocks = blocks(&path, &bytes);
        let total = {
            let (_copy, engine, _) = changed(dir.path(), &path, Vec::clear);
            missing(&engine, &model).len()
        };
        let mut before = total;
        for len in (0..bytes.len()).step_by(19) {
            let what = format!("{path:?} cut at {len} of {}", bytes.len());
            let (_copy, engine, recovery) = changed(dir.path(), &path, |b| b.truncate(len));
            let missing = missing(&engine, &model);
            assert_reported(&engine, &missing, &what);
            assert!(!recovery.clean, "{what}");
            // A longer file never loses more, and with all its blocks nothing is lost.
            assert!(missing.len() <= before, "{what}: {} after {before}", missing.len());
            let whole = blocks.iter().all(|&(_, end)| end <= len);
            assert!(!whole || missing.is_empty(), "{what}: {}", missing.len());
            before = missing.len();
        }
    }
}

#[test]
fn deleted_file_is_reported_at_this_start_and_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let model = fill(dir.path());
    for path in all_files(dir.path()) {
        let copy = copy(dir.path());
        let name = path.file_name().unwrap().to_str().unwrap();
        std::fs::remove_file(copy.path().join(name)).unwrap();
        for start in ["first start", "second start"] {
            let (mut engine, recovery) = reopened(copy.path()).unwrap();
            let missing = missing(&engine, &model);
            if name == "manifest" {
                assert!(missing.is_empty() && recovery.clean, "{recovery:?}");
                continue;
            }
            assert_reported(&engine, &missing, start);
            let damage = engine.damage().all();
            assert!(damage.len() == 1 && damage[0].file == name, "{start}: {damage:?}");
            let new = usize::from(start == "first start");
            assert_eq!(recovery.damage.len(), new, "{name}, {start}");
            engine.close().unwrap();
        }
    }
}

#[test]
fn damaged_block_leaves_newer_values_readable() {
    let dir = tempfile::tempdir().unwrap();
    let clock = sim_clock();
    let (mut engine, _) = open(dir.path(), small(), &clock);
    for number in 0..3 {
        engine.append(&[sample(number), sample(number + 12)]).unwrap();
        engine.flush().unwrap();
    }
    engine.close().unwrap();
    drop(engine);
    let first = files(dir.path()).into_iter().find(|path| path.extension().unwrap() == "seg");
    let first = first.unwrap();
    let mut bytes = std::fs::read(&first).unwrap();
    bytes[30] ^= 1;
    std::fs::write(&first, &bytes).unwrap();
    let (mut engine, recovery) = open(dir.path(), small(), &clock);
    assert!(recovery.clean, "{recovery:?}");
    let items: Vec<ItemId> = (0..3).map(ItemId).collect();
    let view = engine.view(&items, Span::ALL);
    let left: usize = items.iter().map(|&i| view.samples(i, Kinds::VALUES).unwrap().len()).sum();
    assert!((1..6).contains(&left), "{left}");
    // The pages of newest rows still have them all.
    let newest = engine.view_newest(&items, 2).newest_many(&items, Kinds::VALUES, 2).unwrap();
    assert_eq!(newest.iter().map(Vec::len).sum::<usize>(), 6);
    assert_eq!(engine.damage().len(), 1, "{:?}", engine.damage());
    clock.advance(std::time::Duration::from_secs(2 * u64::from(DAY)));
    for _ in 0..5 {
        engine.maintain().unwrap();
        engine.flush().unwrap();
    }
    assert_eq!(std::fs::read(&first).unwrap(), bytes);
    engine.close().unwrap();
    drop(engine);
    let (engine, _) = open(dir.path(), small(), &clock);
    assert_eq!(engine.damage().len(), 1, "a later start knows of it");
}

#[test]
fn read_error_at_the_end_of_a_segment_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let model = fill(dir.path());
    let segment = all_files(dir.path()).into_iter().find(|path| !is_wal(path)).unwrap();
    let (name, len) =
        (segment.file_name().unwrap().to_str().unwrap(), segment.metadata().unwrap().len());
    let names = || {
        let all = std::fs::read_dir(dir.path()).unwrap();
        all.map(|entry| entry.unwrap().file_name()).collect::<BTreeSet<_>>()
    };
    let (before, bytes) = (names(), std::fs::read(&segment).unwrap());
    let start = |disk: &BadDisk| {
        let options = tsdb::Options { disk: Arc::new(disk.clone()), ..small() };
        Engine::open(dir.path(), options, sim_clock())
    };
    // The footer, then the tables in front of it.
    for bad in [len - 96..len, len - 120..len - 96] {
        let disk = BadDisk::always(name, bad);
        let error = start(&disk).unwrap_err();
        assert!(matches!(error, Error::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("the file was not changed"), "{error}");
        assert_eq!(names(), before);
        assert_eq!(std::fs::read(&segment).unwrap(), bytes);
        // The disk recovers.
        disk.times.store(2, Ordering::SeqCst);
        let (engine, recovery) = start(&disk).unwrap();
        assert!(recovery.set_aside.is_empty() && recovery.damage.is_empty(), "{recovery:?}");
        model.check(&engine, "after a read error");
        drop(engine);
        assert_eq!(std::fs::read(&segment).unwrap(), bytes);
    }
}
