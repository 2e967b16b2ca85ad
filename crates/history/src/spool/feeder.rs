//! The thread that reads the logs for a store and remembers how far it is.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use model::ItemId;
use stdx::clock::SharedClock;
use tsdb::{Block, Position, Tail};

use super::Policy;
use super::batch::{Batch, split};
use super::cursors::Cursors;
use super::deletions::Deletions;
use super::gauges::{Gauges, add};
use super::lane::{Common, Lane};
use super::refused::Refused;
use crate::{Driver, Error, Kind, Store, housekeeping};

/// Batches under way: one that a lane writes and one that it takes next, so that nobody waits for it.
const UNDER_WAY_MAX: usize = 2;
/// How often the logs are looked at when nothing new was there.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How soon after the start days that are over are dropped in the store, at the latest.
const FIRST_HOUSEKEEPING: Duration = Duration::from_secs(60);

/// A log that is read.
pub(crate) struct Log {
    name: String,
    tail: Tail,
    /// Items to be cleared before anything else of this log.
    held: Option<Block>,
    /// When the end was last seen.
    at_end: Option<Duration>,
    /// Where reading fails, and since when.
    failing: Option<(Position, Duration)>,
    /// Damage that was told.
    told: u64,
    /// What a former process wrote is in files before this one.
    first_file: u64,
    /// It is new. What former processes wrote to other logs comes first: deletions that these tell are
    /// older than anything here.
    waits: bool,
}

impl Log {
    pub(crate) fn new(name: String, tail: Tail) -> Self {
        let first_file = tail.current_file();
        let (held, at_end, failing) = (None, None, None);
        Self { name, tail, held, at_end, failing, told: 0, first_file, waits: false }
    }

    /// Is everything of the former process confirmed, up to this position?
    fn is_of_now(&self, confirmed: Option<Position>) -> bool {
        confirmed.is_some_and(|at| at.file >= self.first_file) || self.tail.behind() == 0
    }

    /// Items of which former processes tell here that they were deleted, and when the newest of that
    /// was, in Unix seconds.
    fn deleted(&self, common: &Common) -> (Vec<ItemId>, u32) {
        let (mut tail, mut items, mut newest) = (self.tail.again(), Vec::new(), 0);
        while tail.position().file < self.first_file && !common.stop.load(Ordering::Acquire) {
            match tail.read() {
                Ok(Some(block)) if block.clears.is_empty() => {}
                Ok(Some(block)) => {
                    newest = newest.max(block.cleared_at.clock);
                    items.extend(block.clears);
                }
                Ok(None) => break,
                Err(error) => {
                    common.gauges.tell(&error.to_string());
                    if !tail.skip(&error) {
                        common.wait(common.policy.pause_max);
                    }
                }
            }
        }
        (items, newest)
    }

    /// The next block of rows, if nothing holds. What cannot be read for so long is passed: it would
    /// hold all that comes behind it.
    fn read(&mut self, now: Duration, unreadable: Duration) -> Result<Option<Block>, Error> {
        if self.held.is_some() {
            return Ok(None);
        }
        let block = match self.tail.read() {
            Ok(block) => block,
            Err(error) => {
                self.failed(&error, now, unreadable);
                return Err(error.into());
            }
        };
        self.failing = None;
        match block {
            None => self.at_end = Some(now),
            Some(block) if block.clears.is_empty() => return Ok(Some(block)),
            clears => self.held = clears,
        }
        Ok(None)
    }

    fn failed(&mut self, error: &tsdb::Error, now: Duration, unreadable: Duration) {
        let here = self.tail.position();
        let since = self.failing.filter(|(at, _)| *at == here).map_or(now, |(_, since)| since);
        self.failing = Some((here, since));
        if now.saturating_sub(since) >= unreadable && self.tail.skip(error) {
            self.failing = None;
            let (log, Position { file, offset }) = (&self.name, here);
            tracing::error!(log, file, offset, %error, "skipping an unreadable section of the WAL");
        }
    }
}

/// A batch that the lanes write.
struct UnderWay {
    number: u64,
    /// Lanes that are not done.
    lanes: usize,
    newest_s: u32,
    ends: Vec<Option<Position>>,
}

/// Drops days that are over.
struct Housekeeping {
    clock: SharedClock,
    every: Duration,
    next: Duration,
}

impl Housekeeping {
    fn new(every: Duration, clock: &SharedClock) -> Self {
        let next = clock.monotonic() + every.min(FIRST_HOUSEKEEPING);
        Self { clock: Arc::clone(clock), every, next }
    }

