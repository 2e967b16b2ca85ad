use serde_json::{Value as Json, json};

use crate::testing::Server;

fn ldap(change: &Json) -> Json {
    let mut ldap = json!({ "idp_type": 1, "name": "ldap", "host": "127.0.0.1", "port": 1,
                           "base_dn": "dc=example", "search_attribute": "uid" });
    for (name, value) in change.as_object().unwrap() {
        ldap[name] = value.clone();
    }
    ldap
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let groups = json!([{ "name": "admins", "roleid": 1, "user_groups": [{ "usrgrpid": 8 }] }]);
    for (change, text) in [
        (json!({ "host": "" }), "\"/1/host\": cannot be empty."),
        (json!({ "sso_url": "x" }), "\"/1\": unexpected parameter \"sso_url\"."),
        (json!({ "provision_groups": groups }), "\"/1/provision_groups\": should be empty."),
        (
            json!({ "provision_status": 1 }),
            "\"/1\": the parameter \"provision_groups\" is missing.",
        ),
        (
            json!({ "provision_status": 1, "provision_groups": [] }),
            "\"/1/provision_groups\": cannot be empty.",
        ),
        (
            json!({ "provision_status": 1, "provision_groups": [{ "name": "a", "roleid": 99, "user_groups": [{ "usrgrpid": 8 }] }] }),
            "\"/1/provision_groups/1/roleid\": object does not exist.",
        ),
        (
            json!({ "provision_status": 1, "provision_groups": [{ "name": "a", "roleid": 1, "user_groups": [{ "usrgrpid": 99 }] }] }),
            "\"/1/provision_groups/1/user_groups/1\": object does not exist.",
        ),
        (
            json!({ "provision_status": 1, "provision_groups": groups, "provision_media": [{ "name": "m", "mediatypeid": 99, "attribute": "mail" }] }),
            "\"/1/provision_media/1/mediatypeid\": object does not exist.",
        ),
    ] {
        server.refuses(&[("userdirectory.create", ldap(&change), -32602, text)]);
    }
    let saml = json!({ "idp_type": 2, "name": "saml" });
    server.create("userdirectory.create", &saml);
    let second = json!({ "idp_type": 2, "name": "second" });
    server.refuses(&[
        (
            "userdirectory.create",
            second,
            -32602,
            "Only one user directory of type \"2\" can exist.",
        ),
        (
            "userdirectory.create",
            json!({ "idp_type": 1, "name": "x" }),
            -32602,
            "the parameter \"host\" is missing.",
        ),
    ]);
}

