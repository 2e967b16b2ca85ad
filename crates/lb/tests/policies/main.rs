//! Compression and authentication through a running engine.

mod forwarding;
#[path = "../heads/mod.rs"]
mod heads;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use base64::Engine as _;
use heads::read_head;
use lb::Engine;
use lb::config::Config;
use proxying::http2::connection::{Connection, Event, Limits, Role};
use proxying::http2::hpack;

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server whose only connection is in the test's hands.
struct Server {
    address: SocketAddr,
    parts: SyncSender<Part>,
    heads: Receiver<String>,
}

/// What the server sends.
struct Part {
    /// It waits for a request first.
    responds: bool,
    bytes: Vec<u8>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a socket that works");
        let address = listener.local_addr().expect("a socket that works");
        let (parts, to_send) = sync_channel::<Part>(100);
        let (told, heads) = sync_channel(100);
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("a server that runs");
            for part in to_send {
                if part.responds {
                    let Some(head) = read_head(&mut socket) else { return };
                    let _gone = told.send(head);
                }
                let _gone = socket.write_all(&part.bytes);
            }
        });
        Self { address, parts, heads }
    }

    /// Sends more of a response.
    fn send(&self, bytes: &[u8]) {
        self.parts
            .send(Part { responds: false, bytes: bytes.to_vec() })
            .expect("a server that runs");
    }

    /// Begins a response to the next request.
    fn begin(&self, bytes: &[u8]) {
        self.parts
            .send(Part { responds: true, bytes: bytes.to_vec() })
            .expect("a server that runs");
    }

    /// A whole response with a length.
    fn respond(&self, fields: &str, body: &str) {
        let length = body.len();
        let response = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n{body}");
        self.begin(response.as_bytes());
    }
}

/// The next chunk; empty: the last one.
fn read_chunk(socket: &mut TcpStream) -> Vec<u8> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("a chunk");
        line.extend(byte);
    }
    let digits = std::str::from_utf8(&line).expect("a chunk").trim();
    let mut chunk = vec![0; usize::from_str_radix(digits, 16).expect("a chunk") + 2];
    socket.read_exact(&mut chunk).expect("a socket that works");
    chunk.truncate(chunk.len() - 2);
    chunk
}

fn read_chunks(socket: &mut TcpStream) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        match read_chunk(socket) {
            chunk if chunk.is_empty() => return body,
            chunk => body.extend(chunk),
        }
    }
}

/// What can be decoded so far.
fn decoded(coding: &str, coded: &[u8]) -> String {
    let mut text = Vec::new();
    let _so_far = match coding {
        "gzip" => flate2::read::GzDecoder::new(coded).read_to_end(&mut text),
        "br" => brotli::Decompressor::new(coded, 4096).read_to_end(&mut text),
        _ => zstd::stream::read::Decoder::new(coded).expect("text").read_to_end(&mut text),
    };
    String::from_utf8(text).expect("text")
}

