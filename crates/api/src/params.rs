//! Reading parameters: what API clients send is loose (numbers as text, one value for a list),
//! an error names the path of what it refuses.

use std::collections::BTreeSet;

use serde_json::Map;

use crate::call::Json;
use crate::error::{ApiError, ApiResult};

/// A whole number: `5`, `"5"`, `true`.
pub(crate) fn int(value: &Json, path: &str) -> ApiResult<i64> {
    let fail = || ApiError::at(path, "an integer is expected");
    match value {
        Json::Number(n) => n
            .as_i64()
            .or_else(|| {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "checked to be whole and small"
                )]
                n.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 9e15).map(|f| f as i64)
            })
            .ok_or_else(fail),
        Json::String(text) => text.parse().map_err(|_| fail()),
        Json::Bool(b) => Ok(i64::from(*b)),
        _ => Err(fail()),
    }
}

/// A number that is none of those allowed: `value must be 0`, `value must be one of 0, 1`.
pub(crate) fn one_of(path: &str, allowed: impl Iterator<Item = i64>) -> ApiError {
    let list: Vec<String> = allowed.map(|n| n.to_string()).collect();
    let some = if list.len() == 1 { "" } else { "one of " };
    ApiError::at(path, format_args!("value must be {some}{}", list.join(", ")))
}

/// A text: strings and numbers.
pub(crate) fn text(value: &Json, path: &str) -> ApiResult<String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(n) => Ok(n.to_string()),
        Json::Bool(b) => Ok(if *b { "1".to_owned() } else { String::new() }),
        _ => Err(ApiError::at(path, "a character string is expected")),
    }
}

/// An id: a decimal number, not negative.
pub(crate) fn id(value: &Json, path: &str) -> ApiResult<u64> {
    let fail = || ApiError::at(path, "a number is expected");
    match value {
        Json::Number(n) => n.as_u64().ok_or_else(fail),
        Json::String(text) if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| ApiError::at(path, "a number is too large"))
        }
        _ => Err(fail()),
    }
}

/// A flag: present and not null, false, 0 or empty.
pub(crate) fn flag(value: Option<&Json>) -> bool {
    match value {
        None | Some(Json::Null | Json::Bool(false)) => false,
        Some(Json::Number(n)) => n.as_f64() != Some(0.0),
        Some(Json::String(text)) => !text.is_empty() && text != "0",
        Some(_) => true,
    }
}

/// A list: an array, the values of an object, or one value alone.
pub(crate) fn list(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(values) => values.iter().collect(),
        Json::Object(members) => members.values().collect(),
        one => vec![one],
    }
}

/// A member that is an object of settings, or `null` for none: `None` = not given. An empty text is `null`, as imports
/// have it for what a file leaves out.
pub(crate) fn settings<'j>(
    object: &'j Json,
    name: &str,
    path: &str,
) -> ApiResult<Option<Option<&'j Map<String, Json>>>> {
    match object.get(name) {
        None => Ok(None),
        Some(Json::Null) => Ok(Some(None)),
        Some(Json::String(text)) if text.is_empty() => Ok(Some(None)),
        Some(Json::Object(members)) => Ok(Some(Some(members))),
        Some(_) => Err(ApiError::at(&format!("{path}/{name}"), "an object or null is expected")),
    }
}

/// Ids of an option: `None` when absent or null.
pub(crate) fn ids(params: &Json, name: &str) -> ApiResult<Option<Vec<u64>>> {
    match params.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            let ids = list(value).into_iter().enumerate();
            ids.map(|(n, v)| id(v, &format!("/{name}/{}", n + 1)))
                .collect::<ApiResult<_>>()
                .map(Some)
        }
    }
}

/// Numbers of an option: `None` when absent or null.
pub(crate) fn ints(params: &Json, name: &str) -> ApiResult<Option<Vec<i64>>> {
    match params.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            let values = list(value).into_iter().enumerate();
            values
                .map(|(n, v)| int(v, &format!("/{name}/{}", n + 1)))
                .collect::<ApiResult<_>>()
                .map(Some)
        }
    }
}

/// Objects of a create or update call with their paths `/1`, `/2` …: one object, or an array of them.
pub(crate) fn objects(params: &Json) -> ApiResult<Vec<(String, &Json)>> {
    let objects: Vec<&Json> = match params {
        Json::Array(objects) => objects.iter().collect(),
        one => vec![one],
    };
    if objects.is_empty() || params.as_object().is_some_and(Map::is_empty) {
        return Err(ApiError::at("/", "cannot be empty"));
    }
    let numbered = objects.into_iter().enumerate();
    numbered
        .map(|(n, object)| {
            let path = format!("/{}", n + 1);
            if object.is_object() {
                Ok((path, object))
            } else {
                Err(ApiError::at(&path, "an array is expected"))
            }
        })
        .collect()
}

/// Ids of a delete call: not empty, none twice.
pub(crate) fn delete_ids(params: &Json) -> ApiResult<Vec<u64>> {
    let values = list(params);
    if values.is_empty() {
        return Err(ApiError::at("/", "cannot be empty"));
    }
    let (mut ids, mut seen) = (Vec::with_capacity(values.len()), BTreeSet::new());
    for (n, value) in values.into_iter().enumerate() {
        let path = format!("/{}", n + 1);
        let id = id(value, &path)?;
        if !seen.insert(id) {
            return Err(ApiError::at(&path, format_args!("value ({id}) already exists")));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// `90`, `90s`, `15m`, `1h`, `1d`, `1w` in seconds.
pub(crate) fn time_unit(text: &str, path: &str) -> ApiResult<u64> {
    let fail = || ApiError::at(path, "a time unit is expected");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3_600),
        Some((at, 'd')) => (&text[..at], 86_400),
        Some((at, 'w')) => (&text[..at], 604_800),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fail());
    }
    digits.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(fail)
}
