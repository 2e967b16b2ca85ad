//! What a store costs: writes a fixed workload through its driver, batch by batch as a lane does.
//!
//! Run by `tests/stores/cost.py`, which starts the server and reads its side of the bill. What a long
//! graph takes, by buckets and by rows, is asked as [docs/stores.md](../../../docs/stores.md) tells.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::Write;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use history::{
    Bucket, Cassandra, Class, ClickHouse, Driver, HBase, Kind, Kinds, OpenSearch, Span, Store,
};
use history::{open_mysql, open_postgresql, reduce};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::RealClock;

const ITEMS: u64 = 4_500;
const EVERY_S: u32 = 60;
const ROUNDS_A_BATCH: u32 = 10;
/// A midnight.
const START: u32 = 19_675 * 86_400;
const READS: u64 = 200;
const DAY_S: u32 = 86_400;
/// Items whose values lie among each other, of which one is drawn, so often.
const LINES: u64 = 10;
const TIMES: u32 = 5;

fn store(kind: &str, url: &str) -> Arc<dyn Store> {
    let retention = Arc::new(Class(31));
    match kind {
        "cassandra" => Arc::new(Cassandra::new(url, retention, RealClock::shared()).unwrap()),
        "clickhouse" => Arc::new(ClickHouse::new(url, retention).unwrap()),
        "hbase" => Arc::new(HBase::new(url, retention, RealClock::shared()).unwrap()),
        "opensearch" => Arc::new(OpenSearch::new(url, retention).unwrap()),
        "postgresql" => open_postgresql(url, retention).unwrap(),
        "mysql" => open_mysql(url, retention).unwrap(),
        other => panic!("{other} is no store"),
    }
}

/// CPU time of this process in hundredths of a second.
fn cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// A small generator of numbers that only have to differ.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// 40 % counters, 30 % gauges of two decimals, 15 % states, 10 % noisy floats, 5 % short texts; one
/// value a minute, up to 10 ms late.
fn batch(number: u32, random: &mut Random) -> Vec<Sample> {
    let mut samples = Vec::new();
    for round in 0..ROUNDS_A_BATCH {
        let clock = START + (number * ROUNDS_A_BATCH + round) * EVERY_S;
        for item in 0..ITEMS {
            let value = match item % 20 {
                0..8 => {
                    SampleValue::Unsigned(u64::from(clock - START) * (item + 1) + random.below(99))
                }
                8..14 => SampleValue::Float(random.below(10_000) as f64 / 100.0),
                14..17 => SampleValue::Unsigned(u64::from(random.below(50) > 0)),
                17..19 => SampleValue::Float(random.below(1 << 30) as f64 / 1e6),
                _ => {
                    let text = format!("session {} of user {} closed", random.below(1 << 30), item);
                    SampleValue::Text(text.into())
                }
            };
            let ns = u32::try_from(random.below(10_000_000)).unwrap();
            let at = Timestamp { clock: clock + u32::try_from(item % 60).unwrap(), ns };
            samples.push(Sample { item: ItemId(50_000 + item), at, value });
        }
    }
    samples
}

fn write(driver: &mut dyn Driver, batches: u32) -> (u64, u64) {
    let (mut random, mut values, mut spent) = (Random(42), 0, 0);
    for number in 0..batches {
        let samples = batch(number, &mut random);
        let before = cpu();
        driver.write(&samples).unwrap();
        spent += cpu() - before;
        values += samples.len() as u64;
    }
    (values, spent)
}

/// A day of gauges.
fn day(number: u32, random: &mut Random) -> Vec<Sample> {
    let minute = |clock: u32, random: &mut Random| {
        let line = |item| {
            let value = SampleValue::Float(random.below(10_000) as f64 / 100.0);
            Sample { item: ItemId(item), at: Timestamp { clock, ns: 0 }, value }
        };
        (0..LINES).map(line).collect::<Vec<_>>()
    };
    let start = START + number * DAY_S;
    let minutes = (start..start + DAY_S).step_by(EVERY_S as usize);
    minutes.flat_map(|clock| minute(clock, random)).collect()
}

/// The shortest of some reads, all of which say the same.
fn shortest(read: impl Fn() -> Vec<Bucket>) -> (Duration, Vec<Bucket>) {
    let clock = RealClock::shared();
    let timed = |_| {
        let begin = clock.monotonic();
        let buckets = read();
        (clock.monotonic() - begin, buckets)
    };
    (0..TIMES).map(timed).min_by_key(|(took, _)| *took).unwrap()
}

/// Writes days and prints the milliseconds that a graph of all of them takes.
fn graph(driver: &mut dyn Driver, days: u32) {
    let mut random = Random(42);
    (0..days).for_each(|number| driver.write(&day(number, &mut random)).unwrap());
    let (item, kind) = (ItemId(LINES / 2), Kind::Float);
    let span = Span::new(START, START + days * DAY_S - 1);
    // As the web interface asks of a year.
    let width = NonZeroU32::new(DAY_S / 2).unwrap();
    let view = driver.view(&[item], span);
    let (by_buckets, buckets) = shortest(|| view.buckets(item, kind, width).unwrap());
    let (by_rows, same) = shortest(|| reduce(&view.samples(item, kind.into()).unwrap(), width));
    let all = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.num).sum::<u64>();
    assert_eq!((all(&buckets), buckets.len()), (all(&same), same.len()));
    let [by_buckets, by_rows] = [by_buckets, by_rows].map(|took| took.as_secs_f64() * 1e3);
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} values as {} buckets: {by_buckets:.1} ms by buckets, {by_rows:.1} ms by rows",
        all(&buckets),
        buckets.len(),
    )
    .unwrap();
}

/// `KIND URL write|again|read BATCHES`: writes; writes the same again; reads the last hour of items.
/// `KIND URL buckets DAYS`: writes days, and draws one item.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [kind, url, what, batches] = args.as_slice() else {
        panic!("KIND URL write|again|read|buckets BATCHES")
    };
    let batches: u32 = batches.parse().unwrap();
    let store = store(kind, url);
    let mut driver = store.driver();
    if what == "buckets" {
        return graph(driver.as_mut(), batches);
    }
    // The first batch of a connection is written as one that may be there already.
    driver.write(&batch(batches, &mut Random(1))[..1]).unwrap();
    let (values, spent) = if what == "read" {
        let till = START + batches * ROUNDS_A_BATCH * EVERY_S;
        let before = cpu();
        let mut values = 0;
        for item in 0..READS {
            let view = driver.view(&[], Span::new(till - 3600, till));
            let item = ItemId(50_000 + item * 7);
            values += view.samples(item, Kinds::VALUES).unwrap().len() as u64;
        }
        (values, cpu() - before)
    } else {
        write(driver.as_mut(), batches)
    };
    let mut out = std::io::stdout();
    writeln!(out, "{values} {}", spent as f64 / 100.0).unwrap();
}
