//! Requests to a server on loopback.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stdx::clock::RealClock;

use super::*;

/// A request as a server sees it: head and body.
fn read(connection: &mut BufReader<TcpStream>) -> Option<String> {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if connection.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    connection.read_exact(&mut body).ok()?;
    Some(text + str::from_utf8(&body).unwrap())
}

/// Header of an answer whose connection ends when another request comes over it.
const LAST: &str = "X-Last: 1\r\n";

/// What comes of a call to a server that gives these answers (status, headers), one after the
/// other, over one connection only unless it says [`LAST`]; and the requests that it saw.
fn exchange(
    auth: HttpAuth,
    answers: &'static [(&str, &str)],
) -> (Result<HttpAnswer, String>, Vec<String>) {
    exchange_with(Tickets::new(RealClock::shared()), auth, answers)
}

/// The same with tickets of elsewhere.
pub(crate) fn exchange_with(
    tickets: Tickets,
    auth: HttpAuth,
    answers: &'static [(&str, &str)],
) -> (Result<HttpAnswer, String>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let mut seen = Vec::new();
        let mut connection = BufReader::new(listener.accept().unwrap().0);
        for (status, headers) in answers {
            seen.push(read(&mut connection).unwrap());
            let answer = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 2\r\n\r\nok");
            connection.get_mut().write_all(answer.as_bytes()).unwrap();
            if headers.ends_with(LAST) {
                read(&mut connection).unwrap();
                drop(connection);
                connection = BufReader::new(listener.accept().unwrap().0);
            }
        }
        seen
    });
    let call = HttpCall {
        method: "POST".to_owned(),
        url: format!("http://{address}/a/b?c=d"),
        headers: vec![("X-A".to_owned(), "1".to_owned())],
        body: Some(b"text".to_vec()),
        proxy: None,
        auth,
        timeout: Duration::from_secs(60),
    };
    let world = World::new(RealClock::shared(), tickets);
    let answer = world.http(&call);
    // A server that still waits for a connection gets one that says nothing.
    drop(TcpStream::connect(address));
    (answer, server.join().unwrap())
}

pub(crate) fn proof(request: &str) -> &str {
    let line = request.lines().find(|line| line.to_lowercase().starts_with("authorization: "));
    line.map_or("", |line| line.split_once(": ").unwrap().1)
}

fn who() -> (String, String) {
    ("DOMAIN\\name".to_owned(), "word".to_owned())
}

#[test]
fn digest_answers_what_the_server_asks() {
    let asks = "WWW-Authenticate: Basic realm=\"r\"\r\n\
                WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n";
    let answers: &'static [(&str, &str)] =
        vec![("401 Unauthorized", asks), ("200 OK", "X-B: 2\r\n")].leak();
    let (name, word) = who();
    let (answer, seen) = exchange(HttpAuth::Digest(name, word), answers);
    let answer = answer.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"ok"[..]));
    assert_eq!(proof(&seen[0]), "");
    let said = proof(&seen[1]);
    assert!(said.starts_with("Digest username=\"DOMAIN\\\\name\", realm=\"r\""), "{said}");
    assert!(said.contains("uri=\"/a/b?c=d\"") && said.contains("qop=auth"), "{said}");
    assert!(seen[1].ends_with("text") && seen[1].starts_with("POST /a/b?c=d "));
}

#[test]
fn ntlm_takes_three_messages_on_one_connection() {
    // The challenge holds a nonce and says nothing of the server.
    let asks = "WWW-Authenticate: NTLM TlRMTVNTUAACAAAAAAAAADAAAAAHgoigASNFZ4mrze8AAAAAAAAAAAAAAAAwAAAA\r\n";
    let answers: &'static [(&str, &str)] = vec![("401 Unauthorized", asks), ("200 OK", "")].leak();
    let (name, word) = who();
    let (answer, seen) = exchange(HttpAuth::Ntlm(name, word), answers);
    assert_eq!(answer.unwrap().status, 200);
    assert!(proof(&seen[0]).starts_with("NTLM TlRMTVNTUAAB"), "{}", seen[0]);
    // The body goes along when the server can know who sends it.
    assert!(!seen[0].ends_with("text") && seen[1].ends_with("text"));
    assert!(proof(&seen[1]).starts_with("NTLM TlRMTVNTUAAD"), "{}", seen[1]);
}

