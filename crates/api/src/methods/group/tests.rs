use serde_json::json;

use crate::testing::Server;

#[test]
fn create_and_update_refuse() {
    let server = Server::start();
    let a = server.create("hostgroup.create", &json!({ "name": "a" }));
    let b = server.create("hostgroup.create", &json!({ "name": "b" }));
    let taken = "already exists";
    server.refuses(&[
        ("hostgroup.create", json!({}), -32602, "\"/\": cannot be empty"),
        ("hostgroup.create", json!({ "name": "" }), -32602, "\"/1/name\": cannot be empty"),
        (
            "hostgroup.create",
            json!({ "name": "x", "flags": 4 }),
            -32602,
            "unexpected parameter \"flags\"",
        ),
        ("hostgroup.create", json!({ "name": "x", "uuid": "z" }), -32602, "32 characters"),
        ("hostgroup.create", json!({ "name": "x//y" }), -32602, "invalid host group name"),
        ("hostgroup.create", json!({ "name": "/x" }), -32602, "invalid host group name"),
        ("hostgroup.create", json!({ "name": "a" }), -32602, "Host group \"a\" already exists."),
        (
            "hostgroup.create",
            json!([{ "name": "q" }, { "name": "q" }]),
            -32602,
            "value (name)=(q) already",
        ),
        ("hostgroup.update", json!({ "name": "q" }), -32602, "\"groupid\" is missing"),
        ("hostgroup.update", json!({ "groupid": "", "name": "q" }), -32602, "a number is expected"),
        ("hostgroup.update", json!({ "groupid": a, "name": "b" }), -32602, taken),
        ("hostgroup.update", json!([{ "groupid": a }, { "groupid": a }]), -32602, taken),
        (
            "hostgroup.update",
            json!([{ "groupid": a, "name": "q" }, { "groupid": b, "name": "q" }]),
            -32602,
            taken,
        ),
        ("hostgroup.update", json!({ "groupid": 999, "name": "q" }), -32500, "No permissions"),
        ("hostgroup.delete", json!(["999"]), -32500, "No permissions"),
        ("hostgroup.delete", json!([a, a]), -32602, "\"/2\": value"),
        ("hostgroup.delete", json!([]), -32602, "cannot be empty"),
        ("hostgroup.get", json!({ "nosuch": 1 }), -32602, "unexpected parameter"),
        ("hostgroup.get", json!({ "limit": 0 }), -32602, "1-2147483647"),
        ("hostgroup.get", json!({ "sortfield": "flags" }), -32602, "\"groupid\", \"name\""),
        ("hostgroup.get", json!({ "sortfield": "name", "sortorder": "x" }), -32602, "\"ASC\""),
        ("hostgroup.get", json!({ "output": "count" }), -32602, "value must be \"extend\""),
        ("hostgroup.get", json!({ "search": { "groupid": 1 } }), -32602, "unexpected parameter"),
        (
            "hostgroup.get",
            json!({ "selectDiscoveryRules": "count" }),
            -32602,
            "value must be \"extend\"",
        ),
        ("hostgroup.propagate", json!({ "permissions": true }), -32602, "\"groups\" is missing"),
        (
            "hostgroup.propagate",
            json!({ "groups": [{ "groupid": a }] }),
            -32602,
            "At least one parameter",
        ),
    ]);
    // A template group may have the name of a host group; an update may say what is there already.
    server.create("templategroup.create", &json!({ "name": "a" }));
    server.call("hostgroup.update", &json!({ "groupid": a, "name": "a" })).unwrap();
}

#[test]
fn get_finds_groups_by_their_members() {
    let server = Server::start();
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let (full, off, empty) = (group("full"), group("off"), group("empty"));
    let host = |name: &str, group: &str, status: i64| {
        let groups = json!([{ "groupid": group }]);
        server.create("host.create", &json!({ "host": name, "groups": groups, "status": status }))
    };
    let (h1, _h2) = (host("h1", &full, 0), host("h2", &off, 1));
    server.write_sql(&[&format!(
        "INSERT INTO items (itemid, hostid, name, key_, value_type) VALUES (1, {h1}, 'i', 'k', 0)"
    )]);
    let names = |names: &[&str]| names.iter().map(|n| json!({ "name": n })).collect();
    for (options, found) in [
        (json!({}), names(&["empty", "full", "off"])),
        (json!({ "with_hosts": true }), names(&["full", "off"])),
        (json!({ "with_monitored_hosts": 1 }), names(&["full"])),
        (json!({ "with_items": true }), names(&["full"])),
        (json!({ "with_triggers": true }), names(&[])),
        (json!({ "hostids": h1 }), names(&["full"])),
        (json!({ "groupids": [empty] }), names(&["empty"])),
        (json!({ "groupids": [] }), names(&[])),
        (json!({ "search": { "name": "F" }, "startSearch": true }), names(&["full"])),
        (json!({ "filter": { "name": ["off", "x"] } }), names(&["off"])),
    ] {
        let mut params = options;
        params["output"] = json!(["name"]);
        params["sortfield"] = json!("name");
        server.answers(&[("hostgroup.get", params, found)]);
    }
    server.answers(&[
        ("hostgroup.get", json!({ "countOutput": true }), json!("3")),
        (
            "hostgroup.get",
            json!({ "groupids": [full], "output": [], "selectHosts": "count" }),
            json!([{ "hosts": "1" }]),
        ),
        ("hostgroup.get", json!({ "groupids": ["999"], "preservekeys": true }), json!([])),
    ]);
}

