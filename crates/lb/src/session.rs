//! One client connection: a state machine that runs when something has happened and never waits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use proxying::http1::HeadEnd;
use proxying::http2::hpack::List;

use crate::auth::Awaited;
use crate::buffer::Buffer;
use crate::conn::Conn;
use crate::core::Core;
use crate::exchange::Exchange;
use crate::origin::Origin;
use crate::peer::Peer;
use crate::record::Draft;
use crate::relay::push;
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
    /// The start of TLS arrives.
    Hello,
    /// TLS begins.
    Handshake,
    /// The first bytes tell HTTP/2 from HTTP/1.
    Detect,
    /// Kept for another stream: nothing happens.
    Spare,
    /// Between two requests, or the head of one arrives.
    Request,
    /// A password is being checked.
    Authenticate,
    /// A request is being served.
    Exchange,
    /// Bytes in both directions.
    Tunnel,
    /// Frames in both directions, by the place of the connection in [`Core::muxes`].
    Http2(usize),
    /// The last response is sent, and the client has said that it sends nothing more.
    Part,
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
    /// The response to an equal request is awaited.
    Equal,
    Connect,
    Server,
    Tunnel,
    /// Requests are in progress, which have their own deadlines.
    Streams,
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
    pub(crate) client: Peer,
    pub(crate) listener: usize,
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
    pub(crate) client_name: Option<Arc<str>>,
    /// Name that the client asked for in TLS.
    pub(crate) sni: Option<Arc<str>>,
    /// What will be recorded of the transaction in progress.
    pub(crate) draft: Option<Box<Draft>>,
    /// Bytes read and written before it.
    pub(crate) counted: (u64, u64),
    /// The password whose check the request waits for, or waited for.
    pub(crate) awaits: Option<Awaited>,
    /// Head of the request on a stream, with whether nothing follows, while it waits.
    pub(crate) held: Option<Box<(List, bool)>>,
    timer: Timer,
    progress: bool,
}

