//! What is refused, with the text that names the member and the remedy.

use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::symm::Cipher;
use serde_json::{Value as Json, json};

use super::{Edge, certificate, certificate_of_version, ec_key, pem, servers};

#[test]
fn services_are_checked_by_the_types_of_the_engine() {
    let edge = Edge::start();
    let before = edge.configuration();
    let rule = |rule: Json| json!({ "rules": [{ "then": { "deny": 403 } }, rule] });
    edge.refuses(&[
        (json!({ "type": "sctp" }), "\"/1/type\": unknown variant `sctp`, expected one of `http`"),
        (json!({ "type": "udp" }), "\"/1\": 'tls' needs type http or tcp"),
        (json!({ "port": 0 }), "\"/1/port\": value must be one of 1-65535"),
        (json!({ "poolid": "99" }), "\"/1/poolid\": object does not exist"),
        (json!({ "vipid": 99 }), "\"/1/vipid\": object does not exist"),
        (json!({ "enginegroupid": 99 }), "\"/1/enginegroupid\": object does not exist"),
        (
            json!({ "certificates": [{ "certificateid": 99 }] }),
            "\"/1/certificates/1/certificateid\": object does not exist",
        ),
        (
            json!({ "timeouts": { "sever": "5s" } }),
            "\"/1/timeouts\": unknown field `sever`, expected one of `client_header`",
        ),
        (json!({ "timeouts": { "server": "5" } }), "\"/1/timeouts\": '5' is not a duration; write"),
        (json!({ "timeouts": "5s" }), "\"/1/timeouts\": an object is expected"),
        (json!({ "limits": { "header_bytes": 99_999 } }), "is limited to 24576"),
        (json!({ "rate_limit": { "by": "client_ip", "requests": 0, "per": "1s" } }), "nonzero"),
        (
            json!({ "rate_limit": { "by": "header", "requests": 1, "per": "1s" } }),
            "'rate_limit' by header needs 'name'",
        ),
        (json!({ "compression": { "algorithms": ["lzma"] } }), "unknown variant `lzma`"),
        (json!({ "compression": { "algorithms": [] } }), "name gzip, br or zstd"),
        (json!({ "cache": { "size": "1K" } }), "'cache.size' is between 1M and 1T"),
        (json!({ "cache": { "ttl": "5s" } }), "unknown field `ttl`, expected one of `size`"),
        (
            json!({ "cache": { "size": "8M", "max_object": "4M" } }),
            "'cache.max_object' is at most a quarter",
        ),
        (json!({ "mirror": { "percent": 5 } }), "\"/1/mirror\": it has neither poolid nor"),
        (json!({ "mirror": { "pool": "app" } }), "\"/1/mirror\": unexpected parameter \"pool\""),
        (json!({ "mirror": { "poolid": "99" } }), "\"/1/mirror/poolid\": object does"),
        (json!({ "mirror": { "poolid": edge.pool, "poolgroupid": "1" } }), "keep one"),
        (
            json!({ "mirror": { "poolid": edge.pool, "percent": 101 } }),
            "write a number from 0 to 100",
        ),
        (json!({ "mirror": { "poolid": edge.pool, "body": 1 } }), "unknown field `body`"),
        (rule(json!({ "then": { "mirror": {} } })), "\"/1/rules/2/then/mirror\": it has neither"),
        (
            rule(json!({ "then": { "mirror": { "poolid": "99" } } })),
            "\"/1/rules/2/then/mirror/poolid\": object does",
        ),
        (
            json!({ "mirror": { "poolid": edge.pool } }),
            "\"/1\": 'mirror.pool' is 'app', which gets the requests themselves",
        ),
        (
            rule(json!({ "then": { "mirror": { "poolid": edge.pool } } })),
            "\"/1\": rule 2: 'mirror.pool' is 'app', which gets the requests themselves",
        ),
        (
            rule(json!({ "then": { "deny": 403, "mirror": { "poolid": edge.pool } } })),
            "\"/1/rules/2\": 'then' has 'mirror' and one of redirect, deny, respond",
        ),
        (
            json!({ "authentication": { "basic": [{ "name": "a", "file": "/etc/passwd" }] } }),
            "\"/1/authentication/basic/1/file\": files are for engines that run alone",
        ),
        (
            json!({ "authentication": { "jwt": [{ "name": "a", "jwks": "{\"keys\": []}" }] } }),
            "\"/1/authentication/jwt/1/jwks\": it has no key of RS256",
        ),
        (
            json!({ "authentication": { "jwt": [{ "name": "a", "jwks": "/etc/passwd" }] } }),
            "\"/1/authentication/jwt/1/jwks\": the text of a JWK set",
        ),
        (
            json!({ "authentication": { "jwt": [{ "name": "a", "keys": [
                { "algorithm": "RS256", "key": pem_of_point() } ] }] } }),
            "\"/1/authentication/jwt/1/keys/1/key\": a public key of RS256",
        ),
        (
            json!({ "authentication": { "basic": [{ "name": "a", "users": { "u": "******" } }] } }),
            "user 'u': it is not a hash",
        ),
        (rule(json!({ "then": { "authentication": "b" } })), "policy 'b' does not exist"),
        (json!({ "allow": ["10.0.0.0/8", "10.0.0.0/33"] }), "\"/1/allow/2\": '10.0.0.0/33' is no"),
        (rule(json!({})), "\"/1/rules/2\": missing field `then`"),
        (rule(json!({ "then": { "pool": "app" } })), "\"/1/rules/2/then\": unexpected parameter"),
        (rule(json!({ "then": { "poolid": "99" } })), "\"/1/rules/2/then/poolid\": object does"),
        (rule(json!({ "then": { "poolid": edge.pool, "deny": 403 } })), "keep one"),
        (rule(json!({ "then": { "set_header": { "Host": "x" } } })), "cannot be edited"),
        (
            rule(json!({ "then": { "script": { "request": "if (1) {\n  x(;\n}" } } })),
            "\"/1/rules/2\": 'script.request': line 2, column 5: SyntaxError",
        ),
        (
            rule(json!({ "then": { "script": { "request": "return", "pools": ["app"] } } })),
            "\"/1/rules/2/then/script/pools/1\": an object with poolid or poolgroupid",
        ),
        (
            rule(json!({ "then": { "script": { "request": "return", "pools": [{ "poolid": "99" }] } } })),
            "\"/1/rules/2/then/script/pools/1/poolid\": object does",
        ),
        (
            rule(json!({ "then": { "script": { "request": "return", "pools": [{}] } } })),
            "it has neither poolid nor poolgroupid",
        ),
        (rule(json!({ "then": { "script": { "timeout": "5ms" } } })), "neither 'request' nor"),
        (
            rule(json!({ "then": { "script": { "request": "return" }, "deny": 403 } })),
            "keep one",
        ),
        (
            rule(json!({ "then": { "rewrite": { "prefix": "/", "with": "/ HTTP/1.1\r\nX: y" } } })),
            "\"/1/rules/2\": 'rewrite.with' is not a path",
        ),
        (
            rule(json!({ "then": { "respond": { "status": 200, "type": "a\r\nX: y" } } })),
            "'respond.type' contains a control character",
        ),
        (json!({ "forwarded": { "via": "a\r\nX: y" } }), "'forwarded.via' is not a name"),
        (json!({ "tls": { "alpn": [""] } }), "'tls.alpn' has a name of no or more than 255 bytes"),
        (json!({ "type": "tcp", "rules": [{ "then": { "deny": 403 } }] }), "need type http"),
        (json!({ "tls": { "client_auth": "require" } }), "'tls.client_auth' needs 'tls.client_ca'"),
        (
            json!({ "tls": { "client_ca": "/etc/passwd", "client_auth": "require" } }),
            "\"/1/tls/client_ca\": PEM text with certificates is expected",
        ),
        (json!({ "tls": { "certificates": ["www"] } }), "set the member \"certificates\""),
        (
            json!({ "tls": { "strict_sni": true }, "certificates": [] }),
            "\"/1/tls\": TLS needs at least one certificate",
        ),
        (json!({ "zz": 1 }), "unexpected parameter \"zz\""),
    ]);
    let twin = json!({
        "name": "other", "enginegroupid": edge.group, "vipid": edge.vip, "port": 443,
        "poolid": edge.pool, "status": 1,
    });
    edge.server.refuses(&[(
        "virtualservice.create",
        twin,
        -32602,
        "\"/1/port\": port 443 of this VIP belongs to virtual service \"web\"",
    )]);
    assert_eq!(edge.configuration(), before, "what is refused changes nothing");
}

