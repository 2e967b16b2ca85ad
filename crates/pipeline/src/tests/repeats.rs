//! Late values, values of one moment, and values that come twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use history::{Class, Counters, Day, Driver, DriverInfo, Error, Kinds, Memory, Span, View};
use model::{ItemId, Payload, Sample, SampleValue, Timestamp, Trend, Value, ValueBatch, ValueType};
use stdx::ack;

use crate::testing::{Rig, START_S, function, host, item, memory, snapshot, trigger};

/// A history that counts the samples which are read.
struct Counted(Memory, Arc<AtomicUsize>);

impl Driver for Counted {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        self.0.write(samples)
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        self.0.write_trends(trends)
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.0.clear(items)
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(CountedView(self.0.view(items, span), Arc::clone(&self.1)))
    }
    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        self.0.drop_before(class, day)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.0.classes()
    }
    fn describe(&self) -> DriverInfo {
        self.0.describe()
    }
    fn counters(&self) -> Counters {
        self.0.counters()
    }
}

struct CountedView(Box<dyn View>, Arc<AtomicUsize>);

impl View for CountedView {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let samples = self.0.samples(item, kinds)?;
        self.1.fetch_add(samples.len(), Ordering::Relaxed);
        Ok(samples)
    }
    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.0.trends(item)
    }
}

fn value(item: u64, text: &str, clock: u32, ns: u32) -> Value {
    let at = Timestamp { clock: START_S + clock, ns };
    Value { item: ItemId(item), at, payload: Payload::Text(text.into()) }
}

fn numbers(rig: &Rig, item: u64) -> Vec<u64> {
    let number = |value: SampleValue| match value {
        SampleValue::Unsigned(v) => v,
        other => panic!("{other:?}"),
    };
    rig.stored(item).into_iter().map(number).collect()
}

fn plain() -> Rig {
    let items = vec![item(1, 1, "k", ValueType::Unsigned), item(2, 1, "l", ValueType::Unsigned)];
    Rig::new(snapshot(vec![host(1)], items, Vec::new()))
}

#[test]
fn values_of_one_moment_in_one_message_are_all_kept() {
    let mut rig = plain();
    let message = || {
        vec![
            value(1, "10", 1, 999_999_999),
            value(1, "11", 1, 999_999_999),
            value(2, "20", 1, 5),
            value(1, "12", 1, 999_999_999),
            // The moment that the second value was moved to.
            value(1, "13", 2, 0),
            value(1, "14", 3, 0),
        ]
    };
    rig.take(message());
    assert_eq!(numbers(&rig, 1), [10, 11, 12, 13, 14]);
    // The same message again leaves what is there.
    rig.take(message());
    assert_eq!(numbers(&rig, 1), [10, 11, 12, 13, 14]);
    assert_eq!(numbers(&rig, 2), [20]);
}

#[test]
fn a_doubtful_message_leaves_what_is_kept_alone() {
    let mut rig = plain();
    let counts =
        |trend: Vec<history::trends::Folded>| trend.iter().map(|f| f.trend.num).sum::<u32>();
    rig.take(vec![value(1, "1", 1, 0), value(1, "2", 2, 0)]);
    let (mut parts, waiter) = ack::split_doubtful(1);
    let values = vec![value(1, "1", 1, 0), value(1, "2", 2, 0), value(1, "3", 3, 0)];
    rig.cores[0].run(&mut vec![ValueBatch { values, ack: parts.pop() }]);
    let outcome = waiter.blocking_wait();
    assert_eq!((outcome.processed, outcome.repeated, outcome.failed), (3, 2, 0));
    assert_eq!(numbers(&rig, 1), [1, 2, 3]);
    let mut folded = Vec::new();
    rig.cores[0].folder.drain(&mut folded);
    assert_eq!(counts(folded), 3, "nothing is counted twice");
}

/// Runs a message with possible duplicates; returns the number of duplicates.
fn in_doubt(rig: &mut Rig, values: Vec<Value>) -> u64 {
    let (mut parts, waiter) = ack::split_doubtful(1);
    rig.cores[0].run(&mut vec![ValueBatch { values, ack: parts.pop() }]);
    let outcome = waiter.blocking_wait();
    assert_eq!((outcome.failed, outcome.lost), (0, false));
    outcome.repeated
}

