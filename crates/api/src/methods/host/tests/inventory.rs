use serde_json::json;

use super::group;
use crate::testing::Server;

#[test]
fn the_inventory_is_asked_for_in_all_forms_that_clients_use() {
    let server = Server::start();
    let g = group(&server, "g");
    let host = json!({
        "host": "h", "groups": { "groupid": g }, "inventory_mode": 0, "inventory": { "os": "x" },
    });
    server.create("host.create", &host);
    for (wanted, fields) in [
        (json!("extend"), Some(70)),
        (json!(true), Some(70)),
        (json!(["os"]), Some(1)),
        (json!(["nosuch"]), Some(0)),
        (json!(""), Some(0)),
        (json!("os"), Some(0)),
        (json!("count"), Some(0)),
        (json!(false), Some(0)),
        (json!(0), Some(0)),
        (json!({}), Some(0)),
        (json!(null), None),
    ] {
        let params = json!({ "output": ["hostid"], "selectInventory": wanted });
        let found = server.call("host.get", &params).unwrap();
        let inventory = found[0].get("inventory");
        let size = inventory.map(|inventory| match inventory {
            serde_json::Value::Object(fields) => fields.len(),
            other => other.as_array().unwrap().len(),
        });
        assert_eq!(size, fields, "{wanted}");
        assert!(fields == Some(0) || inventory.is_none_or(|inventory| inventory["os"] == "x"));
    }
}

#[test]
fn items_and_rules_are_counted_without_being_read() {
    let server = Server::start();
    let g = group(&server, "g");
    let host = |name: &str| {
        server.create("host.create", &json!({ "host": name, "groups": { "groupid": g } }))
    };
    let (full, empty) = (host("full"), host("empty"));
    for key in ["a", "b", "c"] {
        let item = json!({ "hostid": full, "name": key, "key_": key, "type": 2, "value_type": 3 });
        server.create("item.create", &item);
    }
    let rule = json!({ "hostid": full, "name": "r", "key_": "r", "type": 2 });
    let rule = server.create("discoveryrule.create", &rule);
    let prototype = json!({ "hostid": full, "ruleid": rule, "name": "p", "key_": "p[{#A}]",
                            "type": 2, "value_type": 3 });
    server.create("itemprototype.create", &prototype);
    let reader = server.user("reader", "1", &[(&g, 2)]);
    let params = json!({
        "output": ["hostid"], "sortfield": "hostid",
        "selectItems": "count", "selectDiscoveries": "count",
    });
    let expected = json!([
        { "hostid": full, "items": "3", "discoveries": "1" },
        { "hostid": empty, "items": "0", "discoveries": "0" },
    ]);
    assert_eq!(server.call("host.get", &params).unwrap(), expected);
    assert_eq!(server.call_as(Some(&reader), "host.get", &params).unwrap(), expected);
    let mut limited = params.clone();
    limited["limitSelects"] = 2.into();
    let found = server.call("host.get", &limited).unwrap();
    assert_eq!(found[0]["items"], "2");
}
