//! Objects that the UI, JSON-RPC and clients of Avi change in turn.

use super::*;

fn first(client: &Client, method: &str) -> Json {
    client.objects(method)[0].clone()
}

fn vip(last: u8) -> Json {
    json!([{ "vip_id": "1", "ip_address": { "addr": format!("192.0.2.{last}"), "type": "V4" } }])
}

fn service(name: &str, ports: &[u16]) -> Json {
    let ports: Vec<Json> = ports.iter().map(|port| json!({ "port": port })).collect();
    json!({ "name": name, "pool_ref": "/api/pool?name=p1", "services": ports })
}

fn set(client: &Client, object: &str, key: &str, change: &Json) {
    let mut params = change.clone();
    params[key] = first(client, &format!("{object}.get"))[key].clone();
    client.server.call(&format!("{object}.update"), &params).unwrap();
}

fn patch(client: &Client, object: &Json, replace: &Json) -> Json {
    client.expect(200, Verb::Patch, &path(object), &json!({ "replace": replace }))
}

#[test]
fn settings_of_the_ui_stay_in_a_pool() {
    let client = Client::start();
    for name in ["m1", "m2"] {
        client.server.create("healthmonitor.create", &json!({ "name": name, "type": "tcp" }));
    }
    let monitors = client.objects("healthmonitor.get");
    let id = |n: usize| monitors[n]["healthmonitorid"].clone();
    let created = client.create("pool", &pool("p1"));
    let settings = json!({
        "persistence": { "type": "cookie", "name": "C" }, "eject": { "failures": 7, "for": "9s" },
        "retries": { "count": 3 }, "host_maintenance": "drain", "min_monitors": 1,
        "healthmonitorid": id(0), "further_monitors": [{ "healthmonitorid": id(1) }],
    });
    set(&client, "pool", "poolid", &settings);
    let read = || {
        let params = json!({ "output": "extend", "selectServers": "extend", "selectFurtherMonitors": "extend" });
        client.server.call("pool.get", &params).unwrap()[0].clone()
    };
    let before = read();
    let shown = client.get(&path(&created));
    assert_eq!(shown["health_monitor_refs"].as_array().unwrap().len(), 2);
    patch(&client, &created, &json!({ "description": "d" }));
    client.expect(200, Verb::Put, &path(&created), &client.get(&path(&created)));
    let mut expected = before.clone();
    expected["description"] = "d".into();
    assert_eq!(read(), expected);
    // A setting that the client names is merged with what it cannot name.
    patch(&client, &created, &json!({ "inline_health_monitor": false }));
    assert_eq!(read()["eject"]["for"], before["eject"]["for"]);
    assert_eq!(read()["persistence"], before["persistence"]);
}

#[test]
fn settings_of_the_ui_stay_in_a_service() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let deny = json!({ "action": "HTTP_SECURITY_ACTION_SEND_RESPONSE", "status_code": "HTTP_LOCAL_RESPONSE_STATUS_CODE_403" });
    let rules = |index: u64| {
        json!({ "name": "s1", "http_security_policy": { "rules": [{ "index": index, "name": "r", "enable": true, "action": deny,
            "match": { "method": { "match_criteria": "IS_IN", "methods": ["HTTP_METHOD_PUT"] } } }] } })
    };
    let policies = client.create("httppolicyset", &rules(1));
    let mut written = service("web", &[80]);
    written["http_policies"] = json!([{ "index": 1, "http_policy_set_ref": policies["url"] }]);
    let created = client.create("virtualservice", &written);
    let mut all = first(&client, "virtualservice.get")["rules"].as_array().unwrap().clone();
    all.insert(0, json!({ "if": { "path": "/ui" }, "then": { "deny": 404 } }));
    let settings = json!({
        "rules": all, "timeouts": { "server": "77s" }, "limits": { "connections": 12 },
        "forwarded": { "x_forwarded_for": "append" }, "compression": { "algorithms": ["gzip"] },
        "rate_limit": { "by": "client_ip", "requests": 5, "per": "1s" },
    });
    set(&client, "virtualservice", "virtualserviceid", &settings);
    let before = first(&client, "virtualservice.get");
    patch(&client, &created, &json!({ "description": "d" }));
    client.expect(200, Verb::Put, &path(&created), &written);
    let mut expected = before.clone();
    expected["description"] = "".into();
    assert_eq!(first(&client, "virtualservice.get"), expected);
    // A changed policy set changes its own rules alone.
    let mut changed = rules(1);
    changed["http_security_policy"]["rules"][0]["match"]["method"]["methods"] =
        json!(["HTTP_METHOD_POST"]);
    client.expect(200, Verb::Put, &path(&policies), &changed);
    let after = first(&client, "virtualservice.get");
    assert_eq!(after["rules"][0], before["rules"][0]);
    assert_eq!(
        (after["rules"].as_array().unwrap().len(), &after["rules"][1]["if"]["method"]),
        (2, &"POST".into())
    );
    assert_eq!(after["timeouts"], before["timeouts"]);
}

