//! One suite for all drivers: what the trait promises holds for each of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buckets;
#[cfg(feature = "servers")]
mod clocks;
#[path = "../../../history/tests/simulator/random.rs"]
mod random;
#[cfg(feature = "servers")]
mod records;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use history::{
    Class, Day, Driver, Embedded, Kind, Kinds, Memory, Null, Order, RangeQuery, Retention, Span,
    range_of,
};
use model::{ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues, ValueType};
use stdx::clock::{SharedClock, SimClock};

const DAY: u32 = 86_400;
const NOW: u32 = 19_675 * DAY + 1000;
const ITEM: ItemId = ItemId(7);

/// An item whose retention is changed.
const CHANGED: ItemId = ItemId(500);
static IS_CHANGED: AtomicBool = AtomicBool::new(false);

/// Items from 1000 on are kept for 3 days, others for 31, trends for a year.
struct Classes;

impl Retention for Classes {
    fn class(&self, item: ItemId, kind: Kind) -> Class {
        match (kind.is_trend(), item.0) {
            (true, _) => Class(365),
            (false, 1000..) => Class(3),
            (false, 500) if IS_CHANGED.load(Ordering::Relaxed) => Class(7),
            (false, _) => Class(31),
        }
    }
}

/// A driver under test; the directory lives as long as it.
struct Case {
    name: &'static str,
    driver: Box<dyn Driver>,
    _dir: Option<tempfile::TempDir>,
}

fn embedded(name: &'static str, head_rows: usize, durable: bool) -> Case {
    let dir = tempfile::tempdir().unwrap();
    let clock: SharedClock = SimClock::at(Duration::from_secs(NOW.into()));
    let retention = Arc::new(Classes);
    let options = tsdb::Options {
        head_rows,
        durable,
        sync_interval: None,
        retention,
        ..tsdb::Options::default()
    };
    let (driver, _) = Embedded::open(dir.path(), options, clock).unwrap();
    Case { name, driver: Box::new(driver), _dir: Some(dir) }
}

/// A database of its own on each server that the environment names: `VEDETTE_CLICKHOUSE` such as
/// `http://127.0.0.1:8123`, `VEDETTE_CASSANDRA` such as `cassandra://127.0.0.1:9042`,
/// `VEDETTE_HBASE` such as `http://127.0.0.1:8080`,
/// `VEDETTE_RIAK` such as `http://127.0.0.1:8098`,
/// `VEDETTE_OPENSEARCH` such as `http://127.0.0.1:9200`, `VEDETTE_POSTGRESQL` such as
/// `postgresql://postgres@127.0.0.1:5432`, `VEDETTE_MYSQL` such as `mysql://root@127.0.0.1:3306`.
#[cfg(feature = "servers")]
fn stores() -> Vec<Case> {
    stores_at(&new_database(), &stdx::clock::RealClock::shared())
}

#[cfg(feature = "servers")]
fn new_database() -> String {
    use std::sync::atomic::AtomicU32;
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("suite_{}_{number}", std::process::id())
}

#[cfg(feature = "servers")]
#[expect(clippy::disallowed_methods, reason = "the script that starts the servers tells where")]
fn stores_at(database: &str, clock: &SharedClock) -> Vec<Case> {
    let clock = || Arc::clone(clock);
    let mut cases = Vec::new();
    let mut add = |name, store: &dyn history::Store| {
        cases.push(Case { name, driver: store.driver(), _dir: None });
    };
    if let Ok(server) = std::env::var("VEDETTE_CLICKHOUSE") {
        let url = format!("{server}/{database}");
        add(CLICKHOUSE, &::stores::ClickHouse::new(&url, Arc::new(Classes), clock()).unwrap());
    }
    if let Ok(server) = std::env::var("VEDETTE_POSTGRESQL") {
        let url = format!("{server}/{database}");
        let store = ::stores::open_postgresql(&url, Arc::new(Classes), clock()).unwrap();
        add(POSTGRESQL, store.as_ref());
    }
    if let Ok(server) = std::env::var("VEDETTE_MYSQL") {
        let url = format!("{server}/{database}");
        let store = ::stores::open_mysql(&url, Arc::new(Classes), clock()).unwrap();
        add(MYSQL, store.as_ref());
    }
    if let Ok(server) = std::env::var("VEDETTE_CASSANDRA") {
        let url = format!("{server}/{database}");
        add(CASSANDRA, &::stores::Cassandra::new(&url, Arc::new(Classes), clock()).unwrap());
    }
    if let Ok(server) = std::env::var("VEDETTE_HBASE") {
        let url = format!("{server}/{database}");
        add(HBASE, &::stores::HBase::new(&url, Arc::new(Classes), clock()).unwrap());
    }
    if let Ok(server) = std::env::var("VEDETTE_RIAK") {
        let url = format!("{server}/{database}");
        add(RIAK, &::stores::Riak::new(&url, Arc::new(Classes), clock()).unwrap());
    }
    if let Ok(server) = std::env::var("VEDETTE_OPENSEARCH") {
        let url = format!("{server}/{database}");
        add(OPENSEARCH, &::stores::OpenSearch::new(&url, Arc::new(Classes)).unwrap());
    }
    assert!(!cases.is_empty(), "tests/stores/with_store.py tells which servers there are");
    cases
}

