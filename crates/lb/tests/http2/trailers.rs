//! Trailers of requests between all versions.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use proxying::http2::frame::{self, Code};
use stdx::listening::free_address;

use crate::side::{Seen, Side, TIMEOUT, listener, read_head, request};
use crate::{config, start};

/// A client of HTTP/1 that has sent these bytes.
fn client(service: std::net::SocketAddr, bytes: &str) -> TcpStream {
    let mut client = TcpStream::connect(service).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client.write_all(bytes.as_bytes()).expect("an open connection");
    client
}

/// The head of the next request at a server of HTTP/1, and its chunks with their trailers.
fn chunked(origin: &TcpListener) -> (TcpStream, String, String) {
    let mut socket = accept(origin);
    let (head, chunks) = read_chunked(&mut socket);
    (socket, head, chunks)
}

fn accept(origin: &TcpListener) -> TcpStream {
    let socket = origin.accept().expect("a connection").0;
    socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    socket
}

fn read_chunked(socket: &mut TcpStream) -> (String, String) {
    let head = read_head(socket);
    assert!(head.contains("\r\nTransfer-Encoding: chunked\r\n"), "{head}");
    let mut chunks = String::new();
    while !chunks.contains("0\r\n") || !chunks.ends_with("\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("the whole request");
        chunks.push(char::from(byte[0]));
    }
    (head, chunks)
}

fn pairs(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What belongs in a head, and what a recipient could take for a header of the balancer.
const REFUSED: &str = "Host: evil\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\
    Authorization: Basic YTpi\r\nProxy-Authorization: Basic YTpi\r\nCookie: a=b\r\n\
    X-Forwarded-For: 1.2.3.4\r\nConnection: close\r\nContent-Encoding: gzip\r\nRange: bytes=1-\r\n\
    Expect: 100-continue\r\nX-Hop: 1\r\n";

const HEAD: &str = "POST /up HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\
    Connection: x-hop\r\nTrailer: X-Sum\r\n\r\n";

#[test]
fn trailers_pass_from_http_1_to_http_1() {
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let next = "GET /next HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let chunks = "3;x=y\r\nabc\r\n0\r\n";
    let text = format!("{HEAD}{chunks}{REFUSED}X-Sum:  6 \r\nx-b: c\r\n\r\n{next}");
    let mut client = client(service, &text);
    let (mut socket, head, chunks) = chunked(&origin);
    assert!(head.contains("\r\nTrailer: X-Sum\r\n"), "{head}");
    assert!(!head.contains("X-Sum: 6"), "never merged into the head: {head}");
    assert_eq!(chunks, "3\r\nabc\r\n0\r\nX-Sum: 6\r\nx-b: c\r\n\r\n");
    let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    socket.write_all(response.as_bytes()).unwrap();
    assert!(read_head(&mut client).starts_with("HTTP/1.1 200 "));
    let head = read_head(&mut socket);
    assert!(head.starts_with("GET /next HTTP/1.1\r\n"), "the request behind it: {head}");
    engine.stop();
}

#[test]
fn trailers_pass_from_http_1_to_http_2() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let text = format!("{HEAD}3\r\nabc\r\n0\r\n{REFUSED}X-Sum: 6\r\n\r\n");
    let client = client(service, &text);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
    assert_eq!(upstream.next(), Seen::Trailers(1, pairs(&[("x-sum", "6")])));
    drop(client);
    engine.stop();
}

