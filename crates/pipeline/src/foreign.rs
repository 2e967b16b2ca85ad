//! Items of other shards that triggers of this one name: their newest values, as far back as the
//! triggers look, sent by the shards that own the items.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::Newest;
use history::value_cache::{Need, Point};
use model::{ItemId, Sample, Timestamp, Trend};

/// Values kept of one item at most, whatever its triggers ask for. A function that needs more has no
/// value.
pub(crate) const POINTS_MAX: usize = 16_384;

#[derive(Debug, Default)]
struct ForeignItem {
    /// Oldest first.
    points: Vec<Point>,
    /// The newest value that triggers look back at and that was dropped for its number.
    dropped: Option<Timestamp>,
    need: Need,
    /// What was before the first sample has been fetched, of all the time that triggers look back.
    ready: bool,
    /// All of it has, whatever the number of values that triggers look back at.
    whole: bool,
    unsupported: bool,
}

/// Trends of an item, sent by its owner.
#[derive(Debug)]
struct ForeignTrends {
    /// First and last hour that was asked for.
    hours: (u32, u32),
    trends: Vec<Trend>,
    /// Seconds since 1970; after that the owner may have written more of them.
    valid_until: u64,
}

/// Trends are asked for when an evaluation needs them and used for it and those around it.
const TRENDS_VALID_S: u64 = 60;

/// Trends of other shards that an evaluation needed and did not find.
#[derive(Debug, Default)]
pub(crate) struct MissingTrends {
    /// With first and last hour.
    pub(crate) items: Vec<(ItemId, u32, u32)>,
    /// Questions for trends since the gauges were last written, answered or not.
    pub(crate) reads: u64,
}

/// All of them, by item.
#[derive(Debug, Default)]
pub(crate) struct ForeignItems {
    trends: HashMap<ItemId, ForeignTrends, FixedState>,
    items: HashMap<ItemId, ForeignItem, FixedState>,
}

impl ForeignItems {
    /// Says how far back triggers look at an item; returns whether its past is to be fetched.
    pub(crate) fn watch(&mut self, item: ItemId, need: Need) -> bool {
        let known = self.items.entry(item).or_default();
        known.ready &= need.seconds <= known.need.seconds;
        known.whole &= known.ready && need.count <= known.need.count;
        known.need = need;
        !known.whole
    }

    /// No trigger names the item any more.
    pub(crate) fn forget(&mut self, item: ItemId) {
        self.items.remove(&item);
        self.trends.remove(&item);
    }

    /// Takes in trends that were asked for; those that nobody asks for any more go.
    pub(crate) fn set_trends(
        &mut self,
        item: ItemId,
        hours: (u32, u32),
        trends: Vec<Trend>,
        now: u64,
    ) {
        self.trends.retain(|_, known| known.valid_until >= now);
        let valid_until = now + TRENDS_VALID_S;
        self.trends.insert(item, ForeignTrends { hours, trends, valid_until });
    }

    /// Trends from the first to the last of two hours; `None` = to be asked for.
    pub(crate) fn trends(&self, item: ItemId, hours: (u32, u32), now: u64) -> Option<&[Trend]> {
        let known = self.trends.get(&item).filter(|known| now <= known.valid_until)?;
        if hours.0 < known.hours.0 || hours.1 > known.hours.1 {
            return None;
        }
        let first = known.trends.partition_point(|trend| trend.hour < hours.0);
        let end = known.trends.partition_point(|trend| trend.hour <= hours.1);
        known.trends.get(first..end)
    }

    /// Values of the item were deleted at its owner.
    pub(crate) fn clear(&mut self, item: ItemId) {
        if let Some(known) = self.items.get_mut(&item) {
            known.points.clear();
            known.dropped = None;
        }
    }

    /// After the clock was set back.
    pub(crate) fn forget_trends(&mut self) {
        self.trends.clear();
    }

    /// Takes in a first part of the past, newest first; returns how many values are known now.
    pub(crate) fn add_past(&mut self, item: ItemId, samples: Vec<Sample>) -> usize {
        let Some(known) = self.items.get_mut(&item) else { return usize::MAX };
        samples.into_iter().rev().for_each(|sample| put(&mut known.points, sample));
        known.points.len()
    }

    /// Takes in what its owner had before, newest first; returns whether triggers are to hear of it.
    pub(crate) fn seed(
        &mut self,
        item: ItemId,
        past: Newest,
        unsupported: bool,
        now_s: u64,
    ) -> bool {
        let Some(known) = self.items.get_mut(&item) else { return false };
        for sample in past.samples.into_iter().rev() {
            put(&mut known.points, sample);
        }
        if !past.partial {
            // All of it was sent again.
            known.dropped = None;
        }
        trim(known, now_s);
        let news = !known.ready || !past.partial;
        known.ready = true;
        known.whole = !past.partial;
        known.unsupported = unsupported;
        news
    }

