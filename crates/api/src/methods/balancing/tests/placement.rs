//! Settings of engine groups, and which engines own which VIPs.

use serde_json::{Value as Json, json};

use super::Edge;

/// A group with two engines that run and one VIP; the ids of the engines.
fn pair(edge: &Edge, settings: &Json) -> [String; 2] {
    let second = json!({ "name": "lb-2", "enginegroupid": edge.group });
    let second = edge.server.create("engine.create", &second);
    let mut change = settings.clone();
    change["enginegroupid"] = edge.group.clone().into();
    edge.server.call("enginegroup.update", &change).unwrap();
    let engines = [edge.engine.clone(), second];
    for engine in &engines {
        edge.server.write_sql(&[&format!(
            "INSERT INTO engine_certificates (engineid, fingerprint) VALUES ({engine}, 'f{engine}')"
        )]);
    }
    engines
}

fn placement(edge: &Edge) -> Json {
    let params = json!({ "enginegroupids": [edge.group] });
    edge.server.call("enginegroup.placement", &params).unwrap()[0].take()
}

#[test]
fn placements_name_engines_and_reasons() {
    let edge = Edge::start();
    assert_eq!(placement(&edge)["vips"][0]["reason"], "no engine of the group is up");
    assert_eq!(placement(&edge)["engines"], json!([]), "an engine without certificate");
    let [first, second] = pair(&edge, &json!({ "ha_mode": 2, "vips_per_engine": 5 }));
    let vip = placement(&edge)["vips"][0].take();
    assert_eq!(vip["reason"], "the server has not placed the VIP yet");
    assert_eq!(vip["engines"], json!([]), "nothing that was not decided is active");
    let decided = |engine: &str, since: u64| {
        let owners = format!(r#"{{"owners": [{{"engine": {engine}, "since": {since}}}]}}"#);
        edge.server.write_state_sql(&[&format!(
            "INSERT OR REPLACE INTO engine_placements (enginegroupid, generation, assignment) \
             VALUES ({}, {since}, '{{\"{}\": {owners}}}')",
            edge.group, edge.vip
        )]);
    };
    decided(&first, 3);
    assert_eq!(
        placement(&edge),
        json!({
            "enginegroupid": edge.group,
            "vips": [{
                "vipid": edge.vip, "wanted": "1", "reason": "",
                "engines": [
                    { "engineid": first, "role": "active", "since": "3" },
                    { "engineid": second, "role": "standby", "since": "0" },
                ],
            }],
            "engines": [
                { "engineid": first, "state": "up", "vips": "1", "room": "4" },
                { "engineid": second, "state": "up", "vips": "0", "room": "5" },
            ],
        })
    );
    // A stored placement stays, also one that would not be made today.
    decided(&second, 77);
    let engine = &placement(&edge)["vips"][0]["engines"][0];
    assert_eq!(*engine, json!({ "engineid": second, "role": "active", "since": "77" }));
    // A disabled service needs no VIP; one that is each machine's is not placed.
    let vip = json!({ "vipid": edge.vip, "ipv4": "0.0.0.0" });
    edge.server.call("vip.update", &vip).unwrap();
    assert_eq!(placement(&edge)["vips"], json!([]));
    let unknown = json!({ "enginegroupids": ["99"] });
    edge.server.call("enginegroup.placement", &unknown).unwrap_err();
}

#[test]
fn a_comparison_says_which_vips_would_move() {
    let edge = Edge::start();
    let [first, second] = pair(&edge, &json!({ "ha_mode": 2 }));
    let moves = |method: &str, params: Json| {
        let params = json!({ "method": method, "params": params, "moves": true });
        edge.server.call("enginegroup.compare", &params).unwrap()
    };
    let moved = |from: &[&String], to: &[&String]| json!([{ "vipid": edge.vip, "name": "v", "enginegroupid": edge.group, "from": from, "to": to }]);
    let drained = moves("engine.update", json!({ "engineid": first, "drain": 1 }));
    assert_eq!(drained, json!({ "services": [], "moves": moved(&[&first], &[&second]) }));
    let all = json!({ "enginegroupid": edge.group, "ha_mode": 0 });
    let spread = moves("enginegroup.update", all);
    assert_eq!(spread["moves"], moved(&[&first], &[&first, &second]));
    let disabled = json!({ "virtualserviceid": edge.service, "status": 1 });
    let removed = moves("virtualservice.update", disabled);
    assert_eq!(removed["moves"], moved(&[&first], &[]));
    assert_eq!(removed["services"][0]["change"], "removed");
    let renamed = moves("enginegroup.update", json!({ "enginegroupid": edge.group, "name": "x" }));
    assert_eq!(renamed, json!({ "services": [], "moves": [] }));
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let edge = Edge::start();
    let announce = |members: Json| json!({ "announce": members });
    for (change, text) in [
        (json!({ "ha_mode": 3 }), "/ha_mode"),
        (json!({ "spare_engines": 1 }), "only groups with \"ha_mode\" 1"),
        (json!({ "ha_mode": 1, "spare_engines": 1 }), "set \"vips_per_engine\""),
        (json!({ "ha_mode": 2, "engines_per_vip": 2 }), "set 0 or 1"),
        (json!({ "failover_after": 0 }), "/failover_after"),
        (announce(json!({ "networks": ["192.0.2.0/24"] })), "local_as"),
        (announce(json!({ "networks": [], "local_as": 65_001 })), "'announce.networks' is empty"),
        (announce(json!(7)), "/announce"),
    ] {
        let mut params = change;
        params["enginegroupid"] = edge.group.clone().into();
        let (_, error) = edge.server.call("enginegroup.update", &params).unwrap_err();
        assert!(error.contains(text), "{params}: {error}");
    }
    // The announcement is a part of the configuration, placement is not.
    let hash = || edge.configuration()["hash"].clone();
    let before = hash();
    let modes = json!({ "enginegroupid": edge.group, "ha_mode": 1, "vips_per_engine": 9 });
    edge.server.call("enginegroup.update", &modes).unwrap();
    assert_eq!(hash(), before);
    let routers = announce(json!({ "networks": ["192.0.2.0/24"], "local_as": 65_001 }));
    let mut params = routers.clone();
    params["enginegroupid"] = edge.group.clone().into();
    edge.server.call("enginegroup.update", &params).unwrap();
    assert_ne!(hash(), before);
    let found = edge.server.call("enginegroup.get", &json!({ "output": ["announce"] })).unwrap();
    assert_eq!(found[0]["announce"], routers["announce"]);
}
