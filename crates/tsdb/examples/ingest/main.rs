//! Measures the engine: `cargo run --release -p tsdb --example ingest -- --shape A|B|L`.
//!
//! Shape A is 450,000 items with a value each 10 s for 4 min, shape B 4,500 items with a value each
//! minute for 40 h; both 10.8 million values in batches of 45,000. Shape L is A for an hour, 162
//! million values: what does not depend on the beginning. One line per figure. CPU seconds are
//! those of the whole process, generating the values excluded.

mod generator;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use generator::{Batches, Shape};
use model::{ItemId, Sample, SampleValue};
use stdx::clock::{RealClock, SharedClock};
use stdx::sys::cpu_time;
use tsdb::{Class, Day, Engine, Kinds, Options, Span};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Arguments {
    shape: Shape,
    /// Cut stamps to milliseconds, as for what the server polls itself.
    ms: bool,
    dir: PathBuf,
    head_rows: usize,
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments {
        shape: Shape::A,
        ms: false,
        dir: std::env::temp_dir().join(format!("tsdb-ingest-{}", std::process::id())),
        head_rows: Options::default().head_rows,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--shape" => arguments.shape = Shape::parse(&next()?)?,
            "--ms" => arguments.ms = true,
            "--dir" => arguments.dir = next()?.into(),
            "--head-rows" => arguments.head_rows = next()?.parse()?,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    Ok(arguments)
}

/// Nearest-rank percentile in milliseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(rank).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let mut out = std::io::stdout().lock();
    let clock = RealClock::shared();
    std::fs::create_dir(&arguments.dir)?;
    let result = if arguments.shape == Shape::L {
        long(&arguments, &clock, &mut out)
    } else {
        measure(&arguments, &clock, &mut out)
    };
    std::fs::remove_dir_all(&arguments.dir)?;
    result
}

fn options(arguments: &Arguments) -> Options {
    let retention = std::sync::Arc::new(Class(31));
    Options { head_rows: arguments.head_rows, retention, ..Options::default() }
}

fn measure(arguments: &Arguments, clock: &SharedClock, out: &mut dyn Write) -> Result<()> {
    let batches: Vec<Vec<Sample>> = Batches::new(arguments.shape, arguments.ms).collect();
    let values: usize = batches.iter().map(Vec::len).sum();
    let millions = values as f64 / 1e6;
    writeln!(out, "shape {:?}, ms {}: {values} values", arguments.shape, arguments.ms)?;

    let (mut engine, _) =
        Engine::open(&arguments.dir, options(arguments), SharedClock::clone(clock))?;
    let (cpu, wall) = (cpu_time(), clock.monotonic());
    for batch in &batches {
        engine.append(batch)?;
    }
    let (cpu_in, wall_in) = (cpu_time() - cpu, clock.monotonic() - wall);
    let head_rows = engine.stats().head_rows;
    newest_of_thousand(&engine, clock, arguments, "head", out)?;
    engine.sync()?;
    replay(engine, arguments, clock, head_rows, out)?;

    let (mut engine, _) =
        Engine::open(&arguments.dir, options(arguments), SharedClock::clone(clock))?;
    let (cpu, wall) = (cpu_time(), clock.monotonic());
    engine.flush()?;
    let (cpu_all, wall_all) = (cpu_in + (cpu_time() - cpu), wall_in + (clock.monotonic() - wall));
    let rate = |wall: Duration| values as f64 / wall.as_secs_f64() / 1e6;
    writeln!(
        out,
        "append: {:.3} CPU s/M, {:.2} M/s",
        cpu_in.as_secs_f64() / millions,
        rate(wall_in)
    )?;
    writeln!(
        out,
        "sealed: {:.3} CPU s/M, {:.2} M/s",
        cpu_all.as_secs_f64() / millions,
        rate(wall_all)
    )?;
    sizes(&engine, values, "sealed", out)?;
    writeln!(out, "wal: {:.2} B/value", engine_wal(&batches, arguments, clock)? / values as f64)?;
    reads(&engine, clock, arguments, out)?;
    verify(&engine, &batches, arguments, out)?;

    merge_all(&mut engine, clock, values, out)?;
    reads(&engine, clock, arguments, out)?;
    verify(&engine, &batches, arguments, out)?;
    drop(engine);
    let wall = clock.monotonic();
    let (mut engine, recovery) =
        Engine::open(&arguments.dir, options(arguments), SharedClock::clone(clock))?;
    let ms = (clock.monotonic() - wall).as_secs_f64() * 1e3;
    writeln!(out, "open: {ms:.2} ms with {} sealed values", recovery.segment_rows)?;
    let wall = clock.monotonic();
    let bytes = engine.drop_before(Class(31), Day(u32::MAX));
    let ms = (clock.monotonic() - wall).as_secs_f64() * 1e3;
    writeln!(out, "drop: {ms:.2} ms on the shard for {bytes} bytes")?;
    Ok(())
}

