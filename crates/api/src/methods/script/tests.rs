//! Scripts through the methods.

use serde_json::{Value as Json, json};

use crate::testing::Server;

fn with(mut object: Json, more: Json) -> Json {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

fn webhook(scope: i64) -> Json {
    json!({ "name": "s", "type": 5, "scope": scope, "command": "return 1;" })
}

#[test]
fn fields_depend_on_type_and_scope() {
    let server = Server::start();
    let of = |kind: i64, more: Json| {
        with(json!({ "name": "s", "type": kind, "scope": 1, "command": "x" }), more)
    };
    let input = |more: Json| {
        with(with(webhook(2), json!({ "manualinput": 1, "manualinput_prompt": "p" })), more)
    };
    for (script, text) in [
        (json!({ "name": "s", "type": 5 }), "\"scope\" is missing."),
        (json!({ "name": "s", "type": 5, "scope": 1 }), "\"command\" is missing."),
        (of(5, json!({ "command": "" })), "\"/1/command\": cannot be empty."),
        (of(5, json!({ "timeout": "61s" })), "\"/1/timeout\": value must be one of 1-60."),
        (of(5, json!({ "scope": 9 })), "\"/1/scope\": value must be one of 1, 2, 4."),
        (of(6, json!({ "url": "http://x" })), "\"/1/type\": value must be one of 0, 1, 2, 3, 5."),
        (of(6, json!({ "scope": 2, "url": "http://x" })), "\"/1/command\": value must be empty."),
        (
            json!({ "name": "s", "type": 6, "scope": 2, "url": "javascript:x" }),
            "\"/1/url\": unacceptable URL.",
        ),
        (of(99, json!({})), "\"/1/type\": value must be one of 0, 1, 2, 3, 5, 6."),
        (of(1, json!({ "execute_on": 0 })), "\"/1/execute_on\": value must be 2."),
        (of(2, json!({})), "\"username\" is missing."),
        (of(2, json!({ "username": "u", "authtype": 1 })), "\"publickey\" is missing."),
        (
            of(2, json!({ "username": "u", "publickey": "a" })),
            "\"/1/publickey\": value must be empty.",
        ),
        (of(2, json!({ "username": "u", "port": "x" })), "\"/1/port\": an integer is expected."),
        (
            of(2, json!({ "username": "u", "port": "70000" })),
            "\"/1/port\": value must be one of 0-65535.",
        ),
        (of(3, json!({ "username": "u", "authtype": 1 })), "\"/1/authtype\": value must be 0."),
        (
            of(0, json!({ "parameters": [{ "name": "a", "value": "" }] })),
            "\"/1/parameters\": should be empty.",
        ),
        (of(5, json!({ "menu_path": "a" })), "\"/1/menu_path\": value must be empty."),
        (of(5, json!({ "usrgrpid": "7" })), "\"/1/usrgrpid\": value must be 0."),
        (of(5, json!({ "groupid": "999" })), "Host group with ID \"999\" is not available."),
        (
            with(webhook(2), json!({ "usrgrpid": "999" })),
            "User group with ID \"999\" is not available.",
        ),
        (
            with(webhook(2), json!({ "menu_path": "a//b" })),
            "\"/1/menu_path\": directory cannot be empty.",
        ),
        (
            with(webhook(2), json!({ "host_access": 4 })),
            "\"/1/host_access\": value must be one of 2, 3.",
        ),
        (input(json!({})), "\"manualinput_validator\" is missing."),
        (
            input(json!({ "manualinput_validator": "[" })),
            "validator\": invalid regular expression.",
        ),
        (
            input(json!({ "manualinput_validator": "^[0-9]+$", "manualinput_default_value": "x" })),
            "input does not match the provided pattern: ^[0-9]+$.",
        ),
        (
            input(json!({ "manualinput_validator": "a,a", "manualinput_validator_type": 1 })),
            "values must be unique.",
        ),
        (
            of(
                5,
                json!({ "parameters": [{ "name": "a", "value": "" }, { "name": "a", "value": "" }] }),
            ),
            "\"/1/parameters/2\": value (name)=(a) already exists.",
        ),
        (of(5, json!({ "parameters": [{ "name": "a" }] })), "\"value\" is missing."),
    ] {
        server.refuses(&[("script.create", script, -32602, text)]);
    }
}

#[test]
fn scripts_live_and_change_their_type() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let below = server.create("hostgroup.create", &json!({ "name": "g/h" }));
    let host = |name: &str, group: &str| {
        server.create("host.create", &json!({ "host": name, "groups": [{ "groupid": group }] }))
    };
    let (inside, outside) = (
        host("in", &below),
        host("out", &server.create("hostgroup.create", &json!({ "name": "gx" }))),
    );
    let more = json!({
        "timeout": "5s", "parameters": [{ "name": "b", "value": "1" }, { "name": "a", "value": "" }],
        "menu_path": "m", "confirmation": "c", "usrgrpid": "7", "host_access": 3, "groupid": group,
    });
    let id = server.create("script.create", &with(webhook(2), more));
    server.refuses(&[(
        "script.create",
        with(webhook(2), json!({ "menu_path": "m" })),
        -32602,
        "Script \"s\" already exists.",
    )]);
    let get = || server.call("script.get", &json!({ "scriptids": id })).unwrap()[0].clone();
    assert_eq!(
        get()["parameters"],
        json!([{ "name": "b", "value": "1" }, { "name": "a", "value": "" }])
    );
    for (option, ids, found) in [
        ("hostids", &inside, "1"),
        ("hostids", &outside, "0"),
        ("groupids", &group, "1"),
        ("groupids", &below, "0"),
    ] {
        assert_eq!(
            server.call("script.get", &json!({ option: ids, "countOutput": true })).unwrap(),
            found,
            "{option} {ids}"
        );
    }
    let update = |more: Json| server.call("script.update", &with(json!({ "scriptid": id }), more));
    update(json!({ "type": 0 })).unwrap();
    let shown = get();
    assert_eq!(
        [&shown["timeout"], &shown["parameters"], &shown["menu_path"]],
        [&json!("30s"), &json!([]), &json!("m")]
    );
    update(json!({ "scope": 1 })).unwrap();
    let shown = get();
    for (name, value) in [
        ("menu_path", ""),
        ("confirmation", ""),
        ("usrgrpid", "0"),
        ("host_access", "2"),
        ("groupid", group.as_str()),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    update(json!({ "type": 2, "username": "u", "password": "p" })).unwrap();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let user = json!({ "username": "u1", "passwd": "Pa55word-x", "roleid": "1", "usrgrps": { "usrgrpid": ug } });
    server.create("user.create", &user);
    let session = server.login("u1", "Pa55word-x");
    let seen = |params: Json| server.call_as(Some(&session), "script.get", &params);
    assert_eq!(seen(json!({})).unwrap(), json!([]), "the group is not the user's");
    update(json!({ "groupid": 0 })).unwrap();
    assert_eq!(
        seen(json!({ "output": ["name", "password"] })).unwrap(),
        json!([{ "name": "s", "password": "" }])
    );
    assert_eq!(seen(json!({ "editable": true })).unwrap(), json!([]));
    assert_eq!(
        server.call_as(Some(&session), "script.delete", &json!([id])).unwrap_err().0,
        -32500
    );
    let used = json!({ "name": "a", "eventsource": 0, "operations": [
        { "operationtype": 1, "opcommand": { "scriptid": id }, "opcommand_hst": [{ "hostid": inside }] },
    ] });
    let action = server.create("action.create", &used);
    let actions = json!({ "output": ["name"], "selectActions": ["name"] });
    assert_eq!(
        server.call("script.get", &actions).unwrap(),
        json!([{ "name": "s", "actions": [{ "actionid": action, "name": "a" }] }])
    );
    server.refuses(&[(
        "script.delete",
        json!([id]),
        -32602,
        "Cannot delete scripts. Script \"s\" is used in action operation \"a\".",
    )]);
    server.call("action.delete", &json!([action])).unwrap();
    server.call("script.delete", &json!([id])).unwrap();
    let log = server.call("auditlog.get", &json!({ "output": ["details"] })).unwrap().to_string();
    assert!(log.contains("script.password") && !log.contains("\\\"p\\\""), "{log}");
}

/// As 7.0.22 responds, but for the order of hosts.
#[test]
fn scripts_show_the_hosts_and_groups_on_which_they_run() {
    let server = Server::start();
    let group = |name: &str| server.create("hostgroup.create", &json!({ "name": name }));
    let (outer, inner, other) = (group("g"), group("g/sub"), group("other"));
    let host = |name: &str, group: &str| {
        server.create("host.create", &json!({ "host": name, "groups": { "groupid": group } }))
    };
    let hosts = [host("h1", &outer), host("h2", &inner), host("h3", &other)];
    let script = |name: &str, more: Json| {
        let script =
            json!({ "name": name, "command": "x", "type": 0, "scope": 2, "execute_on": 1 });
        server.create("script.create", &with(script, more))
    };
    let ids = [
        script("one group", json!({ "groupid": outer })),
        script("all groups, write", json!({ "host_access": 3 })),
    ];
    let get = |session: Option<&str>, more: Json| {
        let params = json!({ "scriptids": ids, "output": ["name"], "sortfield": "scriptid" });
        server.call_as(session, "script.get", &with(params, more)).unwrap()
    };
    let all = json!({ "selectHosts": ["host"], "selectHostGroups": ["name"] });
    let found = get(Some(&server.login("Admin", "zabbix")), all.clone());
    let shown = |id: &str, name: &str| json!({ "hostid": id, "host": name });
    let own = json!([shown(&hosts[0], "h1"), shown(&hosts[1], "h2")]);
    assert_eq!(found[0]["hosts"], own);
    assert_eq!(found[0]["hostgroups"], json!([{ "name": "g" }, { "name": "g/sub" }]));
    let every = found[1]["hosts"].as_array().unwrap();
    assert!(hosts.iter().all(|id| every.iter().any(|host| host["hostid"] == **id)), "{every:?}");
    assert!(found[1]["hostgroups"].to_string().contains("other"));
    let reader = server.user("reader", "1", &[(&outer, 2)]);
    let found = get(Some(&reader), all);
    let expected = json!([
        { "name": "one group", "hosts": [shown(&hosts[0], "h1")], "hostgroups": [{ "name": "g" }] },
        { "name": "all groups, write", "hosts": [], "hostgroups": [] },
    ]);
    assert_eq!(found, expected);
    let writer = server.user("writer", "1", &[(&inner, 3)]);
    let found = get(Some(&writer), json!({ "selectHosts": ["host"], "selectGroups": ["name"] }));
    let expected = json!([{
        "name": "all groups, write", "hosts": [shown(&hosts[1], "h2")], "groups": [{ "name": "g/sub" }],
    }]);
    assert_eq!(found, expected);
    let names = |more: Json| get(Some(&server.login("Admin", "zabbix")), more);
    assert_eq!(names(json!({ "usrgrpids": [] })).as_array().unwrap().len(), 2, "for all users");
    let counted = json!({ "selectHosts": "count" });
    server.refuses(&[("script.get", counted, -32602, "/selectHosts\": value must be \"extend\"")]);
}
