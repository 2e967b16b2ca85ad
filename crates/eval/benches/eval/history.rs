//! Each function over an item's history and trends: an hour with a value per minute, and 60 days
//! of hourly trends.

use eval::expr::parse_history_params;
use eval::func::{self, Function, HistoryValue, HistoryView, Item, Moment};
use eval::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::{ItemId, LogMeta, SampleValue, Timestamp, Trend, TrendValues, ValueType};

use crate::table::Bench;

/// 2024-12-18 (Wednesday) 00:00 UTC.
const NOW: u32 = 1_734_480_000;
/// Values in the window of most calls.
const WINDOW: u32 = 60;
const DAYS: u32 = 60;
/// Items that a foreach function looks at.
const ITEMS: u64 = 100;

/// Calls over numbers, their group first.
const CALLS: &[(&str, &[&str])] = &[
    (
        "Functions over history, 60 values in the window",
        &[
            "last()",
            "last(#5)",
            "lastclock()",
            "change()",
            "first(1h)",
            "avg(1h)",
            "min(1h)",
            "max(1h)",
            "sum(1h)",
            "count(1h)",
            "count(1h,\"gt\",\"30\")",
            "count(1h,\"regexp\",\"^1\")",
            "countunique(1h)",
            "changecount(1h)",
            "percentile(1h,95)",
            "find(1h,\"eq\",\"-5\")",
            "monoinc(1h)",
            "monodec(1h)",
            "rate(1h)",
            "nodata(5m)",
            "fuzzytime(1m)",
            "bitand(,7)",
            "kurtosis(1h)",
            "mad(1h)",
            "skewness(1h)",
            "stddevpop(1h)",
            "stddevsamp(1h)",
            "sumofsquares(1h)",
            "varpop(1h)",
            "varsamp(1h)",
            "avg(1h:now-1m)",
            "avg(#60)",
        ],
    ),
    (
        "Prediction, 60 values in the window",
        &[
            "forecast(1h,1h)",
            "forecast(1h,1h,\"polynomial3\",\"max\")",
            "forecast(1h,1h,\"exponential\")",
            "timeleft(1h,1000)",
            "timeleft(1h,1000,\"polynomial2\")",
        ],
    ),
    (
        "Trends and baselines, a trend per hour",
        &[
            "trendavg(1d:now/d)",
            "trendcount(1d:now/d)",
            "trendmax(1d:now/d)",
            "trendmin(1d:now/d)",
            "trendsum(1d:now/d)",
            "trendavg(1M:now/M)",
            "baselinewma(1d:now/d,\"d\",7)",
            "baselinedev(1d:now/d,\"d\",7)",
            "trendstl(720h:now/h,48h,24h)",
        ],
    ),
];
const LOG_CALLS: &[&str] = &[
    "logeventid(,\"^10\")",
    "logseverity()",
    "logsource(,\"cron\")",
    "find(1h,\"like\",\"nothing\")",
    "count(1h,\"regexp\",\"line 1\")",
];
const FOREACH: &[&str] = &[
    "avg_foreach(1h)",
    "count_foreach(1h)",
    "exists_foreach()",
    "last_foreach()",
    "max_foreach(1h)",
    "min_foreach(1h)",
    "sum_foreach(1h)",
    "bucket_rate_foreach(1h)",
    "item_count()",
];

/// Both lists newest first, as history gives them.
struct Memory {
    values: Vec<HistoryValue>,
    trends: Vec<Trend>,
}

impl Memory {
    fn new(value: impl Fn(u32) -> SampleValue) -> Self {
        let at = |back: u32| HistoryValue {
            at: Timestamp::from_s(NOW - back * 60),
            value: value(WINDOW - back),
        };
        let hour = |back: u32| {
            let avg = f64::from(back % 24) + f64::from(back % 7) / 10.0;
            let values = TrendValues::Float { min: avg - 1.0, avg, max: avg + 1.0 };
            Trend { item: ItemId(1), hour: NOW - back * 3600, num: 60, values }
        };
        Self { values: (0..WINDOW).map(at).collect(), trends: (1..=24 * DAYS).map(hour).collect() }
    }
}

