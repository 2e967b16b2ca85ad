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
        (json!({ "type": "udp" }), "\"/1/type\": unknown variant `udp`, expected `http` or `tcp`"),
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
        (json!({ "timeouts": { "server": "5" } }), "\"/1/timeouts\": '5' is no duration; write"),
        (json!({ "timeouts": "5s" }), "\"/1/timeouts\": an object is expected"),
        (json!({ "limits": { "header_bytes": 99_999 } }), "is limited to 24576"),
        (json!({ "allow": ["10.0.0.0/8", "10.0.0.0/33"] }), "\"/1/allow/2\": '10.0.0.0/33' is no"),
        (rule(json!({})), "\"/1/rules/2\": missing field `then`"),
        (rule(json!({ "then": { "pool": "app" } })), "\"/1/rules/2/then\": unexpected parameter"),
        (rule(json!({ "then": { "poolid": "99" } })), "\"/1/rules/2/then/poolid\": object does"),
        (rule(json!({ "then": { "poolid": edge.pool, "deny": 403 } })), "keep one"),
        (rule(json!({ "then": { "set_header": { "Host": "x" } } })), "cannot be edited"),
        (
            rule(json!({ "then": { "rewrite": { "prefix": "/", "with": "/ HTTP/1.1\r\nX: y" } } })),
            "\"/1/rules/2\": 'rewrite.with' is no path",
        ),
        (
            rule(json!({ "then": { "respond": { "status": 200, "type": "a\r\nX: y" } } })),
            "'respond.type' contains a control character",
        ),
        (json!({ "forwarded": { "via": "a\r\nX: y" } }), "'forwarded.via' is no name"),
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
            "\"/1/retries\": unknown",
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
        ("healthmonitor.create", monitor(json!({ "type": "icmp" })), "\"/1/type\": unknown"),
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
