//! Crashes at every operation that changes the disk, and power cuts.

use crate::common::*;
use model::{ItemId, Sample, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tsdb::{Class, Engine, Error, Options};

/// Enough to seal several heads, merge their segments and start over.
const BATCHES: u32 = 14;

/// Batch `number`: every sample of the whole test is different.
fn batch(number: u32) -> Vec<Sample> {
    (0..9)
        .map(|row| Sample {
            item: ItemId(u64::from(row) % ITEMS),
            at: Timestamp { clock: NOW - (number % 3) * DAY, ns: number * 100 + row },
            value: value(u64::from(number * 9 + row)),
        })
        .collect()
}

/// What happened until the crash.
#[derive(Default)]
struct Story {
    acknowledged: Vec<u32>,
    /// Batches that a sync had covered.
    synced: usize,
    /// The batch that failed may be there or not.
    uncertain: Option<u32>,
    /// Seals and merges of the whole work.
    seals_and_merges: (u64, u64),
}

/// Appends, seals, merges and drops until something fails.
fn work(
    engine: &mut Engine,
    clock: &stdx::clock::SimClock,
    story: &mut Story,
) -> Result<(), Error> {
    for number in 0..BATCHES {
        story.uncertain = Some(number);
        engine.append(&batch(number))?;
        story.uncertain = None;
        story.acknowledged.push(number);
        if number % 4 == 3 {
            engine.sync()?;
            story.synced = story.acknowledged.len();
        }
        if number % 6 == 5 {
            engine.flush()?;
            story.synced = story.acknowledged.len();
            clock.advance(Duration::from_secs(4000));
            engine.maintain()?;
            engine.flush()?;
        }
    }
    story.seals_and_merges = (engine.stats().seals, engine.stats().merges);
    engine.drop_before(Class(1), tsdb::Day(TODAY));
    Ok(())
}

fn run(dir: &Path, disk: &CrashDisk) -> (Story, Result<(), Error>) {
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.handle()), ..small() };
    let shared = Arc::clone(&clock) as stdx::clock::SharedClock;
    let mut story = Story::default();
    let result = Engine::open(dir, options, shared)
        .and_then(|(mut engine, _)| work(&mut engine, &clock, &mut story));
    (story, result)
}

/// Everything acknowledged is there, nothing twice, nothing that was not sent; and the store works.
fn check(dir: &Path, story: &Story, kept: usize, what: &str) {
    let clock = sim_clock();
    let (mut engine, recovery) = open(dir, small(), &clock);
    assert_eq!(recovery.damaged_blocks, 0, "{what}");
    assert_eq!(recovery.set_aside, [0; 0].map(|_: u8| std::path::PathBuf::new()), "{what}");
    if kept == story.acknowledged.len() {
        assert_eq!(recovery.damage, [], "{what}: nothing was lost");
    }
    let sure = &story.acknowledged[..kept];
    let maybe: Vec<u32> =
        story.acknowledged[kept..].iter().copied().chain(story.uncertain).collect();
    let mut model = Model::default();
    for &number in sure {
        model.append(&batch(number));
    }
    // Batches that were not promised are there whole or not at all, in the order they came.
    let view = engine.view(&(0..ITEMS).map(ItemId).collect::<Vec<_>>(), tsdb::Span::ALL);
    let stored: Vec<Sample> = (0..ITEMS)
        .flat_map(|item| view.samples(ItemId(item), tsdb::Kinds::VALUES).unwrap())
        .collect();
    for number in maybe {
        let rows = batch(number);
        let is_there = |row: &&Sample| stored.iter().any(|sample| same(sample, row));
        let found = rows.iter().filter(is_there).count();
        assert!(found == 0 || found == rows.len(), "{what}: half of batch {number}");
        if found > 0 {
            model.append(&rows);
        }
    }
    assert_eq!(stored.len(), model.samples.len(), "{what}");
    let next = batch(99);
    engine.append(&next).unwrap();
    model.append(&next);
    engine.flush().unwrap();
    model.check_samples(&engine, what);
    let rows: u64 = engine.stats().segment_rows;
    assert_eq!(rows, model.samples.len() as u64, "{what}: something is stored twice");
}

fn operations() -> usize {
    let dir = tempfile::tempdir().unwrap();
    let disk = CrashDisk::new(usize::MAX);
    let (story, result) = run(dir.path(), &disk);
    result.unwrap();
    assert_eq!(story.acknowledged.len(), BATCHES as usize);
    let (seals, merges) = story.seals_and_merges;
    assert!(seals > 2 && merges > 1, "{seals} seals, {merges} merges");
    check(dir.path(), &story, BATCHES as usize, "no crash");
    disk.operations()
}

#[test]
fn a_crash_at_any_operation_loses_nothing_acknowledged() {
    let operations = operations();
    assert!(operations > 80, "{operations}");
    for at in 1..=operations {
        let dir = tempfile::tempdir().unwrap();
        let (story, _) = run(dir.path(), &CrashDisk::new(at));
        check(dir.path(), &story, story.acknowledged.len(), &format!("crash at {at}"));
    }
}

#[test]
fn a_power_cut_at_any_operation_loses_nothing_synced() {
    let operations = operations();
    for at in 1..=operations {
        let dir = tempfile::tempdir().unwrap();
        let disk = CrashDisk::new(at);
        let (story, _) = run(dir.path(), &disk);
        disk.cut_power();
        check(dir.path(), &story, story.synced, &format!("power cut at {at}"));
    }
}

#[test]
fn durable_appends_survive_a_power_cut() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CrashDisk::new(usize::MAX);
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.handle()), durable: true, ..small() };
    let (mut engine, _) = open(dir.path(), options, &clock);
    let mut story = Story::default();
    for number in 0..7 {
        engine.append(&batch(number)).unwrap();
        story.acknowledged.push(number);
    }
    drop(engine);
    disk.cut_power();
    check(dir.path(), &story, 7, "durable");
}

