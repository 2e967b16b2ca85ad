//! Values in, samples out.

use model::{ItemId, Payload, SampleValue, Timestamp, Value, ValueType};
use stdx::ack::Outcome;

use crate::testing::{Rig, START_S, host, item, snapshot};

fn rig() -> Rig {
    let mut off = item(5, 1, "off", ValueType::Unsigned);
    off.enabled = false;
    let mut rule = item(6, 1, "rule", ValueType::Text);
    rule.discovery_rule = true;
    let mut part = item(8, 1, "part", ValueType::Unsigned);
    part.depend_on(ItemId(7));
    let mut deep = item(9, 1, "deep", ValueType::Float);
    deep.depend_on(ItemId(8));
    let mut rule_of = item(10, 1, "rule of", ValueType::Text);
    rule_of.depend_on(ItemId(7));
    rule_of.discovery_rule = true;
    let items = vec![
        item(1, 1, "unsigned", ValueType::Unsigned),
        item(2, 1, "float", ValueType::Float),
        item(3, 1, "char", ValueType::Char),
        item(4, 1, "log", ValueType::Log),
        off,
        rule,
        item(7, 1, "master", ValueType::Char),
        part,
        deep,
        rule_of,
    ];
    Rig::new(snapshot(vec![host(1)], items, Vec::new()))
}

#[test]
fn values_are_typed_counted_and_acknowledged() {
    let mut rig = rig();
    let outcome = rig.send_many(&[
        (1, "5", 1),
        (1, "x", 2),
        (2, "1.5", 1),
        (3, "text", 1),
        (4, "line", 1),
        (5, "1", 1),
        (99, "1", 1),
    ]);
    assert_eq!(outcome, Outcome { processed: 5, failed: 2, ..Outcome::default() });
    assert_eq!(rig.stored(1), [SampleValue::Unsigned(5)]);
    assert_eq!(rig.stored(2), [SampleValue::Float(1.5)]);
    assert_eq!(rig.stored(3), [SampleValue::Text("text".into())]);
    assert_eq!(rig.stored(4).len(), 1);
    assert!(rig.stored(5).is_empty());
    let gauges = rig.cores[0].gauges.read();
    assert_eq!((gauges.values, gauges.refused, gauges.unsupported), (4, 2, 1));
    assert_eq!(gauges.by_type, [1, 1, 1, 1, 0, 0]);
}

#[test]
fn unsupported_and_back() {
    let mut rig = rig();
    for (value, error) in [
        ("1", ""),
        ("!no such thing", "no such thing"),
        (
            "x",
            "Value of type \"string\" is not suitable for value type \"Numeric (unsigned)\". \
             Value \"x\"",
        ),
        ("2", ""),
    ] {
        rig.send(1, &[(value, 1)]);
        assert_eq!(rig.error_of(1), error, "{value}");
        assert_eq!(rig.cores[0].slots.unsupported(), usize::from(!error.is_empty()));
    }
    // Positions of log files are no values.
    let meta = Value { item: ItemId(1), at: Timestamp::from_s(START_S), payload: Payload::Meta };
    assert_eq!(rig.take(vec![meta]).processed, 1);
    assert_eq!(rig.stored(1).len(), 1);
}

#[test]
fn dependent_items_get_the_masters_value() {
    let mut rig = rig();
    // Longer than the master's own type keeps, and cut there alone.
    let long = format!("{}7", " ".repeat(300));
    rig.send(7, &[("42", 1), ("x", 2), (&long, 3)]);
    assert_eq!(rig.stored(7).len(), 3);
    assert_eq!(rig.stored(8), [SampleValue::Unsigned(42), SampleValue::Unsigned(7)]);
    assert_eq!(rig.stored(9), [SampleValue::Float(42.0), SampleValue::Float(7.0)]);
    assert_eq!(rig.error_of(8), "");
    let found: Vec<_> = std::iter::from_fn(|| rig.lld.try_recv()).collect();
    assert_eq!(found.len(), 3);
    // An error goes on to the dependent items, a value that only the master cannot keep does not.
    rig.send(7, &[("!away", 4)]);
    assert_eq!([7, 8, 9].map(|id| rig.error_of(id)), ["away", "away", "away"]);
}

