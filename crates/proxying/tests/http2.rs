//! Connections of HTTP/2: streams, windows and limits.

use proxying::http2::connection::{
    CONNECTION_WINDOW, Connection, Event, Limits, OUTPUT_MAX, Role, STREAM_WINDOW,
};
use proxying::http2::frame::{self, Code, Frame, PREFACE, Setting};
use proxying::http2::hpack;

const LIMITS: Limits = Limits { streams: 3, list: 4096 };

/// A connection whose client has sent its preface and settings, and its output so far is gone.
fn open() -> Connection {
    let mut connection = Connection::new(Role::Server, LIMITS, 0);
    let mut input = PREFACE.to_vec();
    frame::settings_frame(&mut input, &[]);
    assert_eq!(feed(&mut connection, &input), Ok(vec!["window 0".to_owned()]));
    connection.output.clear();
    connection
}

fn feed_at(connection: &mut Connection, input: &[u8], ms: u64) -> Result<Vec<String>, Code> {
    let (mut rest, mut events) = (input, Vec::new());
    loop {
        let (length, event) = connection.receive(rest, ms)?;
        rest = &rest[length..];
        events.extend(event.map(|event| match event {
            Event::Head { stream, list, end, .. } => {
                format!("head {stream} {} {}{end}", list.fields.len(), large(&list))
            }
            Event::Data { stream, data, end, .. } => format!("data {stream} {} {end}", data.len()),
            Event::Trailers { stream, list } => format!("trailers {stream} {}", list.fields.len()),
            Event::Reset { stream, code } => format!("reset {stream} {code}"),
            Event::Window { stream } => format!("window {stream}"),
            Event::GoAway { last } => format!("goaway {last}"),
        }));
        if length == 0 || rest.is_empty() {
            return Ok(events);
        }
    }
}

fn large(list: &hpack::List) -> &'static str {
    if list.too_large { "too large " } else { "" }
}

fn feed(connection: &mut Connection, input: &[u8]) -> Result<Vec<String>, Code> {
    feed_at(connection, input, 0)
}

fn head(stream: u32, end: bool) -> Vec<u8> {
    let mut out = Vec::new();
    frame::headers(&mut out, stream, &[0x82, 0x86, 0x84, 0x41, 1, b'a'], end, 16_384);
    out
}

fn data(stream: u32, size: usize, end: bool) -> Vec<u8> {
    let mut out = Vec::new();
    frame::data(&mut out, stream, &vec![b'd'; size], end);
    out
}

/// The frames of the output, without their content; it is empty afterwards.
fn sent(connection: &mut Connection) -> Vec<String> {
    let output = std::mem::take(&mut connection.output);
    let (mut rest, mut frames) = (&output[..], Vec::new());
    while let Some((length, frame)) = frame::parse(rest).expect("valid frames") {
        frames.push(match frame {
            Frame::Data { stream, data, end, .. } => format!("data {stream} {} {end}", data.len()),
            Frame::Headers { stream, end, .. } => format!("headers {stream} {end}"),
            Frame::Reset { stream, code } => format!("reset {stream} {code}"),
            Frame::GoAway { last, code } => format!("goaway {last} {code}"),
            Frame::Window { stream, increment } => format!("window {stream} {increment}"),
            other => format!("{other:?}"),
        });
        rest = &rest[length..];
    }
    frames
}

#[test]
fn limits_are_announced_and_a_request_is_responded_to() {
    let mut connection = Connection::new(Role::Server, LIMITS, 0);
    let settings = [Setting::Streams(3), Setting::ListSize(4096), Setting::ExtendedConnect(true)];
    let window = CONNECTION_WINDOW - STREAM_WINDOW;
    let wanted =
        [format!("{:?}", Frame::Settings(settings.to_vec())), format!("window 0 {window}")];
    assert_eq!(sent(&mut connection), wanted);
    let mut connection = open();
    let input = [head(1, false), data(1, 5, false), data(1, 2, true)].concat();
    let events = feed(&mut connection, &input).unwrap();
    assert_eq!(events, ["head 1 4 false", "data 1 5 false", "data 1 2 true"]);
    connection.send_headers(1, &[0x88], false);
    assert_eq!(connection.send_data(1, b"hello", true), 5);
    assert_eq!(sent(&mut connection), ["headers 1 false", "data 1 5 true"]);
    assert_eq!(connection.streams(), 0);
}

