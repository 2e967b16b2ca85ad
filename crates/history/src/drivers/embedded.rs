//! The driver over the embedded engine, and how the directories of all shards are opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use tsdb::{Engine, Options, Recovery};

use crate::spool::{Left, Spools};
use crate::{
    Class, Counters, Day, Driver, DriverInfo, Durability, Error, Kinds, Span, TrendHour, View,
};

/// The embedded engine of one shard.
#[derive(Debug)]
pub struct Embedded {
    engine: Engine,
    /// Engines of shards that there are no more: nothing is written, days are dropped.
    retired: Vec<Engine>,
    /// Stores that do not read the log, and have to know what is deleted.
    left: Option<Arc<Left>>,
    dir: PathBuf,
    durable: bool,
    trends: u64,
    failures: u64,
}

impl Embedded {
    /// Opens or creates the store of a single shard.
    pub fn open(
        dir: &Path,
        options: Options,
        clock: SharedClock,
    ) -> Result<(Self, Recovery), Error> {
        let durable = options.durable;
        let (engine, recovery) = Engine::open(dir, options, clock)?;
        let driver = Self {
            engine,
            retired: Vec::new(),
            left: None,
            dir: dir.to_owned(),
            durable,
            trends: 0,
            failures: 0,
        };
        Ok((driver, recovery))
    }

    /// Hands over every sample within the span, item by item, each item's oldest first: for
    /// recomputing trends after a crash. Runs on the calling thread and reads whole segments.
    pub fn scan(
        &self,
        span: Span,
        kinds: Kinds,
        each: &mut dyn FnMut(&Sample),
    ) -> Result<(), Error> {
        Ok(self.engine.scan(span, kinds, each)?)
    }

    /// Seals what is in memory and waits for it. Not needed for safety: it makes the next start
    /// faster and hands everything to views as segments.
    pub fn flush(&mut self) -> Result<(), Error> {
        Ok(self.engine.flush()?)
    }

    /// Without a thread in the background ([`Options::background`]): does one thing that waits.
    pub fn work(&mut self) -> bool {
        self.engine.work()
    }

    /// Figures of the engine itself.
    pub fn stats(&self) -> tsdb::Stats {
        self.engine.stats()
    }

    fn counted<T>(&mut self, result: Result<T, tsdb::Error>) -> Result<T, Error> {
        self.failures += u64::from(result.is_err());
        result.map_err(Error::from)
    }
}

impl Driver for Embedded {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        let result = self.engine.append(samples);
        self.counted(result).map(drop)
    }

    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        let result = self.engine.append_trends(trends);
        self.counted(result)?;
        self.trends += trends.len() as u64;
        Ok(())
    }

    fn expect_trends(&mut self, hours: &[TrendHour]) {
        self.engine.expect_trends(hours);
    }

    fn expected_trends(&self) -> Vec<TrendHour> {
        let retired = self.retired.iter().flat_map(Engine::expected_trends);
        self.engine.expected_trends().into_iter().chain(retired).collect()
    }

    fn forget_trends(&mut self, hours: &[TrendHour]) {
        let retired = self.retired.iter_mut();
        retired.chain([&mut self.engine]).for_each(|engine| engine.forget_trends(hours));
    }

    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        for retired in &mut self.retired {
            retired.clear(items)?;
        }
        let result = self.engine.clear(items);
        self.counted(result)?;
        self.left.as_ref().map_or(Ok(()), |left| left.clear(items))
    }

    fn sync(&mut self) -> Result<(), Error> {
        let result = self.engine.sync();
        self.counted(result)
    }

    fn maintain(&mut self) -> Result<(), Error> {
        for retired in &mut self.retired {
            retired.maintain()?;
        }
        let result = self.engine.maintain();
        self.counted(result)
    }

    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(self.engine.view(items, span))
    }

    fn view_newest(&self, items: &[ItemId], n: usize) -> Box<dyn View> {
        Box::new(self.engine.view_newest(items, n))
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        let retired = self.retired.iter_mut().map(|engine| engine.drop_before(class, day));
        let bytes: u64 = retired.sum();
        Ok(bytes + self.engine.drop_before(class, day))
    }

    fn newest_clock(&self, till: u32) -> Option<u32> {
        self.engine.newest_clock(till)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        let retired = self.retired.iter().flat_map(Engine::classes);
        let mut classes: Vec<Class> = self.engine.classes().into_iter().chain(retired).collect();
        classes.sort_unstable();
        classes.dedup();
        Ok(classes)
    }

    fn describe(&self) -> DriverInfo {
        DriverInfo {
            name: "embedded",
            location: self.dir.display().to_string(),
            durability: if self.durable { Durability::Each } else { Durability::GroupCommit },
            readable: true,
        }
    }

    fn counters(&self) -> Counters {
        let stats = self.engine.stats();
        let retired = self.retired.iter().map(|engine| engine.stats());
        let (bytes, segments) = retired.fold((0, 0), |(bytes, segments), stats| {
            (bytes + stats.segment_bytes, segments + stats.segments)
        });
        Counters {
            samples: stats.rows.saturating_sub(4 * self.trends),
            trends: self.trends,
            batches: stats.batches,
            failures: self.failures,
            bytes: stats.segment_bytes + bytes,
            memory_bytes: stats.memory_bytes as u64,
            segments: (stats.segments + segments) as u64,
            wal_bytes: stats.wal_bytes,
            stalls: stats.stalls,
        }
    }
}

