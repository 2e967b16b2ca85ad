//! Several health monitors of a pool, monitors of problems, and the health of servers.

use serde_json::{Value as Json, json};

use super::{Edge, servers};

impl Edge {
    fn monitor(&self, name: &str, kind: &str, members: &Json) -> String {
        let mut params = json!({ "name": name, "type": kind });
        for (member, value) in members.as_object().into_iter().flatten() {
            params[member] = value.clone();
        }
        self.server.create("healthmonitor.create", &params)
    }

    /// The monitors of the only pool in the configuration of engines.
    fn health(&self) -> Json {
        self.configuration()["configuration"]["pools"][0]["health"].take()
    }
}

#[test]
fn a_pool_has_further_monitors() {
    let edge = Edge::start();
    let server = &edge.server;
    assert_eq!(edge.health()["name"], "m", "one monitor is not a list");
    let ping = edge.monitor("ping", "icmp", &json!({}));
    let further = json!([{ "healthmonitorid": ping }]);
    let change = json!({ "poolid": edge.pool, "further_monitors": further, "min_monitors": 1 });
    server.call("pool.update", &change).unwrap();
    let health = edge.health();
    assert_eq!((&health[0]["name"], &health[1]["name"]), (&json!("m"), &json!("ping")));
    let get = json!({ "healthmonitorids": ping, "output": ["min_monitors"],
                      "selectFurtherMonitors": "extend" });
    let found = server.call("pool.get", &get).unwrap();
    assert_eq!(found, json!([{ "min_monitors": "1", "further_monitors": further }]));
    // A client that knows one monitor alone changes the first one.
    server.call("pool.update", &json!({ "poolid": edge.pool, "healthmonitorid": 0 })).unwrap();
    assert_eq!(edge.health()["name"], "ping");
    let (_, used) = server.call("healthmonitor.delete", &json!([ping])).unwrap_err();
    assert!(used.contains("it is used by pool \"app\""), "{used}");
    for (change, text) in [
        (json!({ "min_monitors": 2 }), "'min_monitors' is 2, but the pool has 1 monitors"),
        (json!({ "healthmonitorid": ping }), "two monitors have the name 'ping'"),
        (
            json!({ "further_monitors": [{ "healthmonitorid": 99 }] }),
            "\"/1/further_monitors/1/healthmonitorid\": object does not exist",
        ),
        (json!({ "host_maintenance": "stop" }), "\"/1/host_maintenance\": unknown variant"),
    ] {
        let mut params = change.clone();
        params["poolid"] = edge.pool.clone().into();
        let (_, found) = server.call("pool.update", &params).unwrap_err();
        assert!(found.contains(text), "{change}: {found}");
    }
}

#[test]
fn a_monitor_stays_suitable_for_its_pools() {
    let edge = Edge::start();
    let server = &edge.server;
    let ping = edge.monitor("ping", "icmp", &json!({}));
    let further = json!([{ "healthmonitorid": ping }]);
    let change = json!({ "poolid": edge.pool, "further_monitors": further, "min_monitors": 2 });
    server.call("pool.update", &change).unwrap();
    for (member, value, text) in
        [("type", "trigger", "pool 'app' uses it: 'min_monitors' is 2, but"), ("type", "tcp", "")]
    {
        let found =
            server.call("healthmonitor.update", &json!({ "healthmonitorid": ping, member: value }));
        let problem = found.err().map(|(_, text)| text).unwrap_or_default();
        assert!(
            problem.contains(text) && problem.is_empty() == text.is_empty(),
            "{value}: {problem}"
        );
    }
    assert_eq!(edge.health()[1]["type"], "tcp");
}

#[test]
fn monitors_of_programs_and_problems_are_checked() {
    let edge = Edge::start();
    edge.monitor("script", "script", &json!({ "script": { "program": "check.sh" } }));
    for (members, text) in [
        (json!({ "type": "script" }), "'health.script' is for monitors of type script"),
        (json!({ "type": "script", "script": { "program": "../sh" } }), "is not a file name"),
        (
            json!({ "type": "trigger", "trigger_filter": { "min_severity": 6 } }),
            "is a severity from 0 to 5",
        ),
        (json!({ "type": "trigger", "trigger_filter": { "host": "a" } }), "unknown field `host`"),
        (
            json!({ "type": "tcp", "trigger_filter": { "name": "a" } }),
            "'trigger_filter' is for monitors of type trigger",
        ),
    ] {
        let mut params = members.clone();
        params["name"] = json!("n");
        let (_, found) = edge.server.call("healthmonitor.create", &params).unwrap_err();
        assert!(found.contains(text), "{members}: {found}");
    }
}

#[test]
fn health_is_unknown_without_reports() {
    let edge = Edge::start();
    let server = &edge.server;
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({ "host": "app1", "groups": [{ "groupid": group }] });
    let host = server.create("host.create", &host);
    let problems = edge.monitor("problems", "trigger", &json!({}));
    let mut linked = servers("s1");
    linked[0]["hostid"] = host.into();
    let change = json!({
        "poolid": edge.pool, "servers": linked, "healthmonitorid": problems,
        "host_maintenance": "drain",
    });
    server.call("pool.update", &change).unwrap();
    assert_eq!(edge.health(), Json::Null, "engines check nothing");
    let health = || server.call("pool.health", &json!({ "poolids": [edge.pool] })).unwrap();
    let found = health();
    let shown = &found[0]["servers"][0];
    assert_eq!((&shown["state"], &shown["engines"]), (&json!("unknown"), &json!([])));
    let expected = json!([
        { "name": "maintenance", "result": "passes", "reason": "", "effect": "drain" },
        { "name": "problems", "result": "unknown", "effect": "down",
          "reason": "no enabled trigger of the host matches" },
    ]);
    assert_eq!(shown["host_checks"], expected);
    server.write_sql(&["UPDATE hosts SET maintenance_status = 1"]);
    let effect = || {
        let shown = &health()[0]["servers"][0];
        (shown["host_effect"].clone(), shown["host_effect_ignored"].clone())
    };
    assert_eq!(effect(), (json!(""), json!(true)), "the pool has no other server");
    linked.as_array_mut().unwrap().push(servers("s2")[0].clone());
    server.call("pool.update", &json!({ "poolid": edge.pool, "servers": linked })).unwrap();
    assert_eq!(effect(), (json!("drain"), json!(false)));
    let state = &edge.configuration()["configuration"]["pools"][0]["servers"][0]["state"];
    assert_eq!(state, "drain");
    let (_, missing) = server.call("pool.health", &json!({})).unwrap_err();
    assert!(missing.contains("poolids"), "{missing}");
}
