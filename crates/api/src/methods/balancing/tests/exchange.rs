//! Export and import of the load balancer's objects as a file.

mod exchanges;
mod guards;

use serde_json::{Value as Json, json};

use super::{Edge, servers};
use crate::testing::Server;

/// Rules under which everything is created and updated.
fn rules(delete: bool) -> Json {
    let rule = json!({ "createMissing": true, "updateExisting": true, "deleteMissing": delete });
    let kinds = [
        "engine_groups",
        "vips",
        "certificates",
        "health_monitors",
        "pools",
        "pool_groups",
        "virtual_services",
    ];
    kinds.into_iter().map(|kind| (kind.to_owned(), rule.clone())).collect()
}

fn export(server: &Server, params: &Json) -> Json {
    server.call("loadbalancer.export", params).unwrap()
}

fn source(server: &Server) -> String {
    export(server, &json!({}))["source"].as_str().unwrap().to_owned()
}

fn import(server: &Server, source: &str, more: &Json) -> Result<Json, String> {
    call(server, "loadbalancer.import", source, more)
}

fn compare(server: &Server, source: &str, more: &Json) -> Result<Json, String> {
    call(server, "loadbalancer.importcompare", source, more)
}

fn call(server: &Server, method: &str, source: &str, more: &Json) -> Result<Json, String> {
    let mut params = json!({ "source": source, "rules": rules(false) });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    server.call(method, &params).map_err(|(_, text)| text)
}

/// Names by kind and what happened to them: `pools added app`.
fn fates(result: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for (kind, fates) in result["objects"].as_object().unwrap() {
        for (fate, objects) in fates.as_object().unwrap() {
            for object in objects.as_array().unwrap() {
                let side = if fate == "removed" { &object["before"] } else { &object["after"] };
                let name = object.as_str().or(side["name"].as_str()).unwrap();
                found.push(format!("{kind} {fate} {name}"));
            }
        }
    }
    found
}

fn has_only(result: &Json, fate: &str) {
    let found = fates(result);
    let is_of = |one: &String| one.split(' ').nth(1) == Some(fate);
    assert!(!found.is_empty() && found.iter().all(is_of), "{found:?}");
}

const HASH: &str = "$2y$04$abcdefghijklmnopqrstuuGsWnKMZ8DOHXBvGyAiEMJ3GWhIxzJW2";
const SECRET: &str = "0123456789abcdef0123456789abcdef-secret";

fn monitored(server: &Server) -> String {
    let group = server.create("hostgroup.create", &json!({ "name": "HG" }));
    let host = json!({ "host": "app-host", "groups": [{ "groupid": group }] });
    server.create("host.create", &host)
}

