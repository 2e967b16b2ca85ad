//! Messages that the load balancer passes on. What it writes must be read in one way only: the
//! message that is parsed from it is the one that was written.

use ::proxying::caching::{
    Arrival, Asker, RequestDirectives, Stale, Terms, Use, Validators, combined, is_not_modified,
    names,
};
use ::proxying::engine_link::analytics::{Portion, portions};
use ::proxying::engine_link::{self, Message};
use ::proxying::http1::{
    self, Body, Field, Framing, HeadEnd, Limits, Piece, Request, Response, Version,
};
use ::proxying::http2::connection::{Connection, Event, Limits as ConnectionLimits, Role};
use ::proxying::http2::frame::{self, Frame};
use ::proxying::http2::{hpack, message};
use ::proxying::http3;
use ::proxying::proxy_header::{Addresses, Version as HeaderVersion, parse, write};

fn head(data: &[u8]) -> Option<usize> {
    let whole = HeadEnd::default().find(data, &Limits::default());
    let mut end = HeadEnd::default();
    let mut pieces = Ok(None);
    for length in 0..=data.len() {
        pieces = end.find(&data[..length], &Limits::default());
        if pieces != Ok(None) {
            break;
        }
    }
    // In pieces, a limit may be found before the end of its line is.
    match (whole, pieces) {
        (Ok(whole), pieces) => assert_eq!(Ok(whole), pieces),
        (Err(_), pieces) => assert!(pieces.is_err()),
    }
    whole.ok().flatten()
}

/// The content of a body that has ended, and the bytes behind it.
fn content(framing: Framing, mut rest: &[u8], size: usize) -> Option<(Vec<u8>, Body, &[u8])> {
    let (mut body, mut content) = (Body::new(framing), Vec::new());
    loop {
        let piece = &rest[..rest.len().min(size)];
        let (length, piece) = body.next(piece).ok()?;
        rest = &rest[length..];
        match piece {
            Piece::Data(data) => content.extend_from_slice(data),
            Piece::End => return Some((content, body, rest)),
            Piece::More if rest.is_empty() => return None,
            Piece::More => {}
        }
    }
}

