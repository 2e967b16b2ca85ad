//! What is counted of transactions.

use std::net::{IpAddr, Ipv4Addr};

use proxying::engine_link::analytics::{Counts, State};
use transactions::{Cached, Client, Course, End, Protocol, Request, Response, Target, Timings};

use super::*;
use crate::config::Config;
use crate::tally::Tally;

/// A transaction with these statuses to the client and of the server.
fn transaction(end: End, status: u16, server_status: u16) -> Transaction<'static> {
    let none: &[u8] = b"";
    Transaction {
        began_us: 1,
        target: Target { engine: "", service: "", pool: "", server: "" },
        client: Client { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 1, tls: "", user: none },
        request: Request {
            protocol: Protocol::Http11,
            stream: 0,
            method: none,
            host: none,
            path: none,
            query: none,
            user_agent: none,
            referer: none,
            bytes: 100,
        },
        response: Response { status, server_status, bytes: 1_000 },
        // Without a server nothing is measured.
        timings: Timings {
            total_us: 20_000,
            response_us: if server_status == 0 { 0 } else { 5_000 },
            ..Timings::default()
        },
        course: Course { end, tries: 3, reused: false, rules: "", cached: Cached::Unused },
    }
}

fn counted(end: End, status: u16, server_status: u16) -> Counts {
    let tally = Tally::new(1);
    tally.count(0, &transaction(end, status, server_status));
    tally.counts()
}

#[test]
fn transaction_counts_by_class_and_origin_of_the_error() {
    use Counter::*;
    let all = [
        Status2xx,
        Status3xx,
        Status4xx,
        Status5xx,
        ClientErrors,
        EngineErrors,
        ServerErrors,
        Answered,
    ];
    for (end, status, server_status, expected) in [
        (End::Complete, 200, 200, &[Status2xx, Answered][..]),
        (End::Local, 301, 0, &[Status3xx]),
        (End::Local, 404, 0, &[Status4xx, ClientErrors]),
        (End::Complete, 404, 404, &[Status4xx, ClientErrors, Answered]),
        (End::Complete, 503, 503, &[Status5xx, ServerErrors, Answered]),
        (End::NoServer, 503, 0, &[Status5xx, ServerErrors]),
        (End::Local, 501, 0, &[Status5xx, EngineErrors]),
        (End::ClientClosed, 0, 0, &[ClientErrors]),
        (End::ServerTimeout, 504, 0, &[Status5xx, ServerErrors]),
        (End::Stopped, 0, 0, &[EngineErrors]),
        (End::Complete, 0, 0, &[]),
    ] {
        let counts = counted(end, status, server_status);
        for counter in all {
            let wanted = u64::from(expected.contains(&counter));
            assert_eq!(counts.counters[counter], wanted, "{end:?} {status}: {counter:?}");
        }
        assert_eq!(counts.counters[Requests], 1);
        assert_eq!(counts.total.count(), 1);
        assert_eq!(counts.response.count(), u64::from(server_status != 0));
    }
    let counters = counted(End::Complete, 200, 200).counters;
    let others = [BytesIn, BytesOut, Retries, AnsweredUs].map(|counter| counters[counter]);
    assert_eq!(others, [100, 1_000, 2, 5_000]);
}

#[test]
fn stored_responses_are_counted_with_their_bytes() {
    let counted = |cached| {
        let tally = Tally::new(1);
        let mut transaction = transaction(End::Complete, 200, 0);
        transaction.course.cached = cached;
        tally.count(0, &transaction);
        let counters = tally.counts().counters;
        use Counter::{CacheBytes, CacheHits, CacheMisses, CacheStale};
        [CacheHits, CacheMisses, CacheBytes, CacheStale].map(|one| counters[one])
    };
    for hit in [Cached::Hit, Cached::Revalidated, Cached::Stale] {
        assert_eq!(counted(hit), [1, 0, 1_000, u64::from(hit == Cached::Stale)], "{hit:?}");
    }
    assert_eq!(counted(Cached::Miss), [0, 1, 0, 0]);
    assert_eq!(counted(Cached::Passed), [0; 4]);
    assert_eq!(counted(Cached::Unused), [0; 4]);
}

