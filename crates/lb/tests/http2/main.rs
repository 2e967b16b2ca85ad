//! HTTP/2 through a running engine, with the frames of clients and servers in the test's hands.

mod cached;
mod copying;
mod early;
mod mirrors;
mod side;
mod stalls;
mod trailers;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use proxying::http2::frame::{self, Code};
use stdx::listening::free_address;

use side::{Seen, Side, TIMEOUT, block, listener, read_head, request, value};

/// An engine with one service, `more` in its pool.
fn config(service: SocketAddr, server: SocketAddr, more: &str) -> Config {
    let text = format!(
        "threads: 1
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, h2c: both}}
pools:
  - {{name: app, servers: [{{name: s, address: '{server}'}}]{more}}}
"
    );
    Config::parse(&text).expect("a valid file")
}

fn start(server: SocketAddr, more: &str) -> (Engine, SocketAddr) {
    let service = free_address().expect("a free port");
    let clock = stdx::clock::RealClock::shared();
    (Engine::start(&config(service, server, more), &clock).expect("an engine"), service)
}

#[test]
fn a_websocket_connection_is_a_stream() {
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let mut client = Side::client(service);
    let connect = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "http"),
        (":authority", "a.test"),
        (":path", "/chat"),
        ("sec-websocket-version", "13"),
    ];
    let stream = client.open(&block(&connect), false);
    let mut socket = origin.accept().unwrap().0;
    let head = read_head(&mut socket);
    assert!(head.starts_with("GET /chat HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nUpgrade: websocket\r\n"), "{head}");
    let key = head.lines().find_map(|line| line.strip_prefix("sec-websocket-key: ")).unwrap();
    assert!(key.len() == 24 && key.ends_with("=="), "{key}");
    socket
        .write_all(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\
              Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: p\r\n\r\nhi",
        )
        .unwrap();
    let fields = client.fields(stream);
    assert_eq!(value(&fields, ":status"), Some("200"));
    assert_eq!(value(&fields, "sec-websocket-protocol"), Some("p"));
    assert_eq!(value(&fields, "sec-websocket-accept"), None);
    assert_eq!(client.next(), Seen::Data(stream, b"hi".to_vec(), false));
    client.send(stream, b"hello", false);
    let mut five = [0; 5];
    socket.read_exact(&mut five).unwrap();
    assert_eq!(&five, b"hello");
    drop(socket);
    assert_eq!(client.next(), Seen::Data(stream, Vec::new(), true));
    engine.stop();
}

