//! Hourly trends: folded in memory as samples pass, written spread over the following hour.
//!
//! The shard folds every sample of items that keep trends. When an hour is over, [`Folder::take`]
//! hands its trends out a few at a time, so that no spike marks the full hour. A sample late for
//! an hour that was handed out already makes a trend that [`write`] merges with the stored one.
//! Hours long over, as a backfill brings them, wait half a minute for more of their samples.
//! At an orderly stop [`Folder::drain`] hands out everything, the open hours as well; what is
//! folded after the next start is merged with it. After a crash the [`open_hours`] are folded
//! again from history ([`Folder::refold`]) and replace what is stored. So are older hours that got
//! late samples and were not written: [`late_hour`] tells which they are, and the driver
//! remembers them ([`crate::Driver::expect_trends`], [`Folder::refold_hour`]).

mod acc;
mod open;
mod refold;
mod stored;

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::hash_table::Entry;
use hashbrown::{HashMap, HashSet};
use model::{HOUR_S, ItemId, Sample, SampleValue, Trend, TrendValues};

use self::acc::Acc;
use self::open::{Open, OpenHours};
use crate::{Span, TrendHour};

pub use acc::merge;
pub use refold::Refold;
pub use stored::{refold_late, with_pending, write};

/// Everything finished is handed out within so many seconds of the next hour.
const WRITE_WITHIN_S: u32 = 3000;

/// With a full hour everything older than the last hour is handed out. For so many seconds behind
/// it a crash makes three hours be folded again instead of two, should that not have been done.
const GRACE_S: u32 = 600;

/// Hours that were over before they began to be folded wait so many seconds: a backfill sends the
/// samples of an hour in several packets.
const LATE_WAIT_S: u32 = 30;

/// At least so many of them are handed out a second, or a tenth.
const LATE_PER_S: usize = 1000;

/// Beyond two hours of each item so many may wait; the rest is handed out at once.
const WAITING_MAX: usize = 50_000;

/// A trend to be written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Folded {
    /// The hour.
    pub trend: Trend,
    /// Part of the hour may be stored already: merge with it.
    pub merge: bool,
}

/// An hour that is over, or that got a late sample.
type Key = (ItemId, u32, bool);

/// Folds the samples of one shard.
#[derive(Debug)]
pub struct Folder {
    // Fixed hashes: the same work is done in the same order every time.
    open: OpenHours,
    closed: HashMap<Key, Acc, FixedState>,
    queue: VecDeque<Key>,
    /// Hours that were over before they began to be folded, with the second since when they wait.
    late: VecDeque<(Key, u32)>,
    /// The second of the last call of [`Self::take`].
    now_s: u32,
    /// Hours not younger may have been stored before the start of the process.
    written_until: u32,
    /// The hour of the last call of [`Self::take`]: older ones may have been handed out, and are
    /// not open.
    swept: u32,
    /// Youngest hour that `swept` ever was. The clock may be set back; what was handed out stays.
    swept_max: u32,
    /// So many hours may wait.
    room: usize,
    /// Items of which not all is folded: nothing of theirs is handed out. They leave the queue.
    held: HashSet<ItemId>,
}

impl Folder {
    /// A folder that starts at `now_s` (seconds since 1970) after an orderly stop: the open hour
    /// and those before are merged with what is stored.
    pub fn new(now_s: u32) -> Self {
        let now = hour_of(now_s);
        Self { swept: now, swept_max: now, now_s, ..Self::starting_at(now.saturating_add(HOUR_S)) }
    }

    /// A folder that will be fed again everything since `from_s`, a full hour: hours from there
    /// on replace what is stored.
    pub fn starting_at(from_s: u32) -> Self {
        let from = hour_of(from_s);
        Self {
            open: OpenHours::default(),
            closed: HashMap::default(),
            queue: VecDeque::new(),
            late: VecDeque::new(),
            now_s: from_s,
            written_until: from.saturating_sub(1),
            // Those before are not open.
            swept: from,
            swept_max: from,
            room: WAITING_MAX,
            held: HashSet::new(),
        }
    }

    /// Brings the hours of items near the processor: these searches do not wait for each other's
    /// memory, as folding does.
    pub fn look_at(&self, items: impl Iterator<Item = ItemId>) {
        items.for_each(|item| self.open.look_at(item));
    }

