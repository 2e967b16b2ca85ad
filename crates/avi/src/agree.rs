//! Whether an object of the JSON-RPC API still is what was written.

use serde_json::Value as Json;

/// Whether `actual`, a value of a `get`, is what `expected` wrote. Numbers are texts there, members that
/// were not written do not count, and certificates may have other line ends.
#[must_use]
pub fn agrees(expected: &Json, actual: &Json) -> bool {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) if expected.is_empty() => actual.is_empty(),
        (Json::Object(expected), actual) => expected
            .iter()
            .all(|(name, value)| actual.get(name).is_some_and(|actual| agrees(value, actual))),
        (Json::Array(expected), Json::Array(actual)) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| agrees(expected, actual))
        }
        (Json::String(expected), Json::String(actual)) if expected.contains("-----BEGIN ") => {
            expected.split_whitespace().eq(actual.split_whitespace())
        }
        (Json::Array(expected), Json::Object(actual)) => expected.is_empty() && actual.is_empty(),
        _ => text(expected) == text(actual),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