#[test]
fn a_client_that_does_not_read_stops_the_reads_from_the_server() {
    const WHOLE: usize = 64 << 20;
    let (origin, server) = listener();
    let (engine, service) = start(server, "");
    let mut client = Side::client(service);
    let slow = client.open(&request("GET", "/large", &[]), true);
    let mut socket = origin.accept().unwrap().0;
    read_head(&mut socket);
    socket.set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
        .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {WHOLE}\r\n\r\n").as_bytes())
        .unwrap();
    let piece = vec![b'x'; 1 << 20];
    let mut written = 0;
    while let Ok(length @ 1..) = socket.write(&piece) {
        written += length;
        assert!(written < WHOLE, "the client does not read, and all bytes were taken");
    }
    // Another stream of the same connection is served meanwhile.
    let quick = client.open(&request("GET", "/small", &[]), true);
    let mut second = origin.accept().unwrap().0;
    read_head(&mut second);
    second.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
    socket.set_write_timeout(None).unwrap();
    let rest = std::thread::spawn(move || {
        while written < WHOLE {
            written += socket.write(&piece[..piece.len().min(WHOLE - written)]).unwrap();
        }
    });
    let (mut of_slow, mut of_quick, mut ends) = (0, Vec::new(), 0);
    while ends < 2 {
        match client.next() {
            Seen::Head(..) => {}
            Seen::Data(stream, data, end) => {
                ends += usize::from(end);
                if stream == quick {
                    of_quick.extend(data);
                    assert!(of_slow < WHOLE / 2, "the small response waits for the large one");
                } else {
                    assert_eq!(stream, slow);
                    of_slow += data.len();
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((of_slow, &of_quick[..]), (WHOLE, &b"ok"[..]));
    rest.join().unwrap();
    engine.stop();
}

#[test]
fn removed_service_finishes_open_requests() {
    let (origin, server) = listener();
    let (mut engine, service) = start(server, "");
    let mut client = Side::client(service);
    let first = client.open(&request("GET", "/1", &[]), true);
    let mut socket = origin.accept().unwrap().0;
    read_head(&mut socket);
    let other = free_address().expect("a free port");
    engine.apply(&config(other, server, "")).unwrap();
    assert_eq!(client.next(), Seen::GoAway(frame::WINDOW_MAX));
    // The client confirms with the next read that it knows.
    assert_eq!(client.next(), Seen::GoAway(first));
    socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert_eq!(value(&client.fields(first), ":status"), Some("200"));
    assert_eq!(client.next(), Seen::GoAway(first));
    assert_eq!(client.next(), Seen::Closed);
    engine.stop();
}

#[test]
fn requests_share_a_connection_and_trailers_pass_both_ways() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: grpc");
    let mut client = Side::client(service);
    let te = [("te", "trailers"), ("content-type", "application/grpc")];
    let first = client.open(&request("POST", "/1", &te), false);
    let second = client.open(&request("POST", "/2", &te), false);
    let mut upstream = Side::server(&origin);
    for (stream, path) in [(1, "/1"), (3, "/2")] {
        let fields = upstream.fields(stream);
        let wanted = [
            (":method", "POST"),
            (":authority", "a.test"),
            (":path", path),
            ("te", "trailers"),
            ("x-forwarded-for", "127.0.0.1"),
        ];
        for (name, text) in wanted {
            assert_eq!(value(&fields, name), Some(text), "{fields:?}");
        }
        assert_eq!(value(&fields, "connection"), None);
    }
    client.send(first, b"abc", false);
    assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
    // RFC 9110, 6.5.1: nothing that authenticates belongs in trailers.
    client.head(first, &[("authorization", "Basic YTpi"), ("x-sum", "6")], true);
    assert_eq!(upstream.next(), Seen::Trailers(1, vec![("x-sum".to_owned(), "6".to_owned())]));
    upstream.head(1, &[(":status", "200")], false);
    upstream.send(1, b"def", false);
    assert_eq!(client.fields(first), [(":status".to_owned(), "200".to_owned())]);
    assert_eq!(client.next(), Seen::Data(first, b"def".to_vec(), false));
    upstream.head(1, &[("grpc-status", "0")], true);
    let status = vec![("grpc-status".to_owned(), "0".to_owned())];
    assert_eq!(client.next(), Seen::Trailers(first, status));
    // A reset stays a reset, with its code, also behind a head.
    upstream.head(3, &[(":status", "200")], false);
    client.fields(second);
    upstream.connection.reset(3, Code::EnhanceYourCalm);
    upstream.flush();
    assert_eq!(client.next(), Seen::Reset(second, Code::EnhanceYourCalm as u32));
    engine.stop();
}

#[test]
fn what_a_server_has_not_processed_is_sent_once_more() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/", &[("content-length", "3")]), false);
    client.send(stream, b"abc", true);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), true));
    frame::goaway(&mut upstream.connection.output, 0, Code::NoError);
    upstream.flush();
    let mut again = Side::server(&origin);
    again.fields(1);
    assert_eq!(again.next(), Seen::Data(1, b"abc".to_vec(), true));
    again.head(1, &[(":status", "204")], true);
    assert_eq!(client.fields(stream), [(":status".to_owned(), "204".to_owned())]);
    engine.stop();
}

#[test]
fn a_client_of_http_1_gets_the_response_of_a_server_of_http_2() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = TcpStream::connect(service).unwrap();
    client.set_read_timeout(Some(TIMEOUT)).unwrap();
    client
        .write_all(
            b"POST / HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nConnection: TE\r\n\
              Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        )
        .unwrap();
    let mut upstream = Side::server(&origin);
    let fields = upstream.fields(1);
    assert_eq!(value(&fields, "transfer-encoding"), None);
    let mut content = Vec::new();
    loop {
        match upstream.next() {
            Seen::Data(1, data, end) => {
                content.extend(data);
                if end {
                    break;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(content, b"abc");
    upstream.head(1, &[(":status", "200"), ("x-a", "b")], false);
    upstream.send(1, b"hello", false);
    upstream.head(1, &[("x-sum", "5")], true);
    assert_eq!(
        read_head(&mut client),
        "HTTP/1.1 200 \r\nx-a: b\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    assert_eq!(read_head(&mut client), "5\r\nhello\r\n0\r\nx-sum: 5\r\n\r\n");
    engine.stop();
}

#[test]
fn a_response_that_the_server_cuts_off_is_not_complete() {
    let (origin, server) = listener();
    let (engine, service) = start(server, ", protocol: h2");
    let mut client = Side::client(service);
    let stream = client.open(&request("GET", "/", &[]), true);
    let mut upstream = Side::server(&origin);
    upstream.fields(1);
    upstream.head(1, &[(":status", "200")], false);
    upstream.send(1, b"half", false);
    client.fields(stream);
    assert_eq!(client.next(), Seen::Data(stream, b"half".to_vec(), false));
    drop(upstream);
    assert_eq!(client.next(), Seen::Reset(stream, Code::Internal as u32));
    engine.stop();
}

#[test]
fn calls_of_grpc_without_a_server_have_a_status_of_grpc() {
    let (origin, server) = listener();
    drop(origin);
    let (engine, service) = start(server, ", protocol: grpc");
    let mut client = Side::client(service);
    let call = client.open(&request("POST", "/", &[("content-type", "application/grpc")]), true);
    let fields = client.fields(call);
    assert_eq!(value(&fields, ":status"), Some("200"));
    assert_eq!(value(&fields, "grpc-status"), Some("14"));
    let other = client.open(&request("GET", "/", &[]), true);
    assert_eq!(value(&client.fields(other), ":status"), Some("503"));
    engine.stop();
}
