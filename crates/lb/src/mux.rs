//! A connection of HTTP/2 with a client or a server, or of HTTP/3 with a client. Each of its streams belongs to a session, which reads
//! content from its inbox and writes directly into the connection's output.

use std::collections::VecDeque;
use std::io;

use proxying::http2::connection::{Connection, Event, OUTPUT_MAX};
use proxying::http2::frame::Code;
use proxying::http2::hpack::List;

use crate::buffer::{Buffer, Buffers};
use crate::carrier::Carrier;
use crate::conn::Conn;
use crate::core::Route;
use crate::mirror::Launch;
use crate::slab::Slab;
use crate::wheel::Entry;

/// Heads of one response that may wait: interim ones, and the final one.
const HEADS_MAX: usize = 16;

/// What the sessions of a connection share.
#[derive(Debug)]
pub(crate) struct Mux {
    pub(crate) connection: Carrier,
    pub(crate) owner: Owner,
    /// The owner will run.
    pub(crate) woken: bool,
    /// In ascending order of their numbers.
    pub(crate) streams: Vec<Inbox>,
    /// Bytes of content in all of them that have not been read.
    unread: usize,
    /// Streams whose sessions wait for room.
    blocked: Vec<u32>,
}

/// Who has the socket.
#[derive(Debug)]
pub(crate) enum Owner {
    /// The session of a client's connection.
    Client(Entry),
    /// The thread's [`Quic`](crate::quic::Quic).
    Quic,
    /// A connection to a server; `None` while it runs.
    Server(Option<Box<Uplink>>),
    /// The socket is closed; sessions may still have streams.
    Gone,
}

/// The socket of a connection to a server.
#[derive(Debug)]
pub(crate) struct Uplink {
    pub(crate) conn: Box<Conn>,
    pub(crate) input: Buffer,
    /// Its place among the thread's connections to servers.
    pub(crate) place: usize,
    pub(crate) route: Route,
    pub(crate) established: bool,
    /// When its last stream began, in monotonic milliseconds.
    pub(crate) used_ms: u64,
    pub(crate) stall: Stall,
}

/// How long a server has read nothing of the output.
#[derive(Debug)]
pub(crate) struct Stall {
    /// When bytes were last written, or the output was empty, in monotonic milliseconds.
    since_ms: u64,
    /// Longest time, in milliseconds: the longest timeout of the services with streams.
    most_ms: u64,
}

impl Stall {
    pub(crate) fn new(now_ms: u64) -> Self {
        Self { since_ms: now_ms, most_ms: 0 }
    }

    /// Raises the limit to the timeout of a service.
    pub(crate) fn allow(&mut self, ms: u64) {
        self.most_ms = self.most_ms.max(ms);
    }

    /// Bytes were written, or the output is empty.
    pub(crate) fn end(&mut self, now_ms: u64) {
        self.since_ms = now_ms;
    }

    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.since_ms) > self.most_ms
    }
}

/// What has arrived on a stream and its session has not read yet.
#[derive(Debug)]
pub(crate) struct Inbox {
    stream: u32,
    /// The session; a request's begins after the frames that arrived with its head are read.
    child: Option<Entry>,
    /// Heads, with whether nothing follows.
    heads: VecDeque<(List, bool)>,
    /// Size of the first head as received, in bytes.
    pub(crate) head_bytes: usize,
    content: Vec<u8>,
    /// Bytes at its front that have been read.
    read: usize,
    trailers: Option<List>,
    ended: bool,
    /// The stream has ended early.
    cut: Option<Cut>,
}

/// How a stream has ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// By the peer, with this code.
    Reset(u32),
    /// The peer has not processed it (RFC 9113, 8.7).
    Refused,
    /// The connection has ended.
    Lost,
}

impl Inbox {
    fn unread(&self) -> usize {
        self.content.len() - self.read
    }

