//! Requests of HTTP/2 as requests of HTTP/1.1 (RFC 9113, 8).
//!
//! What is written here is parsed again by [`crate::http1::Request`]. This module checks what only
//! HTTP/2 has, and that no field can end its line early.

use super::hpack::Field;
use crate::http1;

/// The message is malformed: PROTOCOL_ERROR for its stream (RFC 9113, 8.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message is malformed")]
pub struct Malformed;

/// What must be known of a request beside its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Content-Length: the DATA frames have as many bytes.
    pub length: Option<u64>,
    /// The response has no content.
    pub to_head: bool,
    /// Extended CONNECT for a WebSocket connection (RFC 8441), written as an upgrade.
    pub websocket: bool,
}

/// The pseudo-header fields of a request.
#[derive(Default)]
struct Pseudo<'a> {
    method: Option<&'a [u8]>,
    scheme: Option<&'a [u8]>,
    authority: Option<&'a [u8]>,
    path: Option<&'a [u8]>,
    protocol: Option<&'a [u8]>,
}

impl<'a> Pseudo<'a> {
    /// Takes the pseudo-header fields from the front of a list; returns the others.
    fn take(mut fields: &'a [Field]) -> Result<(Self, &'a [Field]), Malformed> {
        let mut pseudo = Self::default();
        while let Some((field, rest)) = fields.split_first()
            && field.name.starts_with(b":")
        {
            let slot = match &field.name[..] {
                b":method" => &mut pseudo.method,
                b":scheme" => &mut pseudo.scheme,
                b":authority" => &mut pseudo.authority,
                b":path" => &mut pseudo.path,
                b":protocol" => &mut pseudo.protocol,
                _ => return Err(Malformed),
            };
            if slot.replace(&field.value).is_some() {
                return Err(Malformed);
            }
            fields = rest;
        }
        Ok((pseudo, fields))
    }

    /// RFC 9113, 8.3.1 and 8.5; RFC 8441, 4. CONNECT without a protocol ends at no server.
    fn check(&self) -> Result<(), Malformed> {
        let (Some(method), Some(scheme), Some(path)) = (self.method, self.scheme, self.path) else {
            return Err(Malformed);
        };
        let graphic = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_graphic());
        let websocket = self.protocol.is_some_and(|name| name == b"websocket");
        let valid = is_token(method)
            && matches!(scheme, b"http" | b"https")
            && graphic(path)
            && (path.starts_with(b"/") || (path == b"*" && method == b"OPTIONS"))
            && self.authority.is_none_or(graphic)
            && (method == b"CONNECT") == websocket
            && websocket == self.protocol.is_some();
        if valid { Ok(()) } else { Err(Malformed) }
    }
}

/// Writes the head of a request for HTTP/1.1. `end`: no content follows. Content without a length
/// is written in chunks. `key` is the `Sec-WebSocket-Key` of an upgrade.
///
/// # Errors
/// Everything that RFC 9113, 8 calls malformed.
pub fn request(
    out: &mut Vec<u8>,
    list: &[Field],
    end: bool,
    key: &[u8],
) -> Result<Facts, Malformed> {
    let (pseudo, fields) = Pseudo::take(list)?;
    pseudo.check()?;
    let method = pseudo.method.unwrap_or_default();
    let websocket = pseudo.protocol.is_some();
    let (host, length) = (host(&pseudo, fields)?, length(fields)?);
    if end && (websocket || length.is_some_and(|length| length > 0)) {
        return Err(Malformed);
    }
    let verb = if websocket { b"GET" } else { method };
    http1::request_line(out, verb, &[pseudo.path.unwrap_or_default()]);
    http1::field(out, b"Host", host);
    for field in fields {
        check(field)?;
        match &field.name[..] {
            b"host" | b"cookie" | b"content-length" | b"sec-websocket-key" => {}
            name => http1::field(out, name, &field.value),
        }
    }
    // RFC 9113, 8.2.3: HTTP/1.1 has one field for all cookies.
    let cookies: Vec<&[u8]> = values(fields, b"cookie").collect();
    if !cookies.is_empty() {
        http1::field(out, b"Cookie", &cookies.join(&b"; "[..]));
    }
    if websocket {
        http1::field(out, b"Sec-WebSocket-Key", key);
        out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
    } else if let Some(length) = length {
        out.extend_from_slice(b"Content-Length: ");
        http1::number(out, length);
        out.extend_from_slice(b"\r\n");
    } else if !end {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(Facts { length, to_head: method == b"HEAD", websocket })
}

/// Writes a trailer section as lines of HTTP/1.1, without the empty line at its end.
///
/// # Errors
/// Pseudo-header fields, and everything that [`request`] refuses.
pub fn trailers(out: &mut Vec<u8>, list: &[Field]) -> Result<(), Malformed> {
    for field in list {
        check(field)?;
        http1::field(out, &field.name, &field.value);
    }
    Ok(())
}

fn values<'a>(fields: &'a [Field], name: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |field| field.name == name).map(|field| &field.value[..])
}

/// The authority, which must be the Host's, too (RFC 9113, 8.3.1).
fn host<'a>(pseudo: &Pseudo<'a>, fields: &'a [Field]) -> Result<&'a [u8], Malformed> {
    let mut hosts = values(fields, b"host").chain(pseudo.authority);
    let host = hosts.next().ok_or(Malformed)?;
    if hosts.all(|other| other.eq_ignore_ascii_case(host)) { Ok(host) } else { Err(Malformed) }
}

