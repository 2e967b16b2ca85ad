//! An HTTP/2 connection with a client or a server. Each of its streams belongs to a session, which reads
//! content from its inbox and writes directly into the connection's output.

use std::collections::VecDeque;
use std::io;

use proxying::http2::connection::{Connection, Event, OUTPUT_MAX};
use proxying::http2::frame::Code;
use proxying::http2::hpack::List;

use crate::conn::Conn;
use crate::core::Core;
use crate::uplink::Uplink;
use crate::wheel::Entry;

/// Heads of one response that may wait: interim ones, and the final one.
const HEADS_MAX: usize = 16;

/// What the sessions of a connection share.
#[derive(Debug)]
pub(crate) struct Mux {
    pub(crate) connection: Connection,
    pub(crate) owner: Owner,
    /// The owner will run.
    pub(crate) woken: bool,
    pub(crate) streams: Vec<Inbox>,
    /// Streams whose sessions wait for room.
    blocked: Vec<u32>,
}

/// Who has the socket.
#[derive(Debug)]
pub(crate) enum Owner {
    /// The session of a client's connection.
    Client(Entry),
    /// A connection to a server; `None` while it runs.
    Server(Option<Box<Uplink>>),
}

/// What has arrived on a stream and its session has not read yet.
#[derive(Debug)]
pub(crate) struct Inbox {
    stream: u32,
    child: Entry,
    /// Heads of a response, with whether nothing follows.
    heads: VecDeque<(List, bool)>,
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

impl Mux {
    pub(crate) fn new(connection: Connection, owner: Owner) -> Self {
        Self { connection, owner, woken: false, streams: Vec::new(), blocked: Vec::new() }
    }

    /// A stream begins that belongs to a session.
    pub(crate) fn begin(&mut self, stream: u32, child: Entry, ended: bool) {
        self.streams.push(Inbox {
            stream,
            child,
            heads: VecDeque::new(),
            content: Vec::new(),
            read: 0,
            trailers: None,
            ended,
            cut: None,
        });
    }

    fn place(&self, stream: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&stream, |inbox| inbox.stream).ok()
    }

    pub(crate) fn child(&self, stream: u32) -> Option<Entry> {
        self.place(stream).map(|at| self.streams[at].child)
    }

    fn inbox(&mut self, stream: u32) -> Option<&mut Inbox> {
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
                Some(inbox.child)
            }
            Event::Data { stream, data, counted, end } => {
                let Some(inbox) = self.inbox(stream) else {
                    self.connection.consumed(stream, counted);
                    return None;
                };
                inbox.content.extend_from_slice(data);
                inbox.ended |= end;
                let child = inbox.child;
                let padding = counted - u32::try_from(data.len()).unwrap_or(counted);
                self.connection.consumed(stream, padding);
                Some(child)
            }
            Event::Trailers { stream, list } => {
                let inbox = self.inbox(stream)?;
                inbox.ended = true;
                inbox.trailers = Some(list);
                Some(inbox.child)
            }
            Event::Reset { stream, code } => {
                let inbox = self.inbox(stream)?;
                let refused = code == Code::RefusedStream as u32;
                inbox.cut = Some(if refused { Cut::Refused } else { Cut::Reset(code) });
                Some(inbox.child)
            }
            Event::Window { stream } => self.child(stream),
            Event::GoAway { .. } => None,
        }
    }

    /// All sessions with a stream.
    pub(crate) fn children(&self) -> Vec<Entry> {
        self.streams.iter().map(|inbox| inbox.child).collect()
    }

    /// The next head of a response; nothing follows if the second value is true.
    pub(crate) fn take_head(&mut self, stream: u32) -> Option<(List, bool)> {
        self.inbox(stream)?.heads.pop_front()
    }

    pub(crate) fn has_trailers(&self, stream: u32) -> bool {
        self.place(stream).is_some_and(|at| self.streams[at].trailers.is_some())
    }

    /// The trailers of a message whose content has been read.
    pub(crate) fn take_trailers(&mut self, stream: u32) -> Option<List> {
        self.inbox(stream)?.trailers.take()
    }

    /// How a stream has ended early, if it has.
    pub(crate) fn cut(&self, stream: u32) -> Option<Cut> {
        self.place(stream).and_then(|at| self.streams[at].cut)
    }

    /// Cuts off all streams whose messages are not complete.
    pub(crate) fn cut_all(&mut self, cut: Cut) {
        for inbox in self.streams.iter_mut().filter(|inbox| !inbox.ended) {
            inbox.cut.get_or_insert(cut);
        }
    }

    /// The server processes no streams above this one: their sessions.
    pub(crate) fn refuse_above(&mut self, last: u32) -> Vec<Entry> {
        let above = self.streams.iter_mut().filter(|inbox| inbox.stream > last);
        above
            .map(|inbox| {
                inbox.cut = Some(Cut::Refused);
                inbox.child
            })
            .collect()
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
    /// Lets the owner of the socket run, once, however often it is called until then.
    pub(crate) fn wake_mux(&mut self, place: usize) {
        if let Some(mux) = self.muxes.get_mut(place)
            && !mux.woken
        {
            mux.woken = true;
            match &mux.owner {
                Owner::Client(session) => self.again.push(*session),
                Owner::Server(_) => self.uplinks_again.push(place),
            }
        }
    }

    /// Lets all HTTP/2 connections run: the configuration has changed.
    pub(crate) fn wake_all_muxes(&mut self) {
        for place in self.muxes.places() {
            self.wake_mux(place);
        }
    }

    /// Ends a connection's streams.
    pub(crate) fn end_mux(&mut self, place: usize) {
        let Some(mux) = self.muxes.take(place) else { return };
        self.muxes.free(place);
        for child in mux.children() {
            self.end_session(child.0);
        }
    }
}

/// Writes what is ready; returns the number of bytes.
pub(crate) fn write_frames(conn: &mut Conn, place: usize, core: &mut Core) -> io::Result<usize> {
    let Some(mux) = core.muxes.get_mut(place) else { return Ok(0) };
    mux.woken = false;
    let output = &mut mux.connection.output;
    let full = output.len() >= OUTPUT_MAX;
    let written = conn.write(output)?;
    output.drain(..written);
    if mux.streams.is_empty() && mux.connection.output.is_empty() {
        mux.connection.output = Vec::new();
    }
    conn.flush()?;
    if full && mux.connection.output.len() < OUTPUT_MAX {
        wake_blocked(place, core);
    }
    Ok(written)
}

/// Lets the sessions that wait for room run. The one that was first is last the next time, so that
/// none takes all the room.
pub(crate) fn wake_blocked(place: usize, core: &mut Core) {
    let Some(mux) = core.muxes.get_mut(place) else { return };
    let mut blocked = std::mem::take(&mut mux.blocked);
    if blocked.is_empty() {
        return;
    }
    blocked.rotate_left(1);
    let children = blocked.iter().filter_map(|stream| mux.child(*stream));
    core.again.extend(children);
}
