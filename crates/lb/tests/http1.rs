//! HTTP/1 through a running engine: what it answers by itself, and what it asks of several servers.

mod heads;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use heads::read_head;
use lb::Engine;
use lb::config::Config;

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    (listener, address)
}

/// A server that has one response for all requests, until the test ends.
fn server(status: u16, body: &'static str) -> SocketAddr {
    let (listener, address) = listener();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection");
            std::thread::spawn(move || {
                while read_head(&mut socket).is_some() {
                    let length = body.len();
                    let head =
                        format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n\r\n{body}");
                    let _gone = socket.write_all(head.as_bytes());
                }
            });
        }
    });
    address
}

/// An engine with one service, and a connection to it.
fn start(service: &str, pool: &str) -> (Engine, TcpStream) {
    let address = stdx::listening::free_address().expect("a free port");
    let text = format!(
        "threads: 1\nvirtual_services: [{{name: web, type: http, listen: '{address}', pool: app{service}}}]\n\
         pools: [{{name: app, {pool}}}]\n"
    );
    let config = Config::parse(&text).expect("a valid file");
    let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine");
    let client = TcpStream::connect(address).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    (engine, client)
}

/// Status, head and body of the response to a request without a body.
fn ask(client: &mut TcpStream, method: &str, more: &str) -> (u16, String, String) {
    let request = format!("{method} / HTTP/1.1\r\nHost: a.test\r\n{more}\r\n");
    client.write_all(request.as_bytes()).expect("an open connection");
    let head = read_head(client).expect("a response");
    let status = head[9..12].parse().expect("a status");
    let length = head.split("ontent-").find_map(|rest| rest.strip_prefix("Length: "));
    let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    client.read_exact(&mut body).expect("the whole body");
    (status, head, String::from_utf8(body).expect("text"))
}

#[test]
fn a_client_beyond_its_rate_gets_retry_after() {
    let app = server(200, "ok");
    let limit = ", rate_limit: {by: header, name: X-Key, requests: 2, per: 1h}";
    let (engine, mut client) = start(limit, &format!("servers: [{{name: s, address: '{app}'}}]"));
    let statuses = |client: &mut TcpStream, key: &str| {
        [(); 3].map(|()| ask(client, "GET", &format!("X-Key: {key}\r\n")).0)
    };
    assert_eq!(statuses(&mut client, "a"), [200, 200, 429]);
    assert_eq!(statuses(&mut client, "b"), [200, 200, 429], "another client, on the connection");
    let (_, head, body) = ask(&mut client, "GET", "X-Key: a\r\n");
    let seconds = head.split("Retry-After: ").nth(1).and_then(|rest| rest.split('\r').next());
    let seconds: u32 = seconds.expect("Retry-After").parse().expect("seconds");
    assert!((1_700..=1_800).contains(&seconds), "half of the time for one of two: {seconds}");
    assert_eq!(body, "429 Too Many Requests\n");
    assert_eq!(ask(&mut client, "GET", "").0, 200, "a request without the header");
    engine.stop();
}

#[test]
fn a_status_is_repeated_on_another_server_while_there_is_one() {
    let (bad, good) = (server(503, "overloaded"), server(200, "ok"));
    let pool = |other: SocketAddr, on: &str| {
        format!(
            "servers: [{{name: s1, address: '{bad}'}}, {{name: s2, address: '{other}'}}], \
             retries: {{on: [{on}], count: 3}}"
        )
    };
    let (engine, mut client) = start("", &pool(good, "503"));
    let answers = |client: &mut TcpStream, method: &str| {
        let mut answers = [(); 4].map(|()| ask(client, method, "Content-Length: 0\r\n").0);
        answers.sort_unstable();
        answers
    };
    assert_eq!(answers(&mut client, "GET"), [200; 4]);
    assert_eq!(answers(&mut client, "POST"), [200, 200, 503, 503], "a method that changes things");
    engine.stop();
    let (engine, mut client) = start("", &pool(good, "502"));
    assert_eq!(answers(&mut client, "GET"), [200, 200, 503, 503], "another status");
    engine.stop();
    let (engine, mut client) = start("", &pool(server(503, "overloaded"), "503"));
    let (status, _, body) = ask(&mut client, "GET", "");
    assert_eq!((status, body.as_str()), (503, "overloaded"), "the response of the last server");
    engine.stop();
}
