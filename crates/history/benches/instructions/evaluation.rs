//! From a request to a trigger's answer.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use eval::expr::{self, ExprValue, Expression, ItemCall, Mode, Operands, parse_history_params};
use eval::func::{Function, HistoryValue, HistoryView, Item, Moment};
use eval::macros::{FunctionEnv, substitute};
use eval::preproc::{self, State, Step};
use eval::regex::GlobalRegexes;
use eval::script::Scripts;
use history::value_cache::{Need, Point};
use history::{Class, Driver, Memory, ValueCache};
use jiff::tz::TimeZone;
use model::{ItemId, Payload, Sample, SampleValue, Timestamp, Trend, ValueType};
use stdx::clock::SimClock;

use crate::{Case, counted};

const START_S: u32 = 1_800_000_000;
const JSON: &str = r#"{"status":"ok","data":{"cpu":{"load":[0.5,0.75,1.25],"cores":8},"disks":[{"name":"sda","used":1234567,"total":9999999},{"name":"sdb","used":7654321,"total":8888888}],"uptime":123456}}"#;
const UPTIME: &str = " 10:01:33 up 5 days, 3:07, 2 users, load average: 0.52, 0.58, 0.59";

pub(crate) const CASES: &[Case] = &[
    Case { name: "sender-request", values: 1000, run: sender },
    Case {
        name: "step-multiplier-change",
        values: 1000,
        run: |n| steps(n, &[(1, "8"), (10, "")], "123456"),
    },
    Case {
        name: "step-jsonpath",
        values: 1000,
        run: |n| steps(n, &[(12, "$.data.cpu.cores")], JSON),
    },
    Case {
        name: "step-regex",
        values: 1000,
        run: |n| steps(n, &[(5, "load average: ([0-9.]+)\n\\1")], UPTIME),
    },
    Case {
        name: "step-javascript",
        values: 1000,
        run: |n| steps(n, &[(21, "return value * 2 + 1")], "123456"),
    },
    Case { name: "trigger-last", values: 1000, run: |n| trigger(n, &[("last", "")], "{0}>1000") },
    Case {
        name: "trigger-avg-and-nodata",
        values: 1000,
        run: |n| trigger(n, &[("avg", "5m"), ("nodata", "10m")], "{0}>1000 or {1}=1"),
    },
    Case { name: "trigger-parse", values: 100, run: parse },
    Case { name: "macros-in-text", values: 100, run: macros },
];

fn sender(values: u32) {
    let row = |n: u32| {
        format!(
            r#"{{"host":"host{:05}","key":"item.key[{n}]","value":"{}.5","clock":1800000000,"ns":{n}}}"#,
            n % 100,
            n * 7
        )
    };
    let rows: Vec<String> = (0..values).map(row).collect();
    let text = format!(r#"{{"request":"sender data","data":[{}]}}"#, rows.join(","));
    let mut parse = || {
        let now = wire::Moment { clock: START_S, ns: 0 };
        black_box(wire::sender::parse_sender_data(black_box(&text), now)).unwrap();
    };
    parse();
    counted(&mut parse);
}

fn steps(values: u32, steps: &[(u8, &str)], value: &str) {
    let steps: Vec<Step> =
        steps.iter().map(|(kind, params)| Step::from_api(*kind, params, 0, "").unwrap()).collect();
    let clock = SimClock::at(Duration::from_secs(START_S.into()));
    let mut scripts = Scripts::new(clock);
    let (mut state, mut second) = (State::default(), START_S);
    let mut run = || {
        for _ in 0..values {
            second += 1;
            let (input, at) = (Payload::Text(value.into()), Timestamp::from_s(second));
            let kind = ValueType::Unsigned;
            let outcome = preproc::run(&steps, &mut state, input, at, kind, &mut scripts);
            assert!(!matches!(black_box(outcome), preproc::Outcome::NotSupported(_)));
        }
    };
    run();
    counted(&mut run);
}

/// Functions read the value cache as a shard's do.
struct Cached {
    cache: ValueCache,
    driver: Memory,
}

fn newest_first(points: &[Point]) -> Vec<HistoryValue> {
    let value = |point: &Point| HistoryValue { at: point.at, value: point.value.clone() };
    points.iter().rev().map(value).collect()
}

impl HistoryView for Cached {
    fn last_n(
        &mut self,
        item: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let points = self.cache.newest(&self.driver, item, count, till);
        points.map(|points| newest_first(&points)).map_err(|e| e.to_string())
    }

    fn range(
        &mut self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let points = self.cache.range(&self.driver, item, after, till);
        points.map(|points| newest_first(&points)).map_err(|e| e.to_string())
    }

    fn trends(&mut self, _: ItemId, _: u32, _: u32) -> Result<Vec<Trend>, String> {
        Ok(Vec::new())
    }
}

/// The functions of a trigger, evaluated where the expression asks for them.
struct Trigger<'a> {
    functions: &'a [Function],
    cached: &'a mut Cached,
    globals: &'a GlobalRegexes,
    now: Timestamp,
}

