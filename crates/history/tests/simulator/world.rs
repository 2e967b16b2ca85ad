//! One shard's history, its trends, and a day in a life that a seed decides.

#[path = "check.rs"]
mod check;

use std::sync::Arc;
use std::time::Duration;

use history::trends::{self, Folded, Folder, Refold, open_hours};
use history::{Driver, Embedded, Kinds, Options};
use model::{ItemId, Sample, Timestamp};
use stdx::clock::{Clock, SharedClock, SimClock};

use crate::copy::LogCopy;
use crate::disk::{Faults, SimDisk};
use crate::model::{Classes, ITEMS, Model, NUMBERS};
use crate::plan::{Plan, Tally, value};
use crate::random::Random;

const START: u32 = 19_675 * 86_400 + 40_000;
const STEPS: u64 = 120;

pub struct World {
    random: Random,
    plan: Plan,
    disk: SimDisk,
    clock: Arc<SimClock>,
    dir: tempfile::TempDir,
    driver: Option<Embedded>,
    folder: Folder,
    refold: Refold,
    folded: Vec<Folded>,
    model: Model,
    copy: LogCopy,
    /// Batches that were refused; senders try again.
    resend: Vec<Vec<Sample>>,
    /// Steps that the present fault goes on for.
    trouble: u64,
    reads_fail: bool,
    /// Errors and events that an operator sees.
    reported: u64,
    unique: u32,
    tally: Tally,
    /// `TRACE=1` tells the story of a seed.
    trace: bool,
}

type Outcome = Result<(), String>;

