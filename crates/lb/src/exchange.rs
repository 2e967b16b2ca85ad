//! One request and its response.

use std::sync::Arc;

use proxying::http1::{self, Body, Framing, HeadEnd, Piece, Refusal, Request, Version};
use proxying::http2::frame::Code;

use crate::config::{PersistenceKind, Protocol, RetryOn};
use crate::core::Core;
use crate::mux::Cut;
use crate::peer::Peer;
use crate::policy::{self, Decision, Forward, Local};
use crate::pool::{Pool, Wish, hash};
use crate::request;
use crate::route::{Failure, Route, Upstream};
use crate::session::{Session, State, Step};
use crate::uplink::Opening;
use transactions::End;

/// What is remembered of a request once its head is forwarded.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) version: Version,
    pub(crate) to_head: bool,
    pub(crate) keep_alive: bool,
    pub(crate) websocket: bool,
    pub(crate) trailers: bool,
    idempotent: bool,
    /// Content for the server is written in chunks.
    chunked: bool,
    /// The request is one of gRPC, whose errors are trailers.
    pub(crate) grpc: bool,
    /// Rules whose header edits apply.
    pub(crate) matched: Vec<u16>,
}

/// Position within the response.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The head arrives.
    Head(HeadEnd),
    /// The body arrives; it is written in chunks or as it is.
    Body { body: Body, chunked: bool },
    /// All of it is written.
    Done,
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) plan: Plan,
    body: Body,
    /// Bytes of the body so far.
    received: u64,
    /// The last byte is in the buffer for the server.
    complete: bool,
    /// Bytes at the front of that buffer that are sent but kept for a repetition.
    sent: usize,
    /// All bytes of the request are still there.
    intact: bool,
    /// The server accepts no more bytes; it may have responded.
    refused: bool,
    repeated: u8,
    pub(crate) reply: Reply,
    /// The server's connection can carry another request.
    pub(crate) reusable: bool,
}

impl Exchange {
    /// Whether the request has left completely.
    pub(crate) fn is_sent(&self) -> bool {
        self.complete || self.refused
    }

    /// The request is not repeated: what has been sent of it is no longer kept.
    pub(crate) fn end_request(&mut self, route: &mut Route) {
        self.intact = false;
        route.to_server.consume(self.sent);
        self.sent = 0;
    }
}

/// What the head of a request leads to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Respond(Local, bool),
    Forward(Box<Exchange>, Box<Route>),
}

impl Session {
    /// Between two requests, or within the head of one.
    pub(crate) fn request(&mut self, core: &mut Core) -> Step {
        if self.flush(core).is_none() {
            return Step::Close;
        }
        if !self.output.is_empty() {
            return Step::Wait;
        }
        // RFC 9112, 2.2: empty lines before a request are ignored.
        while self.input.data().starts_with(b"\r\n") {
            self.input.consume(2);
        }
        match self.input.data() {
            [] | [b'\r'] => return self.read(core),
            [first, ..] => {
                let valid = first.is_ascii_graphic();
                self.note_begin(core);
                if !valid {
                    return self.refuse(400, core);
                }
            }
        }
        match self.end.find(self.input.data(), &self.service.limits) {
            Ok(None) => self.read(core),
            Ok(Some(length)) => self.head(length, core),
            Err(refusal) => self.refuse(refusal.status(), core),
        }
    }

    fn head(&mut self, length: usize, core: &mut Core) -> Step {
        self.end = HeadEnd::default();
        self.refresh(core);
        let mut input = std::mem::take(&mut self.input);
        let limits = self.service.limits;
        let outcome = Request::parse(&input.data()[..length], &limits)
            .and_then(|request| self.plan(&request, core));
        input.consume(length);
        self.input = input;
        self.begin_exchange(outcome, core)
    }