/// An engine with one service, and its address.
fn start(service: &str, server: SocketAddr) -> (Engine, SocketAddr) {
    let address = stdx::listening::free_address().expect("a free port");
    let text = format!(
        "threads: 1\nvirtual_services:\n- name: web\n  type: http\n  listen: '{address}'\n  pool: app\n{service}\
         pools: [{{name: app, servers: [{{name: s, address: '{server}'}}]}}]\n"
    );
    let config = Config::parse(&text).expect("a valid file");
    (Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine"), address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client
}

fn ask(client: &mut TcpStream, line: &str, more: &str) {
    client
        .write_all(format!("{line}\r\nHost: a.test\r\n{more}\r\n").as_bytes())
        .expect("a socket that works");
}

const ALL: &str = "  compression: {algorithms: [zstd, br, gzip], min_length: 10}\n";
const HTML: &str = "Content-Type: text/html\r\n";

#[test]
fn responses_are_compressed_as_the_client_accepts() {
    let server = Server::start();
    let (engine, address) = start(ALL, server.address);
    let mut client = connect(address);
    let text = "Hello, hello, hello. ".repeat(5_000);
    for coding in ["gzip", "br", "zstd"] {
        let fields = "ETag: \"a\"\r\nAccept-Ranges: bytes\r\nVary: Origin\r\n";
        server.respond(&format!("{HTML}{fields}"), &text);
        ask(
            &mut client,
            "GET / HTTP/1.1",
            &format!("Accept-Encoding: {coding}, identity;q=0.5\r\n"),
        );
        let head = read_head(&mut client).unwrap();
        for field in [
            &format!("Content-Encoding: {coding}\r\n"),
            "Vary: Origin\r\n",
            "Vary: Accept-Encoding\r\n",
            "ETag: W/\"a\"\r\n",
            "Transfer-Encoding: chunked\r\n",
        ] {
            assert!(head.contains(field), "{field}: {head}");
        }
        assert!(!head.contains("Content-Length") && !head.contains("Accept-Ranges"), "{head}");
        let body = read_chunks(&mut client);
        assert!(body.len() < text.len() / 10);
        assert!(decoded(coding, &body) == text, "{coding}");
    }
    for (method, accepted, fields) in [
        ("GET", "", HTML.to_owned()),
        ("GET", "Accept-Encoding: gzip\r\n", format!("{HTML}Content-Encoding: gzip\r\n")),
        ("GET", "Accept-Encoding: gzip\r\n", format!("{HTML}Cache-Control: no-transform\r\n")),
        ("GET", "Accept-Encoding: gzip\r\n", "Content-Type: image/png\r\n".to_owned()),
        ("GET", "Accept-Encoding: gzip\r\nCache-Control: no-transform\r\n", HTML.to_owned()),
    ] {
        server.respond(&fields, "0123456789");
        ask(&mut client, &format!("{method} / HTTP/1.1"), accepted);
        let head = read_head(&mut client).unwrap();
        assert!(head.contains("Content-Length: 10\r\n"), "{head}");
        assert_eq!(head.contains("Vary"), accepted.is_empty(), "{head}");
        let mut body = [0; 10];
        client.read_exact(&mut body).unwrap();
        assert_eq!(&body, b"0123456789");
    }
    engine.stop();
}

#[test]
fn an_event_stream_leaves_event_by_event() {
    for coding in ["gzip", "br", "zstd"] {
        let server = Server::start();
        let (engine, address) = start(ALL, server.address);
        let mut client = connect(address);
        ask(&mut client, "GET / HTTP/1.1", &format!("Accept-Encoding: {coding}\r\n"));
        server.begin(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        read_head(&mut client).unwrap();
        let (mut coded, mut sent) = (Vec::new(), String::new());
        for event in 0..5 {
            // The next event is sent after the client has this one.
            let text = format!("data: {event}\n\n");
            server.send(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
            sent.push_str(&text);
            while decoded(coding, &coded) != sent {
                coded.extend(read_chunk(&mut client));
            }
        }
        server.send(b"0\r\n\r\n");
        coded.extend(read_chunks(&mut client));
        assert_eq!(decoded(coding, &coded), sent);
        engine.stop();
    }
}

#[test]
fn http_1_0_clients_get_the_body_until_the_end() {
    let rule = "  rules: [{if: {path: /secret}, then: {no_compression: true}}]\n";
    let server = Server::start();
    let (engine, address) = start(&format!("{ALL}{rule}"), server.address);
    let mut client = connect(address);
    server.respond(HTML, "Hello, hello, hello.");
    ask(&mut client, "GET / HTTP/1.0", "Accept-Encoding: gzip\r\nConnection: keep-alive\r\n");
    let head = read_head(&mut client).unwrap();
    assert!(head.contains("Connection: close\r\n") && !head.contains("chunked"), "{head}");
    let mut body = Vec::new();
    client.read_to_end(&mut body).unwrap();
    assert_eq!(decoded("gzip", &body), "Hello, hello, hello.");
    let mut client = connect(address);
    server.respond(HTML, "Hello, hello, hello.");
    ask(&mut client, "GET /secret HTTP/1.1", "Accept-Encoding: gzip\r\n");
    let head = read_head(&mut client).unwrap();
    assert!(head.contains("Content-Length: 20\r\n") && !head.contains("Vary"), "{head}");
    engine.stop();
}

#[test]
fn broken_off_response_is_incomplete_when_compressed() {
    let server = Server::start();
    let (engine, address) = start(ALL, server.address);
    let mut client = connect(address);
    server.begin(format!("HTTP/1.1 200 OK\r\n{HTML}Content-Length: 1000\r\n\r\nHello").as_bytes());
    ask(&mut client, "GET / HTTP/1.1", "Accept-Encoding: gzip\r\n");
    read_head(&mut client).unwrap();
    server.heads.recv_timeout(TIMEOUT).unwrap();
    // The server's connection ends.
    drop(server);
    let mut rest = Vec::new();
    let _closed = client.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "the last chunk would make it complete");
    engine.stop();
}

/// Policies with one user, `alice` with the password `secret`.
fn policies(more: &str) -> String {
    let hash = bcrypt::hash("secret", 4).expect("a hash");
    format!(
        "  authentication:\n    require: staff\n    basic: [{{name: staff, realm: The staff, users: \
         {{alice: '{hash}'}}, user_header: X-User}}]\n{more}"
    )
}

fn basic(pair: &str) -> String {
    let pair = base64::engine::general_purpose::STANDARD.encode(pair);
    format!("Authorization: Basic {pair}\r\n")
}

fn status(head: &str) -> &str {
    &head[9..12]
}

#[test]
fn clients_need_the_password_of_a_user() {
    let server = Server::start();
    let rules = "  rules:\n  - {if: {path: /open}, then: {authentication: none}}\n  \
                 - {if: {path: /text}, then: {respond: {status: 200, body: text}}}\n";
    let (engine, address) = start(&policies(rules), server.address);
    let mut client = connect(address);
    let refused = |client: &mut TcpStream, path: &str, fields: &str| {
        ask(client, &format!("GET {path} HTTP/1.1"), fields);
        let head = read_head(client).unwrap();
        assert_eq!(status(&head), "401", "{fields}: {head}");
        let challenge = "WWW-Authenticate: Basic realm=\"The staff\", charset=\"UTF-8\"\r\n";
        assert!(head.contains(challenge), "{head}");
        client.read_exact(&mut [0; "401 Unauthorized\n".len()]).unwrap();
    };
    refused(&mut client, "/", "");
    refused(&mut client, "/text", "");
    refused(&mut client, "/", "Authorization: Basic !\r\n");
    refused(&mut client, "/", "Authorization: Bearer x\r\n");
    refused(&mut client, "/", &basic("alice:wrong"));
    refused(&mut client, "/", &basic("bob:secret"));
    refused(&mut client, "/", &format!("{0}{0}", basic("alice:secret")));
    for more in ["", "X-User: root\r\nX_User: root\r\n"] {
        server.respond("", "ok");
        ask(&mut client, "GET / HTTP/1.1", &format!("{}{more}", basic("alice:secret")));
        assert_eq!(status(&read_head(&mut client).unwrap()), "200");
        client.read_exact(&mut [0; 2]).unwrap();
        let head = server.heads.recv_timeout(TIMEOUT).unwrap();
        assert!(head.contains("X-User: alice\r\n") && !head.contains("root"), "{head}");
    }
    server.respond("", "ok");
    ask(&mut client, "GET /open HTTP/1.1", "X-User: root\r\n");
    assert_eq!(status(&read_head(&mut client).unwrap()), "200");
    let head = server.heads.recv_timeout(TIMEOUT).unwrap();
    assert!(!head.contains("root"), "also without authentication: {head}");
    engine.stop();
}

/// Sends many guesses at once and returns the first one that is refused without a check, because
/// eight of its address wait for theirs. Which ones wait depends on the order in which they arrive.
fn refused_guess(address: SocketAddr, method: &str) -> (String, TcpStream) {
    let (sender, responses) = sync_channel(40);
    for at in 0..40 {
        let mut client = connect(address);
        ask(&mut client, &format!("{method} / HTTP/1.1"), &basic(&format!("alice:{method} {at}")));
        let sender = sender.clone();
        std::thread::spawn(move || {
            let head = read_head(&mut client).unwrap_or_default();
            // Nobody receives those behind the first refused one.
            let _ = sender.send((head, client));
        });
    }
    drop(sender);
    let refused = responses.iter().find(|(head, _)| head.starts_with("HTTP/1.1 503"));
    refused.expect("a guess is refused while others wait")
}

#[test]
fn guesses_of_passwords_keep_no_other_request_waiting() {
    // A check of this hash takes about a second, the most that is accepted: no other request of this test waits for one.
    let costly = "$2y$14$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe";
    let policy = format!(
        "  authentication: {{require: staff, basic: [{{name: staff, users: {{alice: '{costly}'}}}}]}}\n  \
         rules: [{{if: {{path: /open}}, then: {{authentication: none, respond: {{status: 204}}}}}}]\n"
    );
    let (engine, address) = start(&policy, Server::start().address);
    let (head, _) = refused_guess(address, "GET");
    assert!(head.contains("Retry-After: 1\r\n"), "{head}");
    let (_, mut client) = refused_guess(address, "HEAD");
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "a response to HEAD has no body");
    let mut client = connect(address);
    for _ in 0..200 {
        ask(&mut client, "GET /open HTTP/1.1", "");
        assert_eq!(status(&read_head(&mut client).unwrap()), "204");
    }
    engine.stop();
}

#[test]
fn a_token_is_needed_and_its_claims_are_forwarded() {
    let secret = "0123456789abcdef0123456789abcdef";
    let server = Server::start();
    let policy = format!(
        "  authentication: {{require: api, jwt: [{{name: api, issuer: me, keys: [{{algorithm: HS256, key: \
         {secret}}}], claims: {{sub: X-User}}, pass_authorization: false}}]}}\n"
    );
    let (engine, address) = start(&policy, server.address);
    let mut client = connect(address);
    let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes());
    let token = |issuer: &str, exp: u64| {
        let claims = serde_json::json!({ "iss": issuer, "sub": "alice", "exp": exp });
        jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap()
    };
    for (issuer, exp, why) in
        [("you", u64::from(u32::MAX), "the claims are"), ("me", 1, "has expired")]
    {
        let fields = format!("Authorization: Bearer {}\r\n", token(issuer, exp));
        ask(&mut client, "GET / HTTP/1.1", &fields);
        let head = read_head(&mut client).unwrap();
        assert_eq!(status(&head), "401");
        assert!(
            head.contains("Bearer realm=\"api\", error=\"invalid_token\"") && head.contains(why),
            "{head}"
        );
        client.read_exact(&mut [0; "401 Unauthorized\n".len()]).unwrap();
    }
    server.respond("", "ok");
    let valid = token("me", u64::from(u32::MAX));
    ask(
        &mut client,
        "GET / HTTP/1.1",
        &format!("X-User: root\r\nAuthorization: Bearer {valid}\r\n"),
    );
    assert_eq!(status(&read_head(&mut client).unwrap()), "200");
    let head = server.heads.recv_timeout(TIMEOUT).unwrap();
    assert!(head.contains("X-User: alice\r\n") && !head.contains("root"), "{head}");
    assert!(!head.contains("Authorization"), "{head}");
    engine.stop();
}

