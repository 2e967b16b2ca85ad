//! Which fields scripts of a type and a scope have, and what they can hold.

use std::collections::HashSet;

use config::Edit;
use config::db::{Row, Value};
use objects::{ScriptScope, ScriptType};

use super::SPEC;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::user::is_web_address;
use crate::params;
use crate::permission::Need;
use crate::plain::{Draft, OnlyWhen, complete_kinds};
use crate::write::Target;

type When = &'static [(&'static str, &'static [i64])];

const SHELL: i64 = ScriptType::Shell as i64;
const IPMI: i64 = ScriptType::Ipmi as i64;
const SSH: i64 = ScriptType::Ssh as i64;
const TELNET: i64 = ScriptType::Telnet as i64;
const WEBHOOK: i64 = ScriptType::Webhook as i64;
const URL: i64 = ScriptType::Url as i64;

const BY_USERS: &[i64] = &[ScriptScope::Host as i64, ScriptScope::Event as i64];
const MANUAL: When = &[("scope", BY_USERS)];
const WITH_INPUT: When = &[("scope", BY_USERS), ("manualinput", &[1])];
const REMOTE: When = &[("type", &[SSH, TELNET])];
const BY_KEY: When = &[("type", &[SSH]), ("authtype", &[1])];

const OWN: &[OnlyWhen] = &[
    OnlyWhen::new("command", &[("type", &[SHELL, IPMI, SSH, TELNET, WEBHOOK])]).required(),
    OnlyWhen::new("url", &[("type", &[URL])]).required(),
    OnlyWhen::new("new_window", &[("type", &[URL])]),
    OnlyWhen::new("execute_on", &[("type", &[SHELL])]),
    OnlyWhen::new("timeout", &[("type", &[WEBHOOK])]),
    OnlyWhen::new("port", REMOTE),
    OnlyWhen::new("authtype", &[("type", &[SSH])]),
    OnlyWhen::new("username", REMOTE).required(),
    OnlyWhen::new("password", REMOTE),
    OnlyWhen::new("publickey", BY_KEY).required(),
    OnlyWhen::new("privatekey", BY_KEY).required(),
    OnlyWhen::new("host_access", MANUAL),
    OnlyWhen::new("usrgrpid", MANUAL),
    OnlyWhen::new("menu_path", MANUAL),
    OnlyWhen::new("confirmation", MANUAL),
    OnlyWhen::new("manualinput", MANUAL),
    OnlyWhen::new("manualinput_prompt", WITH_INPUT).required(),
    OnlyWhen::new("manualinput_validator", WITH_INPUT).required(),
    OnlyWhen::new("manualinput_validator_type", WITH_INPUT),
    OnlyWhen::new("manualinput_default_value", WITH_INPUT),
];

/// Checks values that mean the same for all kinds.
pub(super) fn check_given(draft: &Draft<'_>) -> ApiResult<()> {
    let at = |name: &str| format!("{}/{name}", draft.path);
    let text = |name: &str| draft.gives(name).then(|| draft.text(name, None));
    if let Some(timeout) = text("timeout")
        && !(1..=60).contains(&params::time_unit(&timeout, &at("timeout"))?)
    {
        return Err(ApiError::at(&at("timeout"), "value must be one of 1-60"));
    }
    if let Some(port) = text("port").filter(|port| !is_macro(port) && !port.is_empty()) {
        let port = params::int(&port.into(), &at("port"))?;
        if !(0..=65_535).contains(&port) {
            return Err(ApiError::at(&at("port"), "value must be one of 0-65535"));
        }
    }
    if text("url").is_some_and(|url| !is_web_address(&url)) {
        return Err(ApiError::at(&at("url"), "unacceptable URL"));
    }
    if let Some(path) = text("menu_path") {
        let path = path.strip_prefix('/').unwrap_or(&path);
        let path = path.strip_suffix('/').unwrap_or(path);
        if !path.is_empty() && path.split('/').any(|part| part.trim().is_empty()) {
            return Err(ApiError::at(&at("menu_path"), "directory cannot be empty"));
        }
    }
    Ok(())
}

fn is_macro(text: &str) -> bool {
    text.starts_with("{$") && text.ends_with('}')
}

/// Checks which fields are given and gives those that the kind does not have their defaults.
pub(super) fn complete(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let number = |draft: &Draft<'_>, name: &str| draft.value(name, before).as_int();
    let kind = number(draft, "type");
    if kind == URL && ScriptScope::Action.is(number(draft, "scope")) {
        let path = format!("{}/type", draft.path);
        return Err(ApiError::at(&path, "value must be one of 0, 1, 2, 3, 5"));
    }
    complete_kinds(&SPEC, OWN, draft, before)?;
    if kind != WEBHOOK {
        let given = draft.children[0].replace(Vec::new());
        if given.is_some_and(|rows| !rows.is_empty()) {
            let path = format!("{}/parameters", draft.path);
            return Err(ApiError::at(&path, "should be empty"));
        }
    }
    if number(draft, "manualinput") == 1 {
        check_input(draft, before)?;
    }
    Ok(())
}

/// A pattern that the first input matches, or a list of different inputs.
fn check_input(draft: &Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let at = |name: &str| format!("{}/{name}", draft.path);
    let validator = draft.text("manualinput_validator", before);
    let default = draft.text("manualinput_default_value", before);
    if draft.value("manualinput_validator_type", before).as_int() == 1 {
        let mut seen = HashSet::new();
        if !validator.split(',').all(|value| seen.insert(value.trim())) {
            return Err(ApiError::at(&at("manualinput_validator"), "values must be unique"));
        }
        if !default.is_empty() {
            return Err(ApiError::at(&at("manualinput_default_value"), "value must be empty"));
        }
        return Ok(());
    }
    let Ok(matches) = eval::regex::is_match(&validator, &default, false) else {
        return Err(ApiError::at(&at("manualinput_validator"), "invalid regular expression"));
    };
    if !default.is_empty() && !matches {
        let what = format!("input does not match the provided pattern: {validator}");
        return Err(ApiError::at(&at("manualinput_default_value"), what));
    }
    Ok(())
}

/// Refuses groups that do not exist.
pub(super) fn refer(call: &Call<'_>, edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let id = |name: &str| u64::try_from(draft.value(name, None).as_int()).unwrap_or(0);
    let (users, hosts) = (id("usrgrpid"), id("groupid"));
    let sql = "SELECT usrgrpid FROM usergroups WHERE usrgrpid = ?";
    if users != 0 && edit.query(sql, &[Value::from(users)])?.is_empty() {
        let what = format!("User group with ID \"{users}\" is not available.");
        return Err(ApiError::params(what));
    }
    if hosts != 0 && call.allowed(edit, Target::HostGroup, Need::Read, &[hosts])?.is_empty() {
        let what = format!("Host group with ID \"{hosts}\" is not available.");
        return Err(ApiError::params(what));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_fields_come_after_what_decides_about_them() {
        crate::plain::check_rules(&SPEC, OWN);
    }
}