impl World {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let plan = Plan::new(&mut random);
        let clock = SimClock::at(Duration::from_secs(START.into()));
        Self {
            disk: SimDisk::new(random.next()),
            random,
            plan,
            clock,
            dir: tempfile::tempdir().unwrap(),
            driver: None,
            folder: Folder::new(START),
            refold: Refold::default(),
            folded: Vec::new(),
            model: Model::new(),
            copy: LogCopy::new(seed),
            resend: Vec::new(),
            trouble: 0,
            reads_fail: false,
            reported: 0,
            unique: 0,
            trace: crate::number("TRACE", 0) > 0,
            tally: Tally::default(),
        }
    }

    /// Everything from the first start to the last check.
    pub fn run(mut self) -> Result<Tally, String> {
        self.open(true)?;
        for _ in 0..STEPS {
            self.step()?;
            if self.disk.is_off() {
                self.restart()?;
            }
        }
        self.finish()?;
        Ok(self.tally)
    }

    fn now(&self) -> u32 {
        u32::try_from(self.clock.unix_s()).unwrap()
    }

    fn driver(&mut self) -> &mut Embedded {
        self.driver.as_mut().unwrap()
    }

    fn options(&mut self) -> Options {
        Options {
            head_rows: 60,
            head_bytes: 4_000,
            durable: self.plan.durable,
            sync_interval: None,
            merge_rows: 2_000,
            merge_fanout: 3,
            newest_bytes: 1 << 20,
            background: false,
            retention: Arc::new(Classes),
            spool: self.copy.start(),
            disk: Arc::new(self.disk.clone()),
        }
    }

    /// Starts the shard; after a crash trends of the open hours are folded again.
    fn open(&mut self, orderly: bool) -> Outcome {
        let clock: SharedClock = Arc::clone(&self.clock) as SharedClock;
        let options = self.options();
        let (driver, recovery) = match Embedded::open(self.dir.path(), options, clock) {
            Ok(opened) => opened,
            Err(_) if self.disk.is_off() || self.trouble > 0 => {
                // A start that fails harms nothing; somebody mends the disk.
                self.reported += 1;
                self.disk.restart();
                self.trouble = 0;
                self.reads_fail = false;
                return self.open(orderly);
            }
            Err(error) => return Err(format!("the store does not open: {error}")),
        };
        if self.trace {
            eprintln!("open {orderly} {:?} {recovery:?}", self.disk.names());
        }
        self.reported += u64::from(!recovery.clean);
        let damaged = recovery.damaged_blocks > 0
            || !recovery.set_aside.is_empty()
            || !recovery.damage.is_empty();
        if damaged && self.tally.flips == 0 && !self.plan.power_cuts {
            return Err(format!("damage out of nothing: {recovery:?}"));
        }
        self.copy.opened(self.dir.path(), Arc::new(self.disk.clone()));
        self.folded.clear();
        self.driver = Some(driver);
        let now = self.now();
        let late = self.driver().expected_trends();
        if orderly {
            self.folder = Folder::new(now);
            self.refold = Refold::of(Vec::new(), trends::hour_of(now), &late);
        } else {
            let last = self.driver().newest_clock(now).unwrap_or(now);
            let from = open_hours(last).from;
            self.folder = Folder::starting_at(from);
            self.refold = Refold::of((0..NUMBERS).map(ItemId).collect(), from, &late);
        }
        self.refold_some()
    }

    /// What is due, to the end of the round.
    fn refold_some(&mut self) -> Outcome {
        let most = if self.plan.full_disk { 1_000 } else { 3 };
        loop {
            let (driver, now) = (self.driver.as_mut().unwrap(), self.clock.monotonic());
            let folded = self.refold.run(driver, &mut self.folder, most, now);
            folded.or_else(|error| self.bad_read(&error))?;
            if !self.refold.is_under_way() {
                return Ok(());
            }
        }
    }

    fn restart(&mut self) -> Outcome {
        self.tally.restarts += 1;
        self.driver = None;
        if self.plan.power_cuts && (!self.plan.kills || self.random.one_in(2)) {
            self.disk.cut_power();
            self.model.power_cut();
        } else {
            self.disk.restart();
        }
        self.trouble = 0;
        self.reads_fail = false;
        if self.plan.read_errors && self.random.one_in(3) {
            self.disk.set_faults(Faults { read: 5, ..Faults::default() });
            self.trouble = 3;
            self.reads_fail = true;
        }
        if self.plan.kills && self.random.one_in(4) {
            // The next start does not come far.
            let operations = 1 + self.random.below(12);
            self.disk.end_after(operations);
        }
        self.open(false)?;
        if self.disk.is_off() { self.restart() } else { self.check_all() }
    }

    fn bad_read(&mut self, error: &history::Error) -> Outcome {
        self.reported += 1;
        let expected = self.reads_fail || self.tally.flips > 0 || self.disk.is_off();
        if expected { Ok(()) } else { Err(format!("reading fails out of nothing: {error}")) }
    }

    fn step(&mut self) -> Outcome {
        self.change_trouble();
        let what = self.random.below(20);
        if self.trace {
            let stats = self.driver().stats();
            eprintln!("{} {what} trouble {} {stats:?}", self.now(), self.trouble);
        }
        match what {
            0..9 => self.write(),
            9 => self.clear(),
            10 | 11 => self.sync(),
            12 => self.read(),
            13 => self.housekeep(),
            14 => self.stop()?,
            _ => self.pass_time()?,
        }
        for _ in 0..self.random.below(3) {
            self.driver().work();
        }
        self.copy.follow();
        if self.random.one_in(3) {
            let item = ItemId(self.random.below(ITEMS));
            self.check_item(item)?;
        }
        let stats = self.driver().stats();
        if stats.head_rows > 60 + 100 || stats.sealing > 8 {
            return Err(format!("memory is not bounded: {stats:?}"));
        }
        Ok(())
    }

    /// Faults begin and end.
    fn change_trouble(&mut self) {
        if self.trouble > 0 {
            self.trouble -= 1;
            if self.trouble == 0 {
                self.disk.set_faults(Faults::default());
                self.reads_fail = false;
            }
            return;
        }
        if self.random.one_in(8) {
            let mut faults = Faults::default();
            if self.plan.write_errors {
                let one_in = 1 + self.random.below(6);
                (faults.write, faults.sync, faults.name) = (one_in, one_in, one_in * 2);
            }
            if self.plan.full_disk && self.random.one_in(2) {
                let room = self.random.below(3_000);
                faults.space = self.disk.used() + usize::try_from(room).unwrap() + 1;
            }
            if self.plan.read_errors {
                faults.read = 1 + self.random.below(4);
                self.reads_fail = true;
            }
            self.disk.set_faults(faults);
            self.trouble = 1 + self.random.below(12);
        }
        if (self.plan.kills || self.plan.power_cuts) && self.random.one_in(10) {
            let operations = 1 + self.random.below(40);
            self.disk.end_after(operations);
        }
        if self.plan.flips && self.random.one_in(30) {
            let flipped = self.disk.flip(|name| !name.ends_with(".tmp"));
            self.tally.flips += u64::from(flipped.is_some());
        }
    }

    fn sample(&mut self) -> Sample {
        let item = self.random.below(ITEMS);
        let now = self.now();
        let at = if item < NUMBERS {
            self.unique += 1;
            // A minute, an hour, half a day.
            let late = match self.random.below(40) {
                0 => 40_000,
                1 | 2 => 3_600,
                _ => 60,
            };
            let clock = now - u32::try_from(self.random.below(late)).unwrap();
            Timestamp { clock, ns: self.unique }
        } else {
            // Few times, so that many are written again; sometimes days away.
            let days = if self.random.one_in(10) { self.random.below(40) } else { 0 };
            let days = u32::try_from(days).unwrap() * 86_400;
            Timestamp { clock: now - now % 60 - days, ns: u32::try_from(item % 3).unwrap() }
        };
        Sample { item: ItemId(item), at, value: value(&mut self.random, item) }
    }

    fn write(&mut self) {
        let batch = match self.resend.pop() {
            Some(batch) if self.random.one_in(2) => batch,
            other => {
                self.resend.extend(other);
                (0..1 + self.random.below(25)).map(|_| self.sample()).collect()
            }
        };
        self.expect_trends(&batch);
        let result = self.driver().write(&batch);
        self.model.write(&batch, result.is_ok());
        if self.trace {
            let rows = batch.iter().map(|s| (s.item.0, s.at.clock, s.at.ns)).collect::<Vec<_>>();
            eprintln!("  write {result:?} {rows:?}");
        }
        match result {
            Ok(()) => {
                self.tally.acknowledged += batch.len() as u64;
                self.acknowledged();
                let numbers = batch.iter().filter(|sample| sample.item.0 < NUMBERS);
                numbers.for_each(|sample| self.folder.fold(sample));
            }
            Err(_) => {
                self.tally.refused += batch.len() as u64;
                self.reported += 1;
                self.resend.push(batch);
            }
        }
    }

    /// What is late is remembered by the driver with the samples.
    fn expect_trends(&mut self, batch: &[Sample]) {
        let now = self.now();
        let numbers = batch.iter().filter(|sample| sample.item.0 < NUMBERS);
        let late: Vec<_> = numbers.filter_map(|s| trends::late_hour(now, s)).collect();
        self.tally.late += late.len() as u64;
        self.driver().expect_trends(&late);
    }

    fn acknowledged(&mut self) {
        if self.plan.durable {
            self.model.synced();
        }
    }

    fn clear(&mut self) {
        let items: Vec<ItemId> =
            (0..1 + self.random.below(3)).map(|_| ItemId(self.random.below(ITEMS))).collect();
        let result = self.driver().clear(&items);
        self.model.clear(&items, result.is_ok());
        if result.is_ok() {
            self.acknowledged();
            self.folder.clear(&items);
            self.folded.retain(|folded| !items.contains(&folded.trend.item));
            for batch in &mut self.resend {
                batch.retain(|sample| !items.contains(&sample.item));
            }
        } else {
            self.reported += 1;
        }
    }

    fn sync(&mut self) {
        match self.driver().sync() {
            Ok(()) => self.model.synced(),
            Err(_) => self.reported += 1,
        }
    }

    fn housekeep(&mut self) {
        let now = self.now();
        let result = history::housekeeping::run(self.driver(), now);
        self.reported += u64::from(result.is_err());
        self.model.dropped(history::Day::of(now));
    }

    /// An orderly stop and a start; if the disk does not let it, it counts as a crash.
    fn stop(&mut self) -> Outcome {
        let driver = self.driver.as_mut().unwrap();
        let refolded = self.refold.finish(driver, &mut self.folder);
        let all = refolded.is_ok();
        refolded.or_else(|error| self.bad_read(&error))?;
        self.folder.drain(&mut self.folded);
        let written = self.write_trends() && all;
        let synced = self.driver().sync();
        let orderly = written && synced.is_ok();
        if orderly {
            self.model.synced();
        }
        self.reported += u64::from(synced.is_err());
        self.driver = None;
        if self.disk.is_off() {
            return self.restart();
        }
        self.disk.process_ends();
        self.open(orderly)?;
        if self.disk.is_off() { self.restart() } else { Ok(()) }
    }

    fn write_trends(&mut self) -> bool {
        if self.folded.is_empty() {
            return true;
        }
        let mut folded = std::mem::take(&mut self.folded);
        let written = trends::write(self.driver(), &mut folded);
        if written.is_err() {
            self.reported += 1;
            self.folded = folded;
        }
        written.is_ok()
    }

    fn pass_time(&mut self) -> Outcome {
        let seconds = match self.random.below(10) {
            _ if self.trouble > 0 => self.random.below(20),
            0 => 86_400,
            1 | 2 => 3_600,
            _ => self.random.below(300),
        };
        // A helper syncs each second: time does not pass without.
        self.sync();
        // Trends that cannot be written are remembered until the end of the hour after theirs; a
        // shard ticks each second, and has long written the others.
        self.tick()?;
        if !self.folded.is_empty() && self.now() % 3_600 + 900 >= 3_600 {
            return Ok(());
        }
        for _ in 0..seconds.div_ceil(900).max(1) {
            self.clock.advance(Duration::from_secs(seconds.min(900)));
            self.tick()?;
            self.sync();
            if self.disk.is_off() {
                break;
            }
        }
        Ok(())
    }

    /// What a shard does each second, once or as often as nothing waits any more.
    fn tick(&mut self) -> Outcome {
        self.refold_some()?;
        let now = self.now();
        let seconds = if self.random.one_in(2) { 1 } else { 2 * ITEMS };
        for _ in 0..seconds {
            self.folder.take(now, &mut self.folded);
        }
        self.write_trends();
        let result = self.driver().maintain();
        self.reported += u64::from(result.is_err());
        Ok(())
    }

    fn read(&mut self) {
        let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
        let view = self.driver().view_newest(&items, 2);
        for item in items {
            let newest = view.newest(item, Kinds::VALUES, 2);
            self.reported += u64::from(newest.is_err());
        }
    }

    /// The disk is well again: so is the shard, without a restart and after one.
    fn finish(&mut self) -> Outcome {
        self.disk.restart();
        (self.trouble, self.reads_fail) = (0, false);
        self.clock.advance(Duration::from_secs(6));
        self.tick()?;
        while self.driver().work() {}
        let batch = vec![self.sample()];
        let written = self.driver().write(&batch);
        written.map_err(|error| format!("the disk is well, the shard is not: {error}"))?;
        self.model.write(&batch, true);
        batch.iter().filter(|s| s.item.0 < NUMBERS).for_each(|s| self.folder.fold(s));
        self.check_all()?;
        self.driver().sync().map_err(|error| format!("the last sync: {error}"))?;
        let flushed = self.driver().flush();
        if self.tally.flips == 0 {
            flushed.map_err(|error| format!("the last flush: {error}"))?;
        }
        let stats = self.driver().stats();
        (self.tally.seals, self.tally.merges) = (stats.seals, stats.merges);
        self.check_all()?;
        self.stop()?;
        self.check_all()?;
        self.check_trends()?;
        self.check_copy()?;
        self.tally.injected = self.disk.injected();
        if (self.tally.injected > 0 || self.tally.missing > 0) && self.reported == 0 {
            return Err(format!("faults, but nothing was reported: {:?}", self.tally));
        }
        Ok(())
    }
}
