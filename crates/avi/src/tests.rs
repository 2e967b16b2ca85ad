mod limits;
mod policies;

use serde_json::{Value as Json, json};

use super::*;

pub(super) fn members(value: Json) -> Members {
    value.as_object().cloned().unwrap()
}

/// References `/api/pool/p7` lead to the object 7; those of profiles lead to these documents.
pub(super) fn targets(document: &Json, profiles: &[(&str, Json)]) -> Targets {
    let mut targets = Targets { engine_group: Some(1), vip: Some(2), ..Targets::default() };
    each_reference(&mut members(document.clone()), &mut |_, reference| {
        let profile = profiles.iter().find(|(known, _)| *known == reference);
        let number = reference.rsplit('/').next().unwrap_or_default();
        let id = number.trim_start_matches(|sign: char| !sign.is_ascii_digit()).parse().ok();
        let document =
            profile.map(|(_, document)| members(document.clone())).unwrap_or_default().into();
        targets.by_reference.insert(reference.to_owned(), Target { id, document });
        Ok(None)
    })
    .unwrap();
    targets
}

fn plan(kind: Kind, document: &Json, profiles: &[(&str, Json)]) -> Result<Plan> {
    check(kind, &members(document.clone()))?;
    translate(kind, &members(document.clone()), &targets(document, profiles))
}

/// The parameters of an object that becomes one object.
fn params(kind: Kind, document: &Json, profiles: &[(&str, Json)]) -> Json {
    match plan(kind, document, profiles) {
        Ok(Plan::Objects(parts)) if parts.len() == 1 => parts[0].clone().into(),
        other => panic!("{document} became {other:?}"),
    }
}

fn refused(kind: Kind, document: &Json, text: &str) {
    match plan(kind, document, &[]) {
        Err(refused) => assert!(refused.text.contains(text), "{} lacks {text}", refused.text),
        Ok(plan) => panic!("{document} is not refused: {plan:?}"),
    }
}

/// `show` of what `translate` made leads to the same parameters.
fn comes_back(kind: Kind, document: &Json) {
    let first = params(kind, document, &[]);
    let mut name = |kind: Kind, id: u64| format!("/api/{}/x{id}", kind.word());
    let shown = show(kind, &first, &mut name);
    check(kind, &shown).unwrap();
    assert_eq!(params(kind, &shown.into(), &[]), first);
}

fn pool(more: &Json) -> Json {
    let ip = json!({ "addr": "10.0.0.1", "type": "V4" });
    let mut pool = json!({ "name": "p", "servers": [{ "ip": ip, "port": 8080 }] });
    pool.as_object_mut().unwrap().extend(members(more.clone()));
    pool
}

#[test]
fn uuids_follow_from_type_and_number() {
    let uuid = Uuid { kind: Kind::Pool, source: Source::Vedette, id: 7 };
    let text = uuid.to_string();
    assert_eq!(text, "pool-3b852947-e516-4522-8000-000000000007");
    assert_eq!(Uuid::parse(Kind::Pool, &text), Some(uuid));
    assert_eq!(Uuid::parse(Kind::PoolGroup, &text), None);
    assert_eq!(
        Uuid::parse(Kind::Pool, &text.replace("0007", "0008")),
        None,
        "the checksum differs"
    );
    let last = (1 << 60) - 1;
    for source in [Source::Vedette, Source::Stored, Source::BuiltIn] {
        let uuid = Uuid { kind: Kind::VsVip, source, id: last };
        assert_eq!(Uuid::parse(Kind::VsVip, &uuid.to_string()), Some(uuid));
    }
    for text in ["", "pool", "pool-", "pool-a00d004b-cd35-411b-a0f4-2316d2eeca46", "pool-\u{e9}"] {
        assert_eq!(Uuid::parse(Kind::Pool, text), None, "{text}");
    }
}