#[test]
fn another_value_of_a_moment_that_is_kept_is_new() {
    let mut rig = plain();
    let first = || {
        vec![
            value(1, "10", 1, 999_999_999),
            value(1, "10", 1, 999_999_999),
            value(1, "11", 1, 999_999_999),
            value(2, "20", 2, 0),
        ]
    };
    rig.take(first());
    assert_eq!(numbers(&rig, 1), [10, 10, 11]);
    // Each value finds its own, also where there are equal ones.
    assert_eq!(in_doubt(&mut rig, first()), 4);
    let second = || {
        vec![
            value(1, "11", 1, 999_999_999),
            value(1, "12", 1, 999_999_999),
            value(1, "13", 1, 999_999_999),
            value(1, "14", 2, 0),
            value(2, "21", 2, 0),
            value(2, "22", 2, 1),
        ]
    };
    assert_eq!(in_doubt(&mut rig, second()), 1);
    assert_eq!(numbers(&rig, 1), [10, 10, 11, 12, 13, 14]);
    assert_eq!(numbers(&rig, 2), [20, 21, 22]);
    // Nothing of both messages is kept twice, whichever comes again.
    assert_eq!(in_doubt(&mut rig, second()), 6);
    assert_eq!(in_doubt(&mut rig, first()), 4);
    assert_eq!(numbers(&rig, 1), [10, 10, 11, 12, 13, 14]);
    assert_eq!(numbers(&rig, 2), [20, 21, 22]);
}

#[test]
fn history_is_read_around_the_moments_of_a_message_alone() {
    let read = Arc::new(AtomicUsize::new(0));
    let driver = Counted(Memory::new(Arc::new(Class(7))), Arc::clone(&read));
    let items = vec![item(1, 1, "k", ValueType::Unsigned), item(2, 1, "l", ValueType::Unsigned)];
    let drivers: Vec<Box<dyn Driver>> = vec![Box::new(driver)];
    let mut rig = Rig::with(snapshot(vec![host(1)], items, Vec::new()), drivers, Vec::new());
    let each_ten_s = |item| move |n: u32| value(item, &n.to_string(), n * 10, 0);
    rig.take((0..10_000).map(each_ten_s(1)).collect());
    rig.take((0..10_000).map(each_ten_s(2)).collect());
    read.store(0, Ordering::Relaxed);
    let message = vec![
        value(1, "0", 0, 0),
        value(2, "9999", 99_990, 0),
        value(1, "9999", 99_990, 0),
        value(1, "5000", 50_000, 0),
        value(1, "new", 50_001, 0),
    ];
    assert_eq!(in_doubt(&mut rig, message), 4);
    let read = read.load(Ordering::Relaxed);
    assert!(read < 50, "{read} samples were read for five values");
}

#[test]
fn a_long_message_is_compared_in_parts_that_know_of_each_other() {
    let mut rig = plain();
    let message = || {
        let mut values: Vec<Value> = (0..9_000).map(|n| value(1, "7", n, 0)).collect();
        // The second of these is kept in the second behind, and what stood there one further.
        values.insert(3_600, value(1, "7", 3_599, 999_999_999));
        values.insert(3_600, value(1, "7", 3_599, 999_999_999));
        values
    };
    rig.take(message());
    assert_eq!(in_doubt(&mut rig, message()), 9_002);
    assert_eq!(in_doubt(&mut rig, vec![value(1, "7", 3_600, 1), value(1, "7", 3_600, 2)]), 1);
}

#[test]
fn what_is_sent_again_in_the_round_of_the_first_time_is_known() {
    let mut rig = plain();
    let message = || vec![value(1, "1", 1, 0), value(1, "2", 2, 0)];
    let (mut first, heard) = ack::split(1);
    let (mut other, _) = ack::split_doubtful(1);
    let (mut again, heard_again) = ack::split_doubtful(1);
    let mut batches = vec![
        ValueBatch { values: message(), ack: first.pop() },
        ValueBatch { values: vec![value(2, "1", 1, 0)], ack: other.pop() },
        ValueBatch { values: message(), ack: again.pop() },
    ];
    rig.cores[0].run(&mut batches);
    assert_eq!((heard.blocking_wait().repeated, heard_again.blocking_wait().repeated), (0, 2));
    let mut folded = Vec::new();
    rig.cores[0].folder.drain(&mut folded);
    assert_eq!(folded.iter().map(|folded| folded.trend.num).sum::<u32>(), 3);
}

