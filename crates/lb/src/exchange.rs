//! One request and its response.

mod cached;
mod copied;
mod decision;
mod repeat;
mod scripted;
mod stored;
mod trailers;

use proxying::http1::{self, Body, Framing, HeadEnd, Piece, Refusal, Request, Version};

use crate::auth::{Halt, Task};
use crate::compression::{Acceptance, Coded};
use crate::config::Protocol;
use crate::core::Core;
use crate::local::Local;
use crate::mirror::Copy;
use crate::peer::Peer;
use crate::policy::Applied;
use crate::request;
use crate::route::{Failure, Route, Upstream};
use crate::session::{Session, State, Step};
use crate::uplink::Opening;
use cached::Caching;
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
    /// What rules and scripts change.
    pub(crate) applied: Applied,
    /// Names in Connection: trailers with them end here.
    nominated: Vec<Vec<u8>>,
    /// The codings that the client accepts; `None`: the response is not compressed.
    pub(crate) accepted: Option<Acceptance>,
    pub(crate) caching: Caching,
}

impl Plan {
    fn of(request: &Request<'_>, applied: Applied, http2: bool) -> Self {
        Self {
            version: request.version,
            to_head: request.method == b"HEAD",
            keep_alive: request.keep_alive,
            websocket: request.websocket,
            trailers: request.accepts_trailers,
            idempotent: request.is_idempotent(),
            chunked: request.framing == Framing::Chunked && !http2,
            grpc: request.version.has_streams() && request::is_grpc(request),
            applied,
            nominated: trailers::nominated(request),
            accepted: None,
            caching: Caching::default(),
        }
    }
}