#[test]
fn references_have_several_forms() {
    let uuid = Reference::Uuid(Kind::Pool, "pool-1".to_owned());
    let name = Reference::Name(Kind::Pool, "p 1".to_owned());
    for (text, expected) in [
        ("https://127.0.0.1:8443/api/pool/pool-1", &uuid),
        ("https://lb/api/pool/pool-1#p1", &uuid),
        ("/api/pool/pool-1", &uuid),
        ("/api/pool?name=p 1", &name),
        ("/api/pool/?name=p%201&cloud=x", &name),
    ] {
        assert_eq!(Reference::parse("pool_ref", text).as_ref(), Ok(expected), "{text}");
    }
    for text in ["", "pool-1", "/api/pool", "/api/pool/", "/api/wafpolicy/x", "/api/pool?uuid=1"] {
        let refused = Reference::parse("pool_ref", text).unwrap_err();
        assert!(refused.text.starts_with("pool_ref: "), "{}", refused.text);
    }
}

#[test]
fn members_that_vedette_does_not_have_are_named() {
    for (document, text) in [
        (json!({ "nmae": "p" }), "nmae: unknown member of pool"),
        (json!({ "request_queue_enabled": true }), "set Avi's default false"),
        (json!({ "sni_enabled": false }), "sni_enabled: Vedette does not have"),
        (json!({ "fail_action": { "type": "FAIL_ACTION_CLOSE_CONN" } }), "fail_action: "),
        (
            json!({ "servers": [{ "port": 80 }, { "mac_address": "x" }] }),
            "servers[1].mac_address: ",
        ),
        (json!({ "servers": 7 }), "servers: an object or a list"),
    ] {
        let refused = check(Kind::Pool, &members(document)).unwrap_err();
        assert!(refused.text.contains(text) && refused.status == 400, "{}", refused.text);
    }
    // Clients send defaults, and empty values.
    let sent = json!({
        "name": "p", "sni_enabled": true, "request_queue_depth": 128, "request_queue_enabled": false,
        "append_port": "NON_DEFAULT_80_443", "networks": [], "east_west": null, "markers": [{ "key": "k" }],
        "servers": [{ "ip": { "addr": "::1", "type": "V6" }, "ratio": 1, "verify_network": false }],
    });
    check(Kind::Pool, &members(sent)).unwrap();
    let full = with_defaults(Kind::Pool, &members(pool(&json!({}))));
    assert_eq!(full["append_port"], "NON_DEFAULT_80_443");
    assert_eq!(full["servers"][0]["ratio"], 1);
    check(Kind::Pool, &full).unwrap();
    for kind in [Kind::VirtualService, Kind::EngineGroup, Kind::HealthMonitor, Kind::SslProfile] {
        check(kind, &with_defaults(kind, &Members::new())).unwrap();
    }
}

