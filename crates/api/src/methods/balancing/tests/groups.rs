//! Pool groups: what is stored, and what is refused.

use serde_json::json;

use super::{Edge, servers};

#[test]
fn a_service_goes_to_a_pool_or_to_a_pool_group() {
    let edge = Edge::start();
    let members = json!([{ "poolid": edge.pool, "priority": 5, "ratio": 9 }]);
    let group = json!({ "name": "shop", "members": members });
    let group = edge.server.create("poolgroup.create", &group);
    let change = json!({ "virtualserviceid": edge.service, "poolgroupid": group });
    let touched = json!({ "method": "virtualservice.update", "params": change });
    let touched = edge.server.call("enginegroup.compare", &touched).unwrap();
    assert_eq!(touched[0]["change"], "changed");
    edge.server.call("virtualservice.update", &change).unwrap();
    let configuration = &edge.configuration()["configuration"];
    assert_eq!(configuration["virtual_services"][0]["pool"], "shop");
    let member = json!({ "pool": "app", "priority": 5, "ratio": 9 });
    assert_eq!(configuration["pool_groups"][0]["members"], json!([member]));
    assert_eq!(edge.server.text("SELECT poolid FROM virtualservices"), "0");
    for (method, ids, user) in [
        ("pool.delete", &edge.pool, "pool group \"shop\""),
        ("poolgroup.delete", &group, "virtual service \"web\""),
    ] {
        let (_, error) = edge.server.call(method, &json!([ids])).unwrap_err();
        assert!(error.contains(user), "{error}");
    }
    let both = "set either \"poolid\" or \"poolgroupid\"";
    edge.refuses(&[
        (json!({ "poolgroupid": "99" }), "\"/1/poolgroupid\": object does not exist"),
        (json!({ "poolid": edge.pool, "poolgroupid": group }), both),
        (json!({ "poolgroupid": 0 }), "requests need a pool"),
        (json!({ "rules": [{ "then": { "poolgroupid": "99" } }] }), "/1/rules/1/then/poolgroupid"),
        (
            json!({ "rules": [{ "then": { "poolgroupid": group, "poolid": edge.pool } }] }),
            "both poolid and poolgroupid",
        ),
    ]);
    let back = json!({ "virtualserviceid": edge.service, "poolid": edge.pool });
    edge.server.call("virtualservice.update", &back).unwrap();
    let more = json!({ "poolgroupid": group, "members": [{ "poolid": edge.pool, "ratio": 5 }] });
    edge.server.call("poolgroup.update", &more).unwrap();
    edge.server.call("poolgroup.delete", &json!([group])).unwrap();
    let shown = json!({ "output": ["action", "resourcename"],
        "filter": { "resourcetype": 1007 }, "sortfield": "auditid" });
    let entry = |action: &str| json!({ "action": action, "resourcename": "shop" });
    let entries = json!([entry("0"), entry("1"), entry("2")]);
    edge.server.answers(&[("auditlog.get", shown, entries)]);
}

#[test]
fn members_and_names_of_pool_groups_are_checked() {
    let edge = Edge::start();
    let member = json!({ "poolid": edge.pool });
    for (name, members, text) in [
        ("g", json!([]), "/1/members"),
        ("g", json!([member, member]), "/1/members/2"),
        ("g", json!([{ "poolid": "99" }]), "\"/1/members/1/poolid\": object does not exist"),
        ("g", json!([{ "poolid": edge.pool, "ratio": 1_001 }]), "/1/members/1/ratio"),
        ("g", json!([{ "poolid": edge.pool, "ratio": 0 }]), "no member has a 'ratio' above 0"),
        ("app", json!([member]), "\"/1/name\": a pool has the name \"app\""),
    ] {
        let group = json!({ "name": name, "members": members });
        let (_, error) = edge.server.call("poolgroup.create", &group).unwrap_err();
        assert!(error.contains(text), "{error}");
    }
    edge.server.create("poolgroup.create", &json!({ "name": "shop", "members": [member] }));
    let pool = json!({ "name": "shop", "servers": servers("s") });
    let (_, error) = edge.server.call("pool.create", &pool).unwrap_err();
    assert!(error.contains("\"/1/name\": a pool group has the name \"shop\""), "{error}");
    let slow = json!({ "poolid": edge.pool, "slow_start": "soon" });
    let (_, error) = edge.server.call("pool.update", &slow).unwrap_err();
    assert!(error.contains("\"/1/slow_start\": 'soon' is not a duration"), "{error}");
}