/// A new database on the ClickHouse that the environment names, if it names one.
#[cfg(feature = "servers")]
#[expect(clippy::disallowed_methods, reason = "the script that starts the servers tells where")]
fn clickhouse() -> Option<String> {
    Some(format!("{}/{}", std::env::var("VEDETTE_CLICKHOUSE").ok()?, new_database()))
}

#[cfg(not(feature = "servers"))]
fn stores() -> Vec<Case> {
    Vec::new()
}

const CLICKHOUSE: &str = "clickhouse";
const POSTGRESQL: &str = "postgresql";
const MYSQL: &str = "mysql";
const CASSANDRA: &str = "cassandra";
const HBASE: &str = "hbase";
const RIAK: &str = "riak";
const OPENSEARCH: &str = "opensearch";

impl Case {
    /// Its views show the moment at which they are made; else that at which they are read.
    fn has_moments(&self) -> bool {
        ![CLICKHOUSE, CASSANDRA, HBASE, OPENSEARCH, POSTGRESQL, MYSQL, RIAK].contains(&self.name)
    }
}

/// Everything that keeps what it is given.
fn keepers() -> Vec<Case> {
    let mut all = vec![
        Case { name: "memory", driver: Box::new(Memory::new(Arc::new(Classes))), _dir: None },
        embedded("embedded, all in the head", 1_000_000, false),
        embedded("embedded, nearly all sealed", 3, true),
    ];
    all.extend(stores());
    all
}

fn at(clock: u32, ns: u32, value: SampleValue) -> Sample {
    Sample { item: ITEM, at: Timestamp { clock, ns }, value }
}

fn unsigned(clock: u32, value: u64) -> Sample {
    at(clock, 0, SampleValue::Unsigned(value))
}

fn all(case: &Case, item: ItemId) -> Vec<Sample> {
    case.driver.view(&[item], Span::ALL).samples(item, Kinds::VALUES).unwrap()
}

#[test]
fn every_type_comes_back_as_it_was() {
    let meta = LogMeta { timestamp: 5, source: "kernel".into(), severity: 3, eventid: 77 };
    let values = [
        SampleValue::Float(0.1),
        SampleValue::Float(f64::INFINITY),
        SampleValue::Float(-0.0),
        SampleValue::Unsigned(u64::MAX),
        SampleValue::Text("".into()),
        SampleValue::Text("ünï¢öde".into()),
        SampleValue::Text("\u{1f980}\t\n\\'\0\u{10ffff}".into()),
        SampleValue::Text("x".repeat(300_000).into()),
        SampleValue::Text("\u{e9}".repeat(32 << 10).into()),
        SampleValue::Log(Box::new(("line".into(), meta))),
        SampleValue::Log(Box::new(("".into(), LogMeta::default()))),
    ];
    for mut case in keepers() {
        let samples: Vec<Sample> =
            (0..).zip(&values).map(|(i, value)| at(NOW + i, i, value.clone())).collect();
        case.driver.write(&samples).unwrap();
        assert_eq!(all(&case, ITEM), samples, "{}", case.name);
        let view = case.driver.view(&[ITEM], Span::ALL);
        for (kind, range) in
            [(Kind::Float, 0..3), (Kind::Unsigned, 3..4), (Kind::Text, 4..9), (Kind::Log, 9..11)]
        {
            let got = view.samples(ITEM, kind.into()).unwrap();
            assert_eq!(got, samples[range], "{} {kind:?}", case.name);
        }
    }
}

#[test]
fn not_a_number_keeps_its_bits() {
    for mut case in keepers() {
        let nan = f64::from_bits(0xfff8_0000_dead_beef);
        case.driver.write(&[at(NOW, 0, SampleValue::Float(nan))]).unwrap();
        let got = all(&case, ITEM);
        let [Sample { value: SampleValue::Float(value), .. }] = got[..] else { panic!("{got:?}") };
        assert_eq!(value.to_bits(), nan.to_bits(), "{}", case.name);
    }
}

