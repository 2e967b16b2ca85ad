//! What a store costs: writes a fixed workload through its driver, batch by batch as a lane does, and
//! reads it.
//!
//! Run by `tests/stores/cost.py`, which starts the server and reads its side of the bill between the
//! parts: each part ends with a line of JSON and waits for a line from there.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::io::Write;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use history::{Class, Driver, Kind, Memory, Span, Store, reduce};
use model::{DAY_S, ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::{RealClock, SharedClock};
use stdx::sys::cpu_time;
use stores::{Cassandra, ClickHouse, HBase, OpenSearch, open_mysql, open_postgresql};

const ITEMS: u64 = 4_500;
const EVERY_S: u32 = 60;
const ROUNDS_A_BATCH: u32 = 10;
/// A midnight.
const START: u32 = 19_675 * 86_400;
const READS: u64 = 200;
/// Items whose values lie among each other, of which one is drawn, so often.
const LINES: u64 = 4;
const TIMES: u32 = 20;
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

fn open(kind: &str, url: &str) -> Box<dyn Driver> {
    let retention = Arc::new(Class(31));
    let store: Arc<dyn Store> = match kind {
        "memory" => return Box::new(Memory::new(retention)),
        "cassandra" => Arc::new(Cassandra::new(url, retention, RealClock::shared()).unwrap()),
        "clickhouse" => Arc::new(ClickHouse::new(url, retention, RealClock::shared()).unwrap()),
        "hbase" => Arc::new(HBase::new(url, retention, RealClock::shared()).unwrap()),
        "opensearch" => Arc::new(OpenSearch::new(url, retention).unwrap()),
        "postgresql" => open_postgresql(url, retention, RealClock::shared()).unwrap(),
        "mysql" => open_mysql(url, retention, RealClock::shared()).unwrap(),
        other => panic!("{other} is not a store"),
    };
    store.driver()
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

/// What the values of an item are.
fn kind_of(item: u64) -> Kind {
    match item % 20 {
        0..8 | 14..17 => Kind::Unsigned,
        8..14 | 17..19 => Kind::Float,
        _ => Kind::Text,
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

/// What a part has used.
#[derive(serde::Serialize)]
struct Bill {
    part: &'static str,
    values: u64,
    /// CPU time of this process.
    cpu_s: f64,
    /// How long each call took.
    ms: Vec<f64>,
    #[serde(skip)]
    clock: SharedClock,
}

impl Bill {
    fn of(part: &'static str) -> Self {
        Self { part, values: 0, cpu_s: 0.0, ms: Vec::new(), clock: RealClock::shared() }
    }

    /// A call, which tells the number of its values.
    fn call(&mut self, work: impl FnOnce() -> u64) {
        let (used, begin) = (cpu_time(), self.clock.monotonic());
        self.values += work();
        self.ms.push((self.clock.monotonic() - begin).as_secs_f64() * 1e3);
        self.cpu_s += (cpu_time() - used).as_secs_f64();
    }

    fn hand_over(&self) {
        let mut out = std::io::stdout();
        writeln!(out, "{}", serde_json::to_string(self).unwrap()).unwrap();
        out.flush().unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
    }
}

fn write(
    part: &'static str,
    driver: &mut dyn Driver,
    batches: u32,
    batch: fn(u32, &mut Random) -> Vec<Sample>,
) {
    let (mut bill, mut random) = (Bill::of(part), Random(42));
    for number in 0..batches {
        let samples = batch(number, &mut random);
        bill.call(|| {
            put(driver, &samples);
            samples.len() as u64
        });
    }
    bill.hand_over();
}

/// A store that has too much to do is asked again, as a lane does.
fn put(driver: &mut dyn Driver, samples: &[Sample]) {
    for _ in 0..TRIES {
        match driver.write(samples) {
            Err(error) if error.retry => std::thread::sleep(PAUSE),
            done => return done.unwrap(),
        }
    }
    panic!("the store did not take a batch in {TRIES} tries");
}

/// Reads the same time of many items, one after the other, each as of its type.
fn read(part: &'static str, driver: &dyn Driver, span: Span) {
    let mut bill = Bill::of(part);
    for number in 0..READS {
        let (item, kinds) = (ItemId(50_000 + number * 7), kind_of(number * 7).into());
        bill.call(|| driver.view(&[item], span).samples(item, kinds).unwrap().len() as u64);
    }
    bill.hand_over();
}

/// Draws an item over days, by buckets and by rows.
fn draw(driver: &dyn Driver, days: u32) {
    let (item, kind) = (ItemId(LINES / 2), Kind::Float);
    let span = Span::new(START, START + days * DAY_S - 1);
    // Some hundred buckets, as the web interface asks for.
    let width = NonZeroU32::new(days * DAY_S / 720).unwrap();
    let mut bills = [Bill::of("buckets"), Bill::of("rows")];
    for _ in 0..TIMES {
        let view = driver.view(&[item], span);
        let (mut buckets, mut same) = (Vec::new(), Vec::new());
        bills[0].call(|| {
            buckets = view.buckets(item, kind, width).unwrap();
            buckets.iter().map(|bucket| bucket.num).sum()
        });
        bills[1].call(|| {
            same = reduce(&view.samples(item, kind.into()).unwrap(), width);
            same.iter().map(|bucket| bucket.num).sum()
        });
        assert_eq!(buckets.len(), same.len());
    }
    assert_eq!(bills[0].values, bills[1].values);
    bills.iter().for_each(Bill::hand_over);
}

/// `KIND URL load BATCHES`: writes; writes the same again; reads the last hour, and all, of items.
/// `KIND URL graph DAYS`: writes days, and draws one item.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [kind, url, what, number] = args.as_slice() else {
        panic!("KIND URL load BATCHES, or KIND URL graph DAYS")
    };
    let number: u32 = number.parse().unwrap();
    let mut driver = open(kind, url);
    // The first batch of a connection is written as one that may be there already.
    driver.write(&batch(number, &mut Random(1))[..1]).unwrap();
    Bill::of("begin").hand_over();
    if what == "graph" {
        write("days", driver.as_mut(), number, day);
        return draw(driver.as_ref(), number);
    }
    write("write", driver.as_mut(), number, batch);
    write("again", driver.as_mut(), number, batch);
    let till = START + number * ROUNDS_A_BATCH * EVERY_S;
    read("hour", driver.as_ref(), Span::new(till - model::HOUR_S, till));
    read("all", driver.as_ref(), Span::new(START, till));
}
