//! Every history and trend function.

use jiff::tz::TimeZone;
use model::{ItemId, LogMeta, SampleValue, Timestamp, Trend, TrendValues, ValueType};

use super::*;
use crate::expr::parse_history_params;
use crate::recorded::Recorded;

/// 2024-12-18 (Wednesday) 00:00 UTC.
const DAY: u32 = 1_734_480_000;

/// A value per minute, the last one now.
fn minutes(values: &[SampleValue]) -> Recorded {
    let stamped = values.iter().rev().zip(0..).map(|(value, back)| HistoryValue {
        at: Timestamp::from_s(DAY - back * 60),
        value: value.clone(),
    });
    let hourly = |back: u32| {
        let avg = f64::from(back % 24);
        let values = TrendValues::Float { min: avg - 1.0, avg, max: avg + 1.0 };
        Trend { item: ItemId(1), hour: DAY - back * 3600, num: 10, values }
    };
    Recorded { values: stamped.collect(), trends: (1..=24 * 30).map(hourly).collect() }
}

fn evaluate(memory: &mut Recorded, value_type: ValueType, call: &str) -> Option<String> {
    let (name, params) = call.strip_suffix(')')?.split_once('(')?;
    let params = parse_history_params(params).ok()?;
    let item = Item { id: ItemId(1), value_type, expected_from: DAY - 3600, enabled: true };
    let globals = GlobalRegexes::from([(
        "odd".to_owned(),
        vec![crate::regex::GlobalExpression {
            kind: crate::regex::GlobalKind::True,
            expression: "[13579]$".to_owned(),
            case_sensitive: true,
        }],
    )]);
    let moment = Moment { now: Timestamp::from_s(DAY), tz: &TimeZone::UTC, globals: &globals };
    Function::parse(name, &params).ok()?.eval(&item, memory, &moment).ok()?.as_text()
}

#[test]
fn numbers() {
    let values: Vec<_> = [1, 2, 4, 8, 8, 5].map(SampleValue::Unsigned).into();
    for (call, value) in [
        ("last()", Some("5")),
        ("last(#3)", Some("8")),
        ("last(#9)", None),
        ("last(#1:now-1m)", Some("8")),
        ("lastclock(#2)", Some("1734479940")),
        ("first(6m)", Some("1")),
        ("first(#2)", None),
        ("change()", Some("-3")),
        ("avg(#2)", Some("6.5")),
        ("avg(2m)", Some("6.5")),
        ("avg(1m:now-1d)", None),
        ("min(6m)", Some("1")),
        ("max(6m)", Some("8")),
        ("sum(3m)", Some("21")),
        ("sum(1m:now-1d)", Some("0")),
        ("max(1m:now/d)", Some("5")),
        ("count(6m)", Some("6")),
        ("count(6m,\"gt\",4)", Some("3")),
        ("count(6m,,8)", Some("2")),
        ("count(6m,\"ne\",\"8\")", Some("4")),
        ("count(6m,\"bitand\",\"4\")", Some("2")),
        ("count(6m,\"regexp\",\"^[12]$\")", Some("2")),
        ("count(6m,\"regexp\",\"@odd\")", Some("2")),
        ("count(6m,\"regexp\",\"@none\")", None),
        ("count(6m,\"xx\",1)", None),
        ("countunique(6m)", Some("5")),
        ("changecount(6m)", Some("4")),
        ("changecount(6m,\"inc\")", Some("3")),
        ("changecount(6m,\"dec\")", Some("1")),
        ("find(6m,\"eq\",4)", Some("1")),
        ("find(6m,\"eq\",3)", Some("0")),
        ("find(,\"eq\",5)", Some("1")),
        ("percentile(6m,50)", Some("4")),
        ("percentile(6m,0)", Some("1")),
        ("percentile(6m,101)", None),
        ("monoinc(4m)", Some("0")),
        ("monoinc(#4:now-1m)", Some("1")),
        ("monoinc(#4:now-1m,\"strict\")", Some("0")),
        ("monodec(#2)", Some("1")),
        ("rate(#2)", Some("0.083333333333333329")),
        ("nodata(30s)", Some("0")),
        ("nodata(30s,\"strict\")", Some("0")),
        ("nodata(30s,\"x\")", None),
        ("fuzzytime(10s)", Some("0")),
        ("bitand(,4)", Some("4")),
        ("bitand(#2,12)", Some("8")),
        ("bitor(#2,1)", None),
        ("count(6m,\"like\",\"8\")", None),
        ("count(6m,\"gt\",\"-1\")", None),
        ("count(6m,\"lt\",\"1K\")", Some("6")),
        ("bitand(#1)", None),
        ("stddevpop(2m)", Some("1.5")),
        ("sumofsquares(2m)", Some("89")),
        ("logseverity()", None),
        ("avg()", None),
        ("avg(0)", None),
        ("avg(5m,1)", None),
        ("avg(5m:later)", None),
        ("nothing(1)", None),
    ] {
        let mut memory = minutes(&values);
        assert_eq!(evaluate(&mut memory, ValueType::Unsigned, call).as_deref(), value, "{call}");
    }
    let exact: Vec<_> = [u64::MAX - 1, u64::MAX].map(SampleValue::Unsigned).into();
    for (call, value) in [("max(2m)", "18446744073709551615"), ("change()", "1")] {
        let got = evaluate(&mut minutes(&exact), ValueType::Unsigned, call);
        assert_eq!(got.as_deref(), Some(value), "{call}");
    }
}

