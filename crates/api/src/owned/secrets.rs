//! Secrets in the configuration of hosts and templates: passwords, passphrases, communities, and
//! what HTTP requests carry to sign in. They are shown to users who may change the object; all
//! others see them empty. A user macro in place of a secret tells nothing, so it stays.

use std::collections::BTreeSet;

use eval::macros::UserMacro;
use objects::UserType;

use crate::call::{Call, Json, User};
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Get;
use crate::permission::{Need, on_hosts};
use crate::write::Target;

/// Members whose whole value is a secret.
const WHOLE: &[&str] = &[
    "password",
    "http_password",
    "ssl_key_password",
    "ipmi_password",
    "community",
    "authpassphrase",
    "privpassphrase",
];

/// Members that are lists of `{name, value}`, of which some names say that the value is a secret.
const LISTS: &[&str] = &["headers", "variables", "query_fields", "posts", "parameters"];

/// What is in such a name, in lower case.
const WORDS: &[&str] =
    &["auth", "cookie", "credential", "key", "pass", "pwd", "secret", "session", "token"];

/// Condition: the user sees the secrets of the host or template whose id is in `column`.
/// `None` = no condition, the user sees all.
fn condition(user: &User, column: &str) -> Option<String> {
    match user.kind {
        UserType::SuperAdmin => None,
        UserType::Admin => on_hosts(user, Need::Write, column),
        // Users of this type may change no configuration, whatever right they have.
        UserType::User => Some("1 = 0".to_owned()),
    }
}

/// Conditions of a `get` on these columns hold only where the user sees them: a secret cannot be
/// guessed. `column` holds the host's or template's id.
pub(crate) fn forbid_guessing(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json, column: &str) {
    let named = |option: &str| {
        let members = input.get(option).and_then(Json::as_object);
        members.is_some_and(|members| {
            members
                .keys()
                .map(String::as_str)
                .any(|name| WHOLE.contains(&name) || LISTS.contains(&name))
        })
    };
    if (named("filter") || named("search"))
        && let Some(condition) = condition(call.user(), column)
    {
        get.and(condition, []);
    }
}

/// Declares that [`hide`] may change the output.
pub(crate) fn works_on(get: &mut Get<'_, '_>, call: &Call<'_>) {
    if !call.is_super_admin() {
        get.works_on(WHOLE);
        get.works_on(LISTS);
    }
}

/// Empties the secrets in the output of rows on hosts and templates that the user may not change.
/// `column` of each row holds the id of its host or template.
pub(crate) fn hide(found: &mut Found<'_, '_>, column: &str) -> ApiResult<()> {
    let owners: Vec<u64> = found.rows.iter().map(|row| row.row.id(column)).collect();
    let Some(open) = found.call.secrets_of(&owners)? else { return Ok(()) };
    for (row, owner) in found.rows.iter_mut().zip(owners) {
        if !open.contains(&owner) {
            row.out.each(WHOLE, hide_member);
        }
    }
    Ok(())
}

/// Empties the secrets in an object and in all that it holds.
pub(crate) fn hide_in(value: &mut Json) {
    match value {
        Json::Object(members) => {
            members.iter_mut().for_each(|(name, value)| hide_member(name, value));
        }
        Json::Array(list) => list.iter_mut().for_each(hide_in),
        _ => {}
    }
}

fn hide_member(name: &str, value: &mut Json) {
    match value {
        Json::String(text) if WHOLE.contains(&name) => {
            if UserMacro::parse(text).is_err() {
                text.clear();
            }
        }
        Json::Array(list) if LISTS.contains(&name) => list.iter_mut().for_each(hide_named),
        other => hide_in(other),
    }
}

fn hide_named(one: &mut Json) {
    let name = one.get("name").and_then(Json::as_str).unwrap_or_default().to_lowercase();
    if let Some(Json::String(value)) = one.get_mut("value")
        && WORDS.iter().any(|word| name.contains(word))
        && !value.contains("{$")
    {
        value.clear();
    }
}

impl Call<'_> {
    /// Those of these hosts and templates whose secrets the user sees; `None` = all.
    pub(crate) fn secrets_of(&self, owners: &[u64]) -> ApiResult<Option<BTreeSet<u64>>> {
        match self.user().kind {
            UserType::SuperAdmin => Ok(None),
            UserType::Admin => {
                let owners: BTreeSet<u64> = owners.iter().copied().collect();
                let owners: Vec<u64> = owners.into_iter().collect();
                let target = Target::HostOrTemplate;
                self.read(|c| self.allowed(c, target, Need::Write, &owners)).map(Some)
            }
            UserType::User => Ok(Some(BTreeSet::new())),
        }
    }
}

#[cfg(test)]
mod tests;
