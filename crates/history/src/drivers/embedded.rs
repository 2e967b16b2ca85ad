//! The driver over the embedded engine, and how the directories of all shards are opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use tsdb::{DamageLog, Engine, Options, Recovery};

use super::layout::{self, Layout, config_error, read_layout, write_layout};
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

    /// The damage of this shard's directory and those of retired shards.
    pub fn damage(&self) -> Vec<Arc<DamageLog>> {
        let engines = [&self.engine].into_iter().chain(&self.retired);
        engines.map(|engine| Arc::clone(engine.damage())).collect()
    }

    /// Logs damage that readers found since the last call.
    fn report_damage(&self) {
        for damage in self.damage().iter().flat_map(|log| log.take_new()) {
            crate::damage::warn(&damage);
        }
    }

    /// Does the same with all engines, the living one first. A failure of one holds up no other.
    fn each(&mut self, work: fn(&mut Engine) -> Result<(), tsdb::Error>) -> Result<(), Error> {
        let live = work(&mut self.engine);
        let live = self.counted(live);
        let retired = self.retired.iter_mut().map(work);
        live.and(retired.fold(Ok(()), Result::and).map_err(Error::from))
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
        self.each(Engine::sync)
    }

    fn close(&mut self) -> Result<(), Error> {
        self.each(Engine::close)
    }

    fn maintain(&mut self) -> Result<(), Error> {
        self.report_damage();
        // Retired engines have no thread that syncs what was cleared there.
        let mut synced = Ok(());
        for engine in &mut self.retired {
            // All of them, whatever the first says.
            synced = synced.and(engine.sync());
        }
        self.each(Engine::maintain).and(synced.map_err(Error::from))
    }

    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(self.engine.view(items, span))
    }

    fn trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        Ok(self.engine.trends(item, span)?)
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
    let changed = before.as_ref().is_some_and(|layout| layout.shards != shards);
    let mixed = changed || before.as_ref().is_some_and(|layout| layout.mixed);
    let missing = before.as_ref().map(|layout| layout::missing(root, layout)).unwrap_or_default();
    let (mut drivers, mut recoveries) = (Vec::new(), Vec::new());
    for opened in open_in_parallel(root, shards, options, clock, spools) {
        let (mut driver, recovery) = opened?;
        driver.left = spools.and_then(Spools::left);
        drivers.push(driver);
        recoveries.push(recovery);
    }
    let mut retired = Vec::new();
    let retired_numbers = layout::retired(root, shards)?;
    for dir in retired_numbers.iter().map(|&number| layout::folder(root, number)) {
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
    for (number, damage) in missing {
        // A folder that is no shard's any more has no engine when it is missing.
        let place = if number < shards { number } else { 0 };
        let driver: &mut Embedded = &mut drivers[place];
        driver.engine.damage().add(damage);
        driver.engine.save_damage()?;
        recoveries[place].damage.append(&mut driver.engine.damage().take_new());
        recoveries[place].clean = false;
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
    let folders = (0..shards).chain(retired_numbers).collect();
    let layout = Layout { shards, mixed, folders };
    if before.as_ref() != Some(&layout) {
        write_layout(&layout_path, &layout)?;
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
        let dir = layout::folder(root, shard);
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

    /// What was cleared stays away whichever directory has it and whichever shard owns the item now.
    #[test]
    fn cleared_items_stay_cleared_with_other_shards() {
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

    /// A disk on which no file of one folder can be created.
    struct OneBadFolder(&'static str);

    impl tsdb::Disk for OneBadFolder {
        fn create(&self, path: &Path) -> std::io::Result<Arc<dyn tsdb::DiskFile>> {
            if path.parent().is_some_and(|folder| folder.ends_with(self.0)) {
                return Err(std::io::Error::other("a bad folder"));
            }
            tsdb::OsDisk.create(path)
        }
        fn reopen(&self, path: &Path, len: u64) -> std::io::Result<Arc<dyn tsdb::DiskFile>> {
            tsdb::OsDisk.reopen(path, len)
        }
        fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
            tsdb::OsDisk.rename(from, to)
        }
        fn remove(&self, path: &Path) -> std::io::Result<()> {
            tsdb::OsDisk.remove(path)
        }
        fn sync_dir(&self, path: &Path) -> std::io::Result<()> {
            tsdb::OsDisk.sync_dir(path)
        }
        fn list(&self, path: &Path) -> std::io::Result<Vec<String>> {
            tsdb::OsDisk.list(path)
        }
        fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            tsdb::OsDisk.read(path)
        }
        fn open(&self, path: &Path) -> std::io::Result<Arc<dyn tsdb::DiskRead>> {
            tsdb::OsDisk.open(path)
        }
    }

    #[test]
    fn failing_retired_folder_does_not_hold_up_the_living_one() {
        let dir = tempfile::tempdir().unwrap();
        let sim = SimClock::at(std::time::Duration::from_secs(NOW.into()));
        let clock: SharedClock = Arc::clone(&sim) as SharedClock;
        let options = Options { sync_interval: None, background: false, ..Options::default() };
        drop(open_shards(dir.path(), 2, &options, &clock, None).unwrap());
        drop(open_shards(dir.path(), 1, &options, &clock, None).unwrap());
        std::fs::remove_file(dir.path().join("shard-1/1.wal")).unwrap();
        let options = Options { disk: Arc::new(OneBadFolder("shard-1")), ..options };
        let (mut drivers, _) = open_shards(dir.path(), 1, &options, &clock, None).unwrap();
        drivers[0].write(&[sample(1, NOW)]).unwrap();
        sim.advance(std::time::Duration::from_secs(2 * 86_400));
        assert!(drivers[0].maintain().is_err(), "the retired folder fails");
        while drivers[0].work() {}
        assert_eq!(drivers[0].stats().seals, 1, "the head of a day that is over is sealed");
    }
}
