use std::time::Duration;

use data_encoding::BASE32_NOPAD;
use serde_json::{Value as Json, json};
use totp_rs::Builder;

use super::{OWN, SPEC};
use crate::testing::Server;

#[test]
fn rules_of_kinds_name_columns() {
    crate::plain::check_rules(&SPEC, OWN);
}

#[test]
fn fields_follow_the_type_and_the_first_is_the_default() {
    let server = Server::start();
    let totp = json!({ "type": 1, "name": "totp", "hash_function": 1, "code_length": 6 });
    for (change, text) in [
        (json!({ "type": 3 }), "\"/1/type\": value must be one of 1, 2."),
        (json!({ "code_length": 7 }), "\"/1/code_length\": value must be one of 6, 8."),
        (json!({ "clientid": "x" }), "\"/1/clientid\": value must be empty."),
        (json!({ "type": 2 }), "the parameter \"api_hostname\" is missing."),
    ] {
        let mut params = totp.clone();
        for (name, value) in change.as_object().unwrap() {
            params[name] = value.clone();
        }
        server.refuses(&[("mfa.create", params, -32602, text)]);
    }
    let short = json!({ "type": 1, "name": "x" });
    server.refuses(&[("mfa.create", short, -32602, "the parameter \"hash_function\" is missing.")]);
    let first = server.create("mfa.create", &totp);
    let duo = json!({ "type": 2, "name": "duo", "api_hostname": "h", "clientid": "c", "client_secret": "s" });
    let second = server.create("mfa.create", &duo);
    let default = json!({ "output": ["mfaid"] });
    server.answers(&[("authentication.get", default, json!({ "mfaid": first }))]);
    server.call("authentication.update", &json!({ "mfa_status": 1 })).unwrap();
    let group = json!({ "name": "g", "mfa_status": 1 });
    let group = server.create("usergroup.create", &group);
    let other = json!({ "name": "h", "mfa_status": 1, "mfaid": second });
    let other = server.create("usergroup.create", &other);
    server.answers(&[(
        "mfa.get",
        json!({ "output": ["name", "clientid"], "selectUsrgrps": ["name"], "sortfield": "name" }),
        json!([
            { "name": "duo", "clientid": "c", "usrgrps": [{ "name": "h" }] },
            { "name": "totp", "clientid": "", "usrgrps": [{ "name": "g" }] },
        ]),
    )]);
    server.refuses(&[
        ("mfa.create", totp, -32602, "MFA method \"totp\" already exists."),
        (
            "mfa.update",
            json!({ "mfaid": first, "type": 2 }),
            -32602,
            "\"/1/api_hostname\": cannot be empty.",
        ),
        (
            "mfa.get",
            json!({ "output": ["client_secret"] }),
            -32602,
            "\"/output/1\": value must be one of",
        ),
        ("mfa.delete", json!([first]), -32602, "Cannot delete default MFA method."),
        (
            "mfa.delete",
            json!([second]),
            -32602,
            "Cannot delete MFA method \"duo\", because it is used by user group \"h\".",
        ),
    ]);
    server.call("usergroup.delete", &json!([group, other])).unwrap();
    server.call("authentication.update", &json!({ "mfa_status": 0 })).unwrap();
    server.answers(&[
        ("mfa.delete", json!([first, second]), json!({ "mfaids": [first, second] })),
        ("authentication.get", json!({ "output": ["mfaid"] }), json!({ "mfaid": "0" })),
    ]);
    let admin = server.user("admin", "2", &[]);
    assert!(server.call_as(Some(&admin), "mfa.get", &json!({})).is_err());
}

/// A server with a user `ann` who needs a code.
fn with_mfa() -> Server {
    let server = Server::start();
    let totp = json!({ "type": 1, "name": "totp", "hash_function": 1, "code_length": 6 });
    server.create("mfa.create", &totp);
    server.call("authentication.update", &json!({ "mfa_status": 1 })).unwrap();
    let group = server.create("usergroup.create", &json!({ "name": "g", "mfa_status": 1 }));
    let user = json!({ "username": "ann", "passwd": "Xy9!longpass", "roleid": "1",
                       "usrgrps": [{ "usrgrpid": group }] });
    server.create("user.create", &user);
    server
}

fn now(server: &Server) -> u64 {
    server.api.deps.clock.unix_s()
}

fn code(secret: &str, now: u64) -> String {
    let bytes = BASE32_NOPAD.decode(secret.as_bytes()).unwrap();
    Builder::new().with_secret(bytes).build().unwrap().generate(now).to_string()
}

fn confirm(server: &Server, session: &str, code: &str) -> Result<Json, (i64, String)> {
    let params = json!({ "sessionid": session, "code": code });
    server.call_as(None, "user.confirm", &params)
}

fn confirmation(server: &Server, session: &str) -> Result<Json, (i64, String)> {
    server.call_as(None, "user.confirmation", &json!({ "sessionid": session }))
}

/// Whether the session can be used.
fn works(server: &Server, session: &str) -> bool {
    server.call_as(Some(session), "user.get", &json!({ "output": ["userid"] })).is_ok()
}

