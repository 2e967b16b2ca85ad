use std::sync::atomic::{AtomicBool, Ordering};

use model::{SampleValue, Timestamp};
use stdx::clock::SimClock;

use super::known::ALL_SAMPLES_MAX;
use super::*;
use crate::old::Old;
use crate::value_cache::{Need, Point};
use crate::{Class, Driver as _, Kinds, Memory, ValueCache};

const ITEM: ItemId = ItemId(7);
const OTHER: ItemId = ItemId(8);
const TODAY: u32 = 20_000 * DAY_S;
const DAYS: EmbeddedDays = EmbeddedDays::always(2);

fn sample(days_ago: u32) -> Sample {
    let at = Timestamp { clock: TODAY + 7 - days_ago * DAY_S, ns: 0 };
    Sample { item: ITEM, at, value: SampleValue::Unsigned(days_ago.into()) }
}

fn since(days_ago: u32) -> Span {
    Span::new(TODAY - days_ago * DAY_S, u32::MAX)
}

struct World {
    clock: Arc<SimClock>,
    away: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<Span>>>,
    newest: Memory,
    past: Arc<Past>,
}

/// The newest values of `embedded` days are embedded, the store has one of each of ten days.
fn world(embedded: u32) -> World {
    let clock = SimClock::at(Duration::from_secs(u64::from(TODAY) + 100));
    let (away, asked) = (Arc::<AtomicBool>::default(), Arc::default());
    let samples = (0..10).rev().map(sample).collect();
    let store = Old { samples, away: Arc::clone(&away), asked: Arc::clone(&asked) };
    let kind_of = |item| (item == ITEM).then_some(ValueType::Unsigned);
    let shared: SharedClock = clock.clone();
    let past = Past::start(vec![Arc::new(store)], DAYS, &shared, Box::new(kind_of)).unwrap();
    let mut newest = Memory::new(Arc::new(Class(31)));
    newest.write(&(0..embedded).rev().map(sample).collect::<Vec<_>>()).unwrap();
    World { clock, away, asked, newest, past }
}

impl World {
    fn within(&self, span: Span) -> Result<Vec<u64>, Error> {
        let with_past = WithPast { driver: &self.newest, past: Some(&self.past) };
        let days = days_of(&with_past.within(ITEM, span)?);
        // A view for others says the same.
        let view = with_past.view(&[ITEM], span);
        assert_eq!(days_of(&view.samples(ITEM, Kinds::VALUES)?), days);
        let newest = days_of(&view.newest(ITEM, Kinds::VALUES, 100)?);
        assert!(newest.iter().rev().eq(&days), "{newest:?}");
        Ok(days)
    }

    fn newest(&self, n: usize) -> Vec<u64> {
        let with_past = WithPast { driver: &self.newest, past: Some(&self.past) };
        let newest = || days_of(&with_past.newest_of(ITEM, n).unwrap().samples);
        let before = newest();
        let view = with_past.view_newest(&[ITEM], n);
        let seen = days_of(&view.newest(ITEM, Kinds::VALUES, n).unwrap());
        // It may come meanwhile.
        let after = newest();
        assert!([&before, &after].contains(&&seen), "{seen:?}");
        after
    }