#[test]
fn trailers_pass_from_http_2_to_http_1_in_chunks() {
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/", &[]), false);
    client.send(stream, b"abc", false);
    let fields = [("authorization", "Basic YTpi"), ("x-sum", "6"), ("via", "evil")];
    client.head(stream, &fields, true);
    let (mut socket, _, chunks) = chunked(&origin);
    assert_eq!(chunks, "3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n");
    socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert_eq!(client.fields(stream), pairs(&[(":status", "204")]));
    // Behind a length, HTTP/1 has no place for them.
    let stream = client.open(&request("POST", "/", &[("content-length", "3")]), false);
    client.send(stream, b"abc", false);
    client.head(stream, &[("x-sum", "6")], true);
    let head = read_head(&mut socket);
    assert!(head.contains("\r\nContent-Length: 3\r\n"), "{head}");
    let mut three = [0; 3];
    socket.read_exact(&mut three).unwrap();
    socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    assert_eq!(client.fields(stream), pairs(&[(":status", "204")]));
    engine.stop();
}

#[test]
fn trailers_that_come_late_pass_behind_a_length_to_http_2() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/", &[("content-length", "3")]), false);
    client.send(stream, b"abc", false);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
    client.head(stream, &[("x-sum", "6")], true);
    assert_eq!(upstream.next(), Seen::Trailers(1, pairs(&[("x-sum", "6")])));
    engine.stop();
}

#[test]
fn large_trailers_wait_for_room_behind_a_slow_server() {
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/", &[]), false);
    let (content, long) = (vec![b'x'; 16_000], "y".repeat(12_000));
    client.send(stream, &content, false);
    client.send(stream, &content, false);
    client.head(stream, &[("x-long", &long)], true);
    let (_socket, _, chunks) = chunked(&origin);
    assert!(chunks.ends_with(&format!("0\r\nx-long: {long}\r\n\r\n")), "{}", chunks.len());
    assert!(chunks.len() > 2 * content.len() + long.len());
    engine.stop();
}

#[test]
fn a_repeated_request_has_its_trailers() {
    // A server that has not processed a stream of HTTP/2.
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/", &[]), false);
    client.send(stream, b"abc", false);
    client.head(stream, &[("x-sum", "6")], true);
    let mut upstream = Side::server(&origin);
    let expect = |upstream: &mut Side| {
        upstream.fields(1);
        assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
        assert_eq!(upstream.next(), Seen::Trailers(1, pairs(&[("x-sum", "6")])));
    };
    expect(&mut upstream);
    frame::goaway(&mut upstream.connection.output, 0, Code::NoError);
    upstream.flush();
    expect(&mut Side::server(&origin));
    engine.stop();
    // A kept connection of HTTP/1 that the server closes meanwhile.
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let mut client = Side::client(service);
    let first = client.open(&request("GET", "/", &[]), true);
    let mut socket = accept(&origin);
    read_head(&mut socket);
    socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    client.fields(first);
    let stream = client.open(&request("PUT", "/", &[]), false);
    client.send(stream, b"abc", false);
    client.head(stream, &[("x-sum", "6")], true);
    let (_, chunks) = read_chunked(&mut socket);
    drop(socket);
    let (_socket, _, again) = chunked(&origin);
    assert_eq!([&chunks[..], &again[..]], ["3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n"; 2]);
    engine.stop();
}

#[test]
fn rules_drop_trailers() {
    let (origin, server) = listener();
    let service = free_address().unwrap();
    let mut config = config(service, server, "");
    let rule = "{then: {del_header: [X-Gone], set_header: {X-Set: own}}}";
    let text = format!(
        "virtual_services: [{{name: a, type: http, listen: '127.0.0.1:1', pool: a, rules: [{rule}]}}]\npools: []\n"
    );
    let rules = lb::config::Config::parse(&text).unwrap().virtual_services.remove(0).rules;
    config.virtual_services[0].rules = rules;
    let engine = lb::Engine::start(&config, &stdx::clock::RealClock::shared()).unwrap();
    let text = format!("{HEAD}0\r\nx-gone: 1\r\nX-SET: evil\r\nX-Sum: 0\r\n\r\n");
    let _client = client(service, &text);
    let (_socket, head, chunks) = chunked(&origin);
    assert!(head.contains("\r\nX-Set: own\r\n"), "{head}");
    assert_eq!(chunks, "0\r\nX-Sum: 0\r\n\r\n");
    engine.stop();
}
