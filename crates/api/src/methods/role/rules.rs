//! Rules of roles. They are kept as the API shows them, but for what nobody has set: that follows
//! the defaults of the role's type.

use objects::UserType::{self, Admin, SuperAdmin, User};
use serde_json::{Map, json};

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::object::{missing, taken};
use crate::write::{nested, only};
use crate::{params, rpc};

/// Elements of the interface with the lowest type of user that has them.
const UI: &[(&str, UserType)] = &[
    ("monitoring.dashboard", User),
    ("monitoring.problems", User),
    ("monitoring.hosts", User),
    ("monitoring.latest_data", User),
    ("monitoring.maps", User),
    ("services.services", User),
    ("services.sla_report", User),
    ("inventory.overview", User),
    ("inventory.hosts", User),
    ("reports.availability_report", User),
    ("reports.top_triggers", User),
    ("monitoring.discovery", Admin),
    ("services.sla", Admin),
    ("reports.scheduled_reports", Admin),
    ("reports.notifications", Admin),
    ("configuration.template_groups", Admin),
    ("configuration.host_groups", Admin),
    ("configuration.templates", Admin),
    ("configuration.hosts", Admin),
    ("configuration.maintenance", Admin),
    ("configuration.discovery", Admin),
    ("configuration.trigger_actions", Admin),
    ("configuration.service_actions", Admin),
    ("configuration.discovery_actions", Admin),
    ("configuration.autoregistration_actions", Admin),
    ("configuration.internal_actions", Admin),
    ("reports.system_info", SuperAdmin),
    ("reports.audit", SuperAdmin),
    ("reports.action_log", SuperAdmin),
    ("configuration.event_correlation", SuperAdmin),
    ("administration.media_types", SuperAdmin),
    ("administration.scripts", SuperAdmin),
    ("administration.user_groups", SuperAdmin),
    ("administration.user_roles", SuperAdmin),
    ("administration.users", SuperAdmin),
    ("administration.api_tokens", SuperAdmin),
    ("administration.authentication", SuperAdmin),
    ("administration.general", SuperAdmin),
    ("administration.audit_log", SuperAdmin),
    ("administration.housekeeping", SuperAdmin),
    ("administration.proxy_groups", SuperAdmin),
    ("administration.proxies", SuperAdmin),
    ("administration.macros", SuperAdmin),
    ("administration.queue", SuperAdmin),
];

/// Actions with the lowest type of user that has them.
const ACTIONS: &[(&str, UserType)] = &[
    ("edit_dashboards", User),
    ("edit_maps", User),
    ("acknowledge_problems", User),
    ("suppress_problems", User),
    ("close_problems", User),
    ("change_severity", User),
    ("add_problem_comments", User),
    ("execute_scripts", User),
    ("manage_api_tokens", User),
    ("edit_maintenance", Admin),
    ("manage_scheduled_reports", Admin),
    ("manage_sla", Admin),
    ("invoke_execute_now", User),
    ("change_problem_ranking", User),
];

/// Clients know the dashboard widgets as modules with these ids.
const MODULES: std::ops::RangeInclusive<u64> = 1..=30;

/// Rules that are one digit: name, values, default by type.
fn digit_default(name: &str, kind: UserType) -> Option<i64> {
    Some(match name {
        "ui.default_access" | "modules.default_access" | "actions.default_access" => 1,
        "api.access" | "services.read.mode" => 1,
        "api.mode" => 0,
        // Plain users only look at services.
        "services.write.mode" => i64::from(kind > User),
        _ => return None,
    })
}

const DIGITS: &[&str] = &[
    "ui.default_access",
    "services.read.mode",
    "services.write.mode",
    "modules.default_access",
    "api.access",
    "api.mode",
    "actions.default_access",
];

/// Lists with a `default_access`, which is the status of elements that the stored list lacks: those
/// that a later version adds, and all of the Guest role's actions.
const WITH_DEFAULT: &[&str] = &["ui", "actions", "modules"];

