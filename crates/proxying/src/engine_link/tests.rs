//! Messages come back as they were written, and nothing else is a message.

use super::*;

fn all() -> Vec<Message<'static>> {
    let at = Position { file: 3, offset: 70_000 };
    vec![
        Message::Enrol { version: VERSION, token: "0badc0de", request: b"\x30\x82" },
        Message::Enrolled { name: "lb-1", certificate: b"c", authority: b"" },
        Message::Hello { version: VERSION, ring: u64::MAX, hash: "" },
        Message::Welcome { name: "lb-ä", kept: at },
        Message::Configuration { hash: "abc", text: "{}" },
        Message::Applied { hash: "abc", error: "cannot listen on 0.0.0.0:80" },
        Message::Block { at, bytes: b"VTX1\0\xff" },
        Message::Acknowledged { before: at },
        Message::Heartbeat(Gauges { records: 1, dropped: 2, unsent_bytes: 3 }),
        Message::Refused { reason: "the engine was deleted" },
        Message::Analytics { portion: b"\x01\0" },
        Message::Checks { number: 7, text: "[]" },
        Message::Answering { number: u64::MAX },
        Message::Tickets { secrets: b"s" },
        Message::Renew { request: b"\x30\x82" },
        Message::Renewed { certificate: b"c" },
        Message::Program { version: "1.0.0" },
        Message::Owning { generation: 0, vips: "[]" },
        Message::Place { generation: u64::MAX, vips: "[\"192.0.2.1\"]" },
        Message::Purge { number: 1, order: "{}" },
        Message::Purged { number: 0, count: u64::MAX, error: "no such service" },
    ]
}

fn written(message: &Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    message.write(&mut out);
    out
}

#[test]
fn messages_come_back_as_they_were_written() {
    let mut stream = Vec::new();
    all().iter().for_each(|message| message.write(&mut stream));
    let mut rest = &stream[..];
    for message in all() {
        let length = message_len(rest, MESSAGE_MAX).unwrap().unwrap();
        assert_eq!(Message::read(&rest[..length]), Ok(message));
        rest = &rest[length..];
    }
    assert_eq!(message_len(rest, MESSAGE_MAX), Ok(None));
}

#[test]
fn a_message_without_its_last_bytes_or_with_more_is_none() {
    for message in all() {
        let bytes = written(&message);
        let kind = bytes[LENGTH];
        for end in LENGTH..bytes.len() {
            assert!(Message::read(&bytes[..end]).is_err(), "{message:?} with {end} bytes");
        }
        let more = [&bytes[..], b"x"].concat();
        assert_eq!(Message::read(&more), Err(LinkError::Length(kind)));
    }
}

#[test]
fn impossible_messages_are_refused() {
    let long = u32::try_from(SMALL_MAX + 1).unwrap().to_le_bytes();
    let too_long = LinkError::TooLong { length: SMALL_MAX + 1, most: SMALL_MAX };
    assert_eq!(message_len(&long, SMALL_MAX), Err(too_long));
    assert_eq!(message_len(&long, MESSAGE_MAX), Ok(Some(SMALL_MAX + 1 + LENGTH)));
    assert_eq!(Message::read(b"\x01\0\0\0\xc8"), Err(LinkError::Unknown(200)));
    assert_eq!(Message::read(b"\0\0\0\0"), Err(LinkError::Length(0)));
    let mut bytes = written(&Message::Refused { reason: "abc" });
    *bytes.last_mut().unwrap() = 0xff;
    assert_eq!(Message::read(&bytes), Err(LinkError::Text(10)));
    let reason = "a".repeat(SMALL_MAX + 1);
    assert_eq!(
        Message::read(&written(&Message::Refused { reason: &reason })),
        Err(LinkError::Text(10))
    );
}

#[test]
fn the_longest_configuration_fits_a_message() {
    let hash = "0".repeat(64);
    for (length, fits) in [(CONFIGURATION_MAX, true), (CONFIGURATION_MAX + 1, false)] {
        let text = "x".repeat(length);
        let bytes = written(&Message::Configuration { hash: &hash, text: &text });
        assert_eq!(message_len(&bytes, MESSAGE_MAX).is_ok(), fits, "{length}");
    }
}