/// A public key of ES256.
fn pem_of_point() -> String {
    String::from_utf8(ec_key().public_key_to_pem().unwrap()).unwrap()
}

#[test]
fn secrets_of_authentication_are_stored_and_never_shown() {
    let edge = Edge::start();
    let (hash, secret) = ("$6$salt$hash", "0123456789abcdef0123456789abcdef");
    let policies = |hash: &str, secret: &str| {
        json!({
            "require": "staff",
            "basic": [{ "name": "staff", "users": { "alice": hash, "bob": "$6$other$hash" } }],
            "jwt": [{ "name": "api", "keys": [{ "algorithm": "HS256", "key": secret }] }],
        })
    };
    let update = |authentication: Json| {
        let change = json!({ "virtualserviceid": edge.service, "authentication": authentication });
        edge.server.call("virtualservice.update", &change).unwrap();
    };
    update(policies(hash, secret));
    let get = json!({ "output": ["authentication"], "virtualserviceids": edge.service });
    let shown =
        || edge.server.call("virtualservice.get", &get).unwrap()[0]["authentication"].take();
    let first = shown();
    assert_eq!(first["basic"][0]["users"]["alice"], "******");
    assert_eq!(first["jwt"][0]["keys"][0]["key"], "******");
    let configuration = edge.configuration();
    let hash_before = configuration["hash"].clone();
    for text in [first.to_string(), configuration.to_string()] {
        assert!(!text.contains("$6$") && !text.contains(secret), "{text}");
    }
    update(first);
    assert_eq!(edge.configuration()["hash"], hash_before, "hidden secrets keep their values");
    update(policies("$6$new$hash", "******"));
    assert!(edge.configuration()["hash"] != hash_before);
    update(json!({}));
    assert_eq!(shown(), json!({}));
}

