//! Preprocessing steps in API calls.

use config::objects::Step;
use serde_json::Map;

use super::fields::Kind;
use super::rules::is_macro;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

/// Steps that discovery rules can have.
const RULE_STEPS: &[i64] = &[5, 11, 12, 14, 15, 16, 17, 20, 21, 23, 24, 25, 27, 28, 29, 30];

/// Steps that never fail, or whose failure nobody can handle.
const NO_HANDLER: &[i64] = &[2, 3, 4, 19, 20, 21, 25];

/// Of each of these only one step may be there.
const ONCE: &[&[i64]] = &[&[9, 10], &[19, 20], &[22, 23]];

/// Reads and checks `preprocessing`.
pub(crate) fn read(value: &Json, path: &str, kind: Kind) -> ApiResult<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for (path, members) in nested(value, path)? {
        let step = read_one(members, &path, kind)?;
        for group in ONCE.iter().filter(|group| group.contains(&step.kind)) {
            if steps.iter().any(|other| group.contains(&other.kind)) {
                let list: Vec<String> = group.iter().map(ToString::to_string).collect();
                return Err(ApiError::at(
                    &path,
                    format_args!(
                        "only one object can exist within the combinations of (type)=(({}))",
                        list.join(", ")
                    ),
                ));
            }
        }
        if step.kind == 26 && steps.iter().any(|s| s.kind == 26 && s.params == step.params) {
            let text = format!("value (type, params)=(26, {}) already exists", step.params);
            return Err(ApiError::at(&path, text));
        }
        steps.push(step);
    }
    if steps.len() > 255 {
        return Err(ApiError::at(path, "maximum number of array elements is 255"));
    }
    Ok(steps)
}

fn read_one(members: &Map<String, Json>, path: &str, kind: Kind) -> ApiResult<Step> {
    only(members, path, &["type", "params", "error_handler", "error_handler_params"])?;
    let step_type = params::int(
        members.get("type").ok_or_else(|| missing(path, "type"))?,
        &format!("{path}/type"),
    )?;
    let all: Vec<i64> = (1..=30).collect();
    let allowed = if kind == Kind::Rule { RULE_STEPS } else { &all };
    one_of(step_type, allowed, &format!("{path}/type"))?;
    let text = match members.get("params") {
        Some(value) => params::text(value, &format!("{path}/params"))?,
        None if has_params(step_type) => return Err(missing(path, "params")),
        None => String::new(),
    };
    check_params(step_type, &text, &format!("{path}/params"), kind)?;
    let handler = match members.get("error_handler") {
        Some(value) => params::int(value, &format!("{path}/error_handler"))?,
        None if NO_HANDLER.contains(&step_type) => 0,
        None => return Err(missing(path, "error_handler")),
    };
    let handler_path = format!("{path}/error_handler");
    match step_type {
        26 => one_of(handler, &[1, 2, 3], &handler_path)?,
        _ if NO_HANDLER.contains(&step_type) => one_of(handler, &[0], &handler_path)?,
        _ => one_of(handler, &[0, 1, 2, 3], &handler_path)?,
    }
    let handler_path = format!("{path}/error_handler_params");
    let handler_params = match members.get("error_handler_params") {
        Some(value) => params::text(value, &handler_path)?,
        None => String::new(),
    };
    match handler {
        0 | 1 if !handler_params.is_empty() => {
            return Err(ApiError::at(&handler_path, "value must be empty"));
        }
        3 if handler_params.is_empty() => {
            return Err(ApiError::at(&handler_path, "cannot be empty"));
        }
        _ => {}
    }
    Ok(Step {
        kind: step_type,
        params: text,
        error_handler: handler,
        error_handler_params: handler_params,
    })
}

fn one_of(n: i64, allowed: &[i64], path: &str) -> ApiResult<()> {
    if allowed.contains(&n) {
        return Ok(());
    }
    let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    let words = if list.len() > 1 { "one of " } else { "" };
    Err(ApiError::at(path, format_args!("value must be {words}{}", list.join(", "))))
}

fn has_params(step_type: i64) -> bool {
    !matches!(step_type, 6..=10 | 19 | 23 | 27)
}