/// The stored rules as `role.get` shows them.
pub(super) fn shown(stored: &Json, kind: UserType, wanted: &Output) -> Json {
    let mut out = Map::new();
    let mut put = |name: &str, value: Json| {
        if wanted.has(name) {
            out.insert(name.to_owned(), value);
        }
    };
    let digit = |name: &str| {
        let stored = stored.get(name).and_then(|v| params::int(v, "").ok());
        stored.or_else(|| digit_default(name, kind)).unwrap_or(0).to_string()
    };
    for name in DIGITS {
        put(name, digit(name).into());
    }
    for (name, known) in [("ui", UI), ("actions", ACTIONS)] {
        let default = digit(&format!("{name}.default_access"));
        let list = known.iter().filter(|(_, lowest)| *lowest <= kind).map(|(element, _)| {
            let status = status_of(stored, name, "name", element);
            json!({ "name": element, "status": status.as_ref().unwrap_or(&default) })
        });
        put(name, list.collect());
    }
    let default = digit("modules.default_access");
    let modules = MODULES.map(|id| {
        let status = status_of(stored, "modules", "moduleid", &id.to_string());
        json!({ "moduleid": id, "status": status.as_ref().unwrap_or(&default) })
    });
    put("modules", modules.collect());
    put("api", stored.get("api").cloned().unwrap_or_else(|| json!([])));
    for access in ["read", "write"] {
        let (list, tag) = (format!("services.{access}.list"), format!("services.{access}.tag"));
        put(&list, stored.get(&list).cloned().unwrap_or_else(|| json!([])));
        let none = || json!({ "tag": "", "value": "" });
        put(&tag, stored.get(&tag).cloned().unwrap_or_else(none));
    }
    Json::Object(out)
}

fn status_of(stored: &Json, list: &str, key: &str, element: &str) -> Option<String> {
    let list = stored.get(list)?.as_array()?;
    // Ids of modules are numbers where `shown` made the list.
    let same = |one: &&Json| match one[key].as_str() {
        Some(text) => text == element,
        None => element.parse::<u64>().is_ok_and(|id| one[key] == id),
    };
    let one = list.iter().find(same)?;
    Some(one["status"].as_str().unwrap_or("1").to_owned())
}

/// The stored rules with the given ones in their place, checked for a role of this type.
pub(super) fn merged(
    stored: &Json,
    given: &Json,
    kind: UserType,
    role: &str,
    path: &str,
) -> ApiResult<Json> {
    let mut out = stored.as_object().cloned().unwrap_or_default();
    let given = match given {
        Json::Object(members) => members.clone(),
        Json::Array(values) if values.is_empty() => Map::new(),
        Json::Null => Map::new(),
        _ => return Err(ApiError::at(path, "an array is expected")),
    };
    let known: Vec<&str> = DIGITS
        .iter()
        .copied()
        .chain(["ui", "actions", "modules", "api"])
        .chain(["services.read.list", "services.read.tag"])
        .chain(["services.write.list", "services.write.tag"])
        .collect();
    only(&given, path, &known)?;
    for (name, value) in &given {
        let at = format!("{path}/{name}");
        let value = match name.as_str() {
            "ui" => elements(value, &at, UI, kind, "UI element", role)?,
            "actions" => elements(value, &at, ACTIONS, kind, "Action", role)?,
            "modules" => modules(value, &at, role)?,
            "api" => api_methods(value, &at, role)?,
            "services.read.list" | "services.write.list" => services(value, &at)?,
            "services.read.tag" | "services.write.tag" => tag(value, &at)?,
            _ => match params::int(value, &at)? {
                n @ (0 | 1) => Json::from(n.to_string()),
                _ => return Err(ApiError::at(&at, "value must be one of 0, 1")),
            },
        };
        out.insert(name.clone(), value);
    }
    // Another default is about later elements: those of today keep their status.
    for name in WITH_DEFAULT {
        if given.contains_key(&format!("{name}.default_access")) && !out.contains_key(*name) {
            let mut today = shown(stored, kind, &Output::Fields(vec![(*name).to_owned()]));
            out.insert((*name).to_owned(), today[*name].take());
        }
    }
    let out = Json::Object(out);
    check_services(&out, kind, role)?;
    let ui = shown(&out, kind, &Output::Fields(vec!["ui".to_owned()]));
    let any = ui["ui"].as_array().is_some_and(|list| list.iter().any(|one| one["status"] == "1"));
    if !any {
        return Err(ApiError::params(format!(
            "At least one UI element must be enabled for user role \"{role}\"."
        )));
    }
    Ok(out)
}