#[test]
fn texts_and_logs() {
    let texts: Vec<_> = ["one", "two", "two"].map(|t| SampleValue::Text(t.into())).into();
    for (call, value) in [
        ("last()", Some("two")),
        ("change()", Some("0")),
        ("count(3m,,\"o\")", Some("3")),
        ("count(3m,\"eq\",\"two\")", Some("2")),
        ("count(3m,\"iregexp\",\"^T\")", Some("2")),
        ("count(3m,\"gt\",\"a\")", None),
        ("countunique(3m)", Some("2")),
        ("changecount(3m)", Some("1")),
        ("find(3m,\"like\",\"ne\")", Some("1")),
        ("avg(3m)", None),
        ("forecast(3m,1h)", None),
    ] {
        let got = evaluate(&mut minutes(&texts), ValueType::Text, call);
        assert_eq!(got.as_deref(), value, "{call}");
    }
    let meta = LogMeta { timestamp: 1, source: "app".into(), severity: 4, eventid: 17 };
    let logs = [SampleValue::Log(Box::new(("line".into(), meta)))];
    for (call, value) in [
        ("logseverity()", Some("4")),
        ("logsource(,\"^a\")", Some("1")),
        ("logsource(,\"^b\")", Some("0")),
        ("logeventid(,\"^17$\")", Some("1")),
        ("last()", Some("line")),
    ] {
        let got = evaluate(&mut minutes(&logs), ValueType::Log, call);
        assert_eq!(got.as_deref(), value, "{call}");
    }
}

#[test]
fn forecasts() {
    let rising: Vec<_> = [1.0, 2.0, 3.0, 4.0, 5.0].map(SampleValue::Float).into();
    let near = |call: &str, wanted: f64| {
        let got = evaluate(&mut minutes(&rising), ValueType::Float, call).unwrap();
        let got: f64 = got.parse().unwrap();
        assert!((got - wanted).abs() < 1e-4 * wanted.abs().max(1.0), "{call}: {got}");
    };
    for (call, wanted) in [
        ("forecast(#5,1h)", 65.0),
        ("forecast(#5,1h,\"polynomial2\")", 65.0),
        ("forecast(#5,30m,\"linear\",\"avg\")", 20.0),
        ("forecast(#5,30m,\"linear\",\"max\")", 35.0),
        ("forecast(#5,30m,\"linear\",\"min\")", 5.0),
        ("forecast(#5,30m,\"linear\",\"delta\")", 30.0),
        ("timeleft(#5,65)", 3600.0),
        ("timeleft(#5,65,\"polynomial1\")", 3600.0),
        ("timeleft(#5,5)", 0.0),
        ("timeleft(#5,0)", f64::MAX),
        ("forecast(1m:now-1d,1h)", -1.0),
        ("timeleft(1m:now-1d,1)", -1.0),
        // 5 values with a constant ratio would be exponential; here only the order counts.
        ("rate(2m)", 1.0 / 60.0),
    ] {
        near(call, wanted);
    }
    assert_eq!(evaluate(&mut minutes(&rising), ValueType::Float, "forecast(#5,1h,\"x\")"), None);
}

