//! A server's history with stores in memory that have moods.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use history::spool::{Feeding, Policy, Reading, Spools};
use history::{
    Class, Counters, Day, Driver, DriverInfo, Embedded, Error, Fault, Kinds, Memory, Options, Span,
    Store, View,
};
use model::{ItemId, Sample, SampleValue, Timestamp, Trend};
use stdx::clock::{RealClock, SharedClock, SimClock};

pub(crate) const NOW: u32 = 1_700_049_600;

/// What a store does with the next calls.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(crate) enum Mood {
    #[default]
    Well,
    /// Nothing is taken.
    Away,
    /// It takes what it says that it did not.
    Liar,
    /// Every third call fails.
    Moody,
    /// It takes no more than so many rows in the time that it is given.
    Slow(usize),
    /// It takes nothing and says nothing.
    Stuck,
    /// It takes nothing until old days are dropped.
    Full,
}

#[derive(Default)]
pub(crate) struct State {
    memory: Option<Memory>,
    mood: Mood,
    calls: u64,
    /// Calls that did not come back at once.
    waits: u64,
    /// Rows of all writes, again and again.
    pub(crate) taken: u64,
    pub(crate) largest: usize,
}

/// A trend of so many values a store never takes.
pub(crate) const POISON: u32 = 666;