impl View for tsdb::View {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        Ok(Self::samples(self, item, kinds)?)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        Ok(Self::oldest(self, item, kinds, n)?)
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        Ok(Self::newest(self, item, kinds, n)?)
    }

    fn newest_many(
        &self,
        items: &[ItemId],
        kinds: Kinds,
        n: usize,
    ) -> Result<Vec<Vec<Sample>>, Error> {
        Ok(Self::newest_many(self, items, kinds, n)?)
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        Ok(Self::trends(self, item)?)
    }
}

/// What `shards` in the data directory says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// Shards that wrote last.
    shards: usize,
    /// Their number changed before: items may have values in several directories.
    mixed: bool,
}

fn config_error(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::config(format!(
        "cannot {what} {path:?}: {cause}; check that the data directory belongs to the server's user"
    ))
}

fn read_layout(path: &Path) -> Result<Option<Layout>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(config_error("read", path, &error)),
    };
    let mut words = text.split_whitespace();
    let shards = words.next().and_then(|word| word.parse().ok());
    let mixed = words.next() == Some("mixed");
    // Unreadable means unknown: treat all directories as mixed.
    Ok(Some(Layout { shards: shards.unwrap_or(0), mixed: mixed || shards.is_none() }))
}

/// How many shards wrote last below `root`; `None` = nobody has, or the file is damaged.
pub fn shards_below(root: &Path) -> Result<Option<usize>, Error> {
    let layout = read_layout(&root.join("shards"))?;
    Ok(layout.map(|layout| layout.shards).filter(|&shards| shards > 0))
}

fn write_layout(path: &Path, layout: Layout) -> Result<(), Error> {
    let mixed = if layout.mixed { " mixed" } else { "" };
    let temporary = path.with_extension("tmp");
    let write = || {
        std::fs::write(&temporary, format!("{}{mixed}\n", layout.shards))?;
        std::fs::File::open(&temporary)?.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| config_error("write", path, &error))
}

/// Directories `shard-<n>` with n at least `from`.
fn retired_dirs(root: &Path, from: usize) -> Result<Vec<PathBuf>, Error> {
    let fail = |error: &std::io::Error| config_error("list", root, error);
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(root).map_err(|error| fail(&error))? {
        let name = entry.map_err(|error| fail(&error))?.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("shard-")?.parse::<usize>().ok());
        numbers.extend(number.filter(|&number| number >= from));
    }
    numbers.sort_unstable();
    Ok(numbers.into_iter().map(|number| root.join(format!("shard-{number}"))).collect())
}

