//! Servers, engines and clients for tests of copies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use stdx::listening::free_address;

use crate::side::{TIMEOUT, listener, read_head};

/// What a server does with a request that it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Habit {
    Respond,
    Hang,
    Close,
}

/// A request as a server got it.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) head: String,
    pub(crate) body: String,
}

pub(crate) fn length_of(head: &str) -> Option<usize> {
    let line = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    line.parse().ok()
}

/// Reads one request; `None`: the connection has ended.
pub(crate) fn read_request(socket: &mut TcpStream) -> Option<Got> {
    let mut first = [0];
    if socket.peek(&mut first).ok()? == 0 {
        return None;
    }
    let head = read_head(socket);
    let mut body = vec![0; length_of(&head).unwrap_or(0)];
    socket.read_exact(&mut body).ok()?;
    if head.contains("Transfer-Encoding: chunked") {
        let ended = |body: &[u8]| {
            body.ends_with(b"\r\n\r\n")
                && (body.starts_with(b"0\r\n") || body.windows(5).any(|five| five == b"\r\n0\r\n"))
        };
        while !ended(&body) {
            let mut byte = [0];
            socket.read_exact(&mut byte).ok()?;
            body.extend(byte);
        }
    }
    Some(Got { head, body: String::from_utf8(body).ok()? })
}

/// A server of HTTP/1 with its requests.
pub(crate) fn server(habit: Habit) -> (SocketAddr, Receiver<Got>) {
    let (listener, address) = listener();
    let (sender, receiver) = sync_channel(1_000);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let (mut socket, sender) = (socket.expect("a connection"), sender.clone());
            std::thread::spawn(move || {
                while let Some(got) = read_request(&mut socket) {
                    let _ended = sender.send(got);
                    match habit {
                        Habit::Respond => {
                            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                            let _gone = socket.write_all(head);
                        }
                        Habit::Hang => std::thread::sleep(2 * TIMEOUT),
                        Habit::Close => return,
                    }
                }
            });
        }
    });
    (address, receiver)
}

/// An engine whose service has `more`, with the pools `app` and `shadow`, the latter with `of_shadow`.
pub(crate) fn start(
    app: SocketAddr,
    shadow: SocketAddr,
    more: &str,
    of_shadow: &str,
) -> (Engine, SocketAddr) {
    start_with(app, shadow, more, ["", of_shadow])
}

pub(crate) fn start_with(
    app: SocketAddr,
    shadow: SocketAddr,
    more: &str,
    [of_app, of_shadow]: [&str; 2],
) -> (Engine, SocketAddr) {
    let service = free_address().expect("a free port");
    let text = format!(
        "threads: 1
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, h2c: both, {more}}}
pools:
  - {{name: app, servers: [{{name: s, address: '{app}'}}]{of_app}}}
  - {{name: shadow, servers: [{{name: s, address: '{shadow}'}}]{of_shadow}}}
"
    );
    let config = Config::parse(&text).expect("a valid file");
    let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine");
    (engine, service)
}

pub(crate) fn connect(service: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(service).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client
}

/// Sends a request and reads its response.
pub(crate) fn ask(client: &mut TcpStream, text: &str) {
    client.write_all(text.as_bytes()).expect("an open connection");
    let head = read_head(client);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut body = [0; 2];
    client.read_exact(&mut body).expect("the whole response");
    assert_eq!(&body, b"ok");
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a.test\r\nCookie: a=b\r\n\r\n")
}

pub(crate) fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {length}\r\n\r\n{body}")
}

pub(crate) fn next(of: &Receiver<Got>) -> Got {
    of.recv_timeout(TIMEOUT).expect("a request in time")
}

/// Repeats a request until a copy arrives.
pub(crate) fn until_copied(client: &mut TcpStream, text: &str, copies: &Receiver<Got>) -> Got {
    let pause = Duration::from_millis(50);
    let found = (0..1_000).find_map(|_| {
        ask(client, text);
        copies.recv_timeout(pause).ok()
    });
    found.expect("a copy in time")
}

/// That no copy comes that the engine has already sent, or may still send.
pub(crate) fn none(of: &Receiver<Got>) {
    if let Ok(got) = of.recv_timeout(Duration::from_millis(300)) {
        panic!("{got:?}");
    }
}
