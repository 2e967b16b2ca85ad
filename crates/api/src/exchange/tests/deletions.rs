//! What a change does outside the database follows its commit, and nothing else does.

use serde_json::{Value as Json, json};

use crate::testing::Server;
use crate::{ApiError, rpc};

/// A template with an item, a trigger, a discovery rule, a scenario and a host below, with items
/// and triggers of its own; returns ids by name.
fn prepare(server: &Server) -> Json {
    let inside = |id: String| json!([{ "groupid": id }]);
    let group = inside(server.create("hostgroup.create", &json!({ "name": "HG" })));
    let folder = inside(server.create("templategroup.create", &json!({ "name": "TG" })));
    let template = json!({ "host": "t", "groups": folder });
    let template = server.create("template.create", &template);
    let child = json!({ "host": "c", "groups": folder, "templates": [{ "templateid": template }] });
    let child = server.create("template.create", &child);
    let host = json!({ "host": "h", "groups": group, "templates": [{ "templateid": template }] });
    let host = server.create("host.create", &host);
    let item = |owner: &str, key: &str| {
        let item = json!({ "hostid": owner, "name": key, "key_": key, "type": 2, "value_type": 3 });
        server.create("item.create", &item)
    };
    item(&template, "of.template");
    let own = item(&host, "own");
    let checked = json!({ "hostid": host, "name": "s", "key_": "s", "type": 21, "value_type": 3,
                          "params": "return 1", "delay": "1m" });
    let checked = server.create("item.create", &checked);
    let trigger = json!({ "description": "own", "expression": "last(/h/own)=1" });
    let trigger = server.create("trigger.create", &trigger);
    let rule = json!({ "hostid": host, "name": "r", "key_": "r", "type": 2 });
    let rule = server.create("discoveryrule.create", &rule);
    let prototype = json!({ "hostid": host, "ruleid": rule, "name": "p", "key_": "p[{#A}]",
                            "type": 2, "value_type": 3 });
    let prototype = server.create("itemprototype.create", &prototype);
    let maker = json!({ "description": "on {#A}", "expression": "last(/h/p[{#A}])=1" });
    let maker = server.create("triggerprototype.create", &maker);
    let found = json!({ "ruleid": rule, "host": "{#H}", "groupLinks": group });
    let found = server.create("hostprototype.create", &found);
    let steps = json!([{ "name": "a", "no": 1, "url": "http://127.0.0.1/" },
                       { "name": "b", "no": 2, "url": "http://127.0.0.1/" }]);
    let scenario = json!({ "hostid": host, "name": "web", "steps": steps });
    let scenario = server.create("httptest.create", &scenario);
    let password = json!({ "username": "someone", "passwd": "Xy9!longpass", "roleid": "1" });
    let user = server.create("user.create", &password);
    json!({ "t": template, "c": child, "h": host, "own": own, "checked": checked,
            "trigger": trigger, "rule": rule, "prototype": prototype, "maker": maker, "found": found,
            "scenario": scenario, "user": user })
}

/// Calls with effects outside the database.
fn calls(id: &Json) -> Vec<(&'static str, Json)> {
    let of = |name: &str| id[name].clone();
    let clear = json!([{ "templateid": of("t") }]);
    let step = json!([{ "name": "a", "no": 1, "url": "http://127.0.0.1/" }]);
    vec![
        ("item.delete", json!([of("own")])),
        ("trigger.delete", json!([of("trigger")])),
        ("discoveryrule.delete", json!([of("rule")])),
        ("itemprototype.delete", json!([of("prototype")])),
        ("triggerprototype.delete", json!([of("maker")])),
        ("httptest.delete", json!([of("scenario")])),
        ("httptest.update", json!({ "httptestid": of("scenario"), "steps": step })),
        ("host.delete", json!([of("h")])),
        ("template.delete", json!([of("t")])),
        ("host.update", json!({ "hostid": of("h"), "templates_clear": clear })),
        ("host.massupdate", json!({ "hosts": [{ "hostid": of("h") }], "templates_clear": clear })),
        ("host.massremove", json!({ "hostids": [of("h")], "templateids_clear": [of("t")] })),
        ("template.update", json!({ "templateid": of("c"), "templates_clear": clear })),
        (
            "template.massupdate",
            json!({ "templates": [{ "templateid": of("c") }], "templates_clear": clear }),
        ),
        (
            "template.massremove",
            json!({ "templateids": [of("c")], "templateids_clear": [of("t")] }),
        ),
        ("task.create", json!([{ "type": 6, "request": { "itemid": of("checked") } }])),
        ("history.clear", json!([of("own")])),
    ]
}

#[test]
fn effects_follow_the_commit_and_not_a_failed_transaction() {
    let count = calls(&json!({})).len();
    for n in 0..count {
        let server = Server::start();
        let ids = prepare(&server);
        let (method, params) = calls(&ids).swap_remove(n);
        let asked = || std::mem::take(&mut *server.asked.lock().unwrap());
        asked();
        let user = crate::User::system();
        let failed = server.with_call(user.clone(), |call| {
            call.together(|call| {
                rpc::run_inner(call, method, &params)?;
                Err::<(), _>(ApiError::application("a later part fails"))
            })
        });
        assert_eq!(failed.unwrap_err().data, "a later part fails", "{method}");
        assert_eq!(asked(), Vec::<String>::new(), "{method} was taken back");
        server
            .with_call(user, |call| {
                call.together(|call| {
                    let done = rpc::run_inner(call, method, &params);
                    assert_eq!(asked(), Vec::<String>::new(), "{method} before the commit");
                    done
                })
            })
            .unwrap();
        assert!(!asked().is_empty(), "{method} has an effect");
    }
}

