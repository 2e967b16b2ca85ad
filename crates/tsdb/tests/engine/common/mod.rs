//! What the tests of the engine share: a model that is obviously right, and disks that fail.
#![allow(unreachable_pub, reason = "a module of tests")]

mod bad;
mod filled;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};
use stdx::clock::{SharedClock, SimClock};
use tsdb::{
    Class, Day, Disk, DiskFile, DiskRead, Engine, Kind, Kinds, Options, OsDisk, Retention, Span,
};

pub use bad::BadDisk;
pub use filled::{assert_reported, files, fill, missing, reopened, sample};

pub const DAY: u32 = 86_400;
pub const TODAY: u32 = 19_675;
pub const NOW: u32 = TODAY * DAY + 4000;
pub const ITEMS: u64 = 12;

pub fn sim_clock() -> Arc<SimClock> {
    SimClock::at(Duration::from_secs(NOW.into()))
}

/// Items below 4: 3 days; others 31; trends a year.
pub struct Classes;

impl Retention for Classes {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        class_of(item, kind.is_trend())
    }
}

pub fn class_of(item: ItemId, trend: bool) -> Class {
    match (trend, item.0) {
        (true, _) => Class(365),
        (_, 0..4) => Class(3),
        _ => Class(31),
    }
}

pub fn small() -> Options {
    Options {
        head_rows: 40,
        head_bytes: 4096,
        sync_interval: None,
        merge_rows: 1000,
        merge_fanout: 3,
        retention: Arc::new(Classes),
        disk: Arc::new(CrashDisk::new(usize::MAX)),
        ..Options::default()
    }
}

pub fn open(dir: &Path, options: Options, clock: &Arc<SimClock>) -> (Engine, tsdb::Recovery) {
    let clock: SharedClock = Arc::clone(clock) as SharedClock;
    Engine::open(dir, options, clock).unwrap()
}

/// A value of any kind, made from a number.
pub fn value(seed: u64) -> SampleValue {
    let bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match seed % 7 {
        0 => SampleValue::Float(f64::from_bits(bits)),
        1 => SampleValue::Float((bits >> 50) as f64 / 100.0),
        2 | 3 => SampleValue::Unsigned(bits >> (seed % 60)),
        4 => SampleValue::Text(format!("text {bits:x}").into()),
        5 => SampleValue::Text("y".repeat(usize::try_from(seed % 300).unwrap()).into()),
        _ => {
            let meta =
                LogMeta { timestamp: seed as u32, source: "s".into(), severity: 1, eventid: 2 };
            SampleValue::Log(Box::new((format!("line {seed}").into(), meta)))
        }
    }
}

fn kind_of(value: &SampleValue) -> Kind {
    match value {
        SampleValue::Float(_) => Kind::Float,
        SampleValue::Unsigned(_) => Kind::Unsigned,
        SampleValue::Text(_) => Kind::Text,
        SampleValue::Log(_) => Kind::Log,
    }
}

/// Equal bit for bit; a float that is not a number equals itself.
pub fn same(a: &Sample, b: &Sample) -> bool {
    let equal = match (&a.value, &b.value) {
        (SampleValue::Float(a), SampleValue::Float(b)) => a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    };
    (a.item, a.at) == (b.item, b.at) && equal
}

pub fn assert_same(got: &[Sample], expected: &[Sample], what: &str) {
    let same = got.len() == expected.len() && got.iter().zip(expected).all(|(a, b)| same(a, b));
    assert!(same, "{what}\n got {got:?}\n expected {expected:?}");
}

pub fn trend(item: u64, hour: u32, seed: u64) -> Trend {
    let values = if seed.is_multiple_of(2) {
        TrendValues::Float { min: -0.5, avg: seed as f64 / 3.0, max: seed as f64 }
    } else {
        TrendValues::Unsigned { min: seed, avg: seed * 2, max: seed * 3 }
    };
    Trend { item: ItemId(item), hour, num: seed as u32, values }
}

/// What should be stored.
#[derive(Default, Clone)]
pub struct Model {
    pub samples: BTreeMap<(ItemId, Timestamp, Kind), Sample>,
    pub trends: BTreeMap<(ItemId, u32, bool), Trend>,
}

impl Model {
    pub fn append(&mut self, samples: &[Sample]) {
        for sample in samples {
            let key = (sample.item, sample.at, kind_of(&sample.value));
            self.samples.insert(key, sample.clone());
        }
    }

    pub fn append_trends(&mut self, trends: &[Trend]) {
        for trend in trends {
            let unsigned = matches!(trend.values, TrendValues::Unsigned { .. });
            self.trends.insert((trend.item, trend.hour, unsigned), *trend);
        }
    }

