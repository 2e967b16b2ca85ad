//! Responses: those of servers as the client gets them, and those of the balancer itself.

mod bulk;
mod composed;

use std::io;

use proxying::http1::{self, Body, HeadEnd, Limits, Piece, Response, Version};
use proxying::http2::message;

use crate::cache::{Course, Moment, Reaction, Serving};
use crate::compression::{Offer, reply};
use crate::core::Core;
use crate::exchange::Reply;
use crate::form::{Form, OVERHEAD};
use crate::local::{Local, reason};
use crate::mux::Hub;
use crate::peer::Peer;
use crate::request;
use crate::route::{Failure, Upstream};
use crate::script::Refused;
use crate::session::{Session, State, Step};
pub(crate) use composed::{Composed, is_endless};
use transactions::{Cached, End};

/// Largest head of a server's response.
const HEAD_LIMITS: Limits = Limits { target: 16_384, head: 16_384, fields: 256 };

/// What a server's head has led to.
enum Answered {
    /// It is on its way.
    Head,
    /// A WebSocket connection begins.
    Tunnel,
    /// It is not understood.
    Malformed,
    /// A script has failed, and the client gets an error.
    Refused,
    /// Another server is asked, for this status.
    Another(u16),
    /// The client gets a stored one; whether the connection to the server may be kept.
    Stored(Serving, bool),
}

impl Session {
    /// Moves the response towards the client.
    pub(crate) fn download(&mut self, core: &mut Core) -> Result<bool, Step> {
        if matches!(self.route.as_ref().map(|route| &route.upstream), Some(Upstream::Stored(_))) {
            return self.download_stored(core);
        }
        let mut progress = self.flush(core).ok_or(Step::Close)? > 0;
        let Some(Upstream::Ready(link)) = self.route.as_mut().map(|route| &mut route.upstream)
        else {
            return Ok(progress);
        };
        if link.peer.flush().is_err() {
            return Err(self.server_failed(Failure::Closed, core));
        }
        let mut drained = true;
        let moved = self.move_body(core);
        if let Some(route) = &mut self.route
            && let Upstream::Ready(link) = &mut route.upstream
        {
            let filled = match moved {
                Some(moved) => moved,
                None => link.peer.fill(&mut route.from_server, &mut core.hub),
            };
            match filled {
                Ok(length) => {
                    drained = length == 0;
                    progress |= !drained;
                }
                Err(_) => {
                    link.peer.set_eof();
                    link.broken = true;
                }
            }
        }
        loop {
            let replied = match self.exchange.as_ref().map(|exchange| &exchange.reply) {
                Some(Reply::Head(_)) => self.reply_head(core)?,
                Some(Reply::Body { .. }) if matches!(self.client, Peer::Stream(_)) => {
                    self.reply_content(core)?
                }
                Some(Reply::Body { .. }) => self.reply_body(core)?,
                Some(Reply::Coded(_)) => self.reply_coded(drained, core)?,
                Some(Reply::Stored | Reply::Done) | None => return Ok(progress),
            };
            if !replied {
                break;
            }
            progress = true;
        }
        // A head and the start of its body leave in one segment.
        progress |= self.flush(core).ok_or(Step::Close)? > 0;
        Ok(progress)
    }

