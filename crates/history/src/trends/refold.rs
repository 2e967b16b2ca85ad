//! Trends after a start: hours that may not have been written are folded again from history, some
//! items at a time, so that the server serves at once. So are the hours long over that the driver
//! still expects trends of.
//!
//! What cannot be read is tried again after a pause that grows, and its trends are held back until
//! then: what came since the start is only a part of them. Somebody has to hear of it: errors are
//! returned, and [`Refold::unread`] counts.

use std::collections::BTreeSet;
use std::time::Duration;

use hashbrown::HashSet;
use model::ItemId;

use super::{Folder, refold_late};
use crate::{Driver, Error, Kinds, Span, TrendHour};

/// The first pause after something could not be read; each next one is twice as long.
const PAUSE_MIN: Duration = Duration::from_secs(10);
const PAUSE_MAX: Duration = Duration::from_secs(600);
/// What could not be read for so long is given up: what is held back takes memory every hour.
const GIVE_UP_AFTER: Duration = Duration::from_secs(3 * 3600);

/// An item and the hour to be folded again; `None` = all hours since the start of the span.
type Job = (ItemId, Option<u32>);

/// What is still to be folded again.
#[derive(Debug, Default)]
pub struct Refold {
    from_s: u32,
    /// From the end on.
    todo: Vec<Job>,
    /// What could not be read in this round or the one before.
    failed: Vec<Job>,
    pause: Duration,
    due: Duration,
    started: Option<Duration>,
    failures: u64,
    given_up: u64,
}

impl Refold {
    /// `items` are folded again from all their values since `from_s`; none after an orderly end.
    /// `late` is what the driver expects; hours since `from_s` are none of those.
    pub fn of(items: Vec<ItemId>, from_s: u32, late: &[TrendHour]) -> Self {
        let late = late.iter().filter(|late| late.hour < from_s);
        // An item that changed its type has two trends of an hour.
        let late: BTreeSet<Job> = late.map(|late| (late.item, Some(late.hour))).collect();
        let items = items.into_iter().map(|item| (item, None));
        Self { from_s, todo: late.into_iter().chain(items).collect(), ..Self::default() }
    }

    /// Nothing is left to be done.
    pub fn is_done(&self) -> bool {
        self.todo.is_empty() && self.failed.is_empty()
    }

    /// A round is going on: until it is over no trend may be written, since hours that are handed
    /// out count as written, and what is folded again would be added.
    pub fn is_under_way(&self) -> bool {
        !self.todo.is_empty()
    }

    /// Items, and hours of items, that could not be read so far and are tried again.
    pub fn unread(&self) -> usize {
        self.failed.len()
    }

    /// Reads that failed since the start.
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// Items, and hours of items, whose trends lack values because these could not be read.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Does at most `most` of what is to be done at `now` (monotonic). The error is that of the
    /// last item that could not be read; it is tried again.
    pub fn run(
        &mut self,
        driver: &mut dyn Driver,
        folder: &mut Folder,
        most: usize,
        now: Duration,
    ) -> Result<(), Error> {
        let started = *self.started.get_or_insert(now);
        if self.todo.is_empty() {
            if self.failed.is_empty() || now < self.due {
                return Ok(());
            }
            self.todo = std::mem::take(&mut self.failed);
        }
        let result = self.some(driver, folder, most);
        if self.todo.is_empty() {
            self.end_round(folder, now, started);
        }
        result
    }

    fn some(
        &mut self,
        driver: &mut dyn Driver,
        folder: &mut Folder,
        most: usize,
    ) -> Result<(), Error> {
        let jobs = self.todo.split_off(self.todo.len().saturating_sub(most));
        let whole = jobs.iter().filter(|(_, hour)| hour.is_none());
        let items: Vec<ItemId> = whole.map(|(item, _)| *item).collect();
        // What came since the start is in history as well.
        let view = driver.view(&items, Span::new(self.from_s, u32::MAX));
        let mut result = Ok(());
        for (item, hour) in jobs {
            let read = match hour {
                Some(hour) => refold_late(driver, folder, item, hour),
                None => {
                    view.samples(item, Kinds::VALUES).map(|samples| folder.refold(item, &samples))
                }
            };
            if let Err(error) = read {
                folder.hold(item);
                self.failed.push((item, hour));
                self.failures += 1;
                result = Err(error);
            }
        }
        result
    }

    fn end_round(&mut self, folder: &mut Folder, now: Duration, started: Duration) {
        if self.failed.is_empty() {
            folder.hold_only(&HashSet::new());
            self.pause = Duration::ZERO;
            return;
        }
        if now.saturating_sub(started) >= GIVE_UP_AFTER {
            // The driver still lists the late ones, so the next start retries.
            self.given_up += self.failed.len() as u64;
            folder.add_to_stored();
            folder.hold_only(&HashSet::new());
            self.failed = Vec::new();
            return;
        }
        folder.hold_only(&self.failed.iter().map(|(item, _)| *item).collect());
        self.pause = (self.pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
        self.due = now + self.pause;
    }

    /// For an orderly stop: does what is left, and tries once more what could not be read. After
    /// an error the stop is none in order: the next start has to fold again, as after a crash.
    pub fn finish(&mut self, driver: &mut dyn Driver, folder: &mut Folder) -> Result<(), Error> {
        if !self.todo.is_empty() {
            // Whatever fails is tried again right below.
            drop(self.some(driver, folder, usize::MAX));
        }
        self.todo = std::mem::take(&mut self.failed);
        let result = self.some(driver, folder, usize::MAX);
        folder.hold_only(&self.failed.iter().map(|(item, _)| *item).collect());
        result
    }
}

#[cfg(test)]
#[path = "refold_tests.rs"]
mod tests;
