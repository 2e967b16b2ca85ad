//! What servers, rules and scripts see of a request.

use super::heads::read_head;
use super::{Server, TIMEOUT, ask, basic, connect, policies, start, status};

#[test]
fn head_gets_the_length_of_a_response_to_get() {
    let server = Server::start();
    let rules = "  rules:\n  - {then: {respond: {status: 200, body: hello}}}\n";
    let (engine, address) = start(rules, server.address);
    for method in ["HEAD", "GET"] {
        let mut client = connect(address);
        ask(&mut client, &format!("{method} / HTTP/1.1"), "");
        let head = read_head(&mut client).unwrap();
        assert!(head.contains("Content-Length: 5\r\n"), "{method}: {head}");
    }
    engine.stop();
}

#[test]
fn a_rewrite_does_not_make_a_path_of_the_query() {
    let server = Server::start();
    let rules = "  rules:\n  - {then: {rewrite: {prefix: /, with: /app/}}}\n  \
                 - {if: {path_prefix: /admin}, then: {respond: {status: 403}}}\n";
    let (engine, address) = start(rules, server.address);
    for (target, sent) in [
        ("http://a.test?admin/users", "/app/?admin/users"),
        ("http://a.test", "/app/"),
        ("/x?y", "/app/x?y"),
    ] {
        server.respond("", "ok");
        let mut client = connect(address);
        ask(&mut client, &format!("GET {target} HTTP/1.1"), "");
        assert_eq!(status(&read_head(&mut client).unwrap()), "200");
        let head = server.heads.recv_timeout(TIMEOUT).unwrap();
        assert!(head.starts_with(&format!("GET {sent} HTTP/1.1\r\n")), "{head}");
    }
    engine.stop();
}

#[test]
fn rules_and_scripts_see_the_proven_user_and_no_forged_one() {
    let server = Server::start();
    let rules = "  rules:\n  - {if: {header: {name: X-User, value: alice}}, then: {set_header: {X-Rule: hers}}}\n  \
                 - {then: {script: {request: \"request.setHeader('X-Seen', String(request.header('x-user')))\"}}}\n  \
                 - {if: {path: /open}, then: {authentication: none}}\n";
    let (engine, address) = start(&policies(rules), server.address);
    let proven = format!("X-User: root\r\nX_User: root\r\n{}", basic("alice:secret"));
    for (path, fields, hers, seen) in
        [("/", &*proven, true, "alice"), ("/open", "X-User: alice\r\n", false, "null")]
    {
        server.respond("", "ok");
        let mut client = connect(address);
        ask(&mut client, &format!("GET {path} HTTP/1.1"), fields);
        assert_eq!(status(&read_head(&mut client).unwrap()), "200");
        let head = server.heads.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(head.contains("X-Rule: hers\r\n"), hers, "{head}");
        assert!(head.contains(&format!("X-Seen: {seen}\r\n")), "{head}");
    }
    engine.stop();
}

#[test]
fn no_spelling_of_headers_that_the_balancer_sets_is_passed_on() {
    let server = Server::start();
    let (engine, address) = start("  forwarded: {client_cert: true}\n", server.address);
    server.respond("", "ok");
    let mut client = connect(address);
    let forged = "X_Client_CN: admin\r\nX-Client_CN: admin\r\nX_Forwarded_For: admin\r\nX_Forwarded_Proto: admin\r\n\
                  X-Forwarded-Proto: admin\r\nX-Forwarded_Port: admin\r\nX_Other: stays\r\n";
    ask(&mut client, "GET / HTTP/1.1", forged);
    assert_eq!(status(&read_head(&mut client).unwrap()), "200");
    let head = server.heads.recv_timeout(TIMEOUT).unwrap();
    assert!(!head.contains("admin") && head.contains("X_Other: stays\r\n"), "{head}");
    engine.stop();
}
