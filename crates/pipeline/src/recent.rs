//! Items with several values in one round, and items with late values: triggers see values one
//! after another, each with what was before it, which the value cache's two newest values do not
//! tell. Their past is gathered once per round, by one read of the driver for items whose values
//! lie in the same hours: a value of long ago makes no other item's history be read.

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::value_cache::Point;
use history::{Driver, Kinds, Span, ValueCache};
use model::{ItemId, Sample, Timestamp};

use crate::round::Round;
use crate::slots::Slots;

/// How far before the oldest value of a round the ones before it are looked for, seconds. Where
/// there is none the driver is asked when a function needs it.
const BACK_S: u32 = 3_600;

/// Items whose pasts begin and end in the same of these spans are read together, seconds.
const TOGETHER_S: u32 = 3_600;

/// What is known of an item, oldest first.
#[derive(Debug)]
struct Past {
    points: Vec<Point>,
    /// From here to `till` nothing is missing.
    from: Timestamp,
    till: Timestamp,
    /// The driver is to be asked.
    late: bool,
}

/// The past of items of the round at hand.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    items: HashMap<ItemId, Past, FixedState>,
}

impl Recent {
    /// Notes which items need a past, and what the cache holds of it: to be called before the
    /// cache takes in the round's values.
    pub(crate) fn prepare(&mut self, round: &Round, slots: &Slots, cache: &ValueCache) {
        self.items.clear();
        for job in &round.jobs {
            let slot = slots.get(job.slot);
            let id = slot.item.id;
            if let Some(past) = self.items.get_mut(&id) {
                past.till = past.till.max(job.at);
                past.late |= job.at < past.from;
                past.from = past.from.min(job.at);
                continue;
            }
            if job.turn > 0 {
                continue;
            }
            let newest = cache.last_two(id);
            let is_late = newest[0].as_ref().is_some_and(|point| job.at < point.at);
            if slot.seen < 2 && !is_late {
                continue;
            }
            let mut points: Vec<Point> = newest.into_iter().flatten().collect();
            points.reverse();
            // With fewer than two the process has not seen enough of the item.
            let late = points.len() < 2 || job.at < points[0].at;
            let from = points.first().map_or(job.at, |point| point.at.min(job.at));
            self.items.insert(id, Past { points, from, till: job.at, late });
        }
    }

    /// Completes the pasts: to be called once the round is written.
    pub(crate) fn complete(&mut self, round: &Round, driver: &dyn Driver) {
        if self.items.is_empty() {
            return;
        }
        for sample in &round.stored {
            if let Some(past) = self.items.get_mut(&sample.item) {
                put(&mut past.points, point(sample.clone()));
            }
        }
        let mut groups: BTreeMap<(u32, u32), Vec<ItemId>> = BTreeMap::new();
        for (id, past) in self.items.iter().filter(|(_, past)| past.late) {
            let hours = (past.from.clock / TOGETHER_S, past.till.clock / TOGETHER_S);
            groups.entry(hours).or_default().push(*id);
        }
        for ((first, last), items) in groups {
            let from = first.saturating_mul(TOGETHER_S).saturating_sub(BACK_S);
            let till = last.saturating_mul(TOGETHER_S).saturating_add(TOGETHER_S - 1);
            self.read(items, Span::new(from, till), driver);
        }
    }

    fn read(&mut self, items: Vec<ItemId>, span: Span, driver: &dyn Driver) {
        let view = driver.view(&items, span);
        for id in items {
            let Some(past) = self.items.get_mut(&id) else { continue };
            match view.samples(id, Kinds::VALUES) {
                Ok(samples) => {
                    samples.into_iter().for_each(|sample| put(&mut past.points, point(sample)));
                    past.from = Timestamp::from_s(span.from);
                }
                Err(error) => {
                    tracing::error!(%error, item = %id, "cannot read earlier values for late values");
                    self.items.remove(&id);
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }

    /// The newest `n` not after `till`, oldest first; `None` = not known here.
    pub(crate) fn newest(&self, item: ItemId, n: usize, till: Timestamp) -> Option<&[Point]> {
        let past = self.items.get(&item).filter(|past| till <= past.till)?;
        let end = past.points.partition_point(|point| point.at <= till);
        let first = end.checked_sub(n)?;
        let found = past.points.get(first..end)?;
        found.first().is_none_or(|point| point.at >= past.from).then_some(found)
    }

    /// Those after `after` and not after `till`, oldest first; `None` = not known here.
    pub(crate) fn range(
        &self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Option<&[Point]> {
        let past = self.items.get(&item)?;
        if till > past.till || after < past.from {
            return None;
        }
        let first = past.points.partition_point(|point| point.at <= after);
        let end = past.points.partition_point(|point| point.at <= till);
        past.points.get(first..end.max(first))
    }
}

fn point(sample: Sample) -> Point {
    Point { at: sample.at, value: sample.value }
}

/// Values come in order nearly always.
fn put(points: &mut Vec<Point>, point: Point) {
    if points.last().is_none_or(|last| last.at < point.at) {
        points.push(point);
        return;
    }
    let at = points.partition_point(|other| other.at < point.at);
    match points.get_mut(at) {
        Some(same) if same.at == point.at => *same = point,
        _ => points.insert(at, point),
    }
}
