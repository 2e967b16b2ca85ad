//! Copies of requests for another pool.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use proxying::engine_link::analytics::Counter;
use stdx::clock::RealClock;
use stdx::listening::free_address;

use crate::copying::{
    Got, Habit, ask, connect, get, next, none, post, server, start, start_with, until_copied,
};
use crate::side::{Seen, Side, TIMEOUT, listener, read_head, request};

#[test]
fn a_copy_is_what_the_server_gets() {
    let ((app, requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let more = "mirror: {pool: shadow}, rules: [{then: {set_header: {X-Edge: e}}}]";
    let (engine, service) = start(app, shadow, more, "");
    let mut client = connect(service);
    let chunked = "PUT /c HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n0\r\nX-Sum: 6\r\nX-Edge: evil\r\n\r\n";
    for text in [&get("/a?b=c"), &post("/b", "hello"), chunked, &get("/d")] {
        ask(&mut client, text);
        let (request, copy) = (next(&requests), next(&copies));
        assert_eq!(request.head, copy.head.replace("X-Vedette-Mirror: 1\r\n", ""));
        assert_eq!(copy.head.matches("X-Vedette-Mirror: 1\r\n").count(), 1);
        assert_eq!(request.body, copy.body);
        assert!(copy.head.contains("Host: a.test\r\n") && copy.head.contains("X-Edge: e\r\n"));
        assert!(copy.head.contains("X-Forwarded-For: 127.0.0.1\r\n"), "{}", copy.head);
        if text == chunked {
            assert_eq!(copy.body, "3\r\nabc\r\n0\r\nX-Sum: 6\r\n\r\n");
        }
    }
    engine.stop();
}

#[test]
fn about_the_percentage_of_requests_is_copied() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, percent: 12.5}", "");
    let mut client = connect(service);
    for number in 0..400 {
        ask(&mut client, &get(&format!("/{number}")));
    }
    let number = |Got { head, .. }: Got| {
        let number = head.split(['/', ' ']).nth(2).expect("a path");
        number.parse::<usize>().expect("a number")
    };
    // Expected are 50, with a standard deviation of 6.6.
    let mut numbers: Vec<usize> = (0..10).map(|_| number(next(&copies))).collect();
    while let Ok(copy) = copies.recv_timeout(Duration::from_millis(300)) {
        numbers.push(number(copy));
    }
    assert!(numbers.len() <= 100, "{numbers:?}");
    numbers.sort_unstable();
    numbers.dedup();
    let even = numbers.iter().filter(|number| *number % 2 == 0).count();
    assert!((1..numbers.len()).contains(&even), "only every other request: {numbers:?}");
    engine.stop();
}

#[test]
fn copies_are_not_copied_again() {
    let ((app, requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let more = "mirror: {pool: shadow}, rules: [{if: {path: /own}, then: {del_header: [X-Vedette-Mirror]}}]";
    let (engine, service) = start(app, shadow, more, "");
    let mut client = connect(service);
    ask(&mut client, "GET /back HTTP/1.1\r\nHost: a.test\r\nx-vedette-mirror: 1\r\n\r\n");
    assert!(next(&requests).head.contains("x-vedette-mirror: 1\r\n"));
    ask(&mut client, &get("/own"));
    let copy = next(&copies).head;
    assert!(copy.starts_with("GET /own ") && !copy.contains("Mirror"), "{copy}");
    engine.stop();
}

#[test]
fn requests_that_go_to_the_pool_of_the_mirror_are_not_copied() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let more = "mirror: {pool: shadow}, rules: [{if: {path: /new}, then: {pool: shadow}}]";
    let (engine, service) = start(app, shadow, more, "");
    let mut client = connect(service);
    ask(&mut client, &get("/new"));
    assert!(!next(&copies).head.contains("X-Vedette-Mirror"));
    none(&copies);
    engine.stop();
}

#[test]
fn slow_uploads_do_not_take_the_places_of_copies() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, concurrent: 1}", "");
    let slow: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut client = connect(service);
            client.write_all(&post("/slow", "hello").as_bytes()[..52]).unwrap();
            client
        })
        .collect();
    let mut client = connect(service);
    let copy = until_copied(&mut client, &post("/quick", "hello"), &copies);
    assert!(copy.head.starts_with("POST /quick "));
    drop(slow);
    engine.stop();
}

#[test]
fn a_hung_mirror_delays_nothing_and_stays_within_its_limit() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Hang));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, concurrent: 3}", "");
    let mut client = connect(service);
    for number in 0..50 {
        ask(&mut client, &post(&format!("/{number}"), "x"));
    }
    let mut bodies = Vec::new();
    for _ in 0..3 {
        bodies.push(next(&copies).body);
    }
    none(&copies);
    assert_eq!(bodies, ["x"; 3]);
    engine.stop();
}

