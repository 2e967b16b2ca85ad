//! Servers of HTTP/2 that respond before the end of the request, and want no more of it (RFC 9113, 8.1).

use std::io::{Read, Write};
use std::net::TcpStream;

use proxying::http2::frame::Code;

use crate::side::{Seen, Side, TIMEOUT, block, listener, request, value};
use crate::start;

/// Responds to a request that goes on, and ends its stream without an error, at once.
fn refuse(upstream: &mut Side, stream: u32) {
    let head = block(&[(":status", "403"), ("content-length", "3")]);
    upstream.connection.send_headers(stream, &head, false);
    assert_eq!(upstream.connection.send_data(stream, b"no!", true), 3);
    assert!(!upstream.connection.is_open(stream), "it is reset");
    upstream.flush();
}

#[test]
fn early_response_arrives_in_whole_over_http_2() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/up", &[]), false);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    refuse(&mut upstream, 1);
    assert_eq!(value(&client.fields(stream), ":status"), Some("403"));
    assert_eq!(client.next(), Seen::Data(stream, b"no!".to_vec(), true));
    assert_eq!(client.next(), Seen::Reset(stream, Code::NoError as u32));
    // The connection to the server carries the next request.
    let next = client.open(&request("GET", "/next", &[]), true);
    upstream.fields(3);
    upstream.head(3, &[(":status", "204")], true);
    assert_eq!(value(&client.fields(next), ":status"), Some("204"));
    engine.stop();
}

#[test]
fn early_response_arrives_in_whole_over_http_1() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = TcpStream::connect(service).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let head = "POST /up HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\
        Content-Length: 9\r\n\r\nbegin";
    client.write_all(head.as_bytes()).expect("an open connection");
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    refuse(&mut upstream, 1);
    client.write_all(b"rest").expect("an open connection");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("a whole response");
    assert!(
        response.starts_with("HTTP/1.1 403 ") && response.ends_with("\r\n\r\nno!"),
        "{response}"
    );
    engine.stop();
}

#[test]
fn incomplete_response_stays_an_error() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/up", &[]), false);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    upstream.head(1, &[(":status", "200"), ("content-length", "3")], false);
    assert_eq!(value(&client.fields(stream), ":status"), Some("200"));
    upstream.connection.reset(1, Code::NoError);
    upstream.flush();
    assert_eq!(client.next(), Seen::Reset(stream, Code::NoError as u32));
    engine.stop();
}