    pub(crate) fn begin_exchange(
        &mut self,
        outcome: Result<Outcome, Refusal>,
        core: &mut Core,
    ) -> Step {
        match outcome {
            Err(refusal) => self.refuse(refusal.status(), core),
            Ok(Outcome::Respond(local, keep)) => self.respond(&local, keep, core),
            Ok(Outcome::Forward(exchange, mut route)) => {
                route.pool.count_request(core.now_ms());
                if route.pool.protocol == Protocol::Http2 {
                    route.opening = Opening { block: core.scratch.clone(), end: exchange.complete };
                } else if !route.to_server.push(&core.scratch, &mut core.hub.buffers) {
                    return self.refuse(Refusal::HeadTooLarge.status(), core);
                }
                self.exchange = Some(exchange);
                self.route = Some(route);
                self.state = State::Exchange;
                Step::Again
            }
        }
    }

    pub(crate) fn plan(
        &mut self,
        request: &Request<'_>,
        core: &mut Core,
    ) -> Result<Outcome, Refusal> {
        let service = &self.service;
        if let Some(draft) = &mut self.draft {
            draft.request(request);
        }
        let keep = request.keep_alive && request.framing == Framing::None;
        let to_head = request.method == b"HEAD";
        if matches!(request.framing, Framing::Length(length) if length > service.body_max) {
            return Ok(Outcome::Respond(Local { status: 413, ..Local::default() }, false));
        }
        let forward = match policy::decide(&service.rules, &service.pool, request) {
            Decision::Respond(mut local) => {
                if to_head {
                    local.body.clear();
                }
                return Ok(Outcome::Respond(local, keep));
            }
            Decision::Forward(forward) => forward,
        };
        if let Some(draft) = &mut self.draft {
            draft.rules(&forward.matched);
        }
        let http2 = forward.pool.protocol == Protocol::Http2;
        if http2 && request.websocket {
            return Ok(Outcome::Respond(Local { status: 501, ..Local::default() }, keep));
        }
        core.scratch.clear();
        request::compose(&mut core.scratch, request, &forward, self);
        let wish = self.wish(request, &forward.pool);
        let plan = Plan {
            version: request.version,
            to_head,
            keep_alive: request.keep_alive,
            websocket: request.websocket,
            trailers: request.accepts_trailers,
            idempotent: request.is_idempotent(),
            chunked: request.framing == Framing::Chunked && !http2,
            grpc: request.version == Version::Http2 && request::is_grpc(request),
            matched: forward.matched,
        };
        let Forward { pool, .. } = forward;
        // Content of HTTP/2 is not in chunks; its end is that of the stream.
        let body = match (plan.version, request.framing) {
            (Version::Http2, Framing::Chunked) => Body::UntilClose,
            (_, framing) => Body::new(framing),
        };
        let exchange = Exchange {
            complete: body.has_ended(),
            body,
            plan,
            received: 0,
            sent: 0,
            intact: true,
            refused: false,
            repeated: 0,
            reply: Reply::Head(HeadEnd::default()),
            reusable: false,
        };
        Ok(Outcome::Forward(Box::new(exchange), Box::new(Route::new(pool, wish))))
    }

    fn wish(&self, request: &Request<'_>, pool: &Arc<Pool>) -> Wish {
        use crate::config::Algorithm;
        let by_header = |name: &str| request.value(name.as_bytes()).map(hash);
        let key = match &pool.persistence {
            Some((PersistenceKind::Header, name)) => by_header(name),
            _ => None,
        };
        let key = key.or_else(|| match pool.algorithm {
            Algorithm::UriHash => Some(hash(request.target.path_and_query)),
            Algorithm::HeaderHash => pool.hash_key.as_deref().and_then(by_header),
            _ => self.source_hash(pool),
        });
        let sticky = match &pool.persistence {
            Some((PersistenceKind::Cookie, name)) => {
                request.cookie(name.as_bytes()).and_then(|value| pool.by_cookie(value))
            }
            _ => None,
        };
        Wish { hash: key, sticky, tried: Vec::new() }
    }