    /// Takes in a new sample; those of items that nobody watches are passed over.
    pub(crate) fn feed(&mut self, sample: Sample, now_s: u64) {
        if let Some(known) = self.items.get_mut(&sample.item) {
            known.unsupported = false;
            put(&mut known.points, sample);
            trim(known, now_s);
        }
    }

    pub(crate) fn set_supported(&mut self, item: ItemId, supported: bool) {
        if let Some(known) = self.items.get_mut(&item) {
            known.unsupported = !supported;
        }
    }

    pub(crate) fn is_unsupported(&self, item: ItemId) -> bool {
        self.items.get(&item).is_some_and(|known| known.unsupported)
    }

    /// Whether triggers that name the item can be evaluated.
    pub(crate) fn is_ready(&self, item: ItemId) -> bool {
        self.items.get(&item).is_none_or(|known| known.ready)
    }

    /// Whether the past of the item is here as far back as triggers look.
    pub(crate) fn is_whole(&self, item: ItemId) -> bool {
        self.items.get(&item).is_none_or(|known| known.whole)
    }

    /// The newest `n` not after `till`, oldest first; `None` = no such item here.
    pub(crate) fn newest(&self, item: ItemId, n: usize, till: Timestamp) -> Option<Points<'_>> {
        let known = self.items.get(&item)?;
        let end = known.points.partition_point(|p| p.at <= till);
        let found = known.points.get(end.saturating_sub(n)..end)?;
        let lacks = found.len() < n && (known.dropped.is_some() || n > POINTS_MAX);
        Some(if lacks { Err(too_many()) } else { Ok(found) })
    }

    /// Those after `after` and not after `till`, oldest first; `None` = no such item here.
    pub(crate) fn range(
        &self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Option<Points<'_>> {
        let known = self.items.get(&item)?;
        if known.dropped.is_some_and(|dropped| dropped > after) {
            return Some(Err(too_many()));
        }
        let first = known.points.partition_point(|p| p.at <= after);
        let end = known.points.partition_point(|p| p.at <= till);
        known.points.get(first..end.max(first)).map(Ok)
    }
}

/// Values, or why they are not all here.
pub(crate) type Points<'a> = Result<&'a [Point], String>;

fn too_many() -> String {
    format!(
        "it needs more than {POINTS_MAX} values of an item that another shard owns: use a shorter \
         period, or a calculated item"
    )
}

fn put(points: &mut Vec<Point>, sample: Sample) {
    let point = Point { at: sample.at, value: sample.value };
    let behind = points.partition_point(|p| p.at < point.at);
    match points.get_mut(behind) {
        Some(same) if same.at == point.at => *same = point,
        _ => points.insert(behind, point),
    }
}