/// What an engine does while idle.
fn merge_all(
    engine: &mut Engine,
    clock: &SharedClock,
    values: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let (cpu, wall) = (cpu_time(), clock.monotonic());
    loop {
        let before = engine.stats().merges;
        engine.maintain()?;
        engine.flush()?;
        if engine.stats().merges == before {
            break;
        }
    }
    let (cpu, wall) = (cpu_time() - cpu, clock.monotonic() - wall);
    writeln!(
        out,
        "merge: {:.3} CPU s/M, {:.2} s",
        cpu.as_secs_f64() / (values as f64 / 1e6),
        wall.as_secs_f64()
    )?;
    sizes(engine, values, "merged", out)
}

/// 162 million values as they come, with merging while idle; then start, reads and the deletion of
/// a day while another thread writes and syncs.
fn long(arguments: &Arguments, clock: &SharedClock, out: &mut dyn Write) -> Result<()> {
    // What generating costs is measured alone, since it cannot be told apart afterwards.
    let cpu = cpu_time();
    let values: usize = Batches::new(arguments.shape, arguments.ms).map(|batch| batch.len()).sum();
    let generating = cpu_time() - cpu;
    let millions = values as f64 / 1e6;
    writeln!(out, "shape L, ms {}: {values} values", arguments.ms)?;
    let open = || Engine::open(&arguments.dir, options(arguments), SharedClock::clone(clock));
    let (mut engine, _) = open()?;
    let (cpu, wall) = (cpu_time(), clock.monotonic());
    for (number, batch) in Batches::new(arguments.shape, arguments.ms).enumerate() {
        engine.append(&batch)?;
        if number % 10 == 0 {
            engine.maintain()?;
        }
    }
    engine.sync()?;
    let stats = engine.stats();
    let own = (cpu_time() - cpu).saturating_sub(generating).as_secs_f64() / millions;
    let wall = (clock.monotonic() - wall).as_secs_f64();
    writeln!(
        out,
        "write, seal and merge: {own:.3} CPU s/M, {wall:.1} s with generating, {} seals, {} merges",
        stats.seals, stats.merges
    )?;
    writeln!(out, "memory of heads: {:.0} MB", stats.memory_bytes as f64 / 1e6)?;
    newest_of_thousand(&engine, clock, arguments, "head", out)?;
    engine.flush()?;
    sizes(&engine, values, "sealed", out)?;
    merge_all(&mut engine, clock, values, out)?;
    drop(engine);
    let start = clock.monotonic();
    let (engine, recovery) = open()?;
    let ms = (clock.monotonic() - start).as_secs_f64() * 1e3;
    writeln!(out, "open: {ms:.2} ms with {} sealed values", recovery.segment_rows)?;
    reads(&engine, clock, arguments, out)?;
    delete_beside_writer(engine, arguments, clock, out)
}

/// The longest sync of somebody else's small writes, without and with a deletion beside it.
fn delete_beside_writer(
    mut engine: Engine,
    arguments: &Arguments,
    clock: &SharedClock,
    out: &mut dyn Write,
) -> Result<()> {
    let path = arguments.dir.join("other");
    let mut file = std::fs::File::create(&path)?;
    let mut longest = |seconds: f64| -> Result<f64> {
        let (begin, mut longest) = (clock.monotonic(), 0f64);
        while (clock.monotonic() - begin).as_secs_f64() < seconds {
            let start = clock.monotonic();
            file.write_all(&[7; 4096])?;
            file.sync_data()?;
            longest = longest.max((clock.monotonic() - start).as_secs_f64() * 1e3);
        }
        Ok(longest)
    };
    let before = longest(3.0)?;
    let start = clock.monotonic();
    let bytes = engine.drop_before(Class(31), Day(u32::MAX));
    let on_shard = (clock.monotonic() - start).as_secs_f64() * 1e3;
    let beside = longest(3.0)?;
    writeln!(
        out,
        "drop: {on_shard:.2} ms on the shard for {bytes} bytes; longest write and sync of \
         somebody else: {before:.1} ms before, {beside:.1} ms beside it"
    )?;
    Ok(())
}

