use serde_json::{Value as Json, json};

use super::*;

fn set(matched: &Json) -> Json {
    let action = json!({ "action": "HTTP_SECURITY_ACTION_SEND_RESPONSE", "status_code": "HTTP_LOCAL_RESPONSE_STATUS_CODE_403" });
    let rule =
        json!({ "index": 1, "name": "r", "enable": true, "match": matched, "action": action });
    json!({ "name": "s", "http_security_policy": { "rules": [rule] } })
}

#[test]
fn combinations_are_counted_before_they_are_made() {
    let many = vec!["h"; 50_000];
    let paths = vec!["/p"; 64];
    let path = json!({ "match_criteria": "EQUALS", "match_case": "SENSITIVE", "match_str": paths });
    let host = json!({ "match_criteria": "HDR_EQUALS", "value": many });
    let host2 = json!({ "match_criteria": "HDR_EQUALS", "value": ["a", "b"] });
    for host in [host, host2] {
        let matched = json!({ "path": path, "host_hdr": host });
        refused(Kind::HttpPolicySet, &set(&matched), "more than 64 combinations");
    }
}

#[test]
fn a_security_rule_that_never_applies_is_refused() {
    let method = json!({ "method": { "match_criteria": "IS_IN", "methods": [] } });
    refused(Kind::HttpPolicySet, &set(&method), "methods: at least one value");
    let header = json!({ "hdr": "X", "match_criteria": "HDR_EQUALS", "match_case": "SENSITIVE", "value": [] });
    refused(Kind::HttpPolicySet, &set(&json!({ "hdrs": [header] })), "value: at least one value");
}

#[test]
fn rules_ports_and_policies_of_a_service_have_limits() {
    let rule = |n: u64| {
        json!({ "index": n, "name": "r", "enable": true, "hdr_action": [
        { "action": "HTTP_REMOVE_HDR", "hdr": { "name": "X" } }] })
    };
    let rules: Vec<Json> = (0..1_000).map(rule).collect();
    let policies = json!({ "name": "s", "http_request_policy": { "rules": rules } });
    let ports = |count: u64| (1..=count).map(|port| json!({ "port": port })).collect::<Vec<_>>();
    let listed =
        |count: usize| vec![json!({ "http_policy_set_ref": "/api/httppolicyset/s" }); count];
    let service = |count: u64, sets: usize| json!({ "name": "v", "pool_ref": "/api/pool/p1", "services": ports(count), "http_policies": listed(sets) });
    let plan = |service: &Json| {
        let profiles = [("/api/httppolicyset/s", policies.clone())];
        translate(Kind::VirtualService, &members(service.clone()), &targets(service, &profiles))
    };
    assert!(plan(&service(10, 1)).is_ok());
    for (service, text) in [
        (service(11, 1), "more than 10000 rules"),
        (service(65, 1), "services: more than 64"),
        (service(1, 65), "http_policies: more than 64"),
    ] {
        assert!(plan(&service).unwrap_err().text.contains(text), "{text}");
    }
    let rules: Vec<Json> = (0..10_001).map(rule).collect();
    let large = json!({ "name": "s", "http_request_policy": { "rules": rules } });
    refused(Kind::HttpPolicySet, &large, "more than 10000 rules");
}

#[test]
fn a_size_of_bodies_that_is_too_large_is_refused() {
    let profile = json!({ "name": "a", "type": "APPLICATION_PROFILE_TYPE_HTTP",
        "http_profile": { "client_max_body_size": 1_u64 << 54 } });
    refused(Kind::ApplicationProfile, &profile, "client_max_body_size: ");
}

#[test]
fn references_have_one_type_and_no_cycles() {
    for (path, kind) in [
        ("tenant_ref", Some(Kind::Tenant)),
        ("cloud_ref", Some(Kind::Cloud)),
        ("vrf_context_ref", Some(Kind::Vrf)),
        ("analytics_policy.analytics_profile_ref", Some(Kind::AnalyticsProfile)),
        ("markers[0].other_ref", None),
    ] {
        assert_eq!(referred(path), kind, "{path}");
    }
    assert!(Kind::VirtualService.may_refer_to(Kind::HttpPolicySet));
    assert!(Kind::HttpPolicySet.may_refer_to(Kind::PoolGroup));
    assert!(Kind::PoolGroup.may_refer_to(Kind::Pool) && Kind::Pool.may_refer_to(Kind::SslProfile));
    assert!(Kind::SslProfile.may_refer_to(Kind::Tenant));
    for kind in [Kind::HttpPolicySet, Kind::Pool, Kind::SslProfile, Kind::Tenant] {
        assert!(!kind.may_refer_to(kind));
    }
    let noted = json!({ "markers": [{ "key": "k", "x": { "pool_ref": "/api/pool/p1" } }] });
    refused(Kind::Pool, &pool(&noted), "markers: \"pool_ref\" is not a known member");
}