#[test]
fn discovery_rules_tell_the_discovery_worker() {
    let mut rig = rig();
    rig.send(6, &[("[{\"a\":1}]", 1), ("!broken", 2)]);
    let found: Vec<_> = std::iter::from_fn(|| rig.lld.try_recv()).collect();
    let rows: Vec<_> = found.into_iter().map(|found| (found.rule.0, found.rows)).collect();
    assert_eq!(rows, [(6, Ok("[{\"a\":1}]".to_owned())), (6, Err("broken".to_owned()))]);
    assert!(rig.stored(6).is_empty());
}

#[test]
fn a_driver_that_refuses_acknowledges_nothing() {
    struct Broken(Box<dyn history::Driver>);
    impl history::Driver for Broken {
        fn write(&mut self, _: &[model::Sample]) -> Result<(), history::Error> {
            Err(history::Error::storage_away("the disk is full"))
        }
        fn write_trends(&mut self, trends: &[model::Trend]) -> Result<(), history::Error> {
            self.0.write_trends(trends)
        }
        fn clear(&mut self, items: &[ItemId]) -> Result<(), history::Error> {
            self.0.clear(items)
        }
        fn sync(&mut self) -> Result<(), history::Error> {
            self.0.sync()
        }
        fn maintain(&mut self) -> Result<(), history::Error> {
            self.0.maintain()
        }
        fn view(&self, items: &[ItemId], span: history::Span) -> Box<dyn history::View> {
            self.0.view(items, span)
        }
        fn view_newest(&self, items: &[ItemId], n: usize) -> Box<dyn history::View> {
            self.0.view_newest(items, n)
        }
        fn drop_before(
            &mut self,
            class: history::Class,
            day: history::Day,
        ) -> Result<u64, history::Error> {
            self.0.drop_before(class, day)
        }
        fn classes(&self) -> Result<Vec<history::Class>, history::Error> {
            self.0.classes()
        }
        fn describe(&self) -> history::DriverInfo {
            self.0.describe()
        }
        fn counters(&self) -> history::Counters {
            self.0.counters()
        }
    }
    let items = vec![item(1, 1, "a", ValueType::Float)];
    let trigger = crate::testing::trigger(1, "{1}>5", &[1]);
    let config = snapshot(vec![host(1)], items, vec![trigger]);
    let driver = Box::new(Broken(crate::testing::memory()));
    let mut rig = Rig::with(config, vec![driver], Vec::new());
    let outcome = rig.send(1, &[("9", 1)]);
    assert!(outcome.lost);
    assert!(rig.found().is_empty());
    assert_eq!(rig.cores[0].gauges.read().lost, 1);
}

#[test]
fn trends_are_folded_and_written_at_the_end() {
    let mut rig = rig();
    rig.send(1, &[("1", 1), ("3", 2), ("5", 3)]);
    rig.pass(3_700);
    let finished = rig.cores[0].finish();
    assert!(finished.is_ok());
    let view = rig.cores[0].driver.view(&[ItemId(1)], history::Span::ALL);
    let trends = view.trends(ItemId(1)).unwrap();
    assert_eq!(trends.len(), 1);
    assert_eq!((trends[0].hour, trends[0].num), (START_S, 3));
    let expected = model::TrendValues::Unsigned { min: 1, avg: 3, max: 5 };
    assert_eq!(trends[0].values, expected);
}

#[test]
fn trends_are_computed_again_from_history_after_a_crash() {
    let sample = |clock: u32, value: u64| model::Sample {
        item: ItemId(1),
        at: Timestamp::from_s(clock),
        value: SampleValue::Unsigned(value),
    };
    // A crash in the middle of writing: half of the last hour's trend is stored, none of this
    // hour's.
    let hour = START_S - 3_600;
    let stale = model::Trend {
        item: ItemId(1),
        hour,
        num: 1,
        values: model::TrendValues::Unsigned { min: 1, avg: 1, max: 1 },
    };
    let mut driver = crate::testing::memory();
    driver.write(&[sample(hour, 1), sample(hour + 9, 9), sample(START_S, 4)]).unwrap();
    driver.write_trends(&[stale]).unwrap();
    let items = vec![item(1, 1, "k", ValueType::Unsigned)];
    let config = snapshot(vec![host(1)], items, Vec::new());
    let mut rig = Rig::after(config, vec![driver], Vec::new(), true);
    rig.send(1, &[("6", 1)]);
    rig.pass(5);
    rig.send(1, &[("8", 6)]);
    rig.cores[0].finish().unwrap();
    let view = rig.cores[0].driver.view(&[ItemId(1)], history::Span::ALL);
    let trends: Vec<_> =
        view.trends(ItemId(1)).unwrap().iter().map(|t| (t.hour, t.num, t.values)).collect();
    let values = |min, avg, max| model::TrendValues::Unsigned { min, avg, max };
    assert_eq!(trends, [(hour, 2, values(1, 5, 9)), (START_S, 3, values(4, 6, 8))]);
}

