//! Files as administrators write them, converted.

use std::path::PathBuf;

use super::*;
use crate::config::{
    Algorithm, ClientAuth, Conditions, HealthKind, Kind, PersistenceKind, ProxyVersion, RetryOn,
    State, VirtualService,
};

/// A folder that ends with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lb-import-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn haproxy(name: &str, text: &str) -> anyhow::Result<Imported> {
    let folder = Folder::new(name);
    import(Origin::Haproxy, &folder.write("haproxy.cfg", text))
}

fn nginx(name: &str, text: &str) -> anyhow::Result<Imported> {
    let folder = Folder::new(name);
    import(Origin::Nginx, &folder.write("nginx.conf", text))
}

fn service<'a>(imported: &'a Imported, name: &str) -> &'a VirtualService {
    imported.config.virtual_services.iter().find(|service| service.name == name).unwrap()
}

const HAPROXY: &str = r#"
global
    log /dev/log local0
    maxconn 50000

defaults
    mode http
    option httplog
    option forwardfor
    timeout connect 3s
    timeout client 30s
    timeout server 45000
    default-server inter 4s fall 5

frontend web
    bind *:80
    bind :443 ssl crt /etc/haproxy/www.pem alpn h2,http/1.1
    maxconn 2000
    acl is_api path_beg /api/ /v2/
    acl host_shop hdr(host) -i shop.example.com
    acl office src 10.0.0.0/8
    http-request redirect scheme https code 301 unless { ssl_fc }
    http-request deny if { src 192.0.2.0/24 }
    http-request deny deny_status 404 if { path_beg "/a b" } METH_POST
    http-request set-header X-Edge "edge 1"
    http-response del-header Server
    use_backend api if is_api host_shop || { hdr_end(host) .api.example.com }
    use_backend admin if { path /admin } !office
    default_backend app

backend app
    balance leastconn
    option httpchk GET /health
    http-check expect status 204
    cookie SRV insert indirect nocache
    server app1 10.0.0.11:8000 check cookie a weight 3 slowstart 20s
    server app2 10.0.0.12:8000 check cookie b backup disabled

backend api
    balance hdr(X-User)
    retries 2
    retry-on conn-failure empty-response
    server api1 10.0.0.21:8000 send-proxy-v2 maxconn 100
    server api2 api2.internal:8000

listen mysql
    mode tcp
    bind 10.0.0.1:3306-3307
    balance source
    timeout client 1h
    server db1 10.0.0.31:3306 check
"#;

#[test]
fn a_haproxy_file_becomes_services_rules_and_pools() {
    let imported = haproxy("whole", HAPROXY).unwrap();
    let names: Vec<&str> =
        imported.config.virtual_services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["web", "web-2", "mysql", "mysql-2"]);

    let plain = service(&imported, "web");
    assert_eq!(plain.listen.addresses(), ["0.0.0.0:80".parse().unwrap()]);
    assert_eq!(plain.limits.connections, 2000);
    assert_eq!(plain.timeouts.server.0.as_secs(), 45);
    assert_eq!(plain.timeouts.queue.0.as_secs(), 3, "as long as for a connection");
    let redirect = plain.rules[0].then.redirect.as_ref().unwrap();
    assert_eq!((redirect.status, redirect.location.as_str()), (301, "https://{host}{uri}"));
    assert_eq!(plain.deny, ["192.0.2.0/24".parse().unwrap()]);

    let tls = service(&imported, "web-2");
    assert!(tls.rules[0].then.redirect.is_none(), "the condition is known to be false with TLS");
    let own = tls.tls.as_ref().unwrap();
    assert_eq!(
        (own.certificates.as_slice(), own.client_auth),
        (&["www".to_owned()][..], ClientAuth::None)
    );
    let chosen: Vec<&Conditions> = tls
        .rules
        .iter()
        .filter(|rule| rule.then.pool.as_deref() == Some("api"))
        .map(|rule| &rule.conditions)
        .collect();
    let host = |host: &str| Some(host.to_owned());
    let none = Conditions::default();
    assert_eq!(chosen.len(), 3);
    let shop =
        Conditions { host: host("shop.example.com"), path_prefix: host("/api/"), ..none.clone() };
    assert_eq!(*chosen[0], shop);
    assert_eq!(*chosen[2], Conditions { host_suffix: host(".api.example.com"), ..none });

    let mysql = service(&imported, "mysql-2");
    assert_eq!((mysql.kind, mysql.listen.addresses()[0].port()), (Kind::Tcp, 3307));
    assert_eq!(mysql.timeouts.tunnel.0.as_secs(), 3600);
}