impl HistoryView for Memory {
    fn last_n(
        &mut self,
        _: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let from = self.values.partition_point(|v| v.at > till);
        Ok(self.values[from..].iter().take(count).cloned().collect())
    }

    fn range(
        &mut self,
        _: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let from = self.values.partition_point(|v| v.at > till);
        let to = self.values.partition_point(|v| v.at > after);
        Ok(self.values[from..to].to_vec())
    }

    fn trends(&mut self, _: ItemId, first: u32, last: u32) -> Result<Vec<Trend>, String> {
        let from = self.trends.partition_point(|t| t.hour > last);
        let to = self.trends.partition_point(|t| t.hour >= first);
        Ok(self.trends[from..to].to_vec())
    }
}

fn parse(call: &str) -> (&str, Function) {
    let (name, params) = call.strip_suffix(')').unwrap().split_once('(').unwrap();
    let params = parse_history_params(params).unwrap();
    if name == "exists_foreach" {
        return (name, Function::parse("item_count", &[]).unwrap());
    }
    (name, func::parse_call(name, &params).unwrap_or_else(|e| panic!("{call}: {e}")))
}

fn item(value_type: ValueType) -> Item {
    Item { id: ItemId(1), value_type, expected_from: NOW - 7200, enabled: true }
}

/// Measures all of them.
pub(crate) fn run(bench: &mut Bench) {
    let globals = GlobalRegexes::default();
    let moment = Moment { now: Timestamp::from_s(NOW), tz: &TimeZone::UTC, globals: &globals };
    let mut numbers = Memory::new(|n| SampleValue::Float(f64::from(n) + f64::from(n * 7 % 5)));
    let whole = item(ValueType::Unsigned);
    let mut whole_numbers = Memory::new(|n| SampleValue::Unsigned(u64::from(n)));
    for (title, calls) in CALLS {
        let mut table = bench.table(title, "ns/call");
        for call in *calls {
            let (name, function) = parse(call);
            let (item, memory) = match name {
                "bitand" | "fuzzytime" => (whole, &mut whole_numbers),
                _ => (item(ValueType::Float), &mut numbers),
            };
            let mut eval = || function.eval(&item, memory, &moment);
            assert_eq!(eval().err(), None, "{call}");
            table.row(call, 1, eval);
        }
        table.show();
    }
    logs(bench, &moment);
    foreach(bench, &mut numbers, &moment);
}

fn logs(bench: &Bench, moment: &Moment<'_>) {
    let meta = LogMeta { source: "cron".into(), severity: 3, eventid: 1000, ..LogMeta::default() };
    let line = |n| SampleValue::Log(Box::new((format!("line {n} of a log").into(), meta.clone())));
    let mut memory = Memory::new(line);
    let mut table = bench.table("Functions over logs, 60 lines in the window", "ns/call");
    for call in LOG_CALLS {
        let function = parse(call).1;
        let mut eval = || function.eval(&item(ValueType::Log), &mut memory, moment);
        assert_eq!(eval().err(), None, "{call}");
        table.row(call, 1, eval);
    }
    table.show();
}

fn foreach(bench: &Bench, memory: &mut Memory, moment: &Moment<'_>) {
    let items: Vec<Item> =
        (1..=ITEMS).map(|id| Item { id: ItemId(id), ..item(ValueType::Float) }).collect();
    let bound = |item: &Item| Some(item.id.0.to_string());
    let mut table = bench.table("Foreach, 100 items with 60 values each", "ns/item");
    for call in FOREACH {
        let (name, function) = parse(call);
        if name == "exists_foreach" {
            table.row(call, ITEMS as u32, || func::exists_foreach(&items));
            continue;
        }
        let bucket: Option<&func::BucketBound<'_>> = name.starts_with("bucket").then_some(&bound);
        let mut eval = || function.eval_foreach(&items, bucket, memory, moment);
        assert_eq!(eval().err(), None, "{call}");
        table.row(call, ITEMS as u32, eval);
    }
    table.show();
}
