//! Imports do what the field's server does with the same file.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// Every kind, with everything allowed.
fn rules() -> Json {
    let all = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": true });
    let kept = json!({ "createMissing": true, "updateExisting": true });
    json!({
        "template_groups": kept, "host_groups": kept, "templates": kept, "hosts": kept,
        "templateLinkage": { "createMissing": true, "deleteMissing": true }, "items": all,
        "discoveryRules": all, "triggers": all, "valueMaps": all, "graphs": all, "httptests": all,
        "templateDashboards": all,
    })
}

fn import(server: &Server, tree: Json) -> Result<Json, String> {
    let mut root = json!({ "version": "7.0", "template_groups": [{ "name": "TG" }],
                           "host_groups": [{ "name": "HG" }] });
    root.as_object_mut().unwrap().extend(tree.as_object().unwrap().clone());
    let params = json!({ "format": "json", "rules": rules(),
                         "source": json!({ "zabbix_export": root }).to_string() });
    server.call("configuration.import", &params).map_err(|e| e.1)
}

fn uuid(n: u32) -> String {
    format!("0123456789ab4def8123{n:012}")
}

/// Rows of one column of text, sorted.
fn column(server: &Server, sql: &str) -> Vec<String> {
    let rows = server.api.deps.config.read(|c| c.query(sql, &[])).unwrap();
    let mut texts: Vec<String> =
        rows.iter().map(|row| row.iter().next().unwrap().1.to_string()).collect();
    texts.sort();
    texts
}

/// A template with one object of each kind that has a universal id, named by `suffix`.
fn full(suffix: &str) -> Json {
    let item = |n: u32, key: &str| json!({ "uuid": uuid(n), "name": key, "key": key, "type": "TRAP", "delay": "0" });
    let key = format!("k{suffix}");
    let trigger = |n: u32, name: &str, key: &str| {
        json!({ "uuid": uuid(n), "name": format!("{name}{suffix}"),
                "expression": format!("last(/t/{key})=1") })
    };
    let mut prototype = item(4, &format!("p{suffix}[{{#A}}]"));
    prototype["trigger_prototypes"] = json!([trigger(5, "tp", &format!("p{suffix}[{{#A}}]"))]);
    let mut rule = item(3, &format!("r{suffix}"));
    rule["item_prototypes"] = json!([prototype]);
    rule["host_prototypes"] = json!([{ "uuid": uuid(6), "host": format!("{{#A}}{suffix}"),
                                       "group_links": [{ "group": { "name": "HG" } }] }]);
    let step = json!([{ "name": "a", "url": "http://127.0.0.1/" }]);
    let template = json!({
        "uuid": uuid(1), "template": "t", "name": "t", "groups": [{ "name": "TG" }],
        "items": [item(2, &key)], "discovery_rules": [rule],
        "httptests": [{ "uuid": uuid(7), "name": format!("w{suffix}"), "steps": step }],
        "valuemaps": [{ "uuid": uuid(8), "name": format!("v{suffix}"),
                        "mappings": [{ "value": "1", "newvalue": "a" }] }],
        "dashboards": [{ "uuid": uuid(9), "name": format!("d{suffix}"), "pages": [{}] }],
    });
    let graph = json!({ "uuid": uuid(10), "name": format!("g{suffix}"), "graph_items": [
                        { "color": "1A7C11", "item": { "host": "t", "key": key } }] });
    json!({ "templates": [template], "triggers": [trigger(11, "tr", &key)], "graphs": [graph] })
}

