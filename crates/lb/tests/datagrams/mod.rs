//! Servers and clients of UDP services in tests.

use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use stdx::clock::{RealClock, SharedClock};
use stdx::listening::free_address;
use transactions::{Cell, Filter, Folder, Query};

/// How long anything may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// How long a test waits.
pub(crate) struct Patience(SharedClock);

impl Patience {
    pub(crate) fn new() -> Self {
        Self(RealClock::shared())
    }

    /// Whether the time is not up.
    pub(crate) fn lasts(&self) -> bool {
        self.0.monotonic() < TIMEOUT
    }
}

pub(crate) fn socket(address: impl ToSocketAddrs) -> UdpSocket {
    let socket = UdpSocket::bind(address).expect("a free port");
    socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    socket
}

pub(crate) fn client() -> UdpSocket {
    socket("127.0.0.1:0")
}

/// Clients with a port each. One after the other, two could get the same port, which would make
/// them one session.
pub(crate) fn clients<const COUNT: usize>() -> [UdpSocket; COUNT] {
    std::array::from_fn(|_| client())
}

/// A server that responds to each datagram with its name and the datagram, until it is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(name: &'static str) -> Self {
        Self::on(socket(free_address().expect("a free port")), name)
    }

    pub(crate) fn on(socket: UdpSocket, name: &'static str) -> Self {
        let address = socket.local_addr().expect("a bound socket");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut datagram = [0; 65_535];
            while let Ok((length, from)) = socket.recv_from(&mut datagram) {
                if stopped.load(Relaxed) {
                    return;
                }
                let response = [name.as_bytes(), b":", &datagram[..length]].concat();
                let _gone = socket.send_to(&response, from);
            }
        });
        Self { address, stop }
    }

    /// Closes the port.
    pub(crate) fn stop(self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        let _wakes_it = client().send_to(b"", self.address);
        // Until the port is closed, the address cannot be bound.
        while UdpSocket::bind(self.address).is_err() {
            std::thread::yield_now();
        }
    }
}

/// A file with one service, whose address is in `{address}`.
pub(crate) fn file(
    threads: u32,
    service: &str,
    pool: &str,
    servers: &[SocketAddr],
) -> (String, SocketAddr) {
    let address = free_address().expect("a free port");
    let servers: Vec<String> = (1..)
        .zip(servers)
        .map(|(number, server)| format!("{{name: s{number}, address: '{server}'}}"))
        .collect();
    let text = format!(
        "threads: {threads}\n\
         virtual_services: [{{name: u, type: udp, listen: '{address}', pool: p{service}}}]\n\
         pools: [{{name: p, servers: [{}]{pool}}}]\n",
        servers.join(", ")
    );
    (text, address)
}

pub(crate) fn engine(text: &str) -> Engine {
    let config = Config::parse(text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    Engine::start(&config, &RealClock::shared()).expect("an engine")
}

/// Sends a datagram and waits for the response, which comes from the address that was asked.
pub(crate) fn ask(client: &UdpSocket, to: SocketAddr, datagram: &str) -> String {
    client.send_to(datagram.as_bytes(), to).expect("a datagram that is sent");
    receive(client, to)
}

pub(crate) fn receive(client: &UdpSocket, from: SocketAddr) -> String {
    let mut response = [0; 65_535];
    let (length, found) = client.recv_from(&mut response).expect("a response");
    assert_eq!(found, from);
    String::from_utf8(response[..length].to_vec()).expect("text")
}

/// Sends a datagram again until there is a response that fits.
pub(crate) fn ask_until(client: &UdpSocket, to: SocketAddr, fits: impl Fn(&str) -> bool) -> String {
    client.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let end = Patience::new();
    let mut response = [0; 65_535];
    while end.lasts() {
        client.send_to(b"x", to).expect("a datagram that is sent");
        if let Ok((length, _)) = client.recv_from(&mut response) {
            let text = String::from_utf8_lossy(&response[..length]).into_owned();
            if fits(&text) {
                client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
                return text;
            }
        }
    }
    panic!("no response that fits within {TIMEOUT:?}");
}

/// The records of a folder: server, end, bytes from the client and to it, servers asked.
pub(crate) fn records(folder: &Path) -> Vec<String> {
    let query = Query {
        filter: Filter::default(),
        from_us: 0,
        to_us: u64::MAX,
        rows: 1_000,
        bars: 0,
        group: None,
        threads: 1,
    };
    let answer = Folder::open(folder).expect("a folder").search(&query, &|| false);
    let columns = ["server", "end", "request_bytes", "response_bytes", "tries"];
    let cell = |row: &transactions::Row, name: &str| match row.get(name) {
        Some(Cell::Number(number)) => number.to_string(),
        Some(Cell::Text(text)) => text.to_string(),
        other => format!("{other:?}"),
    };
    let mut rows: Vec<String> =
        answer.rows.iter().map(|row| columns.map(|name| cell(row, name)).join(" ")).collect();
    rows.sort_unstable();
    rows
}

/// The first records of a folder: they are written every second.
pub(crate) fn first_records(folder: &Path) -> Vec<String> {
    let until = Patience::new();
    loop {
        let found = records(folder);
        if !found.is_empty() || !until.lasts() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