#[test]
fn late_samples_find_their_place_and_the_last_of_equals_wins() {
    for mut case in keepers() {
        for batch in [
            vec![unsigned(NOW, 1), unsigned(NOW + 10, 2), unsigned(NOW + 20, 3)],
            vec![unsigned(NOW + 5, 4), unsigned(NOW - 9 * DAY, 5)],
            vec![unsigned(NOW + 10, 6), unsigned(NOW + 10, 7)],
            vec![unsigned(NOW + 20, 8), at(NOW + 20, 1, SampleValue::Unsigned(9))],
        ] {
            case.driver.write(&batch).unwrap();
        }
        let got: Vec<(u32, u32, f64)> = all(&case, ITEM)
            .iter()
            .map(|s| (s.at.clock, s.at.ns, s.value.as_f64().unwrap()))
            .collect();
        let expected = [
            (NOW - 9 * DAY, 0, 5.0),
            (NOW, 0, 1.0),
            (NOW + 5, 0, 4.0),
            (NOW + 10, 0, 7.0),
            (NOW + 20, 0, 8.0),
            (NOW + 20, 1, 9.0),
        ];
        assert_eq!(got, expected, "{}", case.name);
        let newest = case.driver.newest(ITEM, 3).unwrap();
        let newest: Vec<f64> = newest.iter().map(|s| s.value.as_f64().unwrap()).collect();
        assert_eq!(newest, [9.0, 8.0, 7.0], "{}", case.name);
    }
}

#[test]
fn spans_include_both_ends_and_limits_count_from_the_right_end() {
    for mut case in keepers() {
        for clock in 0..20 {
            case.driver.write(&[unsigned(NOW + clock, clock.into())]).unwrap();
        }
        for (from, till, limit, order, expected) in [
            (5, 8, None, Order::OldestFirst, vec![5, 6, 7, 8]),
            (5, 8, Some(2), Order::OldestFirst, vec![5, 6]),
            (5, 8, Some(2), Order::NewestFirst, vec![8, 7]),
            (5, 8, None, Order::NewestFirst, vec![8, 7, 6, 5]),
            (18, 900, Some(9), Order::NewestFirst, vec![19, 18]),
            (20, 30, None, Order::OldestFirst, vec![]),
            (8, 5, None, Order::OldestFirst, vec![]),
        ] {
            let span = Span::new(NOW + from, NOW + till);
            let value_type = ValueType::Unsigned;
            let query = RangeQuery { item: ITEM, value_type, span, limit, order };
            let view = case.driver.view(&[ITEM], span);
            let got: Vec<u32> = range_of(view.as_ref(), &query)
                .unwrap()
                .iter()
                .map(|sample| sample.at.clock - NOW)
                .collect();
            assert_eq!(got, expected, "{} {query:?}", case.name);
            let other = RangeQuery { value_type: ValueType::Float, ..query };
            assert_eq!(range_of(view.as_ref(), &other).unwrap(), []);
        }
    }
}

#[test]
fn a_view_shows_the_moment_it_was_made_and_works_elsewhere() {
    for mut case in keepers().into_iter().filter(Case::has_moments) {
        case.driver.write(&[unsigned(NOW, 1)]).unwrap();
        let view = case.driver.view(&[ITEM, ItemId(8)], Span::ALL);
        for clock in 1..50 {
            case.driver.write(&[unsigned(NOW + clock, 2)]).unwrap();
        }
        case.driver.maintain().unwrap();
        let got = std::thread::spawn(move || {
            (view.samples(ITEM, Kinds::ALL).unwrap(), view.newest(ItemId(8), Kinds::ALL, 5))
        });
        let (samples, other) = got.join().unwrap();
        assert_eq!((samples, other.unwrap()), (vec![unsigned(NOW, 1)], vec![]), "{}", case.name);
        assert_eq!(all(&case, ITEM).len(), 50, "{}", case.name);
    }
}

