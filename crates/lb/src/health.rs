//! Health monitors: one thread checks the servers of all pools.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token, Waker};
use proxying::http1::{HeadEnd, Limits, Response};
use proxying::proxy_header;
use stdx::clock::SharedClock;

use crate::buffer::{Buffer, Buffers};
use crate::config::{Health, HealthKind};
use crate::conn::Conn;
use crate::pool::Pool;
use crate::snapshot::Snapshot;

const WAKER: Token = Token(usize::MAX);

/// The running monitors.
pub(crate) struct Monitors {
    waker: Arc<Waker>,
}

impl Monitors {
    pub(crate) fn start(snapshot: Arc<ArcSwap<Snapshot>>, clock: SharedClock) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        stdx::thread::permanent("health", move || {
            let mut table = Table { poll, clock, targets: Vec::new(), due: BinaryHeap::new() };
            if let Err(error) = table.run(&snapshot) {
                tracing::error!("the health monitors have ended: {error}");
            }
        })?;
        Ok(Self { waker })
    }

    /// The configuration has changed.
    pub(crate) fn changed(&self) {
        if let Err(error) = self.waker.wake() {
            tracing::error!("the health monitors use the configuration of before: {error}");
        }
    }
}

/// One check in progress.
struct Probe {
    conn: Conn,
    /// Not sent yet: the PROXY header, then the request.
    preface: Vec<u8>,
    request: Vec<u8>,
    received: Buffer,
}

/// A server that is checked.
struct Target {
    pool: Arc<Pool>,
    server: u16,
    health: Health,
    probe: Option<Probe>,
    /// Equal results in a row.
    streak: u16,
    last: Option<bool>,
    /// Counts checks, so that the deadline of an old one is recognised.
    round: u32,
}

/// What is due: time in milliseconds, target, round of a deadline or `None` for the next check.
type Due = Reverse<(u64, usize, Option<u32>)>;