    /// Forgets content that has been read. The rest moves when that costs no more than reading did: with a client
    /// that is always faster than the server it never becomes empty.
    fn skip(&mut self, length: usize) {
        self.read += length;
        if self.read == self.content.len() {
            self.content = Vec::new();
            self.read = 0;
        } else if self.read > self.content.len() / 2 {
            self.content = self.content[self.read..].to_vec();
            self.read = 0;
        }
    }
}

impl Owner {
    fn is_of_client(&self) -> bool {
        matches!(self, Self::Client(_) | Self::Quic)
    }
}

impl Mux {
    pub(crate) fn new(connection: Carrier, owner: Owner) -> Self {
        Self {
            connection,
            owner,
            woken: false,
            streams: Vec::new(),
            unread: 0,
            blocked: Vec::new(),
        }
    }

    /// A stream begins that belongs to a session. Heads of HTTP/3 arrive in any order.
    pub(crate) fn begin(&mut self, stream: u32, child: Option<Entry>) {
        let inbox = Inbox {
            stream,
            child,
            heads: VecDeque::new(),
            head_bytes: 0,
            content: Vec::new(),
            read: 0,
            trailers: None,
            ended: false,
            cut: None,
        };
        let at = self.streams.partition_point(|other| other.stream < stream);
        self.streams.insert(at, inbox);
    }

    fn place(&self, stream: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&stream, |inbox| inbox.stream).ok()
    }

    pub(crate) fn child(&self, stream: u32) -> Option<Entry> {
        self.streams[self.place(stream)?].child
    }

    /// Bytes of content that the session of a stream has not read.
    pub(crate) fn held(&self, stream: u32) -> usize {
        self.place(stream).map_or(0, |at| self.streams[at].unread())
    }

    /// The same of all streams.
    pub(crate) fn held_by_all(&self) -> usize {
        self.unread
    }

    pub(crate) fn inbox(&mut self, stream: u32) -> Option<&mut Inbox> {
        self.place(stream).map(|at| &mut self.streams[at])
    }

    /// Stores what a frame brings; returns the session that reads it.
    pub(crate) fn deliver(&mut self, event: Event<'_>) -> Option<Entry> {
        match event {
            Event::Head { stream, list, end, .. } => {
                let inbox = self.inbox(stream)?;
                if inbox.heads.len() == HEADS_MAX {
                    inbox.cut = Some(Cut::Reset(Code::EnhanceYourCalm as u32));
                } else {
                    inbox.heads.push_back((list, end));
                    inbox.ended |= end;
                }
                inbox.child
            }
            Event::Data { stream, data, counted, end } => {
                let Some(inbox) = self.inbox(stream) else {
                    self.connection.consumed(stream, counted);
                    return None;
                };
                inbox.content.extend_from_slice(data);
                inbox.ended |= end;
                let child = inbox.child;
                self.unread += data.len();
                let padding = counted - u32::try_from(data.len()).unwrap_or(counted);
                self.connection.consumed(stream, padding);
                child
            }
            Event::Trailers { stream, list } => {
                let inbox = self.inbox(stream)?;
                inbox.ended = true;
                inbox.trailers = Some(list);
                inbox.child
            }
            Event::Reset { stream, code } => {
                let of_client = self.owner.is_of_client();
                let inbox = self.inbox(stream)?;
                // RFC 9113, 8.1: the response is complete; the server wants no more of the request.
                if !of_client && inbox.ended && code == Code::NoError as u32 {
                    return inbox.child;
                }
                let refused = code == Code::RefusedStream as u32;
                inbox.cut = Some(if refused { Cut::Refused } else { Cut::Reset(code) });
                inbox.child
            }
            Event::Window { stream } => self.child(stream),
            Event::GoAway { .. } => None,
        }
    }

    /// All sessions with a stream.
    pub(crate) fn children(&self) -> Vec<Entry> {
        self.streams.iter().filter_map(|inbox| inbox.child).collect()
    }

    /// The next head of a response; nothing follows if the second value is true.
    pub(crate) fn take_head(&mut self, stream: u32) -> Option<(List, bool)> {
        self.inbox(stream)?.heads.pop_front()
    }

    /// The trailers of a message whose content has been read; they stay there.
    pub(crate) fn trailers(&self, stream: u32) -> Option<&List> {
        self.streams[self.place(stream)?].trailers.as_ref()
    }

    /// The trailers of a message whose content has been read.
    pub(crate) fn take_trailers(&mut self, stream: u32) -> Option<List> {
        self.inbox(stream)?.trailers.take()
    }

    /// How a stream has ended early, if it has.
    pub(crate) fn cut(&self, stream: u32) -> Option<Cut> {
        self.streams[self.place(stream)?].cut
    }

    /// The connection is lost. What a server has sent completely may still be read.
    fn lose(&mut self) {
        let of_client = self.owner.is_of_client();
        for inbox in self.streams.iter_mut().filter(|inbox| of_client || !inbox.ended) {
            inbox.cut.get_or_insert(Cut::Lost);
        }
    }

    /// The session of a stream.
    pub(crate) fn set_child(&mut self, stream: u32, child: Entry) {
        if let Some(inbox) = self.inbox(stream) {
            inbox.child = Some(child);
        }
    }

    /// The server processes no streams above this one: their sessions.
    pub(crate) fn refuse_above(&mut self, last: u32) -> Vec<Entry> {
        let above = self.streams.iter_mut().filter(|inbox| inbox.stream > last);
        above
            .filter_map(|inbox| {
                inbox.cut = Some(Cut::Refused);
                inbox.child
            })
            .collect()
    }

    pub(crate) fn has_output(&self) -> bool {
        self.connection.has_output()
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
        inbox.skip(length);
        self.unread -= length;
        let empty = inbox.content.is_empty();
        let eof = empty && inbox.ended;
        self.connection.consumed(stream, u32::try_from(length).unwrap_or(u32::MAX));
        (length, eof)
    }

    /// A session has ended: so does its stream.
    fn end(&mut self, stream: u32, code: Code) {
        if let Some(at) = self.place(stream) {
            let unread = self.streams.remove(at).unread();
            self.unread -= unread;
            self.connection.consumed(stream, u32::try_from(unread).unwrap_or(u32::MAX));
        }
        self.connection.reset(stream, code);
    }
}