    fn run_when_due(&mut self, driver: &mut dyn Driver, gauges: &Gauges) {
        let now = self.clock.monotonic();
        if now < self.next {
            return;
        }
        self.next = now + self.every;
        if let Err(error) = housekeeping::run(driver, now_s(&self.clock)) {
            add(&gauges.errors, 1);
            tracing::warn!(%error, "cannot drop expired values in a history store");
        }
    }
}

fn now_s(clock: &SharedClock) -> u32 {
    u32::try_from(clock.unix_s()).unwrap_or(u32::MAX)
}

/// Takes the rows out of a block that the store is not given; returns how many.
fn leave_out(block: &mut Block, store: &dyn Store) -> usize {
    let before = block.samples.len() + block.trends.len();
    block.samples.retain(|sample| store.takes(sample.item, Kind::of_value(&sample.value)));
    block.trends.retain(|trend| store.takes(trend.item, Kind::of_trend(trend)));
    before - block.samples.len() - block.trends.len()
}

pub(crate) struct Feeder {
    store: Arc<dyn Store>,
    common: Common,
    clock: SharedClock,
    logs: Vec<Log>,
    cursors: Cursors,
    lanes: Vec<Lane>,
    done: Receiver<u64>,
    /// For everything that is not written by a lane.
    driver: Box<dyn Driver>,
    batch: Batch,
    under_way: VecDeque<UnderWay>,
    next_number: u64,
    /// When the first log was held.
    holding: Option<Duration>,
    deletions: Deletions,
    housekeeping: Housekeeping,
    /// When positions are next saved although nothing was written.
    next_idle: Duration,
}

impl Feeder {
    pub(crate) fn new(
        store: &Arc<dyn Store>,
        (mut logs, mut cursors): (Vec<Log>, Cursors),
        (gauges, stop): (&Arc<Gauges>, &Arc<AtomicBool>),
        (policy, clock, dir): (Policy, &SharedClock, &Path),
    ) -> Result<Self, Error> {
        let file = |kind: &str| dir.join(format!("{}.{kind}", store.name()));
        let common = Common {
            policy,
            gauges: Arc::clone(gauges),
            stop: Arc::clone(stop),
            refused: Arc::new(Refused::new(&file("refused"), policy.refused_bytes_max)),
        };
        for log in &mut logs {
            log.waits = !cursors.is_new() && cursors.position(&log.name).is_none();
        }
        let names = logs.iter().map(|log| log.name.clone()).collect();
        let deletions = Deletions::load(&file("deletions"), names)?;
        // Each lane reports what it has, so that none of them ever waits.
        let lanes = policy.lanes.max(1);
        let (report, done) = sync_channel(lanes * (UNDER_WAY_MAX + 1));
        let lane = |_| Lane::start(store.driver(), common.clone(), report.clone());
        if cursors.come_back()? {
            add(&gauges.missed, 1);
            let store = store.name();
            tracing::warn!(
                store,
                "the store lacks values from the time when it was not configured"
            );
        }
        Ok(Self {
            store: Arc::clone(store),
            lanes: (0..lanes).map(lane).collect::<Result<_, _>>()?,
            common,
            done,
            batch: Batch::over(logs.len()),
            logs,
            cursors,
            driver: store.driver(),
            under_way: VecDeque::new(),
            next_number: 0,
            holding: None,
            deletions,
            housekeeping: Housekeeping::new(policy.housekeeping, clock),
            next_idle: Duration::ZERO,
            clock: Arc::clone(clock),
        })
    }

    /// Until told to stop.
    pub(crate) fn run(mut self) {
        self.clear_owed();
        self.look_ahead();
        while !self.common.stop.load(Ordering::Acquire) {
            let now = self.clock.monotonic();
            // What would come now has to wait until items are cleared.
            let held = self.is_held(now);
            let read = !held && self.fill();
            let room = self.under_way.len() < UNDER_WAY_MAX;
            let due = held || self.batch.is_due(&self.common.policy, now);
            if room && due && self.batch.rows.len() > 0 {
                self.send();
            }
            // With nothing new, or no room for it, there is time.
            let busy = read && self.under_way.len() < UNDER_WAY_MAX;
            self.take_done(if busy { Duration::ZERO } else { LOOK_EVERY });
            self.show();
            if self.under_way.is_empty() && self.batch.rows.len() == 0 {
                if held {
                    self.clear();
                }
                self.remember_idle(now);
            }
            self.housekeeping.run_when_due(self.driver.as_mut(), &self.common.gauges);
        }
    }

    /// Clears what was deleted while the store was not named. What the logs have is written after
    /// that, also by the next process: it must not hear of these deletions once more.
    fn clear_owed(&mut self) {
        let items = self.deletions.owed();
        if items.is_empty() {
            return;
        }
        // When they were deleted nobody noted; all that comes waits for them from now on.
        self.common.gauges.waits_since_s.store(now_s(&self.clock).into(), Ordering::Relaxed);
        if self.clear_in_store(&items) {
            self.deletions.done(&items);
            self.common.until_done(self.driver.as_mut(), |_| self.deletions.save());
        }
    }