#[test]
fn an_update_has_what_the_client_has_changed() {
    let actual = json!({
        "name": "web", "port": "80", "status": "0",
        "timeouts": { "client_header": "5s", "server": "1m" },
        "tls": { "alpn": ["http/1.1"], "strict_sni": true },
        "rules": [{ "if": { "path": "/ui" }, "then": { "deny": "403" } }, { "if": {}, "then": { "deny": "404" } }],
        "persistence": { "type": "cookie", "name": "C" },
    });
    let before = members(json!({
        "name": "web", "port": 80, "status": 0, "timeouts": { "client_header": "5s" },
        "tls": { "alpn": ["http/1.1"] }, "rules": [{ "if": {}, "then": { "deny": 404 } }], "persistence": {},
    }));
    let of = |change: Json| {
        let mut after = before.clone();
        after.extend(members(change));
        Json::Object(changes(&actual, &before, &after))
    };
    assert_eq!(of(json!({})), json!({}));
    assert_eq!(of(json!({ "name": "w" })), json!({ "name": "w" }));
    assert_eq!(of(json!({ "timeouts": {} })), json!({ "timeouts": { "server": "1m" } }));
    let tls = json!({ "alpn": ["h2", "http/1.1"] });
    let merged = json!({ "tls": { "alpn": ["h2", "http/1.1"], "strict_sni": true } });
    assert_eq!(of(json!({ "tls": tls })), merged);
    assert_eq!(of(json!({ "tls": {} })), json!({ "tls": {} }), "it is switched off");
    let http3 = json!({ "tls": { "alpn": ["h3", "h2", "http/1.1"] } });
    for (old, alpn) in
        [(json!({}), json!(["h3", "http/1.1"])), (json!({ "tls": tls }), json!(["h3", "http/1.1"]))]
    {
        let after = members(json!({ "tls": { "alpn": ["http/1.1"] } }));
        let changed = changes(&http3, &members(old.clone()), &after);
        assert_eq!(changed["tls"]["alpn"], alpn, "Avi does not know HTTP/3: {old}");
    }
    let rules = of(json!({ "rules": [{ "if": {}, "then": { "deny": 410 } }] }));
    assert_eq!(rules["rules"][0]["if"]["path"], "/ui");
    assert_eq!(
        (rules["rules"].as_array().unwrap().len(), &rules["rules"][1]["then"]["deny"]),
        (2, &410.into())
    );
    let other = json!({ "persistence": { "type": "source_ip" } });
    assert_eq!(of(other.clone()), other, "another type has no name");
}

#[test]
fn servers_keep_what_avi_does_not_have() {
    let server = |address: &str, weight: u64| json!({ "name": address, "address": address, "port": 80, "weight": weight, "state": "down" });
    let mut own = server("10.0.0.1", 1);
    own["state"] = "drain".into();
    own["hostid"] = "7".into();
    own["port"] = "80".into();
    let parts = [vec![server("10.0.0.1", 1)], vec![server("10.0.0.1", 2), server("10.0.0.2", 1)]];
    let [before, after] = parts.map(|servers| members(json!({ "servers": servers })));
    let changed = changes(&json!({ "servers": [own] }), &before, &after);
    let (first, second) = (&changed["servers"][0], &changed["servers"][1]);
    assert_eq!((&first["hostid"], &first["state"]), (&"7".into(), &"drain".into()));
    assert_eq!((&first["weight"], &second["address"]), (&2.into(), &"10.0.0.2".into()));
}

#[test]
fn ports_meet_their_objects() {
    let objects = [json!({ "port": "80" }), json!({ "port": "81" })];
    let pairs = |ports: &[u64]| {
        let ports: Vec<Json> = ports.iter().map(|port| Json::from(*port)).collect();
        pair(&ports.iter().collect::<Vec<_>>(), &objects)
    };
    assert_eq!(pairs(&[81, 82]), [Some(1), Some(0)]);
    assert_eq!(pairs(&[81]), [Some(1)]);
    assert_eq!(pairs(&[79, 80, 81]), [None, Some(0), Some(1)]);
}
