//! Fills a store with values as a feeder does, and says how long that took: the pages of stores
//! tell what this and `tests/stores/cost.py` measured.
//!
//! ```sh
//! cargo run --release -p history --features stores --example fill -- opensearch URL ROWS ITEMS
//! ```

use std::io::Write as _;
use std::sync::Arc;

use history::{Cassandra, Class, ClickHouse, Driver, OpenSearch, Store};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::{RealClock, SharedClock};

/// Rows of a batch, as a feeder makes them.
const BATCH: usize = 50_000;
/// Threads that write, as a feeder has them.
const LANES: usize = 2;
/// An item's values are a minute apart.
const EVERY_S: usize = 60;

fn store(kind: &str, url: &str, clock: &SharedClock) -> Result<Box<dyn Store>, String> {
    let retention = Arc::new(Class(31));
    let said = |error: history::Error| error.to_string();
    Ok(match kind {
        "cassandra" => Box::new(Cassandra::new(url, retention, Arc::clone(clock)).map_err(said)?),
        "clickhouse" => Box::new(ClickHouse::new(url, retention).map_err(said)?),
        "opensearch" => Box::new(OpenSearch::new(url, retention).map_err(said)?),
        other => return Err(format!("{other} is no store")),
    })
}

/// A number that looks random and is the same in each run.
fn noise(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Of ten items four are counters, three gauges of two decimals, two states, and one has texts.
fn row(number: usize, items: usize, start: u32) -> Sample {
    let (item, round) = (number % items, number / items);
    let n = noise(number as u64);
    let value = match item % 10 {
        0..=3 => SampleValue::Unsigned(round as u64 * 60_000 + n % 30_000),
        4..=6 => SampleValue::Float((n % 10_000) as f64 / 100.0),
        7..=8 => SampleValue::Unsigned(n % 50 / 49),
        _ => SampleValue::Text(
            format!("sshd[{}]: accepted key for user{}", n % 32_768, n % 99).into(),
        ),
    };
    let clock = start + u32::try_from(round * EVERY_S).unwrap_or(0);
    let at = Timestamp { clock, ns: u32::try_from(n % 1_000_000_000).unwrap_or(0) };
    Sample { item: ItemId(item as u64 + 1), at, value }
}

/// Each lane has its own items.
fn lane(mut driver: Box<dyn Driver>, rows: impl Iterator<Item = Sample>) -> Result<(), String> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut rows = rows.peekable();
    while rows.peek().is_some() {
        batch.clear();
        batch.extend(rows.by_ref().take(BATCH / LANES));
        driver.write(&batch).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn run() -> Result<String, String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, url, rows, items] = arguments.as_slice() else {
        return Err("usage: fill STORE URL ROWS ITEMS".to_owned());
    };
    let number = |text: &String| text.parse().ok().filter(|n: &usize| *n > 0).ok_or("no number");
    let (rows, items) = (number(rows)?, number(items)?);
    let clock = RealClock::shared();
    let store = store(kind, url, &clock)?;
    let days = 1 + rows / items * EVERY_S / 86_400;
    let today = clock.unix_s() / 86_400;
    let start = u32::try_from((today - days as u64) * 86_400).unwrap_or(0);
    let begin = clock.monotonic();
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|number| {
                let driver = store.driver();
                let of_lane = move |n: &usize| n % items % LANES == number;
                let samples = (0..rows).filter(of_lane).map(move |n| row(n, items, start));
                scope.spawn(move || lane(driver, samples))
            })
            .collect();
        lanes.into_iter().try_for_each(|lane| lane.join().map_err(|_| "a lane fell")?)
    })?;
    let seconds = (clock.monotonic() - begin).as_secs_f64();
    Ok(format!("{rows} rows in {seconds:.1} s: {:.0} rows/s", rows as f64 / seconds))
}

fn main() -> std::process::ExitCode {
    let (code, text) = match run() {
        Ok(text) => (std::process::ExitCode::SUCCESS, text),
        Err(text) => (std::process::ExitCode::FAILURE, text),
    };
    let _ = writeln!(std::io::stdout(), "{text}");
    code
}
