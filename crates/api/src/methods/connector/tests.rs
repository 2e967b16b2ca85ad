use serde_json::json;

use super::{OWN, SPEC};
use crate::testing::Server;

#[test]
fn rules_of_kinds_name_columns() {
    crate::plain::check_rules(&SPEC, OWN);
}

#[test]
fn fields_follow_the_kind_and_the_authentication() {
    let server = Server::start();
    let connector = |change: serde_json::Value| {
        let mut connector = json!({ "name": "c", "url": "http://{$RECEIVER}:8080/v1" });
        for (name, value) in change.as_object().unwrap() {
            connector[name] = value.clone();
        }
        connector
    };
    for (change, text) in [
        (json!({ "protocol": 1 }), "\"/1/protocol\": value must be 0."),
        (json!({ "url": "" }), "\"/1/url\": cannot be empty."),
        (json!({ "url": "javascript:x" }), "\"/1/url\": unacceptable URL."),
        (
            json!({ "data_type": 1, "item_value_type": 1 }),
            "\"/1/item_value_type\": value must be 31.",
        ),
        (json!({ "username": "u" }), "\"/1/username\": value must be empty."),
        (json!({ "authtype": 5 }), "\"/1\": the parameter \"token\" is missing."),
        (json!({ "authtype": 5, "token": "" }), "\"/1/token\": cannot be empty."),
        (json!({ "attempt_interval": "7s" }), "\"/1/attempt_interval\": value must be \"5s\"."),
        (json!({ "max_attempts": 2, "attempt_interval": "11s" }), "value must be one of 0-10."),
        (json!({ "timeout": "2m" }), "\"/1/timeout\": value must be one of 1-60."),
        (json!({ "tags": [{ "tag": "t", "operator": 12, "value": "x" }] }), "value must be empty."),
        (json!({ "tags": [{ "tag": "t" }, { "tag": "t" }] }), "already exists."),
    ] {
        server.refuses(&[("connector.create", connector(change), -32602, text)]);
    }
    let tags = json!([{ "tag": "t", "operator": "2", "value": "x" }]);
    let change = json!({ "authtype": 5, "token": "s", "max_attempts": 3, "attempt_interval": "7s", "tags": tags });
    let id = server.create("connector.create", &connector(change));
    server.refuses(&[(
        "connector.create",
        connector(json!({})),
        -32602,
        "Connector \"c\" already exists.",
    )]);
    let update = json!({ "connectorid": id, "authtype": 1, "username": "u", "max_attempts": 1 });
    server.answers(&[
        ("connector.update", update, json!({ "connectorids": [id] })),
        (
            "connector.get",
            json!({ "output": ["token", "username", "attempt_interval", "status"], "selectTags": "extend" }),
            json!([{ "username": "u", "token": "", "attempt_interval": "5s", "status": "1", "tags": tags }]),
        ),
        ("connector.get", json!({ "output": ["connectorid"], "selectTags": "count" }), json!([{ "connectorid": id, "tags": "1" }])),
    ]);
    let log = server.call("auditlog.get", &json!({ "filter": { "resourcetype": 51 } })).unwrap();
    assert!(!log.to_string().contains("\\\"s\\\""), "the token is not in the audit log: {log}");
    server.answers(&[("connector.delete", json!([id]), json!({ "connectorids": [id] }))]);
    let user = server.user("u", "2", &[]);
    assert!(server.call_as(Some(&user), "connector.get", &json!({})).is_err());
}
