//! Runs recorded cases (one JSON object a line): what `cargo xtask conformance` and the
//! compatibility tests share. Compiled with feature `compat` alone.

#![expect(clippy::unwrap_used, reason = "recorded cases have the members that are read")]

mod functions;
mod golden;
mod runners;
mod times;

use serde_json::Value;

use golden::golden;
use runners::RUNNERS;

/// A case passes, or why not.
pub(crate) type Checked = Result<(), String>;

/// What became of the cases of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Cases that came out as expected.
    pub passed: usize,
    /// Of these: cases whose expectation is the reference's answer instead of the file's.
    pub decided: usize,
    /// `id: what went wrong` for each case that did not.
    pub failed: Vec<String>,
    /// Cases that cannot be run without a server or have no fixed answer.
    pub not_applicable: usize,
}

/// Runs the cases of a file, one JSON object a line. `name` is the file's name without its
/// extension and says what the cases are about; files of recorded exchanges (members
/// `request` and `response`) are known by their form. `None` = no runner knows the file.
pub fn run_file(name: &str, lines: &str) -> Option<Report> {
    let runner = RUNNERS.iter().find(|(file, _)| *file == name).map(|(_, run)| *run);
    let mut report = Report::default();
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        let case: Value = match serde_json::from_str(line) {
            Ok(case) => case,
            Err(error) => {
                report.failed.push(format!("{name}: a line is not JSON: {error}"));
                continue;
            }
        };
        let exchange = case.get("request").is_some() && case.get("response").is_some();
        let result = match runner {
            _ if exchange => golden(&case),
            Some(run) => {
                let decided = decided(&case);
                report.decided += usize::from(decided.is_some());
                Some(run(decided.as_ref().unwrap_or(&case)))
            }
            None => return None,
        };
        match result {
            None => report.not_applicable += 1,
            Some(Ok(())) => report.passed += 1,
            Some(Err(reason)) => report.failed.push(format!("{}: {reason}", text(&case, "id"))),
        }
    }
    Some(report)
}

/// Cases of another version of the field's server, with the answer that its 7.0.22 gave when
/// the same values were sent to it and the same function was asked as a calculated item: there
/// floats are equal within 2.22e-16, where the source of the cases compares within 1e-6.
const DECIDED: &[(&str, &str)] = &[
    ("history_functions-0138", "0"),
    ("history_functions-0141", "0"),
    ("history_functions-0158", "0"),
    ("history_functions-0160", "1"),
    ("history_functions-0161", "0"),
];

/// The case with the reference's answer, if that decides it.
fn decided(case: &Value) -> Option<Value> {
    let (_, answer) = DECIDED.iter().find(|(id, _)| *id == text(case, "id"))?;
    let mut case = case.clone();
    case["expect"] = serde_json::json!({ "value": answer });
    Some(case)
}

/// A member as text; empty if absent.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Compares a result with `expect` (`value` or `error`).
pub(crate) fn check(case: &Value, got: Result<String, String>) -> Checked {
    let expect = &case["expect"];
    if !expect["error"].is_null() {
        return match got {
            Err(_) => Ok(()),
            Ok(value) => Err(format!("wanted an error, got {value:?}")),
        };
    }
    let value = got.map_err(|e| format!("wanted {expect}, got the error {e:?}"))?;
    let wanted = text(expect, "value");
    if same(case, wanted, &value) {
        Ok(())
    } else {
        Err(format!("wanted {wanted:?}, got {value:?}"))
    }
}

fn same(case: &Value, wanted: &str, got: &str) -> bool {
    if text(case, "compare") == "json_unordered_array" {
        return sorted(wanted) == sorted(got);
    }
    match (wanted.parse::<f64>(), got.parse::<f64>()) {
        _ if wanted == got => true,
        (Ok(a), Ok(b)) => {
            // Six decimals are what the source compared of rates over times with nanoseconds.
            if text(case, "function") == "rate" {
                return (a - b).abs() <= 1e-6;
            }
            let relative = case["relative_tolerance"].as_f64();
            let tolerance = case["tolerance"].as_f64().or(relative.map(|r| r * a.abs()));
            (a - b).abs() <= tolerance.unwrap_or(1e-12 * a.abs())
        }
        _ => wanted == got,
    }
}

/// The elements of a JSON array in one order; members of objects have none anyway.
pub(crate) fn sorted(text: &str) -> Vec<String> {
    let Ok(Value::Array(elements)) = serde_json::from_str::<Value>(text) else {
        return vec![text.to_owned()];
    };
    let mut texts: Vec<String> = elements.iter().map(|e| canonical(e).to_string()).collect();
    texts.sort();
    texts
}

/// Members in alphabetical order.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<_> = members.iter().collect();
            names.sort_by_key(|(name, _)| name.as_str());
            names.into_iter().map(|(n, v)| (n.clone(), canonical(v))).collect()
        }
        Value::Array(elements) => elements.iter().map(canonical).collect(),
        other => other.clone(),
    }
}

/// A moment in ISO 8601.
pub(crate) fn moment(text: &str) -> model::Timestamp {
    let at: jiff::Timestamp = text.parse().unwrap();
    model::Timestamp {
        clock: at.as_second().try_into().unwrap(),
        ns: at.subsec_nanosecond().try_into().unwrap(),
    }
}

/// An IANA name or a POSIX text; UTC if absent.
pub(crate) fn zone(case: &Value) -> jiff::tz::TimeZone {
    match case["timezone"].as_str() {
        None => jiff::tz::TimeZone::UTC,
        Some(name) => {
            jiff::tz::TimeZone::get(name).or_else(|_| jiff::tz::TimeZone::posix(name)).unwrap()
        }
    }
}