#[test]
fn frames_that_a_stream_may_not_have_end_it_or_the_connection() {
    let mut continuation = Vec::new();
    frame::headers(&mut continuation, 1, &[0x82, 0x86, 0x84], true, 2);
    let (first, second) = continuation.split_at(11);
    let mut reset = Vec::new();
    frame::reset(&mut reset, 1, Code::Cancel);
    let protocol = Err(Code::Protocol);
    for (input, wanted, why) in [
        (data(1, 1, true), protocol, "DATA on an idle stream"),
        (reset.clone(), protocol, "RST_STREAM on an idle stream"),
        (head(2, true), protocol, "an even stream"),
        ([head(3, true), head(1, true)].concat(), protocol, "a lower stream"),
        ([first, &head(3, true)].concat(), protocol, "a frame within a header block"),
        (second.to_vec(), protocol, "CONTINUATION without HEADERS"),
        ([head(1, true), reset.clone(), head(1, true)].concat(), Err(Code::StreamClosed), "closed"),
        ([head(1, false), head(1, false)].concat(), Ok("reset 1 1"), "trailers without an end"),
        ([head(1, true), data(1, 1, true)].concat(), Ok("reset 1 5"), "DATA after the end"),
        ([head(1, true), head(1, true)].concat(), Ok("reset 1 5"), "HEADERS after the end"),
    ] {
        let mut connection = open();
        let result = feed(&mut connection, &input);
        match wanted {
            Err(code) => assert_eq!(result, Err(code), "{why}"),
            Ok(reset) => {
                assert!(result.is_ok(), "{why}");
                assert!(sent(&mut connection).contains(&reset.to_owned()), "{why}");
            }
        }
    }
    assert_eq!(
        Connection::new(Role::Server, LIMITS, 0).receive(b"GET / HTTP/1.1\r\n", 0),
        Err(Code::Protocol)
    );
}

#[test]
fn content_waits_for_stream_and_connection_windows() {
    let mut connection = open();
    let mut input = Vec::new();
    frame::settings_frame(&mut input, &[(4, 10)]);
    input.extend(head(1, true));
    feed(&mut connection, &input).unwrap();
    assert_eq!(connection.send_data(1, &[0; 50], true), 10);
    assert_eq!(connection.send_data(1, &[0; 40], true), 0);
    let mut more = Vec::new();
    frame::window(&mut more, 1, 100_000);
    assert_eq!(feed(&mut connection, &more), Ok(vec!["window 1".to_owned()]));
    let large = vec![0; 100_000];
    let mut total = 10;
    while let length @ 1.. = connection.send_data(1, &large, false) {
        assert!(length <= frame::PAYLOAD_MAX);
        total += length;
        connection.output.clear();
    }
    assert_eq!(total, 65_535, "the window of the connection");
    let mut over = Vec::new();
    frame::window(&mut over, 0, 0x7fff_ffff);
    feed(&mut connection, &over).unwrap();
    assert_eq!(feed(&mut connection, &over), Err(Code::FlowControl));
}

#[test]
fn a_client_sends_no_more_than_its_windows() {
    let mut connection = open();
    feed(&mut connection, &head(1, false)).unwrap();
    for _ in 0..3 {
        feed(&mut connection, &data(1, 16_384, false)).unwrap();
    }
    feed(&mut connection, &data(1, 16_383, false)).unwrap();
    connection.consumed(1, 1);
    assert!(sent(&mut connection).is_empty(), "one byte is not worth a frame");
    connection.consumed(1, 32_766);
    assert_eq!(sent(&mut connection), ["window 1 32767"]);
    for size in [16_384, 16_383] {
        feed(&mut connection, &data(1, size, false)).unwrap();
    }
    assert_eq!(feed(&mut connection, &data(1, 1, false)), Ok(vec!["reset 1 3".to_owned()]));
    assert_eq!(sent(&mut connection), ["reset 1 3"]);
    // Content of a stream that was reset is ignored, and the connection's window gets it back.
    for _ in 0..60 {
        assert_eq!(feed(&mut connection, &data(1, 16_384, false)), Ok(vec![]));
    }
    assert!(sent(&mut connection)[0].starts_with("window 0 "));
}

