//! The way of a request or connection to a server: choice, queue, connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use proxying::proxy_header::{self, Addresses};

use crate::buffer::Buffer;
use crate::cache::Serving;
use crate::config::Protocol;
use crate::conn::Conn;
use crate::core::{Core, Link};
use crate::peer::Peer;
use crate::pool::{Choice, Pool, Wish};
use crate::uplink::{Opening, Reach};
use crate::wheel::Entry;

/// Why a server did not do its part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No server may be used.
    Unavailable,
    /// All servers were at their limits for too long.
    Full,
    /// No connection.
    Connect,
    /// The connection ended before the response did.
    Closed,
    /// No response in time.
    Timeout,
    /// The response is malformed.
    Malformed,
    /// The response has a status for which the request is repeated.
    Status(u16),
    /// It has done its part, but a script has failed.
    Script,
}

impl Failure {
    /// Status of the response to the client.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::Unavailable | Self::Full | Self::Connect => 503,
            Self::Closed | Self::Malformed => 502,
            Self::Timeout => 504,
            Self::Script => 500,
            Self::Status(status) => status,
        }
    }
}

/// Position on the way.
#[derive(Debug)]
pub(crate) enum Upstream {
    /// A server must be chosen.
    Wanted,
    /// All servers are at their limits.
    Queued,
    /// The connection is being established.
    Connecting(Box<Link>),
    /// Connected.
    Ready(Box<Link>),
    /// The response to an equal request is awaited.
    Equal,
    /// No server is needed: the response is in the cache.
    Stored(Box<Serving>),
}

/// A way.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) pool: Arc<Pool>,
    pub(crate) wish: Wish,
    pub(crate) upstream: Upstream,
    /// For a server of HTTP/2.
    pub(crate) opening: Opening,
    /// Bytes for the server, or content for a server of HTTP/2.
    pub(crate) to_server: Buffer,
    /// Bytes of the server.
    pub(crate) from_server: Buffer,
    /// The next attempt uses a new connection.
    pub(crate) fresh: bool,
    /// Why the attempt before this one failed.
    pub(crate) before: Option<Failure>,
    /// The PROXY header of a new connection, until it is sent.
    preface: Vec<u8>,
    /// When the newest connection was begun, in monotonic microseconds.
    began_us: u64,
    /// When the server was chosen, in monotonic microseconds.
    chosen_us: u64,
    /// How long the connection took, in microseconds; 0 = an existing one is used.
    pub(crate) connect_us: u64,
}

impl Route {
    pub(crate) fn new(pool: Arc<Pool>, wish: Wish) -> Self {
        Self {
            pool,
            wish,
            upstream: Upstream::Wanted,
            opening: Opening::default(),
            to_server: Buffer::default(),
            from_server: Buffer::default(),
            fresh: false,
            before: None,
            preface: Vec::new(),
            began_us: 0,
            chosen_us: 0,
            connect_us: 0,
        }
    }

    /// The connection, if there is one.
    pub(crate) fn link(&mut self) -> Option<&mut Link> {
        match &mut self.upstream {
            Upstream::Connecting(link) | Upstream::Ready(link) => Some(link),
            Upstream::Wanted | Upstream::Queued | Upstream::Equal | Upstream::Stored(_) => None,
        }
    }

    /// A server has responded. Errors of servers are often faster than what was asked for, and are not
    /// measured.
    pub(crate) fn answered(&self, server: u16, status: u16, core: &Core) {
        self.pool.succeeded(server);
        if status < 500 {
            let time_us = core.now_us.saturating_sub(self.chosen_us);
            self.pool.server(server).shared.response_time.add(time_us, core.now_ms());
        }
    }

    /// The established connection.
    pub(crate) fn ready(&self) -> Option<&Link> {
        match &self.upstream {
            Upstream::Ready(link) => Some(link),
            _ => None,
        }
    }

    pub(crate) fn take_link(&mut self) -> Option<Box<Link>> {
        match std::mem::replace(&mut self.upstream, Upstream::Wanted) {
            Upstream::Connecting(link) | Upstream::Ready(link) => Some(link),
            Upstream::Wanted | Upstream::Queued | Upstream::Equal | Upstream::Stored(_) => None,
        }
    }

