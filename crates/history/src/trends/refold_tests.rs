use super::*;
use crate::trends::write;
use crate::{Class, Counters, Day, DriverInfo, Memory, View};
use model::{HOUR_S, Sample, SampleValue, Timestamp, Trend, TrendValues};
use std::sync::Arc;

const NOON: u32 = 1_700_049_600;

/// A store of which some items cannot be read.
struct Scratched {
    store: Memory,
    unreadable: Vec<ItemId>,
    forgotten: Vec<TrendHour>,
}

struct Unreadable(Box<dyn View>, Vec<ItemId>);

impl View for Unreadable {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        if self.1.contains(&item) {
            return Err(Error::storage_away("a bad sector"));
        }
        self.0.samples(item, kinds)
    }
    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.0.trends(item)
    }
}

impl Driver for Scratched {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        self.store.write(samples)
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.store.write_trends(trends)
    }
    fn forget_trends(&mut self, hours: &[TrendHour]) {
        self.forgotten.extend(hours);
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.store.clear(items)
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(Unreadable(self.store.view(items, span), self.unreadable.clone()))
    }
    fn view_newest(&self, items: &[ItemId], n: usize) -> Box<dyn View> {
        self.store.view_newest(items, n)
    }
    fn drop_before(&mut self, _: Class, _: Day) -> Result<u64, Error> {
        Ok(0)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        Ok(Vec::new())
    }
    fn describe(&self) -> DriverInfo {
        self.store.describe()
    }
    fn counters(&self) -> Counters {
        self.store.counters()
    }
}

fn sample(item: u64, clock: u32, value: u64) -> Sample {
    let value = SampleValue::Unsigned(value);
    Sample { item: ItemId(item), at: Timestamp::from_s(clock), value }
}

/// A shard after a crash at noon: items 1 and 2 have two values each, 1 is not to be read, and a
/// part of its last hour is written.
struct Shard {
    driver: Scratched,
    folder: Folder,
    refold: Refold,
    out: Vec<crate::trends::Folded>,
}

const BEFORE: u32 = NOON - HOUR_S;

impl Shard {
    fn after_a_crash(late: &[TrendHour]) -> Self {
        let mut store = Memory::new(Arc::new(Class(365)));
        for item in [1, 2] {
            store.write(&[sample(item, BEFORE + 1, 2), sample(item, NOON, 4)]).unwrap();
            store.write(&[sample(item, NOON - 5 * HOUR_S, 7)]).unwrap();
        }
        let values = TrendValues::Unsigned { min: 2, avg: 2, max: 2 };
        store.write_trends(&[Trend { item: ItemId(1), hour: BEFORE, num: 9, values }]).unwrap();
        let driver = Scratched { store, unreadable: vec![ItemId(1)], forgotten: Vec::new() };
        let refold = Refold::of(vec![ItemId(1), ItemId(2)], BEFORE, late);
        Self { driver, folder: Folder::starting_at(BEFORE), refold, out: Vec::new() }
    }

    fn value(&mut self, sample: Sample) {
        self.driver.write(std::slice::from_ref(&sample)).unwrap();
        self.folder.fold(&sample);
    }

    /// Whether all that was due could be read.
    fn run(&mut self, after_s: u64) -> bool {
        let now = Duration::from_secs(after_s);
        let mut all = true;
        loop {
            all &= self.refold.run(&mut self.driver, &mut self.folder, 1, now).is_ok();
            if !self.refold.is_under_way() {
                return all;
            }
        }
    }

    fn take(&mut self, now_s: u32) {
        self.folder.take(now_s, &mut self.out);
        write(&mut self.driver, &mut self.out).unwrap();
        self.out.clear();
    }

    /// Hour and number of values of all trends.
    fn trends(&self, item: u64) -> Vec<(u32, u32)> {
        let trends = self.driver.store.view(&[ItemId(item)], Span::ALL).trends(ItemId(item));
        trends.unwrap().iter().map(|trend| (trend.hour, trend.num)).collect()
    }
}