#[test]
fn http_3_of_a_service_stays() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let acme = json!({ "domains": ["www.example.com"], "terms_agreed": true });
    client.server.create("certificate.create", &json!({ "name": "c1", "acme": acme }));
    let mut written = service("web", &[443]);
    written["ssl_key_and_certificate_refs"] = json!(["/api/sslkeyandcertificate?name=c1"]);
    written["services"][0]["enable_ssl"] = true.into();
    let created = client.create("virtualservice", &written);
    let tls = json!({ "alpn": ["h3", "h2", "http/1.1"], "alt_svc": "h3=\":444\"" });
    set(&client, "virtualservice", "virtualserviceid", &json!({ "tls": tls }));
    let alpn = || {
        let service = first(&client, "virtualservice.get");
        assert_eq!(service["tls"]["alt_svc"], tls["alt_svc"]);
        service["tls"]["alpn"].clone()
    };
    let shown = client.get(&path(&created));
    assert_eq!(shown["services"][0]["enable_http2"], true);
    let put = |change: &dyn Fn(&mut Json)| {
        let mut body = client.get(&path(&created));
        change(&mut body);
        client.expect(200, Verb::Put, &path(&created), &body);
        alpn()
    };
    let all = json!(["h3", "h2", "http/1.1"]);
    assert_eq!(put(&|_| ()), all);
    assert_eq!(put(&|body| body["description"] = "d".into()), all);
    assert_eq!(put(&|body| body["services"][0]["port"] = 8443.into()), all);
    let without = json!(["h3", "http/1.1"]);
    assert_eq!(put(&|body| body["services"][0]["enable_http2"] = false.into()), without);
    assert_eq!(put(&|body| body["services"][0]["enable_http2"] = true.into()), all);
    // Another certificate, and the client's own document from before.
    let acme = json!({ "domains": ["b.example.com"], "terms_agreed": true });
    client.server.create("certificate.create", &json!({ "name": "c2", "acme": acme }));
    written["ssl_key_and_certificate_refs"] = json!(["/api/sslkeyandcertificate?name=c2"]);
    client.expect(200, Verb::Put, &path(&created), &written);
    assert_eq!(alpn(), without);
}

#[test]
fn a_certificate_that_is_ordered_can_be_renamed() {
    let client = Client::start();
    let acme = json!({ "domains": ["www.example.com"], "terms_agreed": true });
    client.server.create("certificate.create", &json!({ "name": "c1", "acme": acme }));
    let before = first(&client, "certificate.get")["acme"].clone();
    let shown = client.get("sslkeyandcertificate?name=c1")["results"][0].clone();
    patch(&client, &shown, &json!({ "name": "c2" }));
    let after = first(&client, "certificate.get");
    assert_eq!((&after["name"], &after["acme"]), (&"c2".into(), &before));
    let none = json!({ "name": "c3" });
    client.refused(400, Verb::Post, "sslkeyandcertificate", &none, "does not make certificates");
}

#[test]
fn a_pool_becomes_complete_under_a_policy_and_a_service() {
    let client = Client::start();
    let empty = client.create("pool", &json!({ "name": "p1" }));
    let switch = json!({ "action": "HTTP_SWITCHING_SELECT_POOL", "pool_ref": empty["url"] });
    let rule = json!({ "index": 1, "name": "r", "enable": true, "switching_action": switch });
    let policies = json!({ "name": "s1", "http_request_policy": { "rules": [rule] } });
    let policies = client.create("httppolicyset", &policies);
    let mut waiting = service("web", &[80]);
    waiting["http_policies"] = json!([{ "index": 1, "http_policy_set_ref": policies["url"] }]);
    let waiting = client.create("virtualservice", &waiting);
    patch(&client, &empty, &json!({ "servers": pool("p1")["servers"] }));
    let made = first(&client, "virtualservice.get");
    assert_eq!(made["rules"][0]["then"]["poolid"], first(&client, "pool.get")["poolid"]);
    assert_eq!(client.get(&path(&waiting))["uuid"], waiting["uuid"]);
}

