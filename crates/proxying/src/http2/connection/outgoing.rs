//! What this side does: it begins and ends streams, sends, and gives windows back.

use super::{Connection, Farewell, OUTPUT_MAX, Progress, Role, STREAM_WINDOW};
use crate::http2::frame::{self, Code, WINDOW_MAX};

impl Connection {
    /// Content was consumed: the peer may send as much again. A WINDOW_UPDATE leaves when half of a
    /// window is consumed.
    pub fn consumed(&mut self, stream: u32, counted: u32) {
        self.credit(counted);
        if let Some(open) = self.streams.get_mut(stream)
            && !open.ended
        {
            open.untold += counted;
            if open.untold >= STREAM_WINDOW / 2 {
                open.receive += i64::from(open.untold);
                frame::window(&mut self.output, stream, std::mem::take(&mut open.untold));
            }
        }
    }

    pub(super) fn credit(&mut self, counted: u32) {
        let windows = &mut self.windows;
        windows.untold += counted;
        if windows.untold >= windows.whole / 2 {
            windows.receive += i64::from(windows.untold);
            frame::window(&mut self.output, 0, std::mem::take(&mut windows.untold));
        }
    }

    /// Whether another stream can be begun. Its header block needs room in the output: streams that end early free
    /// their places, so the number of streams alone would not limit the output to a peer that does not read.
    pub fn accepts_streams(&self) -> bool {
        let most = self.windows.streams.min(self.limits.streams) as usize;
        self.role == Role::Client
            && self.farewell == Farewell::No
            && matches!(self.progress, Progress::Settings | Progress::Open)
            && self.streams.len() < most
            && self.last < WINDOW_MAX - 1
            && self.output.len() < OUTPUT_MAX
    }

    /// Begins a stream with the header block of a request; `None`: the server accepts no more now.
    pub fn open(&mut self, block: &[u8], end: bool) -> Option<u32> {
        let number = if self.last == 0 { 1 } else { self.last + 2 };
        if !self.accepts_streams() {
            return None;
        }
        self.last = number;
        self.begin(number, None, false, false);
        self.send_headers(number, block, end);
        Some(number)
    }

    /// Sends a header block on an open stream.
    pub fn send_headers(&mut self, stream: u32, block: &[u8], end: bool) {
        if self.streams.get(stream).is_some_and(|open| !open.sent) {
            frame::headers(&mut self.output, stream, block, end, self.windows.frame);
            self.end_if(stream, end);
        }
    }

    /// Bytes of content that may be sent on a stream now.
    pub fn room(&self, stream: u32) -> usize {
        let Some(open) = self.streams.get(stream) else { return usize::MAX };
        if self.output.len() >= OUTPUT_MAX {
            return 0;
        }
        usize::try_from(open.send.min(self.windows.send)).unwrap_or(0).min(self.windows.frame)
    }

    /// Sends as much content as there is [room](Self::room) for, and the end with the last of it;
    /// returns the number of bytes.
    pub fn send_data(&mut self, stream: u32, data: &[u8], end: bool) -> usize {
        let room = self.room(stream);
        let Some(open) = self.streams.get_mut(stream).filter(|open| !open.sent) else {
            return data.len();
        };
        let length = data.len().min(room);
        let end = end && length == data.len();
        if length > 0 || end {
            let counted = i64::try_from(length).unwrap_or(i64::MAX);
            open.send -= counted;
            self.windows.send -= counted;
            self.budget.earn();
            frame::data(&mut self.output, stream, &data[..length], end);
            self.end_if(stream, end);
        }
        length
    }

    /// This side has ended. A request that goes on after its response is no longer wanted (RFC 9113,
    /// 8.1).
    fn end_if(&mut self, stream: u32, end: bool) {
        let Some(open) = self.streams.get_mut(stream).filter(|_| end) else { return };
        open.sent = true;
        if open.ended {
            self.streams.end(stream, false);
        } else if self.role == Role::Server {
            self.reset(stream, Code::NoError);
        }
    }

    /// Ends a stream early; false: it was not open.
    pub fn reset(&mut self, stream: u32, code: Code) -> bool {
        frame::reset(&mut self.output, stream, code);
        self.streams.end(stream, true)
    }

    /// Whether a stream is in progress.
    pub fn is_open(&self, stream: u32) -> bool {
        self.streams.get(stream).is_some()
    }

    /// Begins to end the connection: streams in progress, and those that the client has begun before
    /// it knows, are served (RFC 9113, 6.8).
    pub fn drain(&mut self) {
        if self.farewell == Farewell::No && self.progress != Progress::Closed {
            self.farewell = Farewell::Warned;
            frame::goaway(&mut self.output, WINDOW_MAX, Code::NoError);
            frame::ping(&mut self.output, *b"goodbye!");
        }
    }

    /// The peer has seen the warning: what it begins from now on is refused.
    pub(super) fn warned(&mut self) {
        if self.farewell == Farewell::Warned {
            self.farewell = Farewell::Said;
            frame::goaway(&mut self.output, self.last, Code::NoError);
        }
    }

    /// Whether the connection is about to end and has no stream.
    pub fn is_drained(&self) -> bool {
        self.farewell == Farewell::Said && self.streams.len() == 0
    }

    /// Ends the connection and all of its streams.
    pub fn close(&mut self, code: Code) -> Code {
        if self.progress != Progress::Closed {
            frame::goaway(&mut self.output, self.last, code);
        }
        self.streams.clear();
        self.block = None;
        self.progress = Progress::Closed;
        code
    }

    /// Whether it has been closed: only the output is left.
    pub fn is_closed(&self) -> bool {
        self.progress == Progress::Closed
    }

    /// Whether a header block has begun and not ended.
    pub fn has_block(&self) -> bool {
        self.block.is_some()
    }

    /// Streams in progress.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}
