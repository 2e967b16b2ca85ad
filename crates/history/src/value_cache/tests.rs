use super::*;
use crate::Driver as _;
use crate::{Class, Memory};
use std::sync::Arc;

fn sample(item: u64, clock: u32, value: u64) -> Sample {
    Sample { item: ItemId(item), at: Timestamp::from_s(clock), value: SampleValue::Unsigned(value) }
}

fn clocks(points: &[Point]) -> Vec<u32> {
    points.iter().map(|p| p.at.clock).collect()
}

/// A cache before a driver, fed alike.
struct Both {
    cache: ValueCache,
    driver: Memory,
}

impl Both {
    fn new(bytes_max: usize) -> Self {
        Self { cache: ValueCache::new(bytes_max), driver: Memory::new(Arc::new(Class(31))) }
    }
    fn put(&mut self, samples: &[Sample]) {
        self.cache.feed(samples);
        self.driver.write(samples).unwrap();
    }
    fn newest(&mut self, item: u64, n: usize, till: u32) -> Vec<u32> {
        let till = Timestamp::from_s(till);
        clocks(&self.cache.newest(&self.driver, ItemId(item), n, till).unwrap())
    }
    fn range(&mut self, item: u64, after: u32, till: u32) -> Vec<u32> {
        let (after, till) = (Timestamp::from_s(after), Timestamp::from_s(till));
        clocks(&self.cache.range(&self.driver, ItemId(item), after, till).unwrap())
    }
    fn hits_misses(&self) -> (u64, u64) {
        (self.cache.counters().hits, self.cache.counters().misses)
    }
}

#[test]
fn the_last_two_values_are_known_of_every_item() {
    let mut both = Both::new(1 << 20);
    assert_eq!(both.cache.last_two(ItemId(1)), [None, None]);
    for (clock, expected) in [
        (10, [Some(10), None]),
        (20, [Some(20), Some(10)]),
        (15, [Some(20), Some(15)]),
        (5, [Some(20), Some(15)]),
        (20, [Some(20), Some(15)]),
        (30, [Some(30), Some(20)]),
    ] {
        both.put(&[sample(1, clock, u64::from(clock))]);
        let got = both.cache.last_two(ItemId(1)).map(|p| p.map(|p| p.at.clock));
        assert_eq!(got, expected, "after {clock}");
    }
    assert_eq!(both.newest(1, 2, 30), [20, 30]);
    assert_eq!(both.newest(1, 1, 29), [20]);
    assert_eq!(both.hits_misses(), (2, 0));
    assert_eq!(both.newest(1, 1, 19), [15]);
    assert_eq!(both.hits_misses(), (2, 1));
    both.cache.forget(ItemId(1));
    assert_eq!(both.cache.last_two(ItemId(1)), [None, None]);
}

#[test]
fn a_window_is_loaded_once_and_fed_then() {
    let mut both = Both::new(1 << 20);
    both.driver.write(&(0..100).map(|i| sample(1, i * 60, 0)).collect::<Vec<_>>()).unwrap();
    both.cache.need(ItemId(1), Need { count: 5, seconds: 600 });
    assert_eq!(both.newest(1, 5, 5940), [5700, 5760, 5820, 5880, 5940]);
    assert_eq!(both.range(1, 5340, 5940).len(), 10);
    assert_eq!(both.hits_misses(), (0, 2));
    for i in 100..200 {
        both.put(&[sample(1, i * 60, 0)]);
        let now = i * 60;
        assert_eq!(both.newest(1, 5, now), [now - 240, now - 180, now - 120, now - 60, now]);
        assert_eq!(both.range(1, now - 600, now).len(), 10);
    }
    assert_eq!(both.hits_misses(), (200, 2));
    let counters = both.cache.counters();
    assert!(counters.bytes < 200 * size_of::<Point>(), "{counters:?}");
    assert_eq!((counters.windows, counters.items), (1, 1));
    both.cache.need(ItemId(1), Need::default());
    assert_eq!((both.cache.counters().bytes, both.cache.counters().windows), (0, 0));
}

#[test]
fn fewer_values_than_asked_for_is_an_answer() {
    let mut both = Both::new(1 << 20);
    both.cache.need(ItemId(1), Need { count: 10, seconds: 0 });
    assert_eq!(both.newest(1, 10, 100), [0; 0]);
    both.put(&[sample(1, 7, 0), sample(1, 5, 0)]);
    assert_eq!(both.newest(1, 10, 100), [5, 7]);
    assert_eq!(both.hits_misses(), (1, 1));
}

#[test]
fn windows_stay_below_the_limit_and_answers_stay_right() {
    let mut both = Both::new(20_000);
    for item in 0..50 {
        both.driver.write(&(0..40).map(|c| sample(item, c, 0)).collect::<Vec<_>>()).unwrap();
        both.cache.need(ItemId(item), Need { count: 30, seconds: 0 });
    }
    for round in 0..3 {
        for item in 0..50 {
            assert_eq!(both.newest(item, 30, 39), (10..40).collect::<Vec<_>>(), "{round} {item}");
            assert!(both.cache.counters().bytes <= 20_000);
        }
    }
    let counters = both.cache.counters();
    assert!(counters.evictions > 0 && counters.windows > 0, "{counters:?}");
    for item in 0..50 {
        both.cache.need(ItemId(item), Need::default());
    }
    assert_eq!((both.cache.counters().bytes, both.cache.counters().windows), (0, 0));
}

proptest::proptest! {
    /// Whatever is asked in whatever order: the answer is the driver's.
    #[test]
    fn agrees_with_the_driver(
        steps in proptest::collection::vec((0u64..4, 0u32..200, 0usize..12, 0u32..80), 1..80),
        bytes_max in 0usize..20_000,
    ) {
        let mut both = Both::new(bytes_max);
        for item in 0..3 {
            both.cache.need(ItemId(item), Need { count: 6, seconds: 40 });
        }
        for (item, clock, n, back) in steps {
            both.put(&[sample(item, clock, 1)]);
            let all = both.driver.newest(ItemId(item), usize::MAX).unwrap();
            let all: Vec<u32> = all.iter().rev().map(|s| s.at.clock).collect();
            let from = clock.saturating_sub(back);
            let inside: Vec<u32> =
                all.iter().copied().filter(|&c| c > from && c <= clock).collect();
            proptest::prop_assert_eq!(both.range(item, from, clock), inside);
            let before: Vec<u32> = all.into_iter().filter(|&c| c <= clock).collect();
            let newest = before[before.len().saturating_sub(n)..].to_vec();
            proptest::prop_assert_eq!(both.newest(item, n, clock), newest);
        }
    }
}

#[test]
fn a_late_value_after_a_start_does_not_hide_what_history_has() {
    let mut both = Both::new(1 << 20);
    both.driver.write(&[sample(1, 5, 5)]).unwrap();
    both.put(&[sample(1, 10, 10)]);
    both.put(&[sample(1, 3, 3)]);
    assert_eq!(both.cache.last_two(ItemId(1))[1], None, "3 may not be the one before");
    assert_eq!(both.newest(1, 2, 99), [5, 10]);
    both.cache.warm(&[sample(1, 10, 10), sample(1, 5, 5)]);
    assert_eq!(both.cache.last_two(ItemId(1)).map(|p| p.map(|p| p.at.clock)), [Some(10), Some(5)]);
}
