//! Agents that answer passive checks in both dialects, cheaply: no event loop, three system calls
//! per check and hardly a wake-up. A thread serves many addresses, takes what has come since it
//! looked last, and naps a moment when that is nothing: who shares the machine with the server that
//! is measured must not make it switch between them for each check.
//!
//! Each thread has a table of open files for itself, so that more checks may wait for their answer
//! than a process may have open files.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, bail};
use stdx::clock::SharedClock;
use wire::agent::passive::{Answer, Dialect, Request, encode_answer};

/// Connections that wait to be accepted; the kernel bounds it further (`net.core.somaxconn`).
const BACKLOG: i32 = 65_535;
/// A request is a few dozen bytes.
const REQUEST_BYTES_MAX: usize = 4096;
/// How long a connection may take to say something.
const REQUEST_MAX: Duration = Duration::from_secs(3);
/// Pause of a thread that found nothing to do; how late answers may be.
const NAP: Duration = Duration::from_millis(1);
/// Connections taken from one address before the next has its turn.
const TURN: usize = 64;
/// Room beside the steady rate: first checks, and what a server catches up with.
const SPARE: f64 = 2.0;
/// Files of a thread that are no connections.
const FILES_KEPT: usize = 512;

struct Late {
    due: Duration,
    connection: TcpStream,
    answer: Vec<u8>,
}

struct Shared {
    clock: SharedClock,
    delay: Duration,
    answered: AtomicU64,
    broken: AtomicU64,
    waiting: AtomicUsize,
    silent: AtomicBool,
    stop: AtomicBool,
}

/// What fake agents are to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agents {
    /// First address; port 0 = any.
    pub(crate) first: SocketAddr,
    /// Consecutive loopback addresses from there on, all with one port.
    pub(crate) count: usize,
    /// From a request to its answer.
    pub(crate) delay: Duration,
    /// Checks per second that will be asked at most.
    pub(crate) checks_per_s: f64,
}

impl Agents {
    /// Threads whose open files are enough for what waits, and that two cores can be busy with.
    fn threads(&self, files: usize) -> usize {
        let waiting = self.checks_per_s * self.delay.as_secs_f64() * SPARE;
        let each = files.saturating_sub(FILES_KEPT).max(64);
        (waiting / each as f64).ceil().clamp(1.0, 16.0) as usize
    }
}

/// Running agents; they end when this is dropped.
pub(crate) struct FakeAgents {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl FakeAgents {
    /// Listens, and answers every check.
    pub(crate) fn start(agents: Agents, clock: SharedClock) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            clock,
            delay: agents.delay,
            answered: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            silent: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let files = stdx::sys::raise_open_files_limit().unwrap_or(1024);
        let threads = agents.threads(usize::try_from(files).unwrap_or(usize::MAX));
        let count = agents.count.max(threads);
        let mut started = Self { addresses: Vec::new(), shared, threads: Vec::new() };
        // The port that the first address gets is the port of all.
        let mut first = with_port(agents.first, count, |at| listen(at)?.local_addr())?;
        for thread in 0..threads {
            let mut addresses = Vec::new();
            for number in (thread..count).step_by(threads) {
                let ip = plus(agents.first.ip(), number)?;
                addresses.push(SocketAddr::new(ip, first.port()));
            }
            let served = started.serve(addresses)?;
            first.set_port(served.first().context("BUG: a thread without address")?.port());
            started.addresses.extend(served);
        }
        started.addresses.sort_unstable();
        Ok(started)
    }

    /// Starts a thread for some addresses; returns them with their ports.
    fn serve(&mut self, addresses: Vec<SocketAddr>) -> anyhow::Result<Vec<SocketAddr>> {
        let (tell, told) = mpsc::sync_channel(1);
        let shared = Arc::clone(&self.shared);
        let body = move || match listen_all(&addresses) {
            Ok(listeners) => {
                let at = listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>();
                // Who asked waits for it.
                let _ = tell.send(at.map_err(anyhow::Error::from));
                Worker { shared: &shared, late: RefCell::default() }.serve(&listeners);
            }
            Err(error) => drop(tell.send(Err(error))),
        };
        self.threads.push(stdx::sys::spawn_with_own_files("fake agents".to_owned(), body)?);
        told.recv().context("BUG: a thread of fake agents has ended")?
    }

    /// Where the agents listen.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// From now on they take no connection, as if they were switched off, or do so again.
    pub(crate) fn silence(&self, silent: bool) {
        self.shared.silent.store(silent, Ordering::Relaxed);
    }

    /// Checks answered so far.
    pub(crate) fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::Relaxed)
    }

    /// Connections that asked nothing sensible or went away before the answer.
    pub(crate) fn broken(&self) -> u64 {
        self.shared.broken.load(Ordering::Relaxed)
    }

    /// Checks that wait for their answer now.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }
}