#[test]
fn content_has_the_announced_length() {
    // content-length: 5, as a literal without indexing (RFC 7541, 6.2.2).
    let head = |end| {
        let mut out = Vec::new();
        let block = [0x82, 0x86, 0x84, 0x41, 1, b'a', 0x0f, 0x0d, 1, b'5'];
        frame::headers(&mut out, 1, &block, end, 16_384);
        out
    };
    let mut trailers = Vec::new();
    frame::headers(&mut trailers, 1, &[0, 1, b'x', 1, b'y'], true, 16_384);
    for (input, right) in [
        ([head(false), data(1, 5, true)].concat(), true),
        ([head(false), data(1, 3, false), data(1, 2, false), data(1, 0, true)].concat(), true),
        ([head(false), data(1, 5, false), trailers.clone()].concat(), true),
        ([head(false), data(1, 4, true)].concat(), false),
        ([head(false), data(1, 3, false), data(1, 3, true)].concat(), false),
        ([head(false), data(1, 6, false)].concat(), false),
        ([head(false), data(1, 4, false), trailers].concat(), false),
    ] {
        let mut connection = open();
        let events = feed(&mut connection, &input).unwrap();
        let reset = events.last().is_some_and(|event| event == "reset 1 1");
        assert_eq!(reset, !right, "{events:?}");
    }
}

#[test]
fn drained_connection_serves_requests_already_sent() {
    let mut connection = open();
    feed(&mut connection, &head(1, true)).unwrap();
    connection.drain();
    connection.drain();
    let ping = format!("{:?}", Frame::Ping(*b"goodbye!"));
    assert_eq!(sent(&mut connection), ["goaway 2147483647 0", &ping]);
    let late = feed(&mut connection, &head(3, true));
    assert_eq!(late, Ok(vec!["head 3 4 true".to_owned()]));
    let mut ack = Vec::new();
    frame::ping_ack(&mut ack, *b"goodbye!");
    feed(&mut connection, &ack).unwrap();
    feed(&mut connection, &head(5, true)).unwrap();
    assert_eq!(sent(&mut connection), ["goaway 3 0", "reset 5 7"]);
    for stream in [1, 3] {
        assert!(!connection.is_drained());
        connection.send_headers(stream, &[0x88], true);
    }
    assert!(connection.is_drained());
}

#[test]
fn a_full_output_has_no_room_for_content() {
    let mut connection = open();
    feed(&mut connection, &head(1, true)).unwrap();
    let mut more = Vec::new();
    frame::window(&mut more, 0, 1 << 20);
    frame::window(&mut more, 1, 1 << 20);
    feed(&mut connection, &more).unwrap();
    let large = vec![0; 1 << 20];
    while connection.send_data(1, &large, false) > 0 {}
    assert!((OUTPUT_MAX..OUTPUT_MAX + 16_384 + 9).contains(&connection.output.len()));
    assert_eq!(connection.room(1), 0);
    connection.output.clear();
    assert_eq!(connection.room(1), 16_384);
}

/// A connection to a server that has sent its settings.
fn to_server(settings: &[(u16, u32)]) -> Connection {
    let mut connection = Connection::new(Role::Client, LIMITS, 0);
    assert!(connection.output.starts_with(PREFACE));
    let mut input = Vec::new();
    frame::settings_frame(&mut input, settings);
    assert_eq!(feed(&mut connection, &input), Ok(vec!["window 0".to_owned()]));
    connection.output.clear();
    connection
}

#[test]
fn a_client_gets_interim_and_final_heads_content_and_trailers() {
    let mut connection = to_server(&[]);
    assert_eq!(connection.open(&[0x82, 0x86, 0x84], false), Some(1));
    assert_eq!(connection.open(&[0x82, 0x86, 0x84], true), Some(3));
    assert_eq!(connection.send_data(1, b"abc", true), 3);
    assert_eq!(sent(&mut connection), ["headers 1 false", "headers 3 true", "data 1 3 true"]);
    let block = |block: &[u8], end| {
        let mut out = Vec::new();
        frame::headers(&mut out, 1, block, end, 16_384);
        out
    };
    // :status 103, then :status 200, then a trailer.
    let early = block(&[0x08, 3, b'1', b'0', b'3'], false);
    let last = block(&[0, 1, b'x', 1, b'y'], true);
    let input = [early, block(&[0x88], false), data(1, 5, false), last].concat();
    let events = feed(&mut connection, &input).unwrap();
    assert_eq!(events, ["head 1 1 false", "head 1 1 false", "data 1 5 false", "trailers 1 1"]);
    assert_eq!(connection.streams(), 1, "stream 3 goes on");
    for (input, wanted) in
        [(data(3, 1, false), Ok("reset 3 1")), (data(5, 1, false), Err(Code::Protocol))]
    {
        match (feed(&mut connection, &input), wanted) {
            (Ok(events), Ok(event)) => assert_eq!(events, [event]),
            (result, wanted) => assert_eq!(result.err(), wanted.err()),
        }
    }
}