    /// Takes a sample in; texts, logs and NaN are passed over. Call it for items that keep trends.
    pub fn fold(&mut self, sample: &Sample) {
        let merge = self.may_be_stored(hour_of(sample.at.clock));
        self.fold_as(sample, merge);
    }

    /// After a crash: folds an item again from all its samples since the start of the
    /// [`open_hours`], oldest first. These hours replace what is stored and what was folded of
    /// the item since the start.
    pub fn refold(&mut self, item: ItemId, samples: &[Sample]) {
        self.open.remove(item);
        // Older hours may have been folded again on their own. Nothing that is over is younger than
        // the hour after the present one, but for stamps from the future.
        let from = self.written_until.saturating_add(1);
        let till = self.swept.max(from.saturating_add(2 * HOUR_S)).saturating_add(HOUR_S);
        for hour in (from..=till).step_by(HOUR_S as usize) {
            for unsigned in [false, true] {
                self.closed.remove(&(item, hour, unsigned));
            }
        }
        for sample in samples {
            self.fold_as(sample, false);
        }
    }

    /// Folds an hour of an item again from all its samples, oldest first. It replaces what is
    /// stored, unless that counts more values: history is often kept shorter than trends. Returns
    /// whether there is a trend of floats and one of unsigned values to be written. For hours
    /// before those that are open.
    pub fn refold_hour(&mut self, item: ItemId, samples: &[Sample], stored: &[Trend]) -> [bool; 2] {
        let mut refolded: [Option<Acc>; 2] = [None; 2];
        for sample in samples {
            let Some(acc) = Acc::new(hour_of(sample.at.clock), false, &sample.value) else {
                continue;
            };
            match &mut refolded[usize::from(acc.unsigned())] {
                Some(earlier) => drop(earlier.add(&sample.value)),
                none => *none = Some(acc),
            }
        }
        for trend in stored {
            let before = Acc::of(trend);
            let acc = &mut refolded[usize::from(before.unsigned())];
            if acc.is_none_or(|acc| acc.num < before.num) {
                *acc = Some(before);
            }
        }
        for acc in refolded.into_iter().flatten() {
            self.closed.remove(&(item, acc.hour, acc.unsigned()));
            self.close(item, acc);
        }
        refolded.map(|acc| acc.is_some())
    }

    fn fold_as(&mut self, sample: &Sample, merge: bool) {
        let hour = hour_of(sample.at.clock);
        if hour < self.swept {
            if let Some(acc) = Acc::new(hour, merge, &sample.value) {
                self.fold_late(sample, acc);
            }
            return;
        }
        match self.open.entry(sample.item) {
            Entry::Vacant(entry) => {
                if let Some(acc) = Acc::new(hour, merge, &sample.value) {
                    entry.insert(Open { item: sample.item, acc });
                }
            }
            Entry::Occupied(mut entry) => {
                let open = &mut entry.get_mut().acc;
                if open.hour == hour && open.add(&sample.value) {
                    return;
                }
                let Some(acc) = Acc::new(hour, merge, &sample.value) else { return };
                if open.hour > hour {
                    self.fold_late(sample, acc);
                    return;
                }
                let over = std::mem::replace(open, acc);
                self.close(sample.item, over);
            }
        }
    }

    /// Was this hour of some item handed out before?
    fn may_be_stored(&self, hour: u32) -> bool {
        hour <= self.written_until || hour < self.swept_max
    }

    /// A sample of an hour before the open one of its item; `acc` holds just the sample.
    fn fold_late(&mut self, sample: &Sample, acc: Acc) {
        match self.closed.get_mut(&(sample.item, acc.hour, acc.unsigned())) {
            Some(earlier) => drop(earlier.add(&sample.value)),
            None => self.close(sample.item, acc),
        }
    }

    fn close(&mut self, item: ItemId, acc: Acc) {
        let key = (item, acc.hour, acc.unsigned());
        if let Some(earlier) = self.closed.get_mut(&key) {
            // The item changed its type to and fro within the hour.
            earlier.join(acc);
            return;
        }
        self.closed.insert(key, acc);
        if !self.held.contains(&item) {
            self.enqueue(key);
        }
    }

