//! A client's HTTP/2 connection: its session reads frames and gives each stream to a session of its
//! own, which sees one request.

use proxying::http2::connection::{Connection, Event, Limits, OUTPUT_MAX, Role};
use proxying::http2::frame::Code;
use proxying::http2::hpack::List;

use crate::buffer::Buffer;
use crate::client::{Client, Facts, Stream};
use crate::core::Core;
use crate::session::{Session, Stage, State, Step};
use crate::wheel::Entry;

/// What the sessions of a connection share.
#[derive(Debug)]
pub(crate) struct Mux {
    pub(crate) connection: Connection,
    /// The session with the socket.
    pub(crate) parent: Entry,
    /// It will run.
    woken: bool,
    streams: Vec<Inbox>,
    /// Streams whose sessions wait for room.
    blocked: Vec<u32>,
}

/// Content of a request that its session has not read yet.
#[derive(Debug)]
struct Inbox {
    stream: u32,
    child: Entry,
    content: Vec<u8>,
    /// Bytes at its front that have been read.
    read: usize,
    ended: bool,
}

impl Mux {
    fn place(&self, stream: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&stream, |inbox| inbox.stream).ok()
    }

    fn child(&self, stream: u32) -> Option<Entry> {
        self.place(stream).map(|at| self.streams[at].child)
    }

    pub(crate) fn is_open(&self, stream: u32) -> bool {
        self.connection.is_open(stream)
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.connection.output.is_empty()
    }

    /// Room for content of a stream; a stream without any is remembered.
    pub(crate) fn room(&mut self, stream: u32) -> usize {
        let room = self.connection.room(stream);
        if room == 0 && !self.blocked.contains(&stream) {
            self.blocked.push(stream);
        }
        room
    }

    /// Lets a session read: it returns how much it has taken. The second value tells that nothing
    /// follows.
    pub(crate) fn read(&mut self, stream: u32, take: impl FnOnce(&[u8]) -> usize) -> (usize, bool) {
        let Some(at) = self.place(stream) else { return (0, true) };
        let inbox = &mut self.streams[at];
        let length = take(&inbox.content[inbox.read..]);
        inbox.read += length;
        let empty = inbox.read == inbox.content.len();
        if empty {
            inbox.content = Vec::new();
            inbox.read = 0;
        }
        let eof = empty && inbox.ended;
        self.connection.consumed(stream, u32::try_from(length).unwrap_or(u32::MAX));
        (length, eof)
    }

    /// A session has ended: so does its stream.
    pub(crate) fn end(&mut self, stream: u32, code: Code) {
        if let Some(at) = self.place(stream) {
            let inbox = self.streams.remove(at);
            let unread = inbox.content.len() - inbox.read;
            self.connection.consumed(stream, u32::try_from(unread).unwrap_or(u32::MAX));
        }
        if self.connection.is_open(stream) {
            self.connection.reset(stream, code);
        }
    }
}

impl Core {
    /// Lets the session with the socket run, once, however often it is called until then.
    pub(crate) fn wake_mux(&mut self, place: usize) {
        if let Some(mux) = self.muxes.get_mut(place)
            && !mux.woken
        {
            mux.woken = true;
            self.again.push(mux.parent);
        }
    }

    /// Lets all sessions of HTTP/2 connections run: the configuration has changed.
    pub(crate) fn wake_all_muxes(&mut self) {
        for place in self.muxes.places() {
            self.wake_mux(place);
        }
    }

    /// Ends a connection's streams.
    pub(crate) fn end_mux(&mut self, place: usize) {
        let Some(mux) = self.muxes.take(place) else { return };
        self.muxes.free(place);
        for inbox in mux.streams {
            self.end_session(inbox.child.0);
        }
    }
}

impl Session {
    /// HTTP/2 begins.
    pub(crate) fn start_http2(&mut self, core: &mut Core) -> Step {
        let limits = Limits {
            streams: self.service.h2_streams,
            list: u32::try_from(self.service.limits.head).unwrap_or(u32::MAX),
        };
        let (place, _) = core.muxes.reserve();
        let mux = Mux {
            connection: Connection::new(Role::Server, limits, core.now_ms()),
            parent: self.entry,
            woken: false,
            streams: Vec::new(),
            blocked: Vec::new(),
        };
        core.muxes.put(place, mux);
        self.state = State::Http2(place);
        Step::Again
    }

    /// Frames arrive and leave.
    pub(crate) fn http2(&mut self, place: usize, core: &mut Core) -> Step {
        let Ok(read) = self.client.fill(&mut self.input, core) else { return Step::Close };
        let mut input = std::mem::take(&mut self.input);
        self.take_frames(place, &mut input, core);
        self.input = input;
        if self.is_orphan(core)
            && let Some(mux) = core.muxes.get_mut(place)
        {
            mux.connection.drain();
        }
        let Some(written) = self.write_frames(place, core) else { return Step::Close };
        let Some(mux) = core.muxes.get_mut(place) else { return Step::Close };
        if !mux.has_output() {
            if mux.connection.is_closed() {
                core.end_mux(place);
                self.state = State::Linger;
                return Step::Again;
            }
            if mux.connection.is_drained() {
                mux.connection.close(Code::NoError);
                return Step::Again;
            }
            if self.client.eof() && mux.streams.is_empty() {
                return Step::Close;
            }
        }
        Step::again_if(read > 0 || written > 0)
    }

