use std::sync::Arc;

use model::{Sample, SampleValue, Timestamp, Trend, TrendValues};
use stdx::clock::{SharedClock, SimClock};

use super::*;
use crate::{Class, Driver, Error, Memory, Options};

const TODAY: u32 = 19_675;

fn side_of(driver: impl Driver + 'static) -> Side {
    Side::Store { driver: Box::new(driver), tells_types: true, takes: Box::new(|_, _| true) }
}

fn memory() -> Side {
    side_of(Memory::new(Arc::new(Class(31))))
}

fn embedded(dir: &std::path::Path, shards: usize) -> Side {
    let now = Duration::from_secs(u64::from(TODAY * DAY_S));
    let clock: SharedClock = SimClock::at(now);
    let options = Options { sync_interval: None, head_rows: 50, ..Options::default() };
    let (drivers, _) = crate::open_shards(dir, shards, &options, &clock, None).unwrap();
    let owner = Box::new(move |item: ItemId| item.0 as usize % shards);
    Side::Embedded { shards: drivers, owner }
}

/// Two values a day of each of 120 items, of all kinds, and a trend.
fn rows(days: RangeInclusive<u32>) -> Rows {
    let mut rows = Rows::default();
    for day in days {
        for item in 1..=120 {
            let at = |ns| Timestamp { clock: day * DAY_S + DAY_S - 1, ns };
            let value = |n: u32| match item % 3 {
                0 => SampleValue::Unsigned(u64::from(day + n)),
                1 => SampleValue::Float(if n == 0 { f64::NAN } else { -0.0 }),
                _ => SampleValue::Text(format!("{day} {n}").into()),
            };
            let of = |n| Sample { item: ItemId(item), at: at(n), value: value(n) };
            rows.samples.extend([of(0), of(1)]);
            let values = TrendValues::Float { min: f64::NAN, avg: 1.0, max: 2.0 };
            rows.trends.push(Trend { item: ItemId(item), hour: day * DAY_S, num: 2, values });
        }
    }
    rows
}

fn plan(first: u32, last: u32) -> Plan {
    let kind = |item| match item % 3 {
        0 => Kind::Unsigned,
        1 => Kind::Float,
        _ => Kind::Text,
    };
    let items = (1..=130).rev().map(|item| (kind(item), ItemId(item))).collect();
    Plan { pause: Duration::from_millis(1), ..Plan::new(items, Day(first), Day(last)) }
}

fn quiet(_: Place, _: &Totals) -> Result<(), Error> {
    Ok(())
}

#[test]
fn everything_arrives_in_both_directions_and_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (mut engine, mut store, mut back) = (embedded(dir.path(), 3), memory(), memory());
    engine.write(&rows(TODAY - 3..=TODAY)).unwrap();
    let plan = plan(TODAY - 9, TODAY);
    let run = (&plan, Place::START, true);
    let totals = copy(&engine, &mut store, run, &mut quiet).unwrap();
    assert_eq!((totals.values, totals.trends), (4 * 240, 4 * 120));
    assert!(totals.differences.is_none(), "{:?}", totals.differences);
    let other = tempfile::tempdir().unwrap();
    let mut engine_2 = embedded(other.path(), 2);
    copy(&store, &mut engine_2, run, &mut quiet).unwrap();
    copy(&engine_2, &mut back, run, &mut quiet).unwrap();
    for side in [&store, &engine_2, &back] {
        let totals = check(&engine, side, &plan, &mut quiet).unwrap();
        assert_eq!((totals.values, totals.differences.is_none()), (960, true), "{totals:?}");
    }
}

#[test]
fn an_interrupted_copy_resumes_where_it_stopped() {
    let (mut from, mut to) = (memory(), memory());
    from.write(&rows(TODAY - 3..=TODAY)).unwrap();
    let plan = plan(TODAY - 4, TODAY);
    let (mut place, mut values, mut runs) = (Place::START, 0, 0);
    loop {
        let mut last = place;
        let mut steps = 0;
        let stop = || Error::storage_away("enough");
        let done = copy(&from, &mut to, (&plan, place, true), &mut |now, totals| {
            assert!(plan.share(&now) > plan.share(&last), "{now:?} after {last:?}");
            last = Place::from_text(&now.to_text()).unwrap();
            assert_eq!(last, now);
            steps += 1;
            values += if steps == 2 { totals.values } else { 0 };
            if steps == 2 { Err(stop()) } else { Ok(()) }
        });
        runs += 1;
        match done {
            Ok(totals) => break values += totals.values,
            Err(_) => place = last,
        }
    }
    // Nothing was done twice.
    assert!(runs > 3 && values == 960, "{runs} {values}");
    assert!(check(&from, &to, &plan, &mut quiet).unwrap().differences.is_none());
    let end = Place { day: Day(TODAY), after: plan.items.last().copied() };
    assert!((plan.share(&end) - 1.0).abs() < 1e-9 && plan.share(&Place::START) <= 0.0);
}

