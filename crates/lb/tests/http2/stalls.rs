//! A server of HTTP/2 that accepts connections and reads no more.

use lb::Engine;
use lb::config::Config;
use proxying::http2::frame;
use stdx::listening::free_address;

use crate::side::{Seen, Side, listener, request};

/// A connection whose server does not read gets no more streams, and is closed.
#[test]
fn a_server_that_stops_reading_loses_its_connection() {
    /// More than the sockets of a connection hold is sent in so many rounds.
    const ROUNDS: usize = 60;
    let (origin, server) = listener();
    let service = free_address().expect("a free port");
    let text = format!(
        "threads: 1
virtual_services:
  - {{name: web, type: http, listen: '{service}', pool: app, h2c: only, timeouts: {{server: 100ms}}}}
pools:
  - {{name: app, protocol: h2, servers: [{{name: s, address: '{server}'}}], retries: {{count: 0}}}}
"
    );
    let config = Config::parse(&text).expect("a valid file");
    let engine = Engine::start(&config, &stdx::clock::RealClock::shared()).expect("an engine");
    let mut client = Side::client(service);
    let large = "x".repeat(12_000);
    client.open(&request("GET", "/", &[("x-large", &large)]), true);
    let mut hung = Side::server(&origin);
    hung.fields(1);
    origin.set_nonblocking(true).expect("a socket that works");
    let (mut pending, mut others) = (1, Vec::new());
    let closed = (0..ROUNDS).any(|_| {
        for _ in pending..50 {
            client.open(&request("GET", "/", &[("x-large", &large)]), true);
        }
        pending = 50;
        while pending > 0 {
            match client.next() {
                Seen::Head(..) => {}
                Seen::Data(.., end) => pending -= usize::from(end),
                other => panic!("{other:?}"),
            }
        }
        others.extend(origin.accept());
        // What arrives at a closed socket is answered with a reset.
        frame::window(&mut hung.connection.output, 0, 1);
        !hung.write()
    });
    assert!(closed, "the connection that nobody reads is still open");
    assert!(!others.is_empty(), "other requests have another connection");
    engine.stop();
}
