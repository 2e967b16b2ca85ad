//! What feeding a store costs: writes values at a rate into an embedded engine with a ClickHouse
//! beside it, and tells the CPU time of the threads that feed it.
//!
//! `cargo run --release -p stores --example feed -- URL [VALUES_PER_SECOND] [SECONDS]`
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::sync::Arc;
use std::time::Duration;

use history::spool::{Policy, Spools};
use history::{Class, Driver, Options, Store};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::RealClock;
use stores::ClickHouse;

type Failure = Box<dyn std::error::Error>;

/// Batches of a second.
const BATCHES: u64 = 10;
/// CPU times in `/proc` are in hundredths of a second.
const TICKS: f64 = 100.0;

fn main() -> Result<(), Failure> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("give the address of a ClickHouse database")?;
    let rate: u64 = words.next().as_deref().unwrap_or("100000").parse()?;
    let seconds: u64 = words.next().as_deref().unwrap_or("30").parse()?;

    let dir = tempfile::tempdir()?;
    let clock = RealClock::shared();
    let store: Arc<dyn Store> =
        Arc::new(ClickHouse::new(&url, Arc::new(Class(31)), Arc::clone(&clock))?);
    let spools = Spools::open(&dir.path().join("stores"), vec![store], u64::MAX)?;
    let options = Options::default();
    let (mut drivers, _) = history::open_shards(dir.path(), 1, &options, &clock, Some(&spools))?;
    let feeds = spools.start(dir.path(), &options.disk, Policy::default(), &clock)?;
    let (driver, gauges) = (&mut drivers[0], feeds[0].gauges());

    let begin = clock.monotonic();
    for batch in 0..seconds * BATCHES {
        let due = begin + Duration::from_secs(1) * u32::try_from(batch)? / u32::try_from(BATCHES)?;
        std::thread::sleep(due.saturating_sub(clock.monotonic()));
        let now = u32::try_from(clock.unix_s())?;
        let first = batch % BATCHES * (rate / BATCHES);
        let numbers = first..first + rate / BATCHES;
        driver.write(&numbers.map(|item| sample(item, batch, now)).collect::<Vec<_>>())?;
        driver.maintain()?;
    }
    let written = clock.monotonic().saturating_sub(begin);
    while gauges.read().behind_bytes > 0 {
        driver.maintain()?;
        std::thread::sleep(Duration::from_millis(20));
    }
    let reading = gauges.read();
    let (rows, cpu) = (reading.written as f64, feeding_s()?);
    println!("{} values in {:.1} s", reading.written, written.as_secs_f64());
    println!("batches of {:.0}, {} errors", rows / reading.batches as f64, reading.errors);
    println!("feeding: {cpu:.2} CPU s, {:.3} per million values", cpu / rows * 1e6);
    println!("at {rate} values/s: {:.3} cores", cpu / rows * rate as f64);
    Ok(())
}

/// Each item once a second: counters, gauges, states, and one text in twenty.
fn sample(item: u64, batch: u64, now: u32) -> Sample {
    let value = match item % 20 {
        0..8 => SampleValue::Unsigned(item * 1_000 + batch * 37),
        8..17 => SampleValue::Float((item * 7 + batch) as f64 / 100.0),
        17..19 => SampleValue::Unsigned(batch % 2),
        _ => SampleValue::Text(format!("line {batch} of item {item}: all is well").into()),
    };
    let ns = u32::try_from(item * 7_919 % 1_000_000_000).unwrap_or(0);
    Sample { item: ItemId(10_000 + item), at: Timestamp { clock: now, ns }, value }
}

/// CPU time of the threads that read the log and write to the store, in seconds.
fn feeding_s() -> Result<f64, Failure> {
    let mut ticks = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?.path();
        let name = std::fs::read_to_string(task.join("comm"))?;
        if ["history-feed", "history-lane"].contains(&name.trim()) {
            let stat = std::fs::read_to_string(task.join("stat"))?;
            // Behind the name in brackets: state is the first, times of user and system the
            // twelfth and thirteenth.
            let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
            ticks += fields.skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>();
        }
    }
    Ok(ticks as f64 / TICKS)
}
