//! `authentication.get`, `authentication.update`. Rules of passwords are obeyed. Directories (LDAP,
//! SAML) and second factors are not supported yet: what needs one is refused as where there is none.

use config::Edit;
use config::audit::SettingsObject;
use config::db::Value;

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
const INTERVAL: Rule = Rule::Time(Time {
    min: 3_600,
    max: 25 * 365 * 86_400,
    or_zero: false,
    years: true,
    or_macro: false,
});

pub(crate) static AUTHENTICATION: Single =
    Single { object: SettingsObject::Authentication, settings: SETTINGS, check };

const SETTINGS: &[Setting] = &[
    setting("authentication_type", FLAG, "0", "0 internal, 1 LDAP."),
    setting("ldap_auth_enabled", FLAG, "0", "1 = sign-in by LDAP."),
    setting("ldap_case_sensitive", FLAG, "1", "1 = case counts in names."),
    setting("ldap_userdirectoryid", Rule::Of(Id), "0", "LDAP server."),
    setting("saml_auth_enabled", FLAG, "0", "1 = sign-in by SAML."),
    setting("saml_case_sensitive", FLAG, "0", "1 = case counts in names."),
    setting("passwd_min_length", Rule::Of(Int(1, 70)), "8", "Characters of a password. Obeyed."),
    setting(
        "passwd_check_rules",
        Rule::Of(Int(0, 15)),
        "8",
        "Passwords have: 1 upper and lower case, 2 digits, 4 special characters, 8 nothing that is \
         easily guessed. Obeyed.",
    ),
    setting("disabled_usrgrpid", Rule::Of(Id), "0", "Group of users whom a directory removes."),
    setting("jit_provision_interval", INTERVAL, "1h", "Between two looks into a directory."),
    setting("saml_jit_status", FLAG, "0", "1 = SAML makes users."),
    setting("ldap_jit_status", FLAG, "0", "1 = LDAP makes users."),
    setting("mfa_status", FLAG, "0", "1 = with a second factor."),
    setting("mfaid", Rule::Of(Id), "0", "The default second factor."),
    setting("http_auth_enabled", FLAG, "0", "1 = sign-in by the web server."),
    setting("http_login_form", FLAG, "0", "1 = the web server asks."),
    setting("http_strip_domains", Rule::Of(Text(2_048)), "", "Domains cut off names."),
    setting("http_case_sensitive", FLAG, "1", "1 = case counts in names."),
];

fn check(_call: &Call<'_>, edit: &mut Edit<'_>, change: &mut Change) -> ApiResult<()> {
    let is_on = |name: &str| change.number(name) == 1;
    if is_on("authentication_type") && !is_on("ldap_auth_enabled") {
        return Err(ApiError::at("/ldap_auth_enabled", "value must be 1"));
    }
    if change.number("ldap_userdirectoryid") != 0 {
        return Err(ApiError::at("/ldap_userdirectoryid", "object does not exist"));
    }
    if is_on("ldap_auth_enabled") {
        return Err(ApiError::params("Default LDAP server must be specified."));
    }
    match change.number("disabled_usrgrpid") {
        0 if is_on("saml_auth_enabled") && is_on("saml_jit_status") => {
            return Err(ApiError::params("Deprovisioned users group cannot be empty."));
        }
        0 => {}
        group => {
            let sql = "SELECT users_status FROM usergroups WHERE usrgrpid = ?";
            let rows = edit.query(sql, &[Value::Int(group)])?;
            let Some(row) = rows.first() else {
                return Err(ApiError::no_object());
            };
            if row.int("users_status") == 0 {
                return Err(ApiError::params("Deprovisioned users group cannot be enabled."));
            }
        }
    }
    if is_on("mfa_status") {
        return Err(ApiError::params("At least one MFA method must exist."));
    }
    if change.number("mfaid") != 0 {
        return Err(ApiError::at("/mfaid", "object does not exist"));
    }
    Ok(())
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