    /// Goes on; true: connected, or no connection is needed.
    pub(crate) fn advance(
        &mut self,
        core: &mut Core,
        session: Entry,
        (source, destination): (SocketAddr, SocketAddr),
    ) -> Result<bool, Failure> {
        loop {
            match &mut self.upstream {
                Upstream::Ready(_) | Upstream::Stored(_) => return Ok(true),
                Upstream::Equal => return Ok(false),
                Upstream::Connecting(link) => {
                    let established = match &mut link.peer {
                        Peer::Socket(conn) => establish(conn, &mut self.preface)?,
                        Peer::Stream(stream) => match core.reach(stream.mux) {
                            Reach::Lost => return Err(Failure::Connect),
                            reach => reach == Reach::Open,
                        },
                        Peer::Copy(_) => true,
                    };
                    if !established {
                        return Ok(false);
                    }
                    self.connect_us = core.now_us.saturating_sub(self.began_us);
                    if let Some(link) = self.take_link() {
                        self.upstream = Upstream::Ready(link);
                    }
                }
                Upstream::Wanted | Upstream::Queued => {
                    let (random, now_ms) = (core.random(), core.now_ms());
                    match self.pool.choose(&self.wish, random, now_ms) {
                        Choice::Server(server) => {
                            self.chosen_us = core.now_us;
                            self.reach(server, core, session, Addresses { source, destination })?;
                        }
                        Choice::Unavailable => return Err(Failure::Unavailable),
                        Choice::Full if !self.pool.for_copies && core.enqueue(session) => {
                            self.upstream = Upstream::Queued;
                            return Ok(false);
                        }
                        Choice::Full => return Err(Failure::Full),
                    }
                }
            }
        }
    }

    fn reach(
        &mut self,
        server: u16,
        core: &mut Core,
        session: Entry,
        addresses: Addresses,
    ) -> Result<(), Failure> {
        if self.pool.protocol == Protocol::Http2 {
            return self.reach_stream(server, core, session);
        }
        // A connection that begins with the address of one client is not another client's.
        let shared = !self.fresh && self.pool.send_proxy.is_none();
        if shared && let Some(link) = core.reuse(&self.pool, server, session.0) {
            self.upstream = Upstream::Ready(Box::new(link));
            self.connect_us = 0;
            return Ok(());
        }
        match core.connect(&self.pool, server, session.0) {
            Ok(link) => {
                self.preface.clear();
                self.began_us = core.now_us;
                if let Some(version) = self.pool.send_proxy {
                    proxy_header::write(&mut self.preface, version, &addresses);
                }
                self.upstream = Upstream::Connecting(Box::new(link));
                Ok(())
            }
            Err(error) => Err(self.unreachable(server, &error, core)),
        }
    }

    /// Begins a stream. Its frames leave when the connection is established.
    fn reach_stream(
        &mut self,
        server: u16,
        core: &mut Core,
        session: Entry,
    ) -> Result<(), Failure> {
        match core.open_stream(&self.pool, server, &self.opening, session) {
            Ok((stream, reused)) => {
                self.began_us = core.now_us;
                let link = Link::stream(stream, server, &self.pool, reused);
                self.upstream = Upstream::Connecting(Box::new(link));
                Ok(())
            }
            Err(error) => Err(self.unreachable(server, &error, core)),
        }
    }

    fn unreachable(&mut self, server: u16, error: &io::Error, core: &Core) -> Failure {
        let server_of = self.pool.server(server);
        tracing::debug!("server {}: {error}", server_of.name);
        server_of.shared.release();
        self.wish.tried.push(server);
        // Where this machine has no descriptor or port left, no server is at fault.
        if !stdx::sys::is_exhausted(error) {
            self.pool.failed(server, core.now_ms());
        }
        Failure::Connect
    }
}

/// Goes on with a connection; true: it is established. `preface` is sent before anything else.
fn establish(conn: &mut Conn, preface: &mut Vec<u8>) -> Result<bool, Failure> {
    if !conn.writable && !conn.readable {
        return Ok(false);
    }
    if conn.failure().is_some() {
        return Err(Failure::Connect);
    }
    if !preface.is_empty() {
        let sent = conn.write_plain(preface);
        preface.drain(..sent.map_err(|_| Failure::Connect)?);
        if !preface.is_empty() {
            return Ok(false);
        }
    }
    conn.handshake().map_err(|_| Failure::Connect)
}
