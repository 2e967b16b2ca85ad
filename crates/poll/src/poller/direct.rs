//! Checks over connections without encryption: all of a poller in one table, moved by one epoll.
//!
//! A check costs socket, connect, send, epoll_ctl, recv, setsockopt and close, and no task, timer or
//! channel of its own. The request goes out with the attempt to connect: where the agent is near,
//! the connection stands before `connect` returns; elsewhere the first readiness sends it.
//!
//! When the whole answer is there nothing is left to agree on, so the connection ends with a reset
//! (`SO_LINGER` 0): neither side keeps the port for a minute, and no packets are exchanged for it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::Item;
use mio::Interest;
use socket2::{Domain, SockRef, Socket, Type};
use wire::agent::passive::Dialect;
use wire::zbxd::{self, Decoder};

use crate::checks::agent::{self, Asked, Stage};
use crate::checks::dial;
use crate::checks::reply::CheckReply;
use collect::table::Table;

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
    pub(crate) reply: CheckReply,
    /// How it was asked, in the dialect that the agent speaks.
    pub(crate) route: Route,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    job: Job,
    route: Route,
    stage: Stage,
    /// What is not sent yet.
    unsent: Vec<u8>,
    decoder: Decoder,
}

impl AsRawFd for Connection {
    fn as_raw_fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }
}

/// The connections of one poller.
pub(crate) struct Direct {
    table: Table<Connection>,
    /// Room for the places that are ready, kept from round to round.
    ready: Vec<usize>,
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
            table: Table::new()?,
            ready: Vec::new(),
            // Agents of old answer without a header.
            limits: zbxd::Limits::ANSWER.with_bytes_max(max).with_text_bytes_max(max),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            ended: Vec::new(),
        })
    }

    /// Becomes readable when [`Self::advance`] has something to do.
    pub(crate) fn watched(&self) -> std::io::Result<OwnedFd> {
        self.table.watched()
    }

    /// Connections that are open.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
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
        let request = agent::encode_request(&job.item.key, route.timeout, route.dialect);
        let mut connection = Connection {
            stream,
            job,
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
        let patience = (now, route.timeout + dial::EXTRA);
        if let Err((connection, error)) = self.table.insert(connection, interest, patience) {
            let asked = Asked::Reply(CheckReply::LocalError(dial::os_error(&error)));
            self.end(connection.job, &route, asked);
        }
    }

    /// Hands back a check that cannot begin.
    pub(crate) fn refuse(&mut self, ended: Ended) {
        self.ended.push(ended);
    }

    fn end(&mut self, job: Job, route: &Route, asked: Asked) {
        let reply = match asked {
            Asked::Reply(reply) => reply,
            Asked::RetryPlain => agent::not_understood(),
        };
        self.ended.push(Ended { job, reply, route: *route });
    }

    /// Waits at most `patience` for connections to become ready, and moves at most
    /// [`collect::table::EVENTS`] of them. Returns how many these were.
    pub(crate) fn advance(&mut self, now: Duration, patience: Duration) -> usize {
        let mut ready = std::mem::take(&mut self.ready);
        let seen = self.table.wait(Some(patience), &mut ready);
        for at in ready.drain(..) {
            self.move_one(at, now);
        }
        self.ready = ready;
        seen
    }

    fn move_one(&mut self, at: usize, now: Duration) {
        let Some(connection) = self.table.get_mut(at) else { return };
        let step = match connection.send() {
            Step::Waits if connection.unsent.is_empty() => connection.receive(&mut self.buffer),
            step => step,
        };
        let Step::Ends(asked) = step else { return };
        let Some(connection) = self.table.take(at) else { return };
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
        for connection in self.table.late(now) {
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