#[test]
fn a_hung_mirror_gives_its_places_back_after_the_timeout() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Hang));
    let more = "mirror: {pool: shadow, concurrent: 1}, timeouts: {server: 4s}";
    let (engine, service) = start(app, shadow, more, ", eject: {failures: 0}");
    let mut client = connect(service);
    let clock = RealClock::shared();
    let start = clock.monotonic();
    ask(&mut client, &get("/1"));
    next(&copies);
    // The copy of one of the next requests goes out when the first one has failed.
    let later = until_copied(&mut client, &get("/2"), &copies);
    assert!(later.head.starts_with("GET /2 "));
    assert!(clock.monotonic() - start > Duration::from_secs(3), "the place was free before");
    engine.stop();
}

#[test]
fn a_mirror_that_closes_or_is_down_changes_nothing_for_clients() {
    let (app, _requests) = server(Habit::Respond);
    let (closing, copies) = server(Habit::Close);
    let (engine, service) = start(app, closing, "mirror: {pool: shadow}", ", eject: {failures: 0}");
    let mut client = connect(service);
    for _ in 0..5 {
        ask(&mut client, &post("/", "hello"));
        assert_eq!(next(&copies).body, "hello");
    }
    engine.stop();
    let down = free_address().unwrap();
    let (engine, service) = start(app, down, "mirror: {pool: shadow, concurrent: 1}", "");
    let mut client = connect(service);
    for _ in 0..20 {
        ask(&mut client, &post("/", "hello"));
    }
    engine.stop();
}

#[test]
fn a_server_at_its_limit_gets_no_copy() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Hang));
    let service = free_address().unwrap();
    let text = format!(
        "threads: 1
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, mirror: {{pool: shadow}}}}
pools:
  - {{name: app, servers: [{{name: s, address: '{app}'}}]}}
  - {{name: shadow, servers: [{{name: s, address: '{shadow}', max_connections: 2}}]}}
"
    );
    let config = Config::parse(&text).unwrap();
    let engine = Engine::start(&config, &RealClock::shared()).unwrap();
    let mut client = connect(service);
    for _ in 0..10 {
        ask(&mut client, &get("/"));
    }
    next(&copies);
    next(&copies);
    none(&copies);
    engine.stop();
}

#[test]
fn large_content_is_not_copied() {
    let ((app, requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, max_body: 100000}", "");
    let mut client = connect(service);
    let chunked = |body: &str| {
        let size = body.len();
        format!(
            "PUT / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n"
        )
    };
    let (most, larger) = ("m".repeat(100_000), "l".repeat(100_001));
    for text in [post("/", &larger), chunked(&larger), post("/", &most), chunked(&most)] {
        ask(&mut client, &text);
        next(&requests);
    }
    assert_eq!(next(&copies).body, most);
    let chunks = next(&copies).body;
    assert_eq!(chunks.matches('m').count(), 100_000);
    none(&copies);
    engine.stop();
}

#[test]
fn a_request_that_does_not_arrive_completely_is_not_copied() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, concurrent: 1}", "");
    let mut client = connect(service);
    client.write_all(&post("/", "hello").as_bytes()[..52]).unwrap();
    drop(client);
    let mut client = connect(service);
    // Its place is free.
    let copy = until_copied(&mut client, &post("/next", "hello"), &copies);
    assert!(copy.head.starts_with("POST /next "));
    engine.stop();
}

#[test]
fn rules_choose_the_mirror() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let more = "rules: [\
        {if: {path: /never}, then: {mirror: {pool: shadow, percent: 0}}}, \
        {if: {path_prefix: /denied}, then: {deny: 403}}, \
        {if: {method: GET}, then: {mirror: {pool: shadow}}}]";
    let (engine, service) = start(app, shadow, more, "");
    let mut client = connect(service);
    ask(&mut client, &get("/never"));
    ask(&mut client, &post("/post", "x"));
    client.write_all(get("/denied").as_bytes()).unwrap();
    assert!(read_head(&mut client).starts_with("HTTP/1.1 403 "));
    ask(&mut client, &get("/get"));
    assert!(next(&copies).head.starts_with("GET /get "));
    none(&copies);
    engine.stop();
}

