//! Responses: those of servers as the client gets them, and those of the balancer itself.

use std::io;

use proxying::http1::{self, Body, Framing, HeadEnd, Known, Limits, Piece, Response, Version};
use proxying::http2::message;

use crate::config::PersistenceKind;
use crate::core::Core;
use crate::exchange::{Exchange, Reply};
use crate::form::Form;
use crate::mux::Hub;
use crate::peer::Peer;
use crate::policy::Local;
use crate::route::{Failure, Route, Upstream};
use crate::session::{Session, State, Step};
use transactions::End;

/// Largest head of a server's response.
const HEAD_LIMITS: Limits = Limits { target: 16_384, head: 16_384, fields: 256 };
/// Size and ends of one chunk, and the last chunk without trailers.
const OVERHEAD: usize = 32;

/// What a server's head has led to.
enum Answered {
    /// It is on its way.
    Head,
    /// A WebSocket connection begins.
    Tunnel,
    /// It is not understood.
    Malformed,
}

impl Session {
    /// Moves the response towards the client.
    pub(crate) fn download(&mut self, core: &mut Core) -> Result<bool, Step> {
        let mut progress = self.flush(core).ok_or(Step::Close)? > 0;
        let Some(Upstream::Ready(link)) = self.route.as_mut().map(|route| &mut route.upstream)
        else {
            return Ok(progress);
        };
        if link.peer.flush().is_err() {
            return Err(self.server_failed(Failure::Closed, core));
        }
        if let Some(route) = &mut self.route
            && let Upstream::Ready(link) = &mut route.upstream
        {
            match link.peer.fill(&mut route.from_server, &mut core.hub) {
                Ok(length) => progress |= length > 0,
                Err(_) => {
                    link.peer.set_eof();
                    link.broken = true;
                }
            }
        }
        loop {
            let replied = match self.exchange.as_ref().map(|exchange| &exchange.reply) {
                Some(Reply::Head(_)) => self.reply_head(core)?,
                Some(Reply::Body { .. }) if self.client.socket().is_some() => {
                    self.reply_body(core)?
                }
                Some(Reply::Body { .. }) => self.reply_content(core)?,
                Some(Reply::Done) | None => return Ok(progress),
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
            compose(&mut core.scratch, response, exchange, route, server, &self.service);
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
        let written = !interim || plan.version.has_interim();
        if written {
            compose(&mut core.scratch, response, exchange, route, server, &self.service);
        }
        let framing = response.framing;
        let ended = !interim && Body::new(framing).has_ended();
        if interim {
            exchange.reply = Reply::Head(HeadEnd::default());
        } else {
            let endless = matches!(framing, Framing::Chunked | Framing::UntilClose);
            let chunked = endless && plan.version.has_chunks();
            exchange.reply = match self.client {
                Peer::Stream(_) if ended => Reply::Done,
                _ => Reply::Body { body: Body::new(framing), chunked },
            };
            exchange.reusable = response.keep_alive;
            if endless && plan.version == Version::Http10 {
                exchange.plan.keep_alive = false;
            }
            route.pool.succeeded(server);
            if let Some(draft) = &mut self.draft {
                draft.answered(response.status, core.now_us);
            }
        }
        if written && !self.send_head(ended, core) { Answered::Malformed } else { Answered::Head }
    }

    /// Sends the head in [`Core::scratch`]; false: it is too large.
    fn send_head(&mut self, end: bool, core: &mut Core) -> bool {
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
            Piece::Data(data) if *chunked => {
                http1::chunk(&mut core.scratch, data);
                false
            }
            Piece::Data(data) => {
                core.scratch.extend_from_slice(data);
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
        let form = Form::of(&self.client);
        let bodiless = local.status == 204 || local.status == 304;
        let out = &mut core.scratch;
        out.clear();
        form.status(out, local.status, reason(local.status));
        if let Some(location) = &local.location {
            form.field(out, b"Location", location);
        }
        if let Some(content_type) = &local.content_type {
            form.field(out, b"Content-Type", content_type.as_bytes());
        }
        if !bodiless {
            form.length(out, local.body.len() as u64);
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
        let out = &mut core.scratch;
        out.clear();
        Form::Http2.status(out, 200, b"");
        Form::Http2.field(out, b"Content-Type", b"application/grpc");
        Form::Http2.field(out, b"grpc-status", b"14");
        Form::Http2.field(out, b"grpc-message", reason(status));
        self.state = State::Linger;
        self.send_head(true, core);
        self.record_local(status, core);
        Step::Again
    }

    /// Refuses the request; the connection ends, because the end of the request is unknown.
    pub(crate) fn refuse(&mut self, status: u16, core: &mut Core) -> Step {
        self.exchange = None;
        self.drop_route(core);
        self.respond(&text(status), false, core)
    }

    /// Responds for a server that did not.
    pub(crate) fn refuse_for(&mut self, failure: Failure, core: &mut Core) -> Step {
        let exchange = self.exchange.take();
        self.drop_route(core);
        let sent = exchange.as_ref().is_some_and(|exchange| exchange.is_sent());
        let keep = sent && exchange.as_ref().is_some_and(|exchange| exchange.plan.keep_alive);
        let mut local = text(failure.status());
        if exchange.as_ref().is_some_and(|exchange| exchange.plan.grpc) {
            return self.respond_grpc(local.status, core);
        }
        if exchange.is_some_and(|exchange| exchange.plan.to_head) {
            local.body.clear();
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

/// A response that says no more than its status.
fn text(status: u16) -> Local {
    let mut body = Vec::new();
    http1::number(&mut body, u64::from(status));
    body.push(b' ');
    body.extend_from_slice(reason(status));
    body.push(b'\n');
    let content_type = Some("text/plain; charset=utf-8".to_owned());
    Local { status, location: None, content_type, body }
}

/// Writes the head of a server's response for the client.
fn compose(
    out: &mut Vec<u8>,
    response: &Response<'_>,
    exchange: &Exchange,
    route: &Route,
    server: u16,
    service: &crate::snapshot::Service,
) {
    let plan = &exchange.plan;
    let form = Form::of_version(plan.version);
    let upgrade = response.status == 101;
    let status = if upgrade && form == Form::Http2 { 200 } else { response.status };
    form.status(out, status, response.reason);
    let rules = || plan.matched.iter().map(|at| &service.rules[usize::from(*at)].response);
    for field in response.end_to_end() {
        let trailer = field.known == Known::Trailer && !plan.trailers;
        // RFC 8441, 5: the handshake of HTTP/2 has no key.
        let key = upgrade
            && form == Form::Http2
            && field.name.eq_ignore_ascii_case(b"sec-websocket-accept");
        if !trailer && !key && !rules().any(|edits| edits.drops(field.name)) {
            form.field(out, field.name, field.value);
        }
    }
    if upgrade && form == Form::Http1 {
        out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        return;
    }
    if response.status >= 200 {
        for (name, value) in rules().flat_map(|edits| &edits.set) {
            form.field(out, name.as_bytes(), value.as_bytes());
        }
        if let Some(name) = &service.forwarded.via {
            form.field(out, b"Via", format!("1.1 {name}").as_bytes());
        }
        if let Some(cookie) = cookie(route, server, service.tls.is_some()) {
            form.field(out, b"Set-Cookie", cookie.as_bytes());
        }
        if let Some(length) = response.length
            && response.status != 204
        {
            form.length(out, length);
        }
        if form == Form::Http1 {
            framing(out, response, exchange);
        }
    }
    form.end(out);
}

/// The persistence cookie of a client that has none, or another server's.
fn cookie(route: &Route, server: u16, secure: bool) -> Option<String> {
    let Some((PersistenceKind::Cookie, name)) = &route.pool.persistence else { return None };
    if route.wish.sticky == Some(server) {
        return None;
    }
    let value = &route.pool.server(server).cookie;
    let secure = if secure { "; Secure" } else { "" };
    Some(format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}"))
}

/// How a final response ends and what follows it, for a client of HTTP/1.
fn framing(out: &mut Vec<u8>, response: &Response<'_>, exchange: &Exchange) {
    let plan = &exchange.plan;
    let endless = matches!(response.framing, Framing::Chunked | Framing::UntilClose);
    if endless && plan.version.has_chunks() {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    let closes = !plan.keep_alive || !exchange.is_sent() || (endless && !plan.version.has_chunks());
    if closes {
        out.extend_from_slice(b"Connection: close\r\n");
    } else if !plan.version.has_chunks() {
        out.extend_from_slice(b"Connection: keep-alive\r\n");
    }
}

/// RFC 9110, 15.
fn reason(status: u16) -> &'static [u8] {
    match status {
        200 => b"OK",
        204 => b"No Content",
        301 => b"Moved Permanently",
        302 => b"Found",
        303 => b"See Other",
        307 => b"Temporary Redirect",
        308 => b"Permanent Redirect",
        400 => b"Bad Request",
        403 => b"Forbidden",
        404 => b"Not Found",
        405 => b"Method Not Allowed",
        408 => b"Request Timeout",
        413 => b"Content Too Large",
        414 => b"URI Too Long",
        417 => b"Expectation Failed",
        429 => b"Too Many Requests",
        431 => b"Request Header Fields Too Large",
        500 => b"Internal Server Error",
        501 => b"Not Implemented",
        502 => b"Bad Gateway",
        503 => b"Service Unavailable",
        504 => b"Gateway Timeout",
        505 => b"HTTP Version Not Supported",
        _ => b"",
    }
}
