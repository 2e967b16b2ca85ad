//! The head of a request as the server gets it.

use std::io::Write;
use std::net::IpAddr;

use proxying::http1::{self, Field, Framing, Known, Request};

use crate::config::{ForwardedField, ForwardedFor};
use crate::policy::Forward;
use crate::session::Session;

/// Writes the head of a forwarded request.
pub(crate) fn compose(
    out: &mut Vec<u8>,
    request: &Request<'_>,
    forward: &Forward,
    session: &Session,
) {
    let service = &session.service;
    let target = request.target.path_and_query;
    match forward.rewrite {
        Some((length, rule)) => {
            let with = service.rules[rule].replacement().as_bytes();
            // "/a" → "/" for "/a/b" must not make "//b".
            let rest = &target[length.min(target.len())..];
            let rest =
                if with.ends_with(b"/") { rest.strip_prefix(b"/").unwrap_or(rest) } else { rest };
            http1::request_line(out, request.method, &[with, rest]);
        }
        None if request.target.missing_root => {
            http1::request_line(out, request.method, &[b"/", target]);
        }
        None => http1::request_line(out, request.method, &[target]),
    }
    http1::field(out, b"Host", request.host);
    let rules = || forward.matched.iter().map(|at| &service.rules[usize::from(*at)].request);
    let dropped = |field: &Field<'_>| rules().any(|edits| edits.drops(field.name));
    let own = |known: Known| {
        matches!(
            known,
            Known::XForwardedFor
                | Known::XForwardedProto
                | Known::XForwardedPort
                | Known::Via
                | Known::Trailer
        ) || (known == Known::Forwarded && service.forwarded.forwarded.is_some())
    };
    for field in request.end_to_end() {
        let client_name =
            service.forwarded.client_cert && field.name.eq_ignore_ascii_case(b"x-client-cn");
        if !own(field.known) && !client_name && !dropped(field) {
            http1::field(out, field.name, field.value);
        }
    }
    for (name, value) in rules().flat_map(|edits| &edits.set) {
        http1::field(out, name.as_bytes(), value.as_bytes());
    }
    forwarded(out, request, session);
    if request.accepts_trailers {
        out.extend_from_slice(b"TE: trailers\r\n");
    }
    match (request.websocket, request.accepts_trailers) {
        (true, _) => out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        (false, true) => out.extend_from_slice(b"Connection: TE\r\n"),
        (false, false) => {}
    }
    match request.framing {
        Framing::Length(length) => {
            out.extend_from_slice(b"Content-Length: ");
            http1::number(out, length);
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Framing::None | Framing::UntilClose => {}
    }
    out.extend_from_slice(b"\r\n");
}

/// What the server learns about the client.
fn forwarded(out: &mut Vec<u8>, request: &Request<'_>, session: &Session) {
    let service = &session.service;
    let settings = &service.forwarded;
    let client = session.source.ip().to_canonical();
    let scheme = if service.tls.is_some() { "https" } else { "http" };
    let written = "BUG: a Vec accepts all bytes";
    match settings.x_forwarded_for {
        ForwardedFor::Append => {
            out.extend_from_slice(b"X-Forwarded-For: ");
            list(out, request, Known::XForwardedFor);
            write!(out, "{client}\r\n").expect(written);
        }
        ForwardedFor::Replace => {
            write!(out, "X-Forwarded-For: {client}\r\n").expect(written);
        }
        ForwardedFor::Remove => {}
    }
    if settings.x_forwarded_proto {
        write!(out, "X-Forwarded-Proto: {scheme}\r\n").expect(written);
    }
    if settings.x_forwarded_port {
        write!(out, "X-Forwarded-Port: {}\r\n", session.destination.port()).expect(written);
    }
    if settings.forwarded == Some(ForwardedField::Replace) {
        // RFC 7239, 6: addresses of IPv6 in brackets and quoted.
        match client {
            IpAddr::V4(client) => write!(out, "Forwarded: for={client}").expect(written),
            IpAddr::V6(client) => write!(out, "Forwarded: for=\"[{client}]\"").expect(written),
        }
        write!(out, ";proto={scheme};host=\"").expect(written);
        out.extend_from_slice(request.host);
        out.extend_from_slice(b"\"\r\n");
    }
    via(out, request, settings.via.as_deref());
    if let (true, Some(name)) = (settings.client_cert, &session.client_name) {
        http1::field(out, b"X-Client-CN", name.as_bytes());
    }
}

fn via(out: &mut Vec<u8>, request: &Request<'_>, own: Option<&str>) {
    let received = request.fields.iter().any(|f| f.known == Known::Via && !f.value.is_empty());
    if own.is_none() && !received {
        return;
    }
    out.extend_from_slice(b"Via: ");
    list(out, request, Known::Via);
    match own {
        Some(name) => {
            out.extend_from_slice(match request.version {
                http1::Version::Http10 => b"1.0 ",
                http1::Version::Http11 => b"1.1 ",
                http1::Version::Http2 => b"2.0 ",
            });
            out.extend_from_slice(name.as_bytes());
        }
        None => out.truncate(out.len() - 2),
    }
    out.extend_from_slice(b"\r\n");
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