impl Drop for FakeAgents {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

/// All with the port of the first.
fn listen_all(addresses: &[SocketAddr]) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners = Vec::with_capacity(addresses.len());
    let mut port = 0;
    for &(mut address) in addresses {
        if address.port() == 0 {
            address.set_port(port);
        }
        let listener = listen(address).with_context(|| format!("cannot listen on {address}"))?;
        port = listener.local_addr()?.port();
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Ports of the first address that are tried: the others may have them in use.
const PORTS: usize = 50;
/// Addresses that are looked at.
const LOOKED_AT: usize = 16;

/// The first of `count` consecutive addresses, with a port that all of them have free if it has none.
/// `bind` tells where a socket is that was bound to an address.
pub(crate) fn with_port(
    first: SocketAddr,
    count: usize,
    bind: impl Fn(SocketAddr) -> std::io::Result<SocketAddr>,
) -> anyhow::Result<SocketAddr> {
    if first.port() != 0 {
        return Ok(first);
    }
    for _ in 0..PORTS {
        let found = bind(first)?;
        let others = (1..count.min(LOOKED_AT)).map(|n| plus(first.ip(), n));
        let others = others.collect::<anyhow::Result<Vec<IpAddr>>>()?;
        if others.into_iter().all(|ip| bind(SocketAddr::new(ip, found.port())).is_ok()) {
            return Ok(found);
        }
    }
    bail!("{count} addresses from {} on have no free port in common", first.ip())
}

pub(crate) fn plus(ip: IpAddr, n: usize) -> anyhow::Result<IpAddr> {
    let IpAddr::V4(v4) = ip else { bail!("{ip} is no IPv4 address: agents listen on 127.x.y.z") };
    let sum =
        u32::try_from(n).ok().and_then(|n| v4.to_bits().checked_add(n)).map(Ipv4Addr::from_bits);
    match sum {
        Some(sum) if sum.is_loopback() => Ok(sum.into()),
        _ => bail!("agents listen on loopback only, and {n} addresses after {ip} are not"),
    }
}

/// A socket of which each accepted connection has something to say.
pub(crate) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    let listener = socket.into();
    stdx::sys::defer_accept(&listener, 1)?;
    Ok(listener)
}

/// A thread of agents.
struct Worker<'a> {
    shared: &'a Shared,
    /// All are late by the same time: the first is due first. Bounded by the open files.
    late: RefCell<VecDeque<Late>>,
}

impl Worker<'_> {
    fn serve(&self, listeners: &[TcpListener]) {
        let mut silent = false;
        while !self.shared.stop.load(Ordering::Relaxed) {
            if self.shared.silent.load(Ordering::Relaxed) != silent {
                silent = !silent;
                listeners.iter().for_each(|listener| self.close(listener, silent));
            }
            if silent {
                std::thread::sleep(NAP);
                continue;
            }
            let mut found = 0;
            for listener in listeners {
                for _ in 0..TURN {
                    match listener.accept() {
                        Ok((connection, _)) => self.converse(connection),
                        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                        Err(_) => {
                            self.broken();
                            break;
                        }
                    }
                    found += 1;
                }
            }
            found += self.answer_late();
            if found < TURN {
                std::thread::sleep(NAP);
            }
        }
    }

    /// The system drops what would open a connection while there is no room to wait in.
    fn close(&self, listener: &TcpListener, closed: bool) {
        let room = if closed { 0 } else { BACKLOG };
        if socket2::SockRef::from(listener).listen(room).is_err() {
            self.broken();
        }
    }

    fn broken(&self) {
        self.shared.broken.fetch_add(1, Ordering::Relaxed);
    }

    fn converse(&self, mut connection: TcpStream) {
        let mut buffer = [0; REQUEST_BYTES_MAX];
        let Ok(request) = read_request(&mut connection, &mut buffer) else { return self.broken() };
        let answer = answer(request, self.shared.answered.load(Ordering::SeqCst));
        if self.shared.delay.is_zero() {
            return self.write(&mut connection, &answer);
        }
        let due = self.shared.clock.monotonic() + self.shared.delay;
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        self.late.borrow_mut().push_back(Late { due, connection, answer });
    }

    /// Counts before it writes: a client that has the response finds it counted.
    fn write(&self, connection: &mut TcpStream, answer: &[u8]) {
        self.shared.answered.fetch_add(1, Ordering::SeqCst);
        if connection.write_all(answer).is_err() {
            self.shared.answered.fetch_sub(1, Ordering::SeqCst);
            self.broken();
        }
    }

    fn answer_late(&self) -> usize {
        let mut late = self.late.borrow_mut();
        let now = self.shared.clock.monotonic();
        let mut count = 0;
        while let Some(mut late) = late.pop_front_if(|late| late.due <= now) {
            self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
            self.write(&mut late.connection, &late.answer);
            count += 1;
        }
        count
    }
}