struct Table {
    poll: Poll,
    clock: SharedClock,
    targets: Vec<Target>,
    due: BinaryHeap<Due>,
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Table {
    fn run(&mut self, snapshot: &ArcSwap<Snapshot>) -> io::Result<()> {
        let mut events = Events::with_capacity(256);
        let mut buffers = Buffers::default();
        loop {
            let now = ms(self.clock.monotonic());
            let wait = self.due.peek().map(|Reverse((due, ..))| due.saturating_sub(now));
            match self.poll.poll(&mut events, wait.map(Duration::from_millis)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                if event.token() == WAKER {
                    self.reload(&snapshot.load_full());
                    continue;
                }
                let index = event.token().0;
                let Some(target) = self.targets.get_mut(index) else { continue };
                let Some(probe) = &mut target.probe else { continue };
                probe.conn.note(event);
                if let Some(passed) = probe.advance(&target.health, &mut buffers) {
                    self.finish(index, passed, &mut buffers);
                }
            }
            let now = ms(self.clock.monotonic());
            while let Some(Reverse((due, index, round))) = self.due.peek().copied() {
                if due > now {
                    break;
                }
                self.due.pop();
                match round {
                    None => self.begin(index, now, &mut buffers),
                    Some(round) if self.targets[index].round == round => {
                        self.finish(index, false, &mut buffers);
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Targets of a new configuration. Their first checks are spread over the interval.
    fn reload(&mut self, snapshot: &Snapshot) {
        self.due.clear();
        self.targets.clear();
        let now = ms(self.clock.monotonic());
        for pool in &snapshot.pools {
            for (server, _) in (0..).zip(&pool.servers) {
                let Some(health) = &pool.health else {
                    pool.server(server).shared.set_healthy(true);
                    continue;
                };
                let spread = ms(health.interval.0) * u64::from(server) / pool.servers.len() as u64;
                self.due.push(Reverse((now + spread, self.targets.len(), None)));
                self.targets.push(Target {
                    pool: Arc::clone(pool),
                    server,
                    health: health.clone(),
                    probe: None,
                    streak: 0,
                    last: None,
                    round: 0,
                });
            }
        }
    }

    fn begin(&mut self, index: usize, now: u64, buffers: &mut Buffers) {
        if self.targets[index].probe.is_some() {
            self.finish(index, false, buffers);
        }
        let target = &mut self.targets[index];
        target.round = target.round.wrapping_add(1);
        self.due.push(Reverse((now + ms(target.health.interval.0), index, None)));
        self.due.push(Reverse((now + ms(target.health.timeout.0), index, Some(target.round))));
        match Probe::start(target, &self.poll, index) {
            Ok(probe) => target.probe = Some(probe),
            Err(_) => self.finish(index, false, buffers),
        }
    }

    fn finish(&mut self, index: usize, passed: bool, buffers: &mut Buffers) {
        let target = &mut self.targets[index];
        // The deadline of this check is no longer one.
        target.round = target.round.wrapping_add(1);
        if let Some(mut probe) = target.probe.take() {
            probe.received.clear(buffers);
        }
        target.streak =
            if target.last == Some(passed) { target.streak.saturating_add(1) } else { 1 };
        target.last = Some(passed);
        let needed = if passed { target.health.up } else { target.health.down };
        if target.streak < needed {
            return;
        }
        let server = target.pool.server(target.server);
        if server.shared.set_healthy(passed) {
            let state = if passed { "up" } else { "down" };
            tracing::info!("pool {}: server {} is {state}", target.pool.name, server.name);
        }
    }
}

impl Probe {
    fn start(target: &Target, poll: &Poll, index: usize) -> io::Result<Self> {
        let server = target.pool.server(target.server);
        let mut stream = TcpStream::connect(server.address)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(index), interest)?;
        let (mut request, mut tls) = (Vec::new(), None);
        if target.health.kind == HealthKind::Http {
            let host = target.pool.tls.as_ref().map(|tls| tls.name.to_str().into_owned());
            let host = host.unwrap_or_else(|| server.address.to_string());
            request = format!(
                "GET {} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: vedette\r\nConnection: close\r\n\r\n",
                target.health.path
            )
            .into_bytes();
            if let Some(side) = &target.pool.tls {
                let config = Arc::clone(&side.config);
                let connection = rustls::ClientConnection::new(config, side.name.clone());
                tls = Some(connection.map_err(io::Error::other)?.into());
            }
        }
        let preface: &[u8] = match target.pool.send_proxy {
            None => b"",
            Some(proxy_header::Version::V1) => b"PROXY UNKNOWN\r\n",
            // LOCAL: a connection of the proxy itself.
            Some(proxy_header::Version::V2) => b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
        };
        let conn = Conn::new(stream, tls);
        Ok(Self { conn, preface: preface.to_vec(), request, received: Buffer::default() })
    }

    /// Goes on; the result, if there is one.
    fn advance(&mut self, health: &Health, buffers: &mut Buffers) -> Option<bool> {
        if self.conn.failure().is_some() {
            return Some(false);
        }
        if !self.conn.writable && !self.conn.readable {
            return None;
        }
        self.talk(health, buffers).unwrap_or(Some(false))
    }

    fn talk(&mut self, health: &Health, buffers: &mut Buffers) -> io::Result<Option<bool>> {
        if !self.preface.is_empty() {
            let sent = self.conn.write_plain(&self.preface)?;
            self.preface.drain(..sent);
        }
        if health.kind == HealthKind::Tcp {
            return Ok(Some(true));
        }
        if !self.preface.is_empty() || !self.conn.handshake()? {
            return Ok(None);
        }
        let sent = self.conn.write(&self.request)?;
        self.request.drain(..sent);
        self.conn.flush()?;
        while self.conn.fill(&mut self.received, buffers)? > 0 {}
        let all = self.conn.eof || self.received.room() == 0;
        Ok(judge(self.received.data(), health, all))
    }
}

/// The result of a check by what has been received; `None`: more is needed.
fn judge(received: &[u8], health: &Health, all: bool) -> Option<bool> {
    let limits = Limits { target: 16_384, head: 16_384, fields: 256 };
    let end = match HeadEnd::default().find(received, &limits) {
        Ok(Some(end)) => end,
        Ok(None) => return all.then_some(false),
        Err(_) => return Some(false),
    };
    let Ok(response) = Response::parse(&received[..end], false, &limits) else {
        return Some(false);
    };
    if response.status != health.status {
        return Some(false);
    }
    let Some(text) = &health.body else { return Some(true) };
    if memchr::memmem::find(&received[end..], text.as_bytes()).is_some() {
        return Some(true);
    }
    let received = received.len() - end;
    let complete = response.length.is_some_and(|length| received as u64 >= length);
    (all || complete).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(body: &str) -> Health {
        serde_saphyr::from_str(&format!("type: http\nbody: {body}\n")).unwrap()
    }

    #[test]
    fn a_check_waits_for_the_text_and_fails_at_the_end_of_the_body() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
        let with = |body: &[u8]| [&head[..], body].concat();
        assert_eq!(judge(&with(b"hea"), &health("health"), false), None);
        assert_eq!(judge(&with(b"health"), &health("health"), false), Some(true));
        assert_eq!(judge(&with(b"sickly"), &health("health"), false), Some(false));
        assert_eq!(judge(b"HTTP/1.1 503 X\r\n\r\n", &health("health"), false), Some(false));
        assert_eq!(judge(b"HTTP/1.1 200", &health("health"), true), Some(false));
    }
}
