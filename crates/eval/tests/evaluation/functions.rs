//! Functions of expressions over a fixed history, with what the field's 7.0 server gave for the
//! same values: `cases/functions.jsonl`.
//!
//! The first line has the items: type and values, oldest first, one a minute, the newest half a
//! minute ago (`now-5` is a time). The others have an `expression` and its `result`, or `fails`;
//! `near` is how far the result may be off where the second of evaluation counts. Item `tr` has
//! trends instead: going back hour by hour their mean is 1, 2, … and starts over each day.

use std::collections::{BTreeMap, BTreeSet};

use eval::expr::{ExprValue, Expression, ItemCall, Mode, NodeKind, Operands, bucket_percentile};
use eval::func::catalog::{ALL, Signature};
use eval::func::{self, Function, HistoryValue, HistoryView, Item, Moment, foreach_base};
use eval::key::ItemKey;
use eval::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::{ItemId, LogMeta, SampleValue, Timestamp, Trend, TrendValues, ValueType};
use serde_json::Value;

const CASES: &str = include_str!("../cases/functions.jsonl");
/// 2024-12-18 00:10:34 UTC.
const NOW_S: u32 = 1_734_480_634;
const NEWEST_S: u32 = NOW_S - 34;

struct World {
    keys: Vec<String>,
    types: Vec<ValueType>,
    /// Newest first.
    values: Vec<Vec<HistoryValue>>,
}

fn sample(value: &Value, kind: ValueType) -> SampleValue {
    let text = value.as_str().unwrap_or_default();
    let text = match text.strip_prefix("now-") {
        Some(back) => (NOW_S - back.parse::<u32>().unwrap()).to_string(),
        None => text.to_owned(),
    };
    match kind {
        ValueType::Float => SampleValue::Float(text.parse().unwrap()),
        ValueType::Unsigned => SampleValue::Unsigned(text.parse().unwrap()),
        ValueType::Log => {
            let number = |at: usize| u32::try_from(value[at].as_u64().unwrap()).unwrap();
            let meta = LogMeta {
                timestamp: 1,
                source: value[1].as_str().unwrap().into(),
                severity: number(2),
                eventid: number(3),
            };
            SampleValue::Log(Box::new((value[0].as_str().unwrap().into(), meta)))
        }
        _ => SampleValue::Text(text.into()),
    }
}

impl World {
    fn read(line: &str) -> Self {
        let mut world = Self { keys: Vec::new(), types: Vec::new(), values: Vec::new() };
        let items: Value = serde_json::from_str(line).unwrap();
        for (key, item) in items["items"].as_object().unwrap() {
            let kind = u8::try_from(item["type"].as_u64().unwrap()).unwrap();
            let kind = ValueType::from_api(kind).unwrap();
            let stamped = item["values"].as_array().unwrap().iter().rev().zip(0..);
            let value = |(value, back): (&Value, u32)| HistoryValue {
                at: Timestamp::from_s(NEWEST_S - back * 60),
                value: sample(value, kind),
            };
            world.keys.push(key.clone());
            world.types.push(kind);
            world.values.push(stamped.map(value).collect());
        }
        world.keys.push("tr".to_owned());
        world.types.push(ValueType::Float);
        world.values.push(Vec::new());
        world
    }

    fn of(&self, item: ItemId) -> &[HistoryValue] {
        &self.values[usize::try_from(item.0).unwrap()]
    }

    fn items(&self, key: &str) -> Vec<Item> {
        let prefix = key.strip_suffix("*]");
        let fits = |known: &String| prefix.map_or(known == key, |p| known.starts_with(p));
        let found = self.keys.iter().enumerate().filter(|(_, known)| fits(known));
        let item = |(at, _): (usize, &String)| Item {
            id: ItemId(at as u64),
            value_type: self.types[at],
            expected_from: NOW_S - 86_400,
            enabled: true,
        };
        found.map(item).collect()
    }
}

impl HistoryView for World {
    fn last_n(
        &mut self,
        item: ItemId,
        n: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        Ok(self.of(item).iter().filter(|v| v.at <= till).take(n).cloned().collect())
    }
    fn range(
        &mut self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        Ok(self.of(item).iter().filter(|v| v.at > after && v.at <= till).cloned().collect())
    }
    fn trends(&mut self, item: ItemId, first: u32, last: u32) -> Result<Vec<Trend>, String> {
        let hourly = |back: u32| {
            let avg = f64::from(back % 24);
            let values = TrendValues::Float { min: avg - 1.0, avg, max: avg + 1.0 };
            Trend { item, hour: NOW_S - NOW_S % 3600 - back * 3600, num: 10, values }
        };
        Ok((1..=240).map(hourly).filter(|t| (first..=last).contains(&t.hour)).collect())
    }
}