#[test]
fn services_suit_their_pools() {
    let edge = Edge::start();
    let cookie = json!({ "type": "cookie", "name": "srv" });
    let persistent = json!({ "name": "cookies", "persistence": cookie, "servers": servers("s") });
    let persistent = edge.server.create("pool.create", &persistent);
    let service = |pool: &str| {
        json!({ "name": "dns", "type": "udp", "enginegroupid": edge.group, "vipid": edge.vip,
                "port": 443, "poolid": pool, "limits": { "responses": 1 } })
    };
    let unsuitable = "needs a pool without persistence by 'cookie' or 'header'";
    edge.server.refuses(&[(
        "virtualservice.create",
        service(&persistent),
        -32602,
        &format!("\"/1/poolid\": a service of type udp {unsuitable}"),
    )]);
    let service = edge.server.create("virtualservice.create", &service(&edge.pool));
    edge.server.refuses(&[
        ("pool.update", json!({ "poolid": edge.pool, "persistence": cookie }), -32602, unsuitable),
        ("pool.update", json!({ "poolid": edge.pool, "send_proxy": "v2" }), -32602, "'send_proxy'"),
        (
            "virtualservice.update",
            json!({ "virtualserviceid": service, "type": "tcp" }),
            -32602,
            "port 443 of this VIP belongs to virtual service \"web\"",
        ),
    ]);
    // The members of a group are its pools.
    let member = |pool: &str| json!({ "poolid": pool });
    let with_both = json!([member(&edge.pool), member(&persistent)]);
    let group = json!({ "name": "g", "members": [member(&edge.pool)] });
    let group = edge.server.create("poolgroup.create", &group);
    let change = json!({ "virtualserviceid": service, "poolgroupid": group });
    edge.server.call("virtualservice.update", &change).unwrap();
    let grown = json!({ "poolgroupid": group, "members": with_both });
    edge.server.refuses(&[
        ("pool.update", json!({ "poolid": edge.pool, "persistence": cookie }), -32602, unsuitable),
        ("poolgroup.update", grown.clone(), -32602, unsuitable),
    ]);
    let back = json!({ "virtualserviceid": service, "poolid": edge.pool });
    edge.server.call("virtualservice.update", &back).unwrap();
    edge.server.call("poolgroup.update", &grown).unwrap();
    edge.server.refuses(&[("virtualservice.update", change, -32602, unsuitable)]);
    edge.server.call("pool.update", &json!({ "poolid": persistent, "send_proxy": "v2" })).unwrap();
}

