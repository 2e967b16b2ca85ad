//! Connections that wait for the next request to the same server.

use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;

/// Idle connections of one thread: beyond it they are closed instead.
const IDLE_MAX: usize = 512;
/// How long a connection waits: shorter than web servers usually let it.
const IDLE_FOR: Duration = Duration::from_secs(20);
/// Between two looks for those that waited too long.
const SWEEP: Duration = Duration::from_secs(5);

/// A connection, protected or not.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<SslStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl Stream {
    /// Nothing came since its last answer, not even its end.
    fn is_quiet(&mut self) -> bool {
        let mut space = [0; 1];
        let mut context = Context::from_waker(Waker::noop());
        Pin::new(self).poll_read(&mut context, &mut ReadBuf::new(&mut space)).is_pending()
    }
}

#[derive(Debug)]
struct Idle {
    stream: Stream,
    since: Duration,
}

/// Idle connections of one thread, by the server and all that makes a connection another one.
#[derive(Debug, Default)]
pub(super) struct Pool(RefCell<Shelves>);

#[derive(Debug, Default)]
struct Shelves {
    idle: HashMap<String, Vec<Idle>>,
    count: usize,
    swept: Duration,
}

impl Pool {
    /// A connection to use again.
    pub(super) fn take(&self, key: &str, now: Duration) -> Option<Stream> {
        let mut shelves = self.0.borrow_mut();
        loop {
            let shelf = shelves.idle.get_mut(key)?;
            // The newest is the likeliest to live.
            let found = shelf.pop();
            let Some(mut found) = found else {
                shelves.idle.remove(key);
                return None;
            };
            shelves.count -= 1;
            if now.saturating_sub(found.since) < IDLE_FOR && found.stream.is_quiet() {
                return Some(found.stream);
            }
        }
    }

    /// Keeps a connection for the next request.
    pub(super) fn put(&self, key: &str, stream: Stream, now: Duration) {
        let mut shelves = self.0.borrow_mut();
        if now.saturating_sub(shelves.swept) >= SWEEP {
            shelves.sweep(now);
        }
        if shelves.count >= IDLE_MAX {
            return;
        }
        shelves.count += 1;
        let idle = Idle { stream, since: now };
        match shelves.idle.get_mut(key) {
            Some(shelf) => shelf.push(idle),
            None => drop(shelves.idle.insert(key.to_owned(), vec![idle])),
        }
    }
}

impl Shelves {
    fn sweep(&mut self, now: Duration) {
        self.swept = now;
        self.idle.retain(|_, shelf| {
            shelf.retain(|idle| now.saturating_sub(idle.since) < IDLE_FOR);
            !shelf.is_empty()
        });
        self.count = self.idle.values().map(Vec::len).sum();
    }
}
