//! Frames: what is taken, what is refused and with which words, whatever the fragments.

use proptest::prelude::*;
use wire::zbxd::encode;
use wire::zbxd::{COMPRESSED, Decoder, Frame, FrameError, LARGE, Limits, PROTOCOL, Progress};

const SMALL: Limits =
    Limits { frame_bytes_max: 100, payload_bytes_max: 1000, large: true, text_bytes_max: 0 };

/// Feeds the pieces, then ends: all frames, then the error if there was one.
fn decode(limits: Limits, pieces: &[&[u8]]) -> (Vec<Frame>, Option<FrameError>) {
    let mut decoder = Decoder::new(limits);
    let mut frames = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        loop {
            match decoder.feed(input) {
                Ok(Progress::More) => break,
                Ok(Progress::Frame { frame, rest }) => {
                    frames.push(frame);
                    input = &input[input.len() - rest..];
                }
                Err(error) => return (frames, Some(error)),
            }
        }
    }
    match decoder.end() {
        Ok(last) => {
            frames.extend(last);
            (frames, None)
        }
        Err(error) => (frames, Some(error)),
    }
}

fn header(flags: u8, bytes: u32, reserved: u32) -> Vec<u8> {
    let mut out = b"ZBXD".to_vec();
    out.push(flags);
    out.extend(bytes.to_le_bytes());
    out.extend(reserved.to_le_bytes());
    out
}

fn with_body(mut header: Vec<u8>, body: &[u8]) -> Vec<u8> {
    header.extend_from_slice(body);
    header
}

#[test]
fn encode_writes_the_documented_bytes() {
    assert_eq!(encode(b"1", PROTOCOL), b"ZBXD\x01\x01\0\0\0\0\0\0\x001");
    assert_eq!(encode(b"1", 0), encode(b"1", PROTOCOL));
    let large = encode(b"abc", LARGE);
    assert_eq!(large, b"ZBXD\x05\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0abc");
    let compressed = encode(&[b'x'; 5000], COMPRESSED);
    assert_eq!(compressed[4], PROTOCOL | COMPRESSED);
    assert_eq!(u32::from_le_bytes(compressed[9..13].try_into().unwrap()), 5000);
    assert!(compressed.len() < 100);
}

#[test]
fn refusals_say_what_is_wrong() {
    let zlib_1000 = &encode(&[b'a'; 1000], COMPRESSED)[13..];
    let len = u32::try_from(zlib_1000.len()).unwrap();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"ZZ".to_vec(), "is missing header"),
        (b"ZBX".to_vec(), "is missing header"),
        (b"ZBXD".to_vec(), "is missing protocol version"),
        (b"ZBXD\x01".to_vec(), "is missing data length"),
        (b"ZBXD\x01\x05\0\0\0".to_vec(), "is missing data length"),
        (b"ZBXD\x00\x05".to_vec(), "is using unsupported protocol version \"0\""),
        (b"ZBXD\x09".to_vec(), "is using unsupported protocol version \"9\""),
        (with_body(header(1, 10, 0), b"short"), "is shorter than expected 10 bytes"),
        (header(1, 101, 0), "is 101 bytes long, more than the 100 bytes allowed"),
        (header(1, u32::MAX, 0), "is 4294967295 bytes long, more than the 100 bytes allowed"),
        (
            header(3, 10, 1001),
            "is 1001 bytes long when uncompressed, more than the 1000 bytes allowed",
        ),
        (
            with_body(header(3, 4, 10), b"junk"),
            "cannot be uncompressed: the zlib stream is damaged",
        ),
        (
            with_body(header(3, len, 999), zlib_1000),
            "cannot be uncompressed: it is longer than announced",
        ),
        (
            with_body(header(3, len, 10), zlib_1000),
            "cannot be uncompressed: it is longer than announced",
        ),
        (
            with_body(header(3, len, 0), zlib_1000),
            "cannot be uncompressed: it is longer than announced",
        ),
        (
            with_body(header(3, len - 6, 1000), &zlib_1000[..zlib_1000.len() - 6]),
            "cannot be uncompressed: the zlib stream is cut short",
        ),
        (header(3, 0, 0), "cannot be uncompressed: the zlib stream is cut short"),
    ];
    for (bytes, expected) in cases {
        let (frames, error) = decode(SMALL, &[&bytes]);
        assert_eq!(frames, []);
        assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(expected), "{bytes:?}");
    }
    let shorter = encode(&[b'a'; 999], COMPRESSED);
    let mut announced_more = shorter;
    announced_more[9..13].copy_from_slice(&1000_u32.to_le_bytes());
    let (_, error) = decode(SMALL, &[&announced_more]);
    assert_eq!(error, Some(FrameError::Inflate("it is shorter than announced")));
}

