use serde_json::{Value as Json, json};

use crate::testing::Server;

fn rule(dchecks: Json) -> Json {
    json!({ "name": "n", "iprange": "10.0.0.1-9", "dchecks": dchecks })
}

#[test]
fn a_rule_lives() {
    let server = Server::start();
    let checks = json!([
        { "type": 9, "ports": "10050", "key_": "system.uname", "uniq": 1, "host_source": 3 },
        { "type": 12, "allow_redirect": 1 },
        { "type": 13, "ports": "161", "key_": "1.3.6.1.2.1.1.5.0", "snmpv3_securityname": "u",
          "snmpv3_securitylevel": 1, "snmpv3_authprotocol": 1, "snmpv3_authpassphrase": "12345678",
          "snmpv3_privpassphrase": "not used" },
    ]);
    let made = json!({
        "name": "net", "iprange": "10.0.0.0/16,192.168.0.1-9", "delay": "5m", "dchecks": checks,
        "concurrency_max": 10,
    });
    let id = server.create("drule.create", &made);
    let get = |options: Json| server.call("drule.get", &options).unwrap();
    assert_eq!(
        get(json!({ "output": "extend" }))[0],
        json!({
            "druleid": id, "proxyid": "0", "name": "net", "iprange": "10.0.0.0/16,192.168.0.1-9",
            "delay": "5m", "status": "0", "concurrency_max": "10", "error": "",
        })
    );
    let shown = server.call("dcheck.get", &json!({ "druleids": id })).unwrap();
    assert_eq!(
        shown[0],
        json!({
            "dcheckid": shown[0]["dcheckid"], "druleid": id, "type": "9", "key_": "system.uname",
            "snmp_community": "", "ports": "10050", "snmpv3_securityname": "",
            "snmpv3_securitylevel": "0", "snmpv3_authpassphrase": "", "snmpv3_privpassphrase": "",
            "uniq": "1", "snmpv3_authprotocol": "0", "snmpv3_privprotocol": "0",
            "snmpv3_contextname": "", "host_source": "3", "name_source": "0", "allow_redirect": "0",
        })
    );
    assert_eq!(shown[1]["allow_redirect"], "1");
    assert_eq!(
        (&shown[2]["snmpv3_authpassphrase"], &shown[2]["snmpv3_privpassphrase"]),
        (&json!("12345678"), &json!(""))
    );
    // A check that is named stays, others go and come.
    let kept = shown[1]["dcheckid"].clone();
    let checks = json!([{ "dcheckid": kept, "type": 12 }, { "type": 8, "ports": "80,8000-8080" }]);
    server.call("drule.update", &json!({ "druleid": id, "status": 1, "dchecks": checks })).unwrap();
    let shown = get(json!({ "output": ["status"], "selectDChecks": ["type", "ports"],
                            "selectDHosts": "count" }));
    assert_eq!(shown[0]["status"], "1");
    assert_eq!(shown[0]["dhosts"], "0");
    assert_eq!(shown[0]["dchecks"][0], json!({ "dcheckid": kept, "type": "12", "ports": "0" }));
    assert_eq!(shown[0]["dchecks"][1]["ports"], "80,8000-8080");
    for method in ["dhost.get", "dservice.get"] {
        assert_eq!(server.call(method, &json!({ "druleids": id })).unwrap(), json!([]), "{method}");
    }
    server.call("drule.delete", &json!([id])).unwrap();
    assert_eq!(server.call("dcheck.get", &json!({ "countOutput": true })).unwrap(), json!("0"));
}

