//! Runners over history and trends.

use crate::calendar::Unit;
use crate::expr::parse_history_params;
use crate::func::{Function, HistoryValue, Item, Moment, TrendPeriod};
use crate::preproc::convert;
use crate::recorded::Recorded;
use crate::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::{ItemId, LogMeta, Payload, SampleValue, Trend, TrendValues, ValueType};
use serde_json::Value;

use super::{Checked, check, moment, text, zone};

/// A payload as text.
pub(super) fn payload_text(payload: &Payload) -> String {
    match convert(payload.clone(), ValueType::Binary) {
        Ok(SampleValue::Text(text)) => text.to_string(),
        other => panic!("a payload without text: {other:?}"),
    }
}

fn history(case: &Value, value_type: ValueType) -> Vec<HistoryValue> {
    let rows = case["history"].as_array().cloned().unwrap_or_default();
    let read = |row: &Value| {
        let number = |name: &str| u32::try_from(row[name].as_u64().unwrap_or(0)).unwrap();
        let line = text(row, "value");
        let payload = if value_type == ValueType::Log {
            let meta = LogMeta {
                timestamp: number("timestamp"),
                source: text(row, "source").into(),
                severity: number("severity"),
                eventid: number("logeventid"),
            };
            Payload::Log(Box::new((line.into(), meta)))
        } else {
            Payload::Text(line.into())
        };
        HistoryValue { at: moment(text(row, "ts")), value: convert(payload, value_type).unwrap() }
    };
    let mut values: Vec<HistoryValue> = rows.iter().map(read).collect();
    values.reverse();
    values
}

fn trend(hour: u32, row: &Value) -> Trend {
    let value = |name: &str| text(row, name).parse().unwrap_or(0.0);
    Trend {
        item: ItemId(1),
        hour,
        num: row["num"].as_u64().map_or(1, |n| u32::try_from(n).unwrap()),
        values: TrendValues::Float {
            min: value("value_min"),
            avg: value("value_avg"),
            max: value("value_max"),
        },
    }
}

fn trends(case: &Value, now: u32) -> Vec<Trend> {
    let rows = case["trends"].as_array().cloned().unwrap_or_default();
    let mut trends: Vec<Trend> = rows
        .iter()
        .map(|row| trend(u32::try_from(row["clock"].as_u64().unwrap()).unwrap(), row))
        .collect();
    // Values per season stand for the one hour of each day that the functions here read; the
    // weighted mean starts with the season before.
    let skip = u32::from(text(case, "function") == "baselinewma");
    for season in case["season_values"].as_array().cloned().unwrap_or_default() {
        let index = u32::try_from(season["season_index"].as_u64().unwrap()).unwrap();
        let hour = now / 3600 * 3600 - 3600 - (index + skip) * 86_400;
        let avg = serde_json::json!({ "value_avg": text(&season, "value") });
        trends.push(trend(hour, &avg));
    }
    trends
}

pub(super) fn history_functions(case: &Value) -> Checked {
    let value_type =
        ValueType::from_api(u8::try_from(case["value_type"].as_u64().unwrap()).unwrap()).unwrap();
    let now = moment(text(case, "now"));
    let mut view = Recorded { values: history(case, value_type), trends: trends(case, now.clock) };
    let item = Item { id: ItemId(1), value_type, expected_from: 0, enabled: true };
    let (tz, globals) = (zone(case), GlobalRegexes::new());
    let at = Moment { now, tz: &tz, globals: &globals };
    let got = parse_history_params(text(case, "params"))
        .map_err(|e| e.to_string())
        .and_then(|p| Function::parse(text(case, "function"), &p).map_err(|e| e.to_string()))
        .and_then(|f| f.eval(&item, &mut view, &at).map_err(|e| e.to_string()))
        .and_then(|v| v.as_text().ok_or_else(|| "a vector".to_owned()));
    check(case, got)
}

pub(super) fn trend_range(case: &Value) -> Checked {
    let now = moment(text(case, "now")).clock;
    let tz: TimeZone = zone(case);
    let got =
        TrendPeriod::parse(text(case, "param")).and_then(|p| p.range(now, &tz, Unit::Hour, 0));
    let expect = &case["expect"];
    let wanted = expect["first_hour"]
        .as_str()
        .map(|first| (moment(first).clock, moment(text(expect, "last_hour")).clock));
    if wanted == got { Ok(()) } else { Err(format!("wanted {wanted:?}, got {got:?}")) }
}
