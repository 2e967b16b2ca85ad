//! The number of all items.

use super::*;

#[test]
fn all_items_are_counted_with_those_of_templates() {
    let f = Fixture::new();
    let item = |owner: &str, key: &str, more: Json| {
        let mut all =
            json!({ "hostid": owner, "name": key, "key_": key, "type": 2, "value_type": 3 });
        merge(&mut all, &more);
        all
    };
    let server = &f.server;
    server.create("item.create", &item(&f.template, "inherited", json!({})));
    server.create("item.create", &item(&f.host, "own", json!({})));
    server.create("item.create", &item(&f.host, "off", json!({ "status": 1 })));
    let rule = json!({ "hostid": f.host, "name": "r", "key_": "r", "type": 2 });
    server.create("discoveryrule.create", &rule);
    let all = server.call("item.get", &json!({ "output": ["itemid"] })).unwrap();
    let count = |more: Json| {
        let mut options = json!({ "countOutput": true });
        merge(&mut options, &more);
        let n = server.call("item.get", &options).unwrap();
        n.as_str().unwrap().parse::<usize>().unwrap()
    };
    let templated = count(json!({ "templated": true }));
    assert_eq!(templated, 1);
    let n = count(json!({}));
    assert_eq!(n, all.as_array().unwrap().len());
    assert_eq!(n, templated + count(json!({ "templated": false })));
    server.call("item.create", &item(&f.host, "new", json!({}))).unwrap();
    assert_eq!(count(json!({})), n + 1);
    assert_eq!(count(json!({ "search": { "key_": "new" } })), 1);
}
