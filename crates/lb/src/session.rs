//! One client connection: a state machine that runs when something has happened and never waits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use proxying::http1::HeadEnd;
use proxying::proxy_header;

use crate::buffer::Buffer;
use crate::config::Kind;
use crate::conn::Conn;
use crate::core::Core;
use crate::exchange::Exchange;
use crate::pool::{Wish, hash};
use crate::record::Draft;
use crate::route::{Failure, Route, Upstream};
use crate::snapshot::Service;
use crate::wheel::Entry;
use transactions::End;

/// How long a closed connection may still send, in milliseconds: closing a socket with unread bytes
/// resets it, and the client would lose the response.
const LINGER_MS: u64 = 1000;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The PROXY header arrives.
    Proxy,
    /// TLS begins.
    Handshake,
    /// Between two requests, or the head of one arrives.
    Request,
    /// A request is being served.
    Exchange,
    /// Bytes in both directions.
    Tunnel,
    /// The last response is sent; the rest of the client's bytes are dropped.
    Linger,
}

/// What a step has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Something has changed: another step may be possible.
    Again,
    /// Nothing is possible until an event or a deadline.
    Wait,
    /// The connection ends now.
    Close,
}

impl Step {
    pub(crate) fn again_if(progress: bool) -> Self {
        if progress { Self::Again } else { Self::Wait }
    }
}

/// What a deadline is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Idle,
    Head,
    ClientBody,
    Queue,
    Connect,
    Server,
    Tunnel,
    Linger,
}

/// A deadline. A stage that is renewed by progress gets a new one with each read or write.
#[derive(Debug, Clone, Copy)]
struct Timer {
    stage: Stage,
    due_ms: u64,
    /// Due time of the wheel's entry.
    entered_ms: u64,
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) entry: Entry,
    pub(crate) client: Conn,
    listener: usize,
    pub(crate) service: Arc<Service>,
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) state: State,
    /// From the client.
    pub(crate) input: Buffer,
    /// To the client.
    pub(crate) output: Buffer,
    pub(crate) end: HeadEnd,
    pub(crate) route: Option<Box<Route>>,
    pub(crate) exchange: Option<Box<Exchange>>,
    /// Common name of the client's certificate.
    pub(crate) client_name: Option<String>,
    /// What will be recorded of the transaction in progress.
    pub(crate) draft: Option<Box<Draft>>,
    /// Bytes read and written before it.
    pub(crate) counted: (u64, u64),
    timer: Timer,
    progress: bool,
}

impl Session {
    pub(crate) fn new(
        entry: Entry,
        client: Conn,
        listener: usize,
        service: Arc<Service>,
        (source, destination): (SocketAddr, SocketAddr),
    ) -> Self {
        service.connections.fetch_add(1, Relaxed);
        let timer = Timer { stage: Stage::Idle, due_ms: u64::MAX, entered_ms: u64::MAX };
        Self {
            entry,
            client,
            listener,
            source,
            destination,
            state: State::Proxy,
            input: Buffer::default(),
            output: Buffer::default(),
            end: HeadEnd::default(),
            route: None,
            exchange: None,
            client_name: None,
            draft: None,
            counted: (0, 0),
            timer,
            progress: false,
            service,
        }
    }

    /// Runs until nothing more is possible; false: the connection has ended.
    pub(crate) fn run(&mut self, core: &mut Core) -> bool {
        /// Steps of one connection before others run.
        const STEPS: usize = 64;
        self.progress = false;
        let mut steps = 0;
        loop {
            match self.step(core) {
                Step::Again => self.progress = true,
                Step::Wait => break,
                Step::Close => return false,
            }
            steps += 1;
            if steps == STEPS {
                core.again.push(self.entry);
                break;
            }
        }
        self.set_timer(core);
        self.input.rest(&mut core.buffers);
        self.output.rest(&mut core.buffers);
        if let Some(route) = &mut self.route {
            route.to_server.rest(&mut core.buffers);
            route.from_server.rest(&mut core.buffers);
        }
        true
    }

    fn step(&mut self, core: &mut Core) -> Step {
        match self.state {
            State::Proxy => self.proxy_header(core),
            State::Handshake => self.handshake(core),
            State::Request => self.request(core),
            State::Exchange => self.exchange(core),
            State::Tunnel => self.tunnel(core),
            State::Linger => self.linger(core),
        }
    }

    fn proxy_header(&mut self, core: &mut Core) -> Step {
        if self.service.accept_proxy {
            match proxy_header::parse(self.input.data()) {
                Err(_) if !self.input.is_empty() => return Step::Close,
                Ok(Some((length, addresses))) => {
                    self.input.consume(length);
                    if let Some(addresses) = addresses {
                        (self.source, self.destination) = (addresses.source, addresses.destination);
                    }
                }
                _ => return self.read(core),
            }
        }
        if !self.service.admits(self.source.ip()) {
            return Step::Close;
        }
        match &self.service.tls {
            None => self.begin(core),
            Some(config) => {
                let Ok(tls) = rustls::ServerConnection::new(Arc::clone(config)) else {
                    return Step::Close;
                };
                let started = self.client.start_tls(tls.into(), self.input.data());
                self.input.clear(&mut core.buffers);
                if started.is_err() {
                    return Step::Close;
                }
                self.state = State::Handshake;
                Step::Again
            }
        }
    }