#[test]
fn trends_are_kept_by_hour_and_type_and_the_last_written_wins() {
    let float = |hour, min| Trend {
        item: ITEM,
        hour,
        num: 3,
        values: TrendValues::Float { min, avg: 1.0 / 3.0, max: 9.5 },
    };
    let values = TrendValues::Unsigned { min: 1, avg: u64::MAX / 2, max: u64::MAX };
    let whole = Trend { item: ITEM, hour: NOW, num: u32::MAX, values };
    for mut case in keepers() {
        case.driver.write_trends(&[float(NOW, 1.0), float(NOW + 3600, 2.0), whole]).unwrap();
        case.driver.write_trends(&[float(NOW, 0.5)]).unwrap();
        case.driver.write_trends(&[Trend { item: ItemId(8), ..whole }]).unwrap();
        let view = case.driver.view(&[ITEM], Span::new(NOW, NOW + 3599));
        assert_eq!(view.trends(ITEM).unwrap(), [float(NOW, 0.5), whole], "{}", case.name);
        let view = case.driver.view(&[ITEM], Span::ALL);
        let expected = [float(NOW, 0.5), whole, float(NOW + 3600, 2.0)];
        assert_eq!(view.trends(ITEM).unwrap(), expected, "{}", case.name);
        assert_eq!(view.samples(ITEM, Kinds::VALUES).unwrap(), [], "{}", case.name);
        let counters = case.driver.counters();
        assert_eq!((counters.trends, counters.samples), (5, 0), "{}", case.name);
    }
}

#[test]
fn many_items_are_read_as_each_of_them() {
    let kinds = [
        SampleValue::Float(1.5),
        SampleValue::Unsigned(7),
        SampleValue::Text("text".into()),
        SampleValue::Log(Box::new(("line".into(), LogMeta::default()))),
    ];
    let values = TrendValues::Unsigned { min: 1, avg: 2, max: 3 };
    for mut case in keepers() {
        for item in [9, 3, 40, 7] {
            let samples = (0..).zip(&kinds).map(|(n, value)| {
                let sample = at(NOW + 10 - n, n, value.clone());
                Sample { item: ItemId(item), ..sample }
            });
            case.driver.write(&samples.collect::<Vec<_>>()).unwrap();
            let trend = |hour| Trend { item: ItemId(item), hour, num: 1, values };
            case.driver.write_trends(&[trend(NOW + 3600), trend(NOW)]).unwrap();
        }
        let items = [3, 7, 8, 9].map(ItemId);
        let view = case.driver.view(&items, Span::new(NOW + 8, NOW + 3600));
        let (samples, trends) = (view.samples_of(&items, Kinds::VALUES), view.trends_of(&items));
        let (samples, trends) = (samples.unwrap(), trends.unwrap());
        assert_eq!((samples.len(), trends.len()), (3 * 3, 3), "{}", case.name);
        let each = items.iter().flat_map(|&item| view.samples(item, Kinds::VALUES).unwrap());
        assert_eq!(samples, each.collect::<Vec<_>>(), "{}", case.name);
        let each = items.iter().flat_map(|&item| view.trends(item).unwrap());
        assert_eq!(trends, each.collect::<Vec<_>>(), "{}", case.name);
        assert_eq!(view.samples_of(&items, Kind::Text.into()).unwrap().len(), 3, "{}", case.name);
        assert_eq!(view.samples_of(&[], Kinds::VALUES).unwrap(), [], "{}", case.name);
        assert_eq!(view.trends_of(&[]).unwrap(), [], "{}", case.name);
    }
}

#[test]
fn whole_days_are_dropped_by_class() {
    let short = |clock| Sample { item: ItemId(1000), ..unsigned(clock, 1) };
    for mut case in keepers() {
        let today = NOW - 1000;
        for day in 0..40 {
            let clock = today - day * DAY;
            case.driver.write(&[unsigned(clock, 1), short(clock)]).unwrap();
        }
        let values = TrendValues::Unsigned { min: 1, avg: 1, max: 1 };
        let hour = today - 39 * DAY;
        case.driver.write_trends(&[Trend { item: ITEM, hour, num: 1, values }]).unwrap();
        // Whatever is still in memory is sealed by more values, so that only full days are left.
        for clock in 0..9 {
            case.driver.write(&[unsigned(today + clock, 1), short(today + clock)]).unwrap();
        }
        case.driver.sync().unwrap();
        while case.name.contains("sealed") && case.driver.counters().segments < 40 {
            case.driver.maintain().unwrap();
            std::thread::yield_now();
        }
        history::housekeeping::run(case.driver.as_mut(), NOW).unwrap();
        if case.name.contains("head") {
            // Not sealed, not dropped: memory is bounded by other means.
            assert_eq!(all(&case, ITEM).len(), 48);
            continue;
        }
        let oldest = |item| all(&case, item)[0].at.clock;
        assert_eq!(oldest(ITEM), today - 31 * DAY, "{}", case.name);
        assert_eq!(oldest(ItemId(1000)), today - 3 * DAY, "{}", case.name);
        let view = case.driver.view(&[ITEM], Span::ALL);
        assert_eq!(view.trends(ITEM).unwrap().len(), 1, "{}", case.name);
        let classes = case.driver.classes().unwrap();
        assert_eq!(classes, [Class(3), Class(31), Class(365)], "{}", case.name);
    }
}

