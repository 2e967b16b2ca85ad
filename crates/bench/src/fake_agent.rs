//! Agents that answer passive checks in both dialects, cheaply: a thread per address, no event
//! loop, four system calls per check.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
/// How exactly late answers are late.
const LATE_STEP: Duration = Duration::from_millis(2);

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
    stop: AtomicBool,
    /// All are late by the same time: the first is due first. Bounded by the open files.
    late: Mutex<VecDeque<Late>>,
}

/// Running agents; they end when this is dropped.
pub(crate) struct FakeAgents {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl FakeAgents {
    /// Listens on `count` consecutive loopback addresses from `first` on, all with one port, and
    /// answers every check `delay` after it came.
    pub(crate) fn start(
        first: SocketAddr,
        count: usize,
        delay: Duration,
        clock: SharedClock,
    ) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            clock,
            delay,
            answered: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            late: Mutex::default(),
        });
        let mut agents = Self { addresses: Vec::new(), shared, threads: Vec::new() };
        let mut next = first;
        for index in 0..count.max(1) {
            next.set_ip(plus(first.ip(), index)?);
            let listener = listen(next).with_context(|| format!("cannot listen on {next}"))?;
            next = listener.local_addr()?;
            agents.addresses.push(next);
            let shared = Arc::clone(&agents.shared);
            agents.spawn(move || shared.serve(&listener))?;
        }
        if !delay.is_zero() {
            let shared = Arc::clone(&agents.shared);
            agents.spawn(move || shared.answer_late())?;
        }
        Ok(agents)
    }

    fn spawn(&mut self, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name("fake agent".to_owned()).spawn(run)?;
        self.threads.push(thread);
        Ok(())
    }

    /// Where the agents listen.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
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
        self.shared.late().len()
    }
}

impl Drop for FakeAgents {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        for address in &self.addresses {
            // Wakes the thread that accepts; with its first byte, or it is not handed out.
            if let Ok(mut connection) = TcpStream::connect(address) {
                drop(connection.write_all(b"\n"));
            }
        }
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

fn plus(ip: IpAddr, n: usize) -> anyhow::Result<IpAddr> {
    let IpAddr::V4(v4) = ip else { bail!("{ip} is no IPv4 address: agents listen on 127.x.y.z") };
    let sum =
        u32::try_from(n).ok().and_then(|n| v4.to_bits().checked_add(n)).map(Ipv4Addr::from_bits);
    match sum {
        Some(sum) if sum.is_loopback() => Ok(sum.into()),
        _ => bail!("agents listen on loopback only, and {n} addresses after {ip} are not"),
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let listener = socket.into();
    stdx::sys::defer_accept(&listener, 1)?;
    Ok(listener)
}

impl Shared {
    fn late(&self) -> MutexGuard<'_, VecDeque<Late>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let served = accepted.and_then(|(connection, _)| self.converse(connection));
            if served.is_err() {
                self.broken.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn converse(&self, mut connection: TcpStream) -> std::io::Result<()> {
        let mut buffer = [0; REQUEST_BYTES_MAX];
        let request = read_request(&mut connection, &mut buffer)?;
        let answer = answer(request, self.answered.load(Ordering::SeqCst));
        if self.delay.is_zero() {
            self.write(&mut connection, &answer)?;
        } else {
            let due = self.clock.monotonic() + self.delay;
            self.late().push_back(Late { due, connection, answer });
        }
        Ok(())
    }

    /// Counts before it writes: whoever has the answer finds it counted.
    fn write(&self, connection: &mut TcpStream, answer: &[u8]) -> std::io::Result<()> {
        self.answered.fetch_add(1, Ordering::SeqCst);
        let written = connection.write_all(answer);
        if written.is_err() {
            self.answered.fetch_sub(1, Ordering::SeqCst);
        }
        written
    }

    fn answer_late(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let now = self.clock.monotonic();
            while let Some(mut late) = self.pop_due(now) {
                if self.write(&mut late.connection, &late.answer).is_err() {
                    self.broken.fetch_add(1, Ordering::Relaxed);
                }
            }
            std::thread::sleep(LATE_STEP);
        }
    }

    fn pop_due(&self, now: Duration) -> Option<Late> {
        self.late().pop_front_if(|late| late.due <= now)
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

    fn check(delay: Duration) {
        let first = "127.0.0.1:0".parse().unwrap();
        let agents = FakeAgents::start(first, 3, delay, RealClock::shared()).unwrap();
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
        let first = "127.0.0.1:0".parse().unwrap();
        let agents = FakeAgents::start(first, 1, Duration::ZERO, RealClock::shared()).unwrap();
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
