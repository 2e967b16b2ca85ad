//! Messages of HTTP/2 as [`crate::http1`] describes them (RFC 9113, 8), so that everything that looks at
//! a request or a response looks at one structure.
//!
//! What may stand in a value, a host or a target is checked by the rules of HTTP/1.1: such a message may
//! be written as one.

use super::hpack::Field;
use crate::http1::{self, Framing, Known, Limits, Line, Refusal, Request, Response, Version};

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
    fn take(mut fields: &'a [Field]) -> Result<(Self, &'a [Field]), Refusal> {
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
                _ => return Err(Refusal::Pseudo),
            };
            if slot.replace(&field.value).is_some() {
                return Err(Refusal::Pseudo);
            }
            fields = rest;
        }
        Ok((pseudo, fields))
    }

    /// Method and path, by RFC 9113, 8.3.1 and 8.5; RFC 8441, 4. CONNECT without a protocol ends at no
    /// server.
    fn check(&self) -> Result<(&'a [u8], &'a [u8]), Refusal> {
        let (Some(method), Some(scheme), Some(path)) = (self.method, self.scheme, self.path) else {
            return Err(Refusal::Pseudo);
        };
        let websocket = self.protocol.is_some_and(|name| name == b"websocket");
        let valid = http1::is_token(method)
            && matches!(scheme, b"http" | b"https")
            && (path.starts_with(b"/") || path == b"*")
            && (method == b"CONNECT") == websocket
            && websocket == self.protocol.is_some();
        if valid { Ok((method, path)) } else { Err(Refusal::Pseudo) }
    }
}

/// A request. `end`: no content follows. `key` is the `Sec-WebSocket-Key` of an extended CONNECT, which
/// becomes an upgrade (RFC 8441). Content without a length is [`Framing::Chunked`], as it would be
/// written.
///
/// # Errors
/// Everything that RFC 9113, 8 calls malformed, has the status 400; the others are limits.
pub fn request<'a>(
    list: &'a mut Vec<Field>,
    end: bool,
    key: &'a [u8],
    limits: &Limits,
) -> Result<Request<'a>, Refusal> {
    join_cookies(list);
    let (pseudo, rest) = Pseudo::take(list)?;
    let (method, path) = pseudo.check()?;
    let websocket = pseudo.protocol.is_some();
    let method = if websocket { b"GET" } else { method };
    let (_, target) = http1::parse_target(method, path)?;
    if path.len() > limits.target {
        return Err(Refusal::TargetTooLong);
    }
    let mut fields = fields(rest, limits.fields)?;
    let host = host(pseudo.authority, &fields)?;
    let length = content_length(rest)?;
    if end && (websocket || length.is_some_and(|length| length > 0)) {
        return Err(Refusal::Length);
    }
    if websocket {
        fields.retain(|field| !field.name.eq_ignore_ascii_case(KEY));
        fields.push(http1::Field { name: KEY, value: key, known: Known::Other });
    }
    let framing = match length {
        _ if websocket => Framing::None,
        Some(length) => Framing::Length(length),
        None if end => Framing::None,
        None => Framing::Chunked,
    };
    let mut request =
        Request::new(Line { method, target, version: Version::Http2, host }, fields, framing)?;
    request.websocket = websocket;
    Ok(request)
}

const KEY: &[u8] = b"sec-websocket-key";

/// RFC 9113, 8.2.3: HTTP/1.1 has one field for all cookies.
fn join_cookies(list: &mut Vec<Field>) {
    let mut cookies = list.iter().filter(|field| field.name == b"cookie");
    if cookies.nth(1).is_none() {
        return;
    }
    let mut joined: Vec<u8> = Vec::new();
    list.retain(|field| {
        let cookie = field.name == b"cookie";
        if cookie {
            if !joined.is_empty() {
                joined.extend_from_slice(b"; ");
            }
            joined.extend_from_slice(&field.value);
        }
        !cookie
    });
    list.push(Field { name: b"cookie".to_vec(), value: joined });
}

/// RFC 9113, 8.2: names in lower case, values without line ends and outer spaces, no fields of the
/// connection.
fn fields(list: &[Field], most: usize) -> Result<Vec<http1::Field<'_>>, Refusal> {
    if list.len() > most {
        return Err(Refusal::TooManyFields);
    }
    let mut fields = Vec::with_capacity(list.len() + 1);
    for Field { name, value } in list {
        if !http1::is_token(name) || name.iter().any(u8::is_ascii_uppercase) {
            return Err(Refusal::FieldName);
        }
        if !http1::is_value(value) || http1::trim(value).len() != value.len() {
            return Err(Refusal::FieldValue);
        }
        let known = Known::of(name);
        let valid = match known {
            Known::Te => value == b"trailers",
            Known::ContentLength => true,
            known => !known.is_hop_by_hop(),
        };
        if !valid {
            return Err(Refusal::FieldName);
        }
        fields.push(http1::Field { name, value, known });
    }
    Ok(fields)
}