#[test]
fn hosts_keep_a_group() {
    let server = Server::start();
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let (a, b) = (group("a"), group("b"));
    let host = server.create("host.create", &json!({ "host": "h", "groups": { "groupid": a } }));
    let members = |group: &str| {
        let params = json!({ "groupids": group, "output": [], "selectHosts": ["host"] });
        server.call("hostgroup.get", &params).unwrap()[0]["hosts"].as_array().unwrap().len()
    };
    server.refuses(&[
        ("hostgroup.delete", json!([a]), -32602, "Host \"h\" cannot be without host group."),
        (
            "hostgroup.massremove",
            json!({ "groupids": [a], "hostids": [host] }),
            -32602,
            "cannot be without",
        ),
        (
            "hostgroup.massupdate",
            json!({ "groups": [{ "groupid": a }], "hosts": [] }),
            -32602,
            "cannot be without",
        ),
        (
            "hostgroup.massadd",
            json!({ "groups": [{ "groupid": a }] }),
            -32602,
            "\"hosts\" is missing",
        ),
        (
            "hostgroup.massadd",
            json!({ "groups": [{ "groupid": a }], "hosts": [{ "hostid": 999 }] }),
            -32500,
            "\"/hosts/1\"",
        ),
        (
            "hostgroup.massremove",
            json!({ "groupids": [a], "hostids": ["999"] }),
            -32500,
            "\"/hostids/1\"",
        ),
    ]);
    assert_eq!(members(&a), 1, "nothing of a refused change is kept");
    let add = json!({ "groups": [{ "groupid": b }], "hosts": [{ "hostid": host }] });
    server.call("hostgroup.massadd", &add).unwrap();
    assert_eq!(members(&b), 1);
    server.call("hostgroup.delete", &json!([a])).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM host_groups"), 1);
}

#[test]
fn hosts_know_the_new_name_of_a_group() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "old" }));
    let host = json!({ "host": "h", "groups": { "groupid": group } });
    server.create("host.create", &host);
    let names = || {
        let snapshot = server.api.deps.config.snapshot();
        snapshot.host_by_name("h").unwrap().group_names.join("|")
    };
    assert_eq!(names(), "old");
    server.call("hostgroup.update", &json!({ "groupid": group, "name": "new" })).unwrap();
    assert_eq!(names(), "new");
}

#[test]
fn rights_go_down_the_tree() {
    let server = Server::start();
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let top = group("top");
    let rights = json!([{ "id": top, "permission": 2 }]);
    let filters = json!([{ "groupid": top, "tag": "t" }]);
    let params = json!({ "name": "ug", "hostgroup_rights": rights, "tag_filters": filters });
    server.create("usergroup.create", &params);
    let rows = |table: &str| server.count(&format!("SELECT COUNT(*) AS n FROM {table}"));
    let below = group("top/below");
    group("topless/below");
    assert_eq!((rows("group_rights"), rows("tag_filters")), (2, 2), "a new group inherits");
    server.write_sql(&["UPDATE group_rights SET permission = 3 WHERE groupid = (SELECT groupid FROM groups_ WHERE name = 'top')"]);
    server
        .call("hostgroup.propagate", &json!({ "groups": { "groupid": top }, "permissions": true }))
        .unwrap();
    let same = format!(
        "SELECT COUNT(*) AS n FROM group_rights WHERE permission = 3 AND groupid IN ({top}, {below})"
    );
    assert_eq!((server.count(&same), rows("group_rights")), (2, 2));
}

#[test]
fn massupdate_leaves_unpermitted_hosts_and_templates() {
    let server = Server::start();
    for (kind, object, list, key) in [
        ("hostgroup", "host", "hosts", "hostid"),
        ("templategroup", "template", "templates", "templateid"),
    ] {
        let group = |name: &str| {
            server.create(&format!("{kind}.create"), &json!({ "name": format!("{kind} {name}") }))
        };
        let (mine, denied, read) = (group("mine"), group("denied"), group("read"));
        let member = |name: &str, groups: &[&String]| {
            let groups: Vec<_> = groups.iter().map(|id| json!({ "groupid": id })).collect();
            let params = json!({ "host": format!("{object}-{name}"), "groups": groups });
            server.create(&format!("{object}.create"), &params)
        };
        let hidden = member("hidden", &[&mine, &denied]);
        let kept = member("kept", &[&mine]);
        let gone = member("gone", &[&mine, &read]);
        let rights = [(&*mine, 3), (&*denied, 0), (&*read, 2)];
        let session = server.user(kind, "2", &rights);
        let call = |method: &str, params: serde_json::Value| {
            server.call_as(Some(&session), &format!("{kind}.{method}"), &params).is_ok()
        };
        let members = || {
            let sql =
                format!("SELECT COUNT(*) AS n FROM host_groups WHERE groupid = {mine} AND hostid");
            [&hidden, &kept, &gone].map(|id| server.count(&format!("{sql} = {id}")))
        };
        let groups = json!([{ "groupid": mine }]);
        assert!(!call("massupdate", json!({ "groups": groups, list: [{ key: hidden }] })));
        assert!(!call("massadd", json!({ "groups": groups, list: [{ key: hidden }] })));
        let ids = format!("{object}ids");
        assert!(!call("massremove", json!({ "groupids": [mine], ids: [hidden] })));
        assert_eq!(members(), [1, 1, 1], "{kind}");
        assert!(call("massupdate", json!({ "groups": groups, list: [{ key: kept }] })));
        assert_eq!(members(), [1, 1, 0], "{kind}");
    }
}
