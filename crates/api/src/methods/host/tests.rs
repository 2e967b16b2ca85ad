mod discovered;
mod inventory;
mod portions;
mod states;

use serde_json::json;

use crate::Json;
use crate::testing::Server;

fn group(server: &Server, name: &str) -> String {
    server.create("hostgroup.create", &json!({ "name": name }))
}

fn interface(kind: i64, port: &str) -> Json {
    json!({ "type": kind, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": port })
}

#[test]
fn create_refuses() {
    let server = Server::start();
    let g = group(&server, "g");
    let tg = server.create("templategroup.create", &json!({ "name": "t" }));
    let template = |host: &str, links: Json| {
        let groups = json!({ "groupid": tg });
        server.create(
            "template.create",
            &json!({ "host": host, "groups": groups, "templates": links }),
        )
    };
    let base = template("base", json!([]));
    let app = template("app", json!([{ "templateid": base }]));
    server.create(
        "host.create",
        &json!({ "host": "h1", "name": "Host 1", "groups": { "groupid": g } }),
    );
    let psk = "0123456789abcdef0123456789abcdef";
    for (change, code, text) in [
        (json!({ "groups": null }), -32602, "an array is expected"),
        (json!({ "groups": [] }), -32602, "\"/1/groups\": cannot be empty"),
        (json!({ "groups": ["5"] }), -32602, "\"/1/groups/1\": an array is expected"),
        (
            json!({ "groups": [{ "groupid": "999" }] }),
            -32500,
            "\"/1/groups/1\": object does not exist",
        ),
        (json!({ "groups": [{ "groupid": g }, { "groupid": g }] }), -32602, "value (groupid)="),
        (json!({ "host": "" }), -32602, "Incorrect characters used for host name \"\""),
        (json!({ "host": "a/b" }), -32602, "Incorrect characters used for host name \"a/b\""),
        (json!({ "host": "h1" }), -32602, "Host with the same name \"h1\" already exists."),
        (json!({ "host": "app" }), -32602, "Template with the same name \"app\" already exists."),
        (
            json!({ "name": "Host 1" }),
            -32602,
            "Host with the same visible name \"Host 1\" already exists.",
        ),
        (json!({ "host": "x".repeat(129) }), -32500, "129 characters"),
        (json!({ "status": 5 }), -32500, "Incorrect status"),
        (
            json!({ "templates": [{ "templateid": "999" }] }),
            -32500,
            "\"/1/templates/1\": object does not exist",
        ),
        (
            json!({ "templates": [{ "templateid": app }, { "templateid": base }] }),
            -32602,
            "Cannot link template \"app\" to host \"x\", because its parent template \"base\" would be linked twice.",
        ),
        (json!({ "interfaces": 10 }), -32602, "expected"),
        (json!({ "interfaces": [interface(1, "99999")] }), -32602, "Incorrect interface port"),
        (
            json!({ "interfaces": [interface(1, "1"), interface(1, "2")] }),
            -32602,
            "more than one default",
        ),
        (
            json!({ "macros": [{ "macro": "BAD", "value": "1" }] }),
            -32602,
            "\"/1/macros/1/macro\": incorrect syntax near \"BAD\"",
        ),
        (json!({ "macros": [{ "macro": "{$A}" }] }), -32602, "\"value\" is missing"),
        (
            json!({ "macros": [{ "macro": "{$A}", "value": "" }, { "macro": "{$A}", "value": "" }] }),
            -32602,
            "value (macro)=({$A})",
        ),
        (json!({ "tags": [{ "tag": "" }] }), -32602, "\"/1/tags/1/tag\": cannot be empty"),
        (
            json!({ "tags": [{ "tag": "a" }, { "tag": "a", "value": "" }] }),
            -32602,
            "value (tag, value)=(a, )",
        ),
        (json!({ "inventory": { "nosuch": "x" } }), -32602, "Incorrect inventory field \"nosuch\""),
        (json!({ "inventory": { "os": "x" }, "inventory_mode": -1 }), -32602, "disabled inventory"),
        (json!({ "inventory": { "os": "x".repeat(200) } }), -32500, "200 characters"),
        (json!({ "inventory_mode": 7 }), -32500, "inventory_mode"),
        (json!({ "tls_connect": 7 }), -32602, "1, 2, 4"),
        (json!({ "tls_accept": 0 }), -32602, "1-7"),
        (json!({ "tls_connect": 2 }), -32602, "\"tls_psk_identity\" is missing"),
        (
            json!({ "tls_connect": 2, "tls_psk_identity": "a", "tls_psk": "ab" }),
            -32602,
            "minimum length",
        ),
        (
            json!({ "tls_connect": 2, "tls_psk_identity": "a", "tls_psk": "z".repeat(32) }),
            -32602,
            "hexadecimal",
        ),
        (json!({ "tls_psk": psk }), -32602, "value must be empty"),
        (json!({ "tls_issuer": "a" }), -32602, "value must be empty"),
        (json!({ "monitored_by": 1 }), -32602, "\"proxyid\" is missing"),
        (json!({ "monitored_by": 1, "proxyid": "777" }), -32500, "object does not exist"),
        (json!({ "proxyid": "777" }), -32602, "value must be 0"),
    ] {
        let mut host = json!({ "host": "x", "groups": [{ "groupid": g }] });
        for (name, value) in change.as_object().unwrap() {
            host[name] = value.clone();
        }
        server.refuses(&[("host.create", host, code, text)]);
    }
    server.refuses(&[
        ("host.create", json!({ "host": "x" }), -32602, "\"groups\" is missing"),
        ("host.create", json!([{ "host": "y", "groups": { "groupid": g } }, { "host": "y", "groups": { "groupid": g } }]), -32602, "Duplicate host"),
    ]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM hosts WHERE kind = 0"), 1);
    // Unknown members are ignored by this method.
    server
        .create("host.create", &json!({ "host": "x", "groups": [{ "groupid": g }], "nosuch": 1 }));
}

#[test]
fn a_host_is_read_as_written() {
    let server = Server::start();
    let g = group(&server, "g");
    let params = json!({
        "host": "h", "groups": { "groupid": g }, "interfaces": [interface(1, "10050")],
        "tags": [{ "tag": "env", "value": "prod" }],
        "macros": [{ "macro": "{$A}", "value": "1" }, { "macro": "{$S}", "value": "s", "type": 1 }],
        "inventory": { "os": "Debian" }, "tls_connect": 2, "tls_accept": 2,
        "tls_psk_identity": "id", "tls_psk": "0123456789abcdef0123456789abcdef",
    });
    let host = server.create("host.create", &params);
    let get = json!({
        "hostids": host, "output": ["host", "name", "inventory_mode", "tls_connect", "tls_psk", "active_available"],
        "selectHostGroups": ["name"], "selectInterfaces": ["port", "available"], "selectTags": "extend",
        "selectMacros": ["macro", "value"], "selectInventory": ["os", "tag"], "selectHostDiscovery": "extend",
        "selectItems": "count", "selectGraphs": "count", "selectParentTemplates": "extend",
    });
    server.answers(&[(
        "host.get",
        get,
        json!([{
            "hostid": host, "host": "h", "name": "h", "tls_connect": "2", "inventory_mode": "0",
            "active_available": "0",
            "hostgroups": [{ "name": "g" }],
            "parentTemplates": [],
            "interfaces": [{ "port": "10050", "available": "0" }],
            "items": "0",
            "graphs": "0",
            "macros": [{ "macro": "{$A}", "value": "1" }, { "macro": "{$S}" }],
            "tags": [{ "tag": "env", "value": "prod", "automatic": "0" }],
            "inventory": { "os": "Debian", "tag": "" },
            "hostDiscovery": [],
        }]),
    )]);
}

#[test]
fn update_replaces_sets_and_keeps_the_rest() {
    let server = Server::start();
    let (g, g2) = (group(&server, "g"), group(&server, "g2"));
    let secret =
        json!([{ "macro": "{$S}", "value": "s", "type": 1 }, { "macro": "{$A}", "value": "1" }]);
    let host = server.create(
        "host.create",
        &json!({
            "host": "h", "groups": { "groupid": g }, "macros": secret, "inventory": { "os": "x" },
            "interfaces": [interface(1, "1"), interface(4, "2")],
        }),
    );
    let stored = "SELECT COUNT(*) AS n FROM hostmacros WHERE macro = '{$S}' AND value = 's'";
    for (change, sql, n) in [
        (json!({ "description": "d" }), stored, 1),
        // A secret need not be sent again.
        (json!({ "macros": [{ "macro": "{$S}" }] }), stored, 1),
        (json!({ "macros": [{ "macro": "{$S}" }] }), "SELECT COUNT(*) AS n FROM hostmacros", 1),
        (json!({ "groups": { "groupid": g2 } }), "SELECT COUNT(*) AS n FROM host_groups", 1),
        (json!({ "tags": [{ "tag": "a" }] }), "SELECT COUNT(*) AS n FROM host_tags", 1),
        (json!({ "tags": [] }), "SELECT COUNT(*) AS n FROM host_tags", 0),
        (json!({ "interfaces": [interface(1, "3")] }), "SELECT COUNT(*) AS n FROM interfaces", 1),
        (json!({ "inventory": { "os": "" } }), "SELECT COUNT(*) AS n FROM host_inventory", 0),
        (
            json!({ "name": "", "host": "new" }),
            "SELECT COUNT(*) AS n FROM hosts WHERE name = 'new'",
            1,
        ),
    ] {
        let mut params = change.clone();
        params["hostid"] = json!(host);
        server.call("host.update", &params).unwrap_or_else(|e| panic!("{change}: {e:?}"));
        assert_eq!(server.count(sql), n, "{change}");
    }
    server.refuses(&[
        ("host.update", json!({ "hostid": "999" }), -32500, "No permissions"),
        ("host.update", json!({ "hostid": host, "groups": [] }), -32602, "cannot be empty"),
        ("host.update", json!({ "hostid": host, "name": "" }), -32602, "Visible name"),
        ("host.update", json!([{ "hostid": host }, { "hostid": host }]), -32602, "already exists"),
        ("host.update", json!({ "hostid": host, "macros": [{ "macro": "{$S}", "type": 0 }] }), -32602, "\"value\" is missing"),
        ("host.update", json!({ "hostid": host, "templates": [{ "templateid": 1 }], "templates_clear": [{ "templateid": 1 }] }), -32602, "cannot be specified"),
    ]);
}

#[test]
fn deleting_a_host_takes_its_triggers_along() {
    let server = Server::start();
    let g = group(&server, "g");
    let host = |name: &str| {
        server.create("host.create", &json!({ "host": name, "groups": { "groupid": g } }))
    };
    let (a, b) = (host("a"), host("b"));
    server.write_sql(&[
        &format!("INSERT INTO items (itemid, hostid, key_) VALUES (1, {a}, 'k'), (2, {b}, 'k')"),
        "INSERT INTO triggers (triggerid, description) VALUES (5, 'both'), (6, 'b')",
        "INSERT INTO functions (functionid, triggerid, itemid, name) VALUES (1, 5, 1, 'last'), (2, 5, 2, 'last'), (3, 6, 2, 'last')",
    ]);
    assert_eq!(server.call("host.delete", &json!([a])).unwrap(), json!({ "hostids": [a] }));
    assert_eq!(server.count("SELECT SUM(triggerid) AS n FROM triggers"), 6);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM functions"), 1);
    let asked = ["gone [TriggerId(5)]", "clear [ItemId(1)]"];
    assert_eq!(*server.asked.lock().unwrap(), asked);
    server.refuses(&[("host.delete", json!([a]), -32500, "No permissions")]);
}

#[test]
fn get_by_tags_and_state() {
    let server = Server::start();
    let g = group(&server, "g");
    let tg = server.create("templategroup.create", &json!({ "name": "t" }));
    let template = server.create(
        "template.create",
        &json!({
            "host": "t", "groups": { "groupid": tg }, "tags": [{ "tag": "class", "value": "os" }],
        }),
    );
    for (name, tags, templates, status) in [
        (
            "a",
            json!([{ "tag": "env", "value": "prod" }, { "tag": "role", "value": "web" }]),
            json!([{ "templateid": template }]),
            0,
        ),
        ("b", json!([{ "tag": "env", "value": "test" }]), json!([]), 0),
        ("c", json!([]), json!([]), 1),
    ] {
        let params = json!({
            "host": name, "groups": { "groupid": g }, "tags": tags, "templates": templates, "status": status,
            "interfaces": [{ "type": 1, "main": 1, "useip": 0, "ip": "", "dns": format!("{name}.example"), "port": "1" }],
        });
        server.create("host.create", &params);
    }
    for (options, found) in [
        (json!({ "tags": [{ "tag": "env", "value": "PRO" }] }), "a"),
        (json!({ "tags": [{ "tag": "env", "value": "prod", "operator": 1 }] }), "a"),
        (json!({ "tags": [{ "tag": "env", "operator": 4 }] }), "ab"),
        (json!({ "tags": [{ "tag": "env", "operator": 5 }] }), "c"),
        (json!({ "tags": [{ "tag": "env", "value": "prod", "operator": 3 }] }), "bc"),
        (json!({ "tags": [{ "tag": "env", "value": "t", "operator": 2 }] }), "ac"),
        (
            json!({ "tags": [{ "tag": "env", "value": "test" }, { "tag": "role", "value": "web" }], "evaltype": 2 }),
            "ab",
        ),
        (json!({ "tags": [{ "tag": "env" }, { "tag": "role" }] }), "a"),
        (json!({ "tags": [{ "tag": "class", "value": "os" }] }), ""),
        (json!({ "tags": [{ "tag": "class", "value": "os" }], "inheritedTags": true }), "a"),
        (json!({ "monitored_hosts": 1 }), "ab"),
        (json!({ "templateids": template }), "a"),
        (json!({ "search": { "dns": "B.EX" } }), "b"),
        (json!({ "filter": { "dns": "c.example" } }), "c"),
        (json!({ "filter": { "nosuch": 1 } }), "abc"),
        (json!({ "filter": { "host": ["a"], "status": 1 }, "searchByAny": true }), "ac"),
        (json!({ "severities": [4] }), ""),
        (json!({ "limit": "x" }), "abc"),
        (json!({ "nosuch": 1 }), "abc"),
    ] {
        let mut params = options.clone();
        params["output"] = json!(["host"]);
        params["sortfield"] = json!("host");
        let hosts = server.call("host.get", &params).unwrap();
        let names: String =
            hosts.as_array().unwrap().iter().map(|h| h["host"].as_str().unwrap()).collect();
        assert_eq!(names, found, "{options}");
    }
    let inherited =
        json!({ "filter": { "host": "a" }, "output": "refer", "selectInheritedTags": "extend" });
    let found = server.call("host.get", &inherited).unwrap();
    assert_eq!(found[0]["inheritedTags"], json!([{ "tag": "class", "value": "os" }]));
}

#[test]
fn mass_calls() {
    let server = Server::start();
    let (g, g2) = (group(&server, "g"), group(&server, "g2"));
    let host = |name: &str| {
        server.create("host.create", &json!({ "host": name, "groups": { "groupid": g } }))
    };
    let (a, b) = (host("a"), host("b"));
    let hosts = json!([{ "hostid": a }, { "hostid": b }]);
    let both = json!({ "hostids": [a, b] });
    server.answers(&[
        ("host.massadd", json!({ "hosts": hosts, "groups": { "groupid": g2 }, "macros": { "macro": "{$M}", "value": "m" } }), both.clone()),
        ("host.massadd", json!({ "hosts": hosts, "interfaces": interface(1, "1") }), both.clone()),
        ("host.massupdate", json!({ "hosts": hosts, "status": 1, "groups": { "groupid": g2 } }), both.clone()),
        ("host.get", json!({ "filter": { "status": 1 }, "groupids": g, "countOutput": true }), json!("0")),
        ("host.get", json!({ "filter": { "status": 1 }, "groupids": g2, "countOutput": true }), json!("2")),
        ("host.massremove", json!({ "hostids": [a, b], "macros": "{$M}", "interfaces": { "ip": "127.0.0.1", "dns": "", "port": "1" } }), both),
        ("usermacro.get", json!({ "countOutput": true }), json!("0")),
        ("hostinterface.get", json!({ "countOutput": true }), json!("0")),
    ]);
    server.refuses(&[
        ("host.massadd", json!({}), -32602, "\"hosts\" is missing"),
        ("host.massadd", json!({ "hosts": hosts, "nosuch": 1 }), -32602, "unexpected parameter"),
        ("host.massadd", json!({ "hosts": [{ "hostid": "999" }] }), -32500, "\"/hosts/1\""),
        ("host.massupdate", json!({ "hosts": hosts, "name": "n" }), -32602, "name"),
        ("host.massremove", json!({ "hostids": [] }), -32602, "cannot be empty"),
        (
            "host.massremove",
            json!({ "hostids": [a], "groupids": [g2] }),
            -32602,
            "cannot be without host group",
        ),
    ]);
}

#[test]
fn rights_decide_what_is_seen_and_changed() {
    let server = Server::start();
    let groups: Vec<String> =
        ["read", "write", "deny", "none"].iter().map(|n| group(&server, n)).collect();
    for (name, of) in [("r", &[0][..]), ("w", &[1]), ("d", &[1, 2]), ("n", &[3])] {
        let list: Vec<Json> = of.iter().map(|n| json!({ "groupid": groups[*n] })).collect();
        server.create("host.create", &json!({ "host": name, "groups": list }));
    }
    let rights: Vec<Json> =
        [2, 3, 0].iter().zip(&groups).map(|(p, g)| json!({ "id": g, "permission": p })).collect();
    let ug =
        server.create("usergroup.create", &json!({ "name": "ug", "hostgroup_rights": rights }));
    server.create(
        "user.create",
        &json!({
            "username": "adm", "passwd": "Pa55word-x", "roleid": 2, "usrgrps": { "usrgrpid": ug },
        }),
    );
    let session = server.login("adm", "Pa55word-x");
    let adm = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
    let names = |params: Json| -> String {
        let hosts = adm("host.get", params).unwrap();
        hosts.as_array().unwrap().iter().map(|h| h["host"].as_str().unwrap()).collect()
    };
    assert_eq!(names(json!({ "sortfield": "host" })), "rw");
    assert_eq!(names(json!({ "editable": true })), "w");
    let id = |name: &str| {
        let found = server.call("host.get", &json!({ "filter": { "host": name } })).unwrap();
        found[0]["hostid"].as_str().unwrap().to_owned()
    };
    for (host, may) in [("r", false), ("w", true), ("d", false), ("n", false)] {
        let update = adm("host.update", json!({ "hostid": id(host), "description": "d" }));
        assert_eq!(update.map_err(|e| e.0).is_ok(), may, "{host}");
    }
    let refused = adm("host.create", json!({ "host": "x", "groups": { "groupid": groups[0] } }));
    assert_eq!(refused.unwrap_err().0, -32500, "no right to write in that group");
    adm("host.create", json!({ "host": "x", "groups": { "groupid": groups[1] } })).unwrap();
    let seen = adm("hostgroup.get", json!({ "output": ["name"], "sortfield": "name" })).unwrap();
    assert_eq!(seen, json!([{ "name": "read" }, { "name": "write" }]));
}

#[test]
fn templates_linked_by_discovery_are_marked_and_stay() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "G" }));
    let groups = json!([{ "groupid": group }]);
    let own = server.create("templategroup.create", &json!({ "name": "TG" }));
    let template = |name: &str| {
        let params = json!({ "host": name, "groups": [{ "groupid": own }] });
        server.create("template.create", &params)
    };
    let (t, u) = (template("T"), template("U"));
    let templates = json!([{ "templateid": t }, { "templateid": u }]);
    let params = json!({ "host": "vm", "groups": groups, "templates": templates });
    let host = server.create("host.create", &params);
    server.write_sql(&[
        "UPDATE hosts SET flags = 4 WHERE host = 'vm'",
        &format!("UPDATE host_templates SET link_type = 1 WHERE templateid = {t}"),
        &format!(
            "INSERT INTO host_discovery (hostid, parent_hostid, parent_itemid, host, lastcheck) \
             VALUES ({host}, 77, 88, 'p{{#A}}', 5)"
        ),
    ]);
    let linked = |wanted: Json| {
        let params = json!({ "hostids": host, "output": [], "selectParentTemplates": wanted });
        server.call("host.get", &params).unwrap()[0]["parentTemplates"].clone()
    };
    assert_eq!(
        linked(json!(["host", "link_type"])),
        json!([{ "host": "T", "link_type": "1" }, { "host": "U", "link_type": "0" }])
    );
    assert_eq!(linked(json!(["templateid"])), json!([{ "templateid": t }, { "templateid": u }]));
    let params = json!({ "hostids": host, "output": ["flags"], "selectHostDiscovery": "extend" });
    let discovery = &server.call("host.get", &params).unwrap()[0]["hostDiscovery"];
    assert_eq!(
        [&discovery["hostid"], &discovery["parent_hostid"], &discovery["parent_itemid"]],
        [&json!(host), &json!("77"), &json!("0")]
    );
    // Removing the manual templates keeps the discovered ones.
    server.call("host.update", &json!({ "hostid": host, "templates": [] })).unwrap();
    assert_eq!(linked(json!(["host"])), json!([{ "host": "T" }]));
}
