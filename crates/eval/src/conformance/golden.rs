//! Item tests recorded from a real server: `item.test` and `expressions.evaluate` requests.

use crate::expr::{Expression, Mode};
use crate::preproc::{self, Outcome, State, Step, StepTrace};
use crate::script::Scripts;
use jiff::tz::TimeZone;
use model::{Payload, Timestamp, ValueType};
use serde_json::Value;

use super::runners::Fixed;
use super::{Checked, canonical, functions, sorted, text};

const NOW: u32 = 1_700_000_000;

/// Compares values and the presence of errors; `None` = the exchange is about the request
/// itself, or its answer is not fixed.
pub(super) fn golden(case: &Value) -> Option<Checked> {
    let data = &case["request"]["data"];
    if text(case, "id") == "jsonpath-0075" {
        // The first name of an object: in hash order there, in document order here.
        return None;
    }
    let answer = &case["response"]["data"];
    if answer.is_null() {
        return None;
    }
    if data["item"]["type"].as_u64() == Some(15) {
        return expression(case);
    }
    Some(steps(&data["item"], &data["options"], &answer["preprocessing"]))
}

fn expression(case: &Value) -> Option<Checked> {
    let answer = &case["response"]["data"]["item"];
    let source = text(&case["request"]["data"]["item"], "params");
    if ["now(", "time(", "date(", "dayof", "rand("].iter().any(|f| source.contains(f)) {
        return None;
    }
    let mut operands =
        Fixed { macros: &Value::Null, now: Timestamp::from_s(NOW), tz: TimeZone::UTC };
    let got = Expression::parse(source)
        .map_err(|e| e.to_string())
        .and_then(|e| crate::expr::eval(&e, &mut operands, Mode::Strict).map_err(|e| e.to_string()))
        .and_then(|v| v.as_text().ok_or_else(|| "a vector".to_owned()));
    Some(compare(answer["result"].as_str(), got.as_deref().ok(), 1e-6))
}

fn compare(wanted: Option<&str>, got: Option<&str>, tolerance: f64) -> Checked {
    let same = match (wanted, got) {
        (Some(a), Some(b)) if a == b => true,
        (Some(a), Some(b)) => match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() <= tolerance * a.abs().max(1.0),
            _ => {
                let json = |t: &str| serde_json::from_str::<Value>(t).ok().map(|v| canonical(&v));
                a == b || (json(a).is_some() && json(a) == json(b)) || sorted(a) == sorted(b)
            }
        },
        (a, b) => a == b,
    };
    if same { Ok(()) } else { Err(format!("wanted {wanted:?}, got {got:?}")) }
}

fn number(value: &Value) -> u8 {
    value.as_u64().or_else(|| value.as_str()?.parse().ok()).map_or(0, |v| u8::try_from(v).unwrap())
}

fn steps(item: &Value, options: &Value, answer: &Value) -> Checked {
    let value_type = ValueType::from_api(number(&item["value_type"])).unwrap();
    let empty = Vec::new();
    let steps: Vec<Step> = item["steps"]
        .as_array()
        .unwrap_or(&empty)
        .iter()
        .map(|s| {
            let handler = number(&s["error_handler"]);
            let params = text(s, "error_handler_params");
            Step::from_api(number(&s["type"]), text(s, "params"), handler, params).unwrap()
        })
        .collect();
    let at = Timestamp::from_s(NOW);
    let mut state = State::default();
    let mut trace: Vec<StepTrace> = Vec::new();
    let mut scripts = Scripts::new(stdx::clock::RealClock::shared());
    let recorded = answer["steps"].as_array().cloned().unwrap_or_default();
    // The value before goes through the same steps; if it fails that is the answer.
    if let Some(last) = options.get("history") {
        let at = Timestamp::from_s(NOW - seconds_back(text(last, "timestamp")));
        let value = Payload::Text(text(last, "value").into());
        let outcome = preproc::run_traced(
            &steps,
            &mut state,
            value,
            at,
            value_type,
            &mut scripts,
            Some(&mut trace),
        );
        let refused = match outcome {
            Outcome::NotSupported(_) => true,
            Outcome::Value(value) => preproc::convert(value, value_type).is_err(),
            Outcome::Discarded => false,
        };
        if refused && options["single"].as_bool() != Some(true) {
            return match answer["previous"].as_bool() {
                Some(true) => compare_trace(&recorded, &trace),
                _ => Err("the value before fails only here".to_owned()),
            };
        }
        trace.clear();
    }
    let input = text(item, "value");
    let input = match options["state"].as_u64() {
        Some(1) => Payload::NotSupported(input.into()),
        _ => Payload::Text(input.into()),
    };
    let outcome = preproc::run_traced(
        &steps,
        &mut state,
        input,
        at,
        value_type,
        &mut scripts,
        Some(&mut trace),
    );
    if let Some(last) = trace.last_mut()
        && let Outcome::Value(value) = &last.outcome
        && value_type.is_numeric()
        && let Ok(kept) = preproc::convert(value.clone(), value_type)
    {
        last.outcome = Outcome::Value(match kept {
            model::SampleValue::Float(v) => Payload::Float(v),
            model::SampleValue::Unsigned(v) => Payload::Unsigned(v),
            _ => value.clone(),
        });
    }
    compare_trace(&recorded, &trace)?;
    let shown_as = match options["single"].as_bool() {
        Some(true) => ValueType::Text,
        _ => value_type,
    };
    let result = match outcome {
        Outcome::Value(value) => {
            preproc::convert(value, shown_as).ok().and_then(|v| crate::func::operand(&v).as_text())
        }
        _ => None,
    };
    compare(answer["result"].as_str(), result.as_deref(), 1e-12)
}

fn compare_trace(recorded: &[Value], trace: &[StepTrace]) -> Checked {
    for (step, got) in recorded.iter().zip(trace) {
        let result = match &got.outcome {
            Outcome::Value(value) => Some(functions::payload_text(value)),
            _ => None,
        };
        compare(step["result"].as_str(), result.as_deref(), 1e-12)?;
        if step["error"].is_object() != got.error.is_some() {
            return Err(format!("a step's error: wanted {}, got {:?}", step["error"], got.error));
        }
    }
    if recorded.len() != trace.len() {
        return Err(format!("{} steps instead of {}", trace.len(), recorded.len()));
    }
    Ok(())
}

/// `now-1m` → 60
fn seconds_back(text: &str) -> u32 {
    let digits = text.trim_start_matches("now").trim_start_matches(['-', '+']);
    crate::num::parse_seconds(digits).unwrap_or(0)
}