impl Operands for World {
    fn function(&mut self, _: u64) -> Result<ExprValue, String> {
        Err("there are none".to_owned())
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        let globals = GlobalRegexes::default();
        let moment =
            Moment { now: Timestamp::from_s(NOW_S), tz: &TimeZone::UTC, globals: &globals };
        let items = self.items(&call.query.key);
        let words = |e: func::FuncError| e.to_string();
        let Some(base) = foreach_base(&call.function) else {
            let [item] = &items[..] else { return Err("no such item".to_owned()) };
            let function = Function::parse(&call.function, &call.params).map_err(words)?;
            return function.eval(item, self, &moment).map_err(words);
        };
        if base == "exists" {
            return Ok(func::exists_foreach(&items));
        }
        func::check_foreach(&call.function, &call.params).map_err(words)?;
        let function = func::parse_call(&call.function, &call.params).map_err(words)?;
        let keys = self.keys.clone();
        let bound = move |item: &Item| {
            ItemKey::parse(&keys[usize::try_from(item.id.0).unwrap()]).ok()?.param(0)
        };
        let bucket: Option<&func::BucketBound<'_>> =
            if base == "rate" { Some(&bound) } else { None };
        let rates = function.eval_foreach(&items, bucket, self, &moment).map_err(words)?;
        match call.function.as_str() {
            "bucket_percentile" => bucket_percentile(&rates, &call.params[1].value),
            _ => Ok(rates),
        }
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        Err(token.to_owned())
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_s(NOW_S)
    }
    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

fn evaluate(world: &mut World, text: &str) -> Result<String, String> {
    let expression = Expression::parse(text).map_err(|e| e.to_string())?;
    let value = eval::expr::eval(&expression, world, Mode::Strict).map_err(|e| e.to_string())?;
    value.as_text().ok_or_else(|| "a list".to_owned())
}

/// Six decimal places are what the server printed.
fn same(wanted: &str, got: &str, near: f64) -> bool {
    match (wanted.parse::<f64>(), got.parse::<f64>()) {
        _ if wanted == got => true,
        (Ok(a), Ok(b)) => (a - b).abs() <= 1.01e-6 + near * a.abs(),
        _ => false,
    }
}

#[test]
fn functions_give_what_the_field_gives() {
    let mut lines = CASES.lines();
    let mut world = World::read(lines.next().unwrap());
    let (mut passed, mut wrong) = (0, Vec::new());
    for line in lines {
        let case: Value = serde_json::from_str(line).unwrap();
        let got = evaluate(&mut world, case["expression"].as_str().unwrap());
        let near = case["near"].as_f64().unwrap_or(0.0);
        let fine = match (case["result"].as_str(), &got) {
            (Some(wanted), Ok(got)) => same(wanted, got, near),
            (None, Err(_)) => case["fails"].as_bool() == Some(true),
            _ => false,
        };
        if fine { passed += 1 } else { wrong.push(format!("{line}\n    {got:?}")) }
    }
    assert!(wrong.is_empty(), "{} beside {passed}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed > 300, "the cases are missing");
}

/// Each function has a case with each number of parameters that it takes.
#[test]
fn no_function_is_without_a_case() {
    let mut seen: BTreeMap<(String, bool), BTreeSet<usize>> = BTreeMap::new();
    for line in CASES.lines().skip(1) {
        let case: Value = serde_json::from_str(line).unwrap();
        let expression = Expression::parse(case["expression"].as_str().unwrap()).unwrap();
        expression.root.walk(&mut |node| {
            let (name, over_item, count) = match &node.kind {
                NodeKind::ItemCall(call) => (&call.function, true, call.params.len()),
                NodeKind::Call { function, args } => (function, false, args.len()),
                _ => return,
            };
            seen.entry((name.clone(), over_item)).or_default().insert(count);
        });
    }
    let mut missing = Vec::new();
    for known in ALL {
        let forms = [(true, known.history_counts()), (false, known.operand_counts())];
        for (over_item, counts) in forms {
            let Some((least, most)) = counts else { continue };
            let most = most.min(least + 2);
            let found = seen.get(&(known.name.to_owned(), over_item));
            let lacks = |count: &usize| !found.is_some_and(|found| found.contains(count));
            // It takes a list, or pairs.
            let pairs = known.name == "histogram_quantile";
            let right = |count: &usize| !pairs || matches!(*count, 2 | 5);
            for count in (least..=most).filter(right).filter(lacks) {
                missing.push(format!("{} over_item={over_item} with {count}", known.name));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(Signature::find("avg").is_some() && Signature::find("nosuch").is_none());
}
