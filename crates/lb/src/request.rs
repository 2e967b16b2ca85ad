//! The head of a request as the server gets it.

use std::io::Write;
use std::net::IpAddr;

use proxying::caching;
use proxying::http1::{Field, Framing, Known, Request, Version};

use crate::config::{ForwardedField, ForwardedFor, Protocol};
use crate::form::Form;
use crate::own;
use crate::policy::{Applied, Forward};
use crate::session::Session;
use crate::snapshot::Service;
use crate::variable::same_variable;

/// The header of copies, which are not copied again: a mirror could send them back here.
const COPIED: &[u8] = b"X-Vedette-Mirror";

/// Whether the request is a copy that a mirror has made.
pub(crate) fn is_copy(request: &Request<'_>) -> bool {
    request.value(COPIED).is_some()
}

/// Writes the head of a forwarded request, or of its copy, for servers of a pool with this protocol.
pub(crate) fn compose(
    out: &mut Vec<u8>,
    protocol: Protocol,
    request: &Request<'_>,
    forward: &Forward,
    session: &Session,
    copied: bool,
) {
    let service = &session.service;
    let form = match protocol {
        Protocol::Http1 => Form::Http1,
        Protocol::Http2 => Form::Http2,
    };
    begin(form, out, request, forward, session);
    let applied = &forward.applied;
    let dropped = |field: &Field<'_>| applied.drops(service, field.name);
    let written = |known: Known| match known {
        Known::Via => true,
        Known::Trailer => request.framing != Framing::Chunked,
        _ => false,
    };
    let identity = &forward.identity;
    let hidden = |field: &Field<'_>| {
        own::is_own(service, field.name)
            || (identity.hides_authorization && field.name.eq_ignore_ascii_case(b"authorization"))
    };
    for field in request.end_to_end() {
        let replaced = !forward.conditions.is_empty() && caching::is_condition(field.name);
        if !written(field.known) && !dropped(field) && !hidden(field) && !replaced {
            form.field(out, field.name, field.value);
        }
    }
    for (name, value) in applied.fields(service) {
        form.field(out, name.as_bytes(), value.as_bytes());
    }
    for (name, value) in &identity.set {
        form.field(out, name.as_bytes(), value.as_bytes());
    }
    for (name, value) in &forward.conditions {
        form.field(out, name, value);
    }
    if copied && !applied.drops(service, COPIED) {
        form.field(out, COPIED, b"1");
    }
    forwarded(form, out, request, session);
    if request.accepts_trailers {
        form.field(out, b"TE", b"trailers");
    }
    if form == Form::Http1 {
        match (request.websocket, request.accepts_trailers) {
            (true, _) => out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
            (false, true) => out.extend_from_slice(b"Connection: TE\r\n"),
            (false, false) => {}
        }
    }
    match request.framing {
        Framing::Length(length) => form.length(out, length),
        Framing::Chunked if form == Form::Http1 => {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        }
        _ => {}
    }
    form.end(out);
}

/// Fields that mean something only before the content (RFC 9110, 6.5.1): they authenticate the client, change or
/// limit the request, or tell the form of the content. Those that frame or route it are [`Known`].
const HEAD_ONLY: [&str; 14] = [
    "authorization",
    "proxy-authorization",
    "cache-control",
    "pragma",
    "max-forwards",
    "range",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "if-unmodified-since",
    "if-range",
    "content-type",
    "content-encoding",
    "content-range",
];

/// Whether a trailer of a request is not passed on: it belongs in the head, or the server could take it for a header
/// that only the balancer sets or that a rule removes.
pub(crate) fn drops_trailer(service: &Service, applied: &Applied, name: &[u8]) -> bool {
    let same = |own: &[u8]| name.eq_ignore_ascii_case(own);
    HEAD_ONLY.iter().any(|own| same(own.as_bytes()))
        || own::is_own(service, name)
        || applied.drops(service, name)
}

/// Whether the server gets a header with this name from the balancer: what the client sends as such does not tell what
/// the response depends on.
pub(crate) fn writes(service: &Service, applied: &Applied, name: &str) -> bool {
    let name = name.as_bytes();
    let same = |own: &[u8]| same_variable(own, name);
    same(b"x-forwarded-for")
        || (service.forwarded.forwarded.is_some() && same(b"forwarded"))
        || own::is_identity(service, name)
        || applied.drops(service, name)
}