impl Session {
    pub(crate) fn new(
        entry: Entry,
        client: Peer,
        listener: usize,
        service: Arc<Service>,
        (source, destination): (SocketAddr, SocketAddr),
    ) -> Self {
        // The limit counts connections; the sessions of HTTP/2 streams are none.
        if client.socket().is_some() {
            service.connections.fetch_add(1, Relaxed);
        }
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
            sni: None,
            draft: None,
            counted: (0, 0),
            awaits: None,
            held: None,
            timer,
            progress: false,
            service,
        }
    }

    /// What sessions of the streams of this connection begin with.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            listener: self.listener,
            service: Arc::clone(&self.service),
            source: self.source,
            destination: self.destination,
            client_name: self.client_name.clone(),
            sni: self.sni.clone(),
        }
    }

    /// A session for a stream.
    pub(crate) fn of_stream(entry: Entry, client: Peer, origin: Origin) -> Box<Self> {
        let ends = (origin.source, origin.destination);
        let service = Arc::clone(&origin.service);
        let mut session = Box::new(Self::new(entry, client, origin.listener, service, ends));
        (session.client_name, session.sni) = (origin.client_name, origin.sni);
        session.state = State::Exchange;
        session
    }

    /// Lets a session that has ended serve another stream. The wheel's entry is still its own.
    pub(crate) fn adopt(&mut self, client: Peer, origin: Origin) {
        self.client = client;
        self.listener = origin.listener;
        self.service = origin.service;
        (self.source, self.destination) = (origin.source, origin.destination);
        (self.client_name, self.sni) = (origin.client_name, origin.sni);
        self.state = State::Exchange;
        self.timer.due_ms = u64::MAX;
    }

    /// Runs until nothing more is possible; false: the connection has ended.
    pub(crate) fn run(&mut self, core: &mut Core) -> bool {
        /// Steps of one connection before others run.
        const STEPS: usize = 64;
        if self.state != State::Spare && self.client.is_cut(&core.hub) {
            return false;
        }
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
                core.hub.again.push(self.entry);
                break;
            }
        }
        self.set_timer(core);
        self.input.rest(&mut core.hub.buffers);
        self.output.rest(&mut core.hub.buffers);
        if let Some(route) = &mut self.route {
            route.to_server.rest(&mut core.hub.buffers);
            route.from_server.rest(&mut core.hub.buffers);
        }
        true
    }

    fn step(&mut self, core: &mut Core) -> Step {
        match self.state {
            State::Proxy => self.proxy_header(core),
            State::Spare => Step::Wait,
            State::Hello => self.hello(core),
            State::Handshake => self.handshake(core),
            State::Detect => self.detect(core),
            State::Request => self.request(core),
            State::Authenticate => self.authenticate(core),
            State::Exchange => self.exchange(core),
            State::Tunnel => self.tunnel(core),
            State::Http2(place) => self.http2(place, core),
            State::Part => self.part(core),
            State::Linger => self.linger(core),
        }
    }

    /// Reads from the client once.
    pub(crate) fn read(&mut self, core: &mut Core) -> Step {
        match self.client.fill(&mut self.input, &mut core.hub) {
            Err(_) => Step::Close,
            Ok(0) if self.client.eof() => Step::Close,
            Ok(length) => Step::again_if(length > 0),
        }
    }

    /// The service as it is now: a request uses the newest configuration.
    pub(crate) fn refresh(&mut self, core: &Core) {
        if let Some(newest) = self.newest(core)
            && !Arc::ptr_eq(newest, &self.service)
        {
            if self.client.socket().is_some() {
                newest.connections.fetch_add(1, Relaxed);
                self.service.connections.fetch_sub(1, Relaxed);
            }
            self.service = Arc::clone(newest);
        }
    }

    /// The service that has this address now: the listener's number may be that of another one.
    pub(crate) fn newest<'a>(&self, core: &'a Core) -> Option<&'a Arc<Service>> {
        let newest = core.services.get(self.listener)?.as_ref();
        newest.filter(|newest| newest.listen == self.service.listen)
    }

    /// Whether this connection carries no further request: the engine ends, or its service no longer exists.
    pub(crate) fn leaves(&self, core: &Core) -> bool {
        core.hub.leaving || self.newest(core).is_none()
    }

    /// Lets the response in progress be the last one of a connection that leaves.
    pub(crate) fn leave(&mut self, core: &Core) {
        let leaves = self.leaves(core);
        if let Some(exchange) = &mut self.exchange {
            exchange.plan.keep_alive &= !leaves;
        }
    }

    /// Whether it is about to be, or is being, of use for its client, and will end that by itself.
    pub(crate) fn is_busy(&self) -> bool {
        match self.state {
            State::Proxy | State::Hello | State::Handshake => true,
            State::Authenticate | State::Exchange => true,
            State::Request | State::Detect => !self.input.is_empty() || !self.output.is_empty(),
            State::Part | State::Linger => !self.output.is_empty(),
            State::Spare | State::Tunnel | State::Http2(_) => false,
        }
    }

    /// Whether its client has connected and sent nothing yet, so that it is about to.
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.state, State::Request | State::Detect)
            && self.client.socket().is_some_and(|conn| conn.received == 0)
    }

    /// Writes what is ready for the client; `None`: the connection is gone.
    pub(crate) fn flush(&mut self, core: &mut Core) -> Option<usize> {
        let sent = push(&mut self.output, &mut self.client, &mut core.hub).ok()?;
        self.client.flush().ok()?;
        Some(sent)
    }

    /// Closes a connection without waiting for the client, unless it has sent more.
    fn part(&mut self, core: &mut Core) -> Step {
        if self.flush(core).is_none() {
            return Step::Close;
        }
        if !self.output.is_empty() {
            return Step::Wait;
        }
        let silent = |conn: &Conn| !conn.readable && conn.tls().is_none();
        if self.input.is_empty() && self.client.socket().is_some_and(silent) {
            return Step::Close;
        }
        self.state = State::Linger;
        Step::Again
    }

    fn linger(&mut self, core: &mut Core) -> Step {
        if self.flush(core).is_none() {
            return Step::Close;
        }
        if !self.output.is_empty() {
            return Step::Wait;
        }
        self.client.shut(&mut core.hub);
        if self.client.stream().is_some() {
            return Step::Close;
        }
        self.input.clear(&mut core.hub.buffers);
        self.read(core)
    }

    /// The stage that the connection is in, and how long it may take.
    fn stage(&self, core: &mut Core) -> (Stage, u64) {
        let times = &self.service.timeouts;
        match self.state {
            State::Spare => (Stage::Streams, u64::MAX),
            State::Proxy | State::Hello | State::Handshake => (Stage::Head, times.client_header),
            State::Request if !self.output.is_empty() => (Stage::ClientBody, times.client_body),
            State::Request if self.input.is_empty() => (Stage::Idle, times.keepalive),
            State::Detect if self.input.is_empty() => (Stage::Idle, times.keepalive),
            State::Request | State::Detect => (Stage::Head, times.client_header),
            State::Http2(place) => self.stage_http2(place, core),
            State::Part | State::Linger => (Stage::Linger, LINGER_MS),
            State::Authenticate => (Stage::Queue, times.queue),
            State::Exchange | State::Tunnel => {
                let upstream = self.route.as_ref().map(|route| &route.upstream);
                match upstream {
                    Some(Upstream::Queued) => (Stage::Queue, times.queue),
                    Some(Upstream::Equal) => {
                        let cache = self.service.cache.as_ref();
                        (Stage::Equal, cache.map_or(0, |cache| cache.collapse_ms))
                    }
                    Some(Upstream::Connecting(_)) => (Stage::Connect, times.connect),
                    Some(Upstream::Stored(_)) => (Stage::ClientBody, times.client_body),
                    _ if self.state == State::Tunnel => (Stage::Tunnel, times.tunnel),
                    _ if self.is_dialogue() => (Stage::Tunnel, times.tunnel),
                    _ if self.waits_for_client() => (Stage::ClientBody, times.client_body),
                    _ => (Stage::Server, times.server),
                }
            }
        }
    }

    /// A call of gRPC whose both sides may send at any time.
    fn is_dialogue(&self) -> bool {
        let exchange = self.exchange.as_ref();
        let grpc = exchange.is_some_and(|exchange| exchange.plan.grpc && !exchange.is_sent());
        grpc && !self.is_unanswered() && !self.client.is_blocked()
    }

    fn waits_for_client(&self) -> bool {
        let uploading = self.exchange.as_ref().is_some_and(|exchange| !exchange.is_sent());
        let nothing = self.route.as_ref().is_some_and(|route| route.to_server.is_empty());
        !self.output.is_empty() || self.client.is_blocked() || (uploading && nothing)
    }

    fn set_timer(&mut self, core: &mut Core) {
        let (stage, length) = self.stage(core);
        let once = matches!(
            stage,
            Stage::Head | Stage::Queue | Stage::Equal | Stage::Connect | Stage::Linger
        );
        // A mirror that responds slowly has a place no longer than that.
        let renewed = !once && !matches!(self.client, Peer::Copy(_));
        if stage != self.timer.stage || self.timer.due_ms == u64::MAX || (renewed && self.progress)
        {
            self.timer.stage = stage;
            self.timer.due_ms = core.now_ms().saturating_add(length);
        }
        if self.timer.due_ms < self.timer.entered_ms {
            self.timer.entered_ms = self.timer.due_ms;
            core.wheel.enter(self.entry, self.timer.due_ms);
        }
    }

    /// The wheel's entry has come; false: the connection has ended.
    pub(crate) fn timer(&mut self, core: &mut Core) -> bool {
        self.timer.entered_ms = u64::MAX;
        if self.timer.due_ms == u64::MAX {
            return true;
        }
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
            Stage::Idle | Stage::Head | Stage::Tunnel | Stage::Streams | Stage::Linger => {
                Step::Close
            }
            Stage::ClientBody if self.is_unanswered() && !matches!(self.state, State::Http2(_)) => {
                self.refuse(408, core)
            }
            Stage::ClientBody => Step::Close,
            Stage::Connect if self.state == State::Tunnel => {
                self.tunnel_failed(Failure::Connect, core)
            }
            Stage::Queue if self.state == State::Tunnel => Step::Close,
            Stage::Queue if self.state == State::Authenticate => self.refuse_busy(core),
            Stage::Queue => self.server_failed(Failure::Full, core),
            Stage::Equal => {
                self.go(core);
                Step::Again
            }
            Stage::Connect => self.server_failed(Failure::Connect, core),
            Stage::Server => self.server_failed(Failure::Timeout, core),
        }
    }

    /// Frees what the connection uses.
    pub(crate) fn end(&mut self, core: &mut Core) {
        if self.client.socket().is_some() {
            self.service.connections.fetch_sub(1, Relaxed);
        }
        if let State::Http2(place) = self.state {
            self.close_http2(place, core);
        }
        self.record(core);
        if let Some(stream) = self.client.stream() {
            stream.end(&mut core.hub);
        }
        self.drop_route(core);
        self.input.clear(&mut core.hub.buffers);
        self.output.clear(&mut core.hub.buffers);
        self.exchange = None;
        self.leave_check(core);
        self.state = State::Spare;
    }

    /// Ends the way to the server, and its connection.
    pub(crate) fn drop_route(&mut self, core: &mut Core) {
        if let Some(mut route) = self.route.take() {
            route.to_server.clear(&mut core.hub.buffers);
            route.from_server.clear(&mut core.hub.buffers);
            if let Some(link) = route.take_link() {
                core.release(*link, false);
            }
        }
    }
}