#[test]
fn cleared_items_are_gone_and_what_comes_later_is_new() {
    let other = |clock| Sample { item: ItemId(8), ..unsigned(clock, 8) };
    let values = TrendValues::Unsigned { min: 1, avg: 1, max: 1 };
    let trend = |item, hour| Trend { item, hour, num: 1, values };
    for mut case in keepers() {
        for clock in 0..10 {
            case.driver.write(&[unsigned(NOW + clock, 1), other(NOW + clock)]).unwrap();
        }
        case.driver.write(&[at(NOW, 5, SampleValue::Text("text".into()))]).unwrap();
        case.driver.write_trends(&[trend(ITEM, NOW), trend(ItemId(8), NOW)]).unwrap();
        let before = case.driver.view(&[ITEM], Span::ALL);
        case.driver.clear(&[ITEM, ItemId(99)]).unwrap();
        let check = |case: &Case, expected: &[Sample], trends: &[Trend]| {
            let view = case.driver.view(&[ITEM], Span::ALL);
            assert_eq!(view.samples(ITEM, Kinds::VALUES).unwrap(), expected, "{}", case.name);
            assert_eq!(view.trends(ITEM).unwrap(), trends, "{}", case.name);
            let mut newest = case.driver.newest(ITEM, 9).unwrap();
            newest.reverse();
            assert_eq!(newest, expected, "{}", case.name);
            assert_eq!(all(case, ItemId(8)).len(), 10, "{}", case.name);
            let view = case.driver.view(&[ItemId(8)], Span::ALL);
            assert_eq!(view.trends(ItemId(8)).unwrap().len(), 1, "{}", case.name);
        };
        check(&case, &[], &[]);
        // What a reader had before it keeps.
        if case.has_moments() {
            assert_eq!(before.samples(ITEM, Kinds::VALUES).unwrap().len(), 11, "{}", case.name);
        }
        // Late for what was cleared, but new; one at the very time of a cleared one.
        let (late, same) = (unsigned(NOW - 9 * DAY, 7), unsigned(NOW + 3, 9));
        case.driver.write(std::slice::from_ref(&same)).unwrap();
        case.driver.write(std::slice::from_ref(&late)).unwrap();
        case.driver.write_trends(&[trend(ITEM, NOW - 3600)]).unwrap();
        for clock in 0..9 {
            case.driver.write(&[Sample { item: ItemId(9), ..other(NOW + clock) }]).unwrap();
            case.driver.maintain().unwrap();
        }
        check(&case, &[late, same], &[trend(ITEM, NOW - 3600)]);
        assert_eq!(case.driver.counters().samples, 32, "{}", case.name);
        case.driver.clear(&[ITEM]).unwrap();
        case.driver.clear(&[]).unwrap();
        check(&case, &[], &[]);
    }
}

#[test]
fn counters_count_and_empty_batches_are_nothing() {
    for mut case in keepers() {
        case.driver.write(&[]).unwrap();
        case.driver.write(&[unsigned(NOW, 1), unsigned(NOW + 1, 1)]).unwrap();
        case.driver.write_trends(&[]).unwrap();
        case.driver.sync().unwrap();
        let counters = case.driver.counters();
        assert_eq!((counters.samples, counters.trends, counters.failures), (2, 0, 0));
        let info = case.driver.describe();
        assert!(info.readable && !info.name.is_empty());
        assert_eq!(case.driver.newest(ItemId(99), 3).unwrap(), []);
        assert_eq!(case.driver.newest(ITEM, 0).unwrap(), []);
    }
}

#[test]
fn null_takes_everything_and_gives_nothing() {
    let mut driver = Null::default();
    driver.write(&[unsigned(NOW, 1)]).unwrap();
    driver.clear(&[ITEM]).unwrap();
    let values = TrendValues::Unsigned { min: 1, avg: 1, max: 1 };
    driver.write_trends(&[Trend { item: ITEM, hour: NOW, num: 1, values }]).unwrap();
    assert_eq!(driver.newest(ITEM, 1).unwrap(), []);
    assert_eq!(driver.view(&[ITEM], Span::ALL).trends(ITEM).unwrap(), []);
    assert_eq!(driver.drop_before(Class(1), Day(99_999)).unwrap(), 0);
    assert_eq!((driver.counters().samples, driver.counters().trends), (1, 1));
    assert!(!driver.describe().readable);
}