/// What the sessions of a thread need to read and write.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    pub(crate) buffers: Buffers,
    /// HTTP/2 and HTTP/3 connections.
    pub(crate) muxes: Slab<Mux>,
    /// Sessions that run again without an event.
    pub(crate) again: Vec<Entry>,
    /// HTTP/2 connections to servers that do.
    pub(crate) uplinks_again: Vec<usize>,
    /// HTTP/3 connections that do.
    pub(crate) quic_again: Vec<usize>,
    /// Requests that have no session yet.
    pub(crate) newcomers: Vec<Newcomer>,
    /// Copies of requests that have none.
    pub(crate) launches: Vec<Launch>,
    /// The engine is about to end: connections carry no further request.
    pub(crate) leaving: bool,
}

/// A stream that a client has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Newcomer {
    pub(crate) mux: usize,
    pub(crate) stream: u32,
}

impl Hub {
    /// The HTTP/2 connection at a place.
    pub(crate) fn http2(&mut self, place: usize) -> Option<&mut Connection> {
        self.muxes.get_mut(place)?.connection.http2_mut()
    }

    /// Lets the owner of the socket run, once, however often it is called until then.
    pub(crate) fn wake(&mut self, place: usize) {
        if let Some(mux) = self.muxes.get_mut(place)
            && !mux.woken
        {
            mux.woken = true;
            match &mux.owner {
                Owner::Client(session) => self.again.push(*session),
                Owner::Server(_) => self.uplinks_again.push(place),
                Owner::Quic => self.quic_again.push(place),
                Owner::Gone => {}
            }
        }
    }

    /// Whether something runs without an event.
    pub(crate) fn has_work(&self) -> bool {
        !self.again.is_empty()
            || !self.uplinks_again.is_empty()
            || !self.quic_again.is_empty()
            || !self.newcomers.is_empty()
            || !self.launches.is_empty()
    }

