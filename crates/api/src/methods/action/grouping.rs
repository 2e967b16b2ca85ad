//! How an action groups its messages, as clients give it.

use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::write::only;

/// Names that messages can be grouped by.
const BY_MAX: usize = 10;
/// Characters of the name of a tag.
const NAME_MAX: usize = 255;
const DAY_S: u64 = 86_400;

/// Times with their defaults, and the shortest and longest one; `or_zero`: 0 = never.
const TIMES: &[(&str, &str, u64, u64, bool)] = &[
    ("wait", "30s", 0, 3_600, false),
    ("interval", "5m", 1, DAY_S, false),
    ("repeat", "0", 60, 30 * DAY_S, true),
];

/// The column: JSON with all members; empty for `null`.
pub(super) fn parse(given: Option<&Map<String, Json>>, path: &str) -> ApiResult<String> {
    let Some(members) = given else { return Ok(String::new()) };
    only(members, path, &["by", "wait", "interval", "repeat"])?;
    let by = members.get("by").ok_or_else(|| missing(path, "by"))?;
    let mut all = Map::new();
    all.insert("by".to_owned(), json!(names(by, &format!("{path}/by"))?));
    for (name, default, min, max, or_zero) in TIMES {
        let at = format!("{path}/{name}");
        let text = match members.get(*name) {
            Some(value) => params::text(value, &at)?,
            None => (*default).to_owned(),
        };
        let seconds = params::time_unit(&text, &at)?;
        let is_never = *or_zero && seconds == 0;
        if !is_never && !(*min..=*max).contains(&seconds) {
            let zero = if *or_zero { "0, " } else { "" };
            return Err(ApiError::at(&at, format_args!("value must be one of {zero}{min}-{max}")));
        }
        all.insert((*name).to_owned(), text.into());
    }
    Ok(Json::Object(all).to_string())
}

fn names(value: &Json, path: &str) -> ApiResult<Vec<String>> {
    let Json::Array(values) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    if values.len() > BY_MAX {
        return Err(ApiError::at(path, format_args!("at most {BY_MAX} names are allowed")));
    }
    let mut names: Vec<String> = Vec::new();
    for (n, value) in values.iter().enumerate() {
        let at = format!("{path}/{}", n + 1);
        let name = params::text(value, &at)?;
        let is_macro = name.starts_with('{') && name.ends_with('}');
        match () {
            () if name.is_empty() => return Err(ApiError::at(&at, "cannot be empty")),
            () if name.chars().count() > NAME_MAX => {
                return Err(ApiError::at(&at, "value is too long"));
            }
            () if is_macro && name != "{HOST.HOST}" => {
                return Err(ApiError::at(&at, "the name of a tag or {HOST.HOST} is expected"));
            }
            () if names.contains(&name) => return Err(taken(path, "by", name)),
            () => names.push(name),
        }
    }
    Ok(names)
}
