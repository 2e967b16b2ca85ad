use serde_json::{Value as Json, json};

use crate::testing::Server;

const PSK: &str = "00112233445566778899aabbccddeeff";

fn active(name: &str) -> Json {
    json!({ "name": name, "operating_mode": 0 })
}

fn with(members: &Json) -> Json {
    let mut proxy = active("x");
    for (name, value) in members.as_object().unwrap() {
        proxy[name] = value.clone();
    }
    proxy
}

/// All timeouts.
fn timeouts() -> Json {
    let mut all = json!({ "custom_timeouts": 1, "timeout_browser": "{$T}" });
    for kind in [
        "zabbix_agent",
        "simple_check",
        "snmp_agent",
        "external_check",
        "db_monitor",
        "http_agent",
        "ssh_agent",
        "telnet_agent",
        "script",
    ] {
        all[format!("timeout_{kind}")] = "5s".into();
    }
    all
}

fn host(server: &Server, name: &str, members: &Json) -> String {
    let group = server.create("hostgroup.create", &json!({ "name": format!("of {name}") }));
    let mut host = json!({ "host": name, "groups": [{ "groupid": group }] });
    for (name, value) in members.as_object().unwrap() {
        host[name] = value.clone();
    }
    server.create("host.create", &host)
}

#[test]
fn a_proxy_lives() {
    let server = Server::start();
    let group = server.create("proxygroup.create", &json!({ "name": "g" }));
    let a = server.create("proxy.create", &active("a"));
    let passive = json!({ "name": "p", "operating_mode": 1, "address": "{$PROXY}", "port": "10091",
                          "tls_connect": 4, "tls_issuer": "CN=x" });
    let p = server.create("proxy.create", &passive);
    let shown = server.call("proxy.get", &json!({ "proxyids": a })).unwrap();
    let mut expected = json!({
        "proxyid": a, "name": "a", "proxy_groupid": "0", "local_address": "", "local_port": "10051",
        "operating_mode": "0", "allowed_addresses": "", "address": "127.0.0.1", "port": "10051",
        "description": "", "tls_connect": "1", "tls_accept": "1", "tls_issuer": "", "tls_subject": "",
        "custom_timeouts": "0", "lastaccess": "0", "version": "0", "compatibility": "0", "state": "0",
    });
    for name in timeouts().as_object().unwrap().keys().filter(|name| name.starts_with("timeout_")) {
        expected[name] = "".into();
    }
    assert_eq!(shown, json!([expected]));
    let output = json!(["address", "port", "tls_connect", "tls_issuer"]);
    server.answers(&[
        ("proxy.get", json!({ "proxyids": p, "output": output }),
         json!([{ "address": "{$PROXY}", "port": "10091", "tls_connect": "4", "tls_issuer": "CN=x" }])),
        // An active proxy has no address, and the server opens no connection to it.
        ("proxy.update", json!({ "proxyid": p, "operating_mode": 0 }), json!({ "proxyids": [p] })),
        ("proxy.get", json!({ "proxyids": p, "output": output }),
         json!([{ "address": "127.0.0.1", "port": "10051", "tls_connect": "1", "tls_issuer": "" }])),
        ("proxy.update",
         json!({ "proxyid": p, "proxy_groupid": group, "local_address": "10.0.0.1", "local_port": 1 }),
         json!({ "proxyids": [p] })),
        ("proxy.get", json!({ "proxy_groupids": [group], "output": ["local_port"] }),
         json!([{ "local_port": "1" }])),
        ("proxygroup.get", json!({ "output": ["name"], "proxyids": [p], "selectProxies": ["name"] }),
         json!([{ "name": "g", "proxies": [{ "name": "p" }] }])),
        ("proxy.get", json!({ "output": ["name"], "selectProxyGroup": ["name"] }),
         json!([{ "name": "a", "proxyGroup": [] }, { "name": "p", "proxyGroup": { "name": "g" } }])),
        // It leaves the group, and what it had there.
        ("proxy.update", json!({ "proxyid": p, "proxy_groupid": 0 }), json!({ "proxyids": [p] })),
        ("proxy.get", json!({ "proxyids": p, "output": ["local_address", "local_port"] }),
         json!([{ "local_address": "", "local_port": "10051" }])),
        ("proxy.get", json!({ "filter": { "compatibility": 1 }, "countOutput": true }), json!("0")),
        ("proxy.delete", json!([a, p]), json!({ "proxyids": [a, p] })),
        ("proxy.get", json!({ "countOutput": true }), json!("0")),
    ]);
}