#[test]
fn a_client_begins_no_more_streams_than_the_server_accepts() {
    let mut connection = to_server(&[(3, 1)]);
    assert_eq!(connection.open(&[0x82], true), Some(1));
    assert_eq!(connection.open(&[0x82], true), None);
    connection.reset(1, Code::Cancel);
    assert_eq!(connection.open(&[0x82], true), Some(3));
    let mut goaway = Vec::new();
    frame::goaway(&mut goaway, 1, Code::NoError);
    assert_eq!(feed(&mut connection, &goaway), Ok(vec!["goaway 1".to_owned()]));
    connection.reset(3, Code::Cancel);
    assert_eq!(connection.open(&[0x82], true), None, "the server has said goodbye");
}

#[test]
fn a_server_that_does_not_read_gets_no_more_streams() {
    let mut connection = to_server(&[]);
    let block = [0x82; 1_000];
    let begun = (0..1_000).map_while(|_| {
        let stream = connection.open(&block, true)?;
        connection.reset(stream, Code::Cancel).then_some(stream)
    });
    assert!(begun.count() < 70);
    assert!((OUTPUT_MAX..OUTPUT_MAX + 2_000).contains(&connection.output.len()));
    connection.output.clear();
    assert!(connection.open(&block, true).is_some());
}

#[test]
fn streams_above_the_limit_are_refused() {
    let mut connection = open();
    for stream in [1, 3, 5, 7] {
        feed(&mut connection, &head(stream, true)).unwrap();
    }
    assert_eq!(sent(&mut connection), ["reset 7 7"]);
    connection.send_headers(1, &[0x88], true);
    assert_eq!(feed(&mut connection, &head(9, true)), Ok(vec!["head 9 4 true".to_owned()]));
}

#[test]
fn floods_end_the_connection_and_a_slow_client_is_not_a_flood() {
    let mut ping = vec![0, 0, 8, 6, 0, 0, 0, 0, 0];
    ping.extend([0; 8]);
    let mut settings = Vec::new();
    frame::settings_frame(&mut settings, &[]);
    let mut connection = open();
    feed(&mut connection, &head(1, false)).unwrap();
    for (one, why) in [(&ping, "PING"), (&settings, "SETTINGS"), (&data(1, 0, false), "DATA")] {
        let mut connection = open();
        feed(&mut connection, &head(1, false)).unwrap();
        assert_eq!(feed(&mut connection, &one.repeat(2000)), Err(Code::EnhanceYourCalm), "{why}");
    }
    for ms in 0..2000 {
        feed_at(&mut connection, &ping, ms * 1000).unwrap();
        connection.output.clear();
    }
    let mut connection = open();
    let flood = (0..2000).try_for_each(|n| {
        let mut input = head(2 * n + 1, true);
        frame::reset(&mut input, 2 * n + 1, Code::Cancel);
        feed(&mut connection, &input).map(drop)
    });
    assert_eq!(flood, Err(Code::EnhanceYourCalm), "rapid reset");
    assert_eq!(connection.streams(), 0);
    let mut block = Vec::new();
    frame::headers(&mut block, 1, &[0x82; 60_000], true, 16_384);
    assert_eq!(feed(&mut open(), &block), Err(Code::EnhanceYourCalm), "CONTINUATION");
}

#[test]
fn large_headers_are_answered_and_malformed_ones_end_it() {
    let mut connection = open();
    let mut input = Vec::new();
    frame::headers(&mut input, 1, &[0x82; 1000], true, 16_384);
    assert_eq!(feed(&mut connection, &input), Ok(vec!["head 1 0 too large true".to_owned()]));
    let mut input = Vec::new();
    frame::headers(&mut input, 3, &[0x80], true, 16_384);
    assert_eq!(feed(&mut connection, &input), Err(Code::Compression));
    assert_eq!(sent(&mut connection), ["goaway 1 9"]);
}
