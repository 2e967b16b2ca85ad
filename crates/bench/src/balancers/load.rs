//! The clients: one thread that keeps a request in flight on each of its connections.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use mio::net::{TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use stdx::clock::Clock;

use super::answer::Answer;
use super::http2::Http2;
use super::row::{Connections, Row, Via};
use super::tls;
use crate::proc::Meter;

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// Ready connections taken at a time.
const EVENTS: usize = 1024;
const WAIT: Duration = Duration::from_millis(10);
/// The same where requests begin at a rate.
const WAIT_PACED: Duration = Duration::from_millis(1);
/// Connections that are opened before others have their response, where all are to be open at once.
const BATCH: usize = 250;
/// How long nothing may come back.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// The host of all requests.
const AUTHORITY: &str = "bench.test";
/// Clients have so many addresses, 127.0.0.2 and those after it: the ports of one would not be
/// enough for a new connection per request.
const ADDRESSES: u32 = 32;
/// Share of the time that goes before the measured one, when connections open.
const WARM: f64 = 0.25;

/// What to ask, and whom.
pub(crate) struct Load<'a> {
    pub(crate) row: &'a Row,
    /// An address for each virtual service.
    pub(crate) to: &'a [SocketAddr],
    /// How long is measured.
    pub(crate) time: Duration,
    /// Set when the user wants the end.
    pub(crate) stop: &'a AtomicBool,
}

/// What happened in the measured time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    /// Complete responses.
    pub(crate) requests: u64,
    /// Bytes of responses.
    pub(crate) bytes: u64,
    /// CPU time of the balancer, seconds.
    pub(crate) cpu_s: f64,
    /// How long it was, seconds.
    pub(crate) seconds: f64,
    /// Changes of the configuration.
    pub(crate) changes: u64,
    /// Memory of the balancer, where the row is about it.
    pub(crate) memory: Option<Memory>,
}

/// Bytes of the balancer's memory before and after the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

impl Memory {
    /// Bytes now.
    pub(crate) fn of(meter: &Meter) -> anyhow::Result<u64> {
        let resident = || meter.usage().map(|usage| usage.rss_bytes);
        meter.pss_bytes().or_else(resident).context("the balancer has ended")
    }
}

impl Mark {
    pub(crate) fn since(&self, begin: &Self) -> Outcome {
        Outcome {
            requests: self.requests - begin.requests,
            bytes: self.bytes - begin.bytes,
            cpu_s: self.cpu_s - begin.cpu_s,
            seconds: self.at.saturating_sub(begin.at).as_secs_f64(),
            changes: 0,
            memory: None,
        }
    }
}

/// Counters at a moment; the difference of two is an [`Outcome`].
pub(crate) struct Mark {
    requests: u64,
    bytes: u64,
    cpu_s: f64,
    at: Duration,
}

/// Runs the load on the calling thread; `meter` reads the balancer's CPU time.
pub(crate) fn drive(load: &Load<'_>, meter: &Meter, clock: &dyn Clock) -> anyhow::Result<Outcome> {
    if load.row.connections == Connections::Idle {
        return hold(load, meter, clock);
    }
    let mut clients = Clients::new(load, clock.monotonic())?;
    clients.open(load.row.clients)?;
    let warm_till = clock.monotonic() + load.time.mul_f64(WARM);
    let wanted = u64::try_from(load.row.clients)?;
    // On a machine that is busy with other things the time may be over before anything was measured.
    let least = if load.row.connections == Connections::Resumed { 2 * wanted } else { 1 };
    let mut begin = None::<Mark>;
    loop {
        let now = clients.turn(clock)?;
        match &begin {
            // Each client has had a turn.
            None if now >= warm_till && clients.requests >= wanted => {
                begin = Some(clients.mark(meter, now)?);
            }
            Some(begin)
                if now >= begin.at + load.time && clients.requests >= begin.requests + least =>
            {
                let end = clients.mark(meter, now)?;
                if load.row.connections == Connections::Resumed {
                    check_sessions(clients.resumed, clients.requests, wanted)?;
                }
                return Ok(end.since(begin));
            }
            _ => {}
        }
    }
}

