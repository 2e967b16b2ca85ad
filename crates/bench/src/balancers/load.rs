//! The clients: one thread that keeps a request in flight on each of its connections.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use mio::net::{TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use openssl::ssl::{
    Ssl, SslContext, SslContextBuilder, SslMethod, SslStream, SslVerifyMode, SslVersion,
};
use stdx::clock::Clock;

use super::answer::Answer;
use super::row::{Connections, Row, Via};
use crate::proc::Meter;

/// Bytes read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// Ready connections taken at a time.
const EVENTS: usize = 1024;
const WAIT: Duration = Duration::from_millis(10);
/// How long nothing may come back.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Clients have so many addresses, 127.0.0.2 and those after it: the ports of one would not be
/// enough for a new connection per request.
const ADDRESSES: u32 = 32;
/// Share of the time that goes before the measured one, when connections open.
const WARM: f64 = 0.25;

/// What to ask, and whom.
pub(crate) struct Load<'a> {
    pub(crate) row: &'a Row,
    pub(crate) to: SocketAddr,
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
}

/// Counters at a moment; the difference of two is an [`Outcome`].
struct Mark {
    requests: u64,
    bytes: u64,
    cpu_s: f64,
    at: Duration,
}

/// Runs the load on the calling thread; `meter` reads the balancer's CPU time.
pub(crate) fn drive(load: &Load<'_>, meter: &Meter, clock: &dyn Clock) -> anyhow::Result<Outcome> {
    let mut clients = Clients::open(load)?;
    let mut events = Events::with_capacity(EVENTS);
    let warm_till = clock.monotonic() + load.time.mul_f64(WARM);
    let wanted = u64::try_from(load.row.clients)?;
    let (mut begin, mut heard) = (None::<Mark>, (0, clock.monotonic()));
    loop {
        match clients.poll.poll(&mut events, Some(WAIT)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            clients.advance(event.token().0)?;
        }
        let now = clock.monotonic();
        if load.stop.load(Ordering::Relaxed) {
            bail!("stopped");
        }
        if clients.bytes != heard.0 {
            heard = (clients.bytes, now);
        } else if now.saturating_sub(heard.1) > SILENCE_MAX {
            bail!("no response for {} s", SILENCE_MAX.as_secs());
        }
        match &begin {
            // Each client has had a turn.
            None if now >= warm_till && clients.requests >= wanted => {
                begin = Some(clients.mark(meter, now)?);
            }
            Some(begin) if now >= begin.at + load.time => {
                let end = clients.mark(meter, now)?;
                return Ok(Outcome {
                    requests: end.requests - begin.requests,
                    bytes: end.bytes - begin.bytes,
                    cpu_s: end.cpu_s - begin.cpu_s,
                    seconds: end.at.saturating_sub(begin.at).as_secs_f64(),
                });
            }
            _ => {}
        }
    }
}

enum Stream {
    Plain(TcpStream),
    /// Each request and each response is one datagram.
    Datagrams(UdpSocket),
    Tls(SslStream<TcpStream>),
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Datagrams(socket) => socket.recv(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Datagrams(socket) => socket.send(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }
}

struct Client {
    stream: Stream,
    /// Bytes of the request that are sent.
    sent: usize,
    answer: Answer,
}

struct Clients<'a> {
    load: &'a Load<'a>,
    poll: Poll,
    tls: Option<SslContext>,
    request: Vec<u8>,
    all: Vec<Client>,
    /// Connections opened so far.
    opened: u32,
    buffer: Vec<u8>,
    requests: u64,
    bytes: u64,
}

impl<'a> Clients<'a> {
    fn open(load: &'a Load<'a>) -> anyhow::Result<Self> {
        let closing = match load.row.connections {
            Connections::Kept => "",
            Connections::Fresh => "Connection: close\r\n",
        };
        let path = load.row.body.path();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{closing}\r\n", load.to);
        let tls = (load.row.via == Via::Tls).then(tls_context).transpose()?;
        let mut clients = Self {
            load,
            poll: Poll::new()?,
            tls,
            request: request.into_bytes(),
            all: Vec::with_capacity(load.row.clients),
            opened: 0,
            buffer: vec![0; BUFFER_BYTES],
            requests: 0,
            bytes: 0,
        };
        for number in 0..load.row.clients {
            let stream = clients.connect(number)?;
            clients.all.push(Client { stream, sent: 0, answer: Answer::default() });
        }
        Ok(clients)
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
        socket.connect(&self.load.to.into()).context("cannot connect to the balancer")?;
        socket.set_nonblocking(true)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        if datagrams {
            let mut socket = UdpSocket::from_std(socket.into());
            self.poll.registry().register(&mut socket, Token(number), interest)?;
            return Ok(Stream::Datagrams(socket));
        }
        let mut stream = TcpStream::from_std(socket.into());
        self.poll.registry().register(&mut stream, Token(number), interest)?;
        let Some(context) = &self.tls else { return Ok(Stream::Plain(stream)) };
        let mut ssl = Ssl::new(context)?;
        ssl.set_connect_state();
        Ok(Stream::Tls(SslStream::new(ssl, stream)?))
    }

    /// Sends and reads on a client's connection until it must wait. Readiness is reported once: after
    /// a request is sent there was nothing left to read, so its response is reported.
    fn advance(&mut self, number: usize) -> anyhow::Result<()> {
        loop {
            let Some(client) = self.all.get_mut(number) else { return Ok(()) };
            if client.sent < self.request.len() {
                match client.stream.write(&self.request[client.sent..]) {
                    Ok(n) => client.sent += n,
                    Err(error) if waits(&error) => return Ok(()),
                    Err(error) => return Err(error).context("a request could not be sent"),
                }
                if !matches!(client.stream, Stream::Tls(_)) && client.sent == self.request.len() {
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
            if client.answer.take(&self.buffer[..n])? {
                self.requests += 1;
                if self.load.row.connections == Connections::Kept {
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
        let stream = self.connect(number)?;
        self.all[number] = Client { stream, sent: 0, answer: Answer::default() };
        Ok(())
    }

    fn mark(&self, meter: &Meter, at: Duration) -> anyhow::Result<Mark> {
        let usage = meter.usage().context("the balancer has ended")?;
        Ok(Mark { requests: self.requests, bytes: self.bytes, cpu_s: usage.cpu_s, at })
    }
}

/// Whether there is nothing to do until the connection is ready.
fn waits(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
}

/// TLS 1.3 with any certificate: that of the measurement is self-signed.
fn tls_context() -> anyhow::Result<SslContext> {
    let mut builder = SslContextBuilder::new(SslMethod::tls_client())?;
    builder.set_verify(SslVerifyMode::NONE);
    builder.set_min_proto_version(Some(SslVersion::TLS1_3))?;
    Ok(builder.build())
}