#[test]
fn values_that_preprocessing_changed_are_known_by_their_moment() {
    let mut changed = item(1, 1, "k", ValueType::Unsigned);
    changed.steps = [super::preprocessing::step(1, "2", 0, "")].into();
    let mut rig = Rig::new(snapshot(vec![host(1)], vec![changed], Vec::new()));
    rig.take(vec![value(1, "1", 1, 0)]);
    assert_eq!(numbers(&rig, 1), [2]);
    assert_eq!(in_doubt(&mut rig, vec![value(1, "1", 1, 0), value(1, "3", 1, 1)]), 1);
    assert_eq!(numbers(&rig, 1), [2, 6]);
}

#[test]
fn items_without_history_are_known_by_their_dependents() {
    let mut master = item(1, 1, "k", ValueType::Unsigned);
    master.history_days = 0;
    master.trends_days = 0;
    let mut dependent = item(2, 1, "l", ValueType::Unsigned);
    dependent.depend_on(ItemId(1));
    let mut rig = Rig::new(snapshot(vec![host(1)], vec![master, dependent], Vec::new()));
    rig.take(vec![value(1, "1", 1, 0)]);
    let (mut parts, waiter) = ack::split_doubtful(1);
    let values = vec![value(1, "1", 1, 0), value(1, "2", 2, 0)];
    rig.cores[0].run(&mut vec![ValueBatch { values, ack: parts.pop() }]);
    assert_eq!(waiter.blocking_wait().repeated, 1);
    assert_eq!(numbers(&rig, 2), [1, 2]);
}

/// A trigger that tells each step of more than 5.
fn jumps() -> Rig {
    let mut jump = trigger(1, "{1}>5", &[1]);
    jump.functions = Box::from([function(1, 1, "change", "")]);
    let items = vec![item(1, 1, "k", ValueType::Unsigned)];
    Rig::with(snapshot(vec![host(1)], items, vec![jump]), vec![memory()], Vec::new())
}

#[test]
fn each_value_of_a_burst_is_seen_with_the_one_before() {
    let mut rig = jumps();
    rig.send(1, &[("0", 1), ("1", 2)]);
    rig.found();
    rig.send(1, &[("2", 3), ("9", 4), ("10", 5), ("30", 6), ("31", 7)]);
    let expected = [
        "1 problem @4 trigger 1",
        "1 ok @5 trigger 1",
        "1 problem @6 trigger 1",
        "1 ok @7 trigger 1",
    ];
    assert_eq!(rig.found(), expected);
    let misses = rig.cores[0].cache.counters().misses;
    rig.send(1, &[("32", 8), ("33", 9), ("34", 10), ("35", 11)]);
    assert_eq!(rig.cores[0].cache.counters().misses, misses, "memory answers");
}

#[test]
fn late_values_are_seen_in_their_own_time() {
    let mut rig = jumps();
    rig.send(1, &[("0", 1), ("1", 2)]);
    rig.send(1, &[("100", 1_000), ("101", 1_001), ("102", 1_002)]);
    rig.found();
    let misses = rig.cores[0].cache.counters().misses;
    rig.send(1, &[("2", 500), ("20", 501), ("21", 502), ("40", 503)]);
    let expected = ["1 problem @501 trigger 1", "1 ok @502 trigger 1", "1 problem @503 trigger 1"];
    assert_eq!(rig.found(), expected);
    assert_eq!(rig.cores[0].cache.counters().misses, misses, "one read tells all");
}

#[test]
fn a_value_of_long_ago_makes_no_other_items_history_be_read() {
    let disk = crate::testing::Disk::default();
    let items =
        vec![item(1, 1, "old", ValueType::Unsigned), item(2, 1, "new", ValueType::Unsigned)];
    let config = || {
        snapshot(
            vec![host(1)],
            items.clone(),
            vec![trigger(1, "{1}>5", &[1]), trigger(2, "{1}>5", &[2])],
        )
    };
    let mut rig = Rig::with(config(), vec![Box::new(disk.clone())], Vec::new());
    let past = (0..2_000).map(|n| value(2, "1", n, 0));
    rig.take(past.collect());
    let mut rig = Rig::with(config(), vec![Box::new(disk.clone())], Vec::new());
    let before = disk.read.load(Ordering::Relaxed);
    let at = Timestamp::from_s(1);
    let ancient = Value { item: ItemId(1), at, payload: Payload::Text("1".into()) };
    let mut values = vec![ancient.clone(), Value { at: Timestamp::from_s(2), ..ancient }];
    values.extend([value(2, "1", 90_000, 0), value(2, "1", 90_001, 0)]);
    rig.take(values);
    let read = disk.read.load(Ordering::Relaxed) - before;
    assert!(read < 100, "{read} samples were read");
}