    fn asks(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn days_of(samples: &[Sample]) -> Vec<u64> {
    samples.iter().map(|sample| sample.value.as_f64().unwrap() as u64).collect()
}

/// Again and again until it is there.
fn until<T: PartialEq + std::fmt::Debug>(expected: &T, look: impl Fn() -> T) {
    for _ in 0..60_000 {
        if look() == *expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(look(), *expected);
}

#[test]
fn span_before_the_border_waits_for_the_store() {
    let world = world(3);
    assert_eq!(world.within(since(2)).unwrap(), [2, 1, 0]);
    assert_eq!(world.asks(), 0, "all of that is embedded");
    let error = world.within(since(5)).unwrap_err();
    assert!(error.retry && error.message.contains("are being read"), "{error}");
    until(&Some(vec![5, 4, 3, 2, 1, 0]), || world.within(since(5)).ok());
    assert_eq!(world.within(since(4)).unwrap(), [4, 3, 2, 1, 0]);
    let old = Span::new(TODAY - 5 * DAY_S, TODAY - 3 * DAY_S);
    assert_eq!(world.within(old).unwrap(), [5, 4]);
    assert_eq!(world.asks(), 1);
    // Farther back it is asked again.
    assert!(world.within(since(7)).is_err());
    until(&Some(vec![7, 6, 5, 4, 3, 2, 1, 0]), || world.within(since(7)).ok());
    assert_eq!(world.asks(), 2);
}

#[test]
fn items_of_which_no_store_has_more_ask_none() {
    let world = world(3);
    let with_past = WithPast { driver: &world.newest, past: Some(&world.past) };
    assert!(with_past.within(OTHER, since(9)).unwrap().is_empty());
    assert_eq!(with_past.newest_of(OTHER, 9).unwrap(), Newest { samples: vec![], partial: false });
    assert_eq!(world.asks(), 0);
}

#[test]
fn counts_take_what_is_embedded_until_older_values_have_come() {
    let world = world(3);
    assert_eq!(world.newest(3), [0, 1, 2]);
    assert_eq!(world.asks(), 0);
    assert_eq!(world.newest(5), [0, 1, 2]);
    until(&vec![0, 1, 2, 3, 4], || world.newest(5));
    // More than there are: once told, that is known.
    until(&(0..10).collect::<Vec<_>>(), || world.newest(50));
    let asks = world.asks();
    assert_eq!(world.newest(40).len(), 10);
    assert_eq!(world.asks(), asks);
}

#[test]
fn what_is_embedded_of_farther_back_may_have_holes() {
    let mut world = world(3);
    world.newest.write(&[sample(8), sample(9)]).unwrap();
    until(&vec![0, 1, 2, 3, 4], || world.newest(5));
}

#[test]
fn the_value_cache_takes_no_part_for_all() {
    let world = world(3);
    let with_past = WithPast { driver: &world.newest, past: Some(&world.past) };
    let mut cache = ValueCache::new(1 << 20);
    cache.need(ITEM, Need { count: 5, seconds: 0 });
    let cache = std::cell::RefCell::new(cache);
    let now = sample(0).at;
    let clocks = |points: &[Point]| points.iter().map(|point| point.at.clock).collect::<Vec<_>>();
    let newest = |n| clocks(&cache.borrow_mut().newest(&with_past, ITEM, n, now).unwrap());
    let since = |days_ago| {
        let after = sample(days_ago).at;
        cache.borrow_mut().range(&with_past, ITEM, after, now).map(|points| clocks(&points)).ok()
    };
    let expected = |days: u32| (0..days).rev().map(|day| sample(day).at.clock).collect::<Vec<_>>();
    world.away.store(true, Ordering::SeqCst);
    assert_eq!(newest(5), expected(3));
    assert_eq!(since(9), None, "the store was not heard");
    assert_eq!(cache.borrow().counters().windows, 0);
    world.away.store(false, Ordering::SeqCst);
    until(&expected(5), || {
        world.clock.advance(PAUSE);
        newest(5)
    });
    until(&Some(expected(9)), || since(9));
    let misses = || cache.borrow().counters().misses;
    let before = misses();
    assert_eq!((newest(5), since(9)), (expected(5), Some(expected(9))));
    assert_eq!(misses(), before);
}

#[test]
fn an_unavailable_store_is_retried_after_a_pause() {
    let world = world(3);
    world.away.store(true, Ordering::SeqCst);
    let said = |words: &str| {
        world.within(since(5)).is_err_and(|error| error.message.contains(words) && error.retry)
    };
    until(&true, || said("cannot be read now"));
    assert_eq!(world.newest(5), [0, 1, 2], "triggers that count do not wait");
    let asks = world.asks();
    world.away.store(false, Ordering::SeqCst);
    assert!(said("cannot be read now"));
    assert_eq!(world.asks(), asks);
    world.clock.advance(PAUSE);
    assert!(said("are being read"));
    until(&Some(vec![5, 4, 3, 2, 1, 0]), || world.within(since(5)).ok());
}

#[test]
fn over_midnight_functions_keep_their_values() {
    let world = world(4);
    until(&Some(vec![5, 4, 3, 2, 1, 0]), || world.within(since(5)).ok());
    world.clock.advance(Duration::from_secs(DAY_S.into()));
    // The day that left is still embedded, and comes from the store meanwhile.
    assert_eq!(world.within(since(5)).unwrap(), [5, 4, 3, 2, 1, 0]);
    until(&2, || world.asks());
    let border = TODAY - DAY_S;
    until(&true, || lock(&world.past.known).items[&ITEM].border == border);
    assert_eq!(world.within(since(5)).unwrap(), [5, 4, 3, 2, 1, 0]);
    // What is wanted moves on with the border.
    assert!(matches!(lock(&world.past.known).items[&ITEM].state, State::Here { from, .. }
        if from == TODAY - 5 * DAY_S));
    // After a longer time nothing is taken that might have a hole.
    world.clock.advance(2 * Duration::from_secs(DAY_S.into()));
    assert!(world.within(since(5)).is_err());
}

#[test]
fn memory_is_bounded() {
    let mut known = AllKnown::default();
    let here = |samples: usize, used: u64| {
        let state = State::Here { from: 0, samples: vec![sample(1); samples].into() };
        let value_type = ValueType::Unsigned;
        Known { value_type, border: TODAY, state, renewed: false, used }
    };
    for item in 1..=6 {
        known.put(ItemId(item), here(SAMPLES_MAX, item));
    }
    assert_eq!(known.samples, ALL_SAMPLES_MAX);
    let mut left: Vec<u64> = known.items.keys().map(|item| item.0).collect();
    left.sort_unstable();
    assert_eq!(left, [3, 4, 5, 6]);
    known.put(ItemId(3), here(1, 9));
    assert_eq!(known.samples, 3 * SAMPLES_MAX + 1);
}

#[test]
fn deleted_rows_are_gone_and_new_ones_are_read_by_type() {
    let world = world(3);
    until(&Some(vec![5, 4, 3, 2, 1, 0]), || world.within(since(5)).ok());
    let asks = world.asks();
    // The store has not heard of it yet.
    world.past.clear(&[ITEM, OTHER]);
    assert_eq!(world.within(since(5)).unwrap(), [2, 1, 0], "what the test's driver still has");
    assert_eq!(world.newest(9), [0, 1, 2]);
    assert_eq!((world.asks(), lock(&world.past.known).samples), (asks, 0));
    lock(&world.past.known).items.get_mut(&ITEM).unwrap().value_type = ValueType::Float;
    assert!(world.within(since(5)).is_err());
}

#[test]
fn what_was_deleted_while_it_was_read_does_not_come_back() {
    let world = world(3);
    let held = world.asked.lock().unwrap();
    assert!(world.within(since(5)).is_err());
    world.past.clear(&[ITEM]);
    drop(held);
    // One is read after the other.
    let want = Want::Since(0);
    let (value_type, border) = (ValueType::Unsigned, TODAY - 2 * DAY_S);
    let other = || Ask { item: OTHER, value_type, border, want, turn: 0 };
    until(&true, || world.past.find(other()).is_ok());
    assert_eq!(world.within(since(5)).unwrap(), [2, 1, 0]);
}

#[test]
fn deleted_rows_stay_hidden_until_the_store_has_deleted_them() {
    let world = world(4);
    world.past.clear(&[ITEM]);
    let with_past = WithPast { driver: &world.newest, past: Some(&world.past) };
    let next_day = || {
        world.clock.advance(Duration::from_secs(DAY_S.into()));
        assert_eq!(days_of(&with_past.within(ITEM, since(5)).unwrap()), [3, 2, 1, 0]);
        let border = world.past.older.border();
        until(&true, || lock(&world.past.known).items[&ITEM].border == border);
    };
    next_day();
    assert_eq!(world.within(since(5)).unwrap(), [3, 2, 1, 0], "the store has nothing newer");
    // It has what came after that: what it has before is new as well.
    lock(&world.past.known).cleared.get_mut(&ITEM).unwrap().second = TODAY - AHEAD_S;
    next_day();
    assert_eq!(world.within(since(5)).unwrap(), [5, 4, 3, 2, 1, 0]);
}

#[test]
fn deletions_are_remembered_within_bounds() {
    let mut known = AllKnown::default();
    for item in 0..=100_000 {
        known.clear(ItemId(item), TODAY);
    }
    assert!((50_000..=100_000).contains(&known.cleared.len()));
    assert!(known.cleared.contains_key(&ItemId(100_000)));
}

#[test]
fn one_query_waits_for_an_unavailable_store() {
    let world = world(3);
    world.away.store(true, Ordering::SeqCst);
    until(&true, || world.within(since(5)).is_err_and(|e| e.message.contains("cannot be read")));
    let asks = world.asks();
    lock(&world.past.known).forget(ITEM);
    until(&true, || world.within(since(6)).is_err_and(|e| e.message.contains("cannot be read")));
    assert_eq!(world.asks(), asks);
}