#[test]
fn bombs_are_refused_by_header_or_at_the_announced_length() {
    let bomb = encode(&vec![0; 50 << 20], COMPRESSED);
    let limits = Limits::TRAPPER.with_bytes_max(1 << 20);
    let (_, error) = decode(limits, &[&bomb]);
    assert!(matches!(error, Some(FrameError::InflatedTooLarge { .. })), "{error:?}");
    let mut liar = bomb;
    liar[9..13].copy_from_slice(&1000_u32.to_le_bytes());
    let (_, error) = decode(limits, &[&liar]);
    assert_eq!(error, Some(FrameError::Inflate("it is longer than announced")));
}

#[test]
fn an_announced_length_reserves_nothing() {
    let mut decoder = Decoder::new(Limits::TRAPPER);
    assert_eq!(decoder.feed(&header(1, 100 << 20, 0)), Ok(Progress::More));
    assert_eq!(decoder.wanted(), 100 << 20);
    assert_eq!(decoder.feed(b"x"), Ok(Progress::More));
    assert_eq!(decoder.wanted(), (100 << 20) - 1);
    assert!(!decoder.is_idle());
}

#[test]
fn the_large_flag_is_taken_only_where_allowed() {
    let bytes = encode(b"abc", LARGE);
    let (frames, error) = decode(SMALL, &[&bytes]);
    assert_eq!((frames[0].payload.as_slice(), frames[0].bytes, error), (&b"abc"[..], 24, None));
    let (_, error) = decode(Limits { large: false, ..SMALL }, &[&bytes]);
    assert_eq!(error, Some(FrameError::Version(5)));
}

#[test]
fn text_without_header_ends_with_the_connection() {
    let limits = SMALL.with_text_bytes_max(20);
    for text in ["agent.ping\n", "ZBX", "ZBX_GET_ACTIVE", "Z", "ZZBXD"] {
        let (frames, error) = decode(limits, &[text.as_bytes()]);
        assert_eq!((frames[0].text().as_ref(), frames[0].flags, error), (text, 0, None));
        assert_eq!(frames[0].encode_answer(b"OK"), b"OK");
    }
    let (_, error) = decode(limits, &[&[b'a'; 21]]);
    assert_eq!(error, Some(FrameError::TextTooLong(20)));
    let (frames, error) = decode(limits, &[]);
    assert_eq!((frames, error), (vec![], None));
}

#[test]
fn one_message_per_connection() {
    let mut bytes = encode(b"a", 0);
    bytes.push(b'x');
    let mut decoder = Decoder::new(SMALL);
    assert_eq!(decoder.feed(&bytes).unwrap().only(), Err(FrameError::Longer(14)));
    let answer = Frame { payload: vec![], flags: 3, bytes: 0 }.encode_answer(b"hello");
    assert_eq!(answer[4], 3);
}

/// Cuts `bytes` at the given places.
fn cut<'a>(bytes: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|i| i.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect()
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_the_same(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            (0_u8..8, 0_u32..40, 0_u32..60, prop::collection::vec(any::<u8>(), 0..60))
                .prop_map(|(f, n, r, body)| with_body(header(f, n, r), &body)),
        ],
        text in prop_oneof![Just(0_usize), Just(25)],
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let limits = SMALL.with_text_bytes_max(text);
        let whole = decode(limits, &[&bytes]);
        prop_assert_eq!(decode(limits, &cut(&bytes, &cuts)), whole);
    }

    #[test]
    fn what_is_encoded_is_decoded(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..4),
        flags in 0_u8..8,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes: Vec<u8> = payloads.iter().flat_map(|p| encode(p, flags)).collect();
        let (frames, error) = decode(Limits::TRAPPER, &cut(&bytes, &cuts));
        prop_assert_eq!(error, None);
        let got: Vec<Vec<u8>> = frames.iter().map(|f| f.payload.clone()).collect();
        prop_assert_eq!(got, payloads);
        prop_assert!(frames.iter().all(|f| f.flags == flags | PROTOCOL));
        prop_assert_eq!(frames.iter().map(|f| f.bytes).sum::<u64>(), bytes.len() as u64);
    }

    #[test]
    fn a_damaged_zlib_stream_never_panics(
        payload in prop::collection::vec(any::<u8>(), 0..500),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = encode(&payload, COMPRESSED);
        let at = 13 + at.index(bytes.len() - 13);
        bytes[at] = byte;
        let (frames, error) = decode(Limits::TRAPPER, &[&bytes]);
        // The checksum at the stream's end finds every damage.
        match error {
            None => prop_assert_eq!(&frames[0].payload, &payload),
            Some(error) => prop_assert!(matches!(error, FrameError::Inflate(_))),
        }
    }
}