#[test]
fn timeouts_are_of_the_proxy_or_none() {
    let server = Server::start();
    let id = server.create("proxy.create", &with(&timeouts()));
    let get = || {
        let output = json!(["custom_timeouts", "timeout_script", "timeout_browser"]);
        server.call("proxy.get", &json!({ "proxyids": id, "output": output })).unwrap()[0].clone()
    };
    let own = json!({ "custom_timeouts": "1", "timeout_script": "5s", "timeout_browser": "{$T}" });
    assert_eq!(get(), own);
    for (change, text) in [
        (json!({ "timeout_script": "5h" }), "\"/1/timeout_script\": value must be one of 1-600."),
        (json!({ "timeout_script": "" }), "\"/1/timeout_script\": cannot be empty."),
        (json!({ "timeout_script": "x" }), "\"/1/timeout_script\": a time unit is expected."),
        (
            json!({ "custom_timeouts": 0, "timeout_script": "6s" }),
            "\"/1/timeout_script\": value must be empty.",
        ),
    ] {
        let mut change = change;
        change["proxyid"] = id.as_str().into();
        server.refuses(&[("proxy.update", change, -32602, text)]);
    }
    server.call("proxy.update", &json!({ "proxyid": id, "custom_timeouts": 0 })).unwrap();
    let none = json!({ "custom_timeouts": "0", "timeout_script": "", "timeout_browser": "" });
    assert_eq!(get(), none);
    let mut lacking = timeouts();
    lacking.as_object_mut().unwrap().remove("timeout_script");
    lacking["name"] = "y".into();
    let missing = "the parameter \"timeout_script\" is missing";
    server.refuses(&[("proxy.create", with(&lacking), -32602, missing)]);
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let id = server.create("proxy.create", &active("a"));
    let no_group = "\"/1/proxy_groupid\": object does not exist, or you have no permissions to it.";
    for (members, code, text) in [
        (json!({ "name": "a" }), -32602, "Proxy \"a\" already exists."),
        (json!({ "name": "a/b" }), -32602, "\"/1/name\": invalid host name."),
        (json!({ "name": "" }), -32602, "\"/1/name\": cannot be empty."),
        (
            json!({ "operating_mode": 7 }),
            -32602,
            "\"/1/operating_mode\": value must be one of 0, 1.",
        ),
        (json!({ "lastaccess": 1 }), -32602, "unexpected parameter \"lastaccess\""),
        (json!({ "proxy_groupid": "9", "local_address": "h" }), -32500, no_group),
        (json!({ "proxy_groupid": "9" }), -32602, "the parameter \"local_address\" is missing"),
        (json!({ "local_address": "h" }), -32602, "\"/1/local_address\": value must be empty."),
        (json!({ "address": "10.0.0.1" }), -32602, "\"/1/address\": value must be \"127.0.0.1\""),
        (json!({ "operating_mode": 1, "address": "a b" }), -32602, "an IP or DNS is expected."),
        (json!({ "operating_mode": 1, "address": "" }), -32602, "\"/1/address\": cannot be empty."),
        (
            json!({ "operating_mode": 1, "port": "x" }),
            -32602,
            "\"/1/port\": an integer is expected.",
        ),
        (json!({ "operating_mode": 1, "port": 70_000 }), -32602, "value must be one of 0-65535."),
        (
            json!({ "operating_mode": 1, "tls_accept": 2 }),
            -32602,
            "\"/1/tls_accept\": value must be 1.",
        ),
        (json!({ "tls_connect": 2 }), -32602, "\"/1/tls_connect\": value must be 1."),
        (json!({ "allowed_addresses": "{$A}" }), -32602, "\"/1/allowed_addresses\": incorrect"),
        (
            json!({ "operating_mode": 1, "allowed_addresses": "::1" }),
            -32602,
            "\"/1/allowed_addresses\": value must be empty.",
        ),
        (json!({ "tls_accept": 2 }), -32602, "the parameter \"tls_psk_identity\" is missing"),
        (json!({ "tls_psk": PSK }), -32602, "\"/1/tls_psk\": value must be empty."),
        (json!({ "tls_issuer": "x" }), -32602, "\"/1/tls_issuer\": value must be empty."),
        (json!({ "hosts": [{ "hostid": "9" }] }), -32500, "\"/1/hosts/1/hostid\": object does not"),
    ] {
        server.refuses(&[("proxy.create", with(&members), code, text)]);
    }
    server.refuses(&[
        ("proxy.create", json!({ "name": "x" }), -32602, "\"operating_mode\" is missing"),
        ("proxy.update", json!({ "proxyid": "9" }), -32602, "No permissions to referred object"),
        ("proxy.update", json!({ "proxyid": id, "tls_psk": PSK }), -32602, "value must be empty."),
        ("proxy.delete", json!(["9"]), -32500, "No permissions to referred object"),
        ("proxy.get", json!({ "selectInterface": [] }), -32602, "unexpected parameter"),
        ("proxy.get", json!({ "output": ["tls_psk"] }), -32602, "\"/output/1\": value must be one of"),
        ("proxy.get", json!({ "filter": { "tls_psk": PSK } }), -32602, "unexpected parameter"),
        (
            "proxy.get",
            json!({ "selectHosts": ["proxyid"] }),
            -32602,
            "\"/selectHosts/1\": value must be one of \"hostid\", \"host\", \"monitored_by\", \"status\"",
        ),
        (
            "proxy.get",
            json!({ "selectProxyGroup": ["proxy_groupid"] }),
            -32602,
            "value must be one of \"name\", \"failover_delay\", \"min_online\", \"description\", \"state\".",
        ),
        ("proxy.get", json!({ "selectProxyGroup": "count" }), -32602, "value must be \"extend\"."),
    ]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM proxies"), 1);
}

#[test]
fn one_identity_has_one_key_everywhere() {
    let server = Server::start();
    let keyed = |identity: &str, psk: &str| json!({ "tls_accept": 2, "tls_psk_identity": identity, "tls_psk": psk });
    let proxy = server.create("proxy.create", &with(&keyed("i", PSK)));
    let other = "f".repeat(32);
    let taken = "another tls_psk value is already associated with given tls_psk_identity";
    let mut second = keyed("i", &other);
    second["name"] = "y".into();
    server.refuses(&[
        ("proxy.create", with(&second), -32602, taken),
        ("autoregistration.update", keyed("i", &other), -32602, taken),
    ]);
    let group = server.create("hostgroup.create", &json!({ "name": "hg" }));
    let mut host = keyed("i", &other);
    host["host"] = "h".into();
    host["groups"] = json!([{ "groupid": group }]);
    server.refuses(&[("host.create", host, -32602, taken)]);
    server.call("autoregistration.update", &keyed("r", &other)).unwrap();
    let change = json!({ "proxyid": proxy, "tls_psk_identity": "r" });
    server.refuses(&[("proxy.update", change, -32602, taken)]);
    // The proxy's own key may change, and is nowhere shown.
    server.call("proxy.update", &json!({ "proxyid": proxy, "tls_psk": other })).unwrap();
    assert_eq!(server.text("SELECT tls_psk FROM proxies"), other);
    let log = server.call("auditlog.get", &json!({ "filter": { "resourcetype": 26 } })).unwrap();
    assert!(
        log.to_string().contains("proxy.tls_psk") && !log.to_string().contains(&other),
        "{log}"
    );
    server.call("proxy.update", &json!({ "proxyid": proxy, "tls_accept": 1 })).unwrap();
    assert_eq!(server.text("SELECT tls_psk_identity FROM proxies"), "");
}

#[test]
fn stored_identities_with_two_keys_allow_other_changes() {
    let server = Server::start();
    let keyed =
        |identity: &str| json!({ "tls_accept": 2, "tls_psk_identity": identity, "tls_psk": PSK });
    let proxy = server.create("proxy.create", &with(&keyed("i")));
    let mut second = keyed("j");
    second["name"] = "second".into();
    server.create("proxy.create", &with(&second));
    server.call("autoregistration.update", &keyed("r")).unwrap();
    let other = "f".repeat(32);
    server.write_sql(&[
        "UPDATE proxies SET tls_psk_identity = 'i'",
        &format!("UPDATE proxies SET tls_psk = '{other}' WHERE name = 'second'"),
        "UPDATE settings SET value = 'i' WHERE name = 'autoreg_tls_psk_identity'",
    ]);
    let update = |more: Json| {
        let mut params = json!({ "proxyid": proxy });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    server.call("proxy.update", &update(json!({ "description": "d" }))).unwrap();
    server.call("proxy.update", &update(keyed("i"))).unwrap();
    server.call("autoregistration.update", &json!({ "tls_accept": 3 })).unwrap();
    let taken = "another tls_psk value is already associated with given tls_psk_identity";
    let change = update(json!({ "tls_psk": "e".repeat(32) }));
    server.refuses(&[("proxy.update", change, -32602, taken)]);
    server.call("proxy.update", &update(json!({ "tls_psk_identity": "k" }))).unwrap();
}

#[test]
fn hosts_of_a_proxy() {
    let server = Server::start();
    let p = server.create("proxy.create", &active("p"));
    let group = server.create("proxygroup.create", &json!({ "name": "g" }));
    let one = host(&server, "one", &json!({ "monitored_by": 1, "proxyid": p }));
    let two = host(&server, "two", &json!({ "monitored_by": 2, "proxy_groupid": group }));
    let three = host(&server, "three", &json!({}));
    let by = |id: &str| {
        let output = json!(["monitored_by", "proxyid", "proxy_groupid", "assigned_proxyid"]);
        let shown = server.call("host.get", &json!({ "hostids": id, "output": output })).unwrap();
        let text = |name: &str| shown[0][name].as_str().unwrap().to_owned();
        assert_eq!(text("assigned_proxyid"), "0");
        (text("monitored_by"), text("proxyid"), text("proxy_groupid"))
    };
    let is =
        |by: &str, proxy: &str, group: &str| (by.to_owned(), proxy.to_owned(), group.to_owned());
    assert_eq!((by(&one), by(&two)), (is("1", &p, "0"), is("2", "0", &group)));
    let snapshot = server.api.deps.config.snapshot();
    let of_server = |name: &str| snapshot.host_by_name(name).unwrap().is_of_server();
    assert_eq!(["one", "two", "three"].map(of_server), [false, false, true]);
    server.answers(&[
        (
            "proxy.get",
            json!({ "output": ["name"], "selectHosts": ["host"], "selectAssignedHosts": "count" }),
            json!([{ "name": "p", "hosts": [{ "host": "one" }], "assignedHosts": "0" }]),
        ),
        (
            "host.get",
            json!({ "proxyids": p, "output": ["host"] }),
            json!([{ "hostid": one, "host": "one" }]),
        ),
        (
            "host.get",
            json!({ "proxy_groupids": [group], "output": [] }),
            json!([{ "hostid": two }]),
        ),
        ("host.get", json!({ "filter": { "assigned_proxyid": [p] } }), json!([])),
        (
            "host.get",
            json!({ "filter": { "monitored_by": 0 }, "output": ["host"] }),
            json!([{ "hostid": three, "host": "three" }]),
        ),
    ]);
    server.refuses(&[
        ("proxy.delete", json!([p]), -32602, "Host \"one\" is monitored by proxy \"p\"."),
        (
            "host.update",
            json!({ "hostid": three, "monitored_by": 1 }),
            -32500,
            "\"/1/proxyid\": object",
        ),
        (
            "host.massupdate",
            json!({ "hosts": [{ "hostid": three }], "proxyid": p }),
            -32602,
            "The field \"monitored_by\" must be specified",
        ),
        (
            "host.massupdate",
            json!({ "hosts": [{ "hostid": one }], "monitored_by": 1 }),
            -32602,
            "\"proxyid\" is missing",
        ),
    ]);
    let test = |host: &str| {
        let item = json!({ "key": "k", "type": 10, "value_type": 4 });
        let test = json!({ "item": item, "host": { "hostid": host } });
        server.call("item.test", &test).unwrap().to_string()
    };
    assert!(test(&one).contains("The test runs on a proxy") && test(&three).contains("k of"));
    let hosts = json!([{ "hostid": two }, { "hostid": three }]);
    let change = json!({ "hosts": hosts, "monitored_by": 1, "proxyid": p });
    server.call("host.massupdate", &change).unwrap();
    assert_eq!((by(&two), by(&three)), (is("1", &p, "0"), is("1", &p, "0")));
    // The list of a proxy is complete: others are the server's again.
    let hosts = json!([{ "hostid": three }]);
    server.call("proxy.update", &json!({ "proxyid": p, "hosts": hosts })).unwrap();
    assert_eq!((by(&one), by(&three)), (is("0", "0", "0"), is("1", &p, "0")));
    server.write_sql(&[&format!("UPDATE hosts SET flags = 4 WHERE hostid = {two}")]);
    let hosts = json!([{ "hostid": two }]);
    let discovered = "Cannot update proxy for discovered host \"two\".";
    server.refuses(&[(
        "proxy.update",
        json!({ "proxyid": p, "hosts": hosts }),
        -32602,
        discovered,
    )]);
}

#[test]
fn rules_and_actions_of_a_proxy() {
    let server = Server::start();
    let p = server.create("proxy.create", &active("p"));
    let rule =
        json!({ "name": "r", "iprange": "10.0.0.1", "dchecks": [{ "type": 12 }], "proxyid": p });
    let rule = server.create("drule.create", &rule);
    assert!(server.api.deps.config.snapshot().discovery.rules.is_empty(), "the proxy looks");
    let used = "Proxy \"p\" is used by discovery rule \"r\".";
    server.refuses(&[("proxy.delete", json!([p]), -32602, used)]);
    server.call("drule.update", &json!({ "druleid": rule, "proxyid": 0 })).unwrap();
    assert_eq!(server.api.deps.config.snapshot().discovery.rules.len(), 1);
    let action = json!({
        "name": "a", "eventsource": 1, "operations": [{ "operationtype": 2 }],
        "filter": { "evaltype": 0, "conditions": [{ "conditiontype": 20, "value": p }] },
    });
    server.create("action.create", &action);
    let used = "Proxy \"p\" is used by action \"a\".";
    server.refuses(&[("proxy.delete", json!([p]), -32602, used)]);
}

#[test]
fn users_read_and_super_administrators_write() {
    let server = Server::start();
    let p = server.create("proxy.create", &active("p"));
    host(&server, "h", &json!({ "monitored_by": 1, "proxyid": p }));
    for role in ["1", "2"] {
        let session = server.user(&format!("user {role}"), role, &[]);
        let call = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
        let shown = call("proxy.get", json!({ "output": ["name"], "selectHosts": "count" }));
        assert_eq!(shown.unwrap(), json!([{ "name": "p", "hosts": "0" }]), "its host is hidden");
        for method in ["proxy.get", "proxygroup.get"] {
            let editable = json!({ "editable": true, "countOutput": true });
            assert_eq!(call(method, editable).unwrap(), json!("0"));
        }
        for (method, params) in [
            ("proxy.create", active("x")),
            ("proxy.update", json!({ "proxyid": p })),
            ("proxy.delete", json!([p])),
            ("proxygroup.create", json!({ "name": "x" })),
        ] {
            let refused = call(method, params).unwrap_err();
            assert_eq!(refused, (-32500, format!("No permissions to call \"{method}\".")));
        }
    }
}

#[test]
fn an_export_names_the_proxy_of_a_host() {
    let server = Server::start();
    let p = server.create("proxy.create", &active("p"));
    let group = server.create("proxygroup.create", &json!({ "name": "g" }));
    let ids = [
        host(&server, "one", &json!({ "monitored_by": 1, "proxyid": p })),
        host(&server, "two", &json!({ "monitored_by": 2, "proxy_groupid": group })),
    ];
    let export = || {
        let options = json!({ "format": "json", "options": { "hosts": ids } });
        let file = server.call("configuration.export", &options).unwrap();
        serde_json::from_str::<Json>(file.as_str().unwrap()).unwrap()
    };
    let file = export();
    let hosts = &file["zabbix_export"]["hosts"];
    assert_eq!(
        (&hosts[0]["monitored_by"], &hosts[0]["proxy"]),
        (&json!("PROXY"), &json!({ "name": "p" }))
    );
    assert_eq!(hosts[1]["proxy_group"], json!({ "name": "g" }));
    let hosts = json!([{ "hostid": ids[0] }, { "hostid": ids[1] }]);
    server.call("host.massupdate", &json!({ "hosts": hosts, "monitored_by": 0 })).unwrap();
    assert!(export()["zabbix_export"]["hosts"][0].get("monitored_by").is_none());
    let import = |source: &Json| {
        let rules = json!({ "hosts": { "createMissing": true, "updateExisting": true } });
        let params = json!({ "format": "json", "rules": rules, "source": source.to_string() });
        server.call("configuration.import", &params)
    };
    import(&file).unwrap();
    assert_eq!(export(), file);
    let mut other = file;
    other["zabbix_export"]["hosts"][0]["proxy"]["name"] = "nobody".into();
    let error = import(&other).unwrap_err().1;
    assert_eq!(error, "Proxy \"nobody\" for host \"one\" does not exist.");
    // A file of an older version names the proxy alone.
    let old = json!({ "zabbix_export": { "version": "6.4", "hosts": [
        { "host": "one", "name": "one", "groups": [{ "name": "of one" }], "proxy": { "name": "p" } },
    ] } });
    import(&old).unwrap();
    assert_eq!(export()["zabbix_export"]["hosts"][0]["proxy"], json!({ "name": "p" }));
}
