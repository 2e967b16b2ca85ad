use serde_json::json;

use crate::testing::Server;

#[test]
fn macros_of_hosts_and_global_ones() {
    let server = Server::start();
    let g = server.create("hostgroup.create", &json!({ "name": "g" }));
    let h = server.create("host.create", &json!({ "host": "h", "groups": { "groupid": g } }));
    let a =
        server.create("usermacro.create", &json!({ "hostid": h, "macro": "{$A}", "value": "1" }));
    let s = server.create(
        "usermacro.create",
        &json!({ "hostid": h, "macro": "{$S}", "value": "s", "type": 1 }),
    );
    let global = server.create("usermacro.createglobal", &json!({ "macro": "{$G}", "value": "g" }));
    server.refuses(&[
        (
            "usermacro.create",
            json!({ "hostid": h, "macro": "{$A}", "value": "x" }),
            -32602,
            "Macro \"{$A}\" already exists on \"h\".",
        ),
        (
            "usermacro.create",
            json!({ "hostid": "999", "macro": "{$B}", "value": "x" }),
            -32500,
            "No permissions",
        ),
        (
            "usermacro.create",
            json!({ "hostid": h, "macro": "{A}", "value": "x" }),
            -32602,
            "incorrect syntax near \"A}\"",
        ),
        (
            "usermacro.create",
            json!({ "macro": "{$B}", "value": "x" }),
            -32602,
            "\"hostid\" is missing",
        ),
        (
            "usermacro.create",
            json!({ "hostid": h, "macro": "{$V}", "value": "x", "type": 2 }),
            -32602,
            "near \"x\"",
        ),
        (
            "usermacro.update",
            json!({ "hostmacroid": s, "type": 0 }),
            -32602,
            "\"value\" is missing",
        ),
        (
            "usermacro.update",
            json!({ "hostmacroid": s, "macro": "{$A}" }),
            -32602,
            "already exists",
        ),
        ("usermacro.update", json!({ "hostmacroid": "999" }), -32500, "No permissions"),
        ("usermacro.delete", json!(["999"]), -32500, "No permissions"),
        (
            "usermacro.createglobal",
            json!({ "macro": "{$G}", "value": "x" }),
            -32602,
            "Macro \"{$G}\" already exists.",
        ),
        ("usermacro.createglobal", json!({ "value": "x" }), -32602, "\"macro\" is missing"),
        ("usermacro.createglobal", json!({ "macro": "{$H}" }), -32602, "\"value\" is missing"),
        ("usermacro.createglobal", json!({ "macro": "", "value": "x" }), -32602, "cannot be empty"),
        (
            "usermacro.createglobal",
            json!({ "macro": "{$H}", "value": "x", "hostid": h }),
            -32602,
            "unexpected parameter \"hostid\"",
        ),
        (
            "usermacro.createglobal",
            json!([{ "macro": "{$H:x}", "value": "" }, { "macro": "{$H:\"x\"}", "value": "" }]),
            -32602,
            "\"/2\": value (macro)=",
        ),
        (
            "usermacro.updateglobal",
            json!({ "globalmacroid": "", "value": "x" }),
            -32602,
            "a number is expected",
        ),
        (
            "usermacro.updateglobal",
            json!({ "globalmacroid": "999", "value": "x" }),
            -32500,
            "No permissions",
        ),
    ]);
    server.answers(&[
        ("usermacro.update", json!({ "hostmacroid": a, "description": "d" }), json!({ "hostmacroids": [a] })),
        ("usermacro.get", json!({ "hostids": h, "output": ["macro", "value"] }), json!([
            { "hostmacroid": a, "macro": "{$A}", "value": "1" }, { "hostmacroid": s, "macro": "{$S}" },
        ])),
        ("usermacro.get", json!({ "hostmacroids": a, "output": [], "selectHosts": ["host"], "selectHostGroups": ["name"], "selectTemplates": "count" }),
            json!([{ "hostmacroid": a, "hosts": [{ "hostid": h, "host": "h" }], "hostgroups": [{ "name": "g" }] }])),
        ("usermacro.get", json!({ "globalmacro": true }), json!([
            { "globalmacroid": global, "macro": "{$G}", "value": "g", "description": "", "type": "0" },
        ])),
        ("usermacro.deleteglobal", json!([global]), json!({ "globalmacroids": [global] })),
        ("usermacro.get", json!({ "globalmacro": true, "countOutput": true }), json!("0")),
    ]);
}