    fn reply_head(&mut self, core: &mut Core) -> Result<bool, Step> {
        if !self.output.is_empty() {
            return Ok(false);
        }
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        let Upstream::Ready(link) = &mut route.upstream else { return Ok(false) };
        let Reply::Head(end) = &mut exchange.reply else { return Ok(false) };
        let to_head = exchange.plan.to_head;
        let answered = if let Peer::Stream(stream) = &link.peer {
            let mux = core.hub.muxes.get_mut(stream.mux);
            match mux.and_then(|mux| mux.take_head(stream.number)) {
                None if link.peer.eof() => {
                    return Err(self.server_failed(Failure::Closed, core));
                }
                None => return Ok(false),
                Some((list, _)) if list.too_large => Answered::Malformed,
                Some((list, end)) => {
                    match message::response(&list.fields, end, to_head, &HEAD_LIMITS) {
                        Ok(response) => self.answer(&response, core),
                        Err(_) => Answered::Malformed,
                    }
                }
            }
        } else {
            let length = match end.find(route.from_server.data(), &HEAD_LIMITS) {
                Ok(Some(length)) => length,
                Ok(None) if link.peer.eof() => {
                    return Err(self.server_failed(Failure::Closed, core));
                }
                Ok(None) => return Ok(false),
                Err(_) => return Err(self.server_failed(Failure::Malformed, core)),
            };
            let mut bytes = std::mem::take(&mut route.from_server);
            let answered = match Response::parse(&bytes.data()[..length], to_head, &HEAD_LIMITS) {
                Ok(response) => self.answer(&response, core),
                Err(_) => Answered::Malformed,
            };
            bytes.consume(length);
            if let Some(route) = &mut self.route {
                route.from_server = bytes;
            }
            answered
        };
        match answered {
            Answered::Head => Ok(true),
            Answered::Tunnel => Err(Step::Again),
            Answered::Malformed => Err(self.server_failed(Failure::Malformed, core)),
            Answered::Refused => Err(self.refuse_for_script(core)),
            Answered::Another(status) => Err(self.ask_another(status, core)),
            Answered::Stored(serving, keep) => Err(self.turn_to_stored(serving, keep, core)),
        }
    }