/// Fields, content and end of the response to a request over HTTP/2.
fn ask_http2(address: SocketAddr, fields: &[(&str, &str)]) -> (Vec<(String, String)>, Vec<u8>) {
    let mut socket = connect(address);
    let mut connection = Connection::new(Role::Client, Limits { streams: 100, list: 16_384 }, 0);
    let pseudo =
        [(":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/")];
    let mut block = Vec::new();
    for (name, value) in pseudo.iter().chain(fields) {
        hpack::encode(&mut block, name.as_bytes(), value.as_bytes());
    }
    connection.open(&block, true).expect("a socket that works");
    let (mut head, mut content, mut input) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        socket.write_all(&connection.output).expect("a socket that works");
        connection.output.clear();
        let (length, event) = connection.receive(&input, 0).expect("a socket that works");
        let ended = match event {
            Some(Event::Head { list, end, .. }) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let fields = list.fields.iter();
                head = fields.map(|field| (text(&field.name), text(&field.value))).collect();
                end
            }
            Some(Event::Data { stream, data, counted, end }) => {
                content.extend_from_slice(data);
                connection.consumed(stream, counted);
                end
            }
            _ => false,
        };
        input.drain(..length);
        if ended {
            return (head, content);
        }
        if length == 0 {
            let mut bytes = [0; 16_384];
            let length = socket.read(&mut bytes).expect("a socket that works");
            assert!(length > 0, "the connection has ended");
            input.extend_from_slice(&bytes[..length]);
        }
    }
}

#[test]
fn both_work_over_http_2() {
    let server = Server::start();
    let service = format!("{ALL}  h2c: both\n{}", policies(""));
    let (engine, address) = start(&service, server.address);
    let (head, _) = ask_http2(address, &[("accept-encoding", "gzip")]);
    let value = |head: &[(String, String)], name: &str| {
        head.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    };
    assert_eq!(value(&head, ":status").as_deref(), Some("401"));
    let text = "Hello, hello, hello. ".repeat(20_000);
    server.respond(HTML, &text);
    let given = basic("alice:secret");
    let given = given.trim().split_once(": ").unwrap().1;
    let (head, content) =
        ask_http2(address, &[("accept-encoding", "gzip"), ("authorization", given)]);
    assert_eq!(value(&head, ":status").as_deref(), Some("200"));
    assert_eq!(value(&head, "content-encoding").as_deref(), Some("gzip"));
    assert_eq!(value(&head, "content-length"), None);
    assert!(decoded("gzip", &content) == text);
    engine.stop();
}
