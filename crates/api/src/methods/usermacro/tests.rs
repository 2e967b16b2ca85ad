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