#[test]
fn a_failed_disk_refuses_writes_and_still_reads() {
    let dir = tempfile::tempdir().unwrap();
    // Directory, create, header, directory, twice the manifest (five each), then the third batch.
    let disk = CrashDisk::new(17);
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk), ..small() };
    let (mut engine, _) = open(dir.path(), options, &clock);
    let mut model = Model::default();
    for number in 0..2 {
        engine.append(&batch(number)).unwrap();
        model.append(&batch(number));
    }
    for _ in 0..3 {
        let error = engine.append(&batch(2)).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        assert!(engine.maintain().is_err() && engine.flush().is_err() && engine.sync().is_err());
    }
    model.check(&engine, "the disk is dead");
}

/// Full in the middle of a batch, of a sealing, of a start: what was taken is served, no more is
/// taken, and with space it goes on, without a restart or with one.
#[test]
fn a_full_disk_refuses_writes_until_it_has_space() {
    let dir = tempfile::tempdir().unwrap();
    let disk = FlakyDisk::default();
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.clone()), ..small() };
    let (mut engine, _) = open(dir.path(), options.clone(), &clock);
    let mut model = Model::default();
    let mut refused = 0;
    for number in 0..60 {
        let full = number % 10 >= 6;
        disk.full.store(full, Ordering::SeqCst);
        if number == 28 {
            drop(engine);
            engine = open(dir.path(), options.clone(), &clock).0;
        }
        match engine.append(&batch(number)) {
            Ok(_) => model.append(&batch(number)),
            Err(error) => {
                assert!(
                    full && matches!(error, Error::Io { .. } | Error::Refused { .. }),
                    "{error}"
                );
                refused += 1;
            }
        }
        if number == 27 {
            engine.clear(&[ItemId(3)]).unwrap_err();
        }
        // Whatever it tells, it goes on.
        drop(engine.maintain());
        if number % 10 > 7 {
            model.check(&engine, &format!("batch {number}"));
        }
        clock.advance(Duration::from_secs(6));
    }
    assert_eq!(refused, 24);
    disk.full.store(false, Ordering::SeqCst);
    engine.flush().unwrap();
    model.check(&engine, "space again");
    drop(engine);
    let (engine, recovery) = open(dir.path(), small(), &clock);
    assert!(recovery.clean, "{recovery:?}");
    model.check(&engine, "after a restart");
}

/// A sealing that failed before the disk had space again is no reason for a flush to fail.
#[test]
fn a_flush_tries_again_what_failed_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let disk = FlakyDisk::default();
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.clone()), ..small() };
    let (mut engine, _) = open(dir.path(), options, &clock);
    let mut model = Model::default();
    disk.no_segments.store(true, Ordering::SeqCst);
    // More than a head holds: the first is handed over for sealing.
    for number in 0..5 {
        engine.append(&batch(number)).unwrap();
        model.append(&batch(number));
    }
    while disk.segments_refused.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    disk.no_segments.store(false, Ordering::SeqCst);
    engine.flush().unwrap();
    assert_eq!(engine.stats().sealing, 0);
    model.check(&engine, "flushed");
}

/// After a failed sync a later one proves nothing about the file: what memory has is sealed.
#[test]
fn a_failed_sync_is_put_right_by_sealing() {
    let dir = tempfile::tempdir().unwrap();
    let disk = FlakyDisk::default();
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.clone()), ..small() };
    let (mut engine, _) = open(dir.path(), options, &clock);
    engine.append(&batch(0)).unwrap();
    disk.bad_sync.store(true, Ordering::SeqCst);
    assert!(matches!(engine.sync(), Err(Error::Io { .. } | Error::Refused { .. })));
    disk.bad_sync.store(false, Ordering::SeqCst);
    clock.advance(Duration::from_secs(6));
    drop(engine.maintain());
    engine.sync().unwrap();
    assert_eq!((engine.stats().sealing, engine.stats().seals), (0, 1));
    engine.append(&batch(1)).unwrap();
    let mut model = Model::default();
    model.append(&batch(0));
    model.append(&batch(1));
    model.check(&engine, "synced in the end");
}

#[test]
fn clears_survive_a_power_cut_where_appends_are_durable() {
    let dir = tempfile::tempdir().unwrap();
    let disk = CrashDisk::new(usize::MAX);
    let clock = sim_clock();
    let options = Options { disk: Arc::new(disk.handle()), durable: true, ..small() };
    let (mut engine, _) = open(dir.path(), options, &clock);
    let mut model = Model::default();
    engine.append(&batch(0)).unwrap();
    model.append(&batch(0));
    engine.clear(&[ItemId(2), ItemId(5)]).unwrap();
    model.clear(&[ItemId(2), ItemId(5)]);
    drop(engine);
    disk.cut_power();
    let (engine, _) = open(dir.path(), small(), &clock);
    model.check(&engine, "cleared");
}

#[test]
fn a_text_beyond_the_limit_is_refused_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = sim_clock();
    let (mut engine, _) = open(dir.path(), small(), &clock);
    let text = "x".repeat((16 << 20) + 1);
    let sample = Sample {
        item: ItemId(5),
        at: Timestamp::from_s(NOW),
        value: model::SampleValue::Text(text.into()),
    };
    assert!(matches!(engine.append(&[sample]), Err(Error::TooLarge { item: 5, .. })));
    engine.append(&batch(0)).unwrap();
    let mut model = Model::default();
    model.append(&batch(0));
    model.check(&engine, "after a refusal");
}