    fn handshake(&mut self, core: &mut Core) -> Step {
        match self.client.handshake() {
            Err(_) => return Step::Close,
            Ok(false) => return Step::Wait,
            Ok(true) => {}
        }
        let certificates = self.client.tls().and_then(|tls| tls.peer_certificates());
        let first = certificates.and_then(|certificates| certificates.first());
        self.client_name = first.and_then(crate::tls::common_name);
        // Application data may have arrived with the end of the handshake.
        self.client.readable = true;
        self.client.writable = true;
        self.begin(core)
    }

    fn begin(&mut self, core: &Core) -> Step {
        self.state = match self.service.kind {
            Kind::Http => State::Request,
            Kind::Tcp => {
                let pool = Arc::clone(&self.service.pool);
                let wish = Wish { hash: self.source_hash(&pool), ..Wish::default() };
                self.route = Some(Box::new(Route::new(pool, wish)));
                self.note_begin(core);
                self.note_tcp();
                State::Tunnel
            }
        };
        Step::Again
    }

    /// Hash of the client's address where the pool needs it.
    pub(crate) fn source_hash(&self, pool: &crate::pool::Pool) -> Option<u64> {
        use crate::config::{Algorithm, PersistenceKind};
        let persists = matches!(pool.persistence, Some((PersistenceKind::SourceIp, _)));
        (persists || pool.algorithm == Algorithm::SourceHash).then(|| {
            match self.source.ip().to_canonical() {
                std::net::IpAddr::V4(address) => hash(&address.octets()),
                std::net::IpAddr::V6(address) => hash(&address.octets()),
            }
        })
    }

    /// Reads from the client once.
    pub(crate) fn read(&mut self, core: &mut Core) -> Step {
        match self.client.fill(&mut self.input, &mut core.buffers) {
            Err(_) => Step::Close,
            Ok(0) if self.client.eof => Step::Close,
            Ok(length) => Step::again_if(length > 0),
        }
    }

    /// The service as it is now: a request uses the newest configuration.
    pub(crate) fn refresh(&mut self, core: &Core) {
        if let Some(Some(newest)) = core.services.get(self.listener)
            && !Arc::ptr_eq(newest, &self.service)
        {
            newest.connections.fetch_add(1, Relaxed);
            self.service.connections.fetch_sub(1, Relaxed);
            self.service = Arc::clone(newest);
        }
    }

    /// Writes what is ready for the client; `None`: the connection is gone.
    pub(crate) fn flush(&mut self) -> Option<usize> {
        let sent = self.client.write(self.output.data()).ok()?;
        self.output.consume(sent);
        self.client.flush().ok()?;
        Some(sent)
    }

    fn linger(&mut self, core: &mut Core) -> Step {
        if self.flush().is_none() {
            return Step::Close;
        }
        if !self.output.is_empty() {
            return Step::Wait;
        }
        self.client.shut();
        self.input.clear(&mut core.buffers);
        self.read(core)
    }

    fn tunnel(&mut self, core: &mut Core) -> Step {
        let (entry, ends) = (self.entry, (self.source, self.destination));
        let Some(route) = &mut self.route else { return Step::Close };
        match route.advance(core, entry, ends) {
            Ok(true) => {}
            Ok(false) => return Step::Wait,
            Err(failure) => return self.tunnel_failed(failure, core),
        }
        if let Some(draft) = &mut self.draft {
            draft.served_by(route);
        }
        let Upstream::Ready(link) = &mut route.upstream else { return Step::Close };
        let server = &mut *link.conn;
        let mut moved = 0;
        // What was read before the tunnel began goes first.
        if !self.input.is_empty() && route.to_server.is_empty() {
            std::mem::swap(&mut self.input, &mut route.to_server);
        }
        let mut relay = || -> std::io::Result<()> {
            if self.input.is_empty() {
                moved += self.client.fill(&mut route.to_server, &mut core.buffers)?;
            }
            let sent = server.write(route.to_server.data())?;
            route.to_server.consume(sent);
            if !route.from_server.is_empty() && self.output.is_empty() {
                std::mem::swap(&mut self.output, &mut route.from_server);
            }
            moved += server.fill(&mut self.output, &mut core.buffers)?;
            let answered = self.client.write(self.output.data())?;
            self.output.consume(answered);
            moved += sent + answered;
            self.client.flush()?;
            server.flush()?;
            Ok(())
        };
        if relay().is_err() {
            return Step::Close;
        }
        if self.client.eof && route.to_server.is_empty() && self.input.is_empty() {
            server.shut();
        }
        if server.eof && self.output.is_empty() && route.from_server.is_empty() {
            self.client.shut();
            if self.client.eof && route.to_server.is_empty() {
                self.note_end(End::Complete);
                return Step::Close;
            }
        }
        Step::again_if(moved > 0)
    }