/// The objects of `Edge`, and one of everything that only the server or only some engines have.
fn estate() -> Edge {
    let edge = Edge::start();
    let make = |method: &str, params: Json| edge.server.create(method, &params);
    let routers =
        json!({ "networks": ["192.0.2.0/24"], "local_as": 65_001, "bfd": { "multiplier": 5 } });
    let settings = json!({
        "enginegroupid": edge.group, "ha_mode": 1, "placement": 1, "engines_per_vip": 2,
        "spare_engines": 1, "vips_per_engine": 8, "rebalance": 1, "failover_after": 9,
        "announce": routers,
    });
    edge.server.call("enginegroup.update", &settings).unwrap();
    let host = monitored(&edge.server);
    let filter = json!({ "name": "load", "tags": [{ "tag": "scope" }], "min_severity": 4 });
    let trigger = make(
        "healthmonitor.create",
        json!({ "name": "overload", "type": "trigger", "trigger_filter": filter }),
    );
    let script = json!({ "program": "check", "parameters": { "max": "1" } });
    make(
        "healthmonitor.create",
        json!({ "name": "unused", "type": "script", "script": script, "description": "spare" }),
    );
    let mut linked = servers("s1");
    linked[0]["hostid"] = host.into();
    let green = make(
        "pool.create",
        json!({
            "name": "green", "description": "new", "servers": linked, "algorithm": "least_load",
            "healthmonitorid": trigger, "host_maintenance": "drain", "slow_start": "30s",
            "further_monitors": [{ "healthmonitorid": edge.monitor }],
            "persistence": { "type": "cookie", "name": "lb" }, "min_monitors": 1,
        }),
    );
    let members = json!([{ "poolid": edge.pool, "ratio": 9 }, { "poolid": green, "priority": 2 }]);
    let group = make("poolgroup.create", json!({ "name": "both", "members": members }));
    let order = json!({ "domains": ["a.example.com"], "terms_agreed": true });
    let ordered = make("certificate.create", json!({ "name": "ordered", "acme": order }));
    let vip = make(
        "vip.create",
        json!({ "name": "v6", "ipv6": "2001:db8::5", "dns_names": ["a.example.com"] }),
    );
    let rules = json!([
        { "if": { "path_prefix": "/g/" }, "then": { "poolgroupid": group } },
        { "if": { "host": "a" }, "then": { "poolid": green, "mirror": { "poolid": edge.pool, "percent": 0.5 } } },
        { "then": { "set_header": { "X-Edge": "1" }, "authentication": "staff" } },
        { "then": { "script": { "request": "request.forward('both');", "pools": [{ "poolgroupid": group }] } } },
    ]);
    let authentication = json!({
        "basic": [{ "name": "staff", "users": { "alice": HASH } }],
        "jwt": [{ "name": "api", "keys": [{ "id": "k", "algorithm": "HS256", "key": SECRET }] }],
    });
    make(
        "virtualservice.create",
        json!({
            "name": "shop", "enginegroupid": edge.group, "vipid": vip, "port": 8443, "status": 1,
            "poolgroupid": group, "rules": rules, "authentication": authentication,
            "mirror": { "poolid": green, "percent": 1 }, "description": "the \"shop\"\nof today",
            "tags": [{ "tag": "team", "value": "web" }], "timeouts": { "server": "90s" },
            "certificates": [{ "certificateid": ordered }, { "certificateid": edge.certificate }],
            "tls": { "alpn": ["h2", "http/1.1"] }, "allow": ["10.0.0.0/8"], "accept_proxy": 1,
        }),
    );
    edge
}

/// The file of an export with secrets in the place of what is hidden.
fn with_secrets(source: &str, key: &str) -> String {
    let key = serde_json::to_string(key).unwrap();
    let found = source.replace("key: \"******\"", &format!("key: {key}"));
    let at = found.find("algorithm: HS256").unwrap();
    let (head, tail) = found.split_at(at);
    let tail = tail.replacen(&format!("key: {key}"), &format!("key: {SECRET}"), 1);
    format!("{head}{tail}").replace("alice: \"******\"", &format!("alice: '{HASH}'"))
}

