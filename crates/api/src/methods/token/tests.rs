use serde_json::json;

use crate::testing::Server;

#[test]
fn a_token_is_shown_once_and_works_while_it_may() {
    let server = Server::start();
    let now = 1_800_000_000;
    let id = server.create("token.create", &json!({ "name": "t", "expires_at": now + 100 }));
    let made = server.call("token.generate", &json!([id])).unwrap();
    let secret = made[0]["token"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 64);
    assert_eq!(
        server.count(&format!("SELECT COUNT(*) AS n FROM tokens WHERE digest = '{secret}'")),
        0
    );
    let call = || {
        server.call_as(Some(&secret), "host.get", &json!({ "countOutput": true })).map_err(|e| e.1)
    };
    assert_eq!(call().unwrap(), "0");
    server.call("token.update", &json!({ "tokenid": id, "status": 1 })).unwrap();
    assert_eq!(call().unwrap_err(), "Not authorized.");
    server.call("token.update", &json!({ "tokenid": id, "status": 0 })).unwrap();
    assert!(call().is_ok());
    server.clock.advance(std::time::Duration::from_secs(101));
    assert_eq!(call().unwrap_err(), "API token expired.");
    let by = |params| server.call("token.get", &params).unwrap();
    assert_eq!(by(json!({ "output": ["name"], "token": secret })), json!([{ "name": "t" }]));
    assert_eq!(by(json!({ "countOutput": true, "valid_at": now + 99 })), "1");
    assert_eq!(by(json!({ "countOutput": true, "valid_at": now + 100 })), "0");
    assert_eq!(by(json!({ "countOutput": true, "expired_at": now + 100 })), "1");
    server.call("token.generate", &json!([id])).unwrap();
    assert_eq!(by(json!({ "countOutput": true, "token": secret })), "0", "the old secret is gone");
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let id = server.create("token.create", &json!({ "name": "a" }));
    server.create("token.create", &json!({ "name": "b" }));
    server.refuses(&[
        ("token.create", json!({}), -32602, "cannot be empty"),
        ("token.create", json!({ "name": "" }), -32602, "cannot be empty"),
        (
            "token.create",
            json!({ "name": "a" }),
            -32602,
            "API token \"a\" already exists for userid \"1\".",
        ),
        (
            "token.create",
            json!([{ "name": "c" }, { "name": "c" }]),
            -32602,
            "value (userid, name)=(1, c)",
        ),
        ("token.create", json!({ "name": "c", "userid": "999" }), -32602, "is not available"),
        (
            "token.create",
            json!({ "name": "c", "expires_at": "x" }),
            -32602,
            "an integer is expected",
        ),
        ("token.create", json!({ "name": "c", "status": 3 }), -32602, "0, 1"),
        ("token.update", json!({ "tokenid": id, "name": "b" }), -32602, "already exists"),
        (
            "token.update",
            json!({ "tokenid": id, "userid": 2 }),
            -32602,
            "unexpected parameter \"userid\"",
        ),
        ("token.update", json!({ "tokenid": "999" }), -32500, "No permissions"),
        ("token.generate", json!(["999"]), -32500, "No permissions"),
        ("token.generate", json!([]), -32602, "cannot be empty"),
        ("token.delete", json!(["999"]), -32500, "No permissions"),
        ("token.get", json!({ "filter": { "token": "x" } }), -32602, "unexpected parameter"),
        ("token.get", json!({ "output": ["token"] }), -32602, "value must be one of"),
    ]);
}
