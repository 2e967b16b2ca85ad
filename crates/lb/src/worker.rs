//! A thread that forwards: it accepts, waits for events and runs the sessions that have any.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::time::Duration;

use arc_swap::ArcSwap;
use mio::net::TcpListener;
use mio::{Events, Poll};
use proxying::engine_link::analytics::Counter;
use stdx::clock::{Instants, SharedClock};
use stdx::sync::lock;
use transactions::End;

use crate::auth::{Checkers, Checks};
use crate::config::Kind;
use crate::conn::Conn;
use crate::core::{Core, User, Who};
use crate::mailbox::Mailbox;
use crate::mirror::Launch;
use crate::mux::{Newcomer, Owner};
use crate::peer::Peer;
use crate::peer::Stream;
use crate::phase::{LOOK_MS, Phase, Seen};
use crate::quic::{Quic, Threads};
use crate::recorder::{Recorder, offset_us};
use crate::script::Scripts;
use crate::session::{Session, Step};
use crate::slab::Slab;
use crate::snapshot::{Service, Snapshot};
use crate::udp::Udp;
use crate::wheel::Entry;

/// Connections that one listener accepts before others run.
pub(crate) const ACCEPT_BATCH: usize = 64;
/// How long the system waits for the first bytes of a connection before it is accepted without, in seconds.
const DEFER_S: u8 = 1;
/// Sessions of streams that a thread keeps for the next ones.
const SPARE: usize = 256;
/// Longest wait, in milliseconds: idle connections to servers are looked through that often.
const SWEEP_MS: u64 = 1000;
/// Wait while requests are queued or no file descriptor is free, in milliseconds.
const RETRY_MS: u64 = 5;
/// Shortest time between two warnings about connections that cannot be accepted, in milliseconds.
const WARN_EVERY_MS: u64 = 10_000;

/// Connections that wait to be accepted.
#[derive(Default)]
pub(crate) struct Pending {
    /// Listeners that may have some.
    pub(crate) listeners: Vec<usize>,
    /// Monotonic time of the next warning that they cannot be accepted, in milliseconds.
    warns_ms: u64,
}

impl Pending {
    /// Once for each listener, also if an event is about it meanwhile.
    fn add(&mut self, listener: usize) {
        if !self.listeners.contains(&listener) {
            self.listeners.push(listener);
        }
    }

    fn warn(&mut self, error: &io::Error, now_ms: u64) {
        if now_ms >= self.warns_ms {
            self.warns_ms = now_ms + WARN_EVERY_MS;
            tracing::warn!("connections wait, as they cannot be accepted: {error}");
        }
    }
}

/// A thread.
pub(crate) struct Worker {
    poll: Poll,
    pub(crate) core: Core,
    /// Boxed, so that a session moves by pointer.
    pub(crate) sessions: Slab<Box<Session>>,
    /// Those whose stream has ended, for the next one.
    spare: Vec<Entry>,
    pub(crate) listeners: Vec<Option<TcpListener>>,
    udp: Udp,
    pub(crate) quic: Quic,
    snapshot: Arc<ArcSwap<Snapshot>>,
    pub(crate) mailbox: Arc<Mailbox>,
    clock: SharedClock,
    pub(crate) pending: Pending,
    pub(crate) seen: Seen,
}

impl Worker {
    pub(crate) fn new(
        snapshot: Arc<ArcSwap<Snapshot>>,
        clock: SharedClock,
        checkers: &Arc<Checkers>,
        poll: Poll,
        threads: Threads,
    ) -> io::Result<Self> {
        let mailbox = Arc::clone(&threads.mailboxes[threads.own]);
        let seed = getrandom::u64().map_err(io::Error::other)?;
        let mut secret = [0; 64];
        getrandom::fill(&mut secret).map_err(io::Error::other)?;
        let checks = Checks::new(&secret, Arc::clone(checkers), Arc::clone(&mailbox));
        let now_us = micros(clock.monotonic());
        let mut core =
            Core::new(poll.registry().try_clone()?, now_us, seed, checks, Scripts::new(&clock));
        core.checks.set_unix(offset_us(&clock));
        Ok(Self {
            core,
            poll,
            sessions: Slab::default(),
            spare: Vec::new(),
            listeners: Vec::new(),
            udp: Udp::default(),
            quic: Quic::new(threads, Instants::new()),
            snapshot,
            mailbox,
            clock,
            pending: Pending::default(),
            seen: Seen::default(),
        })
    }

