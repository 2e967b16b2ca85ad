mod checks;
mod exchange;
mod groups;
mod monitors;
mod placement;
mod purges;
mod rights;

use openssl::asn1::Asn1Time;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::x509::extension::SubjectAlternativeName;
use openssl::x509::{X509, X509NameBuilder};
use serde_json::{Value as Json, json};

use crate::testing::Server;

fn ec_key() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

fn pem(key: &PKey<Private>) -> String {
    String::from_utf8(key.private_key_to_pem_pkcs8().unwrap()).unwrap()
}

/// A certificate signed by its own key, valid in 2026 and 2027.
fn certificate(key: &PKey<Private>, name: &str) -> String {
    certificate_of_version(key, name, 3)
}

fn certificate_of_version(key: &PKey<Private>, name: &str, version: i32) -> String {
    let mut subject = X509NameBuilder::new().unwrap();
    subject.append_entry_by_text("CN", name).unwrap();
    let subject = subject.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(version - 1).unwrap();
    builder.set_subject_name(&subject).unwrap();
    builder.set_issuer_name(&subject).unwrap();
    builder.set_pubkey(key).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(1_767_225_600).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(1_830_297_600).unwrap()).unwrap();
    let names = SubjectAlternativeName::new()
        .dns(name)
        .dns("*.example.net")
        .ip("192.0.2.1")
        .ip("2001:db8::1")
        .build(&builder.x509v3_context(None, None))
        .unwrap();
    builder.append_extension(names).unwrap();
    builder.sign(key, MessageDigest::sha256()).unwrap();
    String::from_utf8(builder.build().to_pem().unwrap()).unwrap()
}

/// A server with one object of each kind.
struct Edge {
    server: Server,
    group: String,
    vip: String,
    monitor: String,
    pool: String,
    certificate: String,
    service: String,
    engine: String,
}

fn servers(name: &str) -> Json {
    json!([{ "name": name, "address": "10.0.0.1", "port": 8000 }])
}

impl Edge {
    fn start() -> Self {
        let server = Server::start();
        let named = |name: &str| json!({ "name": name });
        let group = server.create("enginegroup.create", &named("edge"));
        let engine = json!({ "name": "lb-1", "enginegroupid": group });
        let engine = server.create("engine.create", &engine);
        let vip = server.create("vip.create", &json!({ "name": "v", "ipv4": "192.0.2.1" }));
        let monitor = json!({ "name": "m", "type": "http", "path": "/health" });
        let monitor = server.create("healthmonitor.create", &monitor);
        let pool = json!({ "name": "app", "healthmonitorid": monitor, "servers": servers("s1") });
        let pool = server.create("pool.create", &pool);
        let key = ec_key();
        let pair = json!({ "name": "www", "certificate": certificate(&key, "www.example.com"),
                           "private_key": pem(&key) });
        let certificate = server.create("certificate.create", &pair);
        let service = json!({
            "name": "web", "enginegroupid": group, "vipid": vip, "port": 443, "poolid": pool,
            "certificates": [{ "certificateid": certificate }],
        });
        let service = server.create("virtualservice.create", &service);
        Self { server, group, vip, monitor, pool, certificate, service, engine }
    }

    fn configuration(&self) -> Json {
        let params = json!({ "enginegroupids": [self.group] });
        self.server.call("enginegroup.configuration", &params).unwrap()[0].take()
    }

    /// Calls that give the service other values and must be refused.
    fn refuses(&self, cases: &[(Json, &str)]) {
        for (change, text) in cases {
            let mut params = change.clone();
            params["virtualserviceid"] = self.service.clone().into();
            let (_, found) = self.server.call("virtualservice.update", &params).unwrap_err();
            assert!(found.contains(text), "{change}: {found}");
        }
    }
}

