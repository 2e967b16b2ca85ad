//! `authentication.get`, `authentication.update`: how users sign in. Sign-in by SAML and by the web server
//! is not supported, so that it cannot be enabled.

use std::collections::BTreeMap;

use config::Edit;
use config::audit::SettingsObject;
use config::db::{Reader, Value};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::FieldKind::{Id, Int, OneOf, Text};
use crate::single::{self, Change, Rule, Setting, Single, Time, setting};

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("authentication.get", |call, input| {
        single::get(&AUTHENTICATION, call, input)
    }),
    Method::super_admin("authentication.update", |call, input| {
        single::update(&AUTHENTICATION, call, input).map(Json::from)
    }),
];

const FLAG: Rule = Rule::Of(OneOf(&[0, 1]));
const PROVISION_INTERVAL: Time =
    Time { min: 3_600, max: 25 * 365 * 86_400, or_zero: false, years: true, or_macro: false };

pub(crate) static AUTHENTICATION: Single =
    Single { object: SettingsObject::Authentication, settings: SETTINGS, check };

const SETTINGS: &[Setting] = &[
    setting("authentication_type", FLAG, "0", "0 internal, 1 LDAP."),
    setting("ldap_auth_enabled", FLAG, "0", "1 = sign-in by LDAP."),
    setting("ldap_case_sensitive", FLAG, "1", "1 = user names of LDAP are case-sensitive."),
    setting("ldap_userdirectoryid", Rule::Of(Id), "0", "Default LDAP server."),
    setting(
        "saml_auth_enabled",
        FLAG,
        "0",
        "1 = sign-in by SAML; not supported, only 0 is accepted.",
    ),
    setting("saml_case_sensitive", FLAG, "0", "1 = user names of SAML are case-sensitive."),
    setting(
        "passwd_min_length",
        Rule::Of(Int(1, 70)),
        "8",
        "Minimum length of a password in characters.",
    ),
    setting(
        "passwd_check_rules",
        Rule::Of(Int(0, 15)),
        "8",
        "Sum of what passwords must have: 1 upper and lower case, 2 digits, 4 special characters, \
         8 nothing that is easily guessed.",
    ),
    setting("disabled_usrgrpid", Rule::Of(Id), "0", "Disabled user group of deprovisioned users."),
    setting(
        "jit_provision_interval",
        Rule::Time(PROVISION_INTERVAL),
        "1h",
        "Minimum time between two provisionings of a user.",
    ),
    setting("saml_jit_status", FLAG, "0", "1 = users of SAML are provisioned."),
    setting("ldap_jit_status", FLAG, "0", "1 = users of LDAP are provisioned."),
    setting(
        "mfa_status",
        FLAG,
        "0",
        "1 = multi-factor authentication (MFA) of user groups that require it.",
    ),
    setting("mfaid", Rule::Of(Id), "0", "Default MFA method."),
    setting(
        "http_auth_enabled",
        FLAG,
        "0",
        "1 = sign-in by the web server; not supported, only 0 is accepted.",
    ),
    setting("http_login_form", FLAG, "0", "1 = the sign-in page of the web server comes first."),
    setting(
        "http_strip_domains",
        Rule::Of(Text(2_048)),
        "",
        "Domains that are removed from user names.",
    ),
    setting("http_case_sensitive", FLAG, "1", "1 = user names are case-sensitive."),
];

fn check(_call: &Call<'_>, edit: &mut Edit<'_>, change: &mut Change) -> ApiResult<()> {
    let is_on = |name: &str| change.number(name) == 1;
    if is_on("authentication_type") && !is_on("ldap_auth_enabled") {
        return Err(ApiError::at("/ldap_auth_enabled", "value must be 1"));
    }
    check_directory(edit, change)?;
    check_deprovisioned(edit, change)?;
    check_mfa(edit, change)?;
    for (name, what) in [("saml_auth_enabled", "SAML"), ("http_auth_enabled", "the web server")] {
        if is_on(name) {
            let error = format_args!("sign-in by {what} is not supported: value must be 0");
            return Err(ApiError::at(&format!("/{name}"), error));
        }
    }
    Ok(())
}

/// The default LDAP server.
fn check_directory(edit: &mut Edit<'_>, change: &Change) -> ApiResult<()> {
    let name = "ldap_userdirectoryid";
    let directory = change.number(name);
    if directory == 0 && change.number("ldap_auth_enabled") == 1 {
        return Err(ApiError::params("Default LDAP server must be specified."));
    }
    if directory == 0 || change.value(name) == change.before(name) {
        return Ok(());
    }
    let sql =
        "SELECT userdirectoryid FROM userdirectories WHERE userdirectoryid = ? AND idp_type = 1";
    if edit.query(sql, &[directory.into()])?.is_empty() {
        return Err(ApiError::at("/ldap_userdirectoryid", "object does not exist"));
    }
    Ok(())
}

