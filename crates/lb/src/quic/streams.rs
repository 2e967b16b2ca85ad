//! A connection runs: what has arrived goes to sessions, and what they have written leaves.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use proxying::engine_link::analytics::Counter;
use proxying::http3::frame::Code;
use quinn_proto::{Connection, Dir, Event, ReadError, StreamEvent, StreamId};

use super::{Quic, SEGMENTS, link};
use crate::core::Core;
use crate::mux::Mux;
use crate::quic_link::{Link, Moment, Stage};

/// Content of a stream that its session has not read, in bytes: no more is taken from the transport.
const INBOX_MAX: usize = 64 << 10;
/// The same of all streams of a connection.
const INBOXES_MAX: usize = 1 << 20;
/// What is taken at once of a stream whose head has not arrived while the others have that much: a request without
/// content does not wait for them.
const HEAD_PART: usize = 4 << 10;

/// How a stream ends, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// More may follow.
    Open,
    End,
    /// The client has abandoned it with this code.
    Reset(u64),
}

/// Takes up to so many bytes of a stream.
fn take(quic: &mut Connection, stream: StreamId, most: usize, into: &mut Vec<u8>) -> Tail {
    into.clear();
    let mut receiver = quic.recv_stream(stream);
    // It has ended or is no longer read.
    let Ok(mut chunks) = receiver.read(true) else { return Tail::Open };
    let mut tail = Tail::Open;
    while into.len() < most {
        match chunks.next(most - into.len()) {
            Ok(Some(chunk)) => into.extend_from_slice(&chunk.bytes),
            Ok(None) => {
                tail = Tail::End;
                break;
            }
            Err(ReadError::Blocked) => break,
            Err(ReadError::Reset(code)) => {
                tail = Tail::Reset(code.into_inner());
                break;
            }
        }
    }
    // The connection is asked for datagrams anyway.
    let _ = chunks.finalize();
    tail
}

/// Bytes that may be taken of a request now.
fn room(mux: &mut Mux, request: u32) -> usize {
    let rest = INBOXES_MAX.saturating_sub(mux.held_by_all());
    match mux.inbox(request) {
        Some(_) => INBOX_MAX.saturating_sub(mux.held(request)).min(rest),
        None => INBOX_MAX.min(rest.max(HEAD_PART)),
    }
}

impl Quic {
    /// Lets a connection run.
    pub(super) fn drive(&mut self, place: usize, core: &mut Core) {
        let now = self.now(core);
        let now_ms = now.us / 1000;
        let Some(one) = core.hub.muxes.get_mut(place) else { return };
        // It runs: its streams need not wake it.
        one.woken = true;
        self.events(place, core, now_ms);
        let Some(one) = link(core, place) else { return };
        for request in one.take_resumed() {
            self.read(place, request, core, now_ms);
        }
        let Some(one) = link(core, place) else { return };
        for event in one.frames.release(now_ms) {
            core.hub.deliver(place, event);
        }
        let Some(one) = link(core, place) else { return };
        let (number, listen) = (one.number(), one.service().listen);
        let newest = core.services.get(number).and_then(Option::as_ref);
        let kept = !core.hub.leaving
            && newest.is_some_and(|newest| newest.listen == listen && newest.quic.is_some());
        let Some(one) = link(core, place) else { return };
        one.check(!kept, now_ms);
        if one.flush(now_ms) {
            core.hub.wake_blocked(place);
        }
        let Some(one) = link(core, place) else { return };
        if let Some(code) = one.frames.closed() {
            self.half_open_no_more(place, core);
            if let Some(one) = link(core, place)
                && one.stage != Stage::Closing
            {
                one.close(code, now);
                core.hub.lose(place);
            }
        }
        if let Some(one) = core.hub.muxes.get_mut(place) {
            one.woken = false;
        }
        self.transmit(place, now, core);
    }