/// Enrols `ann`; returns the secret.
fn enrol(server: &Server) -> String {
    let session = server.login("ann", "Xy9!longpass");
    let offer = confirmation(server, &session).unwrap();
    let secret = offer["totp_secret"].as_str().unwrap().to_owned();
    confirm(server, &session, &code(&secret, now(server))).unwrap();
    assert!(works(server, &session));
    secret
}

#[test]
fn a_session_works_after_its_code_and_each_code_once() {
    let server = with_mfa();
    let session = server.login("ann", "Xy9!longpass");
    assert!(!works(&server, &session), "the password alone is no sign-in");
    let signed_in = json!({ "sessionid": session });
    assert!(server.call_as(None, "user.checkAuthentication", &signed_in).is_err());
    assert_eq!(confirm(&server, &session, "123456").unwrap_err().0, -32602, "no secret yet");
    let offer = confirmation(&server, &session).unwrap();
    assert_eq!((&offer["type"], &offer["code_length"]), (&json!("1"), &json!("6")));
    let rows = offer["qr_code"].as_array().unwrap();
    assert!(rows.len() > 20 && rows.iter().all(|row| row.as_str().unwrap().len() == rows.len()));
    let secret = offer["totp_secret"].as_str().unwrap();
    let right = code(secret, now(&server));
    let wrong = if right == "000000" { "111111" } else { "000000" };
    let refused = confirm(&server, &session, wrong).unwrap_err();
    assert_eq!(refused, (-32602, "The verification code was incorrect, please try again.".into()));
    assert!(!works(&server, &session));
    assert_eq!(confirm(&server, &session, &right), Ok(session.clone().into()));
    assert!(works(&server, &session));
    assert!(confirm(&server, &session, &right).is_err(), "it waits for no code any more");
    let again = server.login("ann", "Xy9!longpass");
    assert_eq!(confirmation(&server, &again).unwrap().get("totp_secret"), None);
    assert!(confirm(&server, &again, &right).is_err(), "used codes are refused");
    server.clock.advance(Duration::from_secs(60));
    assert!(confirm(&server, &again, &code(secret, now(&server))).is_ok());
    let others = server.login("Admin", "zabbix");
    assert!(works(&server, &others), "other groups need no code");
}

#[test]
fn wrong_codes_end_the_session_wherever_they_come_from() {
    let server = with_mfa();
    let secret = enrol(&server);
    server.clock.advance(Duration::from_secs(60));
    let right = || code(&secret, now(&server));
    let session = server.login("ann", "Xy9!longpass");
    for _ in 0..5 {
        let wrong = if right() == "000000" { "111111" } else { "000000" };
        assert_eq!(confirm(&server, &session, wrong).unwrap_err().0, -32602);
        // The right password does not start the count again.
        server.login("ann", "Xy9!longpass");
    }
    let refused = confirm(&server, &session, &right()).unwrap_err();
    assert_eq!(refused, (-32500, crate::session::BAD_LOGIN.to_owned()));
    let closed = confirmation(&server, &session).unwrap_err().1;
    assert_eq!(closed, "Session terminated, re-login, please.");
    server.clock.advance(Duration::from_secs(60));
    let session = server.login("ann", "Xy9!longpass");
    assert!(confirm(&server, &session, &right()).is_ok(), "after the block");
}