/// Opens connections that do nothing after one request, and reads the balancer's memory before and after.
fn hold(load: &Load<'_>, meter: &Meter, clock: &dyn Clock) -> anyhow::Result<Outcome> {
    let before = Memory::of(meter)?;
    let mut clients = Clients::new(load, clock.monotonic())?;
    let begin = clients.mark(meter, clock.monotonic())?;
    while clients.requests < u64::try_from(load.row.clients)? {
        if clients.requests == u64::try_from(clients.all.len())? {
            clients.open(BATCH.min(load.row.clients - clients.all.len()))?;
        }
        clients.turn(clock)?;
    }
    let end = clients.mark(meter, clock.monotonic())?;
    let memory = Memory { before, after: Memory::of(meter)? };
    Ok(Outcome { memory: Some(memory), ..end.since(&begin) })
}

enum Stream {
    Plain(TcpStream),
    /// Each request and each response is one datagram.
    Datagrams(UdpSocket),
    Tls(Box<ClientConnection>, TcpStream),
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Datagrams(socket) => socket.recv(buffer),
            Self::Tls(tls, stream) => rustls::Stream::new(&mut **tls, stream).read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Datagrams(socket) => socket.send(bytes),
            Self::Tls(tls, stream) => rustls::Stream::new(&mut **tls, stream).write(bytes),
        }
    }
}

struct Client {
    stream: Stream,
    /// Bytes of the request that are sent.
    sent: usize,
    answer: Answer,
    /// Of a connection of HTTP/2, its streams.
    streams: Option<Box<Http2>>,
}

/// When requests begin that have a rate.
struct Pace {
    rate: u32,
    since: Duration,
    /// Requests that have begun.
    begun: u64,
    /// Clients without a request.
    free: VecDeque<usize>,
}

impl Pace {
    /// The client whose turn it is, if one is due.
    fn next(&mut self, now: Duration) -> Option<usize> {
        /// Requests that are made up for if clients were late, as a part of a second.
        const LATE: u64 = 10;
        let due = (now.saturating_sub(self.since).as_secs_f64() * f64::from(self.rate)) as u64;
        self.begun = self.begun.max(due.saturating_sub(u64::from(self.rate) / LATE));
        if self.begun >= due {
            return None;
        }
        let client = self.free.pop_front()?;
        self.begun += 1;
        Some(client)
    }
}

pub(crate) struct Clients<'a> {
    load: &'a Load<'a>,
    poll: Poll,
    tls: Option<Arc<ClientConfig>>,
    pace: Option<Pace>,
    request: Vec<u8>,
    all: Vec<Client>,
    /// Connections opened so far.
    opened: u32,
    buffer: Vec<u8>,
    requests: u64,
    bytes: u64,
    /// Connections that resumed a session.
    resumed: u64,
    /// The bytes when something came last, and when that was.
    heard: (u64, Duration),
}

impl<'a> Clients<'a> {
    pub(crate) fn new(load: &'a Load<'a>, now: Duration) -> anyhow::Result<Self> {
        let closing = match load.row.connections {
            Connections::Kept | Connections::Idle | Connections::Streams(_) => "",
            Connections::Fresh | Connections::Resumed => "Connection: close\r\n",
        };
        let path = load.row.body.path();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {AUTHORITY}\r\n{closing}\r\n");
        let rate = load.row.rate;
        Ok(Self {
            load,
            poll: Poll::new()?,
            tls: tls::config(load.row)?,
            pace: rate.map(|rate| Pace { rate, since: now, begun: 0, free: VecDeque::new() }),
            request: request.into_bytes(),
            all: Vec::with_capacity(load.row.clients),
            opened: 0,
            buffer: vec![0; BUFFER_BYTES],
            requests: 0,
            bytes: 0,
            resumed: 0,
            heard: (0, now),
        })
    }

