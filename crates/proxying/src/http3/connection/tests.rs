use super::*;
use crate::http2::hex::bytes;

const LIMITS: Limits = Limits { streams: 10, list: 4096 };
/// HEADERS: GET https://a/; POST of the same.
const GET: &str = "01080000d1d7c1500161";
const POST: &str = "01080000d4d7c1500161";

/// What the events of one chunk say; `;` stands between chunks, `$` at the end ends the stream.
fn events(connection: &mut Connection, number: u32, chunks: &str) -> Result<String, Code> {
    let mut words = Vec::new();
    for (at, chunk) in chunks.split(';').enumerate() {
        let end = chunk.ends_with('$');
        let chunk = bytes(chunk.trim_end_matches('$'));
        let mut rest = &chunk[..];
        loop {
            let (taken, events) = connection.receive(number, rest, end, at as u64)?;
            rest = &rest[taken..];
            words.extend(events.into_iter().flatten().map(|event| match event {
                Event::Head { list, end, .. } => format!("head{}{}", list.fields.len(), dot(end)),
                Event::Data { data, end, .. } => format!("data{}{}", data.len(), dot(end)),
                Event::Trailers { list, .. } => format!("trailers{}.", list.fields.len()),
                Event::Reset { code, .. } => format!("reset{code}"),
                other => format!("{other:?}"),
            }));
            if rest.is_empty() {
                break;
            }
        }
    }
    Ok(words.join(" "))
}

fn dot(end: bool) -> &'static str {
    if end { "." } else { "" }
}

fn check(chunks: &str, wanted: Result<&str, Code>) {
    let mut connection = Connection::new(LIMITS, 0);
    let number = connection.begin(0).unwrap();
    let chunks = chunks.replace("GET", GET).replace("POST", POST);
    let got = events(&mut connection, number, &chunks);
    assert_eq!(got.as_deref().map_err(|code| *code), wanted, "{chunks}");
}

#[test]
fn messages_end_with_their_streams() {
    check("GET$", Ok("head4."));
    check("GET;$", Ok("head4."));
    check("GET;210161;$", Ok("head4."));
    check("GET000161$", Ok("head4 data1."));
    check("POST", Ok("head4"));
    check("POST$", Ok("head4."));
    check("POST;$", Ok("head4 data0."));
    check("POST00036162;63$", Ok("head4 data2 data1."));
    check("POST00016100016201030000d1$", Ok("head4 data1 data1 reset1"));
    check("POST000161010600002161;0162;$", Ok("head4 data1 trailers1."));
    check("GET010600002161;0162$", Ok("head4 trailers1."));
    check("$", Ok("reset1"));
    check("0104$", Err(Code::Frame));
    check("POST0002$", Err(Code::Frame));
    check("POST01060000216101620000$", Err(Code::FrameUnexpected));
    check("POST0400", Err(Code::FrameUnexpected));
    check("0001", Err(Code::FrameUnexpected));
}

#[test]
fn content_has_the_length_that_was_announced() {
    // A POST with content-length: 2; the name is entry 4 of the static table.
    let head = "010b0000d4d7c1500161540132";
    check(&format!("{head}00026162$"), Ok("head5 data2."));
    check(&format!("{head}000161$"), Ok("head5 reset1"));
    check(&format!("{head}0003616263"), Ok("head5 reset1"));
    check(&format!("{head}$"), Ok("reset1"));
}

#[test]
fn the_head_of_a_get_waits_a_moment_for_its_end() {
    let mut connection = Connection::new(LIMITS, 0);
    let number = connection.begin(0).unwrap();
    assert_eq!(events(&mut connection, number, GET).as_deref(), Ok(""));
    assert_eq!(connection.next_release_ms(), Some(HOLD_MS));
    assert!(connection.release(HOLD_MS - 1).is_empty());
    let released = connection.release(HOLD_MS);
    assert!(matches!(released[..], [Event::Head { end: false, .. }]), "{released:?}");
    assert_eq!(connection.next_release_ms(), None);
    assert_eq!(events(&mut connection, number, "$").as_deref(), Ok("data0."));
}

/// All that the transport gets, with the streams that it ends; it takes `most` bytes of each stream.
fn flushed(connection: &mut Connection, most: usize) -> Vec<(u64, usize, bool)> {
    let mut all = Vec::new();
    connection.flush(0, |stream, bytes, end| {
        let taken = bytes.len().min(most);
        all.push((stream, taken, end && taken == bytes.len()));
        taken
    });
    all
}

#[test]
fn output_waits_for_the_transport_and_is_bounded() {
    let mut connection = Connection::new(LIMITS, 0);
    for _ in 0..6 {
        let number = connection.begin(0).unwrap();
        events(&mut connection, number, &format!("{GET}$")).unwrap();
    }
    let content = vec![b'x'; 1 << 20];
    connection.send_headers(1, &[0xd9], false);
    let sent = connection.send_data(1, &content, true);
    assert!(sent < content.len() && connection.room(1) == 0 && connection.is_open(1));
    for number in 2..=6 {
        connection.send_data(number, &content, false);
    }
    assert!(connection.waiting() < OUTPUT_MAX + STREAM_OUTPUT + 100);
    assert_eq!(connection.room(6), 0, "all streams together");
    flushed(&mut connection, 1000);
    assert!(flushed(&mut connection, 1000).is_empty(), "until the transport has room");
    connection.writable(1);
    assert_eq!(flushed(&mut connection, usize::MAX).len(), 1);
    assert_eq!(connection.send_data(1, &[], true), 0);
    assert_eq!(flushed(&mut connection, usize::MAX), [(0, 0, true)]);
    assert_eq!((connection.requests(), connection.is_open(1)), (5, false));
}

