//! Checks over connections without encryption: all of a poller in one table, moved by one epoll.
//!
//! A check costs socket, connect, send, epoll_ctl, recv, setsockopt and close, and no task, timer or
//! channel of its own. The request goes out with the attempt to connect: where the agent is near,
//! the connection stands before `connect` returns; elsewhere the first readiness sends it.
//!
//! When the whole answer is there nothing is left to agree on, so the connection ends with a reset
//! (`SO_LINGER` 0): neither side keeps the port for a minute, and no packets are exchanged for it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::Item;
use mio::unix::SourceFd;
use mio::{Events, Interest, Token};
use socket2::{Domain, SockRef, Socket, Type};
use wire::agent::passive::Dialect;
use wire::zbxd::{self, Decoder};

use super::agent::{self, AgentReply, Asked, Stage};

/// Readiness looked at without letting others run.
pub(crate) const EVENTS: usize = 1024;
const READ_BYTES: usize = 32 * 1024;

/// Which check of the schedule this is.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) slot: u32,
    pub(crate) lane: usize,
    pub(crate) item: Arc<Item>,
}

/// Where and how to ask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Route {
    pub(crate) address: SocketAddr,
    pub(crate) source: Option<IpAddr>,
    pub(crate) dialect: Dialect,
    pub(crate) timeout: Duration,
    /// When the check began (monotonic).
    pub(crate) begun: Duration,
}

/// A check that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) job: Job,
    pub(crate) reply: AgentReply,
    /// How it was asked, in the dialect that the agent speaks.
    pub(crate) route: Route,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    job: Job,
    route: Route,
    /// Tells connections apart that had the same place in the table.
    serial: u32,
    stage: Stage,
    /// What is not sent yet.
    unsent: Vec<u8>,
    decoder: Decoder,
}

/// Deadlines of checks with one timeout: the first is due first.
type Deadlines = VecDeque<(Duration, u32, u32)>;

/// The connections of one poller.
pub(crate) struct Direct {
    poll: mio::Poll,
    events: Events,
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    serial: u32,
    deadlines: BTreeMap<Duration, Deadlines>,
    limits: zbxd::Limits,
    buffer: Box<[u8]>,
    /// What has ended and is not fetched yet.
    ended: Vec<Ended>,
}

/// What became of a connection.
enum Step {
    Waits,
    Ends(Asked),
}

impl Direct {
    /// Nothing in flight; `answer_bytes_max` bounds what is kept of an answer.
    pub(crate) fn new(answer_bytes_max: u64) -> std::io::Result<Self> {
        let max = usize::try_from(answer_bytes_max).unwrap_or(usize::MAX);
        Ok(Self {
            poll: mio::Poll::new()?,
            events: Events::with_capacity(EVENTS),
            connections: Vec::new(),
            free: Vec::new(),
            serial: 0,
            deadlines: BTreeMap::new(),
            // Agents of old answer without a header.
            limits: zbxd::Limits::ANSWER.with_bytes_max(max).with_text_bytes_max(max),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            ended: Vec::new(),
        })
    }

    /// Becomes readable when [`Self::advance`] has something to do.
    pub(crate) fn watched(&self) -> std::io::Result<OwnedFd> {
        self.poll.registry().as_fd().try_clone_to_owned()
    }

    /// Connections that are open.
    pub(crate) fn len(&self) -> usize {
        self.connections.len() - self.free.len()
    }

    /// Takes what has ended since the last call.
    pub(crate) fn ended(&mut self, into: &mut Vec<Ended>) {
        into.append(&mut self.ended);
    }

    /// Begins a check at `now` (monotonic). It may have ended already when this returns.
    pub(crate) fn start(&mut self, job: Job, route: Route, now: Duration) {
        let stream = match open(&route) {
            Ok(stream) => stream,
            Err(error) => {
                return self.end(job, &route, agent::not_connected(route.address, &error));
            }
        };
        self.serial = self.serial.wrapping_add(1);
        let request = agent::encode_request(&job.item.key, route.timeout, route.dialect);
        let mut connection = Connection {
            stream,
            job,
            serial: self.serial,
            stage: Stage::Connect,
            unsent: request,
            decoder: Decoder::new(self.limits),
            route,
        };
        if let Step::Ends(asked) = connection.send() {
            return self.end(connection.job, &route, asked);
        }
        let interest = if connection.unsent.is_empty() {
            Interest::READABLE
        } else {
            Interest::READABLE | Interest::WRITABLE
        };
        let at = self.place();
        let token = Token(at as usize);
        let fd = connection.stream.as_raw_fd();
        if let Err(error) = self.poll.registry().register(&mut SourceFd(&fd), token, interest) {
            self.free.push(at);
            let asked = Asked::Reply(AgentReply::LocalError(agent::os_error(&error)));
            return self.end(connection.job, &route, asked);
        }
        let deadline = now + route.timeout + agent::EXTRA;
        let row = (deadline, at, connection.serial);
        self.deadlines.entry(route.timeout).or_default().push_back(row);
        if let Some(place) = self.connections.get_mut(at as usize) {
            *place = Some(connection);
        }
    }

