//! The cache of a running engine: what it keeps, for whom, and what it never gives to anyone else.

mod content;
#[path = "../heads/mod.rs"]
mod heads;
mod reload;
mod validation;
mod variants;
mod waiting;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use heads::read_head;
use lb::Engine;
use lb::config::Config;

/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A response with this head, whose body is the number of the request.
fn numbered(head: &str, number: usize) -> String {
    let body = number.to_string();
    format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// A server that responds to requests by their head and number, from 1. An empty response closes the connection.
fn server(
    respond: impl Fn(&str, usize) -> String + Clone + Send + 'static,
) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let (sender, heads) = sync_channel(1_000);
    let number = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("a connection");
            let (sender, number, respond) = (sender.clone(), number.clone(), respond.clone());
            std::thread::spawn(move || {
                while let Some(head) = read_head(&mut socket) {
                    let at = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                    let response = respond(&head, at);
                    let _ended = sender.send(head);
                    if response.is_empty() || socket.write_all(response.as_bytes()).is_err() {
                        return;
                    }
                    if response.ends_with("!close") {
                        return;
                    }
                }
            });
        }
    });
    (address, heads)
}

/// An engine with a cache, its service with `more`.
fn start(app: SocketAddr, cache: &str, more: &str) -> (Engine, SocketAddr) {
    let address = stdx::listening::free_address().expect("a free port");
    let config = Config::parse(&text(address, app, cache, more)).expect("a valid file");
    let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine");
    (engine, address)
}

fn text(address: SocketAddr, app: SocketAddr, cache: &str, more: &str) -> String {
    format!(
        "threads: 2
virtual_services:
  - {{name: web, type: http, listen: '{address}', pool: app, cache: {{size: 8M{cache}}}{more}}}
pools:
  - {{name: app, servers: [{{name: s, address: '{app}'}}], retries: {{count: 0}}}}
  - {{name: beta, servers: [{{name: s, address: '{app}'}}]}}
"
    )
}

/// A response: status, head, body.
type Got = (u16, String, String);

fn connect(service: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(service).expect("an engine that listens");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client
}

/// Sends a request with these lines of its head, and reads the response.
fn send(service: SocketAddr, lines: &str) -> Got {
    let mut client = connect(service);
    let request = format!("{lines}Connection: close\r\n\r\n");
    client.write_all(request.as_bytes()).expect("an open connection");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("a whole response of text");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    (head[9..12].parse().expect("a status"), format!("{head}\r\n"), body.to_owned())
}

/// The response to GET for a path, with more lines of the head.
fn get(service: SocketAddr, path: &str, more: &str) -> Got {
    send(service, &format!("GET {path} HTTP/1.1\r\nHost: a.test\r\n{more}"))
}

fn body(service: SocketAddr, path: &str, more: &str) -> String {
    let (status, head, body) = get(service, path, more);
    assert_eq!(status, 200, "{head}");
    body
}

const FRESH: &str = "Cache-Control: max-age=600\r\nETag: \"one\"\r\n";
/// It is stale when it arrives, but can be validated.
const STALE: &str =
    "Cache-Control: max-age=600, stale-if-error=600\r\nAge: 700\r\nETag: \"one\"\r\n";