    /// A request is being served.
    pub(crate) fn exchange(&mut self, core: &mut Core) -> Step {
        let (entry, ends) = (self.entry, (self.source, self.destination));
        let Some(route) = &mut self.route else { return Step::Close };
        let ready = match route.advance(core, entry, ends) {
            Ok(ready) => ready,
            Err(failure) => return self.server_failed(failure, core),
        };
        let uploaded = match self.upload(core) {
            Ok(progress) => progress,
            Err(step) => return step,
        };
        if !ready {
            return Step::again_if(uploaded);
        }
        if let (Some(draft), Some(route)) = (&mut self.draft, &self.route) {
            draft.passed(route, core.now_us);
        }
        let downloaded = match self.download(core) {
            Ok(progress) => progress,
            Err(step) => return step,
        };
        let finished =
            matches!(&self.exchange, Some(exchange) if matches!(exchange.reply, Reply::Done));
        if finished {
            return self.finish(core);
        }
        Step::again_if(uploaded || downloaded)
    }

    /// Moves the request's body towards the server.
    fn upload(&mut self, core: &mut Core) -> Result<bool, Step> {
        let Some(exchange) = &mut self.exchange else { return Err(Step::Close) };
        let mut progress = false;
        // Also after the request: a client that resets the connection wants no response.
        let reads = !exchange.is_sent() || self.input.is_empty();
        if reads && self.client.readable() {
            match self.client.fill(&mut self.input, &mut core.hub) {
                Err(_) => return Err(Step::Close),
                Ok(length) => progress |= length > 0,
            }
        }
        if !exchange.is_sent() {
            match self.decode(core) {
                Ok(moved) => progress |= moved,
                Err(refusal) if self.is_unanswered() => {
                    return Err(self.refuse(refusal, core));
                }
                Err(_) => return Err(Step::Close),
            }
        }
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        if !exchange.is_sent() && self.client.eof() && self.input.is_empty() {
            return Err(Step::Close);
        }
        let Upstream::Ready(link) = &mut route.upstream else { return Ok(progress) };
        let unsent = &route.to_server.data()[exchange.sent..];
        if exchange.refused {
            return Ok(progress);
        }
        if unsent.is_empty() {
            if let (true, Peer::Stream(server)) = (exchange.complete, &mut link.peer) {
                server.end_request(&self.client, &mut core.hub);
            }
            return Ok(progress);
        }
        let written = match &mut link.peer {
            Peer::Stream(server) => {
                let trailers =
                    self.client.stream().is_some_and(|client| client.has_trailers(&core.hub));
                let last = exchange.complete && !trailers;
                Ok(server.send_all(unsent, last, &mut core.hub))
            }
            server => server.write(unsent, &mut core.hub),
        };
        match written {
            Ok(length) => {
                exchange.sent += length;
                if !exchange.intact {
                    route.to_server.consume(exchange.sent);
                    exchange.sent = 0;
                }
                progress |= length > 0;
            }
            Err(_) => {
                // The server may have responded before it closed.
                exchange.refused = true;
                link.peer.expect_end();
                progress = true;
            }
        }
        Ok(progress)
    }