#[test]
fn addresses_of_one_service_do_not_move_another() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let mut one = service("one", &[80]);
    one["vip"] = vip(1);
    let one = client.create("virtualservice", &one);
    let mut other = service("other", &[81]);
    other["vip"] = vip(1);
    let other = client.create("virtualservice", &other);
    patch(&client, &one, &json!({ "vip": vip(2) }));
    let address = |name: &str| {
        let params = json!({ "output": "extend", "filter": { "name": name } });
        let found = client.server.call("virtualservice.get", &params).unwrap()[0]["vipid"].clone();
        client.server.call("vip.get", &json!({ "output": "extend", "vipids": found })).unwrap()[0]["ipv4"].clone()
    };
    assert_eq!((address("one"), address("other")), ("192.0.2.2".into(), "192.0.2.1".into()));
    // Without another user, its own VIP changes.
    patch(&client, &one, &json!({ "vip": vip(3) }));
    assert_eq!(
        (address("one"), client.objects("vip.get").as_array().unwrap().len()),
        ("192.0.2.3".into(), 2)
    );
    // A VIP that an administrator made stays, whatever its name is.
    client.server.create("vip.create", &json!({ "name": "vsvip-other", "ipv4": "192.0.2.9" }));
    client.expect(204, Verb::Delete, &path(&other), &Json::Null);
    client.expect(204, Verb::Delete, &path(&one), &Json::Null);
    let left = client.objects("vip.get");
    assert!(left.as_array().unwrap().iter().any(|vip| vip["name"] == "vsvip-other"), "{left}");
}

#[test]
fn the_group_and_the_vip_that_the_ui_chose_stay() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let mut written = service("web", &[80]);
    written["vip"] = vip(1);
    let created = client.create("virtualservice", &written);
    let group = client.server.create("enginegroup.create", &json!({ "name": "g2" }));
    let other = client.server.create("vip.create", &json!({ "name": "v2", "ipv4": "192.0.2.7" }));
    set(
        &client,
        "virtualservice",
        "virtualserviceid",
        &json!({ "enginegroupid": group, "vipid": other }),
    );
    let shown = client.get(&(path(&created) + "?include_name"));
    assert!(shown["se_group_ref"].as_str().unwrap().ends_with("#g2"));
    assert!(shown["vsvip_ref"].as_str().unwrap().ends_with("#v2"));
    client.expect(200, Verb::Put, &path(&created), &written);
    patch(&client, &created, &json!({ "description": "d" }));
    let after = first(&client, "virtualservice.get");
    assert_eq!((&after["enginegroupid"], &after["vipid"]), (&group.into(), &other.into()));
}

#[test]
fn ports_are_exchanged_and_deleted_ones_are_gone() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let created = client.create("virtualservice", &service("web", &[80, 81]));
    let ports = |client: &Client| {
        let services = client.objects("virtualservice.get");
        let port = |one: &Json| {
            (one["port"].as_str().unwrap().to_owned(), one["name"].as_str().unwrap().to_owned())
        };
        let mut ports: Vec<_> = services.as_array().unwrap().iter().map(port).collect();
        ports.sort();
        ports
    };
    let named = |port: &str, name: &str| (port.to_owned(), name.to_owned());
    client.expect(200, Verb::Put, &path(&created), &service("web", &[81, 82]));
    assert_eq!(ports(&client), [named("81", "web"), named("82", "web (82)")]);
    client.expect(200, Verb::Put, &path(&created), &service("web", &[82, 81]));
    assert_eq!(ports(&client), [named("81", "web (81)"), named("82", "web")]);
    // The first port is deleted in the UI.
    let services = client.objects("virtualservice.get");
    let gone = services.as_array().unwrap().iter().find(|one| one["port"] == "82").unwrap();
    client.server.call("virtualservice.delete", &json!([gone["virtualserviceid"]])).unwrap();
    let shown = client.get(&path(&created));
    assert_eq!(
        (shown["services"].as_array().unwrap().len(), &shown["services"][0]["port"]),
        (1, &81.into())
    );
    patch(&client, &created, &json!({ "description": "d" }));
    client.expect(204, Verb::Delete, &path(&created), &Json::Null);
    assert_eq!(ports(&client), []);
}