    pub fn drop_before(&mut self, class: Class, day: Day) {
        self.samples
            .retain(|key, _| class_of(key.0, false) != class || Day::of(key.1.clock) >= day);
        self.trends.retain(|key, _| class_of(key.0, true) != class || Day::of(key.1) >= day);
    }

    pub fn clear(&mut self, items: &[ItemId]) {
        self.samples.retain(|_, sample| !items.contains(&sample.item));
        self.trends.retain(|_, trend| !items.contains(&trend.item));
    }

    pub fn samples_of(&self, item: ItemId, span: Span) -> Vec<Sample> {
        let all = self.samples.values();
        all.filter(|s| s.item == item && span.has(s.at.clock)).cloned().collect()
    }

    /// Compares all samples.
    pub fn check_samples(&self, engine: &Engine, what: &str) {
        let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
        let view = engine.view(&items, Span::ALL);
        for &item in &items {
            let got = view.samples(item, Kinds::VALUES).unwrap();
            assert_same(&got, &self.samples_of(item, Span::ALL), &format!("{what}: {item:?}"));
        }
    }

    /// Compares everything, in all ways of reading.
    pub fn check(&self, engine: &Engine, what: &str) {
        let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
        let spans = [Span::ALL, Span::new(NOW - 50, NOW + 20), Span::new(NOW - 2 * DAY, NOW - DAY)];
        for span in spans {
            let view = engine.view(&items, span);
            for &item in &items {
                let expected = self.samples_of(item, span);
                let got = view.samples(item, Kinds::VALUES).unwrap();
                assert_same(&got, &expected, &format!("{what}: {item:?} {span:?}"));
                for n in [0, 1, 2, 7] {
                    let expected = &expected[..n.min(expected.len())];
                    let got = view.oldest(item, Kinds::VALUES, n).unwrap();
                    assert_same(
                        &got,
                        expected,
                        &format!("{what}: oldest {n} of {item:?} {span:?}"),
                    );
                }
                let trends: Vec<Trend> = self
                    .trends
                    .values()
                    .filter(|t| t.item == item && span.has(t.hour))
                    .copied()
                    .collect();
                assert_eq!(view.trends(item).unwrap(), trends, "{what}: trends of {item:?}");
            }
        }
        for n in [1, 2, 3] {
            let view = engine.view_newest(&items, n);
            let many = view.newest_many(&items, Kinds::VALUES, n).unwrap();
            for &item in &items {
                let all = self.samples_of(item, Span::ALL);
                let expected: Vec<Sample> = all.iter().rev().take(n).cloned().collect();
                let got = view.newest(item, Kinds::VALUES, n).unwrap();
                assert_same(&got, &expected, &format!("{what}: newest {n} of {item:?}"));
                let got = &many[usize::try_from(item.0).unwrap()];
                assert_same(got, &expected, &format!("{what}: newest {n} of many {item:?}"));
            }
        }
        let mut scanned = Vec::new();
        let mut each = |sample: &Sample| scanned.push(sample.clone());
        engine.scan(Span::new(NOW - DAY, NOW), Kinds::VALUES, &mut each).unwrap();
        let mut expected: Vec<Sample> = Vec::new();
        for &item in &items {
            for kind in Kind::VALUES {
                let of = self.samples_of(item, Span::new(NOW - DAY, NOW));
                expected.extend(of.into_iter().filter(|s| kind_of(&s.value) == kind));
            }
        }
        assert_same(&scanned, &expected, &format!("{what}: scan"));
    }
}

/// Counts what changes the disk, and stops everything at a chosen operation, as `kill -9` does:
/// half of a write gets through, then nothing any more.
pub struct CrashDisk {
    state: Arc<CrashState>,
}

struct CrashState {
    left: AtomicUsize,
    used: AtomicUsize,
    /// Files with how much of each is on the disk for sure, by their current path.
    synced: Mutex<BTreeMap<PathBuf, (u64, u64)>>,
}

struct CrashFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    state: Arc<CrashState>,
}

fn crashed() -> io::Error {
    io::Error::other("the power is off")
}

impl CrashState {
    /// Is the operation still done? `Err(true)`: it is the one that is cut in half.
    fn step(&self) -> Result<(), bool> {
        self.used.fetch_add(1, Ordering::SeqCst);
        let left = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
        match left {
            Ok(1) => Err(true),
            Ok(0) | Err(_) => Err(false),
            Ok(_) => Ok(()),
        }
    }

    fn all_or_nothing(&self) -> io::Result<()> {
        self.step().map_err(|_| crashed())
    }
}

