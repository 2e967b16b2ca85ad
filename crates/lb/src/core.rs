//! What the connections of one thread share: poll, timers, buffers, connections to servers.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

use mio::event::Event;
use mio::net::{TcpStream, UdpSocket};
use mio::{Interest, Registry, Token};
use proxying::engine_link::analytics::Counter;

use crate::auth::{Checks, Now};
use crate::conn::Conn;
use crate::mux::Hub;
use crate::peer::{Peer, Stream};
use crate::pool::{Pool, ServerState};
use crate::recorder::Recorder;
use crate::script::Scripts;
use crate::slab::Slab;
use crate::snapshot::Service;
use crate::tally::Tally;
use crate::wheel::{Entry, Wheel};

/// Idle connections that a thread keeps per server.
const IDLE_MAX: usize = 256;
/// How long it keeps them, in milliseconds.
const IDLE_MS: u64 = 30_000;
/// Requests of one thread that may wait for a server below its limit.
const QUEUE_MAX: usize = 10_000;

/// Who an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The thread's waker.
    Waker,
    /// A listener, by number.
    Listener(usize),
    /// A client's connection, by place.
    Client(usize),
    /// A connection to a server, by place.
    Server(usize),
    /// A listener of datagrams, by number.
    Datagrams(usize),
    /// A UDP session, by place.
    Flow(usize),
    /// A listener of HTTP/3, by number.
    Quic(usize),
}

/// Tokens: 0 is the waker, then the kind is in the lowest three bits.
impl From<Who> for Token {
    fn from(who: Who) -> Self {
        match who {
            Who::Waker => Self(0),
            Who::Listener(number) => Self((number << 3) | 1),
            Who::Client(place) => Self((place << 3) | 2),
            Who::Server(place) => Self((place << 3) | 3),
            Who::Datagrams(number) => Self((number << 3) | 4),
            Who::Flow(place) => Self((place << 3) | 5),
            Who::Quic(number) => Self((number << 3) | 6),
        }
    }
}

impl From<Token> for Who {
    fn from(token: Token) -> Self {
        let number = token.0 >> 3;
        match token.0 & 7 {
            1 => Self::Listener(number),
            2 => Self::Client(number),
            3 => Self::Server(number),
            4 => Self::Datagrams(number),
            5 => Self::Flow(number),
            6 => Self::Quic(number),
            _ => Self::Waker,
        }
    }
}

/// Whom a connection goes to, and what was demanded of the server: connections of equal routes may be used
/// for each other's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    /// Number of the server within this process.
    server: u32,
    /// [`trust`](crate::tls::ServerSide::trust); `None`: no TLS.
    trust: Option<u64>,
}

impl Route {
    pub(crate) fn of(pool: &Pool, server: u16) -> Self {
        let server = pool.server(server).shared.id;
        Self { server, trust: pool.tls.as_ref().map(|tls| tls.trust) }
    }
}

/// A place of a connection to a server.
#[derive(Debug)]
pub(crate) enum Place {
    /// Used by the session at this place.
    Used(usize),
    /// Used by the streams of the HTTP/2 connection at this place.
    Uplink(usize),
    /// Waits for the next request.
    Idle(Box<Conn>, Route, u64),
}

/// Who uses a connection to a server.
#[derive(Debug)]
pub(crate) enum User {
    /// The session at this place.
    Session(usize),
    /// The streams of the HTTP/2 connection at this place.
    Uplink(usize),
}

/// A connection to a server that a session uses.
#[derive(Debug)]
pub(crate) struct Link {
    /// Unused for a stream.
    place: usize,
    pub(crate) peer: Peer,
    /// Number of the server in the pool.
    pub(crate) server: u16,
    shared: Arc<ServerState>,
    route: Route,
    /// It has carried another request before.
    pub(crate) reused: bool,
    /// A read has failed: the end of what was read is not that of the message.
    pub(crate) broken: bool,
}

/// Sockets of connections to servers.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    places: Slab<Place>,
    /// Places of idle ones.
    idle: HashMap<Route, Vec<usize>>,
    /// HTTP/2 connections to servers.
    pub(crate) uplinks: HashMap<Route, Vec<usize>>,
}

