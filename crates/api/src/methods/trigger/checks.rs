//! Checks of a trigger's own fields.

use std::collections::BTreeSet;

use config::objects::column;

use super::Kind;
use crate::error::{ApiError, ApiResult};
use crate::object::Columns;

/// Links that browsers would run as code are refused.
pub(super) fn check_url(url: &str, path: &str) -> ApiResult<()> {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    let allowed = ["http", "https", "ftp", "file", "mailto", "tel", "ssh"];
    let word = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
    match scheme {
        Some(scheme) if word(&scheme) && !allowed.contains(&scheme.as_str()) => {
            Err(ApiError::at(path, "unacceptable URL"))
        }
        _ => Ok(()),
    }
}

/// Checks that recovery and correlation fit each other; `value` gives the field as it will be.
pub(super) fn check_modes(value: &dyn Fn(&str) -> String) -> ApiResult<()> {
    let wrong = |name: &str, what: &str| {
        Err(ApiError::params(format!("Incorrect value for field \"{name}\": {what}.")))
    };
    let recovery = !value("recovery_expression").is_empty();
    match value("recovery_mode").as_str() {
        "1" if !recovery => return wrong("recovery_expression", "cannot be empty"),
        "1" => {}
        _ if recovery => return wrong("recovery_expression", "should be empty"),
        _ => {}
    }
    let tag = !value("correlation_tag").is_empty();
    let correlates = value("correlation_mode") == "1";
    if value("recovery_mode") == "2" && correlates {
        return wrong("correlation_mode", "unexpected value \"1\"");
    }
    match (correlates, tag) {
        (true, false) => wrong("correlation_tag", "cannot be empty"),
        (false, true) => wrong("correlation_tag", "should be empty"),
        _ => Ok(()),
    }
}

pub(super) fn check_prototypes(
    items: &[config::objects::ItemRef],
    description: &str,
    kind: Kind,
) -> ApiResult<()> {
    let rules: BTreeSet<u64> = items.iter().filter(|i| i.flags == 2).map(|i| i.ruleid).collect();
    match (kind, rules.len()) {
        (Kind::Prototype, 0) => Err(ApiError::params(format!(
            "Trigger prototype \"{description}\" must contain at least one item prototype."
        ))),
        (Kind::Prototype, 2..) => Err(ApiError::params(format!(
            "Trigger prototype \"{description}\" contains item prototypes from multiple \
             discovery rules."
        ))),
        _ => Ok(()),
    }
}

pub(super) fn check_uuid(columns: &Columns, on_template: bool, path: &str) -> ApiResult<()> {
    let uuid = column(columns, "uuid").map(ToString::to_string).unwrap_or_default();
    let path = format!("{path}/uuid");
    match (uuid.is_empty(), on_template) {
        (true, _) => Ok(()),
        (false, false) => Err(ApiError::at(&path, "value must be empty")),
        (false, true) => crate::write::check_uuid(&uuid, &path),
    }
}