    /// The logs that a new store finds reach back differently: one may tell a deletion that the
    /// owner of the item has told before all that its own log still has. To the store, which has
    /// nothing yet, all of them are done: so it is known who brings rows of these items.
    fn look_ahead(&mut self) {
        if self.cursors.is_new() {
            for log in &self.logs {
                let (items, newest) = log.deleted(&self.common);
                self.deletions.found(&items, newest);
            }
            self.common.until_done(self.driver.as_mut(), |_| self.deletions.save());
        }
    }

    /// Lets new logs go on when the others have come to what this process writes.
    fn let_go(&mut self) {
        let cursors = &self.cursors;
        let is_of_now = |log: &Log| log.waits || log.is_of_now(cursors.position(&log.name));
        if self.logs.iter().any(|log| log.waits) && self.logs.iter().all(is_of_now) {
            self.logs.iter_mut().for_each(|log| log.waits = false);
        }
    }

    /// Clears items, however often it has to be tried; false = to stop. Meanwhile days that are over
    /// are dropped: a full store may get room by that alone.
    fn clear_in_store(&mut self, items: &[ItemId]) -> bool {
        let (common, housekeeping) = (&self.common, &mut self.housekeeping);
        let cleared = common.until_done(self.driver.as_mut(), |driver| {
            let cleared = driver.clear(items);
            if cleared.is_err() {
                housekeeping.run_when_due(driver, &common.gauges);
            }
            cleared
        });
        // Who was not waited for remembers nothing any more.
        cleared && !self.common.stop.load(Ordering::Acquire)
    }

    /// Reads blocks of all logs in turn; returns whether there were any.
    fn fill(&mut self) -> bool {
        let now = self.clock.monotonic();
        self.let_go();
        let (mut any, mut left_out) = (false, 0);
        loop {
            let mut more = false;
            for (number, log) in self.logs.iter_mut().enumerate().filter(|(_, log)| !log.waits) {
                // Who takes little of much must not read on for minutes.
                let policy = &self.common.policy;
                if self.batch.is_full(policy) || left_out >= policy.rows_max {
                    return any;
                }
                match log.read(now, policy.unreadable) {
                    Ok(Some(mut block)) => {
                        left_out += leave_out(&mut block, self.store.as_ref());
                        let gauges = &self.common.gauges;
                        add(&gauges.rows_read, block.samples.len() + block.trends.len());
                        gauges.bytes_read.fetch_add(block.bytes, Ordering::Relaxed);
                        self.deletions.saw(number, &block);
                        self.batch.add(number, block, now);
                        (any, more) = (true, true);
                    }
                    Ok(None) => {
                        if log.held.is_some() {
                            self.holding.get_or_insert(now);
                        }
                    }
                    Err(error) => {
                        add(&self.common.gauges.errors, 1);
                        self.common.gauges.tell(&error.message);
                    }
                }
            }
            if !more {
                return any;
            }
        }
    }