impl CrashDisk {
    /// Stops at the `at`-th operation, counted from 1.
    pub fn new(at: usize) -> Self {
        Self {
            state: Arc::new(CrashState {
                left: AtomicUsize::new(at),
                used: AtomicUsize::new(0),
                synced: Mutex::new(BTreeMap::new()),
            }),
        }
    }

    pub fn handle(&self) -> Self {
        Self { state: Arc::clone(&self.state) }
    }

    pub fn operations(&self) -> usize {
        self.state.used.load(Ordering::SeqCst)
    }

    /// Bytes that no sync has reached.
    pub fn unsynced(&self) -> u64 {
        let synced = self.state.synced.lock().unwrap();
        synced.values().map(|(written, synced)| written - synced).sum()
    }

    /// Cuts off all that no sync had reached, as a power cut may.
    pub fn cut_power(&self) {
        for (path, (_, synced)) in self.state.synced.lock().unwrap().iter() {
            if let Ok(file) = std::fs::OpenOptions::new().write(true).open(path) {
                file.set_len(*synced).unwrap();
            }
        }
    }

    fn file(&self, file: Arc<dyn DiskFile>, path: &Path, len: u64) -> Arc<dyn DiskFile> {
        self.state.synced.lock().unwrap().insert(path.to_owned(), (len, len));
        Arc::new(CrashFile { file, path: path.to_owned(), state: Arc::clone(&self.state) })
    }
}

impl DiskFile for CrashFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let done = self.state.step();
        let written = match done {
            Ok(()) => bytes,
            Err(true) => &bytes[..bytes.len() / 2],
            Err(false) => return Err(crashed()),
        };
        self.file.append(written)?;
        if let Some(lens) = self.state.synced.lock().unwrap().get_mut(&self.path) {
            lens.0 += written.len() as u64;
        }
        done.map_err(|_| crashed())
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.state.all_or_nothing()?;
        self.file.truncate(len)?;
        if let Some((written, synced)) = self.state.synced.lock().unwrap().get_mut(&self.path) {
            (*written, *synced) = (len, len.min(*synced));
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        // Nobody cuts the power of the machine that runs the tests: noting it is enough.
        self.state.all_or_nothing()?;
        if let Some(lens) = self.state.synced.lock().unwrap().get_mut(&self.path) {
            lens.1 = lens.0;
        }
        Ok(())
    }
}

impl Disk for CrashDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.state.all_or_nothing()?;
        Ok(self.file(OsDisk.create(path)?, path, 0))
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        self.state.all_or_nothing()?;
        Ok(self.file(OsDisk.reopen(path, len)?, path, len))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state.all_or_nothing()?;
        OsDisk.rename(from, to)?;
        let mut synced = self.state.synced.lock().unwrap();
        if let Some(lens) = synced.remove(from) {
            synced.insert(to.to_owned(), lens);
        }
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.state.all_or_nothing()?;
        self.state.synced.lock().unwrap().remove(path);
        OsDisk.remove(path)
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.state.all_or_nothing()
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        OsDisk.list(path)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        OsDisk.read(path)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>> {
        OsDisk.open(path)
    }
}

/// A disk that is full, fails to sync, or creates no segments, while its owner says so.
#[derive(Clone, Default)]
pub struct FlakyDisk {
    pub full: Arc<AtomicBool>,
    pub bad_sync: Arc<AtomicBool>,
    pub no_segments: Arc<AtomicBool>,
    /// Segments that were not created because of `no_segments`.
    pub segments_refused: Arc<AtomicUsize>,
}

struct FlakyFile {
    file: Arc<dyn DiskFile>,
    disk: FlakyDisk,
}

impl DiskFile for FlakyFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        if self.disk.full.load(Ordering::SeqCst) {
            self.file.append(&bytes[..bytes.len() / 3])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.append(bytes)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        if self.disk.bad_sync.load(Ordering::SeqCst) {
            return Err(io::Error::other("a bad sector"));
        }
        Ok(())
    }
}

impl Disk for FlakyDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let is_segment = path.to_string_lossy().ends_with(".seg.tmp");
        if is_segment && self.no_segments.load(Ordering::SeqCst) {
            self.segments_refused.fetch_add(1, Ordering::SeqCst);
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(Arc::new(FlakyFile { file: OsDisk.create(path)?, disk: self.clone() }))
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(FlakyFile { file: OsDisk.reopen(path, len)?, disk: self.clone() }))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove(path)
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        OsDisk.list(path)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        OsDisk.read(path)
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>> {
        OsDisk.open(path)
    }
}