#[test]
fn objects_renamed_by_uuid_survive_delete_missing() {
    const ALL: &[&str] = &[
        "SELECT itemid FROM items",
        "SELECT triggerid FROM triggers",
        "SELECT dashboardid FROM dashboards",
        "SELECT graphid FROM graphs",
        "SELECT valuemapid FROM valuemaps",
        "SELECT hostid FROM hosts",
    ];
    let server = Server::start();
    import(&server, full("")).unwrap();
    let host = json!({ "host": "h", "groups": [{ "name": "HG" }], "templates": [{ "name": "t" }] });
    import(&server, json!({ "hosts": [host] })).unwrap();
    let before: Vec<_> = ALL.iter().map(|sql| column(&server, sql)).collect();
    server.asked.lock().unwrap().clear();
    import(&server, full(".new")).unwrap();
    let after: Vec<_> = ALL.iter().map(|sql| column(&server, sql)).collect();
    assert_eq!(before, after, "ids");
    for (table, name, count) in [
        ("items", "key_", 18),
        ("triggers", "description", 4),
        ("dashboards", "name", 1),
        ("graphs", "name", 2),
        ("valuemaps", "name", 1),
    ] {
        let sql = format!("SELECT COUNT(*) AS n FROM {table} WHERE {name} LIKE '%.new%'");
        assert_eq!(server.count(&sql), count, "{table}");
    }
    assert_eq!(*server.asked.lock().unwrap(), Vec::<String>::new(), "no history is cleared");
}

#[test]
fn key_of_a_renamed_item_can_go_to_a_new_one() {
    let server = Server::start();
    let template = |items: &[(u32, &str)]| {
        let items: Json = items
            .iter()
            .map(|(n, key)| {
                json!({ "uuid": uuid(*n), "name": key, "key": key, "type": "TRAP", "delay": "0" })
            })
            .collect();
        json!({ "templates": [{ "uuid": uuid(1), "template": "t", "name": "t",
                                "groups": [{ "name": "TG" }], "items": items }] })
    };
    import(&server, template(&[(2, "a")])).unwrap();
    let id = server.text("SELECT itemid FROM items");
    import(&server, template(&[(3, "a"), (2, "b")])).unwrap();
    assert_eq!(server.text("SELECT itemid FROM items WHERE key_ = 'b'"), id);
    assert_eq!(column(&server, "SELECT key_ FROM items"), ["a", "b"]);
}

#[test]
fn item_with_another_master_stays_when_its_old_master_goes() {
    let server = Server::start();
    let host = |masters: &[&str], of: &str| {
        let mut items: Vec<Json> = masters
            .iter()
            .map(|key| json!({ "name": key, "key": key, "type": "TRAP", "delay": "0" }))
            .collect();
        items.push(json!({ "name": "d", "key": "d", "type": "DEPENDENT", "delay": "0",
                           "master_item": { "key": of } }));
        json!({ "hosts": [{ "host": "h", "groups": [{ "name": "HG" }], "items": items }] })
    };
    import(&server, host(&["a"], "a")).unwrap();
    let id = server.text("SELECT itemid FROM items WHERE key_ = 'd'");
    import(&server, host(&["b"], "b")).unwrap();
    assert_eq!(server.text("SELECT itemid FROM items WHERE key_ = 'd'"), id);
    assert_eq!(column(&server, "SELECT key_ FROM items"), ["b", "d"]);
}

#[test]
fn own_objects_on_inherited_items_are_imported_in_one_file() {
    let server = Server::start();
    let item = |key: &str| json!({ "name": key, "key": key, "type": "TRAP", "delay": "0" });
    let dependent = |key: &str, master: &str| {
        json!({ "name": key, "key": key, "type": "DEPENDENT", "delay": "0",
                "master_item": { "key": master } })
    };
    let owner = |one: &str, name: &str, parent: &str, items: Json| {
        let group = if one == "host" { "HG" } else { "TG" };
        let parents = if parent.is_empty() { json!([]) } else { json!([{ "name": parent }]) };
        json!({ one: name, "name": name, "groups": [{ "name": group }], "templates": parents,
                "items": items })
    };
    let trigger = |name: &str, host: &str| json!({ "name": name, "expression": format!("last(/{host}/stay)=1") });
    // The template that is linked to the other comes first in the file.
    let tree = json!({
        "templates": [owner("template", "a", "b", json!([dependent("of.a", "stay")])),
                      owner("template", "b", "", json!([item("stay")]))],
        "hosts": [owner("host", "h", "a", json!([dependent("of.h", "of.a")]))],
        "triggers": [trigger("on host", "h"), trigger("on template", "a")],
    });
    import(&server, tree.clone()).unwrap();
    let on = |host: &str| {
        column(
            &server,
            &format!(
                "SELECT i.key_ FROM items i JOIN hosts h ON h.hostid = i.hostid WHERE h.host = '{host}'"
            ),
        )
    };
    assert_eq!(on("a"), ["of.a", "stay"]);
    assert_eq!(on("h"), ["of.a", "of.h", "stay"]);
    assert_eq!(
        column(&server, "SELECT description FROM triggers"),
        ["on host", "on template", "on template"]
    );
    import(&server, tree).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM items"), 6);
}