#[test]
fn pools_become_pools() {
    let made = params(Kind::Pool, &pool(&json!({})), &[]);
    assert_eq!(made["algorithm"], "least_connections");
    assert_eq!(made["slow_start"], "10m", "Avi's ramp");
    let server = json!({
        "name": "10.0.0.1:8080", "address": "10.0.0.1", "port": 8080, "weight": 1,
        "max_connections": 0, "state": "up",
    });
    assert_eq!(made["servers"], json!([server]));
    let settings = json!({
        "enabled": false,
        "lb_algorithm": "LB_ALGORITHM_CONSISTENT_HASH",
        "lb_algorithm_hash": "LB_ALGORITHM_CONSISTENT_HASH_CUSTOM_HEADER",
        "lb_algorithm_consistent_hash_hdr": "X-Key",
        "connection_ramp_duration": 0,
        "inline_health_monitor": false,
        "max_concurrent_connections_per_server": 9,
        "health_monitor_refs": ["/api/healthmonitor/m5"],
    });
    let made = params(Kind::Pool, &pool(&settings), &[]);
    assert_eq!((&made["algorithm"], &made["hash_key"]), (&"header_hash".into(), &"X-Key".into()));
    assert_eq!((&made["slow_start"], &made["healthmonitorid"]), (&"".into(), &"5".into()));
    assert_eq!(made["eject"], json!({ "failures": 0 }));
    assert_eq!(
        (&made["servers"][0]["state"], &made["servers"][0]["max_connections"]),
        (&"down".into(), &9.into())
    );
    comes_back(
        Kind::Pool,
        &pool(&json!({ "description": "d", "lb_algorithm": "LB_ALGORITHM_ROUND_ROBIN" })),
    );
    assert!(matches!(plan(Kind::Pool, &json!({ "name": "p" }), &[]), Ok(Plan::Incomplete(_))));
    let monitors = vec!["/api/healthmonitor/m1"; 17];
    for (settings, text) in [
        (json!({ "lb_algorithm": "LB_ALGORITHM_TOPOLOGY" }), "lb_algorithm: Vedette does not have"),
        (json!({ "health_monitor_refs": monitors }), "at most 16 health monitors"),
        (json!({ "servers": [{ "port": 1 }] }), "servers[0].ip: an address"),
        (json!({ "servers": [{ "ip": { "addr": "h", "type": "DNS" } }] }), "servers[0].ip.addr: "),
        (json!({ "servers": [{ "ip": { "addr": "::1", "type": "V4" } }] }), "servers[0].ip.type: "),
        (json!({ "ssl_profile_ref": "/api/sslprofile/s" }), "pki_profile_ref"),
        (json!({ "name": "" }), "name: this member is required"),
    ] {
        refused(Kind::Pool, &pool(&settings), text);
    }
}

#[test]
fn profiles_become_members() {
    let profile =
        |kind: &str| ("/api/applicationpersistenceprofile/s", json!({ "persistence_type": kind }));
    let refers = pool(&json!({
        "application_persistence_profile_ref": "/api/applicationpersistenceprofile/s",
        "pki_profile_ref": "/api/pkiprofile/k", "server_name": "app.example.com",
    }));
    let authorities = (
        "/api/pkiprofile/k",
        json!({ "ca_certs": [{ "certificate": "A\n" }, { "certificate": "B" }] }),
    );
    let made = params(
        Kind::Pool,
        &refers,
        &[profile("PERSISTENCE_TYPE_CLIENT_IP_ADDRESS"), authorities.clone()],
    );
    assert_eq!(made["persistence"], json!({ "type": "source_ip" }));
    assert_eq!(made["tls"], json!({ "ca": "A\nB\n", "sni": "app.example.com" }));
    let made = params(Kind::Pool, &refers, &[profile("PERSISTENCE_TYPE_HTTP_COOKIE"), authorities]);
    assert_eq!(made["persistence"]["type"], "cookie");
    for (kind, document, text) in [
        (
            Kind::PersistenceProfile,
            json!({ "name": "x", "persistence_type": "PERSISTENCE_TYPE_TLS" }),
            "it has",
        ),
        (
            Kind::SslProfile,
            json!({ "name": "x", "accepted_versions": [{ "type": "SSL_VERSION_TLS1" }] }),
            "TLS1_2",
        ),
        (Kind::PkiProfile, json!({ "name": "x" }), "ca_certs"),
        (Kind::NetworkProfile, json!({ "name": "x" }), "profile: this member is required"),
        (
            Kind::ApplicationProfile,
            json!({ "name": "x", "type": "APPLICATION_PROFILE_TYPE_HTTP", "http_profile": { "hsts_enabled": true } }),
            "http_profile.hsts_enabled: ",
        ),
        (
            Kind::ApplicationProfile,
            json!({ "name": "x", "type": "APPLICATION_PROFILE_TYPE_DNS" }),
            "it has",
        ),
    ] {
        refused(kind, &document, text);
    }
    for one in built_ins().iter().filter(|one| !one.kind.is_fixed()) {
        check(one.kind, &one.document).unwrap();
        assert_eq!(translate(one.kind, &one.document, &Targets::default()), Ok(Plan::Profile));
    }
}