    /// Opens more connections.
    pub(crate) fn open(&mut self, more: usize) -> anyhow::Result<()> {
        for _ in 0..more {
            let number = self.all.len();
            let mut client = self.client(number)?;
            if let Some(pace) = &mut self.pace {
                client.sent = self.request.len();
                pace.free.push_back(number);
            }
            self.all.push(client);
        }
        Ok(())
    }

    fn client(&mut self, number: usize) -> anyhow::Result<Client> {
        let stream = self.connect(number)?;
        let streams = match self.load.row.connections {
            Connections::Streams(streams) => {
                let path = self.load.row.body.path();
                Some(Box::new(Http2::new(AUTHORITY, path, streams)))
            }
            _ => None,
        };
        Ok(Client { stream, sent: 0, answer: Answer::default(), streams })
    }

    /// Lets clients read and write that can; returns the time.
    pub(crate) fn turn(&mut self, clock: &dyn Clock) -> anyhow::Result<Duration> {
        let mut events = Events::with_capacity(EVENTS);
        let wait = if self.pace.is_some() { WAIT_PACED } else { WAIT };
        match self.poll.poll(&mut events, Some(wait)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            self.advance(event.token().0)?;
        }
        let now = clock.monotonic();
        while let Some(number) = self.pace.as_mut().and_then(|pace| pace.next(now)) {
            self.all[number].sent = 0;
            self.advance(number)?;
        }
        if self.load.stop.load(Ordering::Relaxed) {
            bail!("stopped");
        }
        if self.bytes != self.heard.0 {
            self.heard = (self.bytes, now);
        } else if now.saturating_sub(self.heard.1) > SILENCE_MAX {
            bail!("no response for {} s", SILENCE_MAX.as_secs());
        }
        Ok(now)
    }

    /// A new connection for client `number`.
    fn connect(&mut self, number: usize) -> anyhow::Result<Stream> {
        use socket2::{Domain, Socket, Type};
        let first = Ipv4Addr::LOCALHOST.to_bits() + 1;
        let from = Ipv4Addr::from_bits(first + self.opened % ADDRESSES);
        self.opened = self.opened.wrapping_add(1);
        let datagrams = self.load.row.via == Via::Udp;
        let kind = if datagrams { Type::DGRAM } else { Type::STREAM };
        let socket = Socket::new(Domain::IPV4, kind, None)?;
        if !datagrams {
            socket.set_tcp_nodelay(true)?;
        }
        socket.bind(&SocketAddr::from((from, 0)).into()).context("no port for a client")?;
        // The kernel accepts on loopback, so this does not wait for the balancer.
        let to = self.load.to[number % self.load.to.len()];
        socket.connect(&to.into()).context("cannot connect to the balancer")?;
        socket.set_nonblocking(true)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        if datagrams {
            let mut socket = UdpSocket::from_std(socket.into());
            self.poll.registry().register(&mut socket, Token(number), interest)?;
            return Ok(Stream::Datagrams(socket));
        }
        let mut stream = TcpStream::from_std(socket.into());
        self.poll.registry().register(&mut stream, Token(number), interest)?;
        let Some(config) = &self.tls else { return Ok(Stream::Plain(stream)) };
        Ok(Stream::Tls(Box::new(tls::begin(config)?), stream))
    }