#[test]
fn a_response_before_the_end_of_its_request_stops_it() {
    let mut connection = Connection::new(LIMITS, 0);
    let number = connection.begin(0).unwrap();
    events(&mut connection, number, POST).unwrap();
    connection.send_headers(number, &[0xd9], true);
    assert_eq!(connection.take_orders(), [Order::Stop(0, Code::NoError)]);
    assert_eq!(flushed(&mut connection, usize::MAX), [(0, 5, true)]);
    assert_eq!(connection.requests(), 0);
    assert_eq!(events(&mut connection, number, "000161").as_deref(), Ok(""), "it is ignored");
}

#[test]
fn a_connection_ends_in_two_steps() {
    let mut connection = Connection::new(LIMITS, 0);
    connection.take_control();
    connection.begin(0).unwrap();
    connection.drain(0);
    assert_eq!(connection.take_control(), bytes("0708fffffffffffffffc"));
    connection.drain(WARNING_MS - 1);
    let second = connection.begin(10).unwrap();
    assert!(connection.is_open(second), "it began before the client could know");
    connection.drain(WARNING_MS);
    assert_eq!(connection.take_control(), bytes("070108"));
    let third = connection.begin(2000).unwrap();
    assert!(!connection.is_open(third));
    let rejected = Code::RequestRejected;
    assert_eq!(connection.take_orders(), [Order::Reset(8, rejected), Order::Stop(8, rejected)]);
    for number in [1, second] {
        assert!(!connection.is_drained());
        connection.reset(number, Code::Internal);
    }
    assert!(connection.is_drained());
}

#[test]
fn resets_cost_more_than_requests_bring() {
    let mut connection = Connection::new(LIMITS, 0);
    let mut count = 0;
    let code = loop {
        let number = connection.begin(0).unwrap();
        events(&mut connection, number, GET).unwrap();
        count += 1;
        if let Err(code) = connection.cancelled(number, 0x10c, 0) {
            break code;
        }
    };
    assert_eq!(code, Code::ExcessiveLoad);
    assert!((100..200).contains(&count), "{count}");
    assert_eq!(connection.closed(), Some(Code::ExcessiveLoad));
}

#[test]
fn header_blocks_of_all_streams_are_bounded() {
    let mut connection = Connection::new(LIMITS, 0);
    // HEADERS of 32 KiB whose last byte is missing.
    let head = [&bytes("0180008000")[..], &vec![0; (32 << 10) - 1]].concat();
    for wanted in 1.. {
        let number = connection.begin(0).unwrap();
        if let Err(code) = connection.receive(number, &head, false, 0) {
            assert_eq!((code, wanted), (Code::ExcessiveLoad, 9));
            break;
        }
    }
}

#[test]
fn late_heads_are_refused() {
    let mut connection = Connection::new(LIMITS, 0);
    let (late, young) = (connection.begin(0).unwrap(), connection.begin(900).unwrap());
    connection.expire_heads(500, 1000).unwrap();
    let code = Code::RequestIncomplete;
    assert_eq!(connection.take_orders(), [Order::Reset(0, code), Order::Stop(0, code)]);
    assert_eq!((connection.is_open(late), connection.is_open(young)), (false, true));
}

#[test]
fn abandoning_both_directions_costs_as_much_as_one() {
    // A browser leaves a page with many requests in progress.
    let mut connection = Connection::new(LIMITS, 0);
    for number in 1..=100 {
        connection.begin(0).unwrap();
        events(&mut connection, number, GET).unwrap();
    }
    for number in 1..=100 {
        let event = connection.cancelled(number, 0x10c, 0).unwrap();
        assert!(matches!(event, Some(Event::Reset { .. })), "{number}");
        assert_eq!(connection.cancelled(number, 0x10c, 0), Ok(None));
    }
    assert_eq!(connection.closed(), None);
    // It is the streams that cost.
    let cost = (0..100).try_for_each(|_| {
        let number = connection.begin(0)?;
        connection.cancelled(number, 0x10c, 0).map(drop)
    });
    assert_eq!(cost, Err(Code::ExcessiveLoad));
}

#[test]
fn unidirectional_streams_are_not_abandoned_for_nothing() {
    let mut connection = Connection::new(LIMITS, 0);
    let mut resets = (0..1000).map(|number| connection.unidirectional_reset(2 + 4 * number, 0));
    assert_eq!(resets.next(), Some(Ok(())));
    assert!(resets.any(|result| result == Err(Code::ExcessiveLoad)));
}

#[test]
fn a_response_that_nobody_reads_ends_alone() {
    let mut connection = Connection::new(LIMITS, 0);
    for number in 1..=2 {
        connection.begin(0).unwrap();
        events(&mut connection, number, &format!("{GET}$")).unwrap();
    }
    connection.send_headers(1, &[0xd9], true);
    // It was not offered yet.
    connection.expire_output(5000);
    assert_eq!(connection.requests(), 2);
    assert!(!connection.flush(5000, |_, _, _| 0));
    connection.expire_output(5000);
    assert_eq!((connection.requests(), connection.take_orders()), (2, vec![]));
    connection.expire_output(5001);
    let code = Code::RequestCancelled;
    assert_eq!((connection.requests(), connection.take_orders()), (1, vec![Order::Reset(0, code)]));
    assert!(connection.is_open(2) && connection.closed().is_none());
    assert_eq!(connection.waiting(), 0);
}