#[test]
fn monitors_become_monitors() {
    let http = json!({
        "name": "m", "type": "HEALTH_MONITOR_HTTP", "send_interval": 3, "receive_timeout": 2,
        "http_monitor": {
            "http_request": "GET /health HTTP/1.1", "http_response_code": ["HTTP_2XX", "HTTP_3XX"],
            "http_response": "ok",
        },
    });
    let made = params(Kind::HealthMonitor, &http, &[]);
    let expected = json!({
        "type": "http", "path": "/health", "status": 200, "body": "ok", "interval": "3s", "timeout": "2s",
        "up": 2, "down": 2, "udp": {}, "dns": {},
    });
    assert!(agrees(&expected, &made), "{made}");
    comes_back(Kind::HealthMonitor, &http);
    let udp = json!({ "udp_request": "a\\b\n", "udp_response": "pong" });
    let udp = json!({ "name": "m", "type": "HEALTH_MONITOR_UDP", "udp_monitor": udp });
    assert_eq!(
        params(Kind::HealthMonitor, &udp, &[])["udp"],
        json!({ "send": "a\\\\b\n", "expect": "pong" })
    );
    let dns = json!({ "query_name": "example.com", "record_type": "DNS_RECORD_MX" });
    comes_back(
        Kind::HealthMonitor,
        &json!({ "name": "m", "type": "HEALTH_MONITOR_DNS", "dns_monitor": dns }),
    );
    comes_back(
        Kind::HealthMonitor,
        &json!({ "name": "m", "type": "HEALTH_MONITOR_TCP", "description": "d" }),
    );
    for (kind, more, text) in [
        ("PING", json!({}), "type: Vedette does not have"),
        ("HTTP", json!({ "http_request": "POST / HTTP/1.1" }), "http_monitor.http_request: "),
        ("HTTP", json!({ "http_request": "GET / HTTP/1.1\r\nHost: a\r\n" }), "without headers"),
        ("HTTP", json!({ "http_response_code": ["HTTP_5XX"] }), "HTTP_2XX"),
        ("HTTP", json!({ "maintenance_code": [503] }), "http_monitor.maintenance_code: "),
    ] {
        let monitor =
            json!({ "name": "m", "type": format!("HEALTH_MONITOR_{kind}"), "http_monitor": more });
        refused(Kind::HealthMonitor, &monitor, text);
    }
}

#[test]
fn vips_certificates_and_groups_come_back() {
    let vip = json!({ "vip_id": "1", "ip_address": { "addr": "192.0.2.1", "type": "V4" } });
    comes_back(
        Kind::VsVip,
        &json!({ "name": "v", "vip": [vip], "dns_info": [{ "fqdn": "www.example.com" }] }),
    );
    assert!(matches!(plan(Kind::VsVip, &json!({ "name": "v" }), &[]), Ok(Plan::Incomplete(_))));
    refused(Kind::VsVip, &json!({ "name": "v", "vip": [vip, vip] }), "one address of each family");
    refused(
        Kind::VsVip,
        &json!({ "name": "v", "vip": [{ "auto_allocate_ip": true }] }),
        "vip[0].auto_allocate_ip",
    );
    let member = json!({ "pool_ref": "/api/pool/p7", "priority_label": "10", "ratio": 95 });
    comes_back(Kind::PoolGroup, &json!({ "name": "g", "members": [member] }));
    let label = json!({ "pool_ref": "/api/pool/p7", "priority_label": "high" });
    refused(
        Kind::PoolGroup,
        &json!({ "name": "g", "members": [label] }),
        "members[0].priority_label: ",
    );
    let certificate = json!({ "name": "c", "certificate": { "certificate": "PEM" }, "key": "KEY" });
    let made = params(Kind::Certificate, &certificate, &[]);
    assert_eq!((&made["certificate"], &made["private_key"]), (&"PEM".into(), &"KEY".into()));
    let sent_back =
        json!({ "name": "c", "certificate": { "certificate": "PEM" }, "key": "<sensitive>" });
    assert_eq!(params(Kind::Certificate, &sent_back, &[]).get("private_key"), None);
    refused(
        Kind::Certificate,
        &json!({ "name": "c", "key_params": { "algorithm": "x" } }),
        "key_params: ",
    );
    // One that is ordered from an authority has no text; `certificate.create` needs one.
    assert!(
        !params(Kind::Certificate, &json!({ "name": "c" }), &[])
            .as_object()
            .unwrap()
            .contains_key("certificate")
    );
    let key =
        "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\ny";
    let both = json!({ "name": "c", "certificate": { "certificate": key } });
    refused(Kind::Certificate, &both, "only certificates are expected");
}