fn status(members: &Map<String, Json>, path: &str) -> ApiResult<String> {
    let at = format!("{path}/status");
    match members.get("status").map_or(Ok(1), |v| params::int(v, &at))? {
        n @ (0 | 1) => Ok(n.to_string()),
        _ => Err(ApiError::at(&at, "value must be one of 0, 1")),
    }
}

/// `[{name, status}]` with the elements that are not named switched on.
fn elements(
    value: &Json,
    path: &str,
    known: &[(&str, UserType)],
    kind: UserType,
    what: &str,
    role: &str,
) -> ApiResult<Json> {
    let mut list: Vec<(String, String)> = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["name", "status"])?;
        let name = members.get("name").ok_or_else(|| missing(&path, "name"))?;
        let name = params::text(name, &format!("{path}/name"))?;
        if !known.iter().any(|(element, lowest)| *element == name && *lowest <= kind) {
            return Err(ApiError::params(format!(
                "{what} \"{name}\" is not available for user role \"{role}\"."
            )));
        }
        if list.iter().any(|(other, _)| *other == name) {
            return Err(taken(&path, "name", name));
        }
        list.push((name, status(members, &path)?));
    }
    for (element, _) in known.iter().filter(|(_, lowest)| *lowest <= kind) {
        if !list.iter().any(|(name, _)| name == element) {
            list.push(((*element).to_owned(), "1".to_owned()));
        }
    }
    Ok(list.iter().map(|(name, status)| json!({ "name": name, "status": status })).collect())
}

fn modules(value: &Json, path: &str, role: &str) -> ApiResult<Json> {
    let mut out = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["moduleid", "status"])?;
        let id = members.get("moduleid").ok_or_else(|| missing(&path, "moduleid"))?;
        let id = params::id(id, &format!("{path}/moduleid"))?;
        if !MODULES.contains(&id) {
            return Err(ApiError::params(format!(
                "Module with ID \"{id}\" is not available for user role \"{role}\"."
            )));
        }
        let status = status(members, &path)?;
        out.push(json!({ "moduleid": id.to_string(), "status": status }));
    }
    Ok(Json::Array(out))
}

/// Names of methods, `*` for any object or any of its methods.
fn api_methods(value: &Json, path: &str, role: &str) -> ApiResult<Json> {
    let mut out: Vec<String> = Vec::new();
    for (n, value) in params::list(value).into_iter().enumerate() {
        let path = format!("{path}/{}", n + 1);
        let name = params::text(value, &path)?;
        if out.contains(&name) {
            return Err(ApiError::at(&path, format_args!("value ({name}) already exists")));
        }
        if !rpc::knows_pattern(&name) {
            return Err(ApiError::params(format!(
                "Invalid API method \"{name}\" for user role \"{role}\"."
            )));
        }
        out.push(name);
    }
    Ok(out.into())
}

fn services(value: &Json, path: &str) -> ApiResult<Json> {
    let mut out = Vec::new();
    for (path, members) in nested(value, path)? {
        only(members, &path, &["serviceid"])?;
        let id = members.get("serviceid").ok_or_else(|| missing(&path, "serviceid"))?;
        let id = params::id(id, &format!("{path}/serviceid"))?;
        out.push(json!({ "serviceid": id.to_string() }));
    }
    Ok(Json::Array(out))
}