#[test]
fn a_directory_with_its_groups_and_media() {
    let server = Server::start();
    server.call("settings.update", &json!({ "alert_usrgrpid": 0 })).unwrap();
    let groups = json!([{ "name": "admins", "roleid": "3", "user_groups": [{ "usrgrpid": "7" }] }]);
    let media = json!([{ "name": "mail", "mediatypeid": "1", "attribute": "mail" }]);
    let provisions = json!({ "provision_status": 1, "provision_groups": groups,
                             "provision_media": media, "bind_dn": "cn=x", "bind_password": "secret",
                             "user_username": "givenName" });
    let id = server.create("userdirectory.create", &ldap(&provisions));
    let default = json!({ "output": ["ldap_userdirectoryid"] });
    server.answers(&[
        ("authentication.get", default.clone(), json!({ "ldap_userdirectoryid": id })),
        (
            "userdirectory.get",
            json!({ "output": ["name", "port"], "selectProvisionGroups": "extend",
                    "selectProvisionMedia": ["name", "severity"], "selectUsrgrps": "count" }),
            json!([{ "name": "ldap", "port": "1", "provision_groups": groups,
                     "provision_media": [{ "name": "mail", "severity": "63" }], "usrgrps": "0" }]),
        ),
    ]);
    let whole = server.call("userdirectory.get", &json!({})).unwrap()[0].clone();
    assert!(whole.get("sso_url").is_none() && whole.get("bind_password").is_none(), "{whole}");
    let log = server.call("auditlog.get", &json!({ "filter": { "resourcetype": 49 } })).unwrap();
    assert!(!log.to_string().contains("\\\"secret\\\""), "{log}");
    let strong = json!({ "userdirectoryid": id, "start_tls": 1 });
    server.call("userdirectory.update", &strong).unwrap();
    for change in [json!({ "port": 2 }), json!({ "host": "ldap://x" }), json!({ "start_tls": 0 })] {
        let mut params = json!({ "userdirectoryid": id });
        params.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let text = "\"bind_password\" is missing.";
        server.refuses(&[("userdirectory.update", params.clone(), -32602, text)]);
        params["test_username"] = "ann".into();
        params["test_password"] = "x".into();
        server.refuses(&[("userdirectory.test", params, -32602, text)]);
    }
    server.refuses(&[
        (
            "userdirectory.update",
            json!({ "userdirectoryid": id, "idp_type": 2 }),
            -32602,
            "\"/1/idp_type\": cannot be changed.",
        ),
        (
            "userdirectory.update",
            json!({ "userdirectoryid": id, "host": "other" }),
            -32602,
            "\"bind_password\" is missing.",
        ),
        (
            "usergroup.delete",
            json!([7]),
            -32602,
            "because it is used by LDAP userdirectory \"ldap\".",
        ),
    ]);
    let enable = json!({ "authentication_type": 1, "ldap_auth_enabled": 1 });
    server.call("authentication.update", &enable).unwrap();
    server.refuses(&[
        ("userdirectory.delete", json!([id]), -32602, "Cannot delete default user directory."),
        (
            "authentication.update",
            json!({ "ldap_jit_status": 1 }),
            -32602,
            "Deprovisioned users group cannot be empty.",
        ),
    ]);
    let disable = json!({ "authentication_type": 0, "ldap_auth_enabled": 0 });
    server.call("authentication.update", &disable).unwrap();
    let off = json!({ "userdirectoryid": id, "provision_status": 0 });
    server.call("userdirectory.update", &off).unwrap();
    server.answers(&[
        (
            "userdirectory.get",
            json!({ "output": ["user_username"], "selectProvisionGroups": ["name"], "selectProvisionMedia": "extend" }),
            json!([{ "user_username": "", "provision_groups": [], "provision_media": [] }]),
        ),
        ("userdirectory.delete", json!([id]), json!({ "userdirectoryids": [id] })),
        ("authentication.get", default, json!({ "ldap_userdirectoryid": "0" })),
    ]);
}

#[test]
fn without_the_server_nobody_signs_in_by_ldap() {
    let server = Server::start();
    let id = server.create("userdirectory.create", &ldap(&json!({})));
    let group = json!({ "name": "g", "gui_access": 2, "userdirectoryid": id });
    let group = server.create("usergroup.create", &group);
    let user = json!({ "username": "ann", "passwd": "Xy9!longpass", "roleid": "1",
                       "usrgrps": [{ "usrgrpid": group }] });
    server.create("user.create", &user);
    let sign_in = || {
        let params = json!({ "username": "ann", "password": "Xy9!longpass" });
        server.call_as(None, "user.login", &params).unwrap_err()
    };
    let refused = (-32500, crate::session::BAD_LOGIN.to_owned());
    assert_eq!(sign_in(), refused, "sign-in by LDAP is disabled");
    server.call("authentication.update", &json!({ "ldap_auth_enabled": 1 })).unwrap();
    assert_eq!(sign_in(), refused, "the stored password is none of LDAP");
    let test = json!({ "userdirectoryid": id, "test_username": "ann", "test_password": "x" });
    server.refuses(&[
        ("userdirectory.test", test, -32602, "Cannot connect to LDAP server."),
        (
            "userdirectory.test",
            json!({ "userdirectoryid": id, "test_username": "ann" }),
            -32602,
            "\"test_password\" is missing.",
        ),
        (
            "userdirectory.test",
            json!({ "test_username": "ann", "test_password": "x" }),
            -32602,
            "\"host\" is missing.",
        ),
        ("usergroup.delete", json!([999]), -32500, "No permissions"),
    ]);
}