#[test]
fn monitors_have_what_their_type_sends() {
    let edge = Edge::start();
    let create = "healthmonitor.create";
    let monitor = |kind: &str, more: Json| {
        let mut monitor = json!({ "name": kind, "type": kind });
        monitor.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        monitor
    };
    edge.server.refuses(&[
        (create, monitor("udp", json!({})), -32602, "'health.udp' is for monitors of type udp"),
        (create, monitor("dns", json!({ "udp": { "send": "x" } })), -32602, "'health.udp'"),
        (create, monitor("udp", json!({ "udp": { "send": "\\q" } })), -32602, "unknown escape"),
        (create, monitor("dns", json!({ "dns": { "name": "a b" } })), -32602, "not a name of DNS"),
    ]);
    let dns = json!({ "dns": { "name": "example.com", "rcodes": ["NOERROR", "NXDOMAIN"] } });
    let dns = edge.server.create(create, &monitor("dns", dns));
    edge.server
        .call("pool.update", &json!({ "poolid": edge.pool, "healthmonitorid": dns }))
        .unwrap();
    let health = &edge.configuration()["configuration"]["pools"][0]["health"];
    assert_eq!(health["dns"]["rcodes"], json!(["NOERROR", "NXDOMAIN"]));
}

#[test]
fn other_objects_are_checked() {
    let edge = Edge::start();
    let pool = |more: Json| {
        let mut pool = json!({ "name": "p", "servers": servers("s") });
        pool.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pool
    };
    let server = |more: Json| {
        let mut server = servers("s");
        server[0].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pool(json!({ "servers": server }))
    };
    let monitor = |more: Json| {
        let mut monitor = json!({ "name": "n", "type": "tcp" });
        monitor.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        monitor
    };
    for (method, params, text) in [
        ("pool.create", pool(json!({ "servers": [] })), "\"/1/servers\": cannot be empty"),
        ("pool.create", pool(json!({ "algorithm": "fastest" })), "\"/1/algorithm\": unknown"),
        ("pool.create", pool(json!({ "algorithm": "header_hash" })), "needs 'hash_key'"),
        ("pool.create", pool(json!({ "persistence": { "type": "cookie" } })), "needs 'name'"),
        (
            "pool.create",
            pool(json!({ "retries": { "on": ["always"] } })),
            "\"/1/retries\": invalid value: string \"always\", expected connect, closed, timeout, or a status",
        ),
        ("pool.create", pool(json!({ "send_proxy": "v3" })), "expected `v1` or `v2`"),
        ("pool.create", pool(json!({ "healthmonitorid": 99 })), "\"/1/healthmonitorid\": object"),
        ("pool.create", pool(json!({ "tls": { "sni": "a.b" } })), "missing field `ca`"),
        ("pool.create", pool(json!({ "tls": { "ca": "/x", "sni": "a.b" } })), "\"/1/tls/ca\": PEM"),
        ("pool.create", server(json!({ "address": "app1" })), "/servers/1/address\": an IPv4 or"),
        ("pool.create", server(json!({ "state": "off" })), "/servers/1/state\": unknown variant"),
        ("pool.create", server(json!({ "hostid": 99 })), "/servers/1/hostid\": object does not"),
        (
            "pool.create",
            json!({ "name": "app", "servers": servers("s") }),
            "\"app\" already exists",
        ),
        ("vip.create", json!({ "name": "w" }), "set \"ipv4\" or \"ipv6\""),
        ("vip.create", json!({ "name": "w", "ipv4": "::1" }), "\"/1/ipv4\": an IPv4 address is"),
        ("vip.create", json!({ "name": "w", "ipv4": "192.0.2.1" }), "belongs to VIP \"v\""),
        ("vip.create", json!({ "name": "w", "ipv6": "::ffff:192.0.2.1" }), "\"ipv4\" to 192.0.2.1"),
        (
            "vip.create",
            json!({ "name": "w", "ipv6": "::1", "dns_names": ["a b"] }),
            "\"/1/dns_names/1\": a host name is expected",
        ),
        ("healthmonitor.create", json!({ "name": "n" }), "the parameter \"type\" is missing"),
        ("healthmonitor.create", monitor(json!({ "type": "ftp" })), "\"/1/type\": unknown"),
        ("healthmonitor.create", monitor(json!({ "interval": "0s" })), "\"/1/interval\": '0s'"),
        (
            "healthmonitor.create",
            monitor(json!({ "path": "/ HTTP/1.1\r\nX: y" })),
            "\"/1/path\": a path that begins with /",
        ),
        ("engine.create", json!({ "name": "e", "enginegroupid": 9 }), "\"/1/enginegroupid\": obj"),
        ("enginegroup.create", json!({ "name": "edge" }), "\"edge\" already exists"),
        ("enginegroup.configuration", json!({ "enginegroupids": ["9"] }), "No permissions"),
    ] {
        let (_, found) = edge.server.call(method, &params).unwrap_err();
        assert!(found.contains(text), "{method} {params}: {found}");
    }
}