/// Lets go of what no trigger looks back at; in portions, since it moves what stays. Triggers look
/// back from now where values have a time in the future.
fn trim(known: &mut ForeignItem, now_s: u64) {
    let Some(newest) = known.points.last() else { return };
    let now_s = u32::try_from(now_s).unwrap_or(u32::MAX);
    let oldest = newest.at.clock.min(now_s).saturating_sub(known.need.seconds);
    let in_time = known.points.partition_point(|p| p.at.clock < oldest);
    let count = usize::try_from(known.need.count.max(2)).unwrap_or(POINTS_MAX);
    let unneeded = in_time.min(known.points.len().saturating_sub(count));
    let gone = unneeded.max(known.points.len().saturating_sub(POINTS_MAX));
    if gone > 8 && gone * 4 > known.points.len() {
        let last = known.points.drain(..gone).next_back();
        if gone > unneeded {
            known.dropped = known.dropped.max(last.map(|point| point.at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SampleValue;

    fn sample(clock: u32) -> Sample {
        let value = SampleValue::Unsigned(clock.into());
        Sample { item: ItemId(1), at: Timestamp::from_s(clock), value }
    }

    fn newest<const N: usize>(clocks: [u32; N], partial: bool) -> Newest {
        Newest { samples: clocks.map(sample).to_vec(), partial }
    }

    fn clocks(points: Option<Points<'_>>) -> Vec<u32> {
        points.unwrap_or(Ok(&[])).unwrap().iter().map(|p| p.at.clock).collect()
    }

    #[test]
    fn past_and_present_meet() {
        let mut items = ForeignItems::default();
        items.feed(sample(5), 99_999);
        assert!(items.newest(ItemId(1), 1, Timestamp::from_s(9)).is_none());
        assert!(items.watch(ItemId(1), Need { count: 2, seconds: 0 }));
        assert!(!items.is_ready(ItemId(1)));
        items.feed(sample(10), 99_999);
        assert!(items.seed(ItemId(1), newest([10, 9, 8], false), true, 99_999));
        assert!(items.is_ready(ItemId(1)) && items.is_unsupported(ItemId(1)));
        items.feed(sample(11), 99_999);
        assert!(!items.is_unsupported(ItemId(1)));
        let at = Timestamp::from_s;
        assert_eq!(clocks(items.newest(ItemId(1), 3, at(99))), [9, 10, 11]);
        assert_eq!(clocks(items.newest(ItemId(1), 2, at(10))), [9, 10]);
        assert_eq!(clocks(items.range(ItemId(1), at(8), at(10))), [9, 10]);
        assert!(!items.watch(ItemId(1), Need { count: 2, seconds: 0 }));
        assert!(items.watch(ItemId(1), Need { count: 2, seconds: 60 }));
        items.forget(ItemId(1));
        assert!(items.range(ItemId(1), at(0), at(99)).is_none());
    }

    #[test]
    fn a_part_of_the_past_is_asked_for_again() {
        let (mut items, item, at) = (ForeignItems::default(), ItemId(1), Timestamp::from_s(99));
        let need = Need { count: 4, seconds: 0 };
        assert!(items.watch(item, need));
        assert!(items.seed(item, newest([10, 9], true), false, 99_999));
        assert!(items.is_ready(item), "triggers that count do not wait");
        assert!(items.watch(item, need));
        assert!(!items.seed(item, newest([10, 9], true), false, 99_999), "nothing new");
        assert!(items.watch(item, need));
        assert!(items.seed(item, newest([10, 9, 8, 7], false), false, 99_999));
        assert_eq!(clocks(items.newest(item, 4, at)), [7, 8, 9, 10]);
        assert!(!items.watch(item, need));
        // What has been asked for and has not come is asked for again.
        for (need, waits) in
            [(Need { count: 5, seconds: 0 }, false), (Need { count: 5, seconds: 90 }, true)]
        {
            for _ in 0..2 {
                assert!(items.watch(item, need));
                assert_eq!(items.is_ready(item), !waits, "{need:?}");
            }
            assert!(items.seed(item, newest([11], false), false, 99_999));
            assert!(!items.watch(item, need) && items.is_ready(item));
        }
    }

    #[test]
    fn memory_stays_bounded() {
        let mut items = ForeignItems::default();
        items.watch(ItemId(1), Need { count: 2, seconds: 10 });
        (1..10_000).for_each(|clock| items.feed(sample(clock), 99_999));
        let kept = clocks(items.range(ItemId(1), Timestamp::from_s(0), Timestamp::from_s(99_999)));
        assert!(kept.len() < 40, "{}", kept.len());
        assert!(kept.contains(&9_989));
    }

    #[test]
    fn a_value_from_the_future_leaves_the_period_of_now() {
        let mut items = ForeignItems::default();
        items.watch(ItemId(1), Need { count: 2, seconds: 300 });
        (1..=300).for_each(|clock| items.feed(sample(clock), clock.into()));
        items.feed(sample(4_000), 300);
        let at = Timestamp::from_s;
        assert_eq!(clocks(items.range(ItemId(1), at(0), at(300))).len(), 300);
    }

    #[test]
    fn functions_that_need_dropped_values_have_none() {
        let (mut items, at) = (ForeignItems::default(), Timestamp::from_s);
        items.watch(ItemId(1), Need { count: 2, seconds: 100_000 });
        let end = 30_000;
        (1..=end).for_each(|clock| items.feed(sample(clock), clock.into()));
        let error = items.range(ItemId(1), at(0), at(end)).unwrap().unwrap_err();
        assert!(error.contains("more than 16384 values"), "{error}");
        assert!(items.newest(ItemId(1), 25_000, at(end)).unwrap().is_err());
        assert_eq!(clocks(items.range(ItemId(1), at(end - 10_000), at(end))).len(), 10_000);
        assert_eq!(clocks(items.newest(ItemId(1), 16_000, at(end))).len(), 16_000);
        // A shorter past is sent by its owner, or all values are deleted.
        items.clear(ItemId(1));
        assert_eq!(clocks(items.range(ItemId(1), at(0), at(end))), [0; 0]);
    }
}