fn tag(value: &Json, path: &str) -> ApiResult<Json> {
    let Json::Object(members) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    only(members, path, &["tag", "value"])?;
    let text = |name: &str| {
        members.get(name).map_or(Ok(String::new()), |v| params::text(v, &format!("{path}/{name}")))
    };
    let tag = text("tag")?;
    // A value says nothing without its tag.
    let value = if tag.is_empty() { String::new() } else { text("value")? };
    Ok(json!({ "tag": tag, "value": value }))
}

/// All services, or listed and tagged ones: not both.
fn check_services(rules: &Json, kind: UserType, role: &str) -> ApiResult<()> {
    for access in ["read", "write"] {
        let mode = format!("services.{access}.mode");
        let all = rules
            .get(&mode)
            .and_then(|v| params::int(v, "").ok())
            .or_else(|| digit_default(&mode, kind));
        let list = format!("services.{access}.list");
        let listed = rules.get(&list).and_then(Json::as_array).is_some_and(|l| !l.is_empty());
        if all == Some(1) && listed {
            return Err(ApiError::params(format!(
                "Cannot have non-default \"{list}\" rule while having \"{mode}\" set to 1 \
                 for user role \"{role}\"."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused() {
        for (kind, rules, good) in [
            (User, json!({}), true),
            (User, json!({ "ui": [{ "name": "monitoring.hosts", "status": 0 }] }), true),
            (User, json!({ "ui": [{ "name": "reports.audit" }] }), false),
            (SuperAdmin, json!({ "ui": [{ "name": "reports.audit" }] }), true),
            (User, json!({ "ui.default_access": 3 }), false),
            (User, json!({ "ui.default_access": 0 }), true),
            (User, json!({ "nosuch": 1 }), false),
            (User, json!({ "actions": [{ "name": "x", "status": 1 }] }), false),
            (User, json!({ "api": ["host.*", "*.get", "*", "*.*", "host.get"] }), true),
            (User, json!({ "api": ["nosuch.get"] }), false),
            (User, json!({ "api": ["host"] }), false),
            (User, json!({ "api": ["host.get", "host.get"] }), false),
            (User, json!({ "modules": [{ "moduleid": 9999, "status": 0 }] }), false),
            (User, json!({ "services.read.list": [{ "serviceid": 1 }] }), false),
            (User, json!({ "services.write.list": [{ "serviceid": 1 }] }), true),
        ] {
            let result = merged(&Json::Null, &rules, kind, "r", "/1/rules");
            assert_eq!(result.is_ok(), good, "{rules} {result:?}");
        }
    }

    #[test]
    fn another_default_access_leaves_the_elements_of_today() {
        let given = json!({
            "ui.default_access": 0, "actions.default_access": 0, "modules.default_access": 0,
        });
        let rules = merged(&Json::Null, &given, User, "r", "/1/rules").unwrap();
        let all = shown(&rules, User, &Output::Extend);
        for name in WITH_DEFAULT {
            assert_eq!(all[format!("{name}.default_access")], "0");
            let elements = all[*name].as_array().unwrap();
            assert!(
                !elements.is_empty() && elements.iter().all(|one| one["status"] == "1"),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_not_given_stays() {
        let stored = json!({ "api.mode": "1", "api": ["host.get"], "actions.default_access": "0" });
        let rules = merged(&stored, &json!({ "api": ["host.*"] }), User, "r", "/1/rules").unwrap();
        let all = shown(&rules, User, &Output::Extend);
        assert_eq!(all["api.mode"], "1");
        assert_eq!(all["api"], json!(["host.*"]));
        assert_eq!(all["services.write.mode"], "0");
        assert_eq!(all["actions"][0], json!({ "name": "edit_dashboards", "status": "0" }));
        assert_eq!(all["modules"].as_array().map(Vec::len), Some(30));
        let some = shown(&rules, User, &Output::Fields(vec!["api".into()]));
        assert_eq!(some, json!({ "api": ["host.*"] }));
    }
}
