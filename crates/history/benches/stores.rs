//! What a store costs: writes a fixed workload through its driver, batch by batch as a lane does.
//!
//! Run by `tests/stores/cost.py`, which starts the server and reads its side of the bill.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::Write;
use std::sync::Arc;

use history::{Cassandra, Class, Driver, HBase, Kinds, OpenSearch, Span, Store};
use history::{open_mysql, open_postgresql};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::RealClock;

const ITEMS: u64 = 4_500;
const EVERY_S: u32 = 60;
const ROUNDS_A_BATCH: u32 = 10;
/// A midnight.
const START: u32 = 19_675 * 86_400;
const READS: u64 = 200;

fn store(kind: &str, url: &str) -> Arc<dyn Store> {
    let retention = Arc::new(Class(31));
    match kind {
        "cassandra" => Arc::new(Cassandra::new(url, retention, RealClock::shared()).unwrap()),
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

/// `KIND URL write|again|read BATCHES`: writes; writes the same again; reads the last hour of items.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [kind, url, what, batches] = args.as_slice() else {
        panic!("KIND URL write|again|read BATCHES")
    };
    let batches: u32 = batches.parse().unwrap();
    let store = store(kind, url);
    let mut driver = store.driver();
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
