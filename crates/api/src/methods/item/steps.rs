//! Preprocessing steps in API calls.

use config::objects::Step;
use objects::{OnFail, Param, ParamRule, Params, StepKind};
use serde_json::Map;

use super::fields::Kind;
use super::rules::is_macro;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::params;
use crate::write::{nested, only};

/// Reads and checks `preprocessing`.
pub(crate) fn read(value: &Json, path: &str, kind: Kind) -> ApiResult<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for (path, members) in nested(value, path)? {
        let step = read_one(members, &path, kind)?;
        if let Some(kinds) = step.kind.exclusive()
            && steps.iter().any(|other| kinds.contains(&other.kind))
        {
            let list: Vec<&str> = kinds.iter().map(|kind| kind.text()).collect();
            return Err(ApiError::at(
                &path,
                format_args!(
                    "only one object can exist within the combinations of (type)=(({}))",
                    list.join(", ")
                ),
            ));
        }
        let same = |other: &Step| other.kind == step.kind && other.params == step.params;
        if step.kind == StepKind::CheckNotSupported && steps.iter().any(same) {
            let (number, params) = (step.kind.text(), &step.params);
            let text = format!("value (type, params)=({number}, {params}) already exists");
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
    let step = read_kind(members, path, kind)?;
    let text = match members.get("params") {
        Some(value) => params::text(value, &format!("{path}/params"))?,
        None if step.params().are_required() => return Err(missing(path, "params")),
        None => String::new(),
    };
    check_params(step, &text, &format!("{path}/params"), kind)?;
    let handler = match members.get("error_handler") {
        Some(value) => params::int(value, &format!("{path}/error_handler"))?,
        None if step.is_without_handler() => OnFail::Original.number(),
        None => return Err(missing(path, "error_handler")),
    };
    let handler = one_of(handler, step.on_fail(), &format!("{path}/error_handler"))?;
    let handler_path = format!("{path}/error_handler_params");
    let handler_params = match members.get("error_handler_params") {
        Some(value) => params::text(value, &handler_path)?,
        None => String::new(),
    };
    match handler {
        OnFail::Original | OnFail::Discard if !handler_params.is_empty() => {
            return Err(ApiError::at(&handler_path, "value must be empty"));
        }
        OnFail::SetError if handler_params.is_empty() => {
            return Err(ApiError::at(&handler_path, "cannot be empty"));
        }
        _ => {}
    }
    Ok(Step {
        kind: step,
        params: text,
        error_handler: handler,
        error_handler_params: handler_params,
    })
}

fn read_kind(members: &Map<String, Json>, path: &str, kind: Kind) -> ApiResult<StepKind> {
    let value = members.get("type").ok_or_else(|| missing(path, "type"))?;
    let path = format!("{path}/type");
    let number = params::int(value, &path)?;
    let fits = |step: &StepKind| kind != Kind::Rule || step.is_for_rules();
    let allowed: Vec<StepKind> = StepKind::ALL.iter().copied().filter(fits).collect();
    one_of(number, &allowed, &path)
}

/// The kind with this number, if it is allowed here.
fn one_of<T: Copy + Into<i64>>(number: i64, allowed: &[T], path: &str) -> ApiResult<T> {
    if let Some(found) = allowed.iter().find(|kind| (**kind).into() == number) {
        return Ok(*found);
    }
    let list: Vec<String> = allowed.iter().map(|kind| (*kind).into().to_string()).collect();
    let words = if list.len() > 1 { "one of " } else { "" };
    Err(ApiError::at(path, format_args!("value must be {words}{}", list.join(", "))))
}

fn check_params(step: StepKind, text: &str, path: &str, kind: Kind) -> ApiResult<()> {
    let (shape, least) = match step.params() {
        Params::None if text.is_empty() => return Ok(()),
        Params::None => return Err(ApiError::at(path, "value must be empty")),
        Params::Text(param) => return check_param(param.rule, text, &format!("{path}/1"), kind),
        Params::Rows(_, row) => return check_rows(row, text, path),
        Params::Lines(shape, least) => (shape, least),
    };
    let values: Vec<&str> = text.split('\n').collect();
    if step == StepKind::InRange && values.iter().all(|value| value.is_empty()) {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    for (n, (param, value)) in shape.iter().zip(&values).enumerate() {
        check_param(param.rule, value, &format!("{path}/{}", n + 1), kind)?;
    }
    if values.len() < least {
        let text = format!("the parameter \"{}\" is missing", values.len() + 1);
        return Err(ApiError::at(path, text));
    }
    if values.len() > shape.len() {
        let text = format!("unexpected parameter \"{}\"", shape.len() + 1);
        return Err(ApiError::at(path, text));
    }
    match (step, &*values) {
        (StepKind::InRange, [min, max]) => check_range(min, max, path),
        (StepKind::PrometheusPattern, [_, how, rest @ ..]) => {
            check_prometheus(how, rest.first().copied(), path)
        }
        (StepKind::CheckNotSupported, [how, rest @ ..]) => {
            check_unsupported(how, rest.first().copied(), path)
        }
        _ => Ok(()),
    }
}

fn check_param(rule: ParamRule, value: &str, path: &str, kind: Kind) -> ApiResult<()> {
    use ParamRule as Rule;
    let has_macro = value.contains("{$") || (kind == Kind::Prototype && value.contains("{#"));
    match rule {
        Rule::Filled | Rule::Script | Rule::Regex | Rule::Time if value.is_empty() => {
            Err(ApiError::at(path, "cannot be empty"))
        }
        _ if has_macro => Ok(()),
        Rule::Regex if eval::regex::check(value).is_err() => {
            Err(ApiError::at(path, "invalid regular expression"))
        }
        Rule::FloatOrEmpty if value.is_empty() => Ok(()),
        Rule::Float | Rule::FloatOrEmpty if eval::num::parse_suffixed(value).is_none() => {
            Err(ApiError::at(path, "a floating point value is expected"))
        }
        Rule::Time => match eval::num::parse_seconds(value) {
            None => Err(ApiError::at(path, "a time unit is expected")),
            Some(1..=788_400_000) => Ok(()),
            Some(_) => Err(ApiError::at(path, "value must be one of 1-788400000")),
        },
        Rule::Char if value.chars().count() > 1 => Err(ApiError::at(path, "value is too long")),
        Rule::Number(choices) => match value.parse::<i64>() {
            Ok(number) => {
                let numbers = choices.iter().filter_map(|(number, _)| number.parse().ok());
                let mut allowed: Vec<i64> = numbers.collect();
                allowed.sort_unstable();
                one_of(number, &allowed, path).map(drop)
            }
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

fn check_rows(row: &[Param], text: &str, path: &str) -> ApiResult<()> {
    let values: Vec<&str> = text.split('\n').collect();
    for (n, (param, value)) in row.iter().cycle().zip(&values).enumerate() {
        check_param(param.rule, value, &format!("{path}/{}", n + 1), Kind::Item)?;
    }
    if values.len().is_multiple_of(row.len()) {
        return Ok(());
    }
    let text = format!("the parameter \"{}\" is missing", values.len() + 1);
    Err(ApiError::at(path, text))
}
