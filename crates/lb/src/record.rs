//! What is noted of a transaction while it runs.

use std::ops::Range;
use std::sync::Arc;

use proxying::http1::{Request, Version};
use transactions::{Cached, End, Protocol, Timings};

use crate::pool::Pool;
use crate::route::{Failure, Route, Upstream};

/// Bytes of each text that are kept.
const TEXT_MAX: usize = 2_048;

/// Moments in monotonic microseconds; 0 = it did not come to that.
#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// The first byte of the request.
    pub(crate) began_us: u64,
    /// The request was passed on.
    pub(crate) passed_us: u64,
    /// The first byte of the response.
    pub(crate) answered_us: u64,
}

/// Where the texts of a request are in [`Draft::texts`].
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) method: Range<usize>,
    pub(crate) host: Range<usize>,
    pub(crate) path: Range<usize>,
    pub(crate) query: Range<usize>,
    pub(crate) user_agent: Range<usize>,
    pub(crate) referer: Range<usize>,
    /// Who satisfied a policy of authentication.
    user: Range<usize>,
}

/// A transaction that has not ended.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) moments: Moments,
    pub(crate) protocol: Protocol,
    pub(crate) status: u16,
    pub(crate) server_status: u16,
    /// How it will end if nothing else happens.
    pub(crate) end: End,
    /// The server that responded.
    pub(crate) served: Option<Served>,
    pub(crate) tries: u8,
    pub(crate) request_bytes: u64,
    pub(crate) texts: Vec<u8>,
    pub(crate) places: Texts,
    pub(crate) rules: String,
    /// What the cache did.
    pub(crate) cached: Cached,
}

/// A server and the connection to it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) pool: Arc<Pool>,
    pub(crate) server: u16,
    pub(crate) reused: bool,
    pub(crate) connect_us: u64,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            moments: Moments::default(),
            protocol: Protocol::Http11,
            status: 0,
            server_status: 0,
            end: End::ClientClosed,
            served: None,
            tries: 0,
            request_bytes: 0,
            texts: Vec::new(),
            places: Texts::default(),
            rules: String::new(),
            cached: Cached::Unused,
        }
    }
}

impl Draft {
    /// Notes what is asked.
    pub(crate) fn request(&mut self, request: &Request<'_>) {
        self.protocol = match request.version {
            _ if request.websocket => Protocol::WebSocket,
            Version::Http10 => Protocol::Http10,
            Version::Http11 => Protocol::Http11,
            Version::Http2 => Protocol::Http2,
            Version::Http3 => Protocol::Http3,
        };
        // The request begins again when a password is checked.
        self.texts.clear();
        let target = request.target.path_and_query;
        let end = memchr::memchr(b'?', target).unwrap_or(target.len());
        let (path, query) = target.split_at(end);
        self.places = Texts {
            method: self.keep(request.method),
            host: self.keep(request.host),
            path: self.keep(path),
            query: self.keep(query.get(1..).unwrap_or_default()),
            user_agent: self.keep(request.value(b"user-agent").unwrap_or_default()),
            referer: self.keep(request.value(b"referer").unwrap_or_default()),
            user: 0..0,
        };
    }

    /// Notes the user who satisfied a policy.
    pub(crate) fn authenticated(&mut self, user: &str) {
        self.places.user = self.keep(user.as_bytes());
    }

    /// The user who satisfied a policy; `None`: no policy named one.
    pub(crate) fn user(&self) -> Option<&[u8]> {
        Some(self.text(&self.places.user)).filter(|user| !user.is_empty())
    }

    fn keep(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.texts.len();
        self.texts.extend_from_slice(&text[..text.len().min(TEXT_MAX)]);
        start..self.texts.len()
    }

    /// Notes the rules that applied, by their numbers in the service, from 1.
    pub(crate) fn rules(&mut self, matched: &[u16]) {
        for (place, rule) in matched.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            self.rules.push_str(&format!("{comma}{}", u32::from(*rule) + 1));
        }
    }

    /// Notes why no server's response is there.
    pub(crate) fn failed(&mut self, failure: Failure) {
        self.end = match failure {
            Failure::Unavailable | Failure::Full | Failure::Connect | Failure::Status(_) => {
                End::NoServer
            }
            Failure::Closed => End::ServerClosed,
            Failure::Timeout => End::ServerTimeout,
            Failure::Malformed => End::ServerInvalid,
            Failure::Script => End::ScriptFailed,
        };
    }

    /// Notes the server and the connection in use.
    pub(crate) fn served_by(&mut self, route: &Route) {
        let Upstream::Ready(link) = &route.upstream else { return };
        if self.connection() != Some((link.server, link.reused)) {
            self.tries = u8::try_from(route.wish.tried.len() + 1).unwrap_or(u8::MAX);
            self.served = Some(Served {
                pool: Arc::clone(&route.pool),
                server: link.server,
                reused: link.reused,
                connect_us: route.connect_us,
            });
        }
    }

    /// Notes that the request, or its first part, has left for a server.
    pub(crate) fn passed(&mut self, route: &Route, now_us: u64) {
        let before = self.connection();
        self.served_by(route);
        if before != self.connection() {
            self.moments.passed_us = now_us;
        }
    }

    /// The server, and whether its connection had served others before.
    fn connection(&self) -> Option<(u16, bool)> {
        self.served.as_ref().map(|served| (served.server, served.reused))
    }

    /// Another attempt begins; until it has a connection, the server is the one that failed.
    pub(crate) fn repeat(&mut self) {
        self.end = End::ClientClosed;
    }

    /// Notes the head of a server's response.
    pub(crate) fn answered(&mut self, status: u16, now_us: u64) {
        (self.status, self.server_status) = (status, status);
        self.moments.answered_us = now_us;
    }

    /// Notes the head of a stored response. A status of the server is that of the response which led to it.
    pub(crate) fn stored(&mut self, status: u16, now_us: u64) {
        self.status = status;
        if self.moments.answered_us == 0 {
            self.moments.answered_us = now_us;
        }
    }

    pub(crate) fn text(&self, place: &Range<usize>) -> &[u8] {
        self.texts.get(place.clone()).unwrap_or_default()
    }

    pub(crate) fn timings(&self, client_rtt_us: u64, now_us: u64) -> Timings {
        let Moments { began_us, passed_us, answered_us } = self.moments;
        let between = |from: u64, to: u64| match from {
            0 => 0,
            from => to.saturating_sub(from),
        };
        Timings {
            client_rtt_us,
            connect_us: self.served.as_ref().map_or(0, |served| served.connect_us),
            response_us: if answered_us == 0 { 0 } else { between(passed_us, answered_us) },
            transfer_us: between(answered_us, now_us),
            total_us: between(began_us, now_us),
        }
    }
}