#[test]
fn haproxy_servers_keep_weight_state_checks_and_cookies() {
    let imported = haproxy("pools", HAPROXY).unwrap();
    let pool = |name: &str| imported.config.pools.iter().find(|pool| pool.name == name).unwrap();
    let app = pool("app");
    assert_eq!(app.algorithm, Algorithm::LeastConnections);
    assert_eq!((app.servers[0].weight, app.servers[1].backup), (3, true));
    assert_eq!(app.servers[1].state, State::Down);
    let health = &app.health.0[0];
    assert_eq!(
        (health.kind, health.path.as_str(), health.status),
        (HealthKind::Http, "/health", 204)
    );
    assert_eq!((health.interval.0.as_secs(), health.down, health.up), (4, 5, 2));
    assert_eq!(app.slow_start.unwrap().0.as_secs(), 20);
    assert_eq!(app.persistence.as_ref().unwrap().kind, PersistenceKind::Cookie);
    let api = pool("api");
    assert_eq!((api.algorithm, api.hash_key.as_deref()), (Algorithm::HeaderHash, Some("X-User")));
    assert_eq!(
        (api.retries.count, api.retries.on.as_slice()),
        (2, &[RetryOn::Connect, RetryOn::Closed][..])
    );
    assert_eq!(api.send_proxy, Some(ProxyVersion::V2));
    assert_eq!(api.servers.len(), 1, "a name is not an address");
    assert!(pool("mysql").health.0[0].kind == HealthKind::Tcp);
}

#[test]
fn what_haproxy_has_and_we_do_not_is_named_with_its_line() {
    let imported = haproxy("report", HAPROXY).unwrap();
    let report = imported.report.to_string();
    let line = |part: &str| {
        let at = HAPROXY.lines().position(|line| line.contains(part)).unwrap() + 1;
        format!("haproxy.cfg:{at}: ")
    };
    for (part, reason) in [
        ("use_backend admin", "the client's address together with other conditions"),
        ("server api2", "an address and a port, not a name"),
    ] {
        let found = report.lines().find(|text| text.starts_with(&line(part)));
        assert!(found.is_some_and(|text| text.contains(reason)), "{part}: {report}");
    }
    assert_eq!(imported.report.missing_count(), 2, "{report}");
    // `forwardfor` is there, so nothing is said about it.
    assert!(!report.contains("X-Forwarded-For"), "{report}");
    assert!(report.contains("X-Forwarded-Proto: written, where HAProxy passes"), "{report}");
}

#[test]
fn a_rendered_import_is_read_as_the_same_configuration() {
    let imported = haproxy("render", HAPROXY).unwrap();
    let text = imported.config.render().unwrap();
    let again = Config::parse(&text).unwrap();
    assert_eq!(again.render().unwrap(), text);
    assert_eq!(format!("{again:?}"), format!("{:?}", imported.config));
    assert!(
        !text.contains("null") && !text.contains("x_forwarded_proto"),
        "defaults are left out: {text}"
    );
}

