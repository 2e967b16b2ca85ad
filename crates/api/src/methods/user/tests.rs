use serde_json::json;

use crate::Json;
use crate::testing::Server;

fn user(server: &Server, name: &str, role: i64, group: &str) -> String {
    server.create("user.create", &json!({
        "username": name, "passwd": "Pa55word-x", "roleid": role, "usrgrps": [{ "usrgrpid": group }],
    }))
}

#[test]
fn create_and_update_refuse() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let id = user(&server, "u1", 1, &ug);
    for (change, text) in [
        (json!({ "username": "" }), "\"/1/username\": cannot be empty"),
        (json!({ "username": "u1" }), "User with username \"u1\" already exists."),
        (json!({ "passwd": "short" }), "at least 8 characters"),
        (json!({ "passwd": "password" }), "common"),
        (json!({ "passwd": "1-other-1" }), "must not contain"),
        (json!({ "passwd": "" }), "cannot be empty"),
        (json!({ "roleid": "999" }), "\"/1/roleid\": object does not exist"),
        (json!({ "usrgrps": [{ "usrgrpid": "999" }] }), "\"/1/usrgrps/1\": object does not exist"),
        (json!({ "usrgrps": ["7"] }), "an array is expected"),
        (json!({ "alias": "x" }), "unexpected parameter \"alias\""),
        (json!({ "userdirectoryid": 1 }), "unexpected parameter"),
        (json!({ "medias": [{ "mediatypeid": "1" }] }), "\"sendto\" is missing"),
        (json!({ "rows_per_page": 0 }), "1-999999"),
    ] {
        let mut params = json!({ "username": "other", "passwd": "Pa55word-x", "roleid": 1 });
        for (name, value) in change.as_object().unwrap() {
            params[name] = value.clone();
        }
        server.refuses(&[("user.create", params, -32602, text)]);
    }
    server.refuses(&[
        ("user.create", json!({ "username": "x" }), -32602, "must have a password"),
        ("user.update", json!({ "userid": 999 }), -32500, "No permissions"),
        ("user.update", json!({ "userid": id, "username": "Admin" }), -32602, "already exists"),
        ("user.update", json!({ "userid": id, "passwd": "short" }), -32602, "8 characters"),
        (
            "user.update",
            json!({ "userid": 1, "passwd": "Pa55word-y" }),
            -32602,
            "Current password is mandatory.",
        ),
        (
            "user.update",
            json!({ "userid": 1, "passwd": "Pa55word-y", "current_passwd": "x" }),
            -32602,
            "Incorrect current password.",
        ),
        ("user.update", json!({ "userid": 1, "roleid": 1 }), -32602, "At least one active user"),
        (
            "user.update",
            json!({ "userid": 1, "usrgrps": [{ "usrgrpid": 9 }] }),
            -32602,
            "cannot add oneself to a disabled group",
        ),
        ("user.update", json!({ "userid": 2, "passwd": "Pa55word-y" }), -32602, "guest"),
        (
            "user.update",
            json!({ "userid": 2, "username": "g" }),
            -32602,
            "Cannot rename guest user.",
        ),
        ("user.delete", json!(["1"]), -32602, "oneself"),
        ("user.delete", json!(["2"]), -32602, "guest"),
        ("user.delete", json!(["999"]), -32500, "No permissions"),
        ("user.unblock", json!([]), -32602, "cannot be empty"),
        ("user.get", json!({ "filter": { "passwd": "x" } }), -32602, "password"),
    ]);
}

#[test]
fn sessions_end_with_passwords_groups_and_users() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let id = user(&server, "u1", 1, &ug);
    let ended = |session: &str| server.call_as(Some(session), "host.get", &json!({})).is_err();
    let session = server.login("u1", "Pa55word-x");
    assert!(!ended(&session));
    server.call("user.update", &json!({ "userid": id, "passwd": "Pa55word-y" })).unwrap();
    assert!(ended(&session), "the password changed");
    let session = server.login("u1", "Pa55word-y");
    server.call("usergroup.update", &json!({ "usrgrpid": ug, "users_status": 1 })).unwrap();
    assert!(ended(&session), "the group is switched off");
    let login = json!({ "username": "u1", "password": "Pa55word-y" });
    let refused = server.call_as(None, "user.login", &login).unwrap_err();
    assert_eq!(refused, (-32602, "No permissions for system access.".to_owned()));
    server.call("usergroup.update", &json!({ "usrgrpid": ug, "users_status": 0 })).unwrap();
    let session = server.login("u1", "Pa55word-y");
    server.call("user.delete", &json!([id])).unwrap();
    assert!(ended(&session), "the user is gone");
}

#[test]
fn others_are_seen_by_name_only() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let own = user(&server, "u1", 1, &ug);
    let other = user(&server, "u2", 1, &ug);
    let session = server.login("u1", "Pa55word-x");
    let call = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
    let params =
        json!({ "output": ["username", "roleid"], "sortfield": "userid", "selectRole": ["name"] });
    assert_eq!(
        call("user.get", params).unwrap(),
        json!([
            { "userid": own, "username": "u1", "roleid": "1", "role": { "name": "User role" } },
            { "userid": other, "username": "u2" },
        ])
    );
    for (method, params, refused) in [
        ("user.update", json!({ "userid": own, "lang": "de_DE" }), None),
        ("user.update", json!({ "userid": own, "username": "x" }), Some(-32602)),
        ("user.update", json!({ "userid": own, "roleid": 3 }), Some(-32602)),
        ("user.update", json!({ "userid": own, "usrgrps": [] }), Some(-32602)),
        ("user.update", json!({ "userid": other, "name": "x" }), Some(-32500)),
        ("user.create", json!({ "username": "x" }), Some(-32500)),
        ("usergroup.create", json!({ "name": "x" }), Some(-32500)),
        ("role.create", json!({ "name": "x", "type": 1 }), Some(-32500)),
        ("token.create", json!({ "name": "x" }), None),
        ("token.create", json!({ "name": "x", "userid": 1 }), Some(-32602)),
    ] {
        assert_eq!(call(method, params.clone()).err().map(|e| e.0), refused, "{method} {params}");
    }
    assert_eq!(call("role.get", json!({ "countOutput": true })).unwrap(), "1");
    assert_eq!(
        call("usergroup.get", json!({ "output": ["name"] })).unwrap(),
        json!([{ "usrgrpid": ug, "name": "ug" }])
    );
}