fn interface(ip: &str, reference: &str, main: &str, kind: &str) -> Json {
    let port = if kind == "SNMP" { "161" } else { "10050" };
    let mut one = json!({ "type": kind, "ip": ip, "port": port, "interface_ref": reference,
                          "default": main });
    if kind == "SNMP" {
        one["details"] = json!({ "community": "{$C}" });
    }
    one
}

fn with_interfaces(interfaces: Json, items: &[(&str, &str)]) -> Json {
    let items: Json = items
        .iter()
        .map(|(key, reference)| json!({ "name": key, "key": key, "interface_ref": reference }))
        .collect();
    json!({ "hosts": [{ "host": "h", "groups": [{ "name": "HG" }], "interfaces": interfaces,
                        "items": items }] })
}

#[test]
fn interfaces_of_existing_hosts_are_updated_and_added() {
    let server = Server::start();
    let at = |key: &str| {
        server.text(&format!(
            "SELECT n.ip FROM items i JOIN interfaces n ON n.interfaceid = i.interfaceid \
             WHERE i.key_ = '{key}'"
        ))
    };
    let ids = || column(&server, "SELECT interfaceid FROM interfaces");
    let one = interface("127.0.0.1", "if1", "YES", "ZABBIX");
    import(&server, with_interfaces(json!([one]), &[("a", "if1")])).unwrap();
    let before = ids();
    // Another address is the same interface with its items; one of another type is new.
    let moved = interface("127.0.0.9", "if2", "YES", "ZABBIX");
    let snmp = interface("127.0.0.8", "if1", "YES", "SNMP");
    import(&server, with_interfaces(json!([snmp, moved]), &[("a", "if2")])).unwrap();
    assert_eq!((at("a").as_str(), ids().len()), ("127.0.0.9", 2));
    assert!(ids().contains(&before[0]));
    // The order of the file means nothing, and what is missing goes.
    let extra = interface("127.0.0.7", "x", "NO", "ZABBIX");
    let moved = interface("127.0.0.9", "y", "YES", "ZABBIX");
    import(&server, with_interfaces(json!([extra, moved]), &[("a", "y"), ("b", "x")])).unwrap();
    assert_eq!((at("a").as_str(), at("b").as_str()), ("127.0.0.9", "127.0.0.7"));
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM interfaces WHERE type = 2"), 0);
    let refused = import(&server, with_interfaces(json!([]), &[("a", "y")])).unwrap_err();
    assert!(!refused.is_empty());
    // Without the right to change hosts a reference has to fit what is there.
    let moved = json!([interface("127.0.0.3", "if1", "YES", "ZABBIX")]);
    let mut root = with_interfaces(moved, &[("z", "if1")]);
    root["version"] = "7.0".into();
    let source = json!({ "zabbix_export": root }).to_string();
    let rules = json!({ "items": { "createMissing": true } });
    let params = json!({ "format": "json", "rules": rules, "source": source });
    let text = "Cannot find interface \"if1\" used for item \"z\" on \"h\".";
    assert_eq!(server.call("configuration.import", &params).unwrap_err().1, text);
}

