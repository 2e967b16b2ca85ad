//! The log as others read it: while it is written, across sealing, merging, crashes and power
//! cuts. Nothing acknowledged is skipped, and only what was not confirmed comes again.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::common::*;
use model::{ItemId, Sample, Timestamp};
use tsdb::{Block, Disk, Engine, Error, Options, OsDisk, Position, Spool, Tail};

const BATCHES: u32 = 14;
const ROWS: u32 = 9;

/// Batch `number`; its samples have the number in their nanoseconds.
fn batch(number: u32) -> Vec<Sample> {
    (0..ROWS)
        .map(|row| Sample {
            item: ItemId(u64::from(row) % ITEMS),
            at: Timestamp { clock: NOW - (number % 3) * DAY, ns: number * 100 + row },
            value: value(u64::from(number * ROWS + row)),
        })
        .collect()
}

/// Which batch this is; all of it has to be here.
fn number_of(block: &Block) -> u32 {
    let number = block.samples[0].at.ns / 100;
    assert_same(&block.samples, &batch(number), "a block is what was appended");
    number
}

/// Opens the engine with a reader that goes on at `cursor`.
fn opened(
    dir: &Path,
    disk: Arc<dyn Disk>,
    cursor: Option<Position>,
    bytes_max: u64,
) -> Result<(Engine, Tail, Arc<stdx::clock::SimClock>), Error> {
    let spool = Arc::new(Spool::new(&[cursor], bytes_max));
    let options = Options { disk: Arc::clone(&disk), spool: Some(Arc::clone(&spool)), ..small() };
    let clock = sim_clock();
    let shared = Arc::clone(&clock) as stdx::clock::SharedClock;
    let (engine, _) = Engine::open(dir, options, shared)?;
    Ok((engine, Tail::open(dir, disk, spool, 0), clock))
}

fn read_all(tail: &mut Tail) -> Vec<Block> {
    std::iter::from_fn(|| tail.read().unwrap()).collect()
}

#[derive(Default)]
struct Story {
    acknowledged: Vec<u32>,
    synced: usize,
    /// What the store confirmed, and the position that was remembered with it.
    confirmed: Vec<u32>,
    cursor: Option<Position>,
    removed_files: bool,
}

