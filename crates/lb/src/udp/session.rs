//! A session: what one port of a client and a server send to each other, and the record of it.

use std::net::{IpAddr, SocketAddr};

use transactions::{Cached, End, Protocol, Request, Response, Target, Timings, Transaction};

use super::link::Link;
use crate::analytics;
use crate::core::Core;
use crate::snapshot::Service;

/// Longest first datagram that is kept for another server.
const HELD_MAX: usize = 2_048;

/// Whose sessions are counted together: an IPv4 address, or an IPv6 network of 64 bits.
pub(super) type Source = [u8; 8];

/// Who a session belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Client {
    /// Address and port of the client.
    pub(super) from: SocketAddr,
    /// The address that it has sent to, if the service has several: responses leave from there.
    pub(super) to: Option<IpAddr>,
}

impl Client {
    pub(super) fn source(&self) -> Source {
        crate::rate::network(self.from.ip())
    }
}

/// A session at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending<'s> {
    pub(super) service: &'s Service,
    pub(super) client: &'s Client,
    /// `None`: no server could be used.
    pub(super) link: Option<&'s Link>,
    pub(super) end: End,
}

/// What happened so far. Moments are monotonic microseconds; 0 = it did not come to that.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) began_us: u64,
    /// The first datagram was sent to the server.
    pub(super) passed_us: u64,
    /// The first and the last response.
    pub(super) answered_us: (u64, u64),
    /// The last datagram of either side.
    pub(super) last_us: u64,
    /// Datagrams and bytes of the client.
    pub(super) requests: (u64, u64),
    /// Datagrams and bytes of servers.
    pub(super) responses: (u64, u64),
    /// Servers that were asked.
    pub(super) tries: u8,
}

impl Course {
    /// Notes a datagram of the client.
    pub(super) fn request(&mut self, bytes: usize, now_us: u64) {
        if self.began_us == 0 {
            self.began_us = now_us;
        }
        self.last_us = now_us;
        self.requests.0 += 1;
        self.requests.1 += bytes as u64;
    }

    /// Notes datagrams of the server; true: these are the first.
    pub(super) fn responses(&mut self, count: usize, bytes: usize, now_us: u64) -> bool {
        let first = self.responses.0 == 0;
        if first {
            self.answered_us.0 = now_us;
        }
        self.answered_us.1 = now_us;
        self.last_us = now_us;
        self.responses.0 += count as u64;
        self.responses.1 += bytes as u64;
        first
    }

    /// How a session ends to which nothing more comes, by the responses that each datagram should get.
    pub(super) const fn end_by_time(&self, responses: u32) -> End {
        if responses > 0 && self.responses.0 == 0 { End::ServerTimeout } else { End::Complete }
    }

    fn timings(&self, end: End, now_us: u64) -> Timings {
        let (first, last) = self.answered_us;
        let ended_us = if matches!(end, End::ServerTimeout) { now_us } else { self.last_us };
        Timings {
            client_rtt_us: 0,
            connect_us: 0,
            response_us: if first == 0 { 0 } else { first.saturating_sub(self.passed_us) },
            transfer_us: last.saturating_sub(first),
            total_us: ended_us.saturating_sub(self.began_us),
        }
    }

    /// Writes the record of a session that has ended.
    pub(super) fn record(&self, ending: &Ending<'_>, core: &mut Core) {
        let Ending { service, client, link, end } = *ending;
        let now_us = core.now_us;
        let Some(recorder) = &mut core.recorder else { return };
        let none: &[u8] = b"";
        let transaction = Transaction {
            began_us: recorder.rows.unix(self.began_us),
            target: Target {
                engine: &recorder.engine,
                service: &service.name,
                pool: link.map_or("", |link| &link.pool.name),
                server: link.map_or("", |link| &link.server().name),
            },
            client: transactions::Client {
                address: client.from.ip().to_canonical(),
                port: client.from.port(),
                tls: "",
                user: none,
            },
            request: Request {
                protocol: Protocol::Udp,
                stream: 0,
                method: none,
                host: none,
                path: none,
                query: none,
                user_agent: none,
                referer: none,
                bytes: self.requests.1,
            },
            response: Response { status: 0, server_status: 0, bytes: self.responses.1 },
            timings: self.timings(end, now_us),
            course: transactions::Course {
                end,
                tries: self.tries,
                reused: false,
                rules: "",
                cached: Cached::Unused,
            },
        };
        let served = link.map(|link| (&*link.pool, link.server));
        analytics::count(recorder.thread, &transaction, service, served);
        recorder.rows.push(&transaction);
    }
}

/// What a client and its server exchange, until silence, a limit or an error ends it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Client,
    /// Number of the listener.
    pub(super) listener: usize,
    pub(super) link: Link,
    pub(super) course: Course,
    /// Servers that failed since the last response.
    pub(super) tried: Vec<u16>,
    /// The only datagram so far, until there is a response: another server gets it if this one refuses it.
    held: Option<Box<[u8]>>,
}

impl Session {
    pub(super) fn new(client: Client, listener: usize, link: Link) -> Self {
        Self { client, listener, link, course: Course::default(), tried: Vec::new(), held: None }
    }

    /// Notes that a datagram has left for the server.
    pub(super) fn passed(&mut self, datagram: &[u8], now_us: u64) {
        if self.course.passed_us == 0 {
            self.course.passed_us = now_us;
        }
        let only = self.course.requests.0 == 1 && self.course.responses.0 == 0;
        let repeatable = datagram.len() <= HELD_MAX && self.link.pool.retries.count > 0;
        self.held = (only && repeatable).then(|| datagram.into());
    }

    /// Notes responses.
    pub(super) fn answered(&mut self, count: usize, bytes: usize, core: &Core) {
        self.held = None;
        self.tried.clear();
        self.link.pool.succeeded(self.link.server);
        if self.course.responses(count, bytes, core.now_us) {
            let time_us = core.now_us.saturating_sub(self.course.passed_us);
            self.link.server().shared.response_time.add(time_us, core.now_ms());
        }
    }

    /// Whether each datagram has as many responses as it should get; 0: there is no such number.
    pub(super) fn is_complete(&self, responses: u32) -> bool {
        responses > 0 && self.course.responses.0 >= self.course.requests.0 * u64::from(responses)
    }

    /// Another server gets the session.
    pub(super) fn moved(&mut self, link: Link) {
        self.link = link;
        self.course.tries = self.course.tries.saturating_add(1);
    }

    /// Another server gets the datagram that the one before has refused.
    pub(super) fn repeat(&mut self, now_us: u64) {
        if let Some(datagram) = &self.held {
            // If this server refuses it, too, its own ICMP error says so.
            let _reported_later = self.link.send(datagram);
            self.course.passed_us = now_us;
        }
    }
}
