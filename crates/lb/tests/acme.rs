//! What the engine says about mistakes in the configuration of automatic certificates.

use lb::config::{Challenge, Config};

const FILE: &str = "
acme:
  folder: /nonexistent
  terms_agreed: true
  certificates:
    - {name: www, domains: [www.example.com, Example.com]}
virtual_services:
  - {name: plain, type: http, listen: '0.0.0.0:80', pool: app}
  - {name: web, type: http, listen: ['0.0.0.0:443', '[::]:443'], pool: app, tls: {certificates: [www]}}
pools:
  - {name: app, servers: [{name: s1, address: '127.0.0.1:8081'}]}
";

fn problem(old: &str, new: &str) -> String {
    assert!(FILE.contains(old), "{old}");
    match Config::parse(&FILE.replace(old, new)) {
        Ok(config) => lb::check(&config).err().map(|error| error.to_string()).unwrap_or_default(),
        Err(problem) => problem,
    }
}

#[test]
fn the_shortest_file_orders_at_lets_encrypt_by_http_01() {
    let config = Config::parse(FILE).unwrap();
    lb::check(&config).unwrap();
    let acme = config.acme.unwrap();
    assert_eq!(acme.directory, "https://acme-v02.api.letsencrypt.org/directory");
    assert_eq!(acme.certificates[0].challenge, Challenge::Http01);
    assert_eq!(acme.certificates[0].names(), ["example.com", "www.example.com"]);
    let text = serde_json::to_string(&acme).unwrap();
    assert!(text.contains(r#""challenge":"http-01""#), "{text}");
}

#[test]
fn an_engine_without_automatic_certificates_writes_none() {
    let text =
        FILE.split("virtual_services").last().unwrap().replace(", tls: {certificates: [www]}", "");
    let config = Config::parse(&format!("virtual_services{text}")).unwrap();
    assert!(!config.render().unwrap().contains("acme"));
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let many: Vec<String> = (0..101).map(|n| format!("a{n}.example.com")).collect();
    let many = format!("domains: [{}]", many.join(", "));
    let domains = "domains: [www.example.com, Example.com]";
    for (old, new, part) in [
        ("terms_agreed: true", "terms_agreed: false", "'acme.terms_agreed' is not true"),
        ("  terms_agreed: true\n", "", "'acme.terms_agreed' is not true"),
        ("terms_agreed: true", "terms: true", "terms_agreed"),
        ("  terms", "  directory: 'http://ca.example/dir'\n  terms", "is not a URL of https"),
        ("  terms", "  contact: [admin]\n  terms", "'admin' is not a mail address"),
        ("  terms", "  contact: ['a@b.c,d@e.f']\n  terms", "is not a mail address"),
        ("  terms", "  ca: /nonexistent.pem\n  terms", "'acme.ca': /nonexistent.pem"),
        ("name: www", "name: ../www", "the name is that of a file"),
        ("name: www", "name: .www", "the name is that of a file"),
        (domains, "domains: []", "'domains' is empty"),
        (domains, &many, "it has 101 domains, the limit is 100"),
        (domains, "domains: [a.b, A.B]", "'A.B' exists twice"),
        (domains, "domains: ['*.example.com']", "a wildcard needs the challenge dns-01"),
        (domains, "domains: ['10.0.0.1']", "addresses are not supported"),
        (domains, "domains: ['a..b']", "is not a host name"),
        (domains, "domains: [localhost]", "is not a host name with a domain"),
        (domains, "domains: [a.b], challenge: http", "http-01"),
        (domains, "domains: ['*.a.b'], challenge: dns-01", "'dns-01' needs 'acme.dns_hook'"),
        ("listen: '0.0.0.0:80'", "listen: '0.0.0.0:8080'", "without TLS on port 80; add one"),
        (
            "'0.0.0.0:80', pool: app",
            "'0.0.0.0:80', pool: app, tls: {certificates: [www]}",
            "without TLS on port 80",
        ),
        (
            "Example.com]}",
            "Example.com], challenge: tls-alpn-01}\n    - {name: two, domains: [a.b], challenge: tls-alpn-01}",
            "certificate 'two': 'tls-alpn-01' needs a virtual service on port 443",
        ),
        ("acme:", "certificates: [{name: www, cert: /x, key: /y}]\nacme:", "'www' exists twice"),
        ("certificates: [www]", "certificates: [other]", "certificate 'other' does not exist"),
    ] {
        let text = problem(old, new);
        assert!(text.contains(part), "{new}: {text}");
    }
}

#[test]
fn ports_behind_a_forwarder_are_named() {
    assert_eq!(problem("listen: '0.0.0.0:80'", "listen: '0.0.0.0:80'"), "");
    let moved = FILE
        .replace("'0.0.0.0:80'", "'0.0.0.0:8080'")
        .replace("  terms", "  http_port: 8080\n  terms");
    lb::check(&Config::parse(&moved).unwrap()).unwrap();
    let wildcard = FILE
        .replace(
            "domains: [www.example.com, Example.com]",
            "domains: ['*.a.b', a.b], challenge: dns-01",
        )
        .replace("  terms", "  dns_hook: /etc/hook\n  terms");
    lb::check(&Config::parse(&wildcard).unwrap()).unwrap();
}
