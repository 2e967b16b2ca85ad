use proxying::http2::connection::{Limits, Role};

use super::*;

fn mux() -> Mux {
    let limits = Limits { streams: 10, list: 4096 };
    let connection = Connection::new(Role::Server, limits, 0);
    Mux::new(Carrier::Http2(Box::new(connection)), Owner::Quic)
}

fn content(stream: u32, data: &[u8]) -> Event<'_> {
    Event::Data { stream, data, counted: u32::try_from(data.len()).unwrap(), end: false }
}

#[test]
fn streams_are_found_in_whatever_order_they_begin() {
    let mut mux = mux();
    for stream in [5, 3, 1, 4, 2] {
        mux.begin(stream, Some((stream as usize, 0)));
    }
    for stream in 1..=5 {
        assert_eq!(mux.child(stream), Some((stream as usize, 0)));
    }
}

#[test]
fn content_that_was_read_is_not_kept() {
    const PART: usize = 16 << 10;
    let mut mux = mux();
    mux.begin(1, None);
    mux.deliver(content(1, &[b'x'; 3 * PART]));
    for round in 0..1000_u32 {
        let data = vec![round.to_le_bytes()[0]; PART];
        mux.deliver(content(1, &data));
        assert_eq!(mux.held_by_all(), 4 * PART);
        let (length, eof) = mux.read(1, |unread| unread.len().min(PART));
        assert_eq!((length, eof), (PART, false));
        // What is left begins with the content of two rounds ago.
        if let Some(before) = round.checked_sub(2) {
            let (_, eof) = mux.read(1, |unread| {
                assert_eq!(unread[0], before.to_le_bytes()[0]);
                0
            });
            assert!(!eof);
        }
        assert!(mux.streams[0].content.capacity() <= 16 * PART, "round {round}");
    }
    mux.end(1, Code::Cancel);
    assert_eq!(mux.held_by_all(), 0);
}

#[test]
fn small_frames_wake_a_session_once() {
    let mut hub = Hub::default();
    let (place, _) = hub.muxes.reserve();
    hub.muxes.put(place, mux());
    for stream in [1, 2] {
        hub.muxes.get_mut(place).unwrap().begin(stream, Some((stream as usize, 0)));
        for _ in 0..1000 {
            hub.deliver(place, content(stream, b"x"));
        }
    }
    assert_eq!(hub.again, [(1, 0), (2, 0)]);
}