#[test]
fn certificates_have_their_key_and_say_when_they_end() {
    let edge = Edge::start();
    let (key, other) = (ec_key(), PKey::from_rsa(Rsa::generate(1024).unwrap()).unwrap());
    let cert = certificate(&key, "a.b");
    let create = |cert: &str, key: &str| {
        let params = json!({ "name": "n", "certificate": cert, "private_key": key });
        edge.server.call("certificate.create", &params).unwrap_err().1
    };
    let locked = key.private_key_to_pem_pkcs8_passphrase(Cipher::aes_128_cbc(), b"x").unwrap();
    for (found, text) in [
        (create("x", &pem(&key)), "\"/1/certificate\": PEM text with certificates"),
        (create(&cert, "x"), "\"/1/private_key\": PEM text with one private key"),
        (create(&cert, std::str::from_utf8(&locked).unwrap()), "removes a passphrase"),
        (create(&cert, &pem(&ec_key())), "does not belong to the first certificate"),
        (create(&cert, &pem(&other)), "the key must be RSA with 2048 to 8192 bits"),
        (create(&certificate(&other, "a"), &pem(&key)), "the key must be RSA"),
        (create(&certificate_of_version(&key, "a", 1), &pem(&key)), "must be X.509 version 3"),
    ] {
        assert!(found.contains(text), "{found}");
    }
    let shown = json!({ "certificateids": edge.certificate });
    let found = edge.server.call("certificate.get", &shown).unwrap()[0].take();
    assert_eq!(found["subject"], "CN=www.example.com");
    let names = json!(["www.example.com", "*.example.net", "192.0.2.1", "2001:db8::1"]);
    assert_eq!(found["names"], names);
    assert_eq!(
        (&found["algorithm"], &found["valid_until"]),
        (&json!("ECDSA P-256"), &json!("1830297600"))
    );
    assert_eq!(found["fingerprint"].as_str().unwrap().len(), 64);
    assert!(found.get("private_key").is_none(), "{found}");
    let hash = edge.configuration()["hash"].clone();
    let renewed = json!({ "certificateid": edge.certificate,
                          "certificate": certificate(&key, "c.d"), "private_key": pem(&key) });
    edge.server.call("certificate.update", &renewed).unwrap();
    assert!(edge.configuration()["hash"] != hash, "a renewed certificate is a new configuration");
    let half = json!({ "certificateid": edge.certificate, "private_key": pem(&ec_key()) });
    edge.server.refuses(&[("certificate.update", half, -32602, "does not belong")]);
}

#[test]
fn a_certificate_is_given_or_ordered() {
    let edge = Edge::start();
    let acme = json!({ "domains": ["a.example.com"], "terms_agreed": true });
    let key = ec_key();
    let cert = certificate(&key, "a.example.com");
    let (given, secret) = (json!(cert), json!(pem(&key)));
    for (members, text) in [
        (json!({}), "the parameter \"certificate\" is missing"),
        (json!({ "certificate": given }), "the parameter \"private_key\" is missing"),
        (json!({ "acme": { "domains": ["a.example.com"] } }), "'terms_agreed' is not true"),
        (json!({ "acme": { "domains": [], "terms_agreed": true } }), "'domains' is empty"),
        (
            json!({ "acme": { "domains": ["a.b"], "terms_agreed": true, "ca": "/etc/passwd" } }),
            "\"/1/acme/ca\": PEM text with certificates",
        ),
        (json!({ "acme": acme, "certificate": given }), "ordered from an authority"),
        (json!({ "acme": acme, "private_key": secret }), "ordered from an authority"),
    ] {
        let mut params = members.clone();
        params["name"] = json!("n");
        let (_, found) = edge.server.call("certificate.create", &params).unwrap_err();
        assert!(found.contains(text), "{members}: {found}");
    }
    let made = json!({ "name": "n", "acme": acme });
    let id = edge.server.call("certificate.create", &made).unwrap()["certificateids"][0].take();
    let shown = || {
        let params = json!({ "certificateids": id, "output": "extend" });
        edge.server.call("certificate.get", &params).unwrap()[0].take()
    };
    let found = shown();
    assert_eq!(found["acme"]["challenge"], "http-01");
    assert_eq!((&found["order_state"], &found["valid_until"]), (&json!("waiting"), &json!("0")));
    // Disabled orders need what they no longer bring.
    let nothing = json!({ "certificateid": id, "acme": {} });
    edge.server.refuses(&[("certificate.update", nothing, -32602, "\"certificate\" is missing")]);
    let give =
        json!({ "certificateid": id, "acme": {}, "certificate": given, "private_key": secret });
    edge.server.call("certificate.renew", &json!([id])).unwrap();
    edge.server.call("certificate.update", &give).unwrap();
    assert_eq!((&shown()["order_state"], &shown()["acme"]), (&json!(""), &json!({})));
    let refused = [("certificate.renew", json!([id]), -32602, "is not ordered from an authority")];
    edge.server.refuses(&refused);
}