/// Content-Length: one, of up to 18 digits, which are below 2^63.
fn length(fields: &[Field]) -> Result<Option<u64>, Malformed> {
    let mut lengths = values(fields, b"content-length");
    let Some(text) = lengths.next() else { return Ok(None) };
    let digits = (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if !digits || lengths.next().is_some() {
        return Err(Malformed);
    }
    Ok(Some(text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))))
}

fn is_token(bytes: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !bytes.is_empty() && bytes.iter().all(allowed)
}

/// RFC 9113, 8.2: names in lower case, values without line ends and outer spaces, no fields of the
/// connection.
fn check(field: &Field) -> Result<(), Malformed> {
    let (name, value) = (&field.name[..], &field.value[..]);
    let space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let control = |byte: &u8| (*byte < b' ' && *byte != b'\t') || *byte == 127;
    let of_connection = matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
    );
    let valid = is_token(name)
        && !name.iter().any(u8::is_ascii_uppercase)
        && !value.iter().any(control)
        && !space(value.first())
        && !space(value.last())
        && !of_connection
        && (name != b"te" || value == b"trailers");
    if valid { Ok(()) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GET: [(&str, &str); 4] =
        [(":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/p?q")];

    fn list(fields: &[(&str, &str)]) -> Vec<Field> {
        let field = |(name, value): &(&str, &str)| Field {
            name: name.as_bytes().to_vec(),
            value: value.as_bytes().to_vec(),
        };
        fields.iter().map(field).collect()
    }

    fn written(fields: &[(&str, &str)], end: bool) -> Result<(String, Facts), Malformed> {
        let mut out = Vec::new();
        let facts = request(&mut out, &list(fields), end, b"KEY")?;
        Ok((String::from_utf8(out).unwrap(), facts))
    }

    #[test]
    fn a_request_is_written_with_the_framing_of_http_1() {
        let line = "GET /p?q HTTP/1.1\r\nHost: a.test\r\n";
        assert_eq!(written(&GET, true).unwrap().0, format!("{line}\r\n"));
        let chunks = format!("{line}Transfer-Encoding: chunked\r\n\r\n");
        assert_eq!(written(&GET, false).unwrap().0, chunks);
        let cookies = [&GET[..], &[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]].concat();
        let joined = format!("{line}x: y\r\nCookie: a=1; b=2\r\n\r\n");
        assert_eq!(written(&cookies, true).unwrap().0, joined);
        let length = [&GET[..], &[("content-length", "5")]].concat();
        let (text, facts) = written(&length, false).unwrap();
        assert_eq!(text, format!("{line}Content-Length: 5\r\n\r\n"));
        assert_eq!(facts, Facts { length: Some(5), to_head: false, websocket: false });
    }

    #[test]
    fn extended_connect_becomes_an_upgrade() {
        let connect = [&[(":protocol", "websocket"), (":method", "CONNECT")][..], &GET[1..]];
        let (text, facts) = written(&connect.concat(), false).unwrap();
        let end = "Sec-WebSocket-Key: KEY\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        assert_eq!(text, format!("GET /p?q HTTP/1.1\r\nHost: a.test\r\n{end}"));
        assert!(facts.websocket);
        let parsed = http1::Request::parse(text.as_bytes(), &http1::Limits::default()).unwrap();
        assert!(parsed.websocket);
    }

    #[test]
    fn malformed_requests_are_refused() {
        let replaced = |at: usize, value: &'static str| {
            let mut fields = GET;
            fields[at].1 = value;
            written(&fields, true)
        };
        for (at, value) in [
            (0, "G T"),
            (0, "CONNECT"),
            (0, "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
            (1, "http\r\n"),
            (2, "a b"),
            (3, ""),
            (3, "p"),
            (3, "*"),
            (3, "/ HTTP/1.1\r\nX: y"),
        ] {
            assert_eq!(replaced(at, value), Err(Malformed), "{value:?}");
        }
        for field in [
            (":path", "/"),
            (":authority", "b"),
            (":status", "200"),
            (":protocol", "websocket"),
            ("host", "b.test"),
            ("X-A", "b"),
            ("x a", "b"),
            ("x:a", "b"),
            ("", "b"),
            ("a", "b\r\nc: d"),
            ("a", "b\nc"),
            ("a", "b\0"),
            ("a", " b"),
            ("a", "b\t"),
            ("te", "gzip"),
            ("connection", "close"),
            ("keep-alive", "1"),
            ("proxy-connection", "x"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("content-length", "+1"),
            ("content-length", "1"),
        ] {
            let fields = [&GET[..], &[field]].concat();
            assert_eq!(written(&fields, true), Err(Malformed), "{field:?}");
        }
        let twice = [&GET[..], &[("content-length", "1"), ("content-length", "1")]].concat();
        assert_eq!(written(&twice, false), Err(Malformed));
        for missing in GET {
            let fields: Vec<_> = GET.into_iter().filter(|field| *field != missing).collect();
            assert_eq!(written(&fields, true), Err(Malformed), "without {missing:?}");
        }
        let behind = [&[("a", "b")][..], &GET].concat();
        assert_eq!(written(&behind, true), Err(Malformed), "a pseudo-header field behind another");
    }

    #[test]
    fn trailers_have_no_pseudo_header_fields() {
        let mut out = Vec::new();
        trailers(&mut out, &list(&[("grpc-status", "0"), ("x", "y")])).unwrap();
        assert_eq!(out, b"grpc-status: 0\r\nx: y\r\n");
        assert_eq!(trailers(&mut out, &list(&[(":path", "/evil")])), Err(Malformed));
    }
}
