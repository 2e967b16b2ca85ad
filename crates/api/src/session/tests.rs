//! The work of a sign-in does not show which accounts exist. Counted, because times vary.

use std::net::IpAddr;

use serde_json::json;

use super::{BAD_LOGIN, BCRYPT_COST, NO_HASH};
use crate::testing::Server;

/// Signs in; returns the number of comparisons and the error.
fn sign_in(server: &Server, name: &str, password: &str) -> (u64, Option<String>) {
    let stranger = IpAddr::from([192, 0, 2, 1]);
    let hasher = &server.api.sessions.hasher;
    let before = hasher.compared();
    let body = json!({ "jsonrpc": "2.0", "method": "user.login", "id": 1,
                       "params": { "username": name, "password": password } });
    let answer = server.api.handle(body.to_string().as_bytes(), None, stranger).unwrap();
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    (hasher.compared() - before, answer["error"]["data"].as_str().map(str::to_owned))
}

#[test]
fn every_sign_in_compares_one_hash() {
    let server = Server::start();
    let of_users = json!({ "name": "disabled", "users_status": 1 });
    let of_users = server.create("usergroup.create", &of_users);
    let disabled = json!({ "username": "disabled", "passwd": "Xy9!longpass", "roleid": "1",
                           "usrgrps": [{ "usrgrpid": of_users }] });
    server.create("user.create", &disabled);
    let broken = json!({ "username": "broken", "passwd": "Xy9!longpass", "roleid": "1" });
    server.create("user.create", &broken);
    server.write_sql(&["UPDATE users SET passwd = 'no hash' WHERE username = 'broken'"]);
    assert_eq!(sign_in(&server, "Admin", "zabbix"), (1, None));
    let long = "x".repeat(100);
    for (name, password) in [
        ("Admin", "wrong"),
        ("nobody", "wrong"),
        ("nobody", long.as_str()),
        ("guest", ""),
        ("broken", "Xy9!longpass"),
        ("disabled", "wrong"),
    ] {
        let expected = (1, Some(BAD_LOGIN.to_owned()));
        assert_eq!(sign_in(&server, name, password), expected, "{name} {password}");
    }
    let (compared, refused) = sign_in(&server, "disabled", "Xy9!longpass");
    assert!(compared == 1 && refused.is_some());
}

#[test]
fn blocked_account_compares_one_hash_too() {
    let server = Server::start();
    for name in ["Admin", "nobody"] {
        for attempt in 1..=7 {
            let refused = (1, Some(BAD_LOGIN.to_owned()));
            assert_eq!(sign_in(&server, name, "wrong"), refused, "{name}, attempt {attempt}");
        }
        let blocked = (1, Some(BAD_LOGIN.to_owned()));
        assert_eq!(sign_in(&server, name, "zabbix"), blocked, "{name}");
    }
}

#[test]
fn hash_of_unknown_users_costs_as_much_as_one_of_a_user() {
    let parts: bcrypt::HashParts = NO_HASH.parse().unwrap();
    assert_eq!(parts.get_cost(), BCRYPT_COST);
    let own = super::hash_password("x").unwrap();
    assert_eq!(own.len(), NO_HASH.len());
    assert_eq!(own.parse::<bcrypt::HashParts>().unwrap().get_cost(), BCRYPT_COST);
}
