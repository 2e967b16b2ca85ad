//! Files that are damaged, and files of earlier formats that must stay readable.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use model::{ItemId, Sample, Timestamp};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tsdb::{Engine, Error, Kinds, Recovery, Span};

fn sample(number: u32) -> Sample {
    Sample {
        item: ItemId(u64::from(number) % ITEMS),
        at: Timestamp { clock: NOW - 100 + number, ns: number % 3 },
        value: value(u64::from(number) * 31),
    }
}

/// 60 samples in segments, 20 in the WAL, two trends in each.
fn fill(dir: &Path) -> Model {
    let mut model = Model::default();
    let (mut engine, _) = open(dir, small(), &sim_clock());
    for (part, numbers) in [0..60, 60..80].into_iter().enumerate() {
        for number in numbers.step_by(5) {
            let batch: Vec<Sample> = (number..number + 5).map(sample).collect();
            engine.append(&batch).unwrap();
            model.append(&batch);
        }
        let part = part as u64;
        let trends = [trend(1, NOW - NOW % 3600, part), trend(9, NOW - NOW % 3600 - 7200, part)];
        engine.append_trends(&trends).unwrap();
        model.append_trends(&trends);
        if part == 0 {
            engine.flush().unwrap();
        }
    }
    model
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|e| e == "seg" || e == "wal")).collect();
    files.sort();
    files
}

/// Every sample that can be read is one that was written, at its time.
fn only_truth(engine: &Engine, model: &Model) -> (usize, usize) {
    let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
    let view = engine.view(&items, Span::ALL);
    let (mut read, mut errors) = (0, 0);
    for &item in &items {
        match view.samples(item, Kinds::VALUES) {
            Ok(samples) => {
                let expected = model.samples_of(item, Span::ALL);
                for got in &samples {
                    assert!(expected.iter().any(|e| same(e, got)), "{got:?} was never written");
                }
                read += samples.len();
            }
            Err(Error::Damaged { .. }) => errors += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(matches!(view.trends(item), Ok(_) | Err(Error::Damaged { .. })));
        assert!(matches!(view.newest(item, Kinds::ALL, 2), Ok(_) | Err(Error::Damaged { .. })));
    }
    (read, errors)
}

fn reopened(dir: &Path) -> Result<(Engine, Recovery), Error> {
    Engine::open(dir, small(), sim_clock() as stdx::clock::SharedClock)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_noticed_wherever_it_is(
        file in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        mask in 1u8..,
        cut in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let model = fill(dir.path());
        let files = files(dir.path());
        let path = file.get(&files);
        let mut bytes = std::fs::read(path).unwrap();
        let place = place.index(bytes.len());
        if cut {
            bytes.truncate(place);
        } else {
            bytes[place] ^= mask;
        }
        std::fs::write(path, bytes).unwrap();
        let (engine, recovery) = match reopened(dir.path()) {
            Ok(opened) => opened,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let (read, errors) = only_truth(&engine, &model);
        let noticed = !recovery.clean || errors > 0;
        // A file of the log that ends between two blocks looks like one that was never longer.
        let whole_blocks = cut && path.extension().is_some_and(|e| e == "wal");
        let unharmed = read == model.samples.len();
        prop_assert!(noticed || whole_blocks || unharmed, "{path:?} at {place}");
    }
}

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
    let (read, errors) = only_truth(&engine, &expected);
    assert!(errors > 0 && read < expected.samples.len(), "{read} read, {errors} errors");
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
    // Behind the first words of the file its first block begins.
    bytes[10] ^= 1;
    std::fs::write(youngest, bytes).unwrap();
    let (engine, _) = reopened(dir.path()).unwrap();
    let view = engine.view(&[item], Span::ALL);
    assert!(matches!(view.samples(item, Kinds::VALUES), Err(Error::Damaged { .. })));
    let before: Vec<Sample> = [of_day(0), of_day(1)].concat();
    for n in [1, 10, 11, 20] {
        assert_same(&view.oldest(item, Kinds::VALUES, n).unwrap(), &before[..n], "the oldest");
    }
    assert!(matches!(view.oldest(item, Kinds::VALUES, 21), Err(Error::Damaged { .. })));
}
