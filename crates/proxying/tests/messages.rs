//! Messages that are accepted, with what is understood, and messages that are refused, with the reason.

use proxying::http1::{
    Body, Framing, HeadEnd, Known, Limits, Piece, Refusal, Request, Response, Version, trailers,
};
use proxying::proxy_header;

/// Adds the parts of a valid request around the lines of interest.
fn request_of(lines: &str) -> Vec<u8> {
    format!("POST /a HTTP/1.1\r\nHost: app.test\r\n{lines}\r\n").into_bytes()
}

fn parse(bytes: &[u8]) -> Result<Request<'_>, Refusal> {
    let length = HeadEnd::default().find(bytes, &Limits::default())?.expect("a complete head");
    Request::parse(&bytes[..length], &Limits::default())
}

#[test]
fn the_length_of_a_request_has_one_meaning() {
    let accepted = [
        ("", Framing::None),
        ("Content-Length: 0\r\n", Framing::Length(0)),
        ("Content-Length: \t 12 \r\n", Framing::Length(12)),
        ("content-length:00012\r\n", Framing::Length(12)),
        ("Transfer-Encoding: chunked\r\n", Framing::Chunked),
        ("tRANSFER-eNCODING: Chunked\r\n", Framing::Chunked),
    ];
    for (lines, framing) in accepted {
        assert_eq!(parse(&request_of(lines)).map(|r| r.framing), Ok(framing), "{lines:?}");
    }
    let refused = [
        ("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", Refusal::Framing),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Refusal::Framing),
        ("Transfer-Encoding: \r\n", Refusal::Framing),
        ("Transfer-Encoding: identity\r\n", Refusal::Coding),
        ("Transfer-Encoding: gzip, chunked\r\n", Refusal::Coding),
        ("Transfer-Encoding: chunked, chunked\r\n", Refusal::Coding),
        ("Transfer-Encoding: , chunked\r\n", Refusal::Coding),
        ("Transfer-Encoding: \x0bchunked\r\n", Refusal::FieldValue),
        ("Transfer-Encoding : chunked\r\n", Refusal::FieldName),
        ("Transfer-Encoding\r\n : chunked\r\n", Refusal::FieldName),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", Refusal::Length),
        ("Content-Length: 5, 5\r\n", Refusal::Length),
        ("Content-Length: +5\r\n", Refusal::Length),
        ("Content-Length: -5\r\n", Refusal::Length),
        ("Content-Length: 0x5\r\n", Refusal::Length),
        ("Content-Length: 5 5\r\n", Refusal::Length),
        ("Content-Length: \r\n", Refusal::Length),
        ("Content-Length: 18446744073709551621\r\n", Refusal::Length),
        ("X: a\r\n folded\r\n", Refusal::FieldName),
        ("X: a\rb\r\n", Refusal::LineEnd),
        ("X: a\0b\r\n", Refusal::FieldValue),
        ("X: a\nTransfer-Encoding: chunked\r\n", Refusal::LineEnd),
        ("Expect: banana\r\n", Refusal::Expectation),
    ];
    for (lines, refusal) in refused {
        assert_eq!(parse(&request_of(lines)).map(|r| r.framing), Err(refusal), "{lines:?}");
    }
    let old = b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(parse(old).map(|r| r.framing), Err(Refusal::Framing));
}

#[test]
fn first_lines() {
    let refused = [
        ("GET / HTTP/2.0", Refusal::Version),
        ("GET / http/1.1", Refusal::FirstLine),
        ("GET /  HTTP/1.1", Refusal::FirstLine),
        ("GET\t/ HTTP/1.1", Refusal::FirstLine),
        ("GE(T / HTTP/1.1", Refusal::FirstLine),
        ("GET / HTTP/1.1 ", Refusal::FirstLine),
        ("GET /", Refusal::FirstLine),
        ("GET a HTTP/1.1", Refusal::Target),
        ("GET * HTTP/1.1", Refusal::Target),
        ("GET /a#b HTTP/1.1", Refusal::Target),
        ("GET ftp://a/ HTTP/1.1", Refusal::Target),
        ("GET http://a@b/ HTTP/1.1", Refusal::Host),
        ("CONNECT a:443 HTTP/1.1", Refusal::Method),
    ];
    for (line, refusal) in refused {
        let bytes = format!("{line}\r\nHost: a\r\n\r\n").into_bytes();
        assert_eq!(parse(&bytes).map(|r| r.version), Err(refusal), "{line}");
    }
    let absolute = parse(b"GET http://abs.test?q HTTP/1.1\r\nHost: other\r\n\r\n").expect("valid");
    assert_eq!((absolute.host, absolute.target.missing_root), (&b"abs.test"[..], true));
    assert_eq!(absolute.target.split(), (&b"/"[..], Some(&b"q"[..])));
}

#[test]
fn hosts() {
    let with = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes();
    for host in ["a.test", "a.test:80", "a_b.test", "[::1]", "[2001:db8::1]:8080", "1.2.3.4"] {
        assert!(parse(&with(host)).is_ok(), "{host}");
    }
    for host in ["", "a b", "a.test, b.test", "a@b", "a/b", "[::1", "[x]", "a:70000", "a:b", ":80"]
    {
        assert_eq!(parse(&with(host)).map(|r| r.framing), Err(Refusal::Host), "{host}");
    }
    assert_eq!(parse(b"GET / HTTP/1.1\r\n\r\n").map(|r| r.framing), Err(Refusal::Host));
    assert!(parse(b"GET / HTTP/1.0\r\n\r\n").is_ok());
}

