//! The servers behind the balancers: they answer requests without a body by a small or a large text,
//! and keep connections open. A thread each, on the core of the clients.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use mio::net::{TcpListener, TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token};

use super::row::Body;

/// Servers behind a balancer.
const SERVERS: usize = 2;
/// Bytes of a small response without its head.
const SMALL_BYTES: usize = 128;
/// Bytes of a large response without its head.
const BULK_BYTES: usize = 1 << 20;
/// Bytes of a request.
const REQUEST_BYTES_MAX: usize = 16 << 10;
/// Ready connections taken at a time.
const EVENTS: usize = 1024;
/// How long a thread waits before it looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(50);
const LISTENER: Token = Token(usize::MAX - 1);
const DATAGRAMS: Token = Token(usize::MAX - 2);

impl Body {
    /// The path that asks for it.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Small => "/",
            Self::Bulk => "/bulk",
        }
    }
}

/// The running servers; they end when this is dropped.
pub(crate) struct Servers {
    pub(crate) addresses: Vec<SocketAddr>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Servers {
    /// Starts them on free ports of loopback.
    pub(crate) fn start(core: usize) -> anyhow::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        let mut servers = Self { addresses: Vec::new(), stop, threads: Vec::new() };
        let responses = Arc::new(Responses::new());
        for _ in 0..SERVERS {
            let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let mut listener =
                TcpListener::bind(free).context("no port of 127.0.0.1 for a server")?;
            let address = listener.local_addr()?;
            let mut datagrams = UdpSocket::bind(address).context("no UDP port for a server")?;
            servers.addresses.push(address);
            let poll = Poll::new()?;
            poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
            poll.registry().register(&mut datagrams, DATAGRAMS, Interest::READABLE)?;
            let responses = Arc::clone(&responses);
            let worker =
                Worker { poll, listener, datagrams, responses, open: HashMap::new(), next: 0 };
            let stop = Arc::clone(&servers.stop);
            let thread =
                std::thread::Builder::new().name("server".to_owned()).spawn(move || {
                    // Without it the measurement is less exact, and `run` has pinned others before.
                    let _pinned = stdx::sys::pin_thread(core);
                    worker.serve(&stop);
                })?;
            servers.threads.push(thread);
        }
        Ok(servers)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

struct Responses {
    small: Vec<u8>,
    bulk: Vec<u8>,
}

impl Responses {
    fn new() -> Self {
        let text = |bytes: usize| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
            [head.into_bytes(), vec![b'x'; bytes]].concat()
        };
        Self { small: text(SMALL_BYTES), bulk: text(BULK_BYTES) }
    }

    fn to(&self, request: &[u8]) -> &[u8] {
        let bulk = format!("GET {} ", Body::Bulk.path());
        if request.starts_with(bulk.as_bytes()) { &self.bulk } else { &self.small }
    }
}

/// A connection of the balancer.
struct Session {
    stream: TcpStream,
    /// What came of the next request; while a response is sent, of that one.
    request: Vec<u8>,
    /// Bytes sent of the response; `None` = no request is complete.
    sent: Option<usize>,
}

struct Worker {
    poll: Poll,
    listener: TcpListener,
    datagrams: UdpSocket,
    responses: Arc<Responses>,
    open: HashMap<usize, Session>,
    /// Number of the next connection.
    next: usize,
}

impl Worker {
    fn serve(mut self, stop: &AtomicBool) {
        let mut events = Events::with_capacity(EVENTS);
        let mut buffer = vec![0; REQUEST_BYTES_MAX];
        while !stop.load(Ordering::Relaxed) {
            if self.poll.poll(&mut events, Some(WAIT)).is_err() {
                continue;
            }
            for event in &events {
                if event.token() == LISTENER {
                    self.accept();
                    continue;
                }
                if event.token() == DATAGRAMS {
                    self.respond(&mut buffer);
                    continue;
                }
                let Token(number) = event.token();
                let Some(session) = self.open.get_mut(&number) else { continue };
                if session.advance(&self.responses, &mut buffer).is_err() {
                    self.open.remove(&number);
                }
            }
        }
    }

    /// Responds to datagrams, each of which is a request.
    fn respond(&self, buffer: &mut [u8]) {
        while let Ok((n, from)) = self.datagrams.recv_from(buffer) {
            // A response that is lost is missed by its client.
            drop(self.datagrams.send_to(self.responses.to(&buffer[..n]), from));
        }
    }

    fn accept(&mut self) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            drop(stream.set_nodelay(true));
            let (token, interest) = (Token(self.next), Interest::READABLE | Interest::WRITABLE);
            if self.poll.registry().register(&mut stream, token, interest).is_ok() {
                self.open.insert(self.next, Session { stream, request: Vec::new(), sent: None });
                self.next += 1;
            }
        }
    }
}

impl Session {
    /// Reads and writes until it must wait. An error ends the connection, and so does its end.
    fn advance(&mut self, responses: &Responses, buffer: &mut [u8]) -> std::io::Result<()> {
        loop {
            let done = match self.sent {
                Some(sent) => self.send(responses, sent),
                None => self.receive(buffer),
            };
            match done {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn send(&mut self, responses: &Responses, sent: usize) -> std::io::Result<()> {
        let response = responses.to(&self.request);
        let sent = sent + self.stream.write(&response[sent..])?;
        if sent < response.len() {
            self.sent = Some(sent);
        } else {
            self.sent = None;
            self.request.clear();
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> std::io::Result<()> {
        let n = self.stream.read(buffer)?;
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.request.extend_from_slice(&buffer[..n]);
        if self.request.ends_with(b"\r\n\r\n") {
            self.sent = Some(0);
        } else if self.request.len() > REQUEST_BYTES_MAX {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(())
    }
}
