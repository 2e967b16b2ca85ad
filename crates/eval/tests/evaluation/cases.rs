//! Some thousand cases of steps with what the field's 7.0 server made of them: `cases/steps.jsonl`.
//!
//! A line has `steps` (type, parameters, error handler, its parameter), `value`, `type` (of the
//! item, 4 if absent), `error` (the value is an error), `before` (a value and how long ago it was),
//! `result` (null = discarded) or `fails`, and `trace`: what each step gave (`=text`, `-` nothing,
//! `!` an error).

use eval::preproc::{self, Outcome, State, Step, StepTrace, into_text};
use eval::script::Scripts;
use model::{Payload, SampleValue, Timestamp, ValueType};
use serde_json::Value;

const CASES: &str = include_str!("../cases/steps.jsonl");
const NOW_S: u32 = 1_700_000_000;

fn number(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|n| u8::try_from(n).ok())
}

fn step(row: &Value) -> Step {
    let text = |at: usize| row[at].as_str().unwrap_or_default();
    Step::from_api(number(&row[0]).unwrap(), text(1), number(&row[2]).unwrap_or(0), text(3))
        .unwrap()
}

fn kept(value: Payload, kind: ValueType) -> Option<String> {
    Some(match preproc::convert(value, kind).ok()? {
        SampleValue::Float(v) => eval::num::format_f64(v),
        SampleValue::Unsigned(v) => v.to_string(),
        SampleValue::Text(text) => text.to_string(),
        SampleValue::Log(log) => log.0.to_string(),
    })
}

/// Numbers agree within the last digits, documents whatever the order of members and rows.
fn same(a: &str, b: &str) -> bool {
    let json = |text: &str| serde_json::from_str::<Value>(text).ok().map(|v| sorted(&v));
    match (a.parse::<f64>(), b.parse::<f64>()) {
        _ if a == b => true,
        (Ok(a), Ok(b)) => a == b || (a - b).abs() <= 1e-12 * a.abs(),
        _ => json(a).is_some() && json(a) == json(b),
    }
}

fn sorted(value: &Value) -> String {
    let list = |parts: Vec<String>| {
        let mut parts = parts;
        parts.sort();
        parts.join(",")
    };
    match value {
        Value::Array(all) => format!("[{}]", list(all.iter().map(sorted).collect())),
        Value::Object(all) => {
            let member = |(name, value): (&String, &Value)| format!("{name:?}:{}", sorted(value));
            format!("{{{}}}", list(all.iter().map(member).collect()))
        }
        other => other.to_string(),
    }
}

fn shown(trace: &StepTrace, kind: ValueType, last: bool) -> String {
    match &trace.outcome {
        Outcome::Value(value) if last && kind.is_numeric() => {
            let text = || into_text(value.clone()).to_string();
            format!("={}", kept(value.clone(), kind).unwrap_or_else(text))
        }
        Outcome::Value(value) => format!("={}", into_text(value.clone())),
        Outcome::Discarded => "-".to_owned(),
        Outcome::NotSupported(_) => "!".to_owned(),
    }
}

fn run(case: &Value, scripts: &mut Scripts) -> Result<(), String> {
    let steps: Vec<Step> = case["steps"].as_array().unwrap().iter().map(step).collect();
    let kind = ValueType::from_api(number(&case["type"]).unwrap_or(4)).unwrap();
    let mut state = State::default();
    if let Some(before) = case["before"].as_array() {
        let back = before[1].as_str().unwrap().trim_start_matches("now").trim_start_matches('-');
        let at = Timestamp::from_s(NOW_S - eval::num::parse_seconds(back).unwrap_or(0));
        let value = Payload::Text(before[0].as_str().unwrap().into());
        drop(preproc::run(&steps, &mut state, value, at, kind, scripts));
    }
    let value = case["value"].as_str().unwrap();
    let input = match case["error"].as_bool() {
        Some(true) => Payload::NotSupported(value.into()),
        _ => Payload::Text(value.into()),
    };
    let mut trace = Vec::new();
    let at = Timestamp::from_s(NOW_S);
    let outcome =
        preproc::run_traced(&steps, &mut state, input, at, kind, scripts, Some(&mut trace));
    let wanted = case["trace"].as_array().unwrap();
    if wanted.len() != trace.len() {
        return Err(format!("{} steps ran instead of {}", trace.len(), wanted.len()));
    }
    for (at, (wanted, got)) in wanted.iter().zip(&trace).enumerate() {
        let wanted = wanted.as_str().unwrap();
        let got = shown(got, kind, at + 1 == trace.len());
        if !(wanted == got || wanted.len() > 1 && got.len() > 1 && same(&wanted[1..], &got[1..])) {
            return Err(format!("step {}: wanted {wanted:?}, got {got:?}", at + 1));
        }
    }
    let result = match outcome {
        Outcome::Value(value) => kept(value, kind).map(Some),
        Outcome::Discarded => Some(None),
        Outcome::NotSupported(_) => None,
    };
    let fails = case["fails"].as_bool() == Some(true);
    let agrees = match (&result, case["result"].as_str()) {
        (None, _) => fails,
        (Some(Some(got)), Some(wanted)) => same(wanted, got),
        (Some(got), None) => !fails && got.is_none(),
        (Some(None), Some(_)) => false,
    };
    if agrees { Ok(()) } else { Err(format!("wanted {}, got {result:?}", case["result"])) }
}

#[test]
fn steps_give_what_the_field_gives() {
    let mut scripts = Scripts::new(stdx::clock::RealClock::shared());
    let (mut passed, mut wrong) = (0, Vec::new());
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        match run(&case, &mut scripts) {
            Ok(()) => passed += 1,
            Err(reason) => wrong.push(format!("{line}\n    {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), passed, wrong.join("\n"));
    assert!(passed > 5_000, "the cases are missing");
}