    /// Hands the batch to the lanes.
    fn send(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Batch::over(self.logs.len()));
        let number = self.next_number;
        self.next_number += 1;
        let newest_s = batch.newest_s(now_s(&self.clock));
        let parts = split(batch.rows, self.lanes.len());
        let mut lanes = 0;
        for (lane, part) in self.lanes.iter().zip(parts) {
            if part.len() == 0 {
                continue;
            }
            // Counted also where it fails: a lane that is gone has written nothing.
            lanes += 1;
            if !lane.send(number, part) && !self.common.stop.load(Ordering::Acquire) {
                tracing::error!("BUG: a writer of a history store ended; restart the server");
            }
        }
        self.under_way.push_back(UnderWay { number, lanes, newest_s, ends: batch.ends });
    }

    /// Takes what lanes have done and remembers how far everything is written.
    fn take_done(&mut self, wait: Duration) {
        let mut next = if wait.is_zero() || self.under_way.is_empty() {
            if !wait.is_zero() {
                std::thread::park_timeout(wait);
            }
            self.done.try_recv().ok()
        } else {
            self.done.recv_timeout(wait).ok()
        };
        while let Some(number) = next {
            if let Some(batch) = self.under_way.iter_mut().find(|batch| batch.number == number) {
                batch.lanes -= 1;
            }
            next = self.done.try_recv().ok();
        }
        while self.under_way.front().is_some_and(|batch| batch.lanes == 0)
            && !self.common.stop.load(Ordering::Acquire)
        {
            let Some(batch) = self.under_way.front() else { return };
            let ends = batch.ends.clone();
            if !self.remember(&ends) {
                return;
            }
            self.under_way.pop_front();
        }
    }

    /// Saves positions behind what is to be known of rows before them, then lets the engine
    /// forget; false = they could not be saved.
    fn remember(&mut self, ends: &[Option<Position>]) -> bool {
        let (logs, cursors) = (&self.logs, &self.cursors);
        let ahead = |(log, end): (&Log, &Option<Position>)| {
            end.filter(|&end| cursors.position(&log.name).is_none_or(|before| before < end))
        };
        let ends: Vec<Option<Position>> = logs.iter().zip(ends).map(ahead).collect();
        let new = logs.iter().zip(&ends).filter_map(|(log, end)| Some((&*log.name, (*end)?)));
        let saved = self.deletions.save().and_then(|()| self.cursors.save(new));
        if let Err(error) = saved {
            add(&self.common.gauges.errors, 1);
            self.common.gauges.tell(&error.message);
            return false;
        }
        for (log, end) in self.logs.iter().zip(&ends) {
            if let Some(end) = end {
                log.tail.confirm(*end);
            }
        }
        let is_of_now = |log: &Log| log.is_of_now(self.cursors.position(&log.name));
        if self.deletions.has_former() && self.logs.iter().all(is_of_now) {
            self.deletions.forget_former();
        }
        true
    }

    /// With nothing to write, what was read is passed: now and then, as each time is a sync.
    fn remember_idle(&mut self, now: Duration) {
        if now < self.next_idle {
            return;
        }
        self.next_idle = now + self.common.policy.age_max;
        let here = |log: &Log| (log.held.is_none() && !log.waits).then(|| log.tail.position());
        let ends: Vec<_> = self.logs.iter().map(here).collect();
        self.remember(&ends);
    }

    /// Every log waits for its items to be cleared, or has been read beyond where it would.
    fn is_held(&self, now: Duration) -> bool {
        let Some(since) = self.holding else { return false };
        let due = since + self.common.policy.patience;
        let passed = |log: &Log| log.at_end.is_some_and(|at| at >= due);
        now >= since && self.logs.iter().all(|log| log.waits || log.held.is_some() || passed(log))
    }

    /// Clears what the logs wait for. All before is written. Of logs that wait for different
    /// deletions those go on that wait for the earliest: the others do not tell it any more.
    fn clear(&mut self) {
        let held = self.logs.iter().filter_map(|log| log.held.as_ref());
        let Some(first) = held.map(|block| block.cleared_at.clock).min() else { return };
        let patience_s = u32::try_from(self.common.policy.patience.as_secs()).unwrap_or(u32::MAX);
        let last = first.saturating_add(patience_s);
        let is_now = |log: &Log| log.held.as_ref().is_some_and(|b| b.cleared_at.clock <= last);
        let mut items: Vec<ItemId> = Vec::new();
        for (number, log) in self.logs.iter().enumerate().filter(|(_, log)| is_now(log)) {
            items.extend(log.held.iter().flat_map(|block| self.deletions.of(number, block)));
        }
        items.sort_unstable();
        items.dedup();
        if !items.is_empty() && !self.clear_in_store(&items) {
            return;
        }
        self.deletions.done(&items);
        let end = |log: &Log| {
            let told = log.held.as_ref().filter(|block| block.cleared_at.clock <= last);
            told.map(|block| block.end)
        };
        let ends: Vec<_> = self.logs.iter().map(end).collect();
        if self.remember(&ends) {
            let logs = self.logs.iter_mut().zip(&ends).filter(|(_, end)| end.is_some());
            logs.for_each(|(log, _)| log.held = None);
            let now = self.clock.monotonic();
            self.holding = self.logs.iter().any(|log| log.held.is_some()).then_some(now);
        }
    }

    fn show(&mut self) {
        let gauges = &self.common.gauges;
        let under_way = self.under_way.front().map(|batch| batch.newest_s);
        let read = Some(self.batch.newest_s(now_s(&self.clock))).filter(|&newest_s| newest_s > 0);
        let held = || self.logs.iter().filter_map(|log| log.held.as_ref());
        let deleted = || held().map(|block| block.cleared_at.clock).min();
        let since_s = under_way.or(read).or_else(deleted).unwrap_or(0);
        gauges.waits_since_s.store(since_s.into(), Ordering::Relaxed);
        for log in &mut self.logs {
            let damaged = log.tail.damaged_blocks();
            if damaged > log.told {
                add(&gauges.missed, usize::try_from(damaged - log.told).unwrap_or(usize::MAX));
                log.told = damaged;
                tracing::error!(log = log.name, "the WAL is damaged; the stores lack values");
            }
        }
    }
}
