//! Requests.

use super::fields::{self, Field, Known, Options};
use super::{Framing, Limits, Refusal, Version, head};

/// What a request names, without the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// Path and query, as in the request: `/a?b`. `*` for OPTIONS of the whole server. The path of an
    /// absolute URI may be empty: [`Target::missing_root`].
    pub path_and_query: &'a [u8],
    /// An absolute URI without a path: `/` belongs before the query.
    pub missing_root: bool,
}

impl<'a> Target<'a> {
    /// Path and query apart; the query is without `?`.
    pub fn split(&self) -> (&'a [u8], Option<&'a [u8]>) {
        let (path, query) = match memchr::memchr(b'?', self.path_and_query) {
            Some(at) => (&self.path_and_query[..at], Some(&self.path_and_query[at + 1..])),
            None => (self.path_and_query, None),
        };
        (if self.missing_root { b"/" } else { path }, query)
    }
}

/// The head of a request that may be forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// A token.
    pub method: &'a [u8],
    /// Path and query.
    pub target: Target<'a>,
    /// Version that the client speaks.
    pub version: Version,
    /// Host and port as the client names them; empty: HTTP/1.0 without a host.
    pub host: &'a [u8],
    /// All fields in order.
    pub fields: Vec<Field<'a>>,
    /// Members of Connection.
    pub options: Options<'a>,
    /// How the body ends.
    pub framing: Framing,
    /// The client accepts another request on this connection afterwards.
    pub keep_alive: bool,
    /// The client asks for a WebSocket connection. Other protocols are not offered to servers.
    pub websocket: bool,
    /// The client waits for an interim response before it sends the body.
    pub expects_continue: bool,
    /// The client accepts trailers.
    pub accepts_trailers: bool,
}

/// A request without its fields.
pub(crate) struct Line<'a> {
    pub(crate) method: &'a [u8],
    pub(crate) target: Target<'a>,
    pub(crate) version: Version,
    pub(crate) host: &'a [u8],
}

impl<'a> Request<'a> {
    /// Parses a complete head ([`super::HeadEnd`]).
    ///
    /// # Errors
    /// Everything that a server might understand in another way.
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Result<Self, Refusal> {
        let mut lines = head::lines(bytes);
        let (method, target, version) = first_line(lines.next().unwrap_or_default())?;
        if target.len() > limits.target {
            return Err(Refusal::TargetTooLong);
        }
        let fields = fields::parse(lines, limits.fields)?;
        let (authority, target) = parse_target(method, target)?;
        let host = host(&fields, authority, version)?;
        let framing = fields::framing(&fields, version)?.unwrap_or(Framing::None);
        let mut request = Self::new(Line { method, target, version, host }, fields, framing)?;
        request.websocket = version == Version::Http11
            && request.options.upgrade
            && method == b"GET"
            && framing == Framing::None
            && request.has(Known::Upgrade, b"websocket");
        Ok(request)
    }

    /// What follows from the parts of a request, whatever they were read from.
    pub(crate) fn new(
        line: Line<'a>,
        fields: Vec<Field<'a>>,
        framing: Framing,
    ) -> Result<Self, Refusal> {
        let Line { method, target, version, host } = line;
        let options = Options::of(&fields);
        let keep_alive = match version {
            Version::Http10 => options.keep_alive && !options.close,
            Version::Http11 | Version::Http2 | Version::Http3 => !options.close,
        };
        let mut request = Self {
            method,
            target,
            version,
            host,
            fields,
            options,
            framing,
            keep_alive,
            websocket: false,
            expects_continue: false,
            accepts_trailers: false,
        };
        let expects_continue = request.has(Known::Expect, b"100-continue");
        if !expects_continue && request.fields.iter().any(|field| field.known == Known::Expect) {
            return Err(Refusal::Expectation);
        }
        request.expects_continue = expects_continue && version != Version::Http10;
        request.accepts_trailers = request.has(Known::Te, b"trailers");
        Ok(request)
    }

    fn has(&self, known: Known, value: &[u8]) -> bool {
        let mut of = self.fields.iter().filter(|field| field.known == known);
        of.any(|field| field.value.eq_ignore_ascii_case(value))
    }

