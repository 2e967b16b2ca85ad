use serde_json::json;

use super::hide_in;
use crate::Json;
use crate::testing::Server;

/// All that has to stay hidden from readers.
const SECRETS: &[&str] = &[
    "ipmi-secret",
    "auth-secret",
    "priv-secret",
    "community-secret",
    "http-secret",
    "key-secret",
    "header-secret",
    "query-secret",
    "web-secret",
    "web-key-secret",
    "step-secret",
    "variable-secret",
    "lld-secret",
    "prototype-secret",
    "macro-secret",
    "psk-secret",
];

/// A host with a secret in each place that has one; its id.
fn host(server: &Server, group: &str) -> String {
    let snmp = |ip: &str, main: i64, details: Json| json!({ "type": 2, "main": main, "useip": 1, "ip": ip, "dns": "", "port": "161", "details": details });
    let host = server.create(
        "host.create",
        &json!({
            "host": "h", "groups": { "groupid": group }, "ipmi_username": "reader",
            "ipmi_password": "ipmi-secret",
            "interfaces": [
                snmp("127.0.0.1", 1, json!({
                    "version": 3, "securityname": "s", "securitylevel": 2,
                    "authpassphrase": "auth-secret", "privpassphrase": "priv-secret",
                })),
                snmp("127.0.0.2", 0, json!({ "version": 2, "community": "community-secret" })),
                snmp("127.0.0.3", 0, json!({ "version": 2, "community": "{$COMMUNITY}" })),
            ],
            "macros": [{ "macro": "{$S}", "value": "macro-secret", "type": 1 }],
        }),
    );
    let http = |password: &str| {
        json!({
            "hostid": host, "name": "x", "type": 19, "delay": "1m", "url": "http://x/",
            "authtype": 1, "username": "u", "password": password,
            "ssl_cert_file": "c", "ssl_key_file": "k", "ssl_key_password": "key-secret",
            "headers": [
                { "name": "Accept", "value": "text/plain" },
                { "name": "Authorization", "value": "header-secret" },
                { "name": "X-Token", "value": "{$TOKEN}" },
            ],
            "query_fields": [{ "name": "api_key", "value": "query-secret" }],
        })
    };
    let with = |mut object: Json, more: Json| {
        for (name, value) in more.as_object().unwrap() {
            object[name] = value.clone();
        }
        object
    };
    let item = with(http("http-secret"), json!({ "key_": "http", "value_type": 4 }));
    server.create("item.create", &item);
    let rule =
        server.create("discoveryrule.create", &with(http("lld-secret"), json!({ "key_": "lld" })));
    let prototype = json!({ "key_": "p[{#A}]", "value_type": 4, "ruleid": rule });
    server.create("itemprototype.create", &with(http("prototype-secret"), prototype));
    server.create(
        "hostprototype.create",
        &json!({
            "ruleid": rule, "host": "{#H}", "groupLinks": [{ "groupid": group }],
            "custom_interfaces": 1,
            "interfaces": [{
                "type": 2, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": "161",
                "details": { "version": 2, "community": "community-secret" },
            }],
        }),
    );
    server.create(
        "httptest.create",
        &json!({
            "hostid": host, "name": "web", "authentication": 1, "http_user": "u",
            "http_password": "web-secret", "ssl_cert_file": "c", "ssl_key_file": "k",
            "ssl_key_password": "web-key-secret",
            "variables": [{ "name": "{password}", "value": "variable-secret" }],
            "steps": [{
                "name": "s", "no": 1, "url": "http://x/",
                "headers": [{ "name": "Cookie", "value": "step-secret" }],
            }],
        }),
    );
    host
}

/// Reading calls, with what of the secrets a user with write permission gets by each.
fn reads(host: &str) -> Vec<(&'static str, Json, &'static [&'static str])> {
    const INTERFACES: &[&str] = &["auth-secret", "priv-secret", "community-secret"];
    vec![
        ("host.get", json!({ "hostids": host }), &["ipmi-secret"]),
        ("host.get", json!({ "hostids": host, "selectInterfaces": "extend" }), INTERFACES),
        ("host.get", json!({ "hostids": host, "selectItems": "extend" }), &["http-secret"]),
        ("host.get", json!({ "hostids": host, "selectMacros": "extend" }), &[]),
        ("hostinterface.get", json!({ "hostids": host }), INTERFACES),
        (
            "hostinterface.get",
            json!({ "hostids": host, "selectHosts": "extend" }),
            &["ipmi-secret"],
        ),
        ("usermacro.get", json!({ "hostids": host }), &[]),
        (
            "item.get",
            json!({ "hostids": host }),
            &["http-secret", "key-secret", "header-secret", "query-secret"],
        ),
        ("item.get", json!({ "hostids": host, "output": ["password"] }), &["http-secret"]),
        ("discoveryrule.get", json!({ "hostids": host }), &["lld-secret"]),
        ("itemprototype.get", json!({ "hostids": host }), &["prototype-secret"]),
        (
            "hostprototype.get",
            json!({ "selectInterfaces": "extend", "selectParentHost": "extend" }),
            &["community-secret", "ipmi-secret"],
        ),
        (
            "httptest.get",
            json!({ "hostids": host, "selectSteps": "extend" }),
            &["web-secret", "web-key-secret", "step-secret", "variable-secret"],
        ),
        (
            "configuration.export",
            json!({ "format": "json", "options": { "hosts": [host] } }),
            &["auth-secret", "community-secret", "header-secret", "step-secret", "variable-secret"],
        ),
    ]
}

#[test]
fn only_users_who_may_change_a_host_read_its_secrets() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = host(&server, &group);
    let users = [
        ("user with read", "1", 2, false),
        ("user with write", "1", 3, false),
        ("admin with read", "2", 2, false),
        ("admin with write", "2", 3, true),
        ("super admin", "3", 2, true),
    ];
    for (name, role, permission, sees) in users {
        let session = server.user(name, role, &[(&group, permission)]);
        for (method, params, secrets) in reads(&host) {
            let found = server.call_as(Some(&session), method, &params).unwrap().to_string();
            let shown: Vec<&str> =
                SECRETS.iter().copied().filter(|secret| found.contains(secret)).collect();
            if sees {
                let missing = secrets.iter().find(|secret| !shown.contains(secret));
                assert_eq!(missing, None, "{name}: {method} {params}");
            } else {
                assert_eq!(shown, Vec::<&str>::new(), "{name}: {method} {params}");
            }
        }
    }
}