/// A store in memory, with moods. Texts that begin with "poison" it never takes.
#[derive(Clone)]
pub(crate) struct Fake(Arc<Mutex<State>>, pub(crate) &'static str);

impl Fake {
    pub(crate) fn new() -> Self {
        Self::named("fake-1")
    }

    pub(crate) fn named(name: &'static str) -> Self {
        let memory = Some(Memory::new(Arc::new(Class(31))));
        Self(Arc::new(Mutex::new(State { memory, ..State::default() })), name)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(crate) fn set(&self, mood: Mood) {
        self.state().mood = mood;
    }

    pub(crate) fn waits(&self) -> u64 {
        self.state().waits
    }

    pub(crate) fn samples(&self, item: u64) -> Vec<Sample> {
        let state = self.state();
        let view = state.memory.as_ref().unwrap().view(&[ItemId(item)], Span::ALL);
        view.samples(ItemId(item), Kinds::VALUES).unwrap()
    }

    pub(crate) fn trends(&self, item: u64) -> Vec<Trend> {
        let state = self.state();
        let view = state.memory.as_ref().unwrap().view(&[ItemId(item)], Span::ALL);
        view.trends(ItemId(item)).unwrap()
    }

    fn refuse(&self, is_bad: bool) -> Result<(), Error> {
        if is_bad && self.state().mood == Mood::Well {
            let message = "a row is odd\n".to_owned();
            return Err(Error { fault: Fault::Us, retry: false, message });
        }
        Ok(())
    }

    /// One call of a driver.
    fn call(
        &self,
        rows: usize,
        work: impl FnOnce(&mut Memory) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.state().mood == Mood::Stuck {
            self.state().waits += 1;
        }
        while self.state().mood == Mood::Stuck {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut state = self.state();
        state.calls += 1;
        let gone = || Err(Error::storage_away("the store is unavailable"));
        match state.mood {
            Mood::Away | Mood::Full => return gone(),
            Mood::Moody if state.calls.is_multiple_of(3) => return gone(),
            Mood::Slow(most) if rows > most => return gone(),
            _ => {}
        }
        state.taken += rows as u64;
        state.largest = state.largest.max(rows);
        work(state.memory.as_mut().unwrap())?;
        if state.mood == Mood::Liar { gone() } else { Ok(()) }
    }
}

impl Store for Fake {
    fn name(&self) -> String {
        self.1.to_owned()
    }
    fn driver(&self) -> Box<dyn Driver> {
        Box::new(self.clone())
    }
}

impl Driver for Fake {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        let is_bad = |s: &Sample| s.value.as_text().is_some_and(|t| t.starts_with("poison"));
        self.refuse(samples.iter().any(is_bad))?;
        self.call(samples.len(), |memory| memory.write(samples))
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.refuse(trends.iter().any(|trend| trend.num == POISON))?;
        self.call(trends.len(), |memory| memory.write_trends(trends))
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.call(0, |memory| memory.clear(items))
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        self.state().memory.as_ref().unwrap().view(items, span)
    }
    /// Only makes room.
    fn drop_before(&mut self, _: Class, _: Day) -> Result<u64, Error> {
        let mut state = self.state();
        if state.mood == Mood::Full {
            state.mood = Mood::Well;
        }
        Ok(0)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        Ok(vec![Class(31)])
    }
    fn describe(&self) -> DriverInfo {
        self.state().memory.as_ref().unwrap().describe()
    }
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

pub(crate) fn policy() -> Policy {
    Policy {
        rows_max: 40,
        age_max: Duration::from_millis(5),
        pause_min: Duration::from_millis(1),
        pause_max: Duration::from_millis(8),
        patience: Duration::from_millis(200),
        housekeeping: Duration::from_millis(300),
        ..Policy::default()
    }
}

/// A server's history: shards, and feeders of stores.
pub(crate) struct World {
    pub(crate) drivers: Vec<Embedded>,
    pub(crate) feeds: Vec<Feeding>,
    /// That of the engines.
    pub(crate) sim: Arc<SimClock>,
}

impl World {
    pub(crate) fn start(
        root: &Path,
        shards: usize,
        stores: &[&Fake],
        bytes_max: u64,
        policy: Policy,
    ) -> Self {
        let stores = stores.iter().map(|&fake| Arc::new(fake.clone()) as Arc<dyn Store>).collect();
        Self::start_with(root, shards, stores, bytes_max, policy)
    }

    pub(crate) fn start_with(
        root: &Path,
        shards: usize,
        stores: Vec<Arc<dyn Store>>,
        bytes_max: u64,
        policy: Policy,
    ) -> Self {
        let sim = SimClock::at(Duration::from_secs(NOW.into()));
        let options = Options {
            head_rows: 60,
            sync_interval: None,
            merge_fanout: 3,
            retention: Arc::new(Class(31)),
            ..Options::default()
        };
        let spools = Spools::open(&root.join("stores"), stores, bytes_max).unwrap();
        let (drivers, _) = history::open_shards(
            root,
            shards,
            &options,
            &(sim.clone() as SharedClock),
            Some(&spools),
        )
        .unwrap();
        let clock = RealClock::shared();
        let feeds = spools.start(root, &options.disk, policy, &clock).unwrap();
        Self { drivers, feeds, sim }
    }

    pub(crate) fn of(&mut self, item: u64) -> &mut Embedded {
        let shards = self.drivers.len();
        &mut self.drivers[item as usize % shards]
    }

    pub(crate) fn reading(&self, feed: usize) -> Reading {
        self.feeds[feed].gauges().read()
    }

    /// Waits until all feeders have come to the end of all logs.
    pub(crate) fn wait(&mut self) {
        wait_for("the stores have everything", || {
            self.drivers.iter_mut().for_each(|driver| drop(driver.maintain()));
            let all = |feed: &Feeding| feed.gauges().read().behind_bytes == 0;
            self.feeds.iter().all(all)
        });
    }
}

/// Looks again and again; a minute is for ever.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("waited for ever: {what}");
}

pub(crate) fn sample(item: u64, number: u32) -> Sample {
    let value = match item % 3 {
        0 => SampleValue::Unsigned(u64::from(number)),
        1 => SampleValue::Float(f64::from(number) / 8.0),
        _ => SampleValue::Text(format!("text {number}").into()),
    };
    Sample { item: ItemId(item), at: Timestamp { clock: NOW + number / 10, ns: number }, value }
}

pub(crate) const ITEMS: u64 = 10;

/// What was acknowledged, by item.
pub(crate) type Written = BTreeMap<u64, Vec<Sample>>;

pub(crate) fn write(world: &mut World, numbers: std::ops::Range<u32>, written: &mut Written) {
    for number in numbers {
        for item in 0..ITEMS {
            let sample = sample(item, number);
            world.of(item).write(std::slice::from_ref(&sample)).unwrap();
            written.entry(item).or_default().push(sample);
        }
    }
}

pub(crate) fn check(fake: &Fake, written: &Written, what: &str) {
    for (&item, samples) in written {
        assert_eq!(fake.samples(item), *samples, "{what}: item {item}");
    }
}