#[test]
fn trends() {
    for (call, value) in [
        ("trendavg(1h:now/h)", Some("1")),
        ("trendavg(3h:now/h)", Some("2")),
        ("trendmin(3h:now/h)", Some("0")),
        ("trendmax(3h:now/h)", Some("4")),
        ("trendsum(3h:now/h)", Some("60")),
        ("trendcount(3h:now/h)", Some("30")),
        ("trendavg(1h:now/h-1000h)", None),
        ("trendavg(1h)", None),
        ("trendsum(1h:now/h-1000h)", Some("0")),
        ("trendcount(1h:now/h-1000h)", Some("0")),
        ("trendavg(1s:now/h)", None),
        ("baselinewma(1h:now/h,\"d\",3)", Some("1")),
        ("baselinedev(1h:now/h,\"d\",3)", Some("0")),
        ("baselinedev(1h:now/h,\"x\",3)", None),
        ("baselinewma(1h:now/h,\"d\",0)", None),
        // What a real 7.0 gives for the same values: the share of rounding errors.
        ("trendstl(96h:now/h,24h,24h)", Some("1")),
        ("trendstl(96h:now/h,24h,24h,1000)", Some("0")),
        ("trendstl(10h:now/h,2h,1m)", None),
        ("trendstl(3h:now/h,2h,2h)", None),
    ] {
        let got = evaluate(&mut minutes(&[]), ValueType::Float, call);
        assert_eq!(got.as_deref(), value, "{call}");
    }
}

#[test]
fn deviations_of_numbers_next_to_zero() {
    // As the reference: sorted as if they were equal.
    let values: Vec<_> = [3e-17, 1e-17, 2e-17, 5e-17, 4e-17].map(SampleValue::Float).into();
    for (call, value) in [("mad(#5)", "0"), ("mad(#3)", "0"), ("mad(#4)", "0.000000000000000015")] {
        let got = evaluate(&mut minutes(&values), ValueType::Float, call);
        let (got, value): (f64, f64) = (got.unwrap().parse().unwrap(), value.parse().unwrap());
        assert!((got - value).abs() < 1e-30, "{call}: {got}");
    }
}

#[test]
fn no_data_waits_for_the_first_values() {
    let mut memory = minutes(&[]);
    for (call, value) in [("nodata(1h)", Some("1")), ("nodata(61m)", None)] {
        let got = evaluate(&mut memory, ValueType::Float, call);
        assert_eq!(got.as_deref(), value, "{call}");
    }
}

#[test]
fn what_triggers_need_to_know() {
    let parse = |call: &str| {
        let (name, params) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
        Function::parse(name, &parse_history_params(params).unwrap()).unwrap()
    };
    for (call, timer, values, seconds, shifted) in [
        ("last()", Timer::None, 1, 0, false),
        ("last(#5)", Timer::None, 5, 0, false),
        ("change()", Timer::None, 2, 0, false),
        ("avg(5m)", Timer::None, 0, 300, false),
        ("avg(5m:now-1h)", Timer::None, 0, 3900, true),
        ("nodata(10m)", Timer::HalfMinute, 1, 600, false),
        ("trendavg(1d:now/d)", Timer::Trend(Unit::Day), 0, 0, false),
    ] {
        let function = parse(call);
        let need = Lookback { values, seconds, shifted };
        assert_eq!((function.timer(), function.lookback()), (timer, need), "{call}");
    }
}

#[test]
fn over_several_items() {
    let values: Vec<_> = [3.0, 5.0].map(SampleValue::Float).into();
    let mut memory = minutes(&values);
    let item = |id| Item {
        id: ItemId(id),
        value_type: ValueType::Float,
        expected_from: 0,
        enabled: id == 1,
    };
    let globals = GlobalRegexes::new();
    let moment = Moment { now: Timestamp::from_s(DAY), tz: &TimeZone::UTC, globals: &globals };
    let params = parse_history_params("5m").unwrap();
    let sum = Function::parse(foreach_base("sum_foreach").unwrap(), &params).unwrap();
    let items = [item(1), item(2)];
    let got = sum.eval_foreach(&items, None, &mut memory, &moment).unwrap();
    assert_eq!(got, ExprValue::Vector(vec![ExprValue::Float(8.0), ExprValue::Float(8.0)]));
    let bound = |item: &Item| (item.id.0 == 1).then(|| "0.5".to_owned());
    let got = sum.eval_foreach(&items, Some(&bound), &mut memory, &moment).unwrap();
    assert_eq!(
        got,
        ExprValue::Vector(vec![ExprValue::Text("0.5".to_owned()), ExprValue::Float(8.0)])
    );
    let count = Function::parse(foreach_base("item_count").unwrap(), &[]).unwrap();
    let got = count.eval_foreach(&items, None, &mut memory, &moment);
    assert_eq!(got, Ok(ExprValue::Unsigned(2)));
    assert_eq!(exists_foreach(&items), ExprValue::Vector(vec![ExprValue::Unsigned(1)]));
}