#[test]
fn rows_go_with_their_objects() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let id = first(&client, "pool.get")["poolid"].clone();
    client.server.call("pool.delete", &json!([id])).unwrap();
    assert_eq!(client.server.count("SELECT COUNT(*) FROM avi_objects"), 0);
    // A pool that loses its servers keeps its UUID.
    let created = client.create("pool", &pool("p2"));
    client.expect(200, Verb::Put, &path(&created), &json!({ "name": "p2" }));
    assert_eq!(client.get(&path(&created))["name"], "p2");
    let secret =
        json!({ "name": "c", "certificate": { "certificate": "-----BEGIN PRIVATE KEY-----\nx" } });
    client.refused(400, Verb::Post, "sslkeyandcertificate", &secret, "only certificates");
    let details = client.server.call("auditlog.get", &json!({ "output": "extend" })).unwrap();
    assert!(!details.to_string().contains("lb_algorithm"), "documents are secret");
}

#[test]
fn objects_do_not_refer_to_themselves() {
    let client = Client::start();
    let versions = json!([{ "type": "SSL_VERSION_TLS1_2" }]);
    let profile =
        client.create("sslprofile", &json!({ "name": "s", "accepted_versions": versions }));
    let own = json!({ "name": "s", "accepted_versions": versions, "tenant_ref": profile["url"] });
    client.refused(400, Verb::Put, &path(&profile), &own, "type tenant is expected");
    let created = client.create("pool", &pool("p1"));
    for member in ["tenant_ref", "cloud_ref", "vrf_ref"] {
        let body = json!({ "replace": { member: created["url"] } });
        client.refused(400, Verb::Patch, &path(&created), &body, "is expected");
    }
    let tenant = client.get("tenant?name=admin")["results"][0]["url"].clone();
    patch(&client, &created, &json!({ "tenant_ref": tenant }));
    // A row that has such a reference is read without it.
    let document = json!({ "name": "p1", "tenant_ref": format!("/api/{}", path(&created)) });
    client.server.write_sql(&[&format!(
        "UPDATE avi_objects SET document = '{document}' WHERE kind = 'pool'"
    )]);
    client.get(&path(&created));
}

#[test]
fn pages_end_at_a_number_of_bytes() {
    let client = Client::start();
    let text = "x".repeat(900_000);
    let authority =
        |n: usize| json!({ "name": format!("a{n}"), "ca_certs": [{ "certificate": text }] });
    for n in 0..6 {
        client.create("pkiprofile", &authority(n));
    }
    let page = client.get("pkiprofile");
    assert_eq!((page["count"].clone(), page["results"].as_array().unwrap().len()), (6.into(), 4));
    let next = page["next"].as_str().unwrap().split_once("/api/").unwrap().1.to_owned();
    let rest = client.get(&next);
    assert_eq!((&rest["results"][0]["name"], &rest["next"]), (&"a4".into(), &Json::Null));
    // A request is not larger than an object.
    let large = json!({ "name": "l", "x": "x".repeat(1 << 20) });
    client.refused(400, Verb::Post, "pkiprofile", &large, "larger than 1 MiB");
}

#[test]
fn reading_an_incomplete_object_needs_the_right() {
    let client = Client::start();
    let empty = client.create("pool", &json!({ "name": "p1" }));
    let session = client.server.user("nobody", "1", &[]);
    let mut request = client.request(Verb::Get, &path(&empty), &Json::Null);
    request.credential = Credential::Bearer(session);
    assert_eq!(handle(&client.server.api, &request, &origin()).status, 403);
}

#[test]
fn a_service_can_be_deleted_without_rights_on_vips() {
    let client = Client::start();
    client.create("pool", &pool("p1"));
    let mut written = service("web", &[80]);
    written["vip"] = vip(1);
    let created = client.create("virtualservice", &written);
    let rules = json!({ "api.mode": 0, "api": ["vip.*"] });
    let role = json!({ "name": "no vips", "type": 3, "rules": rules });
    let role = client.server.create("role.create", &role);
    let session = client.server.user("without", &role, &[]);
    let mut request = client.request(Verb::Delete, &path(&created), &Json::Null);
    request.credential = Credential::Bearer(session);
    assert_eq!(handle(&client.server.api, &request, &origin()).status, 204);
    assert_eq!(first(&client, "vip.get")["name"], "vsvip-web", "it stays");
}

#[test]
fn a_database_that_cannot_be_read_is_no_wrong_password() {
    let client = Client::start();
    let mut request = client.request(Verb::Get, "pool", &Json::Null);
    client.server.write_sql(&["ALTER TABLE users RENAME TO others"]);
    for credential in [
        Credential::Basic("Admin".to_owned(), "zabbix".to_owned()),
        Credential::Bearer("0".repeat(32)),
    ] {
        request.credential = credential;
        assert_eq!(handle(&client.server.api, &request, &origin()).status, 503);
    }
}