#[test]
fn imports_remove_what_the_file_no_longer_has() {
    let server = Server::start();
    let item = |key: &str| json!({ "name": key, "key": key, "type": "TRAP", "delay": "0" });
    let template = json!([{ "template": "t", "name": "t", "groups": [{ "name": "TG" }],
                            "items": [item("of.t")] }]);
    let host = |templates: Json, prototypes: Json| {
        let mut rule = item("r");
        let mut prototype = item("p[{#A}]");
        prototype["trigger_prototypes"] = prototypes;
        rule["item_prototypes"] = json!([prototype]);
        json!([{ "host": "h", "groups": [{ "name": "HG" }], "templates": templates,
                 "items": [item("a")], "discovery_rules": [rule] }])
    };
    let trigger = |name: &str| json!({ "name": name, "expression": "last(/h/a)=1" });
    let mut depends = trigger("two");
    depends["dependencies"] = json!([{ "name": "one", "expression": "last(/h/a)=1" }]);
    let prototype = json!([{ "name": "tp", "expression": "last(/h/p[{#A}])=1" }]);
    let count = |what: &str| server.count(&format!("SELECT COUNT(*) AS n FROM {what}"));
    import(
        &server,
        json!({ "templates": template, "hosts": host(json!([{ "name": "t" }]), prototype),
                            "triggers": [trigger("one"), depends] }),
    )
    .unwrap();
    let of_host = "items WHERE key_ = 'of.t' AND templateid > 0";
    assert_eq!((count("trigger_depends"), count("triggers"), count(of_host)), (1, 3, 1));
    import(&server, json!({ "hosts": host(json!([]), json!([])), "triggers": [trigger("two")] }))
        .unwrap();
    assert_eq!(count("trigger_depends"), 0, "a dependency that the file does not have");
    assert_eq!(column(&server, "SELECT description FROM triggers"), ["two"]);
    assert_eq!(count("items WHERE key_ = 'of.t'"), 1, "unlinking clears");
}

/// Template `t`, exported as a tree.
fn exported(server: &Server) -> Json {
    let id = server.text("SELECT hostid FROM hosts WHERE host = 't'");
    let options = json!({ "format": "raw", "options": { "templates": [id] } });
    server.call("configuration.export", &options).unwrap()["zabbix_export"]["templates"][0].take()
}