#[test]
fn readers_see_what_is_no_secret() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = host(&server, &group);
    let reader = server.user("reader", "1", &[(&group, 2)]);
    let get = |method: &str, params: Json| server.call_as(Some(&reader), method, &params).unwrap();
    let found = get("item.get", json!({ "hostids": host, "output": ["password", "headers"] }));
    assert_eq!(found[0]["password"], "");
    assert_eq!(
        found[0]["headers"],
        json!([
            { "name": "Accept", "value": "text/plain" },
            { "name": "Authorization", "value": "" },
            { "name": "X-Token", "value": "{$TOKEN}" },
        ])
    );
    let found = get("hostinterface.get", json!({ "hostids": host, "output": ["details"] }));
    assert_eq!(found[1]["details"]["community"], "");
    assert_eq!(found[2]["details"]["community"], "{$COMMUNITY}");
}

#[test]
fn secrets_cannot_be_guessed_by_conditions() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    host(&server, &group);
    let reader = server.user("reader", "2", &[(&group, 2)]);
    let writer = server.user("writer", "2", &[(&group, 3)]);
    for (method, condition) in [
        ("host.get", json!({ "filter": { "ipmi_password": "ipmi-secret" } })),
        ("host.get", json!({ "search": { "ipmi_password": "ipmi" } })),
        ("item.get", json!({ "filter": { "password": "http-secret" } })),
        ("item.get", json!({ "search": { "password": "http" } })),
        ("item.get", json!({ "search": { "ssl_key_password": "key" } })),
        ("discoveryrule.get", json!({ "search": { "password": "lld" } })),
        ("itemprototype.get", json!({ "search": { "password": "proto" } })),
    ] {
        let count = |session: &str| {
            let found = server.call_as(Some(session), method, &condition).unwrap();
            found.as_array().unwrap().len()
        };
        assert_eq!((count(&writer), count(&reader)), (1, 0), "{method} {condition}");
    }
}

#[test]
fn users_see_nothing_of_network_discovery() {
    let server = Server::start();
    server.create(
        "drule.create",
        &json!({
            "name": "d", "iprange": "192.0.2.1",
            "dchecks": [{ "type": 11, "key_": "1.3", "snmp_community": "community-secret", "ports": "161" }],
        }),
    );
    let user = server.user("user", "1", &[]);
    let admin = server.user("admin", "2", &[]);
    for (method, count) in
        [("drule.get", 1), ("dcheck.get", 1), ("dhost.get", 0), ("dservice.get", 0)]
    {
        let found = |session: &str| {
            let found = server.call_as(Some(session), method, &json!({})).unwrap();
            found.as_array().unwrap().len()
        };
        assert_eq!((found(&admin), found(&user)), (count, 0), "{method}");
    }
}

#[test]
fn an_import_keeps_the_secrets_that_exports_leave_out() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = host(&server, &group);
    let options = json!({ "format": "json", "options": { "hosts": [host] } });
    let file = server.call("configuration.export", &options).unwrap();
    for secret in ["ipmi-secret", "http-secret", "web-secret", "web-key-secret", "macro-secret"] {
        assert!(!file.as_str().unwrap().contains(secret), "{secret}");
    }
    let rules = json!({
        "hosts": { "updateExisting": true }, "items": { "updateExisting": true },
        "httptests": { "updateExisting": true },
    });
    let import = json!({ "format": "json", "source": file, "rules": rules });
    assert_eq!(server.call("configuration.import", &import), Ok(json!(true)));
    let found = server.call("httptest.get", &json!({ "hostids": host })).unwrap();
    assert_eq!(found[0]["http_password"], "web-secret");
    assert_eq!(found[0]["ssl_key_password"], "web-key-secret");
    let found = server.call("host.get", &json!({ "hostids": host })).unwrap();
    assert_eq!(found[0]["ipmi_password"], "ipmi-secret");
}

#[test]
fn names_tell_which_values_are_secrets() {
    for (node, hidden) in [
        (json!({ "headers": [{ "name": "authorization", "value": "x" }] }), true),
        (json!({ "headers": [{ "name": "X-API-Key", "value": "x" }] }), true),
        (json!({ "headers": [{ "name": "Accept", "value": "x" }] }), false),
        (json!({ "headers": [{ "name": "Cookie", "value": "id={$ID}" }] }), false),
        (json!({ "posts": [{ "name": "password", "value": "x" }] }), true),
        (json!({ "posts": "password=x" }), false),
        (json!({ "parameters": ["x"] }), false),
        (json!({ "details": { "community": "x" } }), true),
        (json!({ "details": { "community": "{$X}" } }), false),
        (json!({ "steps": [{ "variables": [{ "name": "{token}", "value": "x" }] }] }), true),
    ] {
        let mut shown = node.clone();
        hide_in(&mut shown);
        assert_eq!(shown != node, hidden, "{node}");
    }
}