    /// Decodes the request's body into the buffer for the server; an error is a status.
    fn decode(&mut self, core: &mut Core) -> Result<bool, u16> {
        /// Size and ends of one chunk, and the last chunk.
        const OVERHEAD: usize = 32;
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Ok(false);
        };
        let mut progress = false;
        loop {
            let room = route.to_server.room().saturating_sub(OVERHEAD);
            if room == 0 {
                if exchange.intact && exchange.sent > 0 {
                    // Too large to be repeated.
                    exchange.end_request(route);
                    continue;
                }
                return Ok(progress);
            }
            let input = self.input.data();
            let input = &input[..input.len().min(room)];
            let (length, piece) = exchange.body.next(input).map_err(|refusal| refusal.status())?;
            let ended = input.is_empty() && self.client.eof() && exchange.body == Body::UntilClose;
            let piece = if ended { Piece::End } else { piece };
            core.scratch.clear();
            match piece {
                Piece::Data(data) => {
                    exchange.received += data.len() as u64;
                    if exchange.received > self.service.body_max {
                        return Err(413);
                    }
                    if exchange.plan.chunked {
                        http1::chunk(&mut core.scratch, data);
                    } else {
                        core.scratch.extend_from_slice(data);
                    }
                }
                Piece::More => {
                    self.input.consume(length);
                    return Ok(progress || length > 0);
                }
                Piece::End => {
                    if exchange.plan.chunked {
                        // Trailers of a request end here: few servers read them.
                        http1::end_of_chunks(&mut core.scratch, &[]);
                    }
                    exchange.complete = true;
                }
            }
            // It fits: the input was no longer than the room.
            let _fits = route.to_server.push(&core.scratch, &mut core.hub.buffers);
            self.input.consume(length);
            progress = true;
            if exchange.body.has_ended() && !matches!(exchange.body, Body::Chunked(_)) {
                exchange.complete = true;
            }
            if exchange.complete {
                return Ok(true);
            }
        }
    }

    /// The response is written: the connections are kept or closed.
    fn finish(&mut self, core: &mut Core) -> Step {
        let (Some(exchange), Some(mut route)) = (self.exchange.take(), self.route.take()) else {
            return Step::Close;
        };
        self.note_end(End::Complete);
        self.record(core);
        let sent =
            exchange.complete && !exchange.refused && exchange.sent == route.to_server.data().len();
        let clean = route.from_server.is_empty();
        route.to_server.clear(&mut core.hub.buffers);
        route.from_server.clear(&mut core.hub.buffers);
        if let Some(link) = route.take_link() {
            core.release(*link, sent && clean && exchange.reusable);
        }
        if self.client.stream().is_some() {
            return Step::Close;
        }
        self.state = if exchange.plan.keep_alive && sent { State::Request } else { State::Linger };
        if self.flush(core).is_none() { Step::Close } else { Step::Again }
    }

    /// Whether the client has got nothing of a response yet.
    pub(crate) fn is_unanswered(&self) -> bool {
        let reply = self.exchange.as_ref().map(|exchange| &exchange.reply);
        matches!(reply, None | Some(Reply::Head(_)))
    }

    /// A server did not do its part: the request is repeated, or the client is told.
    pub(crate) fn server_failed(&mut self, failure: Failure, core: &mut Core) -> Step {
        let unanswered = self.is_unanswered();
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Step::Close;
        };
        // That no other server is left says less than what the last one did.
        let reason = match failure {
            Failure::Unavailable | Failure::Full => route.before.unwrap_or(failure),
            failure => failure,
        };
        let link = route.take_link();
        let cut = link.as_ref().and_then(|link| match &link.peer {
            Peer::Stream(stream) => stream.cut(&core.hub),
            Peer::Socket(_) => None,
        });
        // What a server has not processed is sent once more.
        let refused = cut == Some(Cut::Refused) && !route.fresh;
        let stale = link.as_ref().is_some_and(|link| {
            link.reused && failure == Failure::Closed && route.from_server.is_empty()
        });
        let stale = refused || (stale && !matches!(cut, Some(Cut::Reset(_))));
        if let Some(link) = link {
            if !stale {
                route.wish.tried.push(link.server);
                route.pool.failed(link.server, core.now_ms());
            }
            core.release(*link, false);
        }
        if let Some(draft) = &mut self.draft {
            draft.failed(reason);
        }
        if let (Some(Cut::Reset(code)), Some(stream)) = (cut, self.client.stream()) {
            // A reset stays one.
            stream.code = Code::of(code);
            return Step::Close;
        }
        if !unanswered {
            return Step::Close;
        }
        let on = match failure {
            Failure::Connect => Some(RetryOn::Connect),
            Failure::Closed if exchange.plan.idempotent => Some(RetryOn::Closed),
            Failure::Timeout if exchange.plan.idempotent => Some(RetryOn::Timeout),
            _ => None,
        };
        // A kept connection that the server closed meanwhile is no failure of the server.
        let nothing_sent = exchange.sent == 0 && cut.is_none();
        let free = refused || (stale && (exchange.plan.idempotent || nothing_sent));
        let repeat = exchange.intact
            && (free || on.is_some_and(|on| route.pool.may_repeat(on, exchange.repeated)));
        if !repeat {
            return self.refuse_for(reason, core);
        }
        if let Some(draft) = &mut self.draft {
            draft.repeat();
        }
        exchange.repeated += u8::from(!free);
        exchange.sent = 0;
        exchange.refused = false;
        exchange.reply = Reply::Head(HeadEnd::default());
        route.fresh = free;
        route.before = Some(reason);
        route.from_server.clear(&mut core.hub.buffers);
        Step::Again
    }
}