/// What one parameter of a step must be.
#[derive(Clone, Copy)]
enum Param {
    /// Any text that is not empty.
    Filled,
    /// Any text.
    Any,
    /// A regular expression.
    Regex,
    /// A number; may be empty if the flag is set.
    Float(bool),
    /// A time with suffix, 1 s to 25 years.
    Time,
    /// At most one character.
    Char,
    /// One of these whole numbers.
    Number(&'static [i64]),
}

/// Parameters of a step type, and how many of them must be there.
fn shape(step_type: i64) -> (&'static [Param], usize) {
    use Param::{Any, Char, Filled, Float, Number, Regex, Time};
    match step_type {
        1 => (&[Float(false)], 1),
        2..=4 | 11 | 12 | 16 | 17 | 21 => (&[Filled], 1),
        5 | 18 => (&[Regex, Filled], 2),
        13 => (&[Float(true), Float(true)], 2),
        14 | 15 => (&[Regex], 1),
        20 => (&[Time], 1),
        22 => (&[Filled, Any, Any], 2),
        23 => (&[Any], 0),
        24 => (&[Char, Char, Number(&[0, 1])], 3),
        25 => (&[Filled, Any], 1),
        26 => (&[Number(&[-1, 0, 1]), Any], 1),
        28 => (&[Filled, Number(&[0, 1, 2, 3])], 2),
        30 => (&[Number(&[1, 2, 3])], 1),
        _ => (&[], 0),
    }
}

fn check_params(step_type: i64, text: &str, path: &str, kind: Kind) -> ApiResult<()> {
    if step_type == 29 {
        return check_walk(text, path);
    }
    let (shape, least) = shape(step_type);
    if shape.is_empty() {
        let fine = text.is_empty();
        return if fine { Ok(()) } else { Err(ApiError::at(path, "value must be empty")) };
    }
    // One text that may itself hold line feeds.
    let whole = matches!(step_type, 2..=4 | 11 | 12 | 14..=17 | 21);
    let values: Vec<&str> = if whole { vec![text] } else { text.split('\n').collect() };
    if step_type == 13 && values.iter().all(|value| value.is_empty()) {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    for (n, param) in shape.iter().enumerate() {
        let Some(value) = values.get(n) else { break };
        check_param(*param, value, &format!("{path}/{}", n + 1), kind)?;
    }
    if values.len() < least {
        let text = format!("the parameter \"{}\" is missing", values.len() + 1);
        return Err(ApiError::at(path, text));
    }
    if values.len() > shape.len() {
        let text = format!("unexpected parameter \"{}\"", shape.len() + 1);
        return Err(ApiError::at(path, text));
    }
    match (step_type, &*values) {
        (13, [min, max]) => check_range(min, max, path),
        (22, [_, how, rest @ ..]) => check_prometheus(how, rest.first().copied(), path),
        (26, [how, rest @ ..]) => check_unsupported(how, rest.first().copied(), path),
        _ => Ok(()),
    }
}

fn check_param(param: Param, value: &str, path: &str, kind: Kind) -> ApiResult<()> {
    let has_macro = value.contains("{$") || (kind == Kind::Prototype && value.contains("{#"));
    let empty = || Err(ApiError::at(path, "cannot be empty"));
    match param {
        Param::Filled if value.is_empty() => empty(),
        Param::Regex if value.is_empty() => empty(),
        Param::Time if value.is_empty() => empty(),
        _ if has_macro => Ok(()),
        Param::Regex if eval::regex::check(value).is_err() => {
            Err(ApiError::at(path, "invalid regular expression"))
        }
        Param::Float(true) if value.is_empty() => Ok(()),
        Param::Float(_) if eval::num::parse_suffixed(value).is_none() => {
            Err(ApiError::at(path, "a floating point value is expected"))
        }
        Param::Time => match eval::num::parse_seconds(value) {
            None => Err(ApiError::at(path, "a time unit is expected")),
            Some(1..=788_400_000) => Ok(()),
            Some(_) => Err(ApiError::at(path, "value must be one of 1-788400000")),
        },
        Param::Char if value.chars().count() > 1 => Err(ApiError::at(path, "value is too long")),
        Param::Number(allowed) => match value.parse::<i64>() {
            Ok(n) => one_of(n, allowed, path),
            Err(_) => Err(ApiError::at(path, "an integer is expected")),
        },
        _ => Ok(()),
    }
}

fn check_range(min: &str, max: &str, path: &str) -> ApiResult<()> {
    if is_macro(min, true) || is_macro(max, true) {
        return Ok(());
    }
    let number = |text: &str| eval::num::parse_suffixed(text);
    match (number(min), number(max)) {
        (Some(low), Some(high)) if low >= high => Err(ApiError::at(
            &format!("{path}/2"),
            format_args!("cannot be less than or equal to the value of parameter \"{path}/1\""),
        )),
        _ => Ok(()),
    }
}

fn check_prometheus(how: &str, what: Option<&str>, path: &str) -> ApiResult<()> {
    let functions = ["sum", "min", "max", "avg", "count"];
    let what = what.unwrap_or_default();
    match how {
        "value" if what.is_empty() => Ok(()),
        "value" => Err(ApiError::at(&format!("{path}/3"), "value must be empty")),
        "label" | "function" if what.is_empty() => {
            Err(ApiError::at(&format!("{path}/3"), "cannot be empty"))
        }
        "function" if !functions.contains(&what) => Err(ApiError::at(
            &format!("{path}/3"),
            "value must be one of \"sum\", \"min\", \"max\", \"avg\", \"count\"",
        )),
        "label" | "function" => Ok(()),
        _ => Err(ApiError::at(
            &format!("{path}/2"),
            "value must be one of \"value\", \"label\", \"function\"",
        )),
    }
}

fn check_unsupported(how: &str, pattern: Option<&str>, path: &str) -> ApiResult<()> {
    match (how, pattern.unwrap_or_default()) {
        ("-1", "") => Ok(()),
        ("-1", _) => Err(ApiError::at(&format!("{path}/2"), "value must be empty")),
        (_, "") => Err(ApiError::at(&format!("{path}/2"), "cannot be empty")),
        (_, pattern) if !pattern.contains("{$") && eval::regex::check(pattern).is_err() => {
            Err(ApiError::at(&format!("{path}/2"), "invalid regular expression"))
        }
        _ => Ok(()),
    }
}

/// Triples of name, OID and format.
fn check_walk(text: &str, path: &str) -> ApiResult<()> {
    let values: Vec<&str> = text.split('\n').collect();
    for (n, value) in values.iter().enumerate() {
        let path = format!("{path}/{}", n + 1);
        let param = if n % 3 == 2 { Param::Number(&[0, 1, 2, 3]) } else { Param::Filled };
        check_param(param, value, &path, Kind::Item)?;
    }
    match values.len() % 3 {
        0 => Ok(()),
        _ => {
            let text = format!("the parameter \"{}\" is missing", values.len() + 1);
            Err(ApiError::at(path, text))
        }
    }
}