    /// Hands back a check that cannot begin.
    pub(crate) fn refuse(&mut self, ended: Ended) {
        self.ended.push(ended);
    }

    fn place(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            u32::try_from(self.connections.len() - 1).expect("BUG: more than 2^32 connections")
        })
    }

    fn end(&mut self, job: Job, route: &Route, asked: Asked) {
        let reply = match asked {
            Asked::Reply(reply) => reply,
            Asked::RetryPlain => agent::not_understood(),
        };
        self.ended.push(Ended { job, reply, route: *route });
    }

    /// Waits at most `patience` for connections to become ready, and moves at most [`EVENTS`] of
    /// them. Returns how many these were.
    pub(crate) fn advance(&mut self, now: Duration, patience: Duration) -> usize {
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        let polled = self.poll.poll(&mut events, Some(patience));
        let mut seen = 0;
        if polled.is_ok() {
            for event in &events {
                seen += 1;
                self.move_one(event.token().0, now);
            }
        }
        self.events = events;
        seen
    }

    fn move_one(&mut self, at: usize, now: Duration) {
        let Some(place) = self.connections.get_mut(at) else { return };
        let Some(connection) = place else { return };
        let step = match connection.send() {
            Step::Waits if connection.unsent.is_empty() => connection.receive(&mut self.buffer),
            step => step,
        };
        let Step::Ends(asked) = step else { return };
        let Some(connection) = place.take() else { return };
        self.free.push(u32::try_from(at).unwrap_or(u32::MAX));
        let (job, mut route) = (connection.job, connection.route);
        drop(connection.stream);
        if matches!(asked, Asked::RetryPlain) && route.dialect == Dialect::Json {
            route.dialect = Dialect::Plain;
            return self.start(job, route, now);
        }
        self.end(job, &route, asked);
    }

    /// Ends what has taken too long at `now` (monotonic).
    pub(crate) fn time_out(&mut self, now: Duration) {
        let mut late = Vec::new();
        let connections = &self.connections;
        self.deadlines.retain(|_, queue| {
            while let Some((deadline, at, serial)) = queue.front() {
                let there = connections.get(*at as usize).and_then(Option::as_ref);
                let open = there.is_some_and(|connection| connection.serial == *serial);
                if open && *deadline > now {
                    break;
                }
                if open {
                    late.push(*at);
                }
                queue.pop_front();
            }
            !queue.is_empty()
        });
        for at in late {
            let place = self.connections.get_mut(at as usize);
            let Some(connection) = place.and_then(Option::take) else { continue };
            self.free.push(at);
            let asked = agent::timed_out(connection.stage, connection.route.address);
            self.end(connection.job, &connection.route, asked);
        }
    }
}

/// A connection that is being made.
fn open(route: &Route) -> std::io::Result<TcpStream> {
    let kind = Type::STREAM.nonblocking().cloexec();
    let socket = Socket::new(Domain::for_address(route.address), kind, None)?;
    if let Some(source) = route.source
        && source.is_ipv4() == route.address.is_ipv4()
    {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    match socket.connect(&route.address.into()) {
        Err(error) if error.raw_os_error() != Some(IN_PROGRESS) => Err(error),
        _ => Ok(socket.into()),
    }
}

/// `EINPROGRESS`, for which `ErrorKind` has no stable name.
const IN_PROGRESS: i32 = 115;

impl Connection {
    /// Sends what is not sent yet as far as the system takes it.
    fn send(&mut self) -> Step {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(n) if n >= self.unsent.len() => {
                    self.unsent = Vec::new();
                    self.stage = Stage::Read;
                }
                Ok(n) => {
                    self.unsent.drain(..n);
                    self.stage = Stage::Send;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waits,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if self.stage == Stage::Connect => {
                    return Step::Ends(agent::not_connected(self.route.address, &error));
                }
                Err(error) => return Step::Ends(agent::not_sent(&error)),
            }
        }
        Step::Waits
    }

    /// Reads until nothing is there or the answer is whole.
    fn receive(&mut self, buffer: &mut [u8]) -> Step {
        let ip = self.route.address.ip();
        loop {
            let fed = match self.stream.read(buffer) {
                Ok(0) => self.decoder.end().map(|frame| (true, frame)),
                Ok(n) => {
                    let bytes = buffer.get(..n).unwrap_or_default();
                    let fed = self.decoder.feed(bytes).and_then(zbxd::Progress::only);
                    fed.map(|frame| (false, frame))
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waits,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Step::Ends(agent::not_read(&error)),
            };
            return Step::Ends(match fed {
                Ok((closed, Some(frame))) => {
                    if !closed {
                        self.reset_at_close();
                    }
                    agent::understand(&frame.text(), self.route.dialect, ip)
                }
                Ok((true, None)) => agent::refused(ip),
                Ok((false, None)) => continue,
                Err(error) => agent::network(&format!("the answer {error}")),
            });
        }
    }

    /// Nothing more is to come in either direction.
    fn reset_at_close(&self) {
        // Where it cannot be had the connection ends in the ordinary way.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

#[cfg(test)]
mod tests;