/// The shared part of a thread.
pub(crate) struct Core {
    registry: Registry,
    pub(crate) hub: Hub,
    pub(crate) wheel: Wheel,
    /// Monotonic microseconds at the last wake-up.
    pub(crate) now_us: u64,
    pub(crate) sockets: Sockets,
    queue: VecDeque<Entry>,
    /// Services by number of the listener.
    pub(crate) services: Vec<Option<Arc<Service>>>,
    /// Where heads are composed.
    pub(crate) scratch: Vec<u8>,
    random: u64,
    /// Where transactions are recorded, if they are.
    pub(crate) recorder: Option<Recorder>,
    pub(crate) checks: Checks,
    pub(crate) scripts: Scripts,
}

impl Link {
    /// One that is a stream of a shared connection.
    pub(crate) fn stream(stream: Stream, server: u16, pool: &Pool, reused: bool) -> Self {
        let shared = Arc::clone(&pool.server(server).shared);
        let (peer, route) = (Peer::Stream(stream), Route::of(pool, server));
        Self { place: 0, peer, server, shared, route, reused, broken: false }
    }
}

impl Core {
    pub(crate) fn new(
        registry: Registry,
        now_us: u64,
        seed: u64,
        checks: Checks,
        scripts: Scripts,
    ) -> Self {
        Self {
            registry,
            hub: Hub::default(),
            wheel: Wheel::new(now_us / 1000),
            now_us,
            sockets: Sockets::default(),
            queue: VecDeque::new(),
            services: Vec::new(),
            scratch: Vec::new(),
            random: seed | 1,
            recorder: None,
            checks,
            scripts,
        }
    }

    /// Counts something of a service, if this engine counts.
    pub(crate) fn count(&self, tally: &Tally, counter: Counter) {
        if let Some(recorder) = &self.recorder {
            tally.add(recorder.thread, counter, 1);
        }
    }