/// Opens the stores of all shards below `root`, in the order of the shards, each in `shard-<n>`.
///
/// Their number may differ from the last start. Items that move to another shard keep their
/// older values: each driver then reads what all directories had sealed, so that asking the shard
/// that owns an item is always enough. `spools` are the stores to which their logs are copied.
pub fn open_shards(
    root: &Path,
    shards: usize,
    options: &Options,
    clock: &SharedClock,
    spools: Option<&Spools>,
) -> Result<(Vec<Embedded>, Vec<Recovery>), Error> {
    std::fs::create_dir_all(root).map_err(|error| config_error("create", root, &error))?;
    let layout_path = root.join("shards");
    let before = read_layout(&layout_path)?;
    let changed = before.is_some_and(|layout| layout.shards != shards);
    let mixed = changed || before.is_some_and(|layout| layout.mixed);
    let (mut drivers, mut recoveries) = (Vec::new(), Vec::new());
    for opened in open_in_parallel(root, shards, options, clock, spools) {
        let (mut driver, recovery) = opened?;
        driver.left = spools.and_then(Spools::left);
        drivers.push(driver);
        recoveries.push(recovery);
    }
    let mut retired = Vec::new();
    for dir in retired_dirs(root, shards)? {
        let options = Options {
            sync_interval: None,
            head_rows: 1,
            spool: spool_of(&dir, spools),
            ..options.clone()
        };
        let (engine, recovery) = Engine::open(&dir, options, SharedClock::clone(clock))?;
        retired.push(engine);
        recoveries.push(recovery);
    }
    if changed {
        // What is in memory belongs to items that may live elsewhere from now on.
        let engines = drivers.iter_mut().map(|driver| &mut driver.engine);
        for engine in engines.chain(&mut retired) {
            engine.flush()?;
        }
    }
    if mixed {
        attach_all(&mut drivers, &retired);
    }
    for (place, engine) in retired.into_iter().enumerate() {
        drivers[place % shards].retired.push(engine);
    }
    if before != Some(Layout { shards, mixed }) {
        write_layout(&layout_path, Layout { shards, mixed })?;
    }
    Ok((drivers, recoveries))
}

type Opened = Result<(Embedded, Recovery), Error>;

/// What stores want to read of the log in a directory.
fn spool_of(dir: &Path, spools: Option<&Spools>) -> Option<Arc<tsdb::Spool>> {
    spools?.of_log(dir.file_name()?.to_str()?)
}

/// Each reads its WAL back on a core of its own, as it will be served by one.
fn open_in_parallel(
    root: &Path,
    shards: usize,
    options: &Options,
    clock: &SharedClock,
    spools: Option<&Spools>,
) -> Vec<Opened> {
    let open = |shard: usize| {
        let dir = root.join(format!("shard-{shard}"));
        let options = Options { spool: spool_of(&dir, spools), ..options.clone() };
        Embedded::open(&dir, options, SharedClock::clone(clock))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..shards).map(|shard| scope.spawn(move || open(shard))).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|opened| opened.expect("BUG: opening a store panicked")).collect()
    })
}