    fn take_frames(&mut self, place: usize, input: &mut Buffer, core: &mut Core) {
        let now_ms = core.now_ms();
        loop {
            let Some(mux) = core.muxes.get_mut(place) else { return };
            // What frames are answered with must leave first.
            if mux.connection.output.len() > 2 * OUTPUT_MAX {
                return;
            }
            match mux.connection.receive(input.data(), now_ms) {
                Ok((0, _)) => return,
                Ok((length, event)) => {
                    if let Some(event) = event {
                        self.frame(place, event, core);
                    }
                    input.consume(length);
                }
                Err(_) => {
                    let children = std::mem::take(&mut mux.streams);
                    for inbox in children {
                        core.end_session(inbox.child.0);
                    }
                    input.consume(input.data().len());
                    return;
                }
            }
        }
    }

    fn frame(&mut self, place: usize, event: Event<'_>, core: &mut Core) {
        let Some(mux) = core.muxes.get_mut(place) else { return };
        match event {
            Event::Head { stream, list, end, bytes } => {
                self.begin_stream(place, stream, (list, end), bytes, core);
            }
            Event::Data { stream, data, counted, end } => {
                let Some(at) = mux.place(stream) else {
                    mux.connection.consumed(stream, counted);
                    return;
                };
                let inbox = &mut mux.streams[at];
                inbox.content.extend_from_slice(data);
                inbox.ended |= end;
                let child = inbox.child;
                let padding = counted - u32::try_from(data.len()).unwrap_or(counted);
                mux.connection.consumed(stream, padding);
                core.run(child.0, Self::run);
            }
            Event::Trailers { stream, .. } => {
                let Some(at) = mux.place(stream) else { return };
                mux.streams[at].ended = true;
                let child = mux.streams[at].child;
                core.run(child.0, Self::run);
            }
            Event::Reset { stream, .. } => {
                if let Some(child) = mux.child(stream) {
                    core.end_session(child.0);
                }
            }
            Event::Window { stream: 0 } => wake_blocked(place, core),
            Event::Window { stream } => {
                if let Some(child) = mux.child(stream) {
                    core.again.push(child);
                }
            }
            // The client begins no more streams; those in progress are served.
            Event::GoAway { .. } => {}
        }
    }

    fn begin_stream(
        &mut self,
        place: usize,
        stream: u32,
        (list, end): (List, bool),
        bytes: usize,
        core: &mut Core,
    ) {
        let facts: Facts = self.client.facts(core.now_us);
        let entry = core.sessions.reserve();
        if let Some(mux) = core.muxes.get_mut(place) {
            let content = Vec::new();
            mux.streams.push(Inbox { stream, child: entry, content, read: 0, ended: end });
        }
        let client = Client::Stream(Stream::new(place, stream, bytes as u64, facts));
        let mut child = Box::new(self.child(entry, client));
        let begun = child.begin_message(list, end, core);
        core.sessions.put(entry.0, child);
        match begun {
            Step::Close => core.end_session(entry.0),
            Step::Again | Step::Wait => core.run(entry.0, Self::run),
        }
    }

    /// Writes what is ready; `None`: the connection is gone.
    fn write_frames(&mut self, place: usize, core: &mut Core) -> Option<usize> {
        let mux = core.muxes.get_mut(place)?;
        mux.woken = false;
        let output = &mut mux.connection.output;
        let full = output.len() >= OUTPUT_MAX;
        let conn = self.client.socket_mut()?;
        let written = conn.write(output).ok()?;
        if written == output.len() {
            output.clear();
        } else {
            output.drain(..written);
        }
        if mux.streams.is_empty() && mux.connection.output.is_empty() {
            mux.connection.output = Vec::new();
        }
        conn.flush().ok()?;
        if full && mux.connection.output.len() < OUTPUT_MAX {
            wake_blocked(place, core);
        }
        Some(written)
    }

    /// Whether the service of this connection no longer exists.
    fn is_orphan(&self, core: &Core) -> bool {
        self.newest(core).is_none()
    }

    /// The stage of this connection. Its streams have their own.
    pub(crate) fn stage_http2(&self, place: usize, core: &mut Core) -> (Stage, u64) {
        let times = &self.service.timeouts;
        match core.muxes.get_mut(place) {
            Some(mux) if mux.has_output() => (Stage::ClientBody, times.client_body),
            Some(mux) if mux.connection.has_block() => (Stage::Head, times.client_header),
            Some(mux) if !mux.streams.is_empty() => (Stage::Streams, u64::MAX),
            _ if !self.input.is_empty() => (Stage::Head, times.client_header),
            _ => (Stage::Idle, times.keepalive),
        }
    }

    /// Says goodbye to a client whose connection is about to be closed.
    pub(crate) fn close_http2(&mut self, place: usize, core: &mut Core) {
        if let Some(mux) = core.muxes.get_mut(place) {
            mux.connection.close(Code::NoError);
            let _gone = self.write_frames(place, core);
        }
        core.end_mux(place);
    }
}

/// Lets the sessions that wait for room run. The one that was first is last the next time, so that
/// none takes all the room.
fn wake_blocked(place: usize, core: &mut Core) {
    let Some(mux) = core.muxes.get_mut(place) else { return };
    let mut blocked = std::mem::take(&mut mux.blocked);
    if blocked.is_empty() {
        return;
    }
    blocked.rotate_left(1);
    let children = blocked.iter().filter_map(|stream| mux.child(*stream));
    core.again.extend(children);
}