    /// Monotonic milliseconds at the last wake-up.
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_us / 1000
    }

    /// The time at the last wake-up, as authentication needs it.
    pub(crate) fn now(&self) -> Now {
        self.checks.now(self.now_us)
    }

    /// A random number (xorshift64): for the choice of servers only.
    pub(crate) fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    pub(crate) fn watch(&self, stream: &mut TcpStream, who: Who) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE | Interest::PRIORITY;
        self.registry.register(stream, who.into(), interest)
    }

    /// Watches a listener.
    pub(crate) fn watch_listener(
        &self,
        listener: &mut mio::net::TcpListener,
        number: usize,
    ) -> io::Result<()> {
        self.registry.register(listener, Who::Listener(number).into(), Interest::READABLE)
    }

    /// Watches a socket of datagrams: they are sent at once or never, so it is about what arrives.
    pub(crate) fn watch_datagrams(&self, socket: &mut UdpSocket, who: Who) -> io::Result<()> {
        self.registry.register(socket, who.into(), Interest::READABLE)
    }

    /// An idle connection to a server.
    pub(crate) fn reuse(&mut self, pool: &Pool, server: u16, session: usize) -> Option<Link> {
        let route = Route::of(pool, server);
        let list = self.sockets.idle.get_mut(&route)?;
        while let Some(place) = list.pop() {
            let Some(Place::Idle(mut conn, ..)) = self.sockets.places.take(place) else { continue };
            if !conn.is_quiet() {
                self.sockets.places.free(place);
                continue;
            }
            self.sockets.places.put(place, Place::Used(session));
            let shared = Arc::clone(&pool.server(server).shared);
            let peer = Peer::Socket(conn);
            return Some(Link { place, peer, server, shared, route, reused: true, broken: false });
        }
        None
    }

    /// Starts a connection to a server.
    pub(crate) fn connect(&mut self, pool: &Pool, server: u16, session: usize) -> io::Result<Link> {
        let (place, conn) = self.dial(pool, server, Place::Used(session))?;
        let shared = Arc::clone(&pool.server(server).shared);
        let (peer, route) = (Peer::Socket(Box::new(conn)), Route::of(pool, server));
        Ok(Link { place, peer, server, shared, route, reused: false, broken: false })
    }

    /// Starts a connection to a server, at a place for what uses it.
    pub(crate) fn dial(
        &mut self,
        pool: &Pool,
        server: u16,
        user: Place,
    ) -> io::Result<(usize, Conn)> {
        let mut stream = TcpStream::connect(pool.server(server).address)?;
        let _only_slower = stream.set_nodelay(true);
        let tls = match &pool.tls {
            None => None,
            Some(tls) => {
                let (config, name) = (Arc::clone(&tls.config), tls.name.clone());
                let tls = rustls::ClientConnection::new(config, name).map_err(io::Error::other)?;
                Some(rustls::Connection::from(tls))
            }
        };
        let (place, _) = self.sockets.places.reserve();
        if let Err(error) = self.watch(&mut stream, Who::Server(place)) {
            self.sockets.places.free(place);
            return Err(error);
        }
        self.sockets.places.put(place, user);
        Ok((place, Conn::new(stream, tls)))
    }

    /// Frees the place of a connection to a server.
    pub(crate) fn free_place(&mut self, place: usize) {
        drop(self.sockets.places.take(place));
        self.sockets.places.free(place);
    }

    /// A connection is no longer needed: kept for another request, or closed. Of a connection of
    /// HTTP/2, it is a stream.
    pub(crate) fn release(&mut self, link: Link, keep: bool) {
        link.shared.release();
        if let Some(next) = self.queue.pop_front() {
            self.hub.again.push(next);
        }
        let mut conn = match link.peer {
            Peer::Socket(conn) => conn,
            Peer::Stream(stream) => return stream.end(&mut self.hub),
            Peer::Copy(_) => return,
        };
        let list = self.sockets.idle.entry(link.route).or_default();
        if keep && conn.is_quiet() && list.len() < IDLE_MAX {
            list.push(link.place);
            let since = self.now_us / 1000;
            self.sockets.places.put(link.place, Place::Idle(conn, link.route, since));
        } else {
            self.free_place(link.place);
        }
    }

    /// An event of a connection to a server: who uses it, or `None`, and an idle connection that has
    /// ended is closed.
    pub(crate) fn server_event(&mut self, place: usize, event: &Event) -> Option<User> {
        match self.sockets.places.get_mut(place)? {
            Place::Used(session) => Some(User::Session(*session)),
            Place::Uplink(mux) => Some(User::Uplink(*mux)),
            // The room for writing grows after the last bytes have left.
            Place::Idle(..)
                if !(event.is_readable() || event.is_read_closed() || event.is_error()) =>
            {
                None
            }
            Place::Idle(conn, route, _) => {
                conn.note(event);
                if conn.is_quiet() {
                    return None;
                }
                // A server that says something without a request is not understood.
                let route = *route;
                self.close_idle(place, route);
                None
            }
        }
    }

    fn close_idle(&mut self, place: usize, route: Route) {
        self.free_place(place);
        if let Some(list) = self.sockets.idle.get_mut(&route) {
            list.retain(|other| *other != place);
        }
    }

    /// Closes connections that were idle for too long.
    pub(crate) fn sweep(&mut self) {
        let before = self.now_ms().saturating_sub(IDLE_MS);
        let mut old = Vec::new();
        for place in self.sockets.idle.values().flatten() {
            if let Some(Place::Idle(_, route, since)) = self.sockets.places.get_mut(*place)
                && *since < before
            {
                old.push((*place, *route));
            }
        }
        for (place, route) in old {
            self.close_idle(place, route);
        }
        self.sockets.idle.retain(|_, list| !list.is_empty());
        self.sweep_uplinks();
    }

    /// Lets a session wait for a place at a server; false: too many wait.
    pub(crate) fn enqueue(&mut self, entry: Entry) -> bool {
        if self.queue.len() >= QUEUE_MAX {
            return false;
        }
        self.queue.push_back(entry);
        true
    }

    /// Lets the first that waits try: another thread may have freed a place.
    pub(crate) fn wake_first(&mut self) {
        if let Some(first) = self.queue.pop_front() {
            self.hub.again.push(first);
        }
    }

    pub(crate) fn has_queue(&self) -> bool {
        !self.queue.is_empty()
    }
}