fn attach_all(drivers: &mut [Embedded], retired: &[Engine]) {
    let sealed: Vec<_> = drivers.iter().map(|driver| driver.engine.sealed()).collect();
    for (shard, driver) in drivers.iter_mut().enumerate() {
        for (_, other) in sealed.iter().enumerate().filter(|&(place, _)| place != shard) {
            driver.engine.attach(other);
        }
        for engine in retired {
            driver.engine.attach(&engine.sealed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fault;
    use model::{SampleValue, Timestamp};
    use stdx::clock::SimClock;

    const NOW: u32 = 1_700_049_600;

    fn sample(item: u64, clock: u32) -> Sample {
        let value = SampleValue::Unsigned(u64::from(clock) + item);
        Sample { item: ItemId(item), at: Timestamp::from_s(clock), value }
    }

    /// Each round has its own number of shards; every item is asked at its owner.
    #[test]
    fn items_keep_their_values_when_the_number_of_shards_changes() {
        let dir = tempfile::tempdir().unwrap();
        let clock: SharedClock = SimClock::at(std::time::Duration::from_secs(NOW.into()));
        let options = Options { sync_interval: None, ..Options::default() };
        for (round, shards) in [2, 3, 1, 1, 4].into_iter().enumerate() {
            let now = NOW + round as u32;
            let (mut drivers, recoveries) =
                open_shards(dir.path(), shards, &options, &clock, None).unwrap();
            assert_eq!(drivers.len(), shards);
            assert!(recoveries.iter().all(|recovery| recovery.clean));
            for item in 0..20 {
                drivers[item as usize % shards].write(&[sample(item, now)]).unwrap();
            }
            for item in 0..20 {
                let driver = &drivers[item as usize % shards];
                let got = driver.view(&[ItemId(item)], Span::ALL);
                let got = got.samples(ItemId(item), Kinds::VALUES).unwrap();
                let expected: Vec<Sample> = (NOW..=now).map(|c| sample(item, c)).collect();
                assert_eq!(got, expected, "round {round}, item {item}");
                assert_eq!(driver.newest(ItemId(item), 1).unwrap(), [sample(item, now)]);
            }
        }
        let (mut drivers, _) = open_shards(dir.path(), 2, &options, &clock, None).unwrap();
        for driver in &mut drivers {
            crate::housekeeping::run(driver, NOW + 33 * 86_400).unwrap();
        }
        for item in 0..20 {
            assert_eq!(drivers[item as usize % 2].newest(ItemId(item), 9).unwrap(), []);
        }
    }

    /// What was cleared stays away whichever directory has it and whoever owns the item now.
    #[test]
    fn cleared_items_stay_cleared_when_the_number_of_shards_changes() {
        let dir = tempfile::tempdir().unwrap();
        let clock: SharedClock = SimClock::at(std::time::Duration::from_secs(NOW.into()));
        let options = Options { sync_interval: None, ..Options::default() };
        for (round, shards) in [3, 2, 1, 4, 4].into_iter().enumerate() {
            let (mut drivers, _) = open_shards(dir.path(), shards, &options, &clock, None).unwrap();
            for item in 0..12u64 {
                let driver = &drivers[item as usize % shards];
                // Cleared in the round before: one value since then, unless that was all.
                let expected: Vec<Sample> = match item {
                    0..6 if round > 0 => vec![sample(item, NOW + round as u32 - 1)],
                    0..6 => vec![],
                    _ => (0..round as u32).map(|r| sample(item, NOW + r)).collect(),
                };
                assert_eq!(driver.newest(ItemId(item), 1).unwrap().first(), expected.last());
                let view = driver.view(&[ItemId(item)], Span::ALL);
                let got = view.samples(ItemId(item), Kinds::VALUES).unwrap();
                assert_eq!(got, expected, "round {round}, item {item}");
            }
            let cleared: Vec<ItemId> = (0..6).map(ItemId).collect();
            drivers.iter_mut().for_each(|driver| driver.clear(&cleared).unwrap());
            for item in 0..12u64 {
                let driver = &mut drivers[item as usize % shards];
                driver.write(&[sample(item, NOW + round as u32)]).unwrap();
            }
        }
    }

    #[test]
    fn a_directory_in_use_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let clock: SharedClock = SimClock::at(std::time::Duration::from_secs(NOW.into()));
        let options = Options { sync_interval: None, ..Options::default() };
        let _first = open_shards(dir.path(), 1, &options, &clock, None).unwrap();
        let error = open_shards(dir.path(), 1, &options, &clock, None).unwrap_err();
        assert_eq!((error.fault, error.retry), (Fault::Config, false));
        assert!(error.message.contains("in use by another process"), "{error}");
    }
}