#[test]
fn triggers_that_were_discovered_close_with_their_prototype() {
    let server = Server::start();
    let ids = prepare(&server);
    let (maker, item) = (ids["maker"].as_str().unwrap(), ids["own"].as_str().unwrap());
    server.write_sql(&[
        "INSERT INTO triggers (triggerid, description, flags) VALUES (900, 'on x', 4)",
        &format!(
            "INSERT INTO functions (functionid, triggerid, itemid, name) \
             VALUES (900, 900, {item}, 'last')"
        ),
        &format!(
            "INSERT INTO trigger_discovery (triggerid, parent_triggerid) VALUES (900, {maker})"
        ),
    ]);
    server.asked.lock().unwrap().clear();
    server.call("triggerprototype.delete", &json!([maker])).unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM triggers WHERE triggerid = 900"), 0);
    let asked = server.asked.lock().unwrap().join(" ");
    assert!(asked.contains("TriggerId(900)"), "{asked}");
}

#[test]
fn a_trigger_that_is_switched_off_keeps_its_problems() {
    let server = Server::start();
    let ids = prepare(&server);
    server.asked.lock().unwrap().clear();
    let off = json!({ "triggerid": ids["trigger"], "status": 1 });
    server.call("trigger.update", &off).unwrap();
    assert_eq!(*server.asked.lock().unwrap(), Vec::<String>::new());
}

/// A deletion that has to close problems or clear history is in the list above.
#[test]
fn every_deletion_that_takes_items_is_tried() {
    const WITHOUT: &[&str] = &[
        // Nothing of these has history or problems.
        "action",
        "certificate",
        "connector",
        "correlation",
        "dashboard",
        "drule",
        "engine",
        "enginegroup",
        "graph",
        "graphprototype",
        "healthmonitor",
        "hostgroup",
        "hostinterface",
        "iconmap",
        "image",
        "maintenance",
        "map",
        "mediatype",
        "mfa",
        "oncall",
        "pool",
        "poolgroup",
        "proxy",
        "proxygroup",
        "regexp",
        "report",
        "role",
        "script",
        "templatedashboard",
        "templategroup",
        "token",
        "user",
        "userdirectory",
        "usergroup",
        "usermacro",
        "valuemap",
        "vip",
        "virtualservice",
        // What is stored of services goes with them, by another thread.
        "service",
        "sla",
        // Nothing was discovered by the host prototype.
        "hostprototype",
    ];
    let tried: Vec<&str> = calls(&json!({})).iter().map(|(method, _)| *method).collect();
    let all = crate::methods::ALL.iter().flat_map(|part| part.iter());
    for name in all.map(|method| method.name) {
        let Some(object) = name.strip_suffix(".delete") else { continue };
        assert!(WITHOUT.contains(&object) != tried.contains(&name), "{name}");
    }
}

#[test]
fn sessions_are_forgotten_after_the_commit() {
    let server = Server::start();
    let ids = prepare(&server);
    let session = server.login("someone", "Xy9!longpass");
    let get = || server.call_as(Some(&session), "user.get", &json!({ "output": ["userid"] }));
    assert!(get().is_ok());
    let params = json!([ids["user"]]);
    server
        .with_call(crate::User::system(), |call| {
            call.together(|call| {
                rpc::run_inner(call, "user.delete", &params)?;
                // A call meanwhile knows the user of before, and remembers the session again.
                assert!(get().is_ok());
                Ok(())
            })
        })
        .unwrap();
    assert!(get().is_err(), "the session of a deleted user");
}

#[test]
fn refused_import_keeps_history() {
    let server = Server::start();
    prepare(&server);
    server.asked.lock().unwrap().clear();
    let import = |expression: &str| {
        let all = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": true });
        let item = json!({ "name": "new", "key": "new", "type": "TRAP", "delay": "0" });
        let host = json!({ "host": "h", "groups": [{ "name": "HG" }], "items": [item] });
        let trigger = json!({ "name": "bad", "expression": expression });
        let root = json!({ "version": "7.0", "hosts": [host], "triggers": [trigger] });
        let rules = json!({ "items": all, "triggers": all });
        let source = json!({ "zabbix_export": root }).to_string();
        let params = json!({ "format": "json", "rules": rules, "source": source });
        server.call("configuration.import", &params)
    };
    assert!(import("last(/h/absent)=1").is_err());
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM items WHERE key_ = 'own'"), 1);
    assert_eq!(*server.asked.lock().unwrap(), Vec::<String>::new());
    assert_eq!(import("last(/h/new)=1"), Ok(true.into()));
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM items WHERE key_ = 'own'"), 0);
    let asked = server.asked.lock().unwrap().join(" ");
    assert!(asked.contains("clear") && asked.contains("gone"), "{asked}");
}