/// The text of a request: framed, or a line.
fn read_request<'a>(
    connection: &mut TcpStream,
    buffer: &'a mut [u8; REQUEST_BYTES_MAX],
) -> std::io::Result<&'a str> {
    const HEADER_BYTES: usize = 13;
    let wrong = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let mut len = 0;
    let mut waits = false;
    let (from, till) = loop {
        let n = connection.read(&mut buffer[len..])?;
        len += n;
        let have = &buffer[..len];
        if have.starts_with(b"ZBXD") {
            if len >= HEADER_BYTES {
                let bytes = u32::from_le_bytes([have[5], have[6], have[7], have[8]]) as usize;
                if len >= HEADER_BYTES + bytes {
                    break (HEADER_BYTES, HEADER_BYTES + bytes);
                }
            }
        } else if have.ends_with(b"\n") {
            break (0, len - 1);
        }
        if n == 0 || len == buffer.len() {
            return Err(wrong());
        }
        if !waits {
            // Hardly ever: the first bytes are there when a connection is accepted.
            connection.set_read_timeout(Some(REQUEST_MAX))?;
            waits = true;
        }
    };
    str::from_utf8(&buffer[from..till]).map_err(|_| wrong())
}

/// Every key has a value: the running number of the check.
fn answer(request: &str, number: u64) -> Vec<u8> {
    let request = Request::parse(request);
    let text = match (&request.check, request.dialect) {
        (Ok(_), Dialect::Plain) => number.to_string(),
        (Ok(_), Dialect::Json) => {
            format!(r#"{{"version":"7.0.0","variant":1,"data":[{{"value":"{number}"}}]}}"#)
        }
        (Err(why), dialect) => encode_answer(&Answer::AgentError(why.into()), dialect, "7.0.0"),
    };
    wire::zbxd::encode(text.as_bytes(), 0)
}

#[cfg(test)]
mod tests {
    use stdx::clock::RealClock;
    use wire::agent::passive::{Parsed, parse_answer, request};

    use super::*;

    fn ask(address: SocketAddr, parts: &[&[u8]]) -> Vec<u8> {
        let mut connection = TcpStream::connect(address).unwrap();
        for part in parts {
            connection.write_all(part).unwrap();
        }
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).unwrap();
        answer
    }

    fn three(delay: Duration) -> Agents {
        let first = "127.0.0.1:0".parse().unwrap();
        Agents { first, count: 3, delay, checks_per_s: 100.0 }
    }

    #[test]
    fn as_many_threads_as_open_files_ask_for() {
        let agents = |delay_s, checks_per_s| {
            let delay = Duration::from_secs(delay_s);
            Agents { checks_per_s, ..three(delay) }.threads(20_000)
        };
        assert_eq!((agents(0, 50_000.0), agents(3, 2_000.0), agents(3, 20_000.0)), (1, 1, 7));
    }

    fn check(delay: Duration) {
        let agents = FakeAgents::start(three(delay), RealClock::shared()).unwrap();
        let addresses = agents.addresses().to_vec();
        assert_eq!(addresses[2].ip().to_string(), "127.0.0.3");
        assert_eq!(addresses[2].port(), addresses[0].port());
        let mut asked = 0;
        for address in addresses {
            for dialect in [Dialect::Json, Dialect::Plain] {
                let frame = wire::zbxd::encode(request("k[1]", 3, dialect).as_bytes(), 0);
                let answer = ask(address, &[&frame[..7], &frame[7..]]);
                let text = str::from_utf8(&answer[13..]).unwrap();
                let Parsed::Answer(Answer::Value(value)) = parse_answer(text, dialect) else {
                    panic!("{text}");
                };
                assert_eq!(value.parse::<u64>().unwrap(), asked);
                asked += 1;
            }
        }
        let answer = ask(agents.addresses()[0], &[b"agent.ping\n"]);
        assert_eq!(&answer[13..], b"6");
        assert_eq!((agents.answered(), agents.broken(), agents.in_flight()), (7, 0, 0));
    }

    #[test]
    fn answers_both_dialects_at_once() {
        check(Duration::ZERO);
    }

    #[test]
    fn answers_late() {
        check(Duration::from_millis(5));
    }

    #[test]
    fn what_is_no_request_counts_as_broken() {
        let agents = FakeAgents::start(three(Duration::ZERO), RealClock::shared()).unwrap();
        let address = agents.addresses()[0];
        for bytes in [&b"ZBXD\x01\xff\xff\xff\xff\0\0\0\0x"[..], b"\xff\xfe\n"] {
            let mut connection = TcpStream::connect(address).unwrap();
            connection.write_all(bytes).unwrap();
            connection.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(connection.read(&mut [0; 10]).unwrap_or(0), 0);
        }
        let text = ask(address, &[b"{\"request\":\"other\"}\n"]);
        assert!(String::from_utf8_lossy(&text).contains("error"), "{text:?}");
        assert_eq!(agents.broken(), 2);
    }

    #[test]
    fn addresses_stay_on_loopback() {
        let loopback = |text: &str, n| plus(text.parse().unwrap(), n).map(|ip| ip.to_string()).ok();
        assert_eq!(loopback("127.0.0.255", 1).as_deref(), Some("127.0.1.0"));
        assert_eq!(loopback("127.255.255.255", 1), None);
        assert_eq!(loopback("10.0.0.1", 0), None);
        assert_eq!(loopback("::1", 0), None);
    }
}