    /// Sends and reads on a client's connection until it must wait. Readiness is reported once: after
    /// a request is sent there was nothing left to read, so its response is reported.
    fn advance(&mut self, number: usize) -> anyhow::Result<()> {
        loop {
            let Some(client) = self.all.get_mut(number) else { return Ok(()) };
            if let Some(streams) = &mut client.streams {
                send_frames(streams, &mut client.stream)?;
            } else if client.sent < self.request.len() {
                match client.stream.write(&self.request[client.sent..]) {
                    Ok(n) => client.sent += n,
                    Err(error) if waits(&error) => return Ok(()),
                    Err(error) => return Err(error).context("a request could not be sent"),
                }
                if !matches!(client.stream, Stream::Tls(..)) && client.sent == self.request.len() {
                    return Ok(());
                }
                continue;
            }
            let n = match client.stream.read(&mut self.buffer) {
                Ok(n) => n,
                Err(error) if waits(&error) => return Ok(()),
                Err(_) if client.answer.is_complete() => 0,
                Err(error) => return Err(error).context("a connection was lost"),
            };
            if n == 0 {
                return self.ended(number);
            }
            self.bytes += n as u64;
            if let Some(streams) = &mut client.streams {
                self.requests += streams.take(&self.buffer[..n])?;
            } else if client.answer.take(&self.buffer[..n])? {
                self.requests += 1;
                if let Some(pace) = &mut self.pace {
                    client.answer.clear();
                    pace.free.push_back(number);
                } else if self.load.row.connections == Connections::Kept {
                    client.answer.clear();
                    client.sent = 0;
                }
            }
        }
    }

    /// The balancer has closed a connection.
    fn ended(&mut self, number: usize) -> anyhow::Result<()> {
        if !self.all[number].answer.is_complete() {
            bail!("the balancer closed a connection before the response was complete");
        }
        if let Stream::Tls(tls, _) = &self.all[number].stream {
            self.resumed += u64::from(tls.handshake_kind() == Some(HandshakeKind::Resumed));
        }
        self.all[number] = self.client(number)?;
        Ok(())
    }

    /// Complete responses so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    pub(crate) fn mark(&self, meter: &Meter, at: Duration) -> anyhow::Result<Mark> {
        let usage = meter.usage().context("the balancer has ended")?;
        Ok(Mark { requests: self.requests, bytes: self.bytes, cpu_s: usage.cpu_s, at })
    }
}

/// Sessions must have been resumed where that is what is measured. The first one of each client is a new one.
fn check_sessions(resumed: u64, requests: u64, clients: u64) -> anyhow::Result<()> {
    if resumed * 2 < requests.saturating_sub(clients) {
        bail!("only {resumed} of {requests} sessions were resumed");
    }
    Ok(())
}

/// Whether there is nothing to do until the connection is ready.
fn waits(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
}

/// Sends what frames are ready, as far as the connection accepts them.
fn send_frames(streams: &mut Http2, stream: &mut Stream) -> anyhow::Result<()> {
    while !streams.output.is_empty() {
        match stream.write(&streams.output) {
            Ok(n) => drop(streams.output.drain(..n)),
            Err(error) if waits(&error) => break,
            Err(error) => return Err(error).context("a request could not be sent"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_begin_at_their_rate() {
        let at = Duration::from_millis;
        let free = (0..200).collect();
        let mut pace = Pace { rate: 1_000, since: at(500), begun: 0, free };
        let mut begun = |now| std::iter::from_fn(|| pace.next(at(now))).count();
        assert_eq!([begun(500), begun(510), begun(510), begun(511)], [0, 10, 0, 1]);
        // After a pause, a tenth of a second is made up for.
        assert_eq!(begun(5_000), 100);
        assert_eq!(begun(5_100), 89, "no client is free");
    }

    #[test]
    fn most_sessions_behind_the_first_ones_are_resumed() {
        for (resumed, requests, clients, good) in [
            (1, 3, 1, true),
            (0, 3, 1, false),
            (50, 100, 1, true),
            (49, 100, 1, false),
            (90, 100, 8, true),
        ] {
            let checked = check_sessions(resumed, requests, clients);
            assert_eq!(checked.is_ok(), good, "{resumed} of {requests}");
        }
    }
}
