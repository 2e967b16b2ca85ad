//! Files that are damaged, and files of earlier formats that must stay readable.

use crate::common::*;
use model::{ItemId, Sample, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tsdb::{Error, Kinds, Span};

/// What format 2 has beside that: items cleared in a sealed head and in the WAL, and the file that
/// says so.
fn fill_and_clear(dir: &Path) -> Model {
    let mut model = fill(dir);
    let (mut engine, _) = open(dir, small(), &sim_clock());
    for (items, number) in [([ItemId(3), ItemId(4)], 83), ([ItemId(5), ItemId(9)], 85)] {
        engine.flush().unwrap();
        engine.clear(&items).unwrap();
        model.clear(&items);
        engine.append(&[sample(number)]).unwrap();
        model.append(&[sample(number)]);
    }
    model
}

/// A format of the log, and how its fixture was made.
type Format = (&'static str, fn(&Path) -> Model);
const FORMATS: [Format; 2] = [("format-1", fill), ("format-2", fill_and_clear)];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn copy_of(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(fixture(name)).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    dir
}

/// Run with `-- --ignored` to write the files of a new format; those of an old one stay as they are.
#[test]
#[ignore = "writes the fixtures of a new format"]
fn write_fixtures() {
    for (name, fill) in FORMATS.into_iter().filter(|(name, _)| !fixture(name).exists()) {
        std::fs::create_dir_all(fixture(name)).unwrap();
        fill(&fixture(name));
        std::fs::remove_file(fixture(name).join("lock")).unwrap();
    }
}

#[test]
fn files_of_all_formats_are_read() {
    for (name, fill) in FORMATS {
        let expected = fill(tempfile::tempdir().unwrap().path());
        let dir = copy_of(name);
        let (mut engine, recovery) = reopened(dir.path()).unwrap();
        assert!(recovery.clean, "{name}: {recovery:?}");
        assert!(recovery.segment_rows > 0 && recovery.wal_rows > 0, "{name}");
        assert_eq!(recovery.cleared, if name == "format-1" { 0 } else { 4 }, "{name}");
        expected.check(&engine, name);
        engine.flush().unwrap();
        expected.check(&engine, &format!("{name}, sealed"));
    }
}

#[test]
fn damaged_files_of_format_1_are_noticed() {
    let expected = fill(tempfile::tempdir().unwrap().path());
    let dir = copy_of("format-1-damaged");
    let (engine, recovery) = reopened(dir.path()).unwrap();
    assert!(!recovery.clean, "{recovery:?}");
    let missing = missing(&engine, &expected);
    assert!(!missing.is_empty() && missing.len() < expected.samples.len());
    assert_reported(&engine, &missing, "format 1");
}

#[test]
fn a_newer_format_is_refused_and_nothing_is_touched() {
    let dir = copy_of("format-1");
    let wal = files(dir.path()).into_iter().find(|path| path.extension().unwrap() == "wal");
    let wal = wal.unwrap();
    let mut bytes = std::fs::read(&wal).unwrap();
    bytes[6] = 4;
    let crc = crc32fast::hash(&bytes[..16]);
    bytes[16..20].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(&wal, &bytes).unwrap();
    let before = files(dir.path());
    let error = reopened(dir.path()).unwrap_err();
    assert!(matches!(error, Error::Newer { found: 4, known: 3, .. }), "{error}");
    assert_eq!(files(dir.path()), before);
    assert_eq!(std::fs::read(&wal).unwrap(), bytes);
}

#[test]
fn the_helper_thread_syncs_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CrashDisk::new(usize::MAX);
    let options = tsdb::Options {
        sync_interval: Some(std::time::Duration::from_millis(1)),
        disk: Arc::new(disk.handle()),
        ..small()
    };
    let (mut engine, _) = open(dir.path(), options, &sim_clock());
    engine.append(&[sample(1)]).unwrap();
    while disk.unsynced() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn the_oldest_are_read_without_what_comes_later() {
    let dir = tempfile::tempdir().unwrap();
    let item = ItemId(5);
    let of_day = |day: u32| {
        let at = |n| Timestamp { clock: NOW - (2 - day) * DAY + n, ns: 0 };
        let sample = |n: u32| Sample { item, at: at(n), value: value(n.into()) };
        (0..10).map(sample).collect::<Vec<_>>()
    };
    let (mut engine, _) = open(dir.path(), small(), &sim_clock());
    for day in 0..3 {
        engine.append(&of_day(day)).unwrap();
        engine.flush().unwrap();
    }
    drop(engine);
    let files = files(dir.path());
    let youngest = files.iter().rfind(|path| path.extension().is_some_and(|e| e == "seg")).unwrap();
    let mut bytes = std::fs::read(youngest).unwrap();
    // Behind the magic of the file and the mark of its first block.
    bytes[30] ^= 1;
    std::fs::write(youngest, bytes).unwrap();
    let (engine, _) = reopened(dir.path()).unwrap();
    let view = engine.view(&[item], Span::ALL);
    let before: Vec<Sample> = [of_day(0), of_day(1)].concat();
    for n in [1, 10, 11, 20] {
        assert_same(&view.oldest(item, Kinds::VALUES, n).unwrap(), &before[..n], "the oldest");
    }
    assert!(engine.damage().is_empty());
    let left = view.oldest(item, Kinds::VALUES, 30).unwrap();
    assert!((20..30).contains(&left.len()), "{}", left.len());
    assert_eq!(engine.damage().len(), 1);
}