    /// Looks at what the transport tells.
    fn events(&mut self, place: usize, core: &mut Core, now_ms: u64) {
        while let Some(one) = link(core, place)
            && let Some(event) = one.quic.poll()
        {
            match event {
                Event::Connected => {
                    one.establish();
                    let (listener, client) = (one.listener, one.client());
                    let service = Arc::clone(one.service());
                    core.count(&service.tally, Counter::Handshakes);
                    if let Some(Some(listener)) = self.listeners.get_mut(listener) {
                        listener.shaken(client);
                    }
                }
                Event::ConnectionLost { reason } => {
                    tracing::debug!("a connection of HTTP/3: {reason}");
                    self.lost(place, core);
                }
                Event::Stream(event) => self.stream_event(place, event, core, now_ms),
                Event::HandshakeDataReady | Event::DatagramReceived | Event::DatagramsUnblocked => {
                }
            }
        }
    }

    /// The client has closed the connection, or is gone.
    fn lost(&mut self, place: usize, core: &mut Core) {
        self.half_open_no_more(place, core);
        let Some(one) = link(core, place) else { return };
        one.lose();
        core.hub.lose(place);
    }

    fn stream_event(&mut self, place: usize, event: StreamEvent, core: &mut Core, now_ms: u64) {
        let Some(one) = link(core, place) else { return };
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(one) = link(core, place)
                    && let Some(stream) = one.quic.streams().accept(dir)
                {
                    if dir == Dir::Bi && one.frames.begin(now_ms).is_err() {
                        return;
                    }
                    self.readable(place, stream, core, now_ms);
                }
            }
            StreamEvent::Readable { id } => self.readable(place, id, core, now_ms),
            StreamEvent::Writable { id } => {
                if let Some(request) = Link::request_of(id) {
                    one.frames.writable(request);
                }
            }
            StreamEvent::Stopped { id, error_code } => match Link::request_of(id) {
                Some(request) => {
                    one.stopped(id);
                    let code = error_code.into_inner();
                    if let Ok(Some(event)) = one.frames.cancelled(request, code, now_ms) {
                        core.hub.deliver(place, event);
                    }
                }
                // The control stream of this side.
                None => drop(one.frames.close(Code::ClosedCriticalStream)),
            },
            StreamEvent::Finished { id } => one.acknowledged(id),
            StreamEvent::Available { .. } => {}
        }
    }

    fn readable(&mut self, place: usize, stream: StreamId, core: &mut Core, now_ms: u64) {
        match Link::request_of(stream) {
            Some(request) => self.read(place, request, core, now_ms),
            None => self.read_unidirectional(place, stream, core, now_ms),
        }
    }

    /// Moves what has arrived of a request to its session, as far as that has room.
    fn read(&mut self, place: usize, request: u32, core: &mut Core, now_ms: u64) {
        loop {
            let Some(mux) = core.hub.muxes.get_mut(place) else { return };
            let room = room(mux, request);
            let Some(one) = mux.connection.link() else { return };
            if room == 0 {
                return one.pause(request);
            }
            let tail = take(&mut one.quic, Link::stream_of(request), room, &mut self.scratch);
            let mut at = 0;
            while at < self.scratch.len() || tail == Tail::End {
                let Some(one) = link(core, place) else { return };
                let rest = &self.scratch[at..];
                // An error is noted in the connection.
                let Ok((taken, events)) =
                    one.frames.receive(request, rest, tail == Tail::End, now_ms)
                else {
                    return;
                };
                for event in events.into_iter().flatten() {
                    core.hub.deliver(place, event);
                }
                at += taken;
                if at == self.scratch.len() {
                    break;
                }
            }
            match tail {
                Tail::Open if self.scratch.len() < room => return,
                Tail::Open => {}
                Tail::End => return,
                Tail::Reset(code) => {
                    let Some(one) = link(core, place) else { return };
                    if let Ok(Some(event)) = one.frames.cancelled(request, code, now_ms) {
                        core.hub.deliver(place, event);
                    }
                    return;
                }
            }
        }
    }

    fn read_unidirectional(
        &mut self,
        place: usize,
        stream: StreamId,
        core: &mut Core,
        now_ms: u64,
    ) {
        let Some(one) = link(core, place) else { return };
        loop {
            let tail = take(&mut one.quic, stream, INBOX_MAX, &mut self.scratch);
            let id = quinn_proto::VarInt::from(stream).into_inner();
            let (bytes, end) = (&self.scratch[..], tail == Tail::End);
            if !bytes.is_empty() || end {
                let received = one.frames.receive_unidirectional(id, bytes, end, now_ms);
                if received.is_err() {
                    return;
                }
            }
            match tail {
                Tail::Open if self.scratch.len() == INBOX_MAX => {}
                Tail::Open | Tail::End => return,
                Tail::Reset(_) => {
                    // An error is noted in the connection.
                    let _closed = one.frames.unidirectional_reset(id, now_ms);
                    return;
                }
            }
        }
    }

    /// A handshake that counts among those in progress has ended.
    fn half_open_no_more(&mut self, place: usize, core: &mut Core) {
        let Some(one) = link(core, place) else { return };
        if one.stage == Stage::Handshake
            && let Some(Some(listener)) = self.listeners.get_mut(one.listener)
        {
            listener.shaken(one.client());
        }
    }

    /// Sends what the transport has ready and notes the connection's next deadline. A connection that has ended
    /// is forgotten.
    fn transmit(&mut self, place: usize, now: Moment, core: &mut Core) {
        let Some(one) = link(core, place) else { return };
        let Some(Some(listener)) = self.listeners.get_mut(one.listener) else { return };
        let mut bytes = Vec::new();
        while let Some(transmit) = one.quic.poll_transmit(now.instant, SEGMENTS, &mut bytes) {
            listener.send(&transmit, &bytes);
            bytes.clear();
        }
        while let Some(event) = one.quic.poll_endpoint_events() {
            if let Some(event) = listener.endpoint.handle_event(one.handle, event) {
                one.quic.handle_event(event);
            }
        }
        if let Some(due_us) = one.due_us.take() {
            self.timers.remove(&(due_us, place));
        }
        if one.quic.is_drained() {
            return self.forget(place, core);
        }
        let next_us = one.next_us(now);
        if next_us < u64::MAX {
            one.due_us = Some(next_us);
            self.timers.insert((next_us, place));
        }
    }

    /// A connection has ended, and late packets of it have, too.
    fn forget(&mut self, place: usize, core: &mut Core) {
        self.half_open_no_more(place, core);
        let Some(one) = link(core, place) else { return };
        one.service().connections.fetch_sub(1, Relaxed);
        if let Some(Some(listener)) = self.listeners.get_mut(one.listener) {
            listener.places.remove(&one.handle.0);
        }
        self.forget_ended();
        core.hub.abandon(place);
    }
}

#[cfg(test)]
mod tests {
    use proxying::http2::connection::{Connection, Event, Limits, Role};

    use super::*;
    use crate::carrier::Carrier;
    use crate::mux::Owner;

    #[test]
    fn streams_share_the_room_of_their_connection() {
        const FULL: u32 = 16;
        let connection = Connection::new(Role::Server, Limits { streams: 100, list: 4096 }, 0);
        let mut mux = Mux::new(Carrier::Http2(Box::new(connection)), Owner::Quic);
        let content = vec![b'x'; INBOX_MAX];
        mux.begin(99, None);
        for stream in 1..=FULL {
            assert_eq!((room(&mut mux, 99), room(&mut mux, 100)), (INBOX_MAX, INBOX_MAX));
            mux.begin(stream, None);
            let counted = u32::try_from(content.len()).unwrap();
            mux.deliver(Event::Data { stream, data: &content, counted, end: false });
            assert_eq!(room(&mut mux, stream), 0);
        }
        // A head may still come.
        assert_eq!((room(&mut mux, 99), room(&mut mux, 100)), (0, HEAD_PART));
        mux.read(1, |unread| unread.len().min(1000));
        assert_eq!((room(&mut mux, 99), room(&mut mux, 2)), (1000, 0));
    }
}