    fn enqueue(&mut self, key: Key) {
        if key.1 < self.swept.saturating_sub(HOUR_S) {
            self.late.push_back((key, self.now_s));
        } else {
            self.queue.push_back(key);
        }
    }

    /// Hands out nothing of this item until [`Self::hold_only`] says so.
    pub(crate) fn hold(&mut self, item: ItemId) {
        self.held.insert(item);
    }

    /// Of items held back, only these are any more.
    pub(crate) fn hold_only(&mut self, items: &HashSet<ItemId>) {
        let (kept, gone) = self.held.drain().partition(|item| items.contains(item));
        self.held = kept;
        let gone: HashSet<ItemId> = gone;
        if !gone.is_empty() {
            let free: Vec<Key> =
                self.closed.keys().filter(|(item, ..)| gone.contains(item)).copied().collect();
            free.into_iter().for_each(|key| self.enqueue(key));
        }
    }

    /// What is folded of items held back is all that will be: it is added to what is stored.
    pub(crate) fn add_to_stored(&mut self) {
        let open = self.open.iter_mut().filter(|open| self.held.contains(&open.item));
        open.for_each(|open| open.acc.merge = true);
        let closed = self.closed.iter_mut().filter(|((item, ..), _)| self.held.contains(item));
        closed.for_each(|(_, acc)| acc.merge = true);
    }

    /// Hands out what is due: call about once a second with the seconds since 1970. What is
    /// handed out is to be passed to [`write`] at once; what could not be written stays in `out`.
    pub fn take(&mut self, now_s: u32, out: &mut Vec<Folded>) {
        let hour = hour_of(now_s);
        self.now_s = now_s;
        self.take_more_of(out);
        if hour != self.swept {
            self.swept = hour;
            self.swept_max = self.swept_max.max(hour);
            let over = self.open.take_before(hour);
            self.room = WAITING_MAX + 2 * over.len();
            for Open { item, acc } in over {
                self.close(item, acc);
            }
            // Soon a crash would not have them folded again any more.
            self.hand_out_before(hour.saturating_sub(HOUR_S), out);
        }
        let left_s = WRITE_WITHIN_S.saturating_sub(now_s - hour).max(1);
        let due = self.queue.len().div_ceil(left_s as usize);
        let due = due.max(self.too_many().saturating_sub(self.late.len()));
        self.hand_out(due, hour, out);
        self.hand_out_late(out);
    }

    /// So many hours more wait than may.
    pub fn too_many(&self) -> usize {
        self.waiting().saturating_sub(self.room)
    }

    /// What could not be written goes together with what came since: with its trend the driver
    /// forgets that the hour is late.
    fn take_more_of(&mut self, out: &mut Vec<Folded>) {
        for place in 0..out.len() {
            let Trend { item, hour, values, .. } = out[place].trend;
            let key = (item, hour, matches!(values, TrendValues::Unsigned { .. }));
            if let Some(acc) = self.closed.remove(&key) {
                out.push(Folded { trend: acc.trend(item), merge: acc.merge });
            }
        }
    }

    /// Hands out hours long over that have waited, and more if too many wait.
    fn hand_out_late(&mut self, out: &mut Vec<Folded>) {
        let too_many = self.too_many();
        let due = too_many.max(LATE_PER_S).max(self.late.len() / 10);
        for place in 0..due {
            let Some(&(key, since_s)) = self.late.front() else { break };
            let waits_s = self.now_s.saturating_sub(since_s);
            // A clock that was set back must not hold them longer.
            if place >= too_many && waits_s < LATE_WAIT_S && since_s <= self.now_s {
                break;
            }
            self.late.pop_front();
            self.hand_out_key(key, out);
        }
        self.shrink();
    }

    /// Hands out an hour; those of items held back and forgotten ones leave the queue.
    fn hand_out_key(&mut self, key: Key, out: &mut Vec<Folded>) {
        if self.held.contains(&key.0) {
            return;
        }
        if let Some(acc) = self.closed.remove(&key) {
            out.push(Folded { trend: acc.trend(key.0), merge: acc.merge });
        }
    }

    /// Frees memory when nothing waits.
    fn shrink(&mut self) {
        if self.waiting() == 0 && self.queue.capacity().max(self.late.capacity()) > 1024 {
            self.queue.shrink_to(0);
            self.late.shrink_to(0);
            self.closed.shrink_to(0);
        }
    }