#[test]
fn a_session_waits_five_minutes_and_a_reset_ends_all() {
    let server = with_mfa();
    let old = server.login("ann", "Xy9!longpass");
    server.clock.advance(Duration::from_secs(301));
    assert!(confirmation(&server, &old).is_err());
    crate::session::remove_ended(&server.api).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM sessions WHERE status = 2"), 0);
    enrol(&server);
    let ann = server.text("SELECT userid FROM users WHERE username = 'ann'");
    let session = server.text("SELECT digest FROM sessions WHERE userid <> 1");
    assert!(!session.is_empty());
    server.answers(&[("user.resettotp", json!([ann]), json!({ "userids": [ann] }))]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM totp_secrets"), 0);
    let valid = "SELECT COUNT(*) AS n FROM sessions s JOIN users u ON u.userid = s.userid \
                 WHERE u.username = 'ann' AND s.epoch >= u.session_epoch";
    assert_eq!(server.count(valid), 0);
    let again = server.login("ann", "Xy9!longpass");
    assert!(confirmation(&server, &again).unwrap()["totp_secret"].is_string());
}

#[test]
fn users_of_duo_cannot_sign_in_yet() {
    let server = with_mfa();
    let duo = json!({ "type": 2, "name": "duo", "api_hostname": "h", "clientid": "c", "client_secret": "s" });
    let duo = server.create("mfa.create", &duo);
    let group = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'g'");
    server.call("usergroup.update", &json!({ "usrgrpid": group, "mfaid": duo })).unwrap();
    let params = json!({ "username": "ann", "password": "Xy9!longpass" });
    let refused = server.call_as(None, "user.login", &params).unwrap_err();
    assert!(refused.1.starts_with("Sign-in with Duo is not supported"), "{refused:?}");
    server.write_sql(&["UPDATE usergroups SET mfa_status = 0"]);
    let session = server.login("ann", "Xy9!longpass");
    server.write_sql(&["UPDATE usergroups SET mfa_status = 1"]);
    server.clock.advance(Duration::from_secs(crate::session::CACHE_S + 1));
    assert!(works(&server, &session), "the user could not sign in again");
}

#[test]
fn an_enrolment_belongs_to_its_session() {
    let server = with_mfa();
    let [one, two] = [(); 2].map(|()| server.login("ann", "Xy9!longpass"));
    let offered = |session: &str| {
        confirmation(&server, session).unwrap()["totp_secret"].as_str().map(str::to_owned)
    };
    let (first, second) = (offered(&one).unwrap(), offered(&two).unwrap());
    assert_ne!(first, second);
    assert_eq!(offered(&one), Some(first.clone()), "the page was loaded again");
    let stored = || server.count("SELECT COUNT(*) AS n FROM totp_secrets");
    assert_eq!(stored(), 0, "before a right code");
    assert!(confirm(&server, &two, &code(&first, now(&server))).is_err());
    confirm(&server, &one, &code(&first, now(&server))).unwrap();
    assert_eq!(stored(), 1);
    assert!(confirm(&server, &two, &code(&second, now(&server))).is_err(), "it came too late");
    assert_eq!(offered(&two), None);
    server.clock.advance(Duration::from_secs(60));
    confirm(&server, &two, &code(&first, now(&server))).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM sessions WHERE secret <> ''"), 0);
}

#[test]
fn enrolments_and_resets_are_in_the_audit_log() {
    let server = with_mfa();
    let secret = enrol(&server);
    let ann = server.text("SELECT userid FROM users WHERE username = 'ann'");
    server.call("user.resettotp", &json!([ann])).unwrap();
    let entries = json!({ "filter": { "resourcetype": 0, "resourceid": ann, "action": 1 },
                          "output": ["username", "resourcename", "details"], "sortfield": "clock" });
    let entry = |by: &str, values: [&str; 2]| {
        let details = json!({ "user.totp_secret": ["update", values[0], values[1]] }).to_string();
        (json!(by), json!("ann"), json!(details))
    };
    let found = server.call("auditlog.get", &entries).unwrap();
    let found = found.as_array().unwrap().iter().map(|entry| {
        (entry["username"].clone(), entry["resourcename"].clone(), entry["details"].clone())
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found, [entry("ann", ["******", ""]), entry("Admin", ["", "******"])]);
    assert!(!format!("{found:?}").contains(&secret));
}

#[test]
fn sessions_without_a_code_end_when_one_is_required() {
    let server = with_mfa();
    let require = |mfa_status: u8| {
        let params = json!({ "mfa_status": mfa_status });
        server.call("authentication.update", &params).unwrap();
        server.clock.advance(Duration::from_secs(crate::session::CACHE_S + 1));
    };
    require(0);
    let session = server.login("ann", "Xy9!longpass");
    assert!(works(&server, &session));
    require(1);
    assert!(!works(&server, &session));
    let confirmed = server.login("ann", "Xy9!longpass");
    let secret = confirmation(&server, &confirmed).unwrap()["totp_secret"].take();
    confirm(&server, &confirmed, &code(secret.as_str().unwrap(), now(&server))).unwrap();
    require(0);
    require(1);
    assert!(works(&server, &confirmed), "it has been confirmed before");
    require(0);
    assert!(works(&server, &session), "nothing is required any more");
}

#[test]
fn users_replace_their_authenticator_with_codes_of_both() {
    let server = with_mfa();
    let old = enrol(&server);
    let sign_in = |secret: &str| {
        server.clock.advance(Duration::from_secs(60));
        let session = server.login("ann", "Xy9!longpass");
        confirm(&server, &session, &code(secret, now(&server))).map(|_| session)
    };
    let (other, session) = (sign_in(&old).unwrap(), sign_in(&old).unwrap());
    let replace = |params: Json| server.call_as(Some(&session), "user.replacetotp", &params);
    let codes = |new: &str, old: &str| {
        server.clock.advance(Duration::from_secs(60));
        let [code, current_code] = [new, old].map(|secret| code(secret, now(&server)));
        replace(json!({ "code": code, "current_code": current_code }))
    };
    assert!(codes(&old, &old).unwrap_err().1.starts_with("No authenticator is enrolled"));
    let offer = replace(json!({})).unwrap();
    let new = offer["totp_secret"].as_str().unwrap();
    assert_eq!(replace(json!({})).unwrap()["totp_secret"], new);
    for (first, second) in [(old.as_str(), old.as_str()), (new, new), (old.as_str(), new)] {
        assert_eq!(
            codes(first, second).unwrap_err().1,
            "The verification code was incorrect, please try again."
        );
    }
    assert!(sign_in(&old).is_ok(), "nothing has changed yet");
    assert_eq!(codes(new, &old), Ok(json!(true)));
    assert!(works(&server, &session) && !works(&server, &other));
    assert!(sign_in(&old).is_err());
    assert!(sign_in(new).is_ok());
    let refused = server.call("user.replacetotp", &json!({})).unwrap_err();
    assert_eq!(refused.1, "No user group of the user requires a code.");
}