#[test]
fn differences_are_counted_and_reported() {
    let (mut a, mut b) = (memory(), memory());
    a.write(&rows(TODAY..=TODAY)).unwrap();
    let mut less = rows(TODAY..=TODAY);
    less.samples.retain(|sample| sample.item != ItemId(9));
    less.trends[4].num = 77;
    less.samples[0].value = SampleValue::Float(f64::from_bits(f64::NAN.to_bits() ^ 1));
    let late = Timestamp { clock: TODAY * DAY_S, ns: 5 };
    let extra = Sample { item: ItemId(3), at: late, value: SampleValue::Unsigned(1) };
    less.samples.push(extra);
    b.write(&less).unwrap();
    let found = check(&a, &b, &plan(TODAY, TODAY), &mut quiet).unwrap().differences;
    assert_eq!((found.only_first, found.only_second, found.other), (2, 1, 2), "{found:?}");
    assert_eq!(found.examples.len(), 5);
    assert!(found.examples.iter().any(|line| line.starts_with("only in the second")));
    let empty = check(&a, &memory(), &plan(TODAY, TODAY), &mut quiet).unwrap().differences;
    assert_eq!((empty.only_first, empty.examples.len()), (360, EXAMPLES_MAX));
}

/// A store with faults.
struct Faulty {
    memory: Memory,
    /// Every third sample and all trends get lost.
    loses: bool,
    /// More items have too many rows for one answer.
    items_max: usize,
}

impl Faulty {
    fn side(loses: bool, items_max: usize) -> Side {
        side_of(Self { memory: Memory::new(Arc::new(Class(31))), loses, items_max })
    }
}

struct TooMany;

impl crate::View for TooMany {
    fn samples(&self, _: ItemId, _: Kinds) -> Result<Vec<Sample>, Error> {
        Err(Error::row("too many"))
    }
    fn trends(&self, _: ItemId) -> Result<Vec<Trend>, Error> {
        Err(Error::row("too many"))
    }
}

impl Driver for Faulty {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        let kept = samples.iter().enumerate().filter(|(n, _)| !self.loses || n % 3 > 0);
        self.memory.write(&kept.map(|(_, sample)| sample.clone()).collect::<Vec<_>>())
    }
    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        if self.loses { Ok(()) } else { self.memory.write_trends(trends) }
    }
    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        self.memory.clear(items)
    }
    fn view(&self, items: &[ItemId], span: Span) -> Box<dyn crate::View> {
        if items.len() > self.items_max { Box::new(TooMany) } else { self.memory.view(items, span) }
    }
    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        self.memory.drop_before(class, day)
    }
    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.memory.classes()
    }
    fn describe(&self) -> crate::DriverInfo {
        self.memory.describe()
    }
    fn counters(&self) -> crate::Counters {
        self.memory.counters()
    }
}

#[test]
fn what_did_not_arrive_is_found_while_copying() {
    let mut from = memory();
    from.write(&rows(TODAY..=TODAY)).unwrap();
    let mut to = Faulty::side(true, usize::MAX);
    let plan = plan(TODAY, TODAY);
    let run = |to: &mut Side, verify| {
        let run = (&plan, Place::START, verify);
        copy(&from, to, run, &mut quiet).unwrap().differences
    };
    let found = run(&mut to, true);
    assert_eq!((found.only_second, found.other), (0, 0));
    assert!(found.only_first >= 80 + 120, "{}", found.only_first);
    assert!(run(&mut to, false).is_none());
}

#[test]
fn items_with_too_many_rows_are_read_in_smaller_spans() {
    let all = rows(TODAY..=TODAY);
    let plan = plan(TODAY, TODAY);
    let (mut from, mut to) = (Faulty::side(false, 7), Faulty::side(false, 2));
    from.write(&all).unwrap();
    for _ in 0..2 {
        let copied = copy(&from, &mut to, (&plan, Place::START, true), &mut quiet).unwrap();
        assert_eq!((copied.values, copied.trends), (240, 120));
        assert!(copied.differences.is_none(), "{copied:?}");
    }
    let checked = check(&to, &from, &plan, &mut quiet).unwrap();
    assert!(checked.values == 240 && checked.differences.is_none(), "{checked:?}");
    let none = Faulty::side(false, 0);
    let error = check(&from, &none, &plan, &mut quiet).unwrap_err();
    assert_eq!(error.message, "too many");
}
