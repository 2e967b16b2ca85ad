//! The JSON of a scenario: what its item keeps, complete and with texts for numbers, as it is
//! shown.

use eval::interval::UpdateInterval;
use serde_json::Map;

use super::HTTPTEST;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::FieldKind::{Int, Name, OneOf, Text};
use crate::object::{FieldKind, missing, taken};
use crate::params;
use crate::write::{nested, only};

/// Plain members that stand in the JSON.
pub(super) const PLAIN: &[&str] = &[
    "agent",
    "authentication",
    "http_user",
    "http_password",
    "http_proxy",
    "retries",
    "ssl_cert_file",
    "ssl_key_file",
    "ssl_key_password",
    "verify_peer",
    "verify_host",
];

/// Members of a step, and what they are if nothing is said.
const STEP: &[(&str, FieldKind, &str)] = &[
    ("name", Name(64), ""),
    ("no", Int(1, 1000), "1"),
    ("url", Name(0), ""),
    ("timeout", Text(255), "15s"),
    ("required", Text(255), ""),
    ("status_codes", Text(255), ""),
    ("follow_redirects", OneOf(&[0, 1]), "1"),
    ("retrieve_mode", OneOf(&[0, 1, 2]), "0"),
];
/// Steps of one scenario.
const STEPS_MAX: usize = 1000;

/// What an item keeps; empty where it keeps nothing.
pub(super) fn read(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}

/// A plain member as text, checked.
fn plain(value: &Json, kind: FieldKind, path: &str) -> ApiResult<Json> {
    let value = kind.check(value, path)?;
    Ok(value.map_or_else(String::new, |value| value.to_string()).into())
}

/// The whole scenario after a change of `before`, or a new one.
pub(super) fn checked(object: &Json, before: Option<&Json>, path: &str) -> ApiResult<Json> {
    let mut doc = Map::new();
    let at = |name: &str| format!("{path}/{name}");
    for name in [&["name"], PLAIN].concat() {
        let kind = HTTPTEST.field(name).map_or(Text(0), |field| field.kind);
        let default = match name {
            "agent" => "Zabbix",
            "retries" => "1",
            "authentication" | "verify_peer" | "verify_host" => "0",
            _ => "",
        };
        let value = match (object.get(name), before) {
            (Some(value), _) => plain(value, kind, &at(name))?,
            (None, Some(before)) => before[name].clone(),
            (None, None) if name == "name" => return Err(missing(path, name)),
            (None, None) => default.into(),
        };
        doc.insert(name.to_owned(), value);
    }
    if let Some(delay) = object.get("delay") {
        let text = params::text(delay, &at("delay"))?;
        // With user macros it is known only on the host.
        if !text.contains("{$") && UpdateInterval::parse(&text).is_err() {
            return Err(ApiError::at(&at("delay"), "a time unit is expected"));
        }
    }
    for name in ["headers", "variables", "tags"] {
        let value = match (object.get(name), before) {
            (Some(value), _) => pairs(value, name, &at(name))?,
            (None, Some(before)) => before[name].clone(),
            (None, None) => Json::Array(Vec::new()),
        };
        doc.insert(name.to_owned(), value);
    }
    let steps = match (object.get("steps"), before) {
        (Some(value), _) => steps(value, &at("steps"))?,
        (None, Some(before)) => before["steps"].clone(),
        (None, None) => return Err(missing(path, "steps")),
    };
    doc.insert("steps".to_owned(), steps);
    Ok(doc.into())
}

/// `[{name, value}]`, of tags `[{tag, value}]`.
fn pairs(value: &Json, name: &str, path: &str) -> ApiResult<Json> {
    let key = if name == "tags" { "tag" } else { "name" };
    let mut list = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &[key, "value"])?;
        let at = |name: &str| format!("{path}/{name}");
        let found = members.get(key).ok_or_else(|| missing(&path, key))?;
        let found = plain(found, Name(255), &at(key))?;
        let in_braces = |text: &str| text.len() > 2 && text.starts_with('{') && text.ends_with('}');
        if name == "variables" && !found.as_str().is_some_and(in_braces) {
            return Err(ApiError::at(&at("name"), "is not enclosed in {} or is malformed"));
        }
        let value = match members.get("value") {
            Some(value) => plain(value, Text(2000), &at("value"))?,
            None => "".into(),
        };
        list.push(serde_json::json!({ key: found, "value": value }));
    }
    Ok(list.into())
}

