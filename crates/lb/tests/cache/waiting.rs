//! Equal requests of which one goes to the server, expired responses that are validated meanwhile, and purges.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use lb::config::Purge;

use super::{FRESH, Got, SocketAddr, TIMEOUT, body, get, numbered, server, start};

/// A server whose responses to `/slow` have to be released, with what releases one.
fn slow(
    respond: impl Fn(&str, usize) -> String + Clone + Send + 'static,
) -> (SocketAddr, Receiver<String>, Receiver<()>, SyncSender<()>) {
    let ((arrived, begun), (release, released)) = (sync_channel(100), sync_channel(100));
    let released: Arc<Mutex<Receiver<()>>> = Arc::new(Mutex::new(released));
    let (app, heads) = server(move |head, number| {
        if head.starts_with("GET /slow") {
            arrived.send(()).expect("a test that waits");
            let released = released.lock().expect("a test that goes on");
            released.recv_timeout(TIMEOUT).expect("a test that releases it");
        }
        respond(head, number)
    });
    (app, heads, begun, release)
}

fn clients(service: SocketAddr, count: usize, more: &'static str) -> Vec<JoinHandle<Got>> {
    (0..count).map(|_| std::thread::spawn(move || get(service, "/slow", more))).collect()
}

#[test]
fn concurrent_requests_are_one_for_the_server() {
    let (app, heads, begun, release) = slow(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, ", collapse: 1m, status_header: true", "");
    let clients = clients(service, 20, "");
    begun.recv_timeout(TIMEOUT).expect("a request at the server");
    release.send(()).expect("a server that waits");
    let mut stored = 0;
    for client in clients {
        let (status, head, text) = client.join().expect("a client");
        assert_eq!((status, &*text), (200, "1"), "{head}");
        stored += usize::from(head.contains("Cache-Status: vedette; fwd=miss; stored\r\n"));
    }
    assert_eq!((stored, heads.try_iter().count()), (1, 1));
    engine.stop();
}

#[test]
fn equal_requests_go_on_when_the_response_is_for_one_user() {
    let private = "Cache-Control: private, max-age=600\r\n";
    let (app, heads, begun, release) = slow(move |_, number| numbered(private, number));
    let (engine, service) = start(app, ", collapse: 1m", "");
    let clients = clients(service, 3, "");
    for _ in 0..3 {
        begun.recv_timeout(TIMEOUT).expect("a request at the server");
        release.send(()).expect("a server that waits");
    }
    let mut texts: Vec<String> =
        clients.into_iter().map(|client| client.join().expect("a client").2).collect();
    texts.sort();
    assert_eq!(texts, ["1", "2", "3"]);
    assert_eq!(heads.try_iter().count(), 3);
    engine.stop();
}

#[test]
fn a_request_waits_for_an_equal_one_no_longer_than_it_may() {
    let (app, _heads, begun, release) = slow(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, ", collapse: 1ms", "");
    let clients = clients(service, 2, "");
    for _ in 0..2 {
        begun.recv_timeout(TIMEOUT).expect("both requests are at the server");
    }
    for _ in 0..2 {
        release.send(()).expect("a server that waits");
    }
    for client in clients {
        assert_eq!(client.join().expect("a client").0, 200);
    }
    engine.stop();
}

#[test]
fn visitors_with_sessions_do_not_wait_for_each_other() {
    let (app, _heads, begun, release) = slow(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, ", collapse: 1m", "");
    let clients = clients(service, 2, "Cookie: id=1\r\n");
    for _ in 0..2 {
        begun.recv_timeout(TIMEOUT).expect("both requests are at the server");
    }
    for _ in 0..2 {
        release.send(()).expect("a server that waits");
    }
    for client in clients {
        assert_eq!(client.join().expect("a client").0, 200);
    }
    engine.stop();
}

#[test]
fn an_expired_response_is_sent_while_it_is_validated() {
    let swr = "Cache-Control: max-age=600, stale-while-revalidate=600\r\nETag: \"one\"\r\n";
    let (app, heads) =
        server(move |head, number| match head.contains("If-None-Match: \"one\"\r\n") {
            true => format!("HTTP/1.1 304 Not Modified\r\n{swr}X-New: 1\r\n\r\n"),
            false => numbered(&format!("{swr}Age: 700\r\n"), number),
        });
    let (engine, service) = start(app, ", status_header: true", "");
    assert_eq!(body(service, "/a", ""), "1");
    let (_, head, text) = get(service, "/a", "");
    assert_eq!(text, "1");
    assert!(head.contains("Cache-Status: vedette; hit; ttl=-"), "{head}");
    assert!(!head.contains("X-New"), "the client has not waited: {head}");
    let confirmed = (0..10_000).find(|_| get(service, "/a", "").1.contains("X-New: 1\r\n"));
    assert!(confirmed.is_some(), "the engine has validated the response");
    let heads: Vec<String> = heads.try_iter().collect();
    assert_eq!(heads.len(), 2, "{heads:?}");
    assert!(!heads[1].contains("X-Vedette-Mirror"), "{}", heads[1]);
    engine.stop();
}

#[test]
fn purged_responses_are_fetched_again() {
    let (app, _heads) = server(|_, number| numbered(&format!("{FRESH}Vary: X-A\r\n"), number));
    let (engine, service) = start(app, "", "");
    let uri = |path: &str| format!("A.test{path}");
    for (path, number) in [("/a", "1"), ("/b/1", "2"), ("/b/2", "3")] {
        assert_eq!(body(service, path, ""), number);
    }
    assert_eq!(body(service, "/a", "X-A: b\r\n"), "4");
    assert_eq!(engine.purge(Some("web"), &Purge::Uri(uri("/a"))), Ok(2), "both variants");
    assert_eq!(engine.purge(Some("web"), &Purge::Uri(uri("/a"))), Ok(0));
    assert_eq!((&*body(service, "/a", ""), &*body(service, "/b/1", "")), ("5", "2"));
    assert_eq!(engine.purge(None, &Purge::Prefix(uri("/b/"))), Ok(2));
    assert_eq!(body(service, "/b/1", ""), "6");
    assert_eq!(engine.purge(None, &Purge::All), Ok(2));
    assert_eq!(body(service, "/a", ""), "7");
    let unknown = engine.purge(Some("none"), &Purge::All).expect_err("no such service");
    assert!(unknown.contains("'none' does not exist or has no cache"), "{unknown}");
    assert!(engine.purge(None, &Purge::Uri("/a".to_owned())).is_err());
    engine.stop();
}

#[test]
fn a_response_that_arrives_during_a_purge_is_not_stored() {
    let (app, _heads, begun, release) = slow(|_, number| numbered(FRESH, number));
    let (engine, service) = start(app, "", "");
    let mut first = clients(service, 1, "");
    begun.recv_timeout(TIMEOUT).expect("a request at the server");
    assert_eq!(engine.purge(None, &Purge::Uri("a.test/slow".to_owned())), Ok(0));
    for _ in 0..2 {
        release.send(()).expect("a server that waits");
    }
    assert_eq!(first.remove(0).join().expect("a client").2, "1");
    assert_eq!(body(service, "/slow", ""), "2");
    engine.stop();
}