#[test]
fn a_request_whose_connection_ends_goes_out_once_more() {
    let asks = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\nX-Last: 1\r\n";
    let answers: &'static [(&str, &str)] = vec![("401 Unauthorized", asks), ("200 OK", "")].leak();
    let (name, word) = who();
    let (answer, seen) = exchange(HttpAuth::Digest(name, word), answers);
    assert_eq!(answer.unwrap().status, 200);
    assert!(seen[1].ends_with("text") && proof(&seen[1]).starts_with("Digest "), "{seen:?}");
}

/// A server that answers all requests; counts its connections.
fn counting() -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::<AtomicUsize>::default());
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut stream = BufReader::new(stream.unwrap());
            std::thread::spawn(move || {
                while read(&mut stream).is_some() {
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    stream.get_mut().write_all(answer).unwrap();
                }
            });
        }
    });
    (address, count)
}

#[test]
fn connections_are_kept_unless_they_are_somebody_s() {
    let (address, count) = counting();
    let clock = RealClock::shared();
    let world = || World::new(Arc::clone(&clock), Tickets::new(Arc::clone(&clock)));
    let kept = world().keeping_connections();
    let calls = |world: &World, auth: HttpAuth| {
        let before = count.load(Ordering::Relaxed);
        for _ in 0..2 {
            let call = HttpCall {
                method: "POST".to_owned(),
                url: format!("http://{address}/"),
                headers: Vec::new(),
                body: Some(b"text".to_vec()),
                proxy: None,
                auth: auth.clone(),
                timeout: Duration::from_secs(60),
            };
            assert_eq!(world.http(&call).unwrap().status, 200);
        }
        count.load(Ordering::Relaxed) - before
    };
    let (name, word) = who();
    // A connection ages while a slow machine does something else.
    let once = |auth: &HttpAuth| (0..50).any(|_| calls(&kept, auth.clone()) <= 1);
    assert!(once(&HttpAuth::None) && once(&HttpAuth::Basic(name.clone(), word.clone())));
    assert_eq!(calls(&kept, HttpAuth::Ntlm(name, word)), 2);
    assert_eq!(calls(&world(), HttpAuth::None), 2);
}

#[test]
fn a_refusal_without_a_challenge_is_the_answer() {
    let refusals: &'static [(&str, &str)] = &[("401 Unauthorized", "")];
    for auth in [HttpAuth::Digest(who().0, who().1), HttpAuth::Ntlm(who().0, who().1)] {
        let (answer, seen) = exchange(auth, refusals);
        assert_eq!((answer.unwrap().status, seen.len()), (401, 1));
    }
    let (answer, seen) = exchange(HttpAuth::Basic(who().0, who().1), &[("200 OK", "")]);
    assert_eq!(answer.unwrap().status, 200);
    assert_eq!(proof(&seen[0]), "Basic RE9NQUlOXG5hbWU6d29yZA==");
}

#[test]
fn urls_need_no_scheme_and_posts_no_body() {
    for (method, length) in [("POST", Some("0")), ("PUT", Some("0")), ("GET", None)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut connection = BufReader::new(listener.accept().unwrap().0);
            let head = read(&mut connection).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            connection.get_mut().write_all(answer).unwrap();
            head.to_ascii_lowercase()
        });
        let call = HttpCall {
            method: method.to_owned(),
            url: format!("{address}/a"),
            headers: Vec::new(),
            body: None,
            proxy: None,
            auth: HttpAuth::None,
            timeout: Duration::from_secs(60),
        };
        let clock = RealClock::shared();
        let world = World::new(Arc::clone(&clock), Tickets::new(clock));
        assert_eq!(world.http(&call).unwrap().body, b"ok");
        let head = server.join().unwrap();
        let found = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        assert_eq!(found, length, "{head}");
        assert!(!head.contains("chunked"), "{head}");
    }
}