fn steps(value: &Json, path: &str) -> ApiResult<Json> {
    let mut steps: Vec<(i64, Json)> = Vec::new();
    let given = nested(value, path)?;
    if given.is_empty() || given.len() > STEPS_MAX {
        return Err(ApiError::at(path, "cannot be empty"));
    }
    let mut names = Vec::new();
    for (n, (path, members)) in given.into_iter().enumerate() {
        let at = |name: &str| format!("{path}/{name}");
        let mut step = Map::new();
        for (name, kind, default) in STEP {
            let value = match members.get(*name) {
                Some(value) => plain(value, *kind, &at(name))?,
                None if matches!(*name, "name" | "url") => return Err(missing(&path, name)),
                None if *name == "no" => (n + 1).to_string().into(),
                None => (*default).into(),
            };
            step.insert((*name).to_owned(), value);
        }
        if names.contains(&step["name"]) {
            return Err(taken(&path, "name", step["name"].as_str().unwrap_or_default()));
        }
        names.push(step["name"].clone());
        for name in ["headers", "variables", "query_fields"] {
            let empty = Json::Array(Vec::new());
            let value = members.get(name).unwrap_or(&empty);
            step.insert(name.to_owned(), pairs(value, name, &at(name))?);
        }
        let posts = match members.get("posts") {
            Some(list @ (Json::Array(_) | Json::Object(_))) => pairs(list, "posts", &at("posts"))?,
            Some(text) => plain(text, Text(0), &at("posts"))?,
            None => "".into(),
        };
        let form = if posts.is_array() { "1" } else { "0" };
        step.insert("post_type".to_owned(), form.into());
        step.insert("posts".to_owned(), posts);
        let number = step["no"].as_str().and_then(|no| no.parse().ok()).unwrap_or(0);
        steps.push((number, step.into()));
    }
    steps.sort_by_key(|(number, _)| *number);
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_scenario_is_made_complete() {
        let given = json!({ "name": "s", "retries": 2, "variables": [{ "name": "{a}", "value": "b" }],
            "steps": [{ "name": "two", "no": 2, "url": "u" },
                      { "name": "one", "no": 1, "url": "u", "posts": [{ "name": "a", "value": "b" }] }] });
        let doc = checked(&given, None, "/1").unwrap();
        assert_eq!((&doc["agent"], &doc["retries"]), (&json!("Zabbix"), &json!("2")));
        assert_eq!(doc["steps"][0]["name"], "one");
        assert_eq!(doc["steps"][0]["post_type"], "1");
        assert_eq!(doc["steps"][1]["timeout"], "15s");
        let changed = checked(&json!({ "agent": "me" }), Some(&doc), "/1").unwrap();
        assert_eq!((&changed["agent"], &changed["steps"]), (&json!("me"), &doc["steps"]));
    }

    #[test]
    fn what_is_refused() {
        let step = json!({ "name": "a", "url": "u" });
        for (given, place) in [
            (json!({ "steps": [step] }), "/1"),
            (json!({ "name": "s" }), "/1"),
            (json!({ "name": "s", "steps": [] }), "/1/steps"),
            (json!({ "name": "s", "steps": [step, step] }), "/1/steps/2"),
            (json!({ "name": "s", "steps": [{ "name": "a" }] }), "/1/steps/1"),
            (json!({ "name": "s", "steps": [step], "retries": 11 }), "/1/retries"),
            (json!({ "name": "s", "steps": [step], "delay": "x" }), "/1/delay"),
            (
                json!({ "name": "s", "steps": [step], "variables": [{ "name": "a" }] }),
                "/1/variables/1/name",
            ),
        ] {
            let error = checked(&given, None, "/1").unwrap_err();
            assert!(format!("{error:?}").contains(place), "{error:?} {place}");
        }
    }
}