/// Appends, seals and merges, while a reader follows and confirms now and then.
fn work(dir: &Path, disk: &CrashDisk, story: &mut Story) -> Result<(), Error> {
    let (mut engine, mut tail, clock) = opened(dir, Arc::new(disk.handle()), None, u64::MAX)?;
    let mut read = Vec::new();
    for number in 0..BATCHES {
        engine.append(&batch(number))?;
        story.acknowledged.push(number);
        // Not always up to the end, so that it stands in files of all ages.
        for _ in 0..number % 4 {
            read.extend(tail.read()?.iter().map(number_of));
        }
        if number % 3 == 1 {
            story.confirmed.append(&mut read);
            story.cursor = Some(tail.position());
            tail.confirm(tail.position());
        }
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
    engine.maintain()?;
    story.removed_files = !dir.join("1.spool").exists() && !dir.join("1.wal").exists();
    Ok(())
}

/// After a restart the rest comes: everything acknowledged has been read once confirmed.
fn check(dir: &Path, story: &Story, kept: usize, what: &str) {
    let (mut engine, mut tail, _) = opened(dir, Arc::new(OsDisk), story.cursor, u64::MAX).unwrap();
    engine.append(&batch(90)).unwrap();
    let again: Vec<u32> = read_all(&mut tail).iter().map(number_of).collect();
    assert!(again.is_sorted(), "{what}: {again:?}");
    assert!(!tail.missed_files(), "{what}");
    assert_eq!(tail.damaged_blocks(), 0, "{what}");
    let confirmed: BTreeSet<u32> = story.confirmed.iter().copied().collect();
    let repeated: Vec<_> = again.iter().filter(|number| confirmed.contains(number)).collect();
    assert!(repeated.is_empty(), "{what}: {repeated:?} were confirmed");
    let copied: BTreeSet<u32> = confirmed.iter().chain(&again).copied().collect();
    let sure: BTreeSet<u32> = story.acknowledged[..kept].iter().copied().chain([90]).collect();
    assert!(copied.is_superset(&sure), "{what}: {copied:?} of {sure:?}");
    // The batch at which it ended may be there or not.
    let sent = story.acknowledged.last().map_or(0, |last| last + 1);
    assert!(copied.iter().all(|&number| number <= sent || number == 90), "{what}: {copied:?}");
    // It goes on, and what is confirmed leaves the disk.
    tail.confirm(tail.position());
    for number in 91..94 {
        engine.append(&batch(number)).unwrap();
    }
    engine.flush().unwrap();
    assert_eq!(read_all(&mut tail).len(), 3, "{what}");
    tail.confirm(tail.position());
    engine.maintain().unwrap();
    drop((engine, tail));
    let (mut engine, mut tail, _) = opened(dir, Arc::new(OsDisk), Some(end(dir)), 100).unwrap();
    engine.maintain().unwrap();
    assert_eq!(tail.read().unwrap(), None, "{what}");
    engine.append(&batch(99)).unwrap();
}

/// A position behind everything.
fn end(dir: &Path) -> Position {
    let numbers = OsDisk.list(dir).unwrap().into_iter().filter_map(|name| {
        let (number, kind) = name.split_once('.')?;
        matches!(kind, "wal" | "spool").then(|| number.parse::<u64>().ok())?
    });
    Position { file: numbers.max().unwrap_or(0) + 1, offset: 0 }
}

fn operations() -> usize {
    let dir = tempfile::tempdir().unwrap();
    let disk = CrashDisk::new(usize::MAX);
    let mut story = Story::default();
    work(dir.path(), &disk, &mut story).unwrap();
    assert!(story.confirmed.len() > 5 && story.removed_files, "{:?}", story.confirmed);
    check(dir.path(), &story, BATCHES as usize, "no crash");
    disk.operations()
}

#[test]
fn a_crash_at_any_operation_skips_and_repeats_nothing() {
    let operations = operations();
    assert!(operations > 80, "{operations}");
    for at in 1..=operations {
        let dir = tempfile::tempdir().unwrap();
        let mut story = Story::default();
        drop(work(dir.path(), &CrashDisk::new(at), &mut story));
        check(dir.path(), &story, story.acknowledged.len(), &format!("crash at {at}"));
    }
}

#[test]
fn a_power_cut_at_any_operation_skips_nothing_synced() {
    for at in 1..=operations() {
        let dir = tempfile::tempdir().unwrap();
        let disk = CrashDisk::new(at);
        let mut story = Story::default();
        drop(work(dir.path(), &disk, &mut story));
        disk.cut_power();
        check(dir.path(), &story, story.synced, &format!("power cut at {at}"));
    }
}

#[test]
fn a_reader_follows_a_writer_on_another_thread() {
    const MANY: u32 = 600;
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, mut tail, _) = opened(dir.path(), Arc::new(OsDisk), None, u64::MAX).unwrap();
    let writer = std::thread::spawn(move || {
        for number in 0..MANY {
            engine.append(&batch(number)).unwrap();
            engine.maintain().unwrap();
        }
        engine
    });
    let mut next = 0;
    while next < MANY {
        match tail.read().unwrap() {
            Some(block) => {
                assert_eq!(number_of(&block), next);
                next += 1;
                tail.confirm(block.end);
            }
            None => std::thread::yield_now(),
        }
    }
    let mut engine = writer.join().unwrap();
    assert_eq!((tail.read().unwrap(), tail.behind(), tail.missed_files()), (None, 0, false));
    engine.flush().unwrap();
    engine.maintain().unwrap();
    engine.flush().unwrap();
    drop(engine);
    let left = OsDisk.list(dir.path()).unwrap();
    let spooled = left.iter().filter(|name| name.ends_with(".spool")).count();
    assert!(spooled <= 1, "what everybody has read goes: {left:?}");
}

#[test]
fn samples_beyond_the_bound_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, mut tail, clock) = opened(dir.path(), Arc::new(OsDisk), None, 6_000).unwrap();
    let (mut acknowledged, mut copied, mut refused) = (Vec::new(), Vec::new(), 0);
    for number in 0..120 {
        match engine.append(&batch(number)) {
            Ok(_) => acknowledged.push(number),
            Err(Error::SpoolFull { bytes, limit }) => {
                assert!(bytes >= limit, "{bytes} {limit}");
                refused += 1;
                // Trends and clears are few, and what they say must not get lost.
                engine.clear(&[ItemId(99)]).unwrap();
                if number % 30 == 0 {
                    let blocks = read_all(&mut tail);
                    let samples = blocks.iter().filter(|block| !block.samples.is_empty());
                    copied.extend(samples.map(number_of));
                    tail.confirm(tail.position());
                }
            }
            Err(error) => panic!("{error}"),
        }
        engine.maintain().unwrap();
        clock.advance(Duration::from_secs(1));
    }
    assert!(refused > 10 && acknowledged.len() > 40, "{refused} {}", acknowledged.len());
    let blocks = read_all(&mut tail);
    copied.extend(blocks.iter().filter(|block| !block.samples.is_empty()).map(number_of));
    assert_eq!(copied, acknowledged);
}