#[test]
fn damaged_haproxy_files_are_errors_with_their_line() {
    for (text, part) in [
        ("frontend web\n  bind :80\n  acl a path 'x\n", "haproxy.cfg:3: a quote does not end"),
        ("bind :80\n", "haproxy.cfg:1: 'bind' stands before any section"),
        ("backend app\n  server a 10.0.0.1:80\n", "no 'frontend' or 'listen'"),
        ("frontend web\n  bind :80\n  default_backend gone\n", "the backend 'gone' does not exist"),
        (
            "frontend web\n  bind :1-70\n  default_backend a\nbackend a\n",
            "not a range of at most 64 ports",
        ),
    ] {
        let error = haproxy("damaged", text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

#[test]
fn conditions_without_an_equivalent_are_refused() {
    let file = |condition: &str| {
        format!(
            "defaults\n  mode http\n  option forwardfor\nfrontend web\n  bind :80\n  use_backend b if {condition}\n  \
             default_backend a\nbackend a\n  server a 10.0.0.1:80\nbackend b\n  server b 10.0.0.2:80\n"
        )
    };
    for condition in [
        "!{ path /x }",
        "{ path_reg ^/x }",
        "unknown",
        "{ path_beg /a } { path_beg /b }",
        "{ path -f /etc/paths }",
        "{ path }",
        "{ req.hdr(X-User),lower a }",
        "{ path,lower /a }",
        "{ path /x",
    ] {
        let imported = haproxy("conditions", &file(condition)).unwrap();
        assert_eq!(imported.report.missing_count(), 1 + 1, "{condition}: {}", imported.report);
        assert!(imported.config.virtual_services[0].rules.is_empty(), "{condition}");
    }
    let many = format!("{{ path {} }} {{ method {} }}", "/x ".repeat(40), "GET ".repeat(40));
    let imported = haproxy("conditions", &file(&many)).unwrap();
    assert!(imported.report.to_string().contains("1600 alternatives"), "{}", imported.report);
    // Contradictions never hold: no rule, and nothing to report but the unused backend.
    let imported = haproxy("conditions", &file("{ path /a } { path /b }")).unwrap();
    assert!(imported.config.virtual_services[0].rules.is_empty());
}

const NGINX: &str = r#"
user www-data;
events { worker_connections 1024; }
http {
    client_max_body_size 8m;
    include conf.d/*.conf;
    upstream app {
        least_conn;
        server 10.0.0.11:8000 weight=2 slow_start=30s max_fails=4 fail_timeout=20s;
        server 10.0.0.12:8000 backup;   # a comment; with a semicolon
        keepalive 16;
    }
    server {
        listen 80 default_server;
        server_name _;
        return 301 https://$host$request_uri;
    }
    server {
        listen 443 ssl http2;
        server_name www.example.com *.example.org;
        ssl_certificate ssl/www.crt;
        ssl_certificate_key ssl/www.key;
        proxy_read_timeout 90s;
        location / { proxy_pass http://app; proxy_set_header Host $host; proxy_set_header X-Edge one; }
        location = /ping { return 200 "pong\n"; }
        location /static/ { root /srv/www; }
        location /static/api/ { proxy_pass http://10.0.0.99:9000/v1/; }
        location ~ \.php$ { fastcgi_pass unix:/run/php.sock; }
    }
}
stream {
    upstream db { hash $remote_addr consistent; server 10.0.0.31:3306; }
    server { listen 3306; proxy_pass db; proxy_timeout 10m; }
    upstream dns { server 10.0.0.41:53; }
    server { listen 53 udp; listen 53; proxy_pass dns; proxy_timeout 20s; proxy_responses 1; }
}
"#;

#[test]
fn a_check_of_mail_servers_is_kept() {
    let file = "listen mail\n  mode tcp\n  bind 10.0.0.1:25\n  option smtpchk EHLO mx.example.com\n  \
                server m1 10.0.0.41:25 check\n";
    let imported = haproxy("mail", file).unwrap();
    assert_eq!(imported.config.pools[0].health.0[0].kind, HealthKind::Smtp);
    assert_eq!(imported.report.missing_count(), 0, "{}", imported.report);
}

#[test]
fn an_nginx_file_becomes_services_rules_and_pools() {
    let imported = nginx("whole", NGINX).unwrap();
    let names: Vec<&str> =
        imported.config.virtual_services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["web-80", "www.example.com-443", "db-3306", "dns-53", "dns-53-2"]);
    let redirect = service(&imported, "web-80").rules[0].then.redirect.as_ref().unwrap();
    assert_eq!(redirect.location, "https://{host}{uri}");

    let tls = service(&imported, "www.example.com-443");
    assert_eq!((tls.limits.body, tls.timeouts.server.0.as_secs()), (8 << 20, 90));
    let paths: Vec<_> = tls
        .rules
        .iter()
        .map(|rule| {
            (rule.conditions.path.as_deref().or(rule.conditions.path_prefix.as_deref()), rule)
        })
        .collect();
    let order: Vec<_> = paths.iter().map(|(path, _)| *path).collect();
    assert_eq!(order, [Some("/ping"), Some("/static/api/"), Some("/static/"), None]);
    assert_eq!(paths[0].1.then.respond.as_ref().unwrap().body, "pong\n");
    let rewrite = paths[1].1.then.rewrite.as_ref().unwrap();
    assert_eq!((rewrite.prefix.as_str(), rewrite.with.as_str()), ("/static/api/", "/v1/"));
    assert_eq!(paths[2].1.then.deny, Some(404));
    assert_eq!(paths[3].1.then.pool.as_deref(), Some("app"));
    assert_eq!(paths[3].1.then.set_header["X-Edge"], "one");

    let app = imported.config.pools.iter().find(|pool| pool.name == "app").unwrap();
    assert_eq!((app.eject.failures, app.eject.time.0.as_secs()), (4, 20));
    assert_eq!(app.slow_start.unwrap().0.as_secs(), 30);
    assert_eq!((app.servers[0].weight, app.servers[1].backup), (2, true));
    assert_eq!(service(&imported, "db-3306").kind, Kind::Tcp);
    let dns = service(&imported, "dns-53");
    assert_eq!((dns.kind, dns.timeouts.session.0.as_secs()), (Kind::Udp, 20));
    assert_eq!(dns.limits.responses, 1);

    let report = imported.report.to_string();
    assert!(
        report.contains("files are not served") && report.contains("regular expression"),
        "{report}"
    );
    let text = imported.config.render().unwrap();
    assert_eq!(format!("{:?}", Config::parse(&text).unwrap()), format!("{:?}", imported.config));
}

#[test]
fn nginx_mirrors_become_mirrors_of_rules() {
    let text = "
upstream app { server 10.0.0.1; }
upstream shadow { server 10.0.0.2; }
server {
  listen 80;
  mirror /copy;
  location / { proxy_pass http://app; }
  location /none/ { proxy_pass http://app; mirror off; }
  location /other/ { proxy_pass http://app; mirror /path; mirror_request_body off; }
  location /gone/ { proxy_pass http://app; mirror /nowhere; }
  location /same/ { proxy_pass http://shadow; }
  location = /copy {
    internal;
    proxy_pass http://shadow$request_uri;
    proxy_set_header X-Original-URI $request_uri;
  }
  location = /path { internal; proxy_pass http://10.0.0.3:8080; }
}
";
    let imported = nginx("mirrors", text).unwrap();
    let rules = &imported.config.virtual_services[0].rules;
    let rules: Vec<_> = rules
        .iter()
        .map(|rule| {
            let path = rule.conditions.path.as_ref().or(rule.conditions.path_prefix.as_ref());
            let mirror = rule.then.mirror.as_ref().map(|mirror| mirror.pool.as_str());
            (path.map_or("", String::as_str), rule.then.deny, mirror)
        })
        .collect();
    let expected = [
        ("/copy", Some(404), None),
        ("/path", Some(404), None),
        ("/other/", None, Some("10.0.0.3:8080")),
        ("/none/", None, None),
        ("/gone/", None, None),
        ("/same/", None, None),
        ("", None, Some("shadow")),
    ];
    assert_eq!(rules, expected);
    let report = imported.report.to_string();
    for (line, part) in [
        (9, "copies have the content of the request"),
        (10, "the server has no location of this path"),
        (6, "the mirror is the upstream that gets the requests"),
        (6, "64 copies at once"),
        (15, "copies have the headers of the request"),
        (17, "copies have the path of the request, not '/path'"),
    ] {
        let place = format!("nginx.conf:{line}: ");
        assert!(
            report.lines().any(|l| l.starts_with(&place) && l.contains(part)),
            "{line}: {report}"
        );
    }
    let config = imported.config.render().unwrap();
    crate::engine::check(&Config::parse(&config).unwrap()).unwrap();
}

#[test]
fn nginx_servers_of_one_address_are_chosen_by_host() {
    let text = "
upstream a { server 10.0.0.1; }
upstream b { server 10.0.0.2; }
server { listen 80; server_name .wild.test; location /b/ { proxy_pass http://b; } }
server { listen 80 default_server; location / { proxy_pass http://a; } }
server { listen 80; server_name exact.wild.test; location / { proxy_pass http://b; } }
";
    let imported = nginx("hosts", text).unwrap();
    let service = &imported.config.virtual_services[0];
    let rules: Vec<_> = service
        .rules
        .iter()
        .map(|rule| {
            let c = &rule.conditions;
            let host = c.host.as_deref().or(c.host_suffix.as_deref()).unwrap_or("*");
            (host, c.path_prefix.as_deref(), rule.then.pool.as_deref(), rule.then.deny)
        })
        .collect();
    assert_eq!(
        rules,
        [
            ("wild.test", Some("/b/"), Some("b"), None),
            ("wild.test", None, None, Some(404)),
            ("exact.wild.test", None, Some("b"), None),
            (".wild.test", Some("/b/"), Some("b"), None),
            (".wild.test", None, None, Some(404)),
            ("*", None, Some("a"), None),
        ]
    );
}

#[test]
fn included_nginx_files_are_read_in_order_and_cycles_end() {
    let folder = Folder::new("include");
    let server = "server { listen 80; location / { proxy_pass http://10.0.0.1; } }\n";
    let main = folder.write("nginx.conf", "http {\n include conf.d/*.conf;\n}\n");
    folder.write("conf.d/b.conf", &server.replace("80", "81"));
    folder.write("conf.d/a.conf", server);
    folder.write("conf.d/ignored.txt", "not read }");
    let imported = import(Origin::Nginx, &main).unwrap();
    let ports: Vec<u16> = imported
        .config
        .virtual_services
        .iter()
        .map(|service| service.listen.addresses()[0].port())
        .collect();
    assert_eq!(ports, [80, 81]);
    folder.write("conf.d/a.conf", "include nginx.conf;");
    let error = import(Origin::Nginx, &main).unwrap_err().to_string();
    assert!(error.contains("does one include itself"), "{error}");
    for (text, part) in [
        ("http { server {", "does not end"),
        ("http { } }", "unexpected '}'"),
        ("http { server { listen 80 } }", "unexpected '}'"),
        ("events", "does not end with ';'"),
        ("http { a \"b", "a quote does not end"),
        ("events { }", "no 'server' with a 'listen'"),
    ] {
        let error = nginx("damaged", text).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}
