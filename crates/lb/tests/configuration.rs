//! The configuration as the engine checks it before it uses it.

use std::time::Duration;

use balancing::{Config, Time, Timeouts};

const FILE: &str = "
virtual_services:
  - name: web
    type: http
    listen: 127.0.0.1:8080
    pool: app
    timeouts: {server: 5s}
pools:
  - name: app
    servers:
      - {name: s1, address: '127.0.0.1:8081'}
";

fn problem(old: &str, new: &str) -> String {
    assert!(FILE.contains(old));
    let text = FILE.replace(old, new);
    match Config::parse(&text) {
        Ok(config) => lb::check(&config).err().map(|error| error.to_string()).unwrap_or_default(),
        Err(problem) => problem,
    }
}

#[test]
fn the_shortest_file_is_valid() {
    let config = Config::parse(FILE).unwrap();
    lb::check(&config).unwrap();
    assert_eq!(config.virtual_services[0].timeouts.server, Time(Duration::from_secs(5)));
    assert_eq!(config.virtual_services[0].timeouts.connect, Timeouts::default().connect);
}

#[test]
fn unknown_members_are_errors_with_line_and_advice() {
    let text = problem("timeouts: {server: 5s}", "timeouts: {sever: 5s}");
    assert!(text.contains("sever") && text.contains("server") && text.contains('7'), "{text}");
    let text = problem("    pool: app", "    pool: app\n    http2: true");
    assert!(text.contains("http2") && text.contains("accept_proxy"), "{text}");
}

#[test]
fn values_that_mean_nothing_are_errors() {
    for (old, new, part) in [
        ("5s", "5", "a number with ms, s, m, h or d"),
        ("5s", "0s", "a number with ms, s, m, h or d"),
        ("type: http", "type: sctp", "sctp"),
        ("\npools:", "\ntransactions: {folder: x, size: 10}\npools:", "a number with K, M, G or T"),
        ("\npools:", "\ntransactions: {folder: x, size: 10K}\npools:", "at least 1M"),
        ("pool: app\n", "pool: ap\n", "pool 'ap' does not exist"),
        ("    pool: app", "    pool: app\n    deny: [10.0.0.0/33]", "not a network"),
        ("servers:", "retries: {on: [200]}\n    servers:", "a status between 400 and 599"),
        ("servers:", "retries: {on: [close]}\n    servers:", "connect, closed, timeout"),
        ("servers:", "persistence: {type: cookie}\n    servers:", "needs 'name'"),
        ("servers:", "algorithm: header_hash\n    servers:", "needs 'hash_key'"),
        (
            "    pool: app",
            "    pool: app\n    tls: {certificates: [a]}",
            "certificate 'a' does not exist",
        ),
        (
            "    pool: app",
            "    pool: app\n    rules: [{then: {set_header: {Host: x}}}]",
            "cannot be edited",
        ),
        (
            "    pool: app",
            "    pool: app\n    rate_limit: {by: header, requests: 1, per: 1s}",
            "needs 'name'",
        ),
        (
            "    pool: app",
            "    pool: app\n    rate_limit: {by: client_ip, name: X, requests: 1, per: 1s}",
            "is for limits by header",
        ),
        (
            "    pool: app",
            "    pool: app\n    rate_limit: {by: client_ip, requests: 10001, per: 1s}",
            "at most 10 requests per millisecond",
        ),
        (
            "    pool: app",
            "    pool: app\n    rate_limit: {by: client_ip, requests: 1, per: 25h}",
            "at most 1d",
        ),
        (
            "    pool: app",
            "    pool: app\n    rate_limit: {by: client_ip, requests: 1, per: 1s, status: 200}",
            "between 400 and 599",
        ),
        ("    pool: app", "    pool: app\n    forwarded: {via: 'a b'}", "is not a name"),
        (
            "    pool: app",
            "    pool: app\n    rules: [{then: {rewrite: {prefix: /, with: '/ HTTP/1.1'}}}]",
            "'rewrite.with' is not a path",
        ),
        (
            "    pool: app",
            "    pool: app\n    mirror: {pool: app}",
            "'mirror.pool' is 'app', which gets",
        ),
        (
            "    pool: app",
            "    pool: app\n    mirror: {pool: app, percent: 0}\n    rules: [{then: {mirror: {pool: app}}}]",
            "rule 1: 'mirror.pool' is 'app'",
        ),
        (
            "    pool: app",
            "    pool: app\n    rules: [{then: {pool: other, mirror: {pool: other, percent: 1}}}]",
            "rule 1: 'mirror.pool' is 'other'",
        ),
        (
            "    pool: app",
            "    pool: app\n    rules: [{then: {deny: 403, mirror: {pool: other}}}]",
            "rule 1: 'then' has 'mirror' and one of redirect, deny, respond",
        ),
        ("servers:", "health: {type: http, path: health}\n    servers:", "it begins with /"),
    ] {
        let text = problem(old, new);
        assert!(text.contains(part), "{new}: {text}");
    }
}

