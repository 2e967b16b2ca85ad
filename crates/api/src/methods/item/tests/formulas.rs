use serde_json::json;

use super::Fixture;
use crate::Json;

#[test]
fn formulas_name_no_host_that_their_author_may_not_read() {
    let f = Fixture::new();
    let hidden = f.server.create("hostgroup.create", &json!({ "name": "hidden" }));
    f.server.create("host.create", &json!({ "host": "x", "groups": { "groupid": hidden } }));
    let own = f.server.text("SELECT groupid FROM groups_ WHERE name = 'Hosts'");
    let session = f.server.user("author", "2", &[(&own, 3)]);
    let item = |session: Option<&str>, key: &str, formula: &str| {
        let item = json!({ "hostid": f.host, "name": key, "key_": key, "type": 15, "delay": "1m",
                           "value_type": 0, "params": formula });
        match session {
            Some(session) => f.server.call_as(Some(session), "item.create", &item),
            None => f.server.call("item.create", &item),
        }
    };
    let refused = "Invalid parameter \"/1/params\": you have no permissions to the host \"x\".";
    for (key, formula, allowed) in [
        ("a", "last(/x/k)", false),
        ("b", "1 + avg(/web/k,5m) - last(/x/k)", false),
        ("c", "last(/web/k)", true),
        ("d", "last(//k)", true),
        ("e", "last(/nosuch/k)", true),
    ] {
        let result = item(Some(&session), key, formula).map(drop).map_err(|(_, text)| text);
        let expected = if allowed { Ok(()) } else { Err(refused.to_owned()) };
        assert_eq!(result, expected, "{formula}");
        assert!(item(None, &format!("{key}.admin"), formula).is_ok(), "{formula}");
    }
    let id = f.server.text("SELECT itemid FROM items WHERE key_ = 'a.admin'");
    let update = |members: Json| {
        let mut params = members;
        params["itemid"] = id.clone().into();
        f.server.call_as(Some(&session), "item.update", &params).map(drop).map_err(|(_, text)| text)
    };
    assert_eq!(update(json!({ "name": "n", "params": "last(/x/k)" })), Ok(()), "it stays as it is");
    assert_eq!(update(json!({ "params": "max(/x/k,5m)" })), Err(refused.to_owned()));
    let all = "Invalid parameter \"/1/params\": only super admins may read items of all hosts (\"*\"): \
               name the hosts.";
    let result = item(Some(&session), "all", "sum(last_foreach(/*/k))");
    assert_eq!(result.map(drop).map_err(|(_, text)| text), Err(all.to_owned()));
}

#[test]
fn text_of_another_type_becomes_no_formula_unseen() {
    let f = Fixture::new();
    let hidden = f.server.create("hostgroup.create", &json!({ "name": "hidden" }));
    f.server.create("host.create", &json!({ "host": "x", "groups": { "groupid": hidden } }));
    let own = f.server.text("SELECT groupid FROM groups_ WHERE name = 'Hosts'");
    let session = f.server.user("author", "2", &[(&own, 3)]);
    let script = json!({ "hostid": f.host, "name": "s", "key_": "s", "type": 21, "delay": "1m",
                         "value_type": 0, "params": "last(/x/k)" });
    let created = f.server.call_as(Some(&session), "item.create", &script).unwrap();
    for members in [json!({ "type": 15, "params": "last(/x/k)" }), json!({ "type": 15 })] {
        let mut params = members;
        params["itemid"] = created["itemids"][0].clone();
        let result = f.server.call_as(Some(&session), "item.update", &params);
        assert!(result.is_err(), "{params}");
        assert_eq!(f.server.text("SELECT type FROM items WHERE key_ = 's'"), "21");
    }
}