#[test]
fn macros_of_discovery_change_only_by_becoming_the_users_own() {
    let server = Server::start();
    let g = server.create("hostgroup.create", &json!({ "name": "g" }));
    let h = server.create("host.create", &json!({ "host": "h", "groups": { "groupid": g } }));
    let a =
        server.create("usermacro.create", &json!({ "hostid": h, "macro": "{$A}", "value": "1" }));
    let discovered = || server.write_sql(&["UPDATE hostmacros SET automatic = 1, value = '1'"]);
    let now = || server.text("SELECT value || ' ' || automatic AS t FROM hostmacros");
    let text = "Not allowed to modify automatic user macro \"{$A}\".";
    let host = |mut one: serde_json::Value| {
        one["macro"] = json!("{$A}");
        json!({ "hostid": h, "macros": [one] })
    };
    let add = json!({ "hosts": [{ "hostid": h }], "macros": [{ "macro": "{$A}", "value": "2" }] });
    discovered();
    server.refuses(&[
        ("host.update", host(json!({ "hostmacroid": a, "value": "2" })), -32500, text),
        ("host.update", host(json!({ "hostmacroid": a, "type": 1 })), -32500, text),
        (
            "host.update",
            host(json!({ "hostmacroid": a, "automatic": 1 })),
            -32602,
            "\"/1/macros/1/automatic\": value must be 0",
        ),
        ("host.massadd", add, -32500, text),
        ("usermacro.update", json!({ "hostmacroid": a, "value": "1" }), -32500, text),
        ("usermacro.update", json!({ "hostmacroid": a, "automatic": 1 }), -32602, "must be 0"),
        (
            "usermacro.createglobal",
            json!({ "macro": "{$H}", "value": "", "automatic": 0 }),
            -32602,
            "unexpected parameter \"automatic\"",
        ),
    ]);
    let same = host(json!({ "hostmacroid": a, "value": "1", "description": "" }));
    server.call("host.update", &same).unwrap();
    assert_eq!(now(), "1 1", "what changes nothing is no change");
    for (method, change) in [
        ("host.update", host(json!({ "hostmacroid": a, "value": "2", "automatic": "0" }))),
        ("host.update", host(json!({ "value": "2" }))),
        ("usermacro.update", json!({ "hostmacroid": a, "value": "2", "automatic": 0 })),
    ] {
        discovered();
        server.call(method, &change).unwrap();
        assert_eq!(now(), "2 0", "{method} {change}");
    }
    server.call("usermacro.update", &json!({ "hostmacroid": a, "value": "3" })).unwrap();
    assert_eq!(now(), "3 0");
}

#[test]
fn a_host_has_each_macro_once() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({
        "host": "h", "name": "H", "groups": { "groupid": group },
        "macros": [{ "macro": "{$P}", "value": "1" }, { "macro": "{$Q}", "value": "2" }],
    });
    let host = server.create("host.create", &host);
    let id = |name: &str| {
        server.text(&format!("SELECT hostmacroid FROM hostmacros WHERE macro = '{name}'"))
    };
    let (p, q) = (id("{$P}"), id("{$Q}"));
    let update = |macros: serde_json::Value| {
        let result = server.call("host.update", &json!({ "hostid": host, "macros": macros }));
        result.map(drop).map_err(|(_, text)| text)
    };
    let exists = "Macro \"{$Q}\" already exists on \"H\".";
    for (macros, text) in [
        (
            json!([{ "hostmacroid": p, "macro": "{$Q}" }, { "hostmacroid": q, "value": "5" }]),
            exists.to_owned(),
        ),
        (
            json!([{ "hostmacroid": q, "value": "7" }, { "macro": "{$Q}", "value": "9" }]),
            exists.to_owned(),
        ),
        (
            json!([{ "hostmacroid": p, "value": "1" }, { "hostmacroid": p, "value": "2" }]),
            format!("Invalid parameter \"/1/macros/2\": value (hostmacroid)=({p}) already exists."),
        ),
    ] {
        assert_eq!(update(macros.clone()), Err(text), "{macros}");
    }
    let values = || {
        let found = server.call(
            "usermacro.get",
            &json!({ "hostids": host, "output": ["macro", "value"], "sortfield": "macro" }),
        );
        let found = found.unwrap();
        let one = |one: &serde_json::Value| format!("{}={}", one["macro"], one["value"]);
        found.as_array().unwrap().iter().map(one).collect::<Vec<_>>().join(" ").replace('"', "")
    };
    assert_eq!(values(), "{$P}=1 {$Q}=2");
    // A name that another macro gives up is free.
    update(json!([
        { "hostmacroid": p, "macro": "{$R}" },
        { "hostmacroid": q },
        { "macro": "{$P}", "value": "3" },
    ]))
    .unwrap();
    assert_eq!(values(), "{$P}=3 {$Q}=2 {$R}=1");
}