#[test]
fn idle_items_cost_little() {
    let items = (1..=20_000).map(|id| item(id, 1, &format!("k{id}"), ValueType::Float));
    let mut rig = Rig::new(snapshot(vec![host(1)], items.collect(), Vec::new()));
    let values = (1..=20_000).map(|id| Value {
        item: ItemId(id),
        at: Timestamp::from_s(START_S),
        payload: Payload::Float(1.0),
    });
    rig.take(values.collect());
    let core = &rig.cores[0];
    let bytes = core.slots.bytes() + core.cache.latest_bytes();
    assert!(bytes / 20_000 <= 160, "{} bytes per item", bytes / 20_000);
}

/// A step as the API gives it.
pub(super) fn step(
    kind: u8,
    params: &str,
    on_error: u8,
    error_params: &str,
) -> eval::preproc::Step {
    eval::preproc::Step::from_api(kind, params, on_error, error_params).unwrap()
}

#[test]
fn steps_run_and_remember() {
    let steps = |steps: Vec<eval::preproc::Step>| steps.into();
    let mut rate = item(1, 1, "rate", ValueType::Unsigned);
    rate.steps = steps(vec![step(10, "", 0, ""), step(1, "8", 0, "")]);
    let mut json = item(2, 1, "json", ValueType::Float);
    json.steps = steps(vec![step(12, "$.a", 0, "")]);
    json.depend_on(ItemId(3));
    let mut throttled = item(4, 1, "throttled", ValueType::Char);
    throttled.steps = steps(vec![step(19, "", 0, "")]);
    let mut forgiving = item(5, 1, "forgiving", ValueType::Char);
    forgiving.steps = steps(vec![step(26, "-1", 2, "none")]);
    let mut script = item(6, 1, "script", ValueType::Unsigned);
    script.steps = steps(vec![step(21, "return value * 2", 0, "")]);
    let items = vec![rate, json, item(3, 1, "doc", ValueType::Text), throttled, forgiving, script];
    let mut rig = Rig::new(snapshot(vec![host(1)], items, Vec::new()));
    let unsigned = SampleValue::Unsigned;
    let text = |text: &str| SampleValue::Text(text.into());
    for (item, values, of, stored) in [
        (1, [("100", 1), ("110", 3), ("120", 4)], 1, vec![unsigned(40), unsigned(80)]),
        (
            3,
            [("{\"a\":1.5}", 1), ("{}", 2), ("{\"a\":2}", 3)],
            2,
            vec![SampleValue::Float(1.5), SampleValue::Float(2.0)],
        ),
        (4, [("x", 1), ("x", 2), ("y", 3)], 4, vec![text("x"), text("y")]),
        (5, [("x", 1), ("!gone", 2), ("y", 3)], 5, vec![text("x"), text("none"), text("y")]),
        (6, [("1", 1), ("x", 2), ("3", 3)], 6, vec![unsigned(2), unsigned(6)]),
    ] {
        // Value by value and all at once: what the steps remember lies between batches too.
        for (text, clock) in values {
            rig.send(item, &[(text, clock)]);
        }
        assert_eq!(rig.stored(of), stored, "item {item}");
    }
    assert_eq!(rig.error_of(2), "");
    rig.send(3, &[("[]", 9)]);
    let error = rig.error_of(2);
    assert!(error.starts_with("Preprocessing failed for: []\n1. Failed: "), "{error}");
    let remembering = [1, 2, 4, 5]
        .map(|id| rig.cores[0].slots.peek(ItemId(id)).is_some_and(|slot| slot.state.is_some()));
    assert_eq!(remembering, [true, false, true, false]);
}