#[test]
fn services_have_an_object_for_each_port() {
    let service = json!({
        "name": "web", "pool_ref": "/api/pool/p7", "vsvip_ref": "/api/vsvip/v3",
        "application_profile_ref": "/api/applicationprofile/secure",
        "ssl_profile_ref": "/api/sslprofile/s",
        "ssl_key_and_certificate_refs": ["/api/sslkeyandcertificate/c4", "/api/sslkeyandcertificate/c5"],
        "services": [{ "port": 443, "enable_ssl": true, "enable_http2": true }, { "port": 80 }],
    });
    let secure = json!({
        "type": "APPLICATION_PROFILE_TYPE_HTTP",
        "http_profile": { "http_to_https": true, "client_header_timeout": 5000 },
    });
    let versions = json!({ "accepted_versions": [{ "type": "SSL_VERSION_TLS1_3" }] });
    let profiles = [("/api/applicationprofile/secure", secure), ("/api/sslprofile/s", versions)];
    let Ok(Plan::Objects(parts)) = plan(Kind::VirtualService, &service, &profiles) else {
        panic!("the service is not complete")
    };
    let [tls, plain] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!((&tls["name"], &plain["name"]), (&"web".into(), &"web (80)".into()));
    assert_eq!(
        (&tls["vipid"], &tls["enginegroupid"], &tls["poolid"]),
        (&"3".into(), &"1".into(), &"7".into())
    );
    assert_eq!(tls["certificates"], json!([{ "certificateid": "4" }, { "certificateid": "5" }]));
    assert_eq!(tls["tls"], json!({ "alpn": ["h2", "http/1.1"], "min_version": "1.3" }));
    assert_eq!((&tls["rules"], &plain["tls"]), (&json!([]), &json!({})));
    assert_eq!(plain["rules"][0]["then"]["redirect"]["location"], "https://{host}{uri}");
    assert_eq!(plain["timeouts"], json!({ "client_header": "5000ms" }));
    // Without a VIP of its own.
    let bare =
        json!({ "name": "b", "pool_group_ref": "/api/poolgroup/g9", "services": [{ "port": 80 }] });
    let made = params(Kind::VirtualService, &bare, &[]);
    assert_eq!(
        (&made["vipid"], &made["poolid"], &made["poolgroupid"]),
        (&"2".into(), &"0".into(), &"9".into())
    );
    for (more, text) in [
        (json!({ "services": [] }), "services: at least one port"),
        (
            json!({ "services": [{ "port": 80, "port_range_end": 90 }] }),
            "services[0].port_range_end: ",
        ),
        (json!({ "services": [{ "port": 80 }, { "port": 80 }] }), "services[1].port: "),
        (
            json!({ "services": [{ "port": 443, "enable_ssl": true }] }),
            "needs at least one certificate",
        ),
        (json!({ "pool_ref": "/api/pool/p1" }), "keep either"),
        (json!({ "waf_policy_ref": "/api/wafpolicy/x" }), "waf_policy_ref: Vedette does not have"),
    ] {
        let mut service = members(bare.clone());
        service.extend(members(more));
        refused(Kind::VirtualService, &service.into(), text);
    }
    let unready =
        json!({ "name": "b", "pool_ref": "/api/pool/none", "services": [{ "port": 80 }] });
    assert!(matches!(plan(Kind::VirtualService, &unready, &[]), Ok(Plan::Incomplete(_))));
}