    /// A server's head goes to the client.
    fn answer(&mut self, response: &Response<'_>, core: &mut Core) -> Answered {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Answered::Malformed;
        };
        let Upstream::Ready(link) = &route.upstream else { return Answered::Malformed };
        let (server, plan) = (link.server, &exchange.plan);
        core.scratch.clear();
        if response.status == 101 {
            if !plan.websocket || !response.is_websocket() {
                return Answered::Malformed;
            }
            let head = Composed { exchange, route, server: Some(server), offer: Offer::Same };
            head.write(&mut core.scratch, response, &self.service);
            route.pool.succeeded(server);
            if let Some(draft) = &mut self.draft {
                draft.answered(101, core.now_us);
                // What follows ends with the connection.
                draft.end = End::Complete;
            }
            exchange.end_request(route);
            self.send_head(false, core);
            self.exchange = None;
            self.state = State::Tunnel;
            return Answered::Tunnel;
        }
        let interim = response.status < 200;
        if exchange.is_repeated_for(response.status, route, core.now_ms()) {
            route.pool.succeeded(server);
            return Answered::Another(response.status);
        }
        if !interim && let Some(answered) = self.divert(response, core) {
            return answered;
        }
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Answered::Malformed;
        };
        let plan = &exchange.plan;
        let written = !interim || plan.version.has_interim();
        let (offer, coded) = match &plan.accepted {
            Some(_) if interim => (Offer::Same, None),
            accepted => reply::begin(accepted.as_ref(), response, &self.service, core),
        };
        if written {
            let head = Composed { exchange, route, server: Some(server), offer };
            head.write(&mut core.scratch, response, &self.service);
        }
        let framing = response.framing;
        let ended = !interim && Body::new(framing).has_ended();
        if interim {
            exchange.reply = Reply::Head(HeadEnd::default());
        } else {
            let endless = is_endless(framing, offer);
            let chunked = endless && plan.version.has_chunks();
            exchange.reply = match (&self.client, coded) {
                (_, Some(coded)) => Reply::Coded(coded.in_chunks(chunked)),
                (Peer::Stream(_), None) if ended => Reply::Done,
                _ => Reply::Body { body: Body::new(framing), chunked },
            };
            exchange.reusable = response.keep_alive;
            if endless && plan.version == Version::Http10 {
                exchange.plan.keep_alive = false;
            }
            route.answered(server, response.status, core);
            if let Some(draft) = &mut self.draft {
                draft.answered(response.status, core.now_us);
            }
        }
        if written && !self.send_head(ended, core) { Answered::Malformed } else { Answered::Head }
    }

    /// What the cache and scripts make of a server's final response; `None`: the client gets it.
    fn divert(&mut self, response: &Response<'_>, core: &mut Core) -> Option<Answered> {
        self.leave(core);
        let cached = self.consult_cache(response, core);
        cached.or_else(|| self.run_scripts(response, core).err().map(|Refused| Answered::Refused))
    }

    /// What the cache makes of a server's final response; `None`: the client gets it.
    fn consult_cache(&mut self, response: &Response<'_>, core: &mut Core) -> Option<Answered> {
        let at = Moment { now_us: core.now_us, unix_s: core.now().unix_s };
        let exchange = self.exchange.as_mut()?;
        let (service, applied) = (&self.service, &exchange.plan.applied);
        let writes = |name: &str| request::writes(service, applied, name);
        let course = exchange.plan.caching.course.as_mut()?;
        let (serving, cached, keep) = match course.react(response, at, &writes) {
            Reaction::Forward => {
                let status = course.forwarded();
                let status = self.cache_status(|| status.to_owned());
                self.exchange.as_mut()?.plan.caching.status = status;
                return None;
            }
            Reaction::Confirmed(serving) => (serving, Cached::Revalidated, response.keep_alive),
            Reaction::StandIn(serving) => (serving, Cached::Stale, false),
        };
        let status = match cached {
            Cached::Stale => self.cache_status(|| serving.stand_in(Some(response.status))),
            _ => {
                self.cache_status(|| format!("vedette; fwd=stale; fwd-status={}", response.status))
            }
        };
        if let (Some(exchange), Some(route)) = (&mut self.exchange, &self.route) {
            exchange.plan.caching.status = status;
            if let Some(link) = route.ready() {
                route.answered(link.server, response.status, core);
            }
        }
        if let Some(draft) = &mut self.draft {
            draft.answered(response.status, core.now_us);
        }
        self.note_cached(cached);
        Some(Answered::Stored(serving, keep))
    }

    /// Sends the head in [`Core::scratch`]; false: it is too large.
    pub(crate) fn send_head(&mut self, end: bool, core: &mut Core) -> bool {
        let Some(stream) = self.client.stream() else {
            return self.output.push(&core.scratch, &mut core.hub.buffers);
        };
        let block = std::mem::take(&mut core.scratch);
        stream.send_block(&block, end, &mut core.hub);
        core.scratch = block;
        true
    }

    fn reply_body(&mut self, core: &mut Core) -> Result<bool, Step> {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return Err(Step::Close);
        };
        let Upstream::Ready(link) = &mut route.upstream else { return Ok(false) };
        let Reply::Body { body, chunked } = &mut exchange.reply else { return Ok(false) };
        let bytes = route.from_server.data();
        if !*chunked
            && self.output.is_empty()
            && let Some(sent) = pass_on(&mut self.client, body, bytes, &mut core.hub)
        {
            let sent = sent.map_err(|_| Step::Close)?;
            Course::keep(&mut exchange.plan.caching.course, &bytes[..sent]);
            route.from_server.consume(sent);
            return Ok(sent > 0);
        }
        let room = self.output.room().saturating_sub(OVERHEAD);
        let input = &bytes[..bytes.len().min(room)];
        if room == 0 {
            return Ok(false);
        }
        let Ok((length, piece)) = body.next(input) else {
            return Err(self.broken_off(End::ServerInvalid));
        };
        core.scratch.clear();
        let ended = match piece {
            Piece::Data(data) => {
                Course::keep(&mut exchange.plan.caching.course, data);
                match *chunked {
                    true => http1::chunk(&mut core.scratch, data),
                    false => core.scratch.extend_from_slice(data),
                }
                false
            }
            Piece::More if link.peer.eof() && bytes.len() == length => match body {
                Body::UntilClose if !link.broken => true,
                // The client must see that the response is incomplete.
                _ => return Err(self.broken_off(End::ServerClosed)),
            },
            Piece::More => {
                route.from_server.consume(length);
                return Ok(length > 0);
            }
            Piece::End => true,
        };
        if ended && *chunked {
            if matches!(link.peer, Peer::Stream(_)) && !self.output.is_empty() {
                // There must be room for the trailers, which can be taken once.
                return Ok(false);
            }
            let of_server = link.peer.take_trailers(&mut core.hub);
            let trailers = match &of_server {
                Some(list) => message::trailers(&list.fields),
                None => http1::trailers(body.trailers()),
            };
            let wanted = trailers.ok().filter(|_| exchange.plan.trailers);
            http1::end_of_chunks(&mut core.scratch, &wanted.unwrap_or_default());
        }
        if !self.output.push(&core.scratch, &mut core.hub.buffers) {
            // Trailers: they are written when there is room; the body tells its end again.
            route.from_server.consume(length);
            return Ok(length > 0);
        }
        route.from_server.consume(length);
        if ended {
            exchange.reply = Reply::Done;
        }
        Ok(true)
    }

    /// Responds without a server; the connection is kept if the request has ended, too.
    pub(crate) fn respond(&mut self, local: &Local, keep: bool, core: &mut Core) -> Step {
        let keep = keep && !self.leaves(core);
        let form = self.client.form();
        let bodiless = local.status == 204 || local.status == 304;
        let out = &mut core.scratch;
        out.clear();
        form.status(out, local.status, reason(local.status));
        if let Some(location) = &local.location {
            form.field(out, b"Location", location);
        }
        if let Some(seconds) = local.retry_after {
            form.field(out, b"Retry-After", seconds.to_string().as_bytes());
        }
        if let Some(content_type) = &local.content_type {
            form.field(out, b"Content-Type", content_type.as_bytes());
        }
        for (name, value) in &local.fields {
            form.field(out, name.as_bytes(), value.as_bytes());
        }
        self.service.announce(form, out);
        if !bodiless {
            form.length(out, local.length());
        }
        if !keep && form == Form::Http1 {
            out.extend_from_slice(b"Connection: close\r\n");
        }
        form.end(out);
        self.state = if keep && form == Form::Http1 { State::Request } else { State::Linger };
        let body = if bodiless { &[][..] } else { &local.body };
        let fits =
            self.send_head(body.is_empty(), core) && self.output.push(body, &mut core.hub.buffers);
        self.record_local(local.status, core);
        if fits { Step::Again } else { Step::Close }
    }

    /// Responds to a call of gRPC for a server that did not: its clients look at a status of their own,
    /// 14 (unavailable), in the only header block.
    fn respond_grpc(&mut self, status: u16, core: &mut Core) -> Step {
        let (form, out) = (self.client.form(), &mut core.scratch);
        out.clear();
        form.status(out, 200, b"");
        form.field(out, b"Content-Type", b"application/grpc");
        form.field(out, b"grpc-status", b"14");
        form.field(out, b"grpc-message", reason(status));
        self.state = State::Linger;
        self.send_head(true, core);
        self.record_local(status, core);
        Step::Again
    }

    /// Refuses the request; the connection ends, because the end of the request is unknown.
    pub(crate) fn refuse(&mut self, status: u16, core: &mut Core) -> Step {
        self.exchange = None;
        self.drop_route(core);
        if matches!(self.client, Peer::Copy(_)) {
            return Step::Close;
        }
        self.respond(&Local::text(status), false, core)
    }

    /// Responds for a server that did not.
    pub(crate) fn refuse_for(&mut self, failure: Failure, core: &mut Core) -> Step {
        let exchange = self.exchange.take();
        self.drop_route(core);
        if matches!(self.client, Peer::Copy(_)) {
            return Step::Close;
        }
        let sent = exchange.as_ref().is_some_and(|exchange| exchange.is_sent());
        let keep = sent && exchange.as_ref().is_some_and(|exchange| exchange.plan.keep_alive);
        let mut local = Local::text(failure.status());
        if exchange.as_ref().is_some_and(|exchange| exchange.plan.grpc) {
            return self.respond_grpc(local.status, core);
        }
        if exchange.is_some_and(|exchange| exchange.plan.to_head) {
            local = local.for_head();
        }
        self.respond(&local, keep, core)
    }
}

/// Bodies as they are go from one buffer to the socket: the number of bytes; `None`: this one must be
/// decoded.
fn pass_on(
    client: &mut Peer,
    body: &mut Body,
    bytes: &[u8],
    hub: &mut Hub,
) -> Option<io::Result<usize>> {
    let limit = match body {
        Body::Length(remaining) => usize::try_from(*remaining).unwrap_or(usize::MAX),
        Body::UntilClose => usize::MAX,
        Body::Chunked(_) => 0,
    };
    let offered = &bytes[..bytes.len().min(limit)];
    if offered.is_empty() {
        return None;
    }
    let sent = client.write(offered, hub);
    if let Ok(sent) = sent {
        let _counted = body.next(&offered[..sent]);
    }
    Some(sent)
}