#[test]
fn a_service_has_one_address_or_several() {
    let list = "listen: ['127.0.0.1:8080', '[::1]:8080']";
    let config = Config::parse(&FILE.replace("listen: 127.0.0.1:8080", list)).unwrap();
    lb::check(&config).unwrap();
    assert_eq!(config.virtual_services[0].listen.addresses().len(), 2);
    for (new, part) in [
        ("listen: []", "add an address"),
        ("listen: web:80", "such as 0.0.0.0:80"),
        ("listen: {a: b}", "an address with a port"),
    ] {
        let text = problem("listen: 127.0.0.1:8080", new);
        assert!(text.contains(part), "{new}: {text}");
    }
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let text = r#"
threads: 2
name: lb-1
transactions: {folder: /x, size: 1536M, age: 36h}
certificates: [{name: c, cert: /c.pem, key: "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"}]
virtual_services:
  - name: web
    type: http
    listen: ['0.0.0.0:80', '[::]:80']
    pool: app
    tls: {certificates: [c], client_ca: /ca.pem, client_auth: require, min_version: '1.3'}
    timeouts: {connect: 250ms}
    rate_limit: {by: header, name: X-Key, requests: 3, per: 1m}
    forwarded: {forwarded: replace, via: edge}
    rules:
      - {if: {host: a.b, header: {name: X, value: y}}, then: {pool: app, rewrite: {prefix: /a, with: /b}}}
      - {then: {respond: {status: 200, type: text/plain, body: "a\tb"}, set_header: {B: '2', A: '1'}}}
    allow: [10.0.0.0/8, '::1']
pools:
  - name: app
    algorithm: header_hash
    hash_key: X
    servers: [{name: s, address: '[::1]:80', max_connections: 5, state: drain, backup: true}]
    health: {type: http, body: ok}
    persistence: {type: source_ip}
    retries: {on: [closed, timeout, 503, '429']}
    send_proxy: v2
    tls: {ca: /ca.pem, sni: a.b}
"#;
    let config = Config::parse(text).unwrap();
    let written = serde_json::to_string(&config).unwrap();
    let again = Config::parse(&written).unwrap();
    assert_eq!(format!("{config:?}"), format!("{again:?}"));
    assert_eq!(written, serde_json::to_string(&again).unwrap());
    assert!(written.contains(r#""size":"1536M","age":"36h""#), "{written}");
    assert!(!format!("{config:?}").contains("PRIVATE KEY"), "keys are not in logs");
}

#[test]
fn configurations_beyond_the_limits_of_the_library_are_read() {
    let pool =
        |n: usize| format!("- {{name: p{n}, servers: [{{name: s, address: '10.0.0.1:80'}}]}}\n");
    let pools: String = (0..6_000).map(pool).collect();
    let config = Config::parse(&format!("virtual_services: []\npools:\n{pools}")).unwrap();
    let again = Config::parse(&serde_json::to_string(&config).unwrap()).unwrap();
    assert_eq!(again.pools.len(), 6_000);
}

#[test]
fn what_does_not_suit_datagrams_is_refused() {
    const UDP: &str = "
virtual_services: [{name: u, type: udp, listen: '127.0.0.1:53', pool: p, limits: {responses: 1}}]
pools: [{name: p, servers: [{name: s, address: '127.0.0.1:54'}]}]
certificates: []
";
    lb::check(&Config::parse(UDP).expect("a valid file")).expect("a service that is accepted");
    for (old, new, part) in [
        ("pool: p,", "pool: p, tls: {certificates: [a]},", "'tls' needs type http or tcp"),
        ("pool: p,", "pool: p, accept_proxy: true,", "'accept_proxy' needs type http or tcp"),
        ("pool: p,", "pool: p, h2c: both,", "'h2c' is for services of type http"),
        ("pool: p,", "pool: p, rules: [{then: {deny: 403}}],", "'rules' need type http"),
        (
            "pool: p,",
            "pool: p, rate_limit: {by: client_ip, requests: 1, per: 1s},",
            "'rate_limit' needs type http",
        ),
        ("responses: 1", "sessions: 0", "at least 1"),
        ("name: p,", "name: p, send_proxy: v2,", "a pool without 'send_proxy'"),
        ("name: p,", "name: p, protocol: h2,", "a pool without 'protocol'"),
        ("name: p,", "name: p, algorithm: uri_hash,", "'uri_hash' and 'header_hash'"),
        ("name: p,", "name: p, persistence: {type: cookie, name: c},", "'cookie' or 'header'"),
    ] {
        assert!(UDP.contains(old));
        let config = Config::parse(&UDP.replace(old, new)).expect("a file of known members");
        let text = lb::check(&config).expect_err(new).to_string();
        assert!(text.contains(part), "{new}: {text}");
    }
}