#[test]
fn media_and_blocking() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let id = user(&server, "u1", 1, &ug);
    let update =
        json!({ "userid": id, "medias": [{ "mediatypeid": "1", "sendto": "x@example.com" }] });
    server.call("user.update", &update).unwrap();
    let get = json!({ "userids": id, "output": ["attempt_failed"], "selectMedias": ["sendto", "severity"], "getAccess": true });
    let shown = json!([{
        "userid": id, "attempt_failed": "0", "gui_access": "0", "debug_mode": "0", "users_status": "0",
        "medias": [{ "sendto": ["x@example.com"], "severity": "63" }],
    }]);
    server.answers(&[
        ("user.get", get, shown),
        ("user.get", json!({ "mediaids": "999" }), json!([])),
    ]);
    let login = |password: &str| {
        server
            .call_as(None, "user.login", &json!({ "username": "u1", "password": password }))
            .is_ok()
    };
    for _ in 0..5 {
        assert!(!login("wrong"));
    }
    assert!(!login("Pa55word-x"), "blocked");
    server.call("user.unblock", &json!([id])).unwrap();
    assert!(login("Pa55word-x"));
}

#[test]
fn roles_decide_what_may_be_called() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let rules = json!({ "api.mode": 1, "api": ["host.get", "token.*"], "actions": [{ "name": "manage_api_tokens", "status": 0 }] });
    let role = server.create("role.create", &json!({ "name": "r", "type": 1, "rules": rules }));
    user(&server, "u1", role.parse().unwrap(), &ug);
    let session = server.login("u1", "Pa55word-x");
    for (method, may) in
        [("host.get", true), ("item.get", false), ("hostgroup.get", false), ("token.get", false)]
    {
        assert_eq!(server.call_as(Some(&session), method, &json!({})).is_ok(), may, "{method}");
    }
    server.refuses(&[
        (
            "role.create",
            json!({ "name": "r", "type": 1 }),
            -32602,
            "User role \"r\" already exists.",
        ),
        ("role.create", json!({ "name": "x" }), -32602, "\"type\" is missing"),
        ("role.create", json!({ "name": "x", "type": 4 }), -32602, "1, 2, 3"),
        (
            "role.create",
            json!({ "name": "x", "type": 1, "readonly": 1 }),
            -32602,
            "unexpected parameter",
        ),
        (
            "role.update",
            json!({ "roleid": 3, "name": "x" }),
            -32500,
            "Cannot update readonly user role",
        ),
        ("role.update", json!({ "roleid": 999, "name": "x" }), -32500, "No permissions"),
        ("role.delete", json!([3]), -32500, "Cannot delete readonly user role"),
        ("role.delete", json!([role]), -32500, "Cannot delete assigned user role \"r\"."),
        ("role.get", json!({ "selectRules": "count" }), -32602, "value must be \"extend\""),
    ]);
    server.answers(&[
        ("role.update", json!({ "roleid": role, "rules": { "api": ["host.*"] } }), json!({ "roleids": [role] })),
        ("role.get", json!({ "roleids": role, "output": ["name"], "selectRules": ["api", "api.mode"], "selectUsers": ["username"] }),
            json!([{ "name": "r", "rules": { "api.mode": "1", "api": ["host.*"] }, "users": [{ "username": "u1" }] }])),
    ]);
}

#[test]
fn check_shows_sign_in_methods_and_no_token_session() {
    let server = Server::start();
    let group = server.create("usergroup.create", &json!({ "name": "api only", "gui_access": 3 }));
    let user = json!({
        "username": "api", "passwd": "Pa55word-x", "roleid": "1", "usrgrps": { "usrgrpid": group },
    });
    let user = server.create("user.create", &user);
    let token = server.create("token.create", &json!({ "name": "t", "userid": user }));
    let token = server.call("token.generate", &json!([token])).unwrap()[0]["token"].clone();
    let sign_in = json!({ "username": "api", "password": "Pa55word-x", "userData": true });
    let signed_in = server.call_as(None, "user.login", &sign_in).unwrap();
    let check = |params: serde_json::Value| {
        server.call_as(None, "user.checkAuthentication", &params).map_err(|(_, text)| text)
    };
    let session = signed_in["sessionid"].clone();
    let by_session = check(json!({ "sessionid": session })).unwrap();
    let by_token = check(json!({ "token": token })).unwrap();
    for answer in [&signed_in, &by_session, &by_token] {
        assert_eq!(answer["gui_access"], "3");
    }
    assert_eq!(by_session["sessionid"], session);
    assert_eq!((by_token.get("sessionid"), by_token.get("secret")), (None, None));
    assert_eq!(
        check(json!({ "sessionid": token })).unwrap_err(),
        "Session terminated, re-login, please."
    );
    assert_eq!(check(json!({ "token": session })).unwrap_err(), "Not authorized.");
}