#[test]
fn requests_of_http_2_are_copied_to_both_versions() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow}", "");
    let mut client = Side::client(service);
    let send = |client: &mut Side| {
        let stream = client.open(&request("POST", "/up", &[]), false);
        client.send(stream, b"abc", false);
        client.head(stream, &[("x-sum", "6")], true);
        client.fields(stream);
        assert_eq!(client.next(), Seen::Data(stream, b"ok".to_vec(), true));
    };
    send(&mut client);
    let copy = next(&copies);
    assert!(copy.head.starts_with("POST /up HTTP/1.1\r\nHost: a.test\r\n"), "{}", copy.head);
    assert_eq!(copy.body, "3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n");
    engine.stop();
    let (origin, shadow) = listener();
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow}", ", protocol: h2");
    let mut client = Side::client(service);
    send(&mut client);
    let mut upstream = Side::server(&origin);
    let trailers = |stream| Seen::Trailers(stream, vec![("x-sum".to_owned(), "6".to_owned())]);
    upstream.fields(1);
    assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
    assert_eq!(upstream.next(), trailers(1));
    upstream.head(1, &[(":status", "500")], true);
    engine.stop();
    // From HTTP/2 to HTTP/2, trailers also follow content of a known length.
    let (first, app) = listener();
    let (origin, shadow) = listener();
    let (engine, service) =
        start_with(app, shadow, "mirror: {pool: shadow}", [", protocol: h2"; 2]);
    let mut client = Side::client(service);
    let stream = client.open(&request("POST", "/up", &[("content-length", "3")]), false);
    client.send(stream, b"abc", false);
    client.head(stream, &[("x-sum", "6")], true);
    for origin in [first, origin] {
        let mut upstream = Side::server(&origin);
        upstream.fields(1);
        assert_eq!(upstream.next(), Seen::Data(1, b"abc".to_vec(), false));
        assert_eq!(upstream.next(), trailers(1));
        upstream.head(1, &[(":status", "204")], true);
    }
    client.fields(stream);
    engine.stop();
}

#[test]
fn a_response_of_a_mirror_is_read_up_to_a_limit() {
    let (app, _requests) = server(Habit::Respond);
    let (origin, shadow) = listener();
    let (engine, service) = start(app, shadow, "mirror: {pool: shadow, concurrent: 1}", "");
    let mut client = connect(service);
    ask(&mut client, &get("/1"));
    let mut socket = origin.accept().expect("a copy").0;
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.set_write_timeout(Some(TIMEOUT)).unwrap();
    read_head(&mut socket);
    // Sockets hold some of it, too.
    let large = vec![b'x'; 64 << 20];
    socket
        .write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", large.len()).as_bytes())
        .unwrap();
    socket.write_all(&large).expect_err("the rest is not read");
    // Its place is free for the next copy, on another connection.
    origin.set_nonblocking(true).unwrap();
    let again = (0..2_000).any(|_| {
        ask(&mut client, &get("/2"));
        std::thread::sleep(Duration::from_millis(20));
        origin.accept().is_ok()
    });
    assert!(again);
    engine.stop();
}

/// A server that has begun its response is not ejected because the rest takes too long.
#[test]
fn slow_responses_of_a_mirror_are_no_failures_of_its_server() {
    let (app, _requests) = server(Habit::Respond);
    let (origin, shadow) = listener();
    let more = "mirror: {pool: shadow}, timeouts: {server: 4s}";
    let (engine, service) = start(app, shadow, more, ", eject: {failures: 1, for: 1h}");
    let mut client = connect(service);
    for path in ["/1", "/2"] {
        ask(&mut client, &get(path));
        let mut socket = origin.accept().expect("a copy, as the server is not ejected").0;
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        assert!(read_head(&mut socket).starts_with(&format!("GET {path} ")));
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nslow").unwrap();
        assert_eq!(socket.read(&mut [0]).unwrap(), 0, "the copy ends with its time");
    }
    engine.stop();
}

#[test]
fn each_chosen_request_counts_once_and_copies_have_no_records() {
    let ((app, _requests), (shadow, copies)) = (server(Habit::Respond), server(Habit::Respond));
    let folder = tempfile::tempdir().expect("a folder");
    let service = free_address().unwrap();
    let text = format!(
        "threads: 1
transactions: {{folder: '{}'}}
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, mirror: {{pool: shadow, max_body: 3}}}}
pools:
  - {{name: app, servers: [{{name: s, address: '{app}'}}]}}
  - {{name: shadow, servers: [{{name: s, address: '{shadow}'}}]}}
",
        folder.path().display()
    );
    let config = Config::parse(&text).unwrap();
    let engine = Engine::start(&config, &RealClock::shared()).unwrap();
    let mut client = connect(service);
    for _ in 0..10 {
        ask(&mut client, &post("/small", "abc"));
    }
    for _ in 0..6 {
        ask(&mut client, &post("/large", "abcd"));
    }
    for _ in 0..10 {
        next(&copies);
    }
    none(&copies);
    let count = |counter| {
        let measured = engine.measured(Duration::ZERO);
        let service = measured.into_iter().find(|one| &*one.name == "web").expect("the service");
        service.counts.counters[counter]
    };
    let counts = || [Counter::Requests, Counter::Mirrored, Counter::Unmirrored].map(count);
    let counted = (0..2_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        counts() == [16, 10, 6]
    });
    assert!(counted, "{:?}", counts());
    engine.stop();
}