    fn tunnel_failed(&mut self, failure: Failure, core: &mut Core) -> Step {
        let Some(route) = &mut self.route else { return Step::Close };
        if let Some(link) = route.take_link() {
            route.wish.tried.push(link.server);
            route.pool.failed(link.server, core.now_ms());
            core.release(*link, false);
        }
        let repeated = u8::try_from(route.wish.tried.len().saturating_sub(1)).unwrap_or(u8::MAX);
        let repeat = failure == Failure::Connect
            && route.pool.may_repeat(crate::config::RetryOn::Connect, repeated);
        if let Some(draft) = &mut self.draft {
            draft.failed(failure);
        }
        if repeat { Step::Again } else { Step::Close }
    }

    /// The stage that the connection is in, and how long it may take.
    fn stage(&self) -> (Stage, u64) {
        let times = &self.service.timeouts;
        match self.state {
            State::Proxy | State::Handshake => (Stage::Head, times.client_header),
            State::Request if !self.output.is_empty() => (Stage::ClientBody, times.client_body),
            State::Request if self.input.is_empty() => (Stage::Idle, times.keepalive),
            State::Request => (Stage::Head, times.client_header),
            State::Linger => (Stage::Linger, LINGER_MS),
            State::Exchange | State::Tunnel => {
                let upstream = self.route.as_ref().map(|route| &route.upstream);
                match upstream {
                    Some(Upstream::Queued) => (Stage::Queue, times.queue),
                    Some(Upstream::Connecting(_)) => (Stage::Connect, times.connect),
                    _ if self.state == State::Tunnel => (Stage::Tunnel, times.tunnel),
                    _ if self.waits_for_client() => (Stage::ClientBody, times.client_body),
                    _ => (Stage::Server, times.server),
                }
            }
        }
    }

    fn waits_for_client(&self) -> bool {
        let uploading = self.exchange.as_ref().is_some_and(|exchange| !exchange.is_sent());
        let nothing = self.route.as_ref().is_some_and(|route| route.to_server.is_empty());
        !self.output.is_empty() || (uploading && nothing)
    }

    fn set_timer(&mut self, core: &mut Core) {
        let (stage, length) = self.stage();
        let renewed = !matches!(stage, Stage::Head | Stage::Queue | Stage::Connect | Stage::Linger);
        if stage != self.timer.stage || self.timer.due_ms == u64::MAX || (renewed && self.progress)
        {
            self.timer.stage = stage;
            self.timer.due_ms = core.now_ms() + length;
        }
        if self.timer.due_ms < self.timer.entered_ms {
            self.timer.entered_ms = self.timer.due_ms;
            core.wheel.enter(self.entry, self.timer.due_ms);
        }
    }

    /// The wheel's entry has come; false: the connection has ended.
    pub(crate) fn timer(&mut self, core: &mut Core) -> bool {
        self.timer.entered_ms = u64::MAX;
        if core.now_ms() < self.timer.due_ms {
            self.timer.entered_ms = self.timer.due_ms;
            core.wheel.enter(self.entry, self.timer.due_ms);
            return true;
        }
        let stage = self.timer.stage;
        self.timer.due_ms = u64::MAX;
        if matches!(stage, Stage::Head | Stage::ClientBody | Stage::Tunnel) {
            self.note_end(End::ClientTimeout);
        }
        match self.expired(stage, core) {
            Step::Close => false,
            _ => self.run(core),
        }
    }

    fn expired(&mut self, stage: Stage, core: &mut Core) -> Step {
        match stage {
            Stage::Head if self.state == State::Request => self.refuse(408, core),
            Stage::Idle | Stage::Head | Stage::Tunnel | Stage::Linger => Step::Close,
            Stage::ClientBody if self.is_unanswered() => self.refuse(408, core),
            Stage::ClientBody => Step::Close,
            Stage::Connect if self.state == State::Tunnel => {
                self.tunnel_failed(Failure::Connect, core)
            }
            Stage::Queue if self.state == State::Tunnel => Step::Close,
            Stage::Queue => self.server_failed(Failure::Full, core),
            Stage::Connect => self.server_failed(Failure::Connect, core),
            Stage::Server => self.server_failed(Failure::Timeout, core),
        }
    }

    /// Frees what the connection uses.
    pub(crate) fn end(mut self, core: &mut Core) {
        self.service.connections.fetch_sub(1, Relaxed);
        self.record(core);
        self.drop_route(core);
        self.input.clear(&mut core.buffers);
        self.output.clear(&mut core.buffers);
    }

    /// Ends the way to the server, and its connection.
    pub(crate) fn drop_route(&mut self, core: &mut Core) {
        if let Some(mut route) = self.route.take() {
            route.to_server.clear(&mut core.buffers);
            route.from_server.clear(&mut core.buffers);
            if let Some(link) = route.take_link() {
                core.release(*link, false);
            }
        }
    }
}