/// Position within the response.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The head arrives.
    Head(HeadEnd),
    /// The body arrives; it is written in chunks or as it is.
    Body { body: Body, chunked: bool },
    /// The body arrives and is compressed.
    Coded(Box<Coded>),
    /// The content is sent as it is stored.
    Stored,
    /// All of it is written.
    Done,
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) plan: Plan,
    body: Body,
    /// The copy for a mirror, until it is sent.
    copy: Option<Box<Copy>>,
    /// Bytes of the body so far.
    received: u64,
    /// The last byte is in the buffer for the server.
    complete: bool,
    /// Header block of the trailers for a server of HTTP/2; empty: there are none.
    trailers: Vec<u8>,
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
    /// One whose head has been read.
    fn new(plan: Plan, body: Body) -> Self {
        Self {
            complete: body.has_ended(),
            body,
            copy: None,
            plan,
            trailers: Vec::new(),
            received: 0,
            sent: 0,
            intact: true,
            refused: false,
            repeated: 0,
            reply: Reply::Head(HeadEnd::default()),
            reusable: false,
        }
    }

    /// Whether the request has left completely.
    pub(crate) fn is_sent(&self) -> bool {
        self.complete || self.refused
    }

    /// Whether bytes of the client are missing: content of HTTP/2 ends with them, and trailers may wait for room.
    fn lacks_content(&self) -> bool {
        !self.is_sent() && !self.body.has_ended() && self.body != Body::UntilClose
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
    /// A password must be checked first; whether the method is HEAD.
    Check(Box<Task>, bool),
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
        if let Ok(Outcome::Check(task, to_head)) = outcome {
            // The request begins again when the result is known.
            self.input = input;
            return self.wait_for(*task, to_head, core);
        }
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
            Ok(Outcome::Check(task, to_head)) => self.wait_for(*task, to_head, core),
            Ok(Outcome::Forward(exchange, mut route)) => {
                let stored = matches!(route.upstream, Upstream::Stored(_));
                if !stored && !self.address(&exchange, &mut route, core) {
                    return self.refuse(Refusal::HeadTooLarge.status(), core);
                }
                self.exchange = Some(exchange);
                self.route = Some(route);
                self.state = State::Exchange;
                self.launch_copy(core);
                Step::Again
            }
        }
    }

    /// Prepares the head in [`Core::scratch`] for the server; false: it is too large.
    fn address(&self, exchange: &Exchange, route: &mut Route, core: &mut Core) -> bool {
        route.pool.count_request(core.now_ms());
        if route.pool.protocol == Protocol::Http2 {
            let patience_ms = self.service.timeouts.server;
            let (block, end) = (core.scratch.clone(), exchange.complete);
            route.opening = Opening { block, end, patience_ms };
            return true;
        }
        route.to_server.push(&core.scratch, &mut core.hub.buffers)
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
        let respond = |local: Local| {
            let local = if to_head { local.for_head() } else { local };
            Ok(Outcome::Respond(local, keep))
        };
        let forward = match self.decide(request, core) {
            Err(Halt::Check(task)) => return Ok(Outcome::Check(task, to_head)),
            Err(Halt::Respond(local)) => {
                self.awaits = None;
                return respond(local);
            }
            Err(Halt::Fail) => {
                self.awaits = None;
                self.note_end(End::ScriptFailed);
                return respond(Local::text(Failure::Script.status()));
            }
            Ok(forward) => forward,
        };
        self.awaits = None;
        if let Some(draft) = &mut self.draft {
            draft.rules(&forward.applied.rules);
        }
        let http2 = forward.pool.protocol == Protocol::Http2;
        if http2 && request.websocket {
            return Ok(Outcome::Respond(Local { status: 501, ..Local::default() }, keep));
        }
        Ok(self.by_cache(request, forward, keep, core))
    }

    /// A request is being served.
    pub(crate) fn exchange(&mut self, core: &mut Core) -> Step {
        let (entry, ends) = (self.entry, (self.source, self.destination));
        if self.awaits_equal()
            && let Some(step) = self.look_again(core)
        {
            return step;
        }
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
        exchange.copy.take_if(|copy| copy.is_late(core.now_ms()));
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
                Ok(moved) => {
                    progress |= moved;
                    self.launch_copy(core);
                }
                Err(refusal) if self.is_unanswered() => {
                    return Err(self.refuse(refusal, core));
                }
                Err(_) => return Err(Step::Close),
            }
        }
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        if exchange.lacks_content() && self.client.eof() && self.input.is_empty() {
            return Err(Step::Close);
        }
        let Upstream::Ready(link) = &mut route.upstream else { return Ok(progress) };
        let unsent = &route.to_server.data()[exchange.sent..];
        if exchange.refused {
            return Ok(progress);
        }
        if unsent.is_empty() {
            if let (true, Peer::Stream(server)) = (exchange.complete, &mut link.peer) {
                server.end_message(&exchange.trailers, &mut core.hub);
            }
            return Ok(progress);
        }
        let written = match &mut link.peer {
            Peer::Stream(server) => {
                let last = exchange.complete && exchange.trailers.is_empty();
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
                // The rest of the request is not read.
                exchange.copy = None;
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
                    exchange.copy.take_if(|copy| !copy.add(data));
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
                    self.input.consume(length);
                    return Ok(self.end_content(core) || progress || length > 0);
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
        let sent = exchange.has_left(&route);
        if let Some(course) = exchange.plan.caching.course {
            course.complete();
        }
        let clean = route.from_server.is_empty();
        route.to_server.clear(&mut core.hub.buffers);
        route.from_server.clear(&mut core.hub.buffers);
        if let Some(link) = route.take_link() {
            core.release(*link, sent && clean && exchange.reusable);
        }
        match &mut self.client {
            Peer::Socket(_) => {}
            Peer::Stream(_) => return Step::Close,
            Peer::Copy(copy) => {
                copy.responded();
                return Step::Close;
            }
        }
        self.state = match (sent, exchange.plan.keep_alive) {
            (true, true) => State::Request,
            (true, false) => State::Part,
            (false, _) => State::Linger,
        };
        if self.flush(core).is_none() { Step::Close } else { Step::Again }
    }

    /// Whether the client has got nothing of a response yet.
    pub(crate) fn is_unanswered(&self) -> bool {
        let reply = self.exchange.as_ref().map(|exchange| &exchange.reply);
        matches!(reply, None | Some(Reply::Head(_)))
    }
}