#[test]
fn a_patch_adds_replaces_and_deletes() {
    let object = json!({ "name": "p", "servers": [{ "ip": { "addr": "a" }, "port": 1 }, { "ip": { "addr": "b" } }], "d": "x" });
    for (body, expected) in [
        (json!({ "replace": { "d": "y" } }), json!({ "d": "y" })),
        (json!({ "delete": { "d": "x" } }), json!({ "d": null })),
        (
            json!({ "add": { "servers": [{ "ip": { "addr": "c" } }, { "ip": { "addr": "b" } }] } }),
            json!({ "servers": 3 }),
        ),
        (json!({ "delete": { "servers": [{ "ip": { "addr": "a" } }] } }), json!({ "servers": 1 })),
        (
            json!({ "replace": { "servers": [] }, "add": { "e": true } }),
            json!({ "servers": 0, "e": true }),
        ),
    ] {
        let after = patch(members(object.clone()), &members(body.clone())).unwrap();
        for (name, value) in members(expected) {
            let found = after.get(&name).cloned().unwrap_or_default();
            let found = found.as_array().map_or(found.clone(), |list| list.len().into());
            assert_eq!(found, value, "{body}");
        }
    }
    for body in [json!({ "remove": { "d": 1 } }), json!({ "add": 7 })] {
        patch(members(object.clone()), &members(body)).unwrap_err();
    }
}

#[test]
fn versions_differ_with_the_object() {
    let version_of = |value: Json| version(&members(value));
    let first = version_of(json!({ "a": 1 }));
    assert_eq!(first.len(), 16);
    assert_eq!(first, version_of(json!({ "a": 1 })));
    assert_ne!(first, version_of(json!({ "a": 2 })));
}

#[test]
fn engine_groups_have_the_modes_of_avi() {
    const KIND: Kind = Kind::EngineGroup;
    for (given, expected) in [
        (json!({}), json!({ "ha_mode": null })),
        (
            json!({ "ha_mode": "HA_MODE_SHARED", "algo": "PLACEMENT_ALGO_PACKED" }),
            json!({ "ha_mode": 1, "spare_engines": 1, "vips_per_engine": 10, "placement": 1 }),
        ),
        (
            json!({ "ha_mode": "HA_MODE_LEGACY_ACTIVE_STANDBY", "min_scaleout_per_vs": 1 }),
            json!({ "ha_mode": 2, "spare_engines": 0, "engines_per_vip": 0 }),
        ),
        (
            json!({ "ha_mode": "HA_MODE_SHARED_PAIR", "min_scaleout_per_vs": 2, "auto_rebalance": true }),
            json!({ "ha_mode": 0, "spare_engines": 0, "engines_per_vip": 2, "rebalance": 1 }),
        ),
    ] {
        let mut document = given;
        document["name"] = "g".into();
        let made = params(KIND, &document, &[]);
        for (name, value) in members(expected) {
            assert_eq!(made[&name], value, "{document}: {name}");
        }
        let shown = show(KIND, &made, &mut |_, _| String::new());
        let again = params(KIND, &shown.into(), &[]);
        for (name, value) in members(made) {
            assert_eq!(again[&name], value, "{document}: {name}");
        }
    }
    refused(KIND, &json!({ "name": "g", "ha_mode": "HA_MODE_OTHER" }), "ha_mode");
}
