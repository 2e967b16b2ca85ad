//! A web server that answers every request with a small text, cheaply: one thread, one system call
//! to read and one to write per request, connections kept open.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use crate::fake_agent::{listen, plus, with_port};

/// Bytes of a request's head.
const REQUEST_BYTES_MAX: usize = 4096;
/// Ready connections taken at a time.
const EVENTS: usize = 1024;
/// How long a thread waits before it looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(50);
/// A moment in which more requests come, so that one look finds many.
const NAP: Duration = Duration::from_micros(500);

#[derive(Default)]
struct Shared {
    answered: AtomicU64,
    broken: AtomicU64,
    stop: AtomicBool,
}

/// A running web server; it ends when this is dropped.
pub(crate) struct FakeWeb {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl FakeWeb {
    /// Listens on `count` consecutive loopback addresses.
    pub(crate) fn start(first: SocketAddr, count: usize) -> anyhow::Result<Self> {
        let first = with_port(first, count, |at| listen(at)?.local_addr())?;
        let mut listeners = Vec::new();
        let mut port = first.port();
        for number in 0..count.max(1) {
            let address = SocketAddr::new(plus(first.ip(), number)?, port);
            let listener =
                listen(address).with_context(|| format!("cannot listen on {address}"))?;
            port = listener.local_addr()?.port();
            listeners.push(listener);
        }
        let addresses = listeners.iter().map(TcpListener::local_addr).collect::<Result<_, _>>()?;
        let shared = Arc::<Shared>::default();
        let poll = Poll::new()?;
        for (number, listener) in listeners.iter().enumerate() {
            let mut source = SourceFd(&listener.as_raw_fd());
            poll.registry().register(&mut source, Token(number), Interest::READABLE)?;
        }
        let worker = Worker {
            shared: Arc::clone(&shared),
            poll,
            next: listeners.len(),
            listeners,
            open: HashMap::new(),
        };
        let thread = std::thread::Builder::new().name("fake web".to_owned());
        let thread = Some(thread.spawn(move || worker.serve())?);
        Ok(Self { addresses, shared, thread })
    }

    /// Where it listens.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Requests answered so far.
    pub(crate) fn answered(&self) -> u64 {
        self.shared.answered.load(Ordering::Relaxed)
    }

    /// Connections that asked nothing sensible or went away before the answer.
    pub(crate) fn broken(&self) -> u64 {
        self.shared.broken.load(Ordering::Relaxed)
    }
}

impl Drop for FakeWeb {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

struct Worker {
    shared: Arc<Shared>,
    poll: Poll,
    listeners: Vec<TcpListener>,
    open: HashMap<usize, TcpStream>,
    /// Number of the next connection.
    next: usize,
}

impl Worker {
    fn serve(mut self) {
        let mut events = Events::with_capacity(EVENTS);
        while !self.shared.stop.load(Ordering::Relaxed) {
            if self.poll.poll(&mut events, Some(WAIT)).is_err() {
                continue;
            }
            for event in &events {
                let Token(number) = event.token();
                if number < self.listeners.len() {
                    self.accept(number);
                } else if !self.converse(number) {
                    self.open.remove(&number);
                }
            }
            if events.iter().count() < EVENTS / 8 {
                std::thread::sleep(NAP);
            }
        }
    }

    fn accept(&mut self, listener: usize) {
        while let Some(Ok((stream, _))) = self.listeners.get(listener).map(TcpListener::accept) {
            let mut source = SourceFd(&stream.as_raw_fd());
            let ready = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
            let registry = self.poll.registry();
            let token = Token(self.next);
            if ready
                .and_then(|()| registry.register(&mut source, token, Interest::READABLE))
                .is_err()
            {
                self.broken();
                continue;
            }
            self.open.insert(self.next, stream);
            self.next += 1;
            // The first request is there already.
            if !self.converse(self.next - 1) {
                self.open.remove(&(self.next - 1));
            }
        }
    }

    fn broken(&self) {
        self.shared.broken.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers what has come; `false` = the connection ends.
    fn converse(&mut self, number: usize) -> bool {
        let Some(stream) = self.open.get_mut(&number) else { return true };
        let mut buffer = [0; REQUEST_BYTES_MAX];
        let whole = match stream.read(&mut buffer) {
            Ok(0) => return false,
            Ok(len) => buffer[..len].starts_with(b"GET ") && buffer[..len].ends_with(b"\r\n\r\n"),
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        };
        let count = self.shared.answered.fetch_add(1, Ordering::SeqCst);
        let body = count.to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if whole && stream.write_all(answer.as_bytes()).is_ok() {
            return true;
        }
        self.shared.answered.fetch_sub(1, Ordering::SeqCst);
        self.broken();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_over_open_connections() {
        let web = FakeWeb::start("127.0.0.1:0".parse().unwrap(), 2).unwrap();
        for (number, address) in web.addresses().iter().enumerate() {
            let mut stream = TcpStream::connect(address).unwrap();
            for again in 0..2 {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
                let mut answer = [0; 200];
                let len = stream.read(&mut answer).unwrap();
                let text = str::from_utf8(&answer[..len]).unwrap();
                assert!(text.ends_with(&format!("\r\n\r\n{}", number * 2 + again)), "{text}");
            }
        }
        let mut stream = TcpStream::connect(web.addresses()[0]).unwrap();
        stream.write_all(b"nonsense").unwrap();
        assert_eq!(stream.read(&mut [0; 10]).unwrap_or(0), 0);
        assert_eq!((web.answered(), web.broken()), (4, 1));
    }
}