/// The trailer fields that may be passed on ([`http1::trailers`]).
///
/// # Errors
/// Pseudo-header fields, and everything that [`request`] refuses.
pub fn trailers(list: &[Field]) -> Result<Vec<http1::Field<'_>>, Refusal> {
    let mut fields = fields(list, usize::MAX)?;
    fields.retain(|field| field.known == Known::Other);
    Ok(fields)
}

/// The authority, which must be the Host's, too (RFC 9113, 8.3.1).
fn host<'a>(authority: Option<&'a [u8]>, fields: &[http1::Field<'a>]) -> Result<&'a [u8], Refusal> {
    let of_fields = fields.iter().filter(|field| field.known == Known::Host);
    let mut hosts = of_fields.map(|field| field.value).chain(authority);
    let host = hosts.next().ok_or(Refusal::Host)?;
    let same = hosts.all(|other| other.eq_ignore_ascii_case(host));
    if same && http1::is_host(host) { Ok(host) } else { Err(Refusal::Host) }
}

/// Content-Length of a list: the DATA frames have as many bytes (RFC 9113, 8.1.1).
///
/// # Errors
/// Several, or no number.
pub(crate) fn content_length(list: &[Field]) -> Result<Option<u64>, Refusal> {
    let mut lengths = list.iter().filter(|field| field.name == b"content-length");
    match (lengths.next(), lengths.next()) {
        (None, _) => Ok(None),
        (Some(field), None) => http1::parse_length(&field.value).map(Some),
        (Some(_), Some(_)) => Err(Refusal::Length),
    }
}

/// A response of a server. `to_head`: the request's method is HEAD.
///
/// # Errors
/// Everything that RFC 9113, 8 calls malformed, and more fields than the limits allow.
pub fn response<'a>(
    list: &'a [Field],
    end: bool,
    to_head: bool,
    limits: &Limits,
) -> Result<Response<'a>, Refusal> {
    let (status, rest) = match list.split_first() {
        Some((field, rest)) if field.name == b":status" => (status(&field.value)?, rest),
        _ => return Err(Refusal::Pseudo),
    };
    let fields = fields(rest, limits.fields)?;
    let length = content_length(rest)?;
    let without = to_head || status < 200 || status == 204 || status == 304;
    let framing = match length {
        _ if without => Framing::None,
        None if end => Framing::Length(0),
        Some(length) => Framing::Length(length),
        None => Framing::UntilClose,
    };
    Ok(Response {
        version: Version::Http2,
        status,
        reason: b"",
        options: http1::Options::default(),
        fields,
        framing,
        length,
        keep_alive: true,
    })
}