    /// Lets all HTTP/2 and HTTP/3 connections run: the configuration has changed.
    pub(crate) fn wake_all(&mut self) {
        for place in self.muxes.places() {
            self.wake(place);
        }
    }

    /// Stores what a frame brings, and wakes the session that reads it.
    pub(crate) fn deliver(&mut self, place: usize, event: Event<'_>) {
        let Some(mux) = self.muxes.get_mut(place) else { return };
        match (event, &mux.owner) {
            (Event::Window { stream: 0 }, _) => self.wake_blocked(place),
            (Event::GoAway { last }, Owner::Server(_)) => {
                let refused = mux.refuse_above(last);
                self.again.extend(refused);
            }
            (Event::Head { stream, list, end, bytes }, owner) if owner.is_of_client() => {
                mux.begin(stream, None);
                if let Some(inbox) = mux.inbox(stream) {
                    inbox.heads.push_back((list, end));
                    inbox.head_bytes = bytes;
                    inbox.ended = end;
                }
                self.newcomers.push(Newcomer { mux: place, stream });
            }
            (event, _) => {
                let child = mux.deliver(event);
                // Once for all frames that arrive together, however small they are.
                if let Some(child) = child.filter(|child| self.again.last() != Some(child)) {
                    self.again.push(child);
                }
            }
        }
    }

    /// Lets the sessions that wait for room run. The one that was first is last the next time, so that
    /// none takes all the room.
    pub(crate) fn wake_blocked(&mut self, place: usize) {
        let Some(mux) = self.muxes.get_mut(place) else { return };
        let mut blocked = std::mem::take(&mut mux.blocked);
        if !blocked.is_empty() {
            blocked.rotate_left(1);
            self.again.extend(blocked.iter().filter_map(|stream| mux.child(*stream)));
        }
    }

    /// Writes what is ready; returns the number of bytes.
    pub(crate) fn write_frames(&mut self, conn: &mut Conn, place: usize) -> io::Result<usize> {
        let Some(mux) = self.muxes.get_mut(place) else { return Ok(0) };
        mux.woken = false;
        let Some(connection) = mux.connection.http2_mut() else { return Ok(0) };
        let output = &mut connection.output;
        let full = output.len() >= OUTPUT_MAX;
        let written = conn.write(output)?;
        output.drain(..written);
        if mux.streams.is_empty() && output.is_empty() {
            *output = Vec::new();
        }
        conn.flush()?;
        if full && output.len() < OUTPUT_MAX {
            self.wake_blocked(place);
        }
        Ok(written)
    }

    /// A session has ended: so does its stream.
    pub(crate) fn end_stream(&mut self, place: usize, stream: u32, code: Code) {
        let Some(mux) = self.muxes.get_mut(place) else { return };
        mux.end(stream, code);
        if matches!(mux.owner, Owner::Gone) {
            self.free_if_empty(place);
        } else {
            self.wake(place);
        }
    }

    /// Cuts off the streams of a connection that goes no further.
    pub(crate) fn lose(&mut self, place: usize) {
        if let Some(mux) = self.muxes.get_mut(place) {
            mux.lose();
            let children = mux.children();
            self.again.extend(children);
        }
    }

    /// The socket of a connection is closed. Its place is free when the last session has noticed.
    pub(crate) fn abandon(&mut self, place: usize) {
        self.lose(place);
        if let Some(mux) = self.muxes.get_mut(place) {
            mux.connection.close(Code::NoError);
            mux.owner = Owner::Gone;
            // No session would notice the end of a stream that has none.
            mux.streams.retain(|inbox| inbox.child.is_some());
            mux.unread = mux.streams.iter().map(Inbox::unread).sum();
        }
        self.free_if_empty(place);
    }

    fn free_if_empty(&mut self, place: usize) {
        if self.muxes.get(place).is_some_and(|mux| mux.streams.is_empty()) {
            self.muxes.free(place);
        }
    }
}

#[cfg(test)]
mod tests;
