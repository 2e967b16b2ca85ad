use serde_json::json;

use crate::testing::Server;

#[test]
fn a_group_lives() {
    let server = Server::start();
    let id = server.create("proxygroup.create", &json!({ "name": "g", "min_online": "007" }));
    let shown = json!({ "proxy_groupid": id, "name": "g", "failover_delay": "1m",
                        "min_online": "7", "description": "", "state": "0" });
    server.answers(&[
        ("proxygroup.get", json!({}), json!([shown])),
        ("proxygroup.get", json!({ "countOutput": true, "filter": { "state": 0 } }), json!("1")),
        ("proxygroup.get", json!({ "filter": { "state": 3 } }), json!([])),
        (
            "proxygroup.update",
            json!({ "proxy_groupid": id, "failover_delay": "{$DELAY}", "description": "d" }),
            json!({ "proxy_groupids": [id] }),
        ),
        (
            "proxygroup.get",
            json!({ "output": ["failover_delay"], "search": { "description": "D" } }),
            json!([{ "failover_delay": "{$DELAY}" }]),
        ),
        (
            "proxygroup.get",
            json!({ "output": ["name"], "selectProxies": "count" }),
            json!([{ "name": "g", "proxies": "0" }]),
        ),
        ("proxygroup.delete", json!([id]), json!({ "proxy_groupids": [id] })),
        ("proxygroup.get", json!({}), json!([])),
    ]);
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let id = server.create("proxygroup.create", &json!({ "name": "g" }));
    let create = |params| ("proxygroup.create", params, -32602);
    for ((method, params, code), text) in [
        (create(json!({ "name": "g" })), "Proxy group \"g\" already exists."),
        (
            create(json!([{ "name": "a" }, { "name": "a" }])),
            "\"/2\": value (name)=(a) already exists",
        ),
        (create(json!({ "min_online": 1 })), "\"/1\": the parameter \"name\" is missing."),
        (create(json!({ "name": "" })), "\"/1/name\": cannot be empty."),
        (create(json!({ "name": "x", "state": 1 })), "unexpected parameter \"state\""),
        (create(json!({ "name": "x", "failover_delay": "9" })), "value must be one of 10-900."),
        (create(json!({ "name": "x", "failover_delay": "16m" })), "value must be one of 10-900."),
        (create(json!({ "name": "x", "failover_delay": "1y" })), "a time unit is expected."),
        (create(json!({ "name": "x", "failover_delay": "" })), "cannot be empty."),
        (create(json!({ "name": "x", "min_online": 0 })), "value must be one of 1-1000."),
        (create(json!({ "name": "x", "min_online": "1001" })), "value must be one of 1-1000."),
        (create(json!({ "name": "x", "min_online": "x" })), "incorrect syntax near \"x\"."),
        (create(json!({ "name": "x", "min_online": "+5" })), "incorrect syntax near \"+5\"."),
        (("proxygroup.update", json!({ "proxy_groupid": "9" }), -32602), "No permissions"),
        (("proxygroup.update", json!({ "name": "x" }), -32602), "\"proxy_groupid\" is missing"),
        (("proxygroup.delete", json!(["9"]), -32500), "No permissions"),
        (("proxygroup.delete", json!([]), -32602), "cannot be empty"),
        (
            ("proxygroup.get", json!({ "selectProxies": ["proxy_groupid"] }), -32602),
            "\"/selectProxies/1\": value must be one of \"proxyid\", \"name\", \"local_address\"",
        ),
        (
            ("proxygroup.get", json!({ "output": ["x"] }), -32602),
            "value must be one of \"proxy_groupid\", \"name\", \"failover_delay\", \"min_online\", \
             \"description\", \"state\".",
        ),
    ] {
        server.refuses(&[(method, params, code, text)]);
    }
    server.create(
        "proxy.create",
        &json!({ "name": "p", "operating_mode": 0, "proxy_groupid": id, "local_address": "::1" }),
    );
    let used = "Proxy group \"g\" is used by proxy \"p\".";
    server.refuses(&[("proxygroup.delete", json!([id]), -32602, used)]);
    server.write_sql(&["UPDATE proxies SET proxy_groupid = 0"]);
    let group = server.create("hostgroup.create", &json!({ "name": "hg" }));
    let host = json!({ "host": "h", "groups": [{ "groupid": group }], "monitored_by": 2,
                       "proxy_groupid": id });
    server.create("host.create", &host);
    let used = "Host \"h\" is monitored by proxy group \"g\".";
    server.refuses(&[("proxygroup.delete", json!([id]), -32602, used)]);
}
