//! What a value costs a shard with few items and with many: time grows where a table does not fit the
//! processor's caches. `cargo bench -p history --bench growth` prints nanoseconds of CPU time a value.
#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]

use std::io::Write as _;
use std::time::Duration;

use history::trends::Folder;
use history::{Driver as _, Embedded, Options, ValueCache};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::SimClock;
use stdx::sys::cpu_time;

const START_S: u32 = 1_800_000_000;
/// Items of a small and of a large installation.
const SIZES: [u32; 2] = [112_000, 900_000];
/// Values of a group commit.
const ROUND: usize = 2_500;
/// Values that are measured, about.
const VALUES: usize = 2_000_000;

/// A part of the work of a shard on the values of one group commit.
type Work = Box<dyn FnMut(&[Sample])>;
/// A part before it has seen any value.
type New = fn() -> Work;

fn cache() -> Work {
    let mut cache = ValueCache::new(64 << 20);
    Box::new(move |samples| cache.feed(samples))
}

fn trends() -> Work {
    let mut folder = Folder::new(START_S);
    Box::new(move |samples| {
        for samples in samples.chunks(32) {
            folder.look_at(samples.iter().map(|sample| sample.item));
            samples.iter().for_each(|sample| folder.fold(sample));
        }
    })
}

/// An engine that does everything on the thread that asks.
fn engine() -> (tempfile::TempDir, Embedded) {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { background: false, sync_interval: None, ..Options::default() };
    let clock = SimClock::at(Duration::from_secs(START_S.into()));
    let engine = Embedded::open(dir.path(), options, clock).unwrap().0;
    (dir, engine)
}

fn log_and_head() -> Work {
    let (dir, mut engine) = engine();
    Box::new(move |samples| {
        let _dir = &dir;
        engine.write(samples).unwrap();
    })
}

/// Nanoseconds a value of a full head becoming segments.
fn seal(order: &[u32]) -> f64 {
    let (_dir, mut engine) = engine();
    let rounds =
        (START_S..).flat_map(|second| order.chunks(ROUND).map(move |items| (second, items)));
    let (mut round, mut rows) = (Vec::with_capacity(ROUND), 0);
    for (second, items) in rounds {
        if rows + items.len() > Options::default().head_rows {
            break;
        }
        fill(&mut round, items, second);
        engine.write(&round).unwrap();
        rows += items.len();
    }
    let start = cpu_time();
    engine.flush().unwrap();
    (cpu_time() - start).as_secs_f64() * 1e9 / rows as f64
}

fn fill(round: &mut Vec<Sample>, items: &[u32], second: u32) {
    round.clear();
    round.extend(items.iter().map(|&item| Sample {
        item: ItemId(u64::from(item) + 100_000),
        at: Timestamp { clock: second, ns: item },
        value: SampleValue::Unsigned(u64::from(item % 100)),
    }));
}

/// The items of all rounds, in turn or in one random order.
fn order(items: u32, random: bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..items).collect();
    let mut state = u64::from(items) | 1;
    for last in (1..order.len()).rev().filter(|_| random) {
        // xorshift
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(last, usize::try_from(state % (last as u64 + 1)).unwrap());
    }
    order
}

/// Nanoseconds a value, once all items are known.
fn measure(mut work: Work, order: &[u32]) -> f64 {
    let (mut spent, mut measured, mut second) = (Duration::ZERO, 0, START_S);
    let mut round = Vec::with_capacity(ROUND);
    while measured < VALUES {
        let is_first = second == START_S;
        for items in order.chunks(ROUND) {
            fill(&mut round, items, second);
            let start = cpu_time();
            work(&round);
            if !is_first {
                spent += cpu_time() - start;
                measured += round.len();
            }
            if measured >= VALUES {
                break;
            }
        }
        second += 1;
    }
    spent.as_secs_f64() * 1e9 / measured as f64
}

fn main() {
    let parts: [(&str, New); 3] =
        [("value cache", cache), ("trends", trends), ("log and head", log_and_head)];
    let mut out = std::io::stdout().lock();
    writeln!(out, "ns a value                  {:>9} {:>9}  growth", SIZES[0], SIZES[1]).unwrap();
    for random in [false, true] {
        let orders = SIZES.map(|items| order(items, random));
        let mut all = [0.0; 2];
        let name = if random { "random" } else { "in turn" };
        let mut line = |part: &str, [small, large]: [f64; 2]| {
            let growth = large / small;
            writeln!(out, "{part:<18} {name:<8} {small:>9.1} {large:>9.1}  {growth:>5.2}x")
                .unwrap();
        };
        for (part, make) in parts {
            let found = [0, 1].map(|size| measure(make(), &orders[size]));
            all = [all[0] + found[0], all[1] + found[1]];
            line(part, found);
        }
        let sealed = [0, 1].map(|size| seal(&orders[size]));
        all = [all[0] + sealed[0], all[1] + sealed[1]];
        line("segments", sealed);
        line("together", all);
    }
}