    /// One of `threads` of a process that may open this many files.
    pub(crate) fn share_files(&mut self, open_files: u64, threads: usize) {
        self.core.hub.buffers.pipes.share(open_files, threads);
    }

    /// Counts and records transactions from now on.
    pub(crate) fn record(&mut self, recorder: Recorder) {
        self.core.recorder = Some(recorder);
    }

    /// Runs until the engine stops: connections are closed, their transactions recorded.
    ///
    /// # Errors
    /// The system's poll has failed.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        let mut swept_ms = self.core.now_ms();
        while !self.mailbox.stop.load(Relaxed) {
            self.turn(&mut events)?;
            let now_ms = self.core.now_ms();
            if now_ms >= swept_ms + SWEEP_MS {
                swept_ms = now_ms;
                self.sweep(now_ms);
            }
            self.look_again();
        }
        self.close();
        Ok(())
    }

    /// Waits once, and does what has become possible.
    fn turn(&mut self, events: &mut Events) -> io::Result<()> {
        match self.poll.poll(events, Some(self.wait())) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        self.core.now_us = micros(self.clock.monotonic());
        for event in &*events {
            self.dispatch(event);
        }
        for number in std::mem::take(&mut self.pending.listeners) {
            self.accept(number);
        }
        let mut due = Vec::new();
        self.core.wheel.due(self.core.now_ms(), &mut due);
        for (place, generation) in due {
            if self.sessions.generation(place) == generation {
                self.run_session(place, Session::timer);
            }
        }
        self.udp.run(&mut self.core);
        self.quic.run(&mut self.core);
        self.core.wake_first();
        self.run_again();
        Ok(())
    }

    /// Does what is done each second.
    fn sweep(&mut self, now_ms: u64) {
        self.core.sweep();
        // The machine's clock may have been set.
        self.core.checks.set_unix(offset_us(&self.clock));
        self.udp.each_second(now_ms);
        for service in self.core.services.iter().flatten() {
            service.copies.report(&service.name, now_ms);
        }
        if let Some(recorder) = &mut self.core.recorder {
            recorder.rows.each_second();
        }
    }

    /// Runs the sessions that others have woken, who may wake others in turn.
    fn run_again(&mut self) {
        /// Rounds before events are looked at.
        const ROUNDS: usize = 8;
        for _ in 0..ROUNDS {
            for newcomer in std::mem::take(&mut self.core.hub.newcomers) {
                self.begin_stream(newcomer);
            }
            for launch in std::mem::take(&mut self.core.hub.launches) {
                self.begin_copy(launch);
            }
            for mux in std::mem::take(&mut self.core.hub.uplinks_again) {
                self.core.run_uplink(mux);
            }
            for (place, generation) in std::mem::take(&mut self.core.hub.again) {
                if self.sessions.generation(place) == generation {
                    self.run_session(place, Session::run);
                }
            }
            self.quic.run_again(&mut self.core);
        }
    }

    /// A client's stream gets a session.
    fn begin_stream(&mut self, Newcomer { mux: place, stream }: Newcomer) {
        let Some(mux) = self.core.hub.muxes.get_mut(place) else { return };
        let (origin, facts) = match mux.owner {
            Owner::Client(parent) => {
                let Some(parent) = self.sessions.get_mut(parent.0) else { return };
                (parent.origin(), parent.client.facts(self.core.now_us))
            }
            Owner::Quic => {
                let Some(link) = mux.connection.link() else { return };
                (link.origin(), link.facts())
            }
            Owner::Server(_) | Owner::Gone => return,
        };
        let Some(inbox) = mux.inbox(stream) else { return };
        let bytes = inbox.head_bytes as u64;
        let Some((list, end)) = mux.take_head(stream) else { return };
        let spare = self.spare.pop().and_then(|entry| self.sessions.take(entry.0));
        let entry = spare.as_ref().map_or_else(|| self.sessions.reserve(), |child| child.entry);
        mux.set_child(stream, entry);
        let client = Peer::Stream(Stream::new(place, stream, bytes, facts));
        let mut child = match spare {
            Some(mut child) => {
                child.adopt(client, origin);
                child
            }
            None => Session::of_stream(entry, client, origin),
        };
        let begun = child.begin_message(list, end, &mut self.core);
        self.sessions.put(entry.0, child);
        match begun {
            Step::Close => self.run_session(entry.0, |_, _| false),
            Step::Again | Step::Wait => self.run_session(entry.0, Session::run),
        }
    }

    /// The copy of a request gets a session.
    fn begin_copy(&mut self, launch: Launch) {
        let entry = self.sessions.reserve();
        match Session::of_copy(entry, launch, &mut self.core) {
            None => self.sessions.free(entry.0),
            Some(session) => {
                self.sessions.put(entry.0, session);
                self.run_session(entry.0, Session::run);
            }
        }
    }

    /// Lets a session do something; one that has ended is removed.
    pub(crate) fn run_session(&mut self, place: usize, body: fn(&mut Session, &mut Core) -> bool) {
        let Some(mut session) = self.sessions.take(place) else { return };
        if body(&mut session, &mut self.core) {
            self.sessions.put(place, session);
            return;
        }
        session.end(&mut self.core);
        if session.client.stream().is_some() && self.spare.len() < SPARE {
            self.spare.push(session.entry);
            self.sessions.put(place, session);
        } else {
            self.sessions.free(place);
        }
    }

    fn close(&mut self) {
        for mut session in self.sessions.drain() {
            session.note_end(End::Stopped);
            session.end(&mut self.core);
        }
        self.udp.close(&mut self.core);
        self.quic.close(&mut self.core);
        if let Some(recorder) = &mut self.core.recorder {
            recorder.rows.pass_on();
        }
    }

    fn wait(&self) -> Duration {
        if self.core.hub.has_work() {
            return Duration::ZERO;
        }
        let now_ms = self.core.now_ms();
        let most = if self.seen.phase == Phase::Serving { SWEEP_MS } else { LOOK_MS };
        let timers = [
            self.core.wheel.wait_ms(now_ms),
            self.udp.wait_ms(self.core.now_us),
            self.quic.wait_ms(self.core.now_us),
        ];
        let timer = timers.into_iter().flatten().fold(most, u64::min);
        let retries = self.core.has_queue() || !self.pending.listeners.is_empty();
        Duration::from_millis(if retries { timer.min(RETRY_MS) } else { timer })
    }

    fn dispatch(&mut self, event: &mio::event::Event) {
        match Who::from(event.token()) {
            Who::Waker => self.woken(),
            Who::Listener(number) => self.accept(number),
            Who::Datagrams(number) => self.udp.requests(number, &mut self.core),
            Who::Quic(number) => self.quic.receive(number, &mut self.core),
            Who::Flow(place) => self.udp.responses(place, event.is_error(), &mut self.core),
            Who::Client(place) => {
                let session = self.sessions.get_mut(place);
                if let Some(conn) = session.and_then(|session| session.client.socket_mut()) {
                    conn.note(event);
                    self.run_session(place, Session::run);
                }
            }
            Who::Server(place) => {
                let place = match self.core.server_event(place, event) {
                    Some(User::Session(place)) => place,
                    Some(User::Uplink(mux)) => return self.core.uplink_event(mux, event),
                    None => return,
                };
                let session = self.sessions.get_mut(place);
                let Some(route) = session.and_then(|session| session.route.as_mut()) else {
                    return;
                };
                if let Some(conn) = route.link().and_then(|link| link.peer.socket_mut()) {
                    conn.note(event);
                    self.run_session(place, Session::run);
                }
            }
        }
    }

    /// Others have something for this thread.
    fn woken(&mut self) {
        if self.mailbox.changed.swap(false, AcqRel) {
            self.reconfigure();
        }
        let strays = std::mem::take(&mut *lock(&self.mailbox.strays));
        self.quic.strays(strays, &mut self.core);
        self.follow_phase();
        self.core.hub.again.extend(self.mailbox.resumed());
        let now_ms = self.core.now_ms();
        for done in std::mem::take(&mut *lock(&self.mailbox.checked)) {
            let waiting = self.core.checks.done(done, now_ms);
            self.core.hub.again.extend(waiting);
        }
    }

    fn accept(&mut self, number: usize) {
        let more = self.accept_batch(number).unwrap_or_else(|error| {
            self.pending.warn(&error, self.core.now_ms());
            true
        });
        if more {
            self.pending.add(number);
        }
    }

    /// Accepts connections; whether there may be more.
    pub(crate) fn accept_batch(&mut self, number: usize) -> io::Result<bool> {
        for _ in 0..ACCEPT_BATCH {
            let Some(Some(listener)) = self.listeners.get(number) else { return Ok(false) };
            match listener.accept() {
                Ok((stream, source)) => self.accepted(stream, source, number),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn accepted(
        &mut self,
        stream: mio::net::TcpStream,
        source: std::net::SocketAddr,
        number: usize,
    ) {
        let Some(Some(service)) = self.core.services.get(number) else { return };
        let service = Arc::clone(service);
        let full = service.connections.load(Relaxed) >= service.connections_max;
        if full || (!service.accept_proxy && !service.admits(source.ip())) {
            self.core.count(&service.tally, Counter::Rejected);
            return;
        }
        self.core.count(&service.tally, Counter::Connections);
        let destination = if service.listen.ip().is_unspecified() {
            stream.local_addr().unwrap_or(service.listen)
        } else {
            service.listen
        };
        let entry = self.sessions.reserve();
        let mut conn = Conn::new(stream, None);
        if client_begins(&service) {
            // Its first bytes are there, usually.
            (conn.readable, conn.writable) = (true, true);
        }
        let ends = (source, destination);
        let session = Session::new(entry, Peer::Socket(Box::new(conn)), number, service, ends);
        self.sessions.put(entry.0, Box::new(session));
        self.run_session(entry.0, Session::run);
        // Afterwards, so that no event is about bytes that have just been read.
        let session = self.sessions.get_mut(entry.0);
        let Some(conn) = session.and_then(|session| session.client.socket_mut()) else { return };
        if let Err(error) = self.core.watch(conn.stream_mut(), Who::Client(entry.0)) {
            tracing::warn!("a connection cannot be watched: {error}");
            self.run_session(entry.0, |_, _| false);
        }
    }

    /// Takes over the newest configuration: listeners appear and disappear, connections stay.
    fn reconfigure(&mut self) {
        // Sockets before the snapshot: it is at least as new as they are.
        let listeners = std::mem::take(&mut *lock(&self.mailbox.listeners));
        let datagrams = std::mem::take(&mut *lock(&self.mailbox.datagrams));
        let snapshot = self.snapshot.load_full();
        for listener in listeners {
            let mut listener = TcpListener::from_std(listener);
            let free = self.listeners.iter().position(Option::is_none);
            let number = free.unwrap_or(self.listeners.len());
            if let Err(error) = self.core.watch_listener(&mut listener, number) {
                tracing::error!("a listener cannot be watched: {error}");
                continue;
            }
            self.listeners.resize_with(self.listeners.len().max(number + 1), || None);
            self.listeners[number] = Some(listener);
        }
        self.core.services = self
            .listeners
            .iter()
            .map(|listener| {
                let address = listener.as_ref()?.local_addr().ok()?;
                let mut services = snapshot.services.iter().filter(|one| one.kind != Kind::Udp);
                services.find(|service| service.listen == address).cloned()
            })
            .collect();
        for (listener, service) in self.listeners.iter_mut().zip(&self.core.services) {
            match (&listener, service) {
                (Some(open), Some(service)) => {
                    let seconds = if client_begins(service) { DEFER_S } else { 0 };
                    let _only_slower = stdx::sys::defer_accept(open, seconds);
                }
                _ => *listener = None,
            }
        }
        if snapshot.services.iter().any(|service| service.runs_scripts()) {
            self.core.scripts.prepare();
        }
        let (quic, datagrams): (Vec<_>, Vec<_>) =
            datagrams.into_iter().partition(|socket| Quic::is_own(&snapshot, socket));
        self.udp.reconfigure(datagrams, &snapshot, &mut self.core);
        self.quic.reconfigure(quic, &snapshot, &mut self.core);
        self.core.hub.wake_all();
        for number in 0..self.listeners.len() {
            self.accept(number);
        }
    }
}

/// Whether the first bytes of a connection are always the client's.
fn client_begins(service: &Service) -> bool {
    service.kind == Kind::Http || service.tls.is_some() || service.accept_proxy
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
