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
        ("type: http", "type: udp", "udp"),
        ("\npools:", "\ntransactions: {folder: x, size: 10}\npools:", "a number with K, M, G or T"),
        ("\npools:", "\ntransactions: {folder: x, size: 10K}\npools:", "at least 1M"),
        ("pool: app\n", "pool: ap\n", "pool 'ap' does not exist"),
        ("    pool: app", "    pool: app\n    deny: [10.0.0.0/33]", "no network"),
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
        ("    pool: app", "    pool: app\n    forwarded: {via: 'a b'}", "is no name"),
        (
            "    pool: app",
            "    pool: app\n    rules: [{then: {rewrite: {prefix: /, with: '/ HTTP/1.1'}}}]",
            "'rewrite.with' is no path",
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
    retries: {on: [closed, timeout]}
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