#[test]
fn rules_that_are_refused() {
    let server = Server::start();
    server.create("drule.create", &rule(json!([{ "type": 12 }])));
    let with = |member: &str, value: Json| {
        let mut one = rule(json!([{ "type": 12 }]));
        one["name"] = json!("other");
        one[member] = value;
        one
    };
    let check = |check: Json| with("dchecks", json!([check]));
    for (params, text) in [
        (json!({ "name": "x", "iprange": "10.0.0.1" }), "without checks"),
        (with("dchecks", json!([])), "without checks"),
        (with("name", json!("n")), "Discovery rule \"n\" already exists."),
        (with("name", json!("")), "\"name\": cannot be empty"),
        (with("iprange", json!("")), "\"iprange\": cannot be empty"),
        (with("iprange", json!("a.b")), "incorrect address starting from \"a.b\""),
        (with("iprange", json!("10.0.0.0/15")), "exceeds \"65536\" address limit"),
        (with("delay", json!("0")), "value must be one of 1-604800"),
        (with("delay", json!("1w1")), "a time unit is expected"),
        (with("status", json!(2)), "Incorrect value \"2\" for \"status\" field."),
        (with("concurrency_max", json!(1000)), "\"1000\" for \"concurrency_max\""),
        (with("proxyid", json!("77")), "\"77\" for \"proxyid\""),
        (with("error", json!("x")), "Incorrect arguments"),
        (check(json!({})), "Field \"type\" is mandatory."),
        (check(json!({ "type": 99 })), "Incorrect value \"99\" for \"type\" field."),
        (check(json!({ "type": 8, "ports": "70000" })), "Incorrect port range."),
        (check(json!({ "type": 9, "ports": "1" })), "Field \"key_\" is mandatory."),
        (check(json!({ "type": 9, "key_": "" })), "\"key_\": cannot be empty"),
        (check(json!({ "type": 9, "key_": "a[" })), "Invalid key \"a[\""),
        (check(json!({ "type": 11, "key_": "1.3" })), "Incorrect SNMP community."),
        (check(json!({ "type": 11, "snmp_community": "c" })), "Incorrect SNMP OID."),
        (
            check(json!({ "type": 13, "key_": "1.3", "snmpv3_securitylevel": 1 })),
            "\"\" for \"snmpv3_authprotocol\"",
        ),
        (check(json!({ "type": 8, "ports": "1", "uniq": 1 })), "can be made unique"),
        (check(json!({ "type": 8, "ports": "1", "host_source": 3 })), "\"host_source\": 3."),
        (check(json!({ "type": 9, "key_": "k", "host_source": 0 })), "\"host_source\": 0."),
        (with("dchecks", json!([{ "type": 12 }, { "type": 12 }])), "Checks should be unique."),
        (
            with(
                "dchecks",
                json!([
                    { "type": 9, "key_": "a", "uniq": 1 }, { "type": 9, "key_": "b", "uniq": 1 },
                ]),
            ),
            "Only one check can be unique.",
        ),
    ] {
        server.refuses(&[("drule.create", params, -32602, text)]);
    }
    server.refuses(&[
        ("drule.update", json!({ "name": "x" }), -32602, "\"druleid\" is mandatory"),
        ("drule.update", json!({ "druleid": "999" }), -32602, "No permissions"),
        ("drule.delete", json!(["999"]), -32500, "No permissions"),
        ("drule.get", json!({ "sortfield": "delay" }), -32500, "Sorting by field"),
    ]);
}

#[test]
fn an_action_on_a_rule_that_goes_is_switched_off() {
    let server = Server::start();
    let id = server.create("drule.create", &rule(json!([{ "type": 12 }])));
    let action = server.create(
        "action.create",
        &json!({
            "name": "a", "eventsource": 1, "operations": [{ "operationtype": 2 }],
            "filter": { "evaltype": 0, "conditions": [{ "conditiontype": 18, "value": id }] },
        }),
    );
    server.call("drule.delete", &json!([id])).unwrap();
    let shown = server.call("action.get", &json!({ "actionids": action })).unwrap();
    assert_eq!(shown[0]["status"], "1");
}

#[test]
fn autoregistration() {
    let server = Server::start();
    let key = "0123456789abcdef".repeat(2);
    let get = || server.call("autoregistration.get", &json!({})).unwrap();
    assert_eq!(get(), json!({ "tls_accept": "1" }));
    let update = json!({ "tls_accept": 3, "tls_psk_identity": "i", "tls_psk": key });
    assert_eq!(server.call("autoregistration.update", &update).unwrap(), json!(true));
    assert_eq!(get(), json!({ "tls_accept": "3" }));
    let known = server.api.deps.config.snapshot().settings.autoregistration.clone();
    assert_eq!((known.accept, &*known.psk_identity, &*known.psk), (3, "i", key.as_str()));
    // What is not given stays.
    server.call("autoregistration.update", &json!({ "tls_accept": 2 })).unwrap();
    let update = |params: Json| ("autoregistration.update", params);
    for ((method, params), text) in [
        (update(json!({ "tls_accept": 4 })), "value must be one of 1-3"),
        (update(json!({ "tls_psk": "zz" })), "minimum length is 32 characters"),
        (update(json!({ "tls_accept": 1, "tls_psk_identity": "i" })), "should be empty"),
        (update(json!({ "x": 1 })), "unexpected parameter \"x\""),
        (("autoregistration.get", json!({ "output": ["x"] })), "must be \"tls_accept\""),
    ] {
        server.refuses(&[(method, params, -32602, text)]);
    }
    server.call("autoregistration.update", &json!({ "tls_accept": 1 })).unwrap();
    let known = server.api.deps.config.snapshot().settings.autoregistration.clone();
    assert_eq!((known.accept, &*known.psk), (1, ""));
    server.refuses(&[(
        "autoregistration.update",
        json!({ "tls_accept": 2 }),
        -32602,
        "the parameter \"tls_psk_identity\" is missing",
    )]);
}
