//! An engine whose process has no file descriptor left. The limit is one of the process, so these tests have their
//! own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};
use stdx::clock::RealClock;
use stdx::sync::lock;

/// One test at a time: each changes the limit.
static ALONE: Mutex<()> = Mutex::new(());
const TIMEOUT: Duration = Duration::from_secs(60);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).expect("a connection");
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client
}

/// Whether a response is complete.
fn is_whole(text: &str) -> bool {
    let whole = || {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let (_, length) = head.split_once("Content-Length: ")?;
        let length: usize = length.lines().next()?.parse().ok()?;
        Some(body.len() == length)
    };
    whole() == Some(true)
}

/// Sends a request; the result is the status of the response.
fn status(client: &mut TcpStream) -> String {
    client.write_all(REQUEST).expect("an open connection");
    response(client)
}

fn response(client: &mut TcpStream) -> String {
    let mut text = String::new();
    while !is_whole(&text) {
        let mut bytes = [0; 1000];
        let count = client.read(&mut bytes).expect("a response");
        assert!(count > 0, "the connection has ended: {text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).expect("text"));
    }
    text[9..12].to_owned()
}

/// A server that responds with a status to one request on each connection.
fn serve(status: u16) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let response =
        format!("HTTP/1.1 {status} OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // It has no descriptor either.
            let Ok(mut stream) = stream else { continue };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).expect("a request");
                head.push(byte[0]);
            }
            stream.write_all(response.as_bytes()).expect("an open connection");
        }
    });
    address
}

/// An engine with a server, and another one if that is ejected.
fn start() -> (Engine, SocketAddr) {
    let (first, second) = (serve(200), serve(202));
    let address = stdx::listening::free_address().expect("a free port");
    let text = format!(
        "threads: 1\nvirtual_services: [{{name: web, type: http, listen: '{address}', pool: app}}]\n\
         pools: [{{name: app, eject: {{failures: 1, for: 1h}}, retries: {{count: 0}}, servers: \
         [{{name: s, address: '{first}'}}, {{name: t, address: '{second}', backup: true}}]}}]\n"
    );
    let config = Config::parse(&text).expect("a valid file");
    (Engine::start(&config, &RealClock::shared()).expect("an engine"), address)
}

/// Runs while no file can be opened.
fn without_descriptors<T>(body: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Nofile);
    // Those that are open stay open; a new one would have a higher number.
    let none = Rlimit { current: Some(3), maximum: before.maximum };
    setrlimit(Resource::Nofile, none).expect("a limit");
    let result = body();
    setrlimit(Resource::Nofile, before).expect("a limit");
    result
}

#[test]
fn no_server_is_ejected_where_descriptors_are_missing() {
    let _alone = lock(&ALONE);
    let (engine, address) = start();
    let mut client = connect(address);
    assert_eq!(status(&mut client), "200");
    assert_eq!(without_descriptors(|| status(&mut client)), "503");
    assert_eq!(status(&mut client), "200", "the server is ejected");
    engine.stop();
}

/// Counts log lines.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<AtomicUsize>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let about = std::str::from_utf8(line).is_ok_and(|line| line.contains("cannot be accepted"));
        self.0.fetch_add(usize::from(about), Relaxed);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn connections_wait_and_the_log_says_so_once() {
    let _alone = lock(&ALONE);
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt().with_writer(move || writer.clone()).init();
    let (engine, address) = start();
    // The system reserves a descriptor when it begins to accept. After a response the engine accepts nothing until
    // there is another connection.
    let mut first = connect(address);
    assert_eq!(status(&mut first), "200");
    let (clock, counted) = (RealClock::shared(), || lines.0.load(Relaxed));
    let begin = clock.monotonic();
    let sockets: Vec<Socket> = (0..100)
        .map(|_| Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket"))
        .collect();
    without_descriptors(|| {
        for socket in &sockets {
            socket.connect(&address.into()).expect("a connection");
            socket.send(REQUEST).expect("an open connection");
        }
        while counted() == 0 {
            assert!(clock.monotonic().saturating_sub(begin) < TIMEOUT, "nothing is logged");
            std::thread::yield_now();
        }
    });
    for socket in sockets {
        let mut client = TcpStream::from(socket);
        client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        assert_eq!(response(&mut client), "200");
    }
    let most = 1 + clock.monotonic().saturating_sub(begin).as_secs() / 10;
    assert!(counted() as u64 <= most, "{} lines", counted());
    engine.stop();
}