#[test]
fn fields_of_one_hop_are_not_passed_on() {
    let bytes = request_of(
        "Connection: keep-alive, X-Hop\r\nKeep-Alive: 5\r\nX-Hop: 1\r\nX-End: 2\r\nTE: gzip\r\n\
         Proxy-Connection: x\r\nUpgrade: h2c\r\nConnection: Host\r\n",
    );
    let request = parse(&bytes).expect("valid");
    let names: Vec<&[u8]> = request.end_to_end().map(|field| field.name).collect();
    assert_eq!(names, [b"X-End"]);
    assert_eq!(request.host, b"app.test");
    assert!(request.keep_alive && !request.websocket && !request.accepts_trailers);
}

#[test]
fn versions_and_connections() {
    let keep = |text: &str| parse(text.as_bytes()).map(|r| r.keep_alive);
    assert_eq!(keep("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Ok(true));
    assert_eq!(keep("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"), Ok(false));
    assert_eq!(keep("GET / HTTP/1.0\r\n\r\n"), Ok(false));
    assert_eq!(keep("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), Ok(true));
}

fn decoded(framing: Framing, input: &[u8]) -> Result<(Vec<u8>, Body, usize), Refusal> {
    let (mut body, mut content, mut at) = (Body::new(framing), Vec::new(), 0);
    loop {
        let (length, piece) = body.next(&input[at..])?;
        at += length;
        match piece {
            Piece::Data(data) => content.extend_from_slice(data),
            Piece::More => return Ok((content, body, at)),
            Piece::End => return Ok((content, body, at)),
        }
    }
}

#[test]
fn chunks() {
    let input =
        b"5;a=b\r\nhello\r\n0010\r\n0123456789abcdef\r\n0\r\nX-Sum: 1\r\nHost: b\r\n\r\nGET";
    let (content, body, length) = decoded(Framing::Chunked, input).expect("valid");
    assert_eq!(content, b"hello0123456789abcdef");
    assert!(body.has_ended());
    assert_eq!(&input[length..], b"GET");
    let fields = trailers(body.trailers()).expect("valid");
    assert_eq!(fields.len(), 1, "a host in the trailers would route nothing");
    assert_eq!((fields[0].name, fields[0].known), (&b"X-Sum"[..], Known::Other));
    let refused: [&[u8]; 12] = [
        b"5\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloX\r\n0\r\n\r\n",
        b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5;a\rb\r\nhello\r\n0\r\n\r\n",
        b"10000000000000000\r\n",
        b"0\r\nX : 1\r\n\r\n",
        b"0\r\nX: 1\n\r\n",
    ];
    for input in refused {
        assert!(decoded(Framing::Chunked, input).is_err(), "{:?}", String::from_utf8_lossy(input));
    }
}

#[test]
fn responses() {
    let parse = |text: &'static str, to_head| {
        Response::parse(text.as_bytes(), to_head, &Limits::default()).map(|r| (r.status, r.framing))
    };
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Ok((200, Framing::Length(5)))),
        ("HTTP/1.1 200\r\n\r\n", Ok((200, Framing::UntilClose))),
        ("HTTP/1.0 299 \r\n\r\n", Ok((299, Framing::UntilClose))),
        ("HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\n", Ok((204, Framing::None))),
        ("HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n", Ok((304, Framing::None))),
        ("HTTP/2.0 200 OK\r\n\r\n", Err(Refusal::Version)),
        ("HTTP/1.1 20 OK\r\n\r\n", Err(Refusal::FirstLine)),
        ("HTTP/1.1  200 OK\r\n\r\n", Err(Refusal::FirstLine)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Err(Refusal::Length)),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            Err(Refusal::Framing),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text, false), expected, "{text:?}");
    }
    let to_head = parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true);
    assert_eq!(to_head, Ok((200, Framing::None)));
    let old =
        Response::parse(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false, &Limits::default());
    assert_eq!(old.map(|r| (r.version, r.keep_alive)), Ok((Version::Http10, false)));
}

#[test]
fn proxy_headers() {
    let addresses = |bytes: &[u8]| {
        let parsed = proxy_header::parse(bytes);
        parsed.map(|parsed| parsed.map(|(length, a)| (length, a.map(|a| a.source.to_string()))))
    };
    let source = |text: &str| Some(text.to_owned());
    let v1 = b"PROXY TCP4 1.2.3.4 5.6.7.8 8080 443\r\nGET";
    assert_eq!(addresses(v1), Ok(Some((37, source("1.2.3.4:8080")))));
    assert_eq!(addresses(b"PROXY UNKNOWN ffff::1 x\r\n"), Ok(Some((25, None))));
    assert_eq!(addresses(b"PROXY TCP4 1.2.3.4"), Ok(None));
    assert_eq!(addresses(b""), Ok(None));
    let v2 = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x02\x03\x04\x05\x06\x07\x08\x1f\x90\x01\xbb";
    assert_eq!(addresses(v2), Ok(Some((28, source("1.2.3.4:8080")))));
    assert_eq!(addresses(&v2[..20]), Ok(None));
    let refused: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\n",
        b"PROXY TCP4 1.2.3.999 5.6.7.8 8080 443\r\n",
        b"PROXY TCP6 1.2.3.4 5.6.7.8 8080 443\r\n",
        b"PROXY UDP4 1.2.3.4 5.6.7.8 8080 443\r\n",
        b"PROXY TCP4 1.2.3.4 5.6.7.8 8080 443 5\r\n",
        b"PROXY TCP4 1.2.3.4 5.6.7.8 +80 443\r\n",
        b"\r\n\r\n\0\r\nQUIT\n\x31\x11\0\x0c",
    ];
    for bytes in refused {
        assert!(addresses(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
    }
}