#[test]
fn an_export_makes_the_same_objects_elsewhere() {
    let edge = estate();
    let exported = export(&edge.server, &json!({}));
    let text = exported["source"].as_str().unwrap();
    let key = edge.server.text("SELECT private_key FROM certificates WHERE name = 'www'");
    let body = key.lines().nth(1).unwrap();
    for secret in [HASH, SECRET, body] {
        assert!(!exported.to_string().contains(secret), "{exported}");
    }
    let left_out: Vec<&str> = exported["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["what"].as_str().unwrap())
        .collect();
    let expected = [
        "private key",
        "hash of user 'alice' of policy 'staff'",
        "secret of key 'k' of policy 'api'",
    ];
    assert_eq!(left_out, expected);
    assert!(expected.iter().all(|what| text.contains(what)), "{text}");
    let same = compare(&edge.server, text, &json!({})).unwrap();
    has_only(&same, "unchanged");
    assert_eq!(same["services"], json!([]));

    let other = Server::start();
    monitored(&other);
    let refused = import(&other, text, &json!({})).unwrap_err();
    assert!(refused.starts_with("Certificate \"www\": the private key is not"), "{refused}");
    let with_key = text.replacen(
        "key: \"******\"",
        &format!("key: {}", serde_json::to_string(&key).unwrap()),
        1,
    );
    let refused = import(&other, &with_key, &json!({})).unwrap_err();
    assert!(refused.starts_with("Virtual service \"shop\": the hash of user 'alice'"), "{refused}");
    assert_eq!(
        other.text("SELECT COUNT(*) AS n FROM vips"),
        "0",
        "nothing of a refused import stays"
    );

    let whole = with_secrets(text, &key);
    has_only(&compare(&other, &whole, &json!({})).unwrap(), "added");
    assert_eq!(other.text("SELECT COUNT(*) AS n FROM vips"), "0", "a comparison changes nothing");
    has_only(&import(&other, &whole, &json!({})).unwrap(), "added");
    assert_eq!(source(&other), text);
    for sql in [
        "SELECT private_key FROM certificates WHERE name = 'www'",
        "SELECT authentication FROM virtualservices WHERE name = 'shop'",
        "SELECT requested_at FROM certificates WHERE name = 'www'",
    ] {
        let [ours, theirs] = [&edge.server, &other].map(|server| server.text(sql));
        let [ours, theirs] =
            [ours, theirs].map(|text| serde_json::from_str::<Json>(&text).unwrap_or(text.into()));
        if let (Some(of), Some(to)) = (ours.get("basic"), theirs.get("basic")) {
            assert_eq!(of[0]["users"], to[0]["users"]);
        } else {
            assert_eq!(ours, theirs, "{sql}");
        }
    }
    has_only(&import(&other, text, &json!({})).unwrap(), "unchanged");
}

#[test]
fn a_file_runs_in_a_lone_engine_once_it_has_its_secrets() {
    let edge = estate();
    let key = edge.server.text("SELECT private_key FROM certificates WHERE name = 'www'");
    let config = balancing::Config::parse(&with_secrets(&source(&edge.server), &key)).unwrap();
    let names: Vec<&str> = config.virtual_services.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["web"], "an engine does not serve disabled services");
    for service in &config.virtual_services {
        service.check().unwrap();
    }
}

/// A file of a lone engine.
const LONE: &str = "
threads: 2
transactions: {folder: /var/lib/x}
virtual_services:
  - {name: site, type: http, listen: ['10.9.9.9:80', '[2001:db8::9]:80'], pool: front}
pools:
  - name: front
    servers: [{name: f1, address: '10.1.0.1:80'}]
    health: [{type: http, path: /ok}, {name: web check, type: tcp}]
";

#[test]
fn a_file_of_a_lone_engine_becomes_objects() {
    let edge = Edge::start();
    let refused = import(&edge.server, LONE, &json!({})).unwrap_err();
    assert!(
        refused.starts_with("Virtual service \"site\": it is new, and nothing names"),
        "{refused}"
    );
    let group = json!({ "enginegroupid": edge.group });
    let result = import(&edge.server, LONE, &group).unwrap();
    assert_eq!(
        fates(&result),
        [
            "vips added 10.9.9.9, 2001:db8::9",
            "health_monitors added front http",
            "health_monitors added web check",
            "pools added front",
            "virtual_services added site",
        ]
    );
    assert_eq!(result["ignored"], json!(["threads", "transactions"]));
    assert_eq!(result["services"][0]["name"], "site");
    has_only(&import(&edge.server, LONE, &group).unwrap(), "unchanged");

    // What such a file cannot say stays.
    let id = edge.server.text("SELECT virtualserviceid FROM virtualservices WHERE name = 'site'");
    let tagged = json!({ "virtualserviceid": id, "description": "d", "tags": [{ "tag": "t" }] });
    edge.server.call("virtualservice.update", &tagged).unwrap();
    has_only(&import(&edge.server, LONE, &json!({})).unwrap(), "unchanged");
    let changed = LONE.replace("type: http, listen", "type: tcp, listen");
    let result = import(&edge.server, &changed, &json!({})).unwrap();
    let update = &result["objects"]["virtual_services"]["updated"][0];
    assert_eq!(
        (&update["before"]["type"], &update["after"]["type"]),
        (&json!("http"), &json!("tcp"))
    );
    assert_eq!(update["after"]["description"], "d");
    assert_eq!(result["services"][0]["change"], "changed");
}