fn fields(out: &mut Vec<u8>, fields: &[Field<'_>]) {
    for field in fields {
        http1::field(out, field.name, field.value);
    }
}

/// A body is the same in any pieces, and the same after it was written in chunks.
fn body(framing: Framing, rest: &[u8]) {
    let Some((whole, end, behind)) = content(framing, rest, usize::MAX) else {
        assert!(content(framing, rest, 1).is_none());
        return;
    };
    let single = content(framing, rest, 1).expect("a body in pieces ends where the whole does");
    assert_eq!((&single.0, single.2), (&whole, behind));
    let trailers = http1::trailers(end.trailers()).expect("they were checked");
    let mut written = Vec::new();
    http1::chunk(&mut written, &whole);
    http1::end_of_chunks(&mut written, &trailers);
    written.extend_from_slice(b"next");
    let again = content(Framing::Chunked, &written, usize::MAX).expect("valid chunks");
    assert_eq!((&again.0, again.2), (&whole, &b"next"[..]));
    assert_eq!(http1::trailers(again.1.trailers()), Ok(trailers));
}

pub(crate) fn request(data: &[u8]) {
    let Some(length) = head(data) else { return };
    let Ok(request) = Request::parse(&data[..length], &Limits::default()) else { return };
    let (path, _) = request.target.split();
    assert!(path == b"*" || path.starts_with(b"/"));
    let root: &[u8] = if request.target.missing_root { b"/" } else { b"" };
    let mut written = Vec::new();
    http1::request_line(&mut written, request.method, &[root, request.target.path_and_query]);
    http1::field(&mut written, b"Host", request.host);
    let passed: Vec<Field<'_>> = request.end_to_end().copied().collect();
    fields(&mut written, &passed);
    written.extend_from_slice(b"\r\n");
    if !request.host.is_empty() && written.len() <= Limits::default().head {
        let end = head(&written).expect("a complete head");
        assert_eq!(end, written.len());
        let again = Request::parse(&written, &Limits::default()).expect("a valid request");
        let kept: Vec<Field<'_>> = again.end_to_end().copied().collect();
        assert_eq!((again.framing, kept), (Framing::None, passed));
        assert_eq!(again.target.split(), request.target.split());
    }
    body(request.framing, &data[length..]);
}

pub(crate) fn response(data: &[u8]) {
    let Some(length) = head(data) else { return };
    for to_head in [false, true] {
        let Ok(response) = Response::parse(&data[..length], to_head, &Limits::default()) else {
            return;
        };
        assert!(!to_head || response.framing == Framing::None);
        assert!(response.version == Version::Http11 || response.framing != Framing::Chunked);
        let mut written = Vec::new();
        http1::status_line(&mut written, response.status, response.reason);
        let passed: Vec<Field<'_>> = response.end_to_end().copied().collect();
        fields(&mut written, &passed);
        written.extend_from_slice(b"\r\n");
        if written.len() <= Limits::default().head {
            let again = Response::parse(&written, to_head, &Limits::default()).expect("valid");
            let kept: Vec<Field<'_>> = again.end_to_end().copied().collect();
            assert_eq!(
                (again.status, again.reason, kept),
                (response.status, response.reason, passed)
            );
        }
        if !matches!(response.framing, Framing::UntilClose) {
            body(response.framing, &data[length..]);
        }
    }
}

/// A connection keeps its limits whatever arrives, on either side.
fn connection(role: Role, data: &[u8]) {
    let mut input = Vec::new();
    if role == Role::Server {
        input.extend_from_slice(frame::PREFACE);
    }
    frame::settings_frame(&mut input, &[]);
    input.extend_from_slice(data);
    let limits = ConnectionLimits { streams: 2, list: 1000 };
    let mut connection = Connection::new(role, limits, 0);
    let mut rest = &input[..];
    let mut opened = 0;
    loop {
        if connection.open(&[0x82], data.len().is_multiple_of(2)).is_some() {
            assert_eq!(role, Role::Client);
            opened += 1;
        }
        let Ok((length @ 1.., event)) = connection.receive(rest, 0) else { break };
        rest = &rest[length..];
        match event {
            Some(Event::Head { stream, .. }) if role == Role::Server => {
                connection.send_headers(stream, &[0x88], false);
                connection.send_data(stream, b"hello", data.len().is_multiple_of(2));
            }
            Some(Event::Data { stream, counted, .. }) => connection.consumed(stream, counted),
            _ => {}
        }
        assert!(connection.streams() <= 2);
    }
    assert!(connection.output.len() <= 200 + 4 * input.len() + 10 * opened);
}

/// Frames and header blocks never panic; a list is the same after it was written; a request that
/// passes is one request of HTTP/1.1.
pub(crate) fn http2(data: &[u8]) {
    connection(Role::Server, data);
    connection(Role::Client, data);
    const LIST_MAX: usize = 16_384;
    let mut decoder = hpack::Decoder::default();
    let mut rest = data;
    loop {
        let (length, block) = match frame::parse(rest) {
            Ok(Some((
                length,
                Frame::Headers { block, .. } | Frame::Continuation { block, .. },
            ))) => (length, block),
            Ok(Some((length, _))) | Err((length, _)) => (length, &[][..]),
            Ok(None) => return,
        };
        assert!(length >= frame::HEADER);
        rest = &rest[length..];
        let Ok(list) = decoder.decode(block, LIST_MAX) else { return };
        let mut written = Vec::new();
        for field in &list.fields {
            hpack::encode(&mut written, &field.name, &field.value);
        }
        let again = hpack::Decoder::default().decode(&written, LIST_MAX).expect("a valid block");
        let lower = |name: &[u8]| name.to_ascii_lowercase();
        assert_eq!(again.fields.len(), list.fields.len());
        for (again, field) in again.fields.iter().zip(&list.fields) {
            assert_eq!((&again.name, &again.value), (&lower(&field.name), &field.value));
        }
        let mut list = list;
        if let Ok(request) = message::request(&mut list.fields, true, b"key", &Limits::default()) {
            is_one_request(&request);
        }
    }
}

/// What is seen of a request stream that arrives in pieces: its content, heads, resets, and the connection's end.
fn request_stream(data: &[u8], size: usize) -> (Vec<u8>, [u32; 2], Option<http3::frame::Code>) {
    let limits = ConnectionLimits { streams: 10, list: 16_384 };
    let mut connection = http3::connection::Connection::new(limits, 0);
    let number = connection.begin(0).expect("the first stream");
    let (mut content, mut counts) = (Vec::new(), [0, 0]);
    for piece in data.chunks(size).chain([&[][..]]) {
        let mut rest = piece;
        loop {
            let received = connection.receive(number, rest, piece.is_empty(), 0);
            let Ok((taken, events)) = received else { return (content, counts, received.err()) };
            for event in events.into_iter().flatten() {
                match event {
                    Event::Head { .. } => counts[0] += 1,
                    Event::Data { data, .. } => content.extend_from_slice(data),
                    Event::Reset { .. } => counts[1] += 1,
                    _ => {}
                }
            }
            assert!(taken > 0 || rest.is_empty());
            rest = &rest[taken..];
            if rest.is_empty() {
                break;
            }
        }
    }
    (content, counts, None)
}

/// Streams of HTTP/3 are read to the end; what QPACK decodes is encoded as the same.
pub(crate) fn http3(data: &[u8]) {
    let (whole, single) = (request_stream(data, usize::MAX), request_stream(data, 1));
    // An error takes what has arrived with it.
    if whole.1[1] == 0 && whole.2.is_none() && single.2.is_none() {
        assert_eq!((&whole.0, whole.1), (&single.0, single.1));
    }
    let limits = ConnectionLimits { streams: 10, list: 16_384 };
    let mut connection = http3::connection::Connection::new(limits, 0);
    let (one, two) = data.split_at(data.len() / 2);
    let valid = connection.receive_unidirectional(2, one, false, 0).is_ok();
    if valid && connection.receive_unidirectional(6, two, false, 0).is_err() {
        assert!(connection.closed().is_some());
    }
    let Ok(list) = http3::qpack::decode(data, 16_384) else { return };
    let mut written = vec![0, 0];
    for field in &list.fields {
        http3::qpack::encode(&mut written, &field.name, &field.value);
    }
    let again = http3::qpack::decode(&written, 16_384).expect("a valid section");
    let lower = list.fields.iter().map(|field| (field.name.to_ascii_lowercase(), &field.value));
    assert!(again.fields.iter().map(|field| (field.name.clone(), &field.value)).eq(lower));
}

/// A request that is written for HTTP/1.1 is read as the same request.
fn is_one_request(request: &Request<'_>) {
    let mut head = Vec::new();
    http1::request_line(&mut head, request.method, &[request.target.path_and_query]);
    http1::field(&mut head, b"Host", request.host);
    for field in request.end_to_end() {
        http1::field(&mut head, field.name, field.value);
    }
    head.extend_from_slice(b"\r\n");
    let limits = Limits { head: usize::MAX, fields: 200, ..Limits::default() };
    assert_eq!(HeadEnd::default().find(&head, &limits), Ok(Some(head.len())));
    let again = Request::parse(&head, &limits).expect("a valid request");
    assert_eq!((again.method, again.host), (request.method, request.host));
    assert!(
        again.target == request.target && again.fields.len() == request.end_to_end().count() + 1
    );
}

pub(crate) fn proxy_header(data: &[u8]) {
    let whole = parse(data);
    if let Ok(Some((length, addresses))) = whole {
        assert!(length <= data.len());
        assert_eq!(parse(&data[..length - 1]), Ok(None), "a header without its last byte");
        let Some(Addresses { source, destination }) = addresses else { return };
        for version in [HeaderVersion::V1, HeaderVersion::V2] {
            let mut written = Vec::new();
            write(&mut written, version, &Addresses { source, destination });
            assert_eq!(parse(&written), Ok(Some((written.len(), addresses))));
        }
    }
}

/// Messages one after the other, as either side reads them.
pub(crate) fn engine_link(data: &[u8]) {
    let mut rest = data;
    while let Ok(Some(length)) = engine_link::message_len(rest, engine_link::MESSAGE_MAX) {
        let Some((bytes, behind)) = rest.split_at_checked(length) else { return };
        if let Ok(message) = Message::read(bytes) {
            let mut written = Vec::new();
            message.write(&mut written);
            assert_eq!(written, bytes, "{message:?}");
        }
        rest = behind;
    }
}

/// What an engine counts.
pub(crate) fn engine_analytics(data: &[u8]) {
    let Ok(Portion { usage, objects }) = Portion::read(data) else { return };
    let written = portions(&usage, &objects);
    assert_eq!(written, [data], "{usage:?} {objects:?}");
    for object in &objects {
        let mut twice = object.counts.clone();
        twice.add(&object.counts);
        let once = twice.since(&object.counts);
        assert!(once.total.count() <= twice.total.count());
        let _any = object.counts.response.quantile_us(0.95);
    }
}

/// A request and a response, with a zero byte between. What is stored is fresh or can be validated, and is for nobody in
/// particular.
pub(crate) fn caching(data: &[u8]) {
    let Some(at) = data.iter().position(|byte| *byte == 0) else { return };
    let (Some(request), Some(response)) = (head(&data[..at]), head(&data[at + 1..])) else {
        return;
    };
    let Ok(request) = Request::parse(&data[..request], &Limits::default()) else { return };
    let response = &data[at + 1..at + 1 + response];
    let Ok(response) = Response::parse(response, false, &Limits::default()) else { return };
    let (asked, asker) =
        (RequestDirectives::of(&request.fields), Asker::of(&request.fields, |_| false));
    let arrival = Arrival { at_s: 784_111_777, delay_s: 1 };
    let _known = is_not_modified(&request.fields, &response.fields);
    let usual = Stale { if_error_s: 9, while_revalidate_s: 5 };
    let Some(terms) = Terms::of(response.status, &response.fields, asker, arrival, usual) else {
        return;
    };
    let age_s = arrival.age_s(&response.fields);
    let names = names(&response.fields).expect("a stored response varies by names");
    assert!(names.iter().all(|name| combined(&[], name).is_none()));
    assert!(terms.suits(asker, names.iter().any(|name| name == "cookie")));
    let fresh = terms.usable(age_s, &RequestDirectives::default()) == Use::Fresh;
    assert!(fresh || Validators::of(&response.fields).is_some());
    assert!(fresh || terms.usable(age_s, &asked) == Use::Validate);
    assert!(!response.fields.iter().any(|field| field.name.eq_ignore_ascii_case(b"set-cookie")));
}