    /// Hands out everything that is older.
    fn hand_out_before(&mut self, hour: u32, out: &mut Vec<Folded>) {
        let all = self.queue.len();
        for _ in 0..all {
            let Some(key) = self.queue.pop_front() else { break };
            if key.1 < hour {
                self.hand_out_key(key, out);
            } else if !self.held.contains(&key.0) {
                self.queue.push_back(key);
            }
        }
    }

    /// Hands out at most `limit` trends of hours before `hour`.
    fn hand_out(&mut self, limit: usize, hour: u32, out: &mut Vec<Folded>) {
        for _ in 0..limit {
            let Some(key) = self.queue.pop_front() else { break };
            if key.1 < hour {
                self.hand_out_key(key, out);
            } else if !self.held.contains(&key.0) {
                // Not over: its item sent something younger, or changed its type.
                self.queue.push_back(key);
            }
        }
        self.shrink();
    }

    /// Hands out everything, the open hours as well: for an orderly stop.
    pub fn drain(&mut self, out: &mut Vec<Folded>) {
        for Open { item, acc } in self.open.take_all() {
            self.close(item, acc);
        }
        while let Some((key, _)) = self.late.pop_front() {
            self.hand_out_key(key, out);
        }
        self.hand_out(self.queue.len(), u32::MAX, out);
    }

    /// Forgets an item that was deleted.
    pub fn forget(&mut self, item: ItemId) {
        self.open.remove(item);
        // The hours that wait are those of the last two hours, but for late samples: then the
        // hour is written, which harms nobody.
        for hour in
            [self.swept.saturating_sub(HOUR_S), self.swept, self.swept.saturating_add(HOUR_S)]
        {
            for unsigned in [false, true] {
                self.closed.remove(&(item, hour, unsigned));
            }
        }
    }

    /// Forgets items whose history was cleared, all hours of them.
    pub fn clear(&mut self, items: &[ItemId]) {
        let items: HashSet<ItemId> = items.iter().copied().collect();
        self.open.retain(|item| !items.contains(&item));
        self.closed.retain(|(item, ..), _| !items.contains(item));
    }

    /// What is not written yet of an item's hours from `first_hour` to `last_hour`.
    pub fn pending(&self, item: ItemId, first_hour: u32, last_hour: u32) -> Vec<Folded> {
        let part = self.held.contains(&item);
        let folded = |acc: &Acc| Folded { trend: acc.trend(item), merge: acc.merge || part };
        let inside = |acc: &&Acc| (first_hour..=last_hour).contains(&acc.hour);
        let mut pending: Vec<Folded> =
            self.open.get(item).filter(inside).map(folded).into_iter().collect();
        if !self.closed.is_empty() {
            let hours = (hour_of(first_hour)..=last_hour).step_by(HOUR_S as usize);
            let keys = hours.flat_map(|hour| [(item, hour, false), (item, hour, true)]);
            pending.extend(keys.filter_map(|key| self.closed.get(&key)).map(folded));
        }
        pending
    }

    /// Trends waiting to be handed out.
    pub fn waiting(&self) -> usize {
        self.queue.len() + self.late.len()
    }
}

/// Start of the hour that holds a second.
pub const fn hour_of(clock: u32) -> u32 {
    clock - clock % HOUR_S
}

/// The seconds that a folder has to be fed again after a crash at or before `now_s`: the open hour
/// and those before whose trends may not have been written yet.
pub fn open_hours(now_s: u32) -> Span {
    Span::new(hour_of(now_s.saturating_sub(GRACE_S)).saturating_sub(HOUR_S), now_s)
}

/// The hour of a sample that is too late for the [`open_hours`]: its trend is to be expected
/// ([`crate::Driver::expect_trends`]) before the sample is written.
pub fn late_hour(now_s: u32, sample: &Sample) -> Option<TrendHour> {
    if sample.at.clock >= hour_of(now_s).saturating_sub(HOUR_S) {
        return None;
    }
    let unsigned = matches!(sample.value, SampleValue::Unsigned(_));
    Some(TrendHour { item: sample.item, hour: hour_of(sample.at.clock), unsigned })
}

#[cfg(test)]
#[path = "trends_tests.rs"]
mod tests;