#[test]
fn links_to_hosts_and_monitors_of_triggers_stay() {
    let edge = estate();
    let text = source(&edge.server);
    let mut config = balancing::Config::parse(&text).unwrap();
    config.controller = None;
    let found = compare(&edge.server, &config.render().unwrap(), &json!({})).unwrap();
    has_only(&found, "unchanged");
    config.pools[1].servers[0].weight = 5;
    let result = import(&edge.server, &config.render().unwrap(), &json!({})).unwrap();
    let found = fates(&result);
    assert!(found.contains(&"pools updated green".to_owned()), "{found:?}");
    let after = &result["objects"]["pools"]["updated"][0]["after"];
    assert_eq!(after["servers"][0]["host"], "app-host");
    assert_eq!(after["monitors"], json!(["overload", "m"]));
}

#[test]
fn rules_decide_what_is_created_updated_and_deleted() {
    let edge = Edge::start();
    let text = source(&edge.server);
    let group = json!({ "enginegroupid": edge.group });
    has_only(&import(&edge.server, LONE, &group).unwrap(), "added");

    let nothing = json!({ "rules": {} });
    let changed = text.replace("10.0.0.1:8000", "10.0.0.2:8000");
    let found = fates(&import(&edge.server, &changed, &nothing).unwrap());
    assert!(found.contains(&"pools skipped app".to_owned()), "{found:?}");
    let update = json!({ "rules": { "pools": { "updateExisting": true } } });
    let found = fates(&import(&edge.server, &changed, &update).unwrap());
    assert!(found.contains(&"pools updated app".to_owned()), "{found:?}");
    assert_eq!(edge.server.text("SELECT address FROM pool_servers WHERE name = 's1'"), "10.0.0.2");

    let with_rest = json!({ "rules": rules(true) });
    let result = import(&edge.server, &changed, &with_rest).unwrap();
    let removed: Vec<String> =
        fates(&result).into_iter().filter(|one| one.contains(" removed ")).collect();
    assert_eq!(removed.len(), 5, "{removed:?}");
    let services = result["services"].as_array().unwrap();
    assert_eq!(services.len(), 1, "{services:?}");
    assert_eq!((&services[0]["name"], &services[0]["change"]), (&json!("site"), &json!("removed")));
    assert_eq!(source(&edge.server), changed);

    let only_pools = json!({ "rules": { "pools": { "createMissing": true } } });
    let refused = import(&Server::start(), &text, &only_pools).unwrap_err();
    assert!(refused.contains("there is no health monitor \"m\""), "{refused}");
}

#[test]
fn an_export_of_one_service_has_what_it_uses() {
    let edge = estate();
    let one = export(&edge.server, &json!({ "virtualserviceids": [edge.service] }));
    let text = one["source"].as_str().unwrap();
    for name in ["green", "both", "overload", "unused", "shop", "ordered", "v6"] {
        assert!(!text.contains(&format!("name: {name}\n")), "{name}: {text}");
    }
    let config = balancing::Config::parse(text).unwrap();
    let controller = config.controller.unwrap();
    let counts = [
        config.virtual_services.len(),
        config.pools.len(),
        config.certificates.len(),
        controller.health_monitors.len(),
        controller.vips.len(),
        controller.engine_groups.len(),
    ];
    assert_eq!(counts, [1; 6]);
    let shop = edge.server.text("SELECT virtualserviceid FROM virtualservices WHERE name = 'shop'");
    let shop = export(&edge.server, &json!({ "virtualserviceids": [shop] }));
    let text = shop["source"].as_str().unwrap();
    has_only(&compare(&edge.server, text, &json!({})).unwrap(), "unchanged");
    for name in ["green", "app", "both", "overload", "m", "ordered", "www", "v6", "edge"] {
        assert!(text.contains(&format!("name: {name}\n")), "{name}: {text}");
    }
    let other = edge.server.create("enginegroup.create", &json!({ "name": "other" }));
    let groups = export(&edge.server, &json!({ "enginegroupids": [other] }));
    let empty = balancing::Config::parse(groups["source"].as_str().unwrap()).unwrap();
    assert!(empty.virtual_services.is_empty() && empty.pools.is_empty());
    let unknown = edge.server.call("loadbalancer.export", &json!({ "virtualserviceids": ["99"] }));
    assert_eq!(unknown.unwrap_err().0, -32500);
}

