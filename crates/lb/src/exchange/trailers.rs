//! The end of a request's content, and the trailers behind it (RFC 9110, 6.5; RFC 9112, 7.1.2).

use proxying::http1::{self, Body, Framing, Request};
use proxying::http2::{hpack, message};

use crate::core::Core;
use crate::peer::Peer;
use crate::request;
use crate::session::Session;

/// How the content of a request ends. Content of HTTP/2 and HTTP/3 has no chunks. It ends with its stream, which the connection
/// compares with Content-Length. A server of HTTP/1 gets no trailers behind a length, so the length is enough.
pub(super) fn content(request: &Request<'_>, to_http2: bool) -> Body {
    match request.framing {
        Framing::Chunked if request.version.has_streams() => Body::UntilClose,
        Framing::Length(1..) if request.version.has_streams() && to_http2 => Body::UntilClose,
        framing => Body::new(framing),
    }
}

/// The names in Connection, if trailers can follow.
pub(super) fn nominated(request: &Request<'_>) -> Vec<Vec<u8>> {
    match request.framing {
        Framing::Chunked => request.options.nominated().iter().map(|name| name.to_vec()).collect(),
        _ => Vec::new(),
    }
}

impl Session {
    /// Ends the request's content for the server, with the client's trailers that are passed on. They were checked
    /// when they arrived. False: there is no room yet.
    pub(super) fn end_content(&mut self, core: &mut Core) -> bool {
        let (Some(exchange), Some(route)) = (&mut self.exchange, &mut self.route) else {
            return false;
        };
        let trailers = match (&self.client, self.client.trailers(&core.hub)) {
            (_, Some(list)) => message::trailers(&list.fields),
            (Peer::Copy(copy), None) => http1::trailers(copy.trailers()),
            (_, None) => http1::trailers(exchange.body.trailers()),
        };
        let plan = &exchange.plan;
        let ends_here = |name: &[u8]| {
            plan.nominated.iter().any(|own| own.eq_ignore_ascii_case(name))
                || request::drops_trailer(&self.service, &plan.applied, name)
        };
        let mut trailers = trailers.unwrap_or_default();
        trailers.retain(|field| !ends_here(field.name));
        if let Some(copy) = &mut exchange.copy {
            copy.end(&trailers);
        }
        core.scratch.clear();
        if plan.chunked {
            http1::end_of_chunks(&mut core.scratch, &trailers);
            if core.scratch.len() > route.to_server.room() && exchange.intact && exchange.sent > 0 {
                // Too large to be repeated.
                exchange.end_request(route);
            }
            if !route.to_server.push(&core.scratch, &mut core.hub.buffers) {
                return false;
            }
        } else {
            for field in &trailers {
                hpack::encode(&mut core.scratch, field.name, field.value);
            }
            exchange.trailers.clone_from(&core.scratch);
        }
        exchange.complete = true;
        true
    }
}