#[test]
fn the_counters_of_threads_are_added() {
    let tally = Tally::new(2);
    let transaction = transaction(End::Complete, 200, 200);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (tally, transaction) = (&tally, &transaction);
            scope.spawn(move || (0..1_000).for_each(|_| tally.count(thread, transaction)));
        }
    });
    let counts = tally.counts();
    assert_eq!(counts.counters[Counter::Requests], 2_000);
    assert_eq!((counts.total.count(), counts.response.count()), (2_000, 2_000));
    // A thread that the tally does not know counts nothing.
    tally.count(2, &transaction);
    assert_eq!(tally.counts(), counts);
}

fn config(service: &str, address: &str) -> Config {
    Config::parse(&format!(
        "virtual_services: [{{name: {service}, type: http, listen: ['127.0.0.1:1', '127.0.0.1:2'], pool: p}}]\n\
         pools: [{{name: p, servers: [{{name: a, address: '{address}'}}, \
         {{name: b, address: '127.0.0.1:4', state: drain}}]}}]\n"
    ))
    .unwrap()
}

#[test]
fn counters_outlive_a_change_but_not_their_object() {
    let first =
        Snapshot::compile(&config("web", "127.0.0.1:3"), Some(&Snapshot::empty(1, None)), 0)
            .unwrap();
    let (service, pool) = (&first.services[1], &first.pools[0]);
    count(0, &transaction(End::Complete, 200, 200), service, Some((pool, 0)));
    pool.failed(0, 0);
    let before = first.measured(0);
    let named: Vec<_> = before.iter().map(|one| (one.kind, &*one.name, &*one.server)).collect();
    let expected = [(Kind::Service, "web", ""), (Kind::Server, "p", "a"), (Kind::Server, "p", "b")];
    assert_eq!(named, expected);
    let requests = |all: &[Measured]| -> Vec<u64> {
        all.iter().map(|one| one.counts.counters[Counter::Requests]).collect()
    };
    assert_eq!(requests(&before), [1, 1, 0]);
    let failures = before.iter().map(|one| one.counts.counters[Counter::Failures]);
    assert_eq!(failures.collect::<Vec<_>>(), [0, 1, 0]);
    // The same objects go on; another service and another server begin at zero.
    let same = Snapshot::compile(&config("web", "127.0.0.1:3"), Some(&first), 0).unwrap();
    assert_eq!(same.measured(0), before);
    let other = Snapshot::compile(&config("shop", "127.0.0.1:5"), Some(&first), 0).unwrap();
    let after = other.measured(0);
    assert_eq!(requests(&after), [0, 0, 0]);
    let same: Vec<bool> =
        before.iter().zip(&after).map(|(one, other)| one.born == other.born).collect();
    assert_eq!(same, [false, false, true]);
}

#[test]
fn server_state_is_unchecked_until_its_monitor_decides() {
    let snapshot = Snapshot::compile(&config("web", "127.0.0.1:3"), None, 0).unwrap();
    let pool = &snapshot.pools[0];
    let state = |monitored| pool.server(0).state(monitored, 1_000);
    assert_eq!((state(true), state(false)), (State::Unchecked, State::Unchecked));
    assert_eq!(pool.server(1).state(true, 0), State::Drain);
    pool.server(0).shared.set_healthy(true, 0);
    assert_eq!((state(true), state(false)), (State::Up, State::Unchecked));
    pool.server(0).shared.set_healthy(false, 0);
    assert_eq!(state(true), State::Down);
    // Without a monitor a server is down while it is ejected.
    pool.server(0).shared.set_healthy(true, 0);
    (0..pool.eject_failures).for_each(|_| pool.failed(0, 1_000));
    assert_eq!(state(false), State::Down);
    assert_eq!(pool.server(0).state(false, 1_000_000), State::Unchecked);
}