#[test]
fn files_that_cannot_be_objects_are_refused_by_name() {
    let edge = Edge::start();
    let group = json!({ "enginegroupid": edge.group });
    for (from, to, error) in [
        ("type: http, listen", "kind: http, listen", "unknown field `kind`"),
        (
            "listen: ['10.9.9.9:80'",
            "listen: ['10.9.9.9:81'",
            "Virtual service \"site\": the server stores one port",
        ),
        ("pool: front}", "pool: front, h2c: only}", "Virtual service \"site\": 'h2c'"),
        (
            "pool: front}",
            "pool: nowhere}",
            "Virtual service \"site\": there is no pool \"nowhere\"",
        ),
        ("name: front\n", "name: front\n    protocol: h2\n", "Pool \"front\": 'protocol'"),
        ("name: f1", "name: f1, weight: 70000", "line 8 column 34: invalid u16"),
        ("path: /ok", "path: ok", "Health monitor \"front http\""),
        (
            "threads: 2",
            "certificates: [{name: c, cert: /etc/c.pem, key: /etc/k.pem}]",
            "Certificate \"c\": 'cert' is the name of a file",
        ),
        (
            "threads: 2",
            "controller: {virtual_services: [{name: other}]}",
            "Virtual service \"other\": 'controller' names it",
        ),
        (
            "threads: 2",
            "controller: {vips: [{name: w, ipv4: 10.9.9.8}], virtual_services: [{name: site, vip: w}]}",
            "its VIP \"w\" has other addresses",
        ),
        (
            "threads: 2",
            "controller: {pools: [{name: front, hosts: {f1: nobody}}]}",
            "the monitored host \"nobody\"",
        ),
        ("threads: 2", "controller: {pools: [{name: front, hosts: {f2: h}}]}", "names server 'f2'"),
        ("threads: 2", "controller: {pools: [{name: front, monitors: [x]}]}", "names monitor 'x'"),
        (
            "threads: 2",
            "controller: {health_monitors: [{name: x}]}",
            "Health monitor \"x\": no pool",
        ),
        (
            "threads: 2",
            "controller: {health_monitors: [{name: x, trigger_filter: {min_severity: 9}}]}",
            "Health monitor \"x\"",
        ),
        (
            "threads: 2",
            "expected_certificates: [{name: e, names: [a.example.com]}]",
            "Certificate \"e\": the file has neither",
        ),
        ("threads: 2", "name: &a x", ""),
        ("threads: 2", "name: &a x\nthreads: *a", "aliases are not taken"),
    ] {
        let text = LONE.replacen(from, to, 1);
        assert_ne!(text, LONE, "{from}");
        let found = import(&edge.server, &text, &group).err().unwrap_or_default();
        assert!(found.contains(error), "{to}: {found}");
        assert_eq!(found.is_empty(), error.is_empty(), "{to}: {found}");
    }
    let twice = "  - {name: second, servers: [{name: f1, address: '10.1.0.1:80'}], health: {name: web check, type: icmp}}\n";
    let found = import(&edge.server, &format!("{LONE}{twice}"), &group).unwrap_err();
    assert!(found.starts_with("Health monitor \"web check\": pool 'second'"), "{found}");
    let deep = format!("a: {}", "[".repeat(10_000));
    assert!(import(&edge.server, &deep, &group).is_err());
    for (rules, error) in [
        (json!({ "servers": {} }), "unexpected parameter \"servers\""),
        (json!({ "pools": { "create": true } }), "unexpected parameter \"create\""),
    ] {
        let found = import(&edge.server, LONE, &json!({ "rules": rules })).unwrap_err();
        assert!(found.contains(error), "{found}");
    }
}