#[test]
fn trends_and_clears_come_in_the_order_of_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, mut tail, _) = opened(dir.path(), Arc::new(OsDisk), None, u64::MAX).unwrap();
    let trends = [trend(1, NOW, 4), trend(1, NOW, 5), trend(2, NOW - 3600, 8)];
    engine.append(&batch(1)).unwrap();
    engine.append_trends(&trends).unwrap();
    engine.clear(&[ItemId(3), ItemId(4)]).unwrap();
    engine.append(&batch(2)).unwrap();
    let blocks = read_all(&mut tail);
    assert_eq!(blocks.len(), 4);
    assert_eq!((number_of(&blocks[0]), number_of(&blocks[3])), (1, 2));
    assert_eq!(blocks[1].trends, trends);
    assert_eq!(blocks[2].clears, [ItemId(3), ItemId(4)]);
    assert!(blocks[1].samples.is_empty() && blocks[2].samples.is_empty());
}

#[test]
fn what_a_disk_does_not_give_back_is_skipped_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Arc::new(Spool::new(&[None], u64::MAX));
    let spool_of = Some(Arc::clone(&spool));
    let options = Options { head_rows: 400, head_bytes: 1 << 20, spool: spool_of, ..small() };
    let (mut engine, _) = open(dir.path(), options, &sim_clock());
    for number in 0..100 {
        engine.append(&batch(number)).unwrap();
    }
    engine.flush().unwrap();
    let tail = |disk| Tail::open(dir.path(), disk, Arc::clone(&spool), 0);
    let whole = read_all(&mut tail(Arc::new(OsDisk)));
    let first = whole.iter().filter(|block| block.end.file == 1);
    let ends: Vec<u64> = first.map(|block| block.end.offset).collect();
    assert!(whole.len() == 100 && ends.len() > 30 && ends.len() < 70, "{}", ends.len());
    let name = "1.spool";
    let all = |from: usize| (from as u32..100).collect::<Vec<_>>();
    let without = |from: usize, to: usize| {
        (0..100).filter(|&number| number < from as u32 || number >= to as u32).collect::<Vec<_>>()
    };
    // Bytes that cannot be read, whether the file can be opened, and what comes all the same.
    let far = ends[5] + 10..ends[5] + 11;
    let behind = ends.iter().position(|&end| end >= (ends[5] / 4096 + 1) * 4096);
    let cases = [
        (0..1, Ok(()), all(0)),
        (far, Ok(()), without(6, behind.map_or(ends.len(), |number| number + 1))),
        (ends[2]..u64::MAX, Ok(()), without(3, ends.len())),
        (0..0, Err(5), all(ends.len())),
    ];
    for (bad, opens, expected) in cases {
        let what = format!("{bad:?} {opens:?}");
        let mut tail = tail(Arc::new(BadDisk { opens, ..BadDisk::always(name, bad) }));
        let (mut read, mut skipped) = (Vec::new(), 0);
        loop {
            match tail.read() {
                Ok(Some(block)) => read.push(number_of(&block)),
                Ok(None) => break,
                Err(error) => {
                    assert!(tail.skip(&error), "{what}: {error}");
                    skipped += 1;
                }
            }
        }
        assert_eq!((tail.damaged_blocks(), skipped > 0), (skipped, true), "{what}");
        assert!(skipped < 4, "{what}");
        assert_eq!(read, expected, "{what}");
    }
    // Somebody may mend these.
    let mut tail = tail(Arc::new(BadDisk { opens: Err(13), ..BadDisk::always(name, 0..0) }));
    let error = tail.read().unwrap_err();
    assert!(!tail.skip(&error) && tail.damaged_blocks() == 0, "{error}");
}

#[test]
fn slowest_reader_keeps_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(OsDisk);
    let spool = Arc::new(Spool::new(&[None, None], u64::MAX));
    let options = Options { disk: Arc::clone(&disk), spool: Some(Arc::clone(&spool)), ..small() };
    let clock = sim_clock();
    let (mut engine, _) = open(dir.path(), options, &clock);
    let mut fast = Tail::open(dir.path(), Arc::clone(&disk), Arc::clone(&spool), 0);
    let mut slow = Tail::open(dir.path(), Arc::clone(&disk), spool, 1);
    for number in 0..20 {
        engine.append(&batch(number)).unwrap();
        read_all(&mut fast);
        fast.confirm(fast.position());
    }
    engine.flush().unwrap();
    engine.maintain().unwrap();
    assert_eq!(read_all(&mut fast), []);
    fast.confirm(fast.position());
    assert_eq!(fast.behind(), 0);
    assert_eq!(read_all(&mut slow).len(), 20);
    assert!(slow.behind() > 0);
    let cursor = Position { file: 1, offset: 20 };
    drop((engine, fast, slow));
    // Without readers nothing is kept; later one comes back that had not read all.
    let (mut engine, _) = open(dir.path(), small(), &clock);
    engine.append(&batch(20)).unwrap();
    engine.flush().unwrap();
    drop(engine);
    let (mut engine, mut tail, _) = opened(dir.path(), disk, Some(cursor), u64::MAX).unwrap();
    engine.append(&batch(21)).unwrap();
    let numbers: Vec<u32> = read_all(&mut tail).iter().map(number_of).collect();
    assert_eq!(numbers, [21]);
}