#[test]
fn what_cannot_be_read_is_tried_again_and_held_back_meanwhile() {
    let mut shard = Shard::after_a_crash(&[]);
    shard.value(sample(1, NOON + 10, 6));
    assert!(!shard.run(0));
    assert_eq!((shard.refold.unread(), shard.refold.failures()), (1, 1));
    // Hours pass; the other item's trends are written.
    for hour in 1..3 {
        shard.value(sample(1, NOON + hour * HOUR_S, 8));
        shard.take(NOON + hour * HOUR_S + 3_100);
    }
    assert_eq!(shard.trends(2), [(BEFORE, 1), (NOON, 1)]);
    assert_eq!(shard.trends(1), [(BEFORE, 9)]);
    let pending = shard.folder.pending(ItemId(1), BEFORE, NOON + 9 * HOUR_S);
    assert!(pending.iter().all(|folded| folded.merge), "a part hides nothing: {pending:?}");
    // Not before the pause is over.
    assert!(shard.run(9) && !shard.refold.is_done());
    assert!(!shard.run(10));
    shard.driver.unreadable.clear();
    assert!(shard.run(29) && !shard.refold.is_done());
    assert!(shard.run(30) && shard.refold.is_done());
    shard.take(NOON + 3 * HOUR_S + 3_100);
    let hour = |n: u32| NOON + n * HOUR_S;
    assert_eq!(shard.trends(1), [(BEFORE, 1), (NOON, 2), (hour(1), 1), (hour(2), 1)]);
    assert_eq!((shard.refold.unread(), shard.refold.given_up()), (0, 0));
}

#[test]
fn late_hours_that_cannot_be_read_stay_expected() {
    let hour = NOON - 5 * HOUR_S;
    let late = [1, 2, 3].map(|item| TrendHour { item: ItemId(item), hour, unsigned: true });
    let mut shard = Shard::after_a_crash(&late);
    assert!(!shard.run(0));
    assert_eq!(shard.refold.unread(), 2, "item 1, its open hours and the late one");
    assert!(shard.driver.forgotten.iter().all(|late| late.item != ItemId(1)));
    assert!(shard.driver.forgotten.contains(&late[2]), "there is nothing to fold");
    // Another late value of the hour must not make its trend seem written.
    shard.value(sample(1, hour + 1, 1));
    shard.take(NOON + HOUR_S + 3_100);
    assert_eq!(shard.trends(1), [(BEFORE, 9)]);
    shard.driver.unreadable.clear();
    assert!(shard.run(60) && shard.refold.is_done());
    shard.take(NOON + 2 * HOUR_S + 3_100);
    assert_eq!(shard.trends(1), [(hour, 2), (BEFORE, 1), (NOON, 1)]);
}

#[test]
fn what_stays_unreadable_is_given_up_and_new_values_are_added() {
    let mut shard = Shard::after_a_crash(&[]);
    let mut now_s = 0;
    shard.value(sample(1, NOON + 10, 6));
    shard.value(sample(1, BEFORE + 10, 6));
    while !shard.refold.is_done() {
        shard.run(now_s);
        now_s += 5;
        assert!(now_s < 4 * 3600, "nothing is held back for ever");
    }
    assert_eq!((shard.refold.given_up(), shard.refold.unread()), (1, 0));
    assert!(shard.refold.failures() < 30, "pauses grow: {}", shard.refold.failures());
    shard.take(NOON + HOUR_S + 3_100);
    assert_eq!(shard.trends(1), [(BEFORE, 10), (NOON, 1)]);
}

#[test]
fn a_stop_tries_once_more_and_says_if_it_failed() {
    for readable in [true, false] {
        let mut shard = Shard::after_a_crash(&[]);
        assert!(!shard.run(0));
        if readable {
            shard.driver.unreadable.clear();
        }
        let finished = shard.refold.finish(&mut shard.driver, &mut shard.folder);
        assert_eq!(finished.is_ok(), readable);
        shard.folder.drain(&mut shard.out);
        write(&mut shard.driver, &mut shard.out).unwrap();
        assert_eq!(shard.trends(2), [(BEFORE, 1), (NOON, 1)]);
        let expected: &[_] = if readable { &[(BEFORE, 1), (NOON, 1)] } else { &[(BEFORE, 9)] };
        assert_eq!(shard.trends(1), expected);
    }
}
