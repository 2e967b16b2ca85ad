//! Which requests a stored response is for.

use std::io::{Read, Write};

use base64::Engine as _;

use super::{FRESH, TIMEOUT, body, connect, numbered, send, server, start};

#[test]
fn variants_are_kept_apart() {
    let vary = "Cache-Control: max-age=600\r\nVary: Accept-Language, X-A\r\n";
    let (app, heads) = server(move |_, number| numbered(vary, number));
    let (engine, service) = start(app, "", "");
    let requests = [
        "Accept-Language: de\r\n",
        "Accept-Language: en\r\n",
        "Accept-Language: de\r\nX-A: \r\n",
        "",
    ];
    for _ in 0..2 {
        let bodies = requests.map(|request| body(service, "/a", request));
        assert_eq!(bodies, ["1", "2", "3", "4"]);
    }
    assert_eq!(heads.try_iter().count(), 4);
    engine.stop();
}

#[test]
fn clients_do_not_choose_variants_that_servers_do_not_see() {
    let vary = "Cache-Control: max-age=600\r\nVary: X-A\r\n";
    let (app, heads) = server(move |_, number| numbered(vary, number));
    let (engine, service) = start(app, ", key_headers: [X-Tenant]", "");
    for name in ["X-A", "X-Tenant"] {
        let mut client = connect(service);
        let request = "GET /a HTTP/1.1\r\nHost: a.test\r\n";
        let request = format!("{request}{name}: b\r\nConnection: close, {name}\r\n\r\n");
        client.write_all(request.as_bytes()).expect("an open connection");
        let mut response = String::new();
        client.read_to_string(&mut response).expect("a response");
        let head = heads.recv_timeout(TIMEOUT).expect("a request");
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains(name), "{head}");
    }
    assert_eq!(body(service, "/a", "X-A: b\r\n"), "3");
    assert_eq!(body(service, "/a", "X-Tenant: b\r\n"), "4");
    engine.stop();
}

#[test]
fn forgotten_names_of_vary_are_added() {
    let coded = "Cache-Control: max-age=600\r\nContent-Encoding: br\r\n";
    let (app, _heads) = server(move |_, number| numbered(coded, number));
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", "Accept-Encoding: br\r\n"), "1");
    assert_eq!(body(service, "/a", ""), "2", "a client that cannot decode it");
    engine.stop();
}

#[test]
fn each_spelling_of_a_resource_has_its_own_response() {
    let (app, _heads) = server(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    let different = [
        "GET /a HTTP/1.1\r\nHost: a.test\r\n",
        "GET /a HTTP/1.1\r\nHost: a.test:81\r\n",
        "GET /a HTTP/1.1\r\nHost: a.test.\r\n",
        "GET /a HTTP/1.1\r\nHost: b.test\r\n",
        "GET /A HTTP/1.1\r\nHost: a.test\r\n",
        "GET /%61 HTTP/1.1\r\nHost: a.test\r\n",
        "GET /a? HTTP/1.1\r\nHost: a.test\r\n",
        "GET /a/ HTTP/1.1\r\nHost: a.test\r\n",
        "GET //a HTTP/1.1\r\nHost: a.test\r\n",
        "GET http://c.test/a HTTP/1.1\r\nHost: a.test\r\n",
    ];
    let bodies = different.map(|lines| send(service, lines).2);
    for (at, body) in bodies.iter().enumerate() {
        assert_eq!(*body, (at + 1).to_string(), "{}", different[at]);
    }
    for (lines, expected) in [
        ("GET /a HTTP/1.1\r\nHost: A.Test\r\n", "1"),
        ("GET http://a.test/a HTTP/1.1\r\nHost: b.test\r\n", "1"),
        ("GET http://b.test/a HTTP/1.1\r\nHost: a.test\r\n", "4"),
        ("GET /a HTTP/1.1\r\nHost: c.test\r\n", "10"),
    ] {
        assert_eq!(send(service, lines).2, expected, "{lines}");
    }
    engine.stop();
}

#[test]
fn requests_that_the_key_does_not_describe_are_passed() {
    let (app, _heads) = server(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    let mut last = body(service, "/a", "").parse::<usize>().expect("a number");
    for header in [
        "X-Forwarded-Host: evil.test\r\n",
        "X-Original-URL: /admin\r\n",
        "X-HTTP-Method-Override: DELETE\r\n",
        "x_forwarded_host: evil.test\r\n",
        "Forwarded: host=evil.test\r\n",
        "Range: bytes=0-0\r\n",
        "If-Match: \"x\"\r\n",
        "X-Vedette-Mirror: 1\r\n",
    ] {
        for path in ["/a", "/b"] {
            last += 1;
            assert_eq!(body(service, path, header), last.to_string(), "{header}");
        }
    }
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(body(service, "/b", ""), (last + 1).to_string(), "nothing was stored for it");
    engine.stop();
}

#[test]
fn a_get_with_content_is_passed() {
    // The next head begins with the content, which is one byte.
    let (app, _heads) = server(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    let mut client = connect(service);
    let request =
        "GET /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
    client.write_all(request.as_bytes()).expect("an open connection");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("a response");
    assert!(response.ends_with("\r\n\r\n1"), "{response}");
    assert_eq!(body(service, "/a", ""), "2");
    engine.stop();
}

#[test]
fn pools_and_header_edits_have_responses_of_their_own() {
    let (app, _heads) =
        server(|_, number| numbered("Cache-Control: public, max-age=600\r\n", number));
    let rules = ", rules: [{if: {cookie: {name: beta, value: '1'}}, then: {pool: beta}}, \
                 {if: {header: {name: X-Plan, value: pro}}, then: {set_header: {X-Tier: pro}}}, \
                 {if: {path_prefix: /never/}, then: {no_cache: true}}]";
    let (engine, service) = start(app, ", key_headers: [X-Tenant]", rules);
    let requests =
        ["", "Cookie: beta=1\r\n", "X-Plan: pro\r\n", "X-Tenant: a\r\n", "X-Tenant: b\r\n"];
    for _ in 0..2 {
        let bodies = requests.map(|request| body(service, "/a", request));
        assert_eq!(bodies, ["1", "2", "3", "4", "5"]);
    }
    assert_eq!(body(service, "/never/a", ""), "6");
    assert_eq!(body(service, "/never/a", ""), "7");
    engine.stop();
}

#[test]
fn users_of_a_header_in_the_key_have_their_own_responses() {
    let hash = bcrypt::hash("secret", 4).expect("a hash");
    let users = format!(
        ", authentication: {{require: staff, basic: [{{name: staff, users: {{alice: '{hash}', bob: '{hash}'}}, \
         user_header: X-User, pass_authorization: false}}]}}"
    );
    let (app, heads) = server(|_, number| numbered("Cache-Control: s-maxage=600\r\n", number));
    let (engine, service) = start(app, ", key_headers: [X-User]", &users);
    let ask = |user: &str| {
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:secret"));
        body(service, "/a", &format!("X-User: mallory\r\nAuthorization: Basic {pair}\r\n"))
    };
    let bodies = ["alice", "bob", "alice", "bob"].map(ask);
    assert_eq!(bodies, ["1", "2", "1", "2"]);
    assert_eq!(heads.try_iter().count(), 2);
    engine.stop();
}