#[test]
fn keys_and_tokens_leave_by_no_way() {
    let edge = Edge::start();
    let made = edge.server.call("engine.generate", &json!([edge.engine])).unwrap();
    let token = made[0]["token"].as_str().unwrap();
    let key = edge.server.text("SELECT private_key FROM certificates");
    let body = key.lines().nth(1).unwrap();
    let token = token.split_once('.').unwrap().0;
    let digest = config::engines::digest(token);
    for (method, params) in [
        ("certificate.get", json!({})),
        ("engine.get", json!({})),
        ("virtualservice.get", json!({ "selectCertificates": "extend" })),
        ("enginegroup.get", json!({ "selectEngines": "extend" })),
        ("enginegroup.configuration", json!({ "enginegroupids": [edge.group] })),
        ("auditlog.get", json!({})),
    ] {
        let shown = edge.server.call(method, &params).unwrap().to_string();
        assert!(shown.len() > 20 && !shown.contains(body), "{method}: {shown}");
        assert!(!shown.contains(token) && !shown.contains(&digest), "{method}: {shown}");
    }
    let log = edge.server.call("auditlog.get", &json!({ "sortfield": "auditid" })).unwrap();
    let log = log.to_string();
    for part in [
        r#"certificate.private_key\":[\"add\",\"******\"]"#,
        r#"enrolment_digest\":[\"update\",\"******\""#,
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    for option in ["private_key", "enrolment_digest"] {
        let params = json!({ "output": [option] });
        assert!(edge.server.call("certificate.get", &params).is_err());
        assert!(
            edge.server.call("certificate.get", &json!({ "filter": { option: "x" } })).is_err()
        );
        assert!(
            edge.server.call("certificate.get", &json!({ "search": { option: "M" } })).is_err()
        );
    }
}

#[test]
fn changes_are_in_the_audit_log() {
    let edge = Edge::start();
    let change = json!({ "poolid": edge.pool, "servers": servers("s2") });
    edge.server.call("pool.update", &change).unwrap();
    edge.server.call("virtualservice.delete", &json!([edge.service])).unwrap();
    let shown = json!({ "output": ["action", "resourcetype", "resourcename"],
        "filter": { "resourcetype": [1000, 1002] }, "sortfield": "auditid" });
    let entry = |action: &str, kind: &str, name: &str| json!({ "action": action, "resourcetype": kind, "resourcename": name });
    let entries = json!([
        entry("0", "1002", "app"),
        entry("0", "1000", "web"),
        entry("1", "1002", "app"),
        entry("2", "1000", "web"),
    ]);
    edge.server.answers(&[("auditlog.get", shown, entries)]);
}

#[test]
fn administrators_read_and_super_administrators_change() {
    let edge = Edge::start();
    let (user, admin) =
        (edge.server.user("reader", "1", &[]), edge.server.user("keeper", "2", &[]));
    let call = |who: &str, method: &str, params: &Json| {
        edge.server.call_as(Some(who), method, params).map_err(|error| error.1)
    };
    for object in
        ["virtualservice", "vip", "pool", "healthmonitor", "certificate", "enginegroup", "engine"]
    {
        let get = format!("{object}.get");
        assert_eq!(call(&admin, &get, &json!({})).unwrap().as_array().unwrap().len(), 1, "{get}");
        let refused = format!("No permissions to call \"{get}\".");
        assert_eq!(call(&user, &get, &json!({})).unwrap_err(), refused);
        for action in ["create", "update", "delete"] {
            let method = format!("{object}.{action}");
            let refused = format!("No permissions to call \"{method}\".");
            assert_eq!(call(&admin, &method, &json!([1])).unwrap_err(), refused);
        }
    }
    for method in [
        "enginegroup.configuration",
        "enginegroup.compare",
        "engine.generate",
        "virtualservice.purge",
    ] {
        let refused = format!("No permissions to call \"{method}\".");
        assert_eq!(call(&admin, method, &json!([edge.engine])).unwrap_err(), refused);
    }
}

#[test]
fn what_is_used_stays() {
    let edge = Edge::start();
    let Edge { server, pool, vip, monitor, certificate, group, .. } = &edge;
    let other = server.create("pool.create", &json!({ "name": "api", "servers": servers("s") }));
    let rules = json!({ "virtualserviceid": edge.service, "rules": [
        { "if": { "path_prefix": "/api" }, "then": { "poolid": other.parse::<u64>().unwrap() } },
        { "then": { "respond": { "status": 200, "body": format!("\"poolid\":\"{pool}0\"") } } },
    ]});
    server.call("virtualservice.update", &rules).unwrap();
    let used = "cannot be deleted, because it is used by virtual service \"web\".";
    server.refuses(&[
        ("pool.delete", json!([other]), -32602, &format!("Pool \"api\" {used}")),
        ("pool.delete", json!([pool]), -32602, &format!("Pool \"app\" {used}")),
        ("vip.delete", json!([vip]), -32602, &format!("VIP \"v\" {used}")),
        (
            "certificate.delete",
            json!([certificate]),
            -32602,
            &format!("Certificate \"www\" {used}"),
        ),
        ("enginegroup.delete", json!([group]), -32602, &format!("Engine group \"edge\" {used}")),
        ("healthmonitor.delete", json!([monitor]), -32602, "is used by pool \"app\"."),
    ]);
    // Where copies go is used, too.
    for (member, value) in [
        ("rules", json!([{ "then": { "mirror": { "poolid": other, "percent": 5 } } }])),
        ("mirror", json!({ "poolid": other, "max_body": 1 })),
    ] {
        let mut change = json!({ "virtualserviceid": edge.service, "rules": [] });
        change[member] = value;
        server.call("virtualservice.update", &change).unwrap();
        let error = format!("Pool \"api\" {used}");
        server.refuses(&[("pool.delete", json!([other]), -32602, &error)]);
    }
    server.call("virtualservice.update", &rules).unwrap();
    let renamed = json!({ "poolid": other, "name": "api-2" });
    server.call("pool.update", &renamed).unwrap();
    let service = &edge.configuration()["configuration"]["virtual_services"][0];
    assert_eq!(service["rules"][0]["then"]["pool"], "api-2", "rules follow a renamed pool");
    assert_eq!(service["mirror"]["pool"], "api-2", "so does the mirror");
    server.call("virtualservice.delete", &json!([edge.service])).unwrap();
    server.refuses(&[("enginegroup.delete", json!([group]), -32602, "used by engine \"lb-1\".")]);
    for (method, id) in [
        ("engine.delete", &edge.engine),
        ("enginegroup.delete", group),
        ("pool.delete", &other),
        ("pool.delete", pool),
        ("healthmonitor.delete", monitor),
        ("vip.delete", vip),
        ("certificate.delete", certificate),
    ] {
        server.call(method, &json!([id])).unwrap();
    }
}

#[test]
fn a_header_named_as_a_member_uses_no_pool() {
    let edge = Edge::start();
    let Edge { server, pool, .. } = &edge;
    let other = server.create("pool.create", &json!({ "name": "api", "servers": servers("s") }));
    let group = json!({ "name": "pg", "members": [{ "poolid": pool }] });
    let group = server.create("poolgroup.create", &group);
    let headers = json!({ "poolid": other, "poolgroupid": group });
    let rules = json!({ "virtualserviceid": edge.service, "rules": [
        { "then": { "poolgroupid": group } }, { "then": { "set_header": headers } },
    ] });
    server.call("virtualservice.update", &rules).unwrap();
    server.call("pool.delete", &json!([other])).unwrap();
    let used =
        "Pool group \"pg\" cannot be deleted, because it is used by virtual service \"web\".";
    server.refuses(&[("poolgroup.delete", json!([group]), -32602, used)]);
    let rules = json!({ "virtualserviceid": edge.service,
                        "rules": [{ "then": { "set_header": headers } }] });
    server.call("virtualservice.update", &rules).unwrap();
    server.call("poolgroup.delete", &json!([group])).unwrap();
}

#[test]
fn the_configuration_follows_each_object() {
    let edge = Edge::start();
    let first = edge.configuration();
    let hash = |shown: &Json| shown["hash"].as_str().unwrap().to_owned();
    assert_eq!(first["configuration"]["certificates"][0]["key"], "******");
    let pool = &first["configuration"]["pools"][0];
    assert_eq!((&pool["name"], &pool["health"]["path"]), (&json!("app"), &json!("/health")));
    let mut hashes = vec![hash(&first)];
    for (method, change) in [
        ("vip.update", json!({ "vipid": edge.vip, "ipv6": "2001:DB8:0::1" })),
        ("healthmonitor.update", json!({ "healthmonitorid": edge.monitor, "down": 5 })),
        ("pool.update", json!({ "poolid": edge.pool, "algorithm": "least_connections" })),
        ("virtualservice.update", json!({ "virtualserviceid": edge.service, "port": 444 })),
        ("virtualservice.update", json!({ "virtualserviceid": edge.service, "status": 1 })),
    ] {
        edge.server.call(method, &change).unwrap();
        let new = hash(&edge.configuration());
        assert!(!hashes.contains(&new), "{method}");
        hashes.push(new);
    }
    let unused = json!({ "name": "unused", "servers": servers("s") });
    edge.server.create("pool.create", &unused);
    assert_eq!(hash(&edge.configuration()), hashes[5], "an unused pool changes nothing");
    let stored = edge.server.text("SELECT ipv6 FROM vips");
    assert_eq!(stored, "2001:db8::1", "addresses are stored in one form");
}

#[test]
fn engines_show_what_they_run_and_what_they_should() {
    let edge = Edge::start();
    let report = config::engines::Report {
        at_s: 1_800_000_000,
        address: "192.0.2.9".to_owned(),
        running_hash: "abc".to_owned(),
        error: String::new(),
        ..config::engines::Report::default()
    };
    let id: u64 = edge.engine.parse().unwrap();
    config::engines::report(&edge.server.api.deps.config, id, &report).unwrap();
    let fields = ["name", "lastaccess", "address", "running_hash", "desired_hash"];
    let shown = json!({ "name": "lb-1", "lastaccess": "1800000000", "address": "192.0.2.9",
                        "running_hash": "abc", "desired_hash": edge.configuration()["hash"] });
    edge.server.answers(&[("engine.get", json!({ "output": fields }), json!([shown]))]);
    let made = edge.server.call("engine.generate", &json!([edge.engine])).unwrap();
    let config = &edge.server.api.deps.config;
    let (secret, authority) = made[0]["token"].as_str().unwrap().split_once('.').unwrap();
    assert_eq!(Some(authority), edge.server.api.deps.engine_authority.as_deref());
    let enrol = |now| config::engines::enrol(config, secret, now, "f1").unwrap();
    assert_eq!(enrol(1_800_003_600), None, "a token works for an hour");
    assert_eq!(enrol(1_800_003_599), Some(id));
    assert_eq!(enrol(1_800_003_599), None, "a token works once");
}

#[test]
fn a_comparison_names_the_services_and_changes_nothing() {
    let edge = Edge::start();
    let Edge { server, .. } = &edge;
    let other = json!({
        "name": "other", "enginegroupid": edge.group, "vipid": edge.vip, "port": 80,
        "poolid": server.create("pool.create", &json!({ "name": "q", "servers": servers("s") })),
    });
    let id = server.create("virtualservice.create", &other);
    let compare = |method: &str, params: Json| {
        server.call("enginegroup.compare", &json!({ "method": method, "params": params }))
    };
    let web = |change: &str| {
        json!([{ "virtualserviceid": edge.service, "name": "web", "enginegroupid": edge.group,
                 "change": change }])
    };
    let monitor = json!({ "healthmonitorid": edge.monitor, "up": 4 });
    assert_eq!(compare("healthmonitor.update", monitor).unwrap(), web("changed"));
    let pool = json!({ "poolid": edge.pool, "servers": servers("s9") });
    assert_eq!(compare("pool.update", pool).unwrap(), web("changed"));
    assert_eq!(compare("virtualservice.delete", json!([edge.service])).unwrap(), web("removed"));
    let vip = json!({ "vipid": edge.vip, "ipv4": "192.0.2.77" });
    assert_eq!(compare("vip.update", vip).unwrap().as_array().unwrap().len(), 2);
    let same = json!({ "virtualserviceid": id, "description": "only for readers" });
    assert_eq!(compare("virtualservice.update", same).unwrap(), json!([]));
    let new = json!({ "name": "new", "enginegroupid": edge.group, "vipid": edge.vip, "port": 81,
                      "poolid": edge.pool });
    assert_eq!(compare("virtualservice.create", new).unwrap()[0]["change"], "added");
    let moved = server.create("enginegroup.create", &json!({ "name": "moved" }));
    let before = edge.configuration();
    let change = json!({ "virtualserviceid": edge.service, "enginegroupid": moved });
    let mut expected = web("changed");
    expected[0]["enginegroupid"] = moved.into();
    assert_eq!(compare("virtualservice.update", change).unwrap(), expected, "another group");
    let bad = json!({ "poolid": edge.pool, "servers": [] });
    assert!(compare("pool.update", bad).unwrap_err().1.contains("cannot be empty"));
    for method in ["host.create", "pool.get", "engine.generate", "pool", "enginegroup.compare"] {
        let (_, text) = compare(method, json!({})).unwrap_err();
        assert!(text.contains("\"/method\": value must be one of certificate"), "{text}");
    }
    assert_eq!(edge.configuration(), before);
    let log = json!({ "filter": { "action": [1, 2] }, "countOutput": true });
    server.answers(&[("auditlog.get", log, json!("0"))]);
}

#[test]
fn a_deleted_host_leaves_its_server() {
    let edge = Edge::start();
    let group = edge.server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({ "host": "app1", "groups": [{ "groupid": group }] });
    let host = edge.server.create("host.create", &host);
    let mut linked = servers("s1");
    linked[0]["hostid"] = host.clone().into();
    let change = json!({ "poolid": edge.pool, "servers": linked });
    edge.server.call("pool.update", &change).unwrap();
    let of_host = || {
        let params = json!({ "hostids": host, "output": ["name"], "selectServers": ["hostid"] });
        edge.server.call("pool.get", &params).unwrap()
    };
    assert_eq!(of_host(), json!([{ "name": "app", "servers": [{ "hostid": host }] }]));
    edge.server.call("host.delete", &json!([host])).unwrap();
    assert_eq!(of_host(), json!([]));
    assert_eq!(edge.server.count("SELECT COUNT(*) AS n FROM pool_servers"), 1);
}

#[test]
fn services_are_found_by_what_they_use_and_by_tag() {
    let edge = Edge::start();
    let tags =
        json!({ "virtualserviceid": edge.service, "tags": [{ "tag": "team", "value": "a" }] });
    edge.server.call("virtualservice.update", &tags).unwrap();
    for (by, count) in [
        (json!({ "poolids": edge.pool }), "1"),
        (json!({ "vipids": edge.vip }), "1"),
        (json!({ "certificateids": edge.certificate }), "1"),
        (json!({ "enginegroupids": [99] }), "0"),
        (json!({ "tags": [{ "tag": "team", "value": "a", "operator": 1 }] }), "1"),
        (json!({ "tags": [{ "tag": "team", "value": "b", "operator": 1 }] }), "0"),
    ] {
        let mut params = by.clone();
        params["countOutput"] = true.into();
        edge.server.answers(&[("virtualservice.get", params, json!(count))]);
    }
    let fields = json!({ "output": ["type", "port", "timeouts", "rules"],
                         "selectTags": ["tag", "value"] });
    let shown = json!([{ "type": "http", "port": "443", "timeouts": {}, "rules": [],
                         "tags": [{ "tag": "team", "value": "a" }] }]);
    edge.server.answers(&[("virtualservice.get", fields, shown)]);
}