/// The group of deprovisioned users.
fn check_deprovisioned(edit: &mut Edit<'_>, change: &Change) -> ApiResult<()> {
    let provisions = |by: &str| {
        let names = [format!("{by}_auth_enabled"), format!("{by}_jit_status")];
        names.iter().all(|name| change.number(name) == 1)
    };
    match change.number("disabled_usrgrpid") {
        0 if provisions("ldap") || provisions("saml") => {
            Err(ApiError::params("Deprovisioned users group cannot be empty."))
        }
        0 => Ok(()),
        group => {
            let sql = "SELECT users_status FROM usergroups WHERE usrgrpid = ?";
            let rows = edit.query(sql, &[Value::Int(group)])?;
            let row = rows.first().ok_or_else(ApiError::no_object)?;
            if row.int("users_status") == 0 {
                return Err(ApiError::params("Deprovisioned users group cannot be enabled."));
            }
            Ok(())
        }
    }
}

/// The default MFA method.
fn check_mfa(edit: &mut Edit<'_>, change: &Change) -> ApiResult<()> {
    let (is_on, mfaid) = (change.number("mfa_status") == 1, change.number("mfaid"));
    if is_on && edit.query("SELECT mfaid FROM mfa LIMIT 1", &[])?.is_empty() {
        return Err(ApiError::params("At least one MFA method must exist."));
    }
    let is_changed = change.value("mfaid") != change.before("mfaid");
    if mfaid == 0 && !is_on || mfaid != 0 && !is_changed {
        return Ok(());
    }
    if edit.query("SELECT mfaid FROM mfa WHERE mfaid = ?", &[mfaid.into()])?.is_empty() {
        return Err(ApiError::at("/mfaid", "object does not exist"));
    }
    Ok(())
}

/// The settings as they are.
pub(crate) struct Current(BTreeMap<&'static str, String>);

impl Current {
    pub(crate) fn read(reader: &mut dyn Reader) -> ApiResult<Self> {
        single::stored(&AUTHENTICATION, reader).map(Self)
    }

    /// The value of a setting that is a number or a flag.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap_or(0)
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.number(name) == 1
    }

    /// Minimum seconds between two provisionings of a user.
    pub(crate) fn provision_interval_s(&self) -> u64 {
        let seconds = PROVISION_INTERVAL.seconds(self.text("jit_provision_interval"));
        seconds.and_then(|seconds| seconds.try_into().ok()).unwrap_or(3_600)
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}

/// Gives a setting another value.
pub(crate) fn set(edit: &mut Edit<'_>, name: &'static str, value: u64) -> ApiResult<()> {
    single::set(&AUTHENTICATION, edit, name, &value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn what_is_refused() {
        let server = Server::start();
        for (params, text) in [
            (json!({ "authentication_type": 1 }), "\"/ldap_auth_enabled\": value must be 1."),
            (json!({ "ldap_auth_enabled": 1 }), "Default LDAP server must be specified."),
            (json!({ "ldap_userdirectoryid": 1 }), "object does not exist."),
            (
                json!({ "saml_auth_enabled": 1, "saml_jit_status": 1 }),
                "Deprovisioned users group cannot be empty.",
            ),
            (json!({ "disabled_usrgrpid": 7 }), "Deprovisioned users group cannot be enabled."),
            (json!({ "mfa_status": 1 }), "At least one MFA method must exist."),
            (json!({ "mfaid": 1 }), "\"/mfaid\": object does not exist."),
            (json!({ "saml_auth_enabled": 1 }), "sign-in by SAML is not supported"),
            (json!({ "http_auth_enabled": 1 }), "sign-in by the web server is not supported"),
            (json!({ "passwd_min_length": 71 }), "value must be one of 1-70."),
            (json!({ "jit_provision_interval": "1m" }), "must be one of 3600-788400000."),
        ] {
            server.refuses(&[("authentication.update", params, -32602, text)]);
        }
        server.refuses(&[(
            "authentication.update",
            json!({ "disabled_usrgrpid": 999 }),
            -32500,
            "No permissions",
        )]);
        let given = json!({ "disabled_usrgrpid": 9, "jit_provision_interval": "1M" });
        let names = json!(["disabled_usrgrpid", "jit_provision_interval"]);
        assert_eq!(server.call("authentication.update", &given), Ok(names));
        let user = server.user("u", "2", &[]);
        assert!(server.call_as(Some(&user), "authentication.get", &json!({})).is_err());
    }

    #[test]
    fn rules_of_passwords_count_at_once() {
        let server = Server::start();
        let rules = |min: i64, rules: i64| {
            let params = json!({ "passwd_min_length": min, "passwd_check_rules": rules });
            server.call("authentication.update", &params).unwrap();
        };
        let make = |password: &str| {
            let params = json!({
                "username": "x", "passwd": password, "roleid": 1, "usrgrps": [{ "usrgrpid": 8 }],
            });
            server.call("user.create", &params).map_err(|(_, text)| text)
        };
        rules(10, 15);
        for (password, error) in [
            ("Aa1!", "must be at least 10 characters long"),
            ("abcdefghij1!", "must contain at least one lowercase and one uppercase Latin letter"),
            ("Abcdefghijk!", "must contain at least one digit"),
            ("Abcdefghijk1", "must contain at least one special character"),
        ] {
            assert!(make(password).unwrap_err().contains(error), "{password}");
        }
        rules(3, 0);
        make("abc").unwrap();
    }
}