/// The start of a request, with the replaced start of its path.
fn begin(
    form: Form,
    out: &mut Vec<u8>,
    request: &Request<'_>,
    forward: &Forward,
    session: &Session,
) {
    let target = request.target.path_and_query;
    let (scheme, host) = (scheme(session), request.host);
    match forward.rewrite {
        _ if forward.applied.target().is_some() => {
            let target = forward.applied.target().unwrap_or_default();
            form.request(out, request.method, &[target], scheme, host);
        }
        Some((length, rule)) => {
            let with = session.service.rules[rule].replacement().as_bytes();
            // "/a" → "/" for "/a/b" must not make "//b".
            let rest =
                &target[(length - usize::from(request.target.missing_root)).min(target.len())..];
            let rest =
                if with.ends_with(b"/") { rest.strip_prefix(b"/").unwrap_or(rest) } else { rest };
            form.request(out, request.method, &[with, rest], scheme, host);
        }
        None if request.target.missing_root => {
            form.request(out, request.method, &[b"/", target], scheme, host);
        }
        None => form.request(out, request.method, &[target], scheme, host),
    }
}

fn scheme(session: &Session) -> &'static str {
    if session.service.tls.is_some() { "https" } else { "http" }
}

/// What the server learns about the client.
fn forwarded(form: Form, out: &mut Vec<u8>, request: &Request<'_>, session: &Session) {
    let settings = &session.service.forwarded;
    let client = session.source.ip().to_canonical();
    let written = "BUG: a Vec accepts all bytes";
    let mut value = Vec::with_capacity(64);
    if settings.x_forwarded_for != ForwardedFor::Remove {
        if settings.x_forwarded_for == ForwardedFor::Append {
            list(&mut value, request, Known::XForwardedFor);
        }
        write!(value, "{client}").expect(written);
        form.field(out, b"X-Forwarded-For", &value);
    }
    if settings.x_forwarded_proto {
        form.field(out, b"X-Forwarded-Proto", scheme(session).as_bytes());
    }
    if settings.x_forwarded_port {
        value.clear();
        write!(value, "{}", session.destination.port()).expect(written);
        form.field(out, b"X-Forwarded-Port", &value);
    }
    if settings.forwarded == Some(ForwardedField::Replace) {
        value.clear();
        // RFC 7239, 6: addresses of IPv6 in brackets and quoted.
        match client {
            IpAddr::V4(client) => write!(value, "for={client}").expect(written),
            IpAddr::V6(client) => write!(value, "for=\"[{client}]\"").expect(written),
        }
        write!(value, ";proto={};host=\"", scheme(session)).expect(written);
        value.extend_from_slice(request.host);
        value.push(b'"');
        form.field(out, b"Forwarded", &value);
    }
    value.clear();
    via(&mut value, request, settings.via.as_deref());
    if !value.is_empty() {
        form.field(out, b"Via", &value);
    }
    if let (true, Some(name)) = (settings.client_cert, &session.client_name) {
        form.field(out, own::CLIENT_CN, name.as_bytes());
    }
}

/// The value of Via; empty: there is none.
fn via(value: &mut Vec<u8>, request: &Request<'_>, own: Option<&str>) {
    list(value, request, Known::Via);
    match own {
        Some(name) => {
            value.extend_from_slice(match request.version {
                Version::Http10 => b"1.0 ",
                Version::Http11 => b"1.1 ",
                Version::Http2 => b"2.0 ",
                Version::Http3 => b"3.0 ",
            });
            value.extend_from_slice(name.as_bytes());
        }
        None => value.truncate(value.len().saturating_sub(2)),
    }
}

/// All values of a field, each followed by a comma.
fn list(out: &mut Vec<u8>, request: &Request<'_>, known: Known) {
    for field in request.fields.iter().filter(|field| field.known == known) {
        if !field.value.is_empty() {
            out.extend_from_slice(field.value);
            out.extend_from_slice(b", ");
        }
    }
}

/// Whether the content is that of gRPC.
pub(crate) fn is_grpc(request: &Request<'_>) -> bool {
    let content_type = request.value(b"content-type").unwrap_or_default();
    let begins = content_type.strip_prefix(b"application/grpc");
    matches!(begins, Some([] | [b'+' | b';', ..]))
}
