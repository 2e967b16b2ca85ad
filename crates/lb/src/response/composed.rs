//! Heads of responses of servers and of the cache, as the client gets them.

use proxying::http1::{Framing, Known, Response};

use crate::compression::Offer;
use crate::config::PersistenceKind;
use crate::exchange::Exchange;
use crate::form::Form;
use crate::route::Route;
use crate::snapshot::Service;

/// The head of a server's response for the client, with what it depends on.
pub(crate) struct Composed<'e> {
    pub(crate) exchange: &'e Exchange,
    pub(crate) route: &'e Route,
    /// `None`: it comes from the cache.
    pub(crate) server: Option<u16>,
    pub(crate) offer: Offer,
}

impl Composed<'_> {
    pub(crate) fn write(&self, out: &mut Vec<u8>, response: &Response<'_>, service: &Service) {
        let (plan, offer) = (&self.exchange.plan, self.offer);
        let form = Form::of_version(plan.version);
        let upgrade = response.status == 101;
        let status = if upgrade && form != Form::Http1 { 200 } else { response.status };
        form.status(out, status, response.reason);
        let applied = &plan.applied;
        for field in response.end_to_end() {
            let trailer = field.known == Known::Trailer && !plan.trailers;
            // RFC 8441, 5; RFC 9220: the handshake on a stream has no key.
            let key = upgrade
                && form != Form::Http1
                && field.name.eq_ignore_ascii_case(b"sec-websocket-accept");
            if trailer || key || applied.drops_of_response(service, field.name) {
                continue;
            }
            if offer.weakens(field.name, field.value) {
                form.field(out, field.name, &[b"W/", field.value].concat());
            } else if !offer.drops(field.name) {
                form.field(out, field.name, field.value);
            }
        }
        if upgrade && form == Form::Http1 {
            out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
            return;
        }
        if response.status >= 200 {
            for (name, value) in applied.fields_of_response(service) {
                form.field(out, name.as_bytes(), value.as_bytes());
            }
            if let Some(name) = &service.forwarded.via {
                form.field(out, b"Via", format!("1.1 {name}").as_bytes());
            }
            self.own_fields(form, out, service);
            let dropped = |name: &[u8]| applied.drops_of_response(service, name);
            if !dropped(b"alt-svc") && !has(response, b"alt-svc") {
                service.announce(form, out);
            }
            if offer.adds_vary(response, dropped(b"vary")) {
                form.field(out, b"Vary", b"Accept-Encoding");
            }
            if let Some(coding) = offer.coding() {
                form.field(out, b"Content-Encoding", coding.name().as_bytes());
            }
            if let Some(length) = response.length.filter(|_| offer.keeps_length())
                && response.status != 204
            {
                form.length(out, length);
            }
            if form == Form::Http1 {
                framing(out, is_endless(response.framing, offer), self.exchange);
            }
        }
        form.end(out);
    }

    /// What the balancer says about the choice of the server and the cache.
    fn own_fields(&self, form: Form, out: &mut Vec<u8>, service: &Service) {
        let secure = service.tls.is_some();
        let cookie = self.server.and_then(|server| cookie(self.route, server, secure));
        if let Some(cookie) = cookie {
            form.field(out, b"Set-Cookie", cookie.as_bytes());
        }
        if let Some(status) = &self.exchange.plan.caching.status {
            form.field(out, b"Cache-Status", status.as_bytes());
        }
    }
}

/// Whether the response to the client has no length.
pub(crate) fn is_endless(framing: Framing, offer: Offer) -> bool {
    matches!(framing, Framing::Chunked | Framing::UntilClose) || matches!(offer, Offer::Coded(_))
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
fn framing(out: &mut Vec<u8>, endless: bool, exchange: &Exchange) {
    let plan = &exchange.plan;
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

fn has(response: &Response<'_>, name: &[u8]) -> bool {
    response.fields.iter().any(|field| field.name.eq_ignore_ascii_case(name))
}