#[test]
fn a_fresh_response_is_sent_again() {
    let (app, heads) =
        server(|_, number| numbered(&format!("{FRESH}Age: 5\r\nX-A: b\r\n"), number));
    let (engine, service) = start(app, ", status_header: true", "");
    let (_, head, first) = get(service, "/a", "");
    assert!(head.contains("Cache-Status: vedette; fwd=miss; stored\r\n"), "{head}");
    for _ in 0..3 {
        let (status, head, again) = get(service, "/a", "");
        assert_eq!((status, &again), (200, &first));
        assert!(head.contains("X-A: b\r\n") && head.contains("Content-Length: 1\r\n"), "{head}");
        assert!(head.contains("Cache-Status: vedette; hit; ttl=5"), "{head}");
        let age = head.split("Age: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        assert!(age.is_some_and(|age| age.parse::<u64>().is_ok_and(|age| age >= 5)), "{head}");
    }
    let (status, head, nothing) = send(service, "HEAD /a HTTP/1.1\r\nHost: a.test\r\n");
    assert_eq!((status, &*nothing), (200, ""));
    assert!(head.contains("Content-Length: 1\r\n"), "{head}");
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn connections_go_on_after_stored_responses() {
    let (app, heads) = server(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    let mut client = connect(service);
    let request = "GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n";
    client.write_all(request.repeat(5).as_bytes()).expect("an open connection");
    for _ in 0..5 {
        let head = read_head(&mut client).expect("a response");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        let mut body = [0];
        client.read_exact(&mut body).expect("the body");
        assert_eq!(&body, b"1");
    }
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn what_is_for_one_user_reaches_nobody_else() {
    for (response, request) in [
        ("Cache-Control: private, max-age=600\r\n", ""),
        ("Cache-Control: no-store, max-age=600\r\n", ""),
        ("Cache-Control: public, max-age=600\r\nSet-Cookie: id=1\r\n", ""),
        ("Cache-Control: max-age=600\r\n", "Authorization: Basic eDp5\r\n"),
        ("Cache-Control: max-age=600, must-revalidate\r\n", "Authorization: Basic eDp5\r\n"),
        ("Cache-Control: max-age=600\r\n", "Cookie: id=1\r\n"),
        ("Cache-Control: public, max-age=600\r\nVary: *\r\n", ""),
        ("Cache-Control: public, max-age=600\r\nVary: X-Forwarded-For\r\n", ""),
        ("Cache-Control: public, max-age=600, x=\"\r\n", ""),
        ("ETag: \"one\"\r\n", ""),
        ("Cache-Control: max-age=600\r\n", "Cache-Control: no-store\r\n"),
    ] {
        let (app, _heads) = server(move |_, number| numbered(response, number));
        let (engine, service) = start(app, "", "");
        let first = body(service, "/a", request);
        assert_ne!(body(service, "/a", ""), first, "{response}{request}");
        assert_ne!(body(service, "/a", request), first, "{response}{request}");
        engine.stop();
    }
}

#[test]
fn a_visitor_with_a_session_does_not_get_the_page_of_others() {
    let (app, _heads) = server(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    assert_eq!(body(service, "/a", "Cookie: id=1\r\n"), "2");
    assert_eq!(body(service, "/a", "Authorization: Bearer x\r\n"), "3");
    assert_eq!(body(service, "/a", ""), "1");
    engine.stop();
}

#[test]
fn a_public_response_is_for_users_with_cookies_too() {
    let public = "Cache-Control: public, max-age=600\r\n";
    let (app, heads) = server(move |_, number| numbered(public, number));
    let (engine, service) = start(app, "", "");
    for cookie in ["", "Cookie: id=1\r\n", "Cookie: id=2\r\n", "Authorization: Basic eDp5\r\n"] {
        assert_eq!(body(service, "/a", cookie), "1");
    }
    assert_eq!(heads.try_iter().count(), 1);
    engine.stop();
}

#[test]
fn names_of_authenticated_users_reach_nobody_else() {
    // The engine removes the credentials and tells the server the user.
    let (app, _heads) = server(|head, _| {
        let user = head.split("X-User: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let body = user.unwrap_or("nobody");
        let length = body.len();
        format!("HTTP/1.1 200 OK\r\n{FRESH}Content-Length: {length}\r\n\r\n{body}")
    });
    let key = "0123456789abcdef0123456789abcdef";
    let more = format!(
        ", authentication: {{require: api, jwt: [{{name: api, keys: [{{algorithm: HS256, key: {key}}}], claims: {{sub: X-User}}}}]}}"
    );
    let (engine, service) = start(app, "", &more);
    for user in ["alice", "bob"] {
        let token = token(user, key);
        let request = format!("Authorization: Bearer {token}\r\n");
        assert_eq!(body(service, "/me", &request), user);
    }
    assert_eq!(get(service, "/me", "").0, 401);
    engine.stop();
}

/// A token of HS256 that is valid for an hour.
fn token(user: &str, key: &str) -> String {
    use base64::Engine as _;
    use hmac::Mac;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
    let expires = stdx::clock::RealClock::shared().unix_s() + 3600;
    let claims = format!("{{\"sub\":\"{user}\",\"exp\":{expires}}}");
    let signed = format!("{}.{}", encode(b"{\"alg\":\"HS256\"}"), encode(claims.as_bytes()));
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(key.as_bytes()).expect("a key");
    mac.update(signed.as_bytes());
    format!("{signed}.{}", encode(&mac.finalize().into_bytes()))
}

#[test]
fn a_changed_service_forgets_its_responses() {
    let (app, _heads) = server(|_, number| numbered(FRESH, number));
    let (mut engine, service) = start(app, "", "");
    assert_eq!(body(service, "/a", ""), "1");
    let apply = |engine: &mut Engine, cache: &str| {
        let config = Config::parse(&text(service, app, cache, "")).expect("a valid file");
        engine.apply(&config).expect("a valid configuration");
    };
    apply(&mut engine, "");
    assert_eq!(body(service, "/a", ""), "1", "nothing has changed");
    apply(&mut engine, ", max_objects: 7");
    // A thread may use the configuration before until it has woken up.
    let changed = (0..1_000).find(|_| body(service, "/a", "") != "1");
    assert!(changed.is_some());
    engine.stop();
}
