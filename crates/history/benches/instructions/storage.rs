//! From a batch of samples to what is kept of it.

use std::hint::black_box;
use std::time::Duration;

use history::trends::Folder;
use history::value_cache::Need;
use history::{Driver, Embedded, Kinds, Options, Span, ValueCache};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::SimClock;

use crate::{Case, counted};

const START_S: u32 = 1_800_000_000;
const ITEMS: u32 = 1000;
/// Values in one batch.
const BATCH: usize = 1000;

pub(crate) const CASES: &[Case] = &[
    Case { name: "wal-append", values: 10_000, run: append },
    Case { name: "segment-encode", values: 50_000, run: seal },
    Case { name: "history-read", values: 50, run: read },
    Case { name: "value-cache-feed", values: 10_000, run: |n| feed(n, false) },
    Case { name: "value-cache-feed-windows", values: 10_000, run: |n| feed(n, true) },
    Case { name: "trends-fold", values: 10_000, run: fold },
];

/// Counters, gauges with two decimals, constants and short texts, in turn.
fn samples(count: u32) -> Vec<Sample> {
    let sample = |n: u32| {
        let (item, turn) = (n % ITEMS, n / ITEMS);
        let value = match item % 10 {
            0..4 => SampleValue::Unsigned(u64::from(item) * 1_000_003 + u64::from(turn * 977)),
            4..7 => SampleValue::Float(f64::from((item * 31 + turn * 7) % 10_000) / 100.0),
            7 | 8 => SampleValue::Unsigned(u64::from(item % 2)),
            _ => SampleValue::Text(format!("job {turn} of queue {item}").into()),
        };
        let at = Timestamp { clock: START_S + turn * 10, ns: item * 1_000_000 };
        Sample { item: ItemId(item.into()), at, value }
    };
    (0..count).map(sample).collect()
}

/// An engine that does everything on the thread that asks.
fn engine(dir: &std::path::Path) -> Embedded {
    let options =
        Options { background: false, sync_interval: None, merge_rows: 0, ..Options::default() };
    let clock = SimClock::at(Duration::from_secs(u64::from(START_S) + 3600));
    Embedded::open(dir, options, clock).unwrap().0
}

fn append(values: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = engine(dir.path());
    let samples = samples(2 * values);
    let (warm, counted_ones) = samples.split_at(values as usize);
    warm.chunks(BATCH).for_each(|batch| engine.write(batch).unwrap());
    counted(&mut || counted_ones.chunks(BATCH).for_each(|batch| engine.write(batch).unwrap()));
}

fn seal(values: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = engine(dir.path());
    samples(values).chunks(BATCH).for_each(|batch| engine.write(batch).unwrap());
    counted(&mut || engine.flush().unwrap());
}

/// All values of one item out of a segment.
fn read(values: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = engine(dir.path());
    samples(values * ITEMS).chunks(BATCH).for_each(|batch| engine.write(batch).unwrap());
    engine.flush().unwrap();
    let span = Span { from: START_S, till: START_S + 86_400 };
    let mut read = || {
        let found = engine.view(&[ItemId(4)], span).samples(ItemId(4), Kinds::VALUES).unwrap();
        assert_eq!(black_box(found).len(), values as usize);
    };
    read();
    counted(&mut read);
}

fn feed(values: u32, windows: bool) {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(dir.path());
    let mut cache = ValueCache::new(64 << 20);
    let samples = samples(2 * values);
    let (warm, counted_ones) = samples.split_at(values as usize);
    if windows {
        for item in (0..u64::from(ITEMS)).map(ItemId) {
            cache.need(item, Need { count: 0, seconds: 60 });
            // A window is there from the first question on.
            let till = Timestamp::from_s(START_S);
            cache.range(&engine, item, Timestamp::from_s(START_S - 60), till).unwrap();
        }
    }
    warm.chunks(BATCH).for_each(|batch| cache.feed(batch));
    counted(&mut || counted_ones.chunks(BATCH).for_each(|batch| cache.feed(batch)));
    assert_eq!(black_box(cache).counters().items, ITEMS as usize);
}

fn fold(values: u32) {
    let mut folder = Folder::new(START_S);
    let samples = samples(2 * values);
    let (warm, counted_ones) = samples.split_at(values as usize);
    warm.iter().for_each(|sample| folder.fold(sample));
    counted(&mut || counted_ones.iter().for_each(|sample| folder.fold(sample)));
    black_box(folder.waiting());
}
