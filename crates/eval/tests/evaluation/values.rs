//! Some thousand values with what the field's 7.0 server and front end made of them:
//! `cases/values.jsonl`.
//!
//! A line has `v` (the value as it was sent), `t` (the item's type of value), `u` (units), `m`
//! (value map: type, value, text), `text` (as in names of events) and, where it differs, `shown`
//! (as in operational data). Time zone UTC.

use eval::units::{Mapping, format_value, show_value};
use jiff::tz::TimeZone;
use model::ValueType;
use objects::MappingType;
use serde_json::Value;

const CASES: &str = include_str!("../cases/values.jsonl");

/// What the value becomes before it is shown.
fn kept(value: &str, kind: ValueType) -> String {
    match kind {
        ValueType::Float => eval::num::format_f64(eval::num::parse_f64(value).unwrap()),
        _ => value.to_owned(),
    }
}

fn number(value: &Value) -> u8 {
    u8::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn values_for_people() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let kind = ValueType::from_api(number(&case["t"])).unwrap();
        let rows = case["m"].as_array().cloned().unwrap_or_default();
        let mapping = |row: &Value| Mapping {
            kind: MappingType::from_number(row[0].as_i64().unwrap()).unwrap(),
            value: row[1].as_str().unwrap().to_owned(),
            newvalue: row[2].as_str().unwrap().to_owned(),
        };
        let map: Vec<Mapping> = rows.iter().map(mapping).collect();
        let units = case["u"].as_str().unwrap_or_default();
        let value = kept(case["v"].as_str().unwrap(), kind);
        let text = case["text"].as_str().unwrap();
        let shown = case["shown"].as_str().unwrap_or(text);
        let got = [
            format_value(&value, kind, units, &map, &TimeZone::UTC),
            show_value(&value, kind, units, &map, &TimeZone::UTC),
        ];
        if got != [text, shown] {
            wrong.push(format!("{line}\n  {got:?}"));
        }
        count += 1;
    }
    assert!(count > 1_000, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}