#[test]
fn revocation_lists_are_texts() {
    let edge = Edge::start();
    let service = |tls| json!({ "virtualserviceid": edge.service, "tls": tls });
    let authority = certificate(&ec_key(), "ca");
    let with = |crl: &str| {
        service(json!({ "client_auth": "require", "client_ca": authority, "client_crl": crl }))
    };
    let text = "\"/1/tls/client_crl\": PEM text with certificate revocation lists";
    edge.server.refuses(&[
        ("virtualservice.update", with("/etc/passwd"), -32602, text),
        ("virtualservice.update", with(&authority), -32602, text),
    ]);
    let pool = json!({ "poolid": edge.pool, "tls": { "ca": authority, "sni": "a.b", "crl": "x" } });
    let text = "\"/1/tls/crl\": PEM text with certificate revocation lists";
    edge.server.refuses(&[("pool.update", pool, -32602, text)]);
}

#[test]
fn an_update_of_a_list_logs_only_what_differs() {
    let edge = Edge::start();
    let server =
        |name: &str, port: u16| json!({ "name": name, "address": "10.0.0.1", "port": port });
    let update = |servers: Json| {
        let params = json!({ "poolid": edge.pool, "servers": servers });
        edge.server.call("pool.update", &params).unwrap();
        let newest = json!({ "output": ["details"], "filter": { "resourcetype": 1002 },
                             "sortfield": "auditid", "sortorder": "DESC", "limit": 1 });
        let found = edge.server.call("auditlog.get", &newest).unwrap();
        found[0]["details"].as_str().unwrap().to_owned()
    };
    update(json!([server("a", 80), server("b", 80), server("c", 80)]));
    let details = update(json!([server("a", 80), server("b", 81), server("c", 80)]));
    let port = r#"{"pool.servers[1]":["update"],"pool.servers[1].port":["update","81","80"]}"#;
    assert_eq!(details, port);
    let details = update(json!([server("a", 80), server("b", 81)]));
    assert_eq!(details, r#"{"pool.servers[2]":["delete"]}"#);
    let details = update(json!([server("a", 80), server("b", 81), server("d", 82)]));
    assert!(details.starts_with(r#"{"pool.servers[2]":["add"]"#), "{details}");
    assert!(!details.contains("servers[0]") && !details.contains("servers[1]"), "{details}");
    let tags = |tags: &[&str]| {
        let tags: Vec<Json> = tags.iter().map(|tag| json!({ "tag": tag, "value": "" })).collect();
        let change = json!({ "virtualserviceid": edge.service, "tags": tags });
        edge.server.call("virtualservice.update", &change).unwrap();
        edge.server.text("SELECT MIN(virtualservicetagid) FROM virtualservice_tags")
    };
    let first = tags(&["x", "y"]);
    assert_eq!(tags(&["x", "z", "y"]), first, "the first row stays");
    let shown = json!({ "output": ["virtualserviceid"], "selectTags": ["tag"] });
    let shown = edge.server.call("virtualservice.get", &shown).unwrap();
    assert_eq!(shown[0]["tags"], json!([{ "tag": "x" }, { "tag": "z" }, { "tag": "y" }]));
}