    /// Fields that are passed on as they are: no hop-by-hop fields and no host, which the caller
    /// writes.
    pub fn end_to_end(&self) -> impl Iterator<Item = &Field<'a>> {
        let passes = |field: &&Field<'a>| {
            self.options.passes(field)
                && field.known != Known::Host
                && (field.known != Known::Expect || self.expects_continue)
        };
        self.fields.iter().filter(passes)
    }

    /// First value of a field.
    pub fn value(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut fields = self.fields.iter();
        fields.find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    }

    /// Value of a cookie.
    pub fn cookie(&self, name: &[u8]) -> Option<&'a [u8]> {
        let cookies = self.fields.iter().filter(|field| field.known == Known::Cookie);
        let mut pairs = cookies.flat_map(|field| field.value.split(|byte| *byte == b';'));
        pairs.find_map(|pair| fields::trim(pair).strip_prefix(name)?.strip_prefix(b"="))
    }

    /// Whether the request may be sent again when its fate is unknown (RFC 9110, 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method, b"GET" | b"HEAD" | b"OPTIONS" | b"PUT" | b"DELETE")
    }
}

fn first_line(line: &[u8]) -> Result<(&[u8], &[u8], Version), Refusal> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Refusal::FirstLine);
    };
    if !fields::is_token(method) || target.is_empty() {
        return Err(Refusal::FirstLine);
    }
    match version {
        b"HTTP/1.1" => Ok((method, target, Version::Http11)),
        b"HTTP/1.0" => Ok((method, target, Version::Http10)),
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Err(Refusal::Version)
        }
        _ => Err(Refusal::FirstLine),
    }
}

/// The forms of RFC 9112, 3.2: the authority of an absolute URI, and the rest.
pub(crate) fn parse_target<'a>(
    method: &[u8],
    target: &'a [u8],
) -> Result<(Option<&'a [u8]>, Target<'a>), Refusal> {
    if matches!(method, b"CONNECT" | b"TRACE") {
        return Err(Refusal::Method);
    }
    // A fragment is never sent; what a server makes of it is unknown.
    if !target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#') {
        return Err(Refusal::Target);
    }
    let whole = |bytes| Target { path_and_query: bytes, missing_root: false };
    match target {
        [b'/', ..] => Ok((None, whole(target))),
        b"*" if method == b"OPTIONS" => Ok((None, whole(target))),
        _ => {
            let scheme = memchr::memmem::find(target, b"://").ok_or(Refusal::Target)?;
            let (scheme, rest) = (&target[..scheme], &target[scheme + 3..]);
            if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
                return Err(Refusal::Target);
            }
            let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?'));
            let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
            let missing_root = !path.starts_with(b"/");
            Ok((Some(authority), Target { path_and_query: path, missing_root }))
        }
    }
}

/// The host of a request: that of an absolute URI, which wins (RFC 9112, 3.2.2), or the field's.
fn host<'a>(
    fields: &[Field<'a>],
    authority: Option<&'a [u8]>,
    version: Version,
) -> Result<&'a [u8], Refusal> {
    let mut hosts = fields.iter().filter(|field| field.known == Known::Host);
    let host = match (hosts.next(), hosts.next()) {
        (_, Some(_)) => return Err(Refusal::Host),
        (Some(field), None) if is_host(field.value) => field.value,
        (Some(_), None) => return Err(Refusal::Host),
        (None, None) if version == Version::Http11 => return Err(Refusal::Host),
        (None, None) => b"",
    };
    match authority {
        Some(authority) if is_host(authority) => Ok(authority),
        Some(_) => Err(Refusal::Host),
        None => Ok(host),
    }
}

/// A name or an address in brackets, and a port (RFC 3986, 3.2.2). Commas are refused: a server that
/// takes the value for a list sees two hosts.
pub(crate) fn is_host(bytes: &[u8]) -> bool {
    let (name, port) = match bytes {
        [b'[', rest @ ..] => {
            let Some(end) = memchr::memchr(b']', rest) else { return false };
            let address = &rest[..end];
            let text = std::str::from_utf8(address).unwrap_or_default();
            if text.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            (address, &rest[end + 1..])
        }
        _ => bytes.split_at(memchr::memchr(b':', bytes).unwrap_or(bytes.len())),
    };
    let in_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+;=".contains(byte) || bytes[0] == b'['
    };
    let is_port = match port {
        [] | [b':'] => true,
        [b':', digits @ ..] => {
            let text = std::str::from_utf8(digits).unwrap_or_default();
            digits.iter().all(u8::is_ascii_digit) && text.parse::<u16>().is_ok()
        }
        _ => false,
    };
    !name.is_empty() && name.iter().all(in_name) && is_port
}
