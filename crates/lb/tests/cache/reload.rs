//! Changes of resources, and of the configuration meanwhile.

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use lb::Engine;
use lb::config::Config;

use super::{FRESH, TIMEOUT, body, connect, numbered, server, text};

/// A POST that goes on while the configuration changes; `before`: the service in the configuration at its beginning.
fn check(before: impl Fn(&str) -> String) {
    let ((arrived, begun), (release, released)) = (sync_channel(1), sync_channel(1));
    let released: Arc<Mutex<Receiver<()>>> = Arc::new(Mutex::new(released));
    let (app, _heads) = server(move |head, number| {
        if head.starts_with("POST ") {
            arrived.send(()).expect("a test that waits");
            released.lock().expect("one request").recv().expect("a test that goes on");
        }
        numbered(FRESH, number)
    });
    let service = stdx::listening::free_address().expect("a free port");
    let parse = |text: &str| Config::parse(text).expect("a valid file");
    let clock = stdx::clock::RealClock::shared();
    let config = parse(&before(&text(service, app, "", "")));
    let mut engine = Engine::start(&config, &clock).expect("an engine");
    let first = body(service, "/a", "");
    let mut client = connect(service);
    let head = "POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    client.write_all(head.as_bytes()).expect("an open connection");
    begun.recv_timeout(TIMEOUT).expect("a request at the server");
    engine.apply(&parse(&text(service, app, ", max_objects: 7", ""))).expect("a change");
    let stored = (0..1_000).find_map(|_| {
        let (one, next) = (body(service, "/a", ""), body(service, "/a", ""));
        (one == next && one != first).then_some(one)
    });
    let stored = stored.expect("the new cache stores responses");
    release.send(()).expect("a server that waits");
    let mut response = String::new();
    client.read_to_string(&mut response).expect("a whole response");
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    let newest = body(service, "/a", "");
    assert!(newest != stored && newest != first, "{newest} is older than the change");
    engine.stop();
}

#[test]
fn change_during_a_reload_reaches_the_new_cache() {
    check(str::to_owned);
}

#[test]
fn change_during_a_reload_reaches_the_first_cache() {
    check(|text| text.replace(", cache: {size: 8M}", ""));
}