fn names(node: &Json) -> Vec<&str> {
    node.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn members_of_scenarios_and_overrides_have_the_field_order() {
    let server = Server::start();
    let pair = json!([{ "name": "a", "value": "b" }]);
    let variable = json!([{ "name": "{a}", "value": "b" }]);
    let tag = json!([{ "tag": "a", "value": "b" }]);
    let step = json!({
        "status_codes": "200", "required": "r", "timeout": "3s", "retrieve_mode": "BOTH",
        "follow_redirects": "NO", "headers": pair, "variables": variable, "posts": pair,
        "query_fields": pair, "url": "http://x/", "name": "s",
    });
    let scenario = json!({
        "uuid": uuid(2), "name": "w", "delay": "2m", "attempts": "2", "agent": "me",
        "http_proxy": "http://p", "status": "DISABLED", "authentication": "BASIC",
        "http_user": "u", "verify_peer": "YES", "verify_host": "YES", "ssl_cert_file": "c",
        "variables": variable, "headers": pair, "steps": [step], "tags": tag,
    });
    let operation = json!({
        "operationobject": "ITEM_PROTOTYPE", "operator": "LIKE", "value": "v",
        "status": "DISABLED", "discover": "NO_DISCOVER", "delay": "1m", "history": "1d",
        "trends": "1d", "tags": tag,
    });
    let rule = json!({
        "uuid": uuid(3), "name": "r", "key": "r", "type": "TRAP", "delay": "0",
        "overrides": [{ "name": "o", "step": "1", "operations": [operation] }],
    });
    let template = json!({ "uuid": uuid(1), "template": "t", "name": "t",
                           "groups": [{ "name": "TG" }], "httptests": [scenario],
                           "discovery_rules": [rule] });
    import(&server, json!({ "templates": [template] })).unwrap();
    let found = exported(&server);
    assert_eq!(
        names(&found["httptests"][0]).join(" "),
        "uuid name delay attempts agent http_proxy variables headers status authentication \
         http_user verify_peer verify_host ssl_cert_file steps tags"
    );
    assert_eq!(
        names(&found["httptests"][0]["steps"][0]).join(" "),
        "name url query_fields posts variables headers follow_redirects retrieve_mode timeout \
         required status_codes"
    );
    assert_eq!(
        names(&found["discovery_rules"][0]["overrides"][0]["operations"][0]).join(" "),
        "operationobject operator value discover status delay history trends tags"
    );
}

#[test]
fn comparison_lists_objects_of_a_new_template_beside_it() {
    let server = Server::start();
    let params = |tree: Json| {
        let mut root = json!({ "version": "7.0", "template_groups": [{ "name": "TG" }],
                               "host_groups": [{ "name": "HG" }] });
        root.as_object_mut().unwrap().extend(tree.as_object().unwrap().clone());
        json!({ "format": "json", "rules": rules(),
                "source": json!({ "zabbix_export": root }).to_string() })
    };
    let found = server.call("configuration.importcompare", &params(full(""))).unwrap();
    let added = &found["templates"]["added"][0];
    assert_eq!(names(&added["after"]), ["uuid", "template", "name", "groups"], "{added}");
    assert_eq!(added["items"]["added"][0]["after"]["key"], "k", "{added}");
    let rule = &added["discovery_rules"]["added"][0];
    assert_eq!(rule["after"]["key"], "r");
    let prototype = &rule["item_prototypes"]["added"][0];
    assert_eq!(prototype["after"]["key"], "p[{#A}]");
    assert_eq!(prototype["trigger_prototypes"]["added"][0]["after"]["name"], "tp");
    assert_eq!(added["valuemaps"]["added"][0]["after"]["name"], "v");
}

#[test]
fn yaml_texts_lose_one_line_end_and_others_none() {
    let text = " a \n\n b \t\n\n";
    for (format, kept) in [("json", text), ("xml", text), ("yaml", " a \n\n b \t\n")] {
        let server = Server::start();
        let template = json!({ "template": "t", "name": "t", "groups": [{ "name": "TG" }],
                               "description": text });
        let tree = json!({ "version": "7.0", "template_groups": [{ "name": "TG" }],
                           "templates": [template] });
        // JSON is YAML as well.
        let source = match format {
            "xml" => crate::exchange::write_export("xml", &tree).unwrap(),
            _ => json!({ "zabbix_export": tree }).to_string(),
        };
        let params = json!({ "format": format, "rules": rules(), "source": source });
        server.call("configuration.import", &params).unwrap();
        let stored = "SELECT description FROM hosts WHERE host = 't'";
        assert_eq!(server.text(stored), kept, "{format}");
        for form in ["yaml", "json", "xml"] {
            let id = server.text("SELECT hostid FROM hosts WHERE host = 't'");
            let options = json!({ "format": form, "options": { "templates": [id] } });
            let export = server.call("configuration.export", &options).unwrap();
            let params = json!({ "format": form, "rules": rules(), "source": export });
            server.call("configuration.import", &params).unwrap();
            assert_eq!(server.text(stored), kept, "{format} through {form}");
        }
    }
    let tree = json!({ "description": "two\nlines" });
    let written = crate::exchange::write_export("yaml", &tree).unwrap();
    assert_eq!(written, "zabbix_export:\n  description: |\n    two\n    lines\n");
}

#[test]
fn history_of_template_objects_cannot_be_cleared() {
    let server = Server::start();
    import(&server, full("")).unwrap();
    let refused = server.api.deps.config.read(|c| c.query("SELECT itemid FROM items", &[]));
    let refused: Result<_, config::db::DbError> = refused;
    for row in refused.unwrap() {
        let id = row.id("itemid").to_string();
        let error = server.call("history.clear", &json!([id])).unwrap_err();
        assert!(error.1.starts_with("No permissions to referred object"), "{error:?}");
    }
    let host = json!({ "host": "h", "groups": [{ "name": "HG" }], "templates": [{ "name": "t" }] });
    import(&server, json!({ "hosts": [host] })).unwrap();
    let id = server.text(
        "SELECT i.itemid FROM items i JOIN hosts h ON h.hostid = i.hostid \
         WHERE h.host = 'h' AND i.key_ = 'k'",
    );
    assert!(server.call("history.clear", &json!([id])).is_ok());
}

#[test]
fn lookups_by_uuid_use_an_index() {
    let server = Server::start();
    for (table, key) in [("items", "itemid"), ("triggers", "triggerid")] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT {key} FROM {table} WHERE uuid = 'x'");
        let rows = server.api.deps.config.read(|c| c.query(&sql, &[]));
        let rows: Result<_, config::db::DbError> = rows;
        let plan: Vec<String> =
            rows.unwrap().iter().map(|row| row.text("detail").to_owned()).collect();
        assert!(plan.iter().all(|step| step.starts_with("SEARCH")), "{plan:?}");
    }
}