impl Operands for Trigger<'_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        let moment = Moment { now: self.now, tz: &TimeZone::UTC, globals: self.globals };
        let (id_of_item, value_type) = (ItemId(1), ValueType::Float);
        let item = Item { id: id_of_item, value_type, expected_from: START_S, enabled: true };
        self.functions[id as usize].eval(&item, self.cached, &moment).map_err(|e| e.to_string())
    }

    fn item_call(&mut self, _: &ItemCall) -> Result<ExprValue, String> {
        Err("stored expressions have no calls".to_owned())
    }

    fn macro_value(&mut self, _: &str) -> Result<ExprValue, String> {
        Err("there is no macro".to_owned())
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

/// A value each 10 s for ten minutes.
fn trigger(values: u32, functions: &[(&str, &str)], expression: &str) {
    let compile = |(name, params): &(&str, &str)| {
        let params =
            if params.is_empty() { Vec::new() } else { parse_history_params(params).unwrap() };
        Function::parse(name, &params).unwrap()
    };
    let functions: Vec<Function> = functions.iter().map(compile).collect();
    let expression = Expression::parse(expression).unwrap();
    let sample = |n: u32| Sample {
        item: ItemId(1),
        at: Timestamp::from_s(START_S + n * 10),
        value: SampleValue::Float(f64::from(n)),
    };
    let samples: Vec<Sample> = (0..60).map(sample).collect();
    let mut cached =
        Cached { cache: ValueCache::new(1 << 20), driver: Memory::new(Arc::new(Class(31))) };
    cached.cache.need(ItemId(1), Need { count: 0, seconds: 600 });
    cached.driver.write(&samples).unwrap();
    cached.cache.feed(&samples);
    let globals = GlobalRegexes::default();
    let mut run = || {
        for _ in 0..values {
            let now = Timestamp::from_s(START_S + 600);
            let mut trigger =
                Trigger { functions: &functions, cached: &mut cached, globals: &globals, now };
            let result = expr::eval(&expression, &mut trigger, Mode::UnknownOperands);
            assert!(black_box(result).is_ok());
        }
    };
    run();
    counted(&mut run);
}

fn parse(values: u32) {
    let text = "min(/Linux server/vfs.fs.size[/var,pused],5m)>{$LIMIT:\"/var\"} and last(/a/b)<>0";
    counted(&mut || {
        for _ in 0..values {
            assert!(black_box(Expression::parse(black_box(text))).is_ok());
        }
    });
}

fn macros(values: u32) {
    let text = "Disk {#FSNAME} of {HOST.NAME} is {ITEM.LASTVALUE1} full, more than {$LIMIT}";
    let env = FunctionEnv { tz: &TimeZone::UTC };
    counted(&mut || {
        for _ in 0..values {
            black_box(substitute(black_box(text), &env, &mut |_| Some("97.5".to_owned())));
        }
    });
}