/// A start with a full head in the WAL.
fn replay(
    engine: Engine,
    arguments: &Arguments,
    clock: &SharedClock,
    head_rows: usize,
    out: &mut dyn Write,
) -> Result<()> {
    drop(engine);
    let wall = clock.monotonic();
    let (_, recovery) =
        Engine::open(&arguments.dir, options(arguments), SharedClock::clone(clock))?;
    let ms = (clock.monotonic() - wall).as_secs_f64() * 1e3;
    let rows = recovery.wal_rows;
    writeln!(out, "replay: {ms:.1} ms for {rows} rows ({head_rows} in the head)")?;
    Ok(())
}

fn engine_wal(batches: &[Vec<Sample>], arguments: &Arguments, clock: &SharedClock) -> Result<f64> {
    // Ten batches are enough for a ratio.
    let dir = arguments.dir.join("wal");
    let (mut engine, _) = Engine::open(&dir, options(arguments), SharedClock::clone(clock))?;
    let (mut rows, mut bytes) = (0, 0);
    for batch in batches.iter().take(10) {
        let committed = engine.append(batch)?;
        rows += committed.rows;
        bytes += committed.wal_bytes;
    }
    let values: usize = batches.iter().map(Vec::len).sum();
    Ok(bytes as f64 / rows as f64 * values as f64)
}

fn sizes(engine: &Engine, values: usize, what: &str, out: &mut dyn Write) -> Result<()> {
    let stats = engine.stats();
    let per_value = stats.segment_bytes as f64 / values as f64;
    writeln!(out, "size {what}: {per_value:.2} B/value in {} segments", stats.segments)?;
    Ok(())
}

fn some_items(shape: Shape, count: u64) -> Vec<ItemId> {
    // A stride that is prime spreads them over all items.
    (0..count).map(|i| generator::item_id((i * 7919) % shape.items())).collect()
}

fn newest_of_thousand(
    engine: &Engine,
    clock: &SharedClock,
    arguments: &Arguments,
    what: &str,
    out: &mut dyn Write,
) -> Result<()> {
    let items = some_items(arguments.shape, 1000);
    let start = clock.monotonic();
    let view = engine.view_newest(&items, 1);
    let copied = clock.monotonic() - start;
    let newest = view.newest_many(&items, Kinds::VALUES, 1)?;
    let found: usize = newest.iter().map(Vec::len).sum();
    let all = clock.monotonic() - start;
    writeln!(
        out,
        "newest of 1,000 items ({what}): {:.3} ms, on the shard {:.3} ms, {found} found",
        all.as_secs_f64() * 1e3,
        copied.as_secs_f64() * 1e3
    )?;
    Ok(())
}

fn reads(
    engine: &Engine,
    clock: &SharedClock,
    arguments: &Arguments,
    out: &mut dyn Write,
) -> Result<()> {
    let end = generator::START + arguments.shape.seconds();
    for (what, span) in [("last hour", Span::new(end - 3600, end)), ("full range", Span::ALL)] {
        let mut times = Vec::new();
        let mut rows = 0;
        for item in some_items(arguments.shape, 1000) {
            let start = clock.monotonic();
            rows += engine.view(&[item], span).samples(item, Kinds::VALUES)?.len();
            times.push(clock.monotonic() - start);
        }
        writeln!(
            out,
            "{what} of one item: p50 {:.3} ms, p95 {:.3} ms, {} rows each",
            percentile(&mut times, 50),
            percentile(&mut times, 95),
            rows / 1000
        )?;
    }
    newest_of_thousand(engine, clock, arguments, "segments", out)?;
    newest_of_thousand(engine, clock, arguments, "segments again", out)
}

/// Compares 100 items bit for bit with what was put in.
fn verify(
    engine: &Engine,
    batches: &[Vec<Sample>],
    arguments: &Arguments,
    out: &mut dyn Write,
) -> Result<()> {
    let items = some_items(arguments.shape, 100);
    let mut expected = std::collections::HashMap::<ItemId, Vec<&Sample>>::new();
    for sample in batches.iter().flatten().filter(|sample| items.contains(&sample.item)) {
        expected.entry(sample.item).or_default().push(sample);
    }
    let mut wrong = 0;
    for (item, mut samples) in expected {
        samples.sort_by_key(|sample| sample.at);
        let got = engine.view(&[item], Span::ALL).samples(item, Kinds::VALUES)?;
        let same = got.len() == samples.len()
            && got.iter().zip(&samples).all(|(a, b)| a.at == b.at && same_bits(a, b));
        wrong += usize::from(!same);
    }
    writeln!(out, "verified 100 items: {wrong} wrong")?;
    if wrong == 0 { Ok(()) } else { Err("values came back wrong".into()) }
}

fn same_bits(a: &Sample, b: &Sample) -> bool {
    match (&a.value, &b.value) {
        (SampleValue::Float(a), SampleValue::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}
