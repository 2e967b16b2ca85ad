//! Stored responses for clients of HTTP/2, and of servers of HTTP/2.

use std::net::SocketAddr;

use lb::Engine;
use lb::config::Config;

use crate::side::{Seen, Side, listener, request, value};

const FRESH: [(&str, &str); 2] = [(":status", "200"), ("cache-control", "max-age=600")];

/// An engine with a cache and a server of HTTP/2.
fn start(server: SocketAddr) -> (Engine, SocketAddr) {
    let service = stdx::listening::free_address().expect("a free port");
    let text = format!(
        "threads: 1
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, h2c: both, cache: {{size: 8M, max_object: 2M}}}}
pools:
  - {{name: app, protocol: h2, servers: [{{name: s, address: '{server}'}}]}}
"
    );
    let config = Config::parse(&text).expect("a valid file");
    let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine");
    (engine, service)
}

/// Head and content of the response on a stream.
fn response(client: &mut Side, stream: u32) -> (Vec<(String, String)>, Vec<u8>) {
    let (mut head, mut content) = (Vec::new(), Vec::new());
    loop {
        let ended = match client.next() {
            Seen::Head(of, fields, end) if of == stream => {
                head = fields;
                end
            }
            Seen::Data(of, data, end) if of == stream => {
                content.extend(data);
                end
            }
            other => panic!("on stream {stream}: {other:?}"),
        };
        if ended {
            return (head, content);
        }
    }
}

#[test]
fn streams_get_stored_responses_of_streams() {
    let (listening, address) = listener();
    let (engine, service) = start(address);
    let mut client = Side::client(service);
    let stream = client.open(&request("GET", "/a", &[]), true);
    let mut server = Side::server(&listening);
    let Seen::Head(asked, ..) = server.next() else { panic!("no request") };
    server.head(asked, &FRESH, false);
    server.send(asked, b"hello", true);
    let (_, content) = response(&mut client, stream);
    assert_eq!(content, b"hello");
    for (method, expected) in [("GET", &b"hello"[..]), ("HEAD", b""), ("GET", b"hello")] {
        let stream = client.open(&request(method, "/a", &[]), true);
        let (head, content) = response(&mut client, stream);
        assert_eq!((value(&head, ":status"), &content[..]), (Some("200"), expected), "{method}");
        assert_eq!(value(&head, "content-length"), Some("5"));
        assert!(value(&head, "age").is_some());
    }
    engine.stop();
}

#[test]
fn a_stream_that_is_reset_leaves_nothing() {
    let (listening, address) = listener();
    let (engine, service) = start(address);
    let mut client = Side::client(service);
    let first = client.open(&request("GET", "/a", &[]), true);
    let mut server = Side::server(&listening);
    let Seen::Head(asked, ..) = server.next() else { panic!("no request") };
    server.head(asked, &FRESH, false);
    server.send(asked, b"hel", false);
    server.connection.reset(asked, proxying::http2::frame::Code::Internal);
    server.flush();
    while !matches!(client.next(), Seen::Reset(of, _) if of == first) {}
    let second = client.open(&request("GET", "/a", &[]), true);
    let asked = loop {
        if let Seen::Head(asked, ..) = server.next() {
            break asked;
        }
    };
    server.head(asked, &FRESH, false);
    server.send(asked, b"hello", true);
    assert_eq!(response(&mut client, second).1, b"hello");
    engine.stop();
}

#[test]
fn a_confirmed_response_is_sent_without_new_content() {
    let (listening, address) = listener();
    let (engine, service) = start(address);
    let mut client = Side::client(service);
    let stream = client.open(&request("GET", "/a", &[]), true);
    let mut server = Side::server(&listening);
    let Seen::Head(asked, ..) = server.next() else { panic!("no request") };
    let stale = [&FRESH[..], &[("age", "900"), ("etag", "\"one\"")]].concat();
    server.head(asked, &stale, false);
    server.send(asked, b"hello", true);
    response(&mut client, stream);
    let stream = client.open(&request("GET", "/a", &[]), true);
    let Seen::Head(asked, fields, true) = server.next() else { panic!("no request") };
    assert_eq!(value(&fields, "if-none-match"), Some("\"one\""));
    let confirmed = [(":status", "304"), ("cache-control", "max-age=600"), ("etag", "\"one\"")];
    server.head(asked, &confirmed, true);
    let (head, content) = response(&mut client, stream);
    assert_eq!((value(&head, ":status"), &content[..]), (Some("200"), &b"hello"[..]));
    let stream = client.open(&request("GET", "/a", &[]), true);
    assert_eq!(response(&mut client, stream).1, b"hello", "it is fresh now");
    engine.stop();
}