/// Three digits. 101 does not exist in HTTP/2 (RFC 9113, 8.6).
fn status(value: &[u8]) -> Result<u16, Refusal> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let digits = value.len() == 3 && value.iter().all(u8::is_ascii_digit);
    match text.parse() {
        Ok(status) if digits && status >= 100 && status != 101 => Ok(status),
        _ => Err(Refusal::FirstLine),
    }
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

    /// `METHOD HOST TARGET name=value…` and the framing.
    fn read(fields: &[(&str, &str)], end: bool) -> Result<(String, Framing), Refusal> {
        let mut list = list(fields);
        let limits = Limits { target: 100, fields: 8, ..Limits::default() };
        let request = request(&mut list, end, b"KEY", &limits)?;
        let mut words = vec![request.method, request.host, request.target.path_and_query];
        let pairs: Vec<Vec<u8>> =
            request.fields.iter().map(|field| [field.name, b"=", field.value].concat()).collect();
        words.extend(pairs.iter().map(|pair| &pair[..]));
        assert_eq!((request.version, request.keep_alive), (Version::Http2, true));
        Ok((String::from_utf8(words.join(&b' ')).unwrap(), request.framing))
    }

    #[test]
    fn a_request_has_the_structure_of_one_of_http_1() {
        let line = "GET a.test /p?q";
        assert_eq!(read(&GET, true), Ok((line.to_owned(), Framing::None)));
        assert_eq!(read(&GET, false), Ok((line.to_owned(), Framing::Chunked)));
        let cookies = [&GET[..], &[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]].concat();
        assert_eq!(
            read(&cookies, true),
            Ok((format!("{line} x=y cookie=a=1; b=2"), Framing::None))
        );
        let length = [&GET[..], &[("content-length", "5")]].concat();
        let wanted = (format!("{line} content-length=5"), Framing::Length(5));
        assert_eq!(read(&length, false), Ok(wanted));
        let host = [&GET[..2], &GET[3..], &[("host", "h.test")]].concat();
        assert_eq!(read(&host, true).unwrap().0, "GET h.test /p?q host=h.test");
    }

    #[test]
    fn extended_connect_becomes_an_upgrade() {
        let connect = [&[(":protocol", "websocket"), (":method", "CONNECT")][..], &GET[1..]];
        let (text, framing) = read(&connect.concat(), false).unwrap();
        assert_eq!((&text[..], framing), ("GET a.test /p?q sec-websocket-key=KEY", Framing::None));
        assert_eq!(read(&connect.concat(), true), Err(Refusal::Length));
    }

    #[test]
    fn malformed_requests_are_refused() {
        let malformed = |fields: &[(&str, &str)], end| match read(fields, end) {
            Err(refusal) => refusal.status() == 400,
            Ok(_) => false,
        };
        for (at, value) in [
            (0, "G T"),
            (0, "CONNECT"),
            (0, "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"),
            (1, "http\r\n"),
            (2, "a b"),
            (2, "a,b"),
            (3, ""),
            (3, "p"),
            (3, "*"),
            (3, "/#a"),
            (3, "/ HTTP/1.1\r\nX: y"),
        ] {
            let mut fields = GET;
            fields[at].1 = value;
            assert!(malformed(&fields, true), "{value:?}");
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
            assert!(malformed(&fields, true), "{field:?}");
        }
        let twice = [&GET[..], &[("content-length", "1"), ("content-length", "1")]].concat();
        assert!(malformed(&twice, false));
        for missing in GET {
            let fields: Vec<_> = GET.into_iter().filter(|field| *field != missing).collect();
            assert!(malformed(&fields, true), "without {missing:?}");
        }
        let behind = [&[("a", "b")][..], &GET].concat();
        assert!(malformed(&behind, true), "a pseudo-header field behind another");
    }

    #[test]
    fn limits_have_the_statuses_of_http_1() {
        let long = format!("/{}", "a".repeat(100));
        let target = [&GET[..3], &[(":path", &*long)]].concat();
        assert_eq!(read(&target, true), Err(Refusal::TargetTooLong));
        let many = [&GET[..], &[("a", "b"); 9]].concat();
        assert_eq!(read(&many, true), Err(Refusal::TooManyFields));
        let trace = [&[(":method", "TRACE")][..], &GET[1..]].concat();
        assert_eq!(read(&trace, true), Err(Refusal::Method));
        let expect = [&GET[..], &[("expect", "x")]].concat();
        assert_eq!(read(&expect, true), Err(Refusal::Expectation));
    }

    #[test]
    fn trailers_have_no_pseudo_header_fields() {
        let passed = list(&[("grpc-status", "0"), ("host", "x"), ("x", "y")]);
        let names: Vec<&[u8]> = trailers(&passed).unwrap().iter().map(|field| field.name).collect();
        assert_eq!(names, [&b"grpc-status"[..], b"x"]);
        assert!(trailers(&list(&[(":path", "/evil")])).is_err());
    }

    #[test]
    fn a_response_is_framed_by_its_length_or_the_end_of_its_stream() {
        let framing = |fields: &[(&str, &str)], end, to_head| {
            let list = list(fields);
            response(&list, end, to_head, &Limits::default()).map(|r| (r.status, r.framing))
        };
        let five = [(":status", "200"), ("content-length", "5")];
        assert_eq!(framing(&five, false, false), Ok((200, Framing::Length(5))));
        assert_eq!(framing(&five, true, true), Ok((200, Framing::None)));
        assert_eq!(framing(&five[..1], false, false), Ok((200, Framing::UntilClose)));
        assert_eq!(framing(&five[..1], true, false), Ok((200, Framing::Length(0))));
        for status in ["", "99", "101", "2000", "abc", "+20"] {
            assert!(framing(&[(":status", status)], true, false).is_err(), "{status}");
        }
        assert!(framing(&[("a", "b")], true, false).is_err());
        assert!(framing(&[five[0], ("connection", "close")], true, false).is_err());
    }
}
