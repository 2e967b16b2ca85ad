//! `trendstl` over some hundred series, with what the field's 7.0 server gave for the same hourly
//! means: `cases/decompositions.jsonl`.
//!
//! A line has the `call`, the `hours` up to the last full one, oldest first (null = no trend), and
//! the `result` as printed, or `fails`. Chosen are those that show a detail: hours without trends,
//! short last pieces, even windows, and equal values, of which only rounding errors are left.

use eval::expr::parse_history_params;
use eval::func::{Function, HistoryValue, HistoryView, Item, Moment};
use eval::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::{ItemId, Timestamp, Trend, TrendValues, ValueType};
use serde_json::Value;

const CASES: &str = include_str!("../cases/decompositions.jsonl");
/// 2024-12-18 00:10:34 UTC.
const NOW_S: u32 = 1_734_480_634;

struct Hours(Vec<Trend>);

impl HistoryView for Hours {
    fn last_n(&mut self, _: ItemId, _: usize, _: Timestamp) -> Result<Vec<HistoryValue>, String> {
        Err("only trends are asked for".to_owned())
    }
    fn range(
        &mut self,
        _: ItemId,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        Err("only trends are asked for".to_owned())
    }
    fn trends(&mut self, _: ItemId, first: u32, last: u32) -> Result<Vec<Trend>, String> {
        Ok(self.0.iter().filter(|t| (first..=last).contains(&t.hour)).copied().collect())
    }
}

fn hours(case: &Value) -> Hours {
    let newest_first = case["hours"].as_array().unwrap().iter().rev().zip(1..);
    let trend = |(mean, back): (&Value, u32)| {
        let avg = mean.as_f64()?;
        let values = TrendValues::Float { min: avg, avg, max: avg };
        let hour = NOW_S - NOW_S % 3600 - back * 3600;
        Some(Trend { item: ItemId(1), hour, num: 2, values })
    };
    Hours(newest_first.filter_map(trend).collect())
}

/// The share, or `None` where there is none.
fn share(case: &Value) -> Option<f64> {
    let (name, params) = case["call"].as_str()?.strip_suffix(')')?.split_once('(')?;
    let function = Function::parse(name, &parse_history_params(params).ok()?).ok()?;
    let item = Item {
        id: ItemId(1),
        value_type: ValueType::Float,
        expected_from: NOW_S - 86_400,
        enabled: true,
    };
    let globals = GlobalRegexes::default();
    let moment = Moment { now: Timestamp::from_s(NOW_S), tz: &TimeZone::UTC, globals: &globals };
    function.eval(&item, &mut hours(case), &moment).ok()?.as_text()?.parse().ok()
}

#[test]
fn decompositions_agree() {
    let (mut agree, mut differ) = (0, Vec::new());
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let wanted = case["result"].as_str().map(|text| text.parse::<f64>().unwrap());
        assert_eq!(wanted.is_none(), case["fails"] == true, "{line}");
        let got = share(&case);
        // Printed are six digits; one hour more or less is a hundredth at least.
        match (got, wanted) {
            (None, None) => agree += 1,
            (Some(got), Some(wanted)) if (got - wanted).abs() < 1e-6 => agree += 1,
            _ => differ.push(format!("{got:?} instead of {wanted:?}: {line}")),
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert_eq!(agree, 242, "cases");
}
