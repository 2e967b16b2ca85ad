//! What this side does: it sends, ends streams, and ends the connection.

use super::{Connection, Farewell, OUTPUT_MAX, Order, STREAM_OUTPUT, WARNING_MS, id};
use crate::http3::frame::{self, Code, INTEGER_MAX, kind};
use crate::http3::qpack;

impl Connection {
    /// Sends the header block of a response, or of trailers.
    pub fn send_headers(&mut self, number: u32, block: &[u8], end: bool) {
        let length = qpack::PREFIX.len() + block.len();
        self.send(number, end, |output| {
            frame::begin(output, kind::HEADERS, length);
            output.extend_from_slice(&qpack::PREFIX);
            output.extend_from_slice(block);
        });
    }

    /// Bytes of content that may be sent on a stream now.
    pub fn room(&self, number: u32) -> usize {
        let Some(at) = self.place(number) else { return usize::MAX };
        if self.waiting >= OUTPUT_MAX {
            return 0;
        }
        STREAM_OUTPUT.saturating_sub(self.requests[at].output.len())
    }

    /// Sends as much content as there is [room](Self::room) for, and the end with the last of it; returns the
    /// number of bytes.
    pub fn send_data(&mut self, number: u32, data: &[u8], end: bool) -> usize {
        let length = data.len().min(self.room(number));
        let end = end && length == data.len();
        if length > 0 || end {
            self.send(number, end, |output| {
                if length > 0 {
                    frame::begin(output, kind::DATA, length);
                    output.extend_from_slice(&data[..length]);
                }
            });
        }
        length
    }

    fn send(&mut self, number: u32, end: bool, write: impl FnOnce(&mut Vec<u8>)) {
        let Some(at) = self.place(number) else { return };
        let request = &mut self.requests[at];
        if request.sent {
            return;
        }
        let before = request.output.len();
        if before == 0 {
            request.moved_ms = None;
        }
        write(&mut request.output);
        self.waiting += request.output.len() - before;
        self.budget.earn();
        request.sent = end;
        if end && !request.ended {
            // RFC 9114, 4.1: the rest of a request whose response is complete is not wanted.
            request.ended = true;
            self.orders.push(Order::Stop(id(number), Code::NoError));
        }
        if !self.ready.contains(&number) {
            self.ready.push(number);
        }
    }

    /// A stream has room again.
    pub fn writable(&mut self, number: u32) {
        if self.place(number).is_some() && !self.ready.contains(&number) {
            self.ready.push(number);
        }
    }

    /// Gives output to the transport. `write` gets the number of a stream in QUIC, bytes, and whether they end
    /// it, and returns how many of them are taken: fewer, if the stream has no room until
    /// [`Self::writable`]. Returns whether any were taken.
    pub fn flush(&mut self, now_ms: u64, mut write: impl FnMut(u64, &[u8], bool) -> usize) -> bool {
        let before = self.waiting;
        for number in std::mem::take(&mut self.ready) {
            let Some(at) = self.place(number) else { continue };
            let request = &mut self.requests[at];
            let taken = write(id(number), &request.output, request.sent);
            request.output.drain(..taken);
            self.waiting -= taken;
            if taken > 0 || request.moved_ms.is_none() {
                request.moved_ms = Some(now_ms);
            }
            if request.output.is_empty() {
                request.output = Vec::new();
                self.remove_if_complete(number);
            }
        }
        self.waiting < before
    }

    /// For the control stream, since the last call.
    pub fn take_control(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.control)
    }

    /// For the transport, since the last call.
    pub fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// A stream whose sides have both ended is no more.
    pub(super) fn remove_if_complete(&mut self, number: u32) {
        let Some(at) = self.place(number) else { return };
        let request = &self.requests[at];
        if request.sent && request.ended && request.output.is_empty() {
            self.requests.remove(at);
        }
    }

    /// Ends a stream early.
    pub fn reset(&mut self, number: u32, code: Code) {
        if self.place(number).is_some() {
            self.refuse(number, code);
        }
    }

    /// Ends a stream that may not have begun.
    pub(super) fn refuse(&mut self, number: u32, code: Code) {
        let read = self.place(number).is_some_and(|at| {
            let request = self.requests.remove(at);
            self.waiting -= request.output.len();
            self.blocks -= request.block.len();
            request.ended
        });
        self.orders.push(Order::Reset(id(number), code));
        if !read {
            self.orders.push(Order::Stop(id(number), code));
        }
    }

    /// Whether a stream is in progress; its last bytes may not have been sent.
    pub fn is_open(&self, number: u32) -> bool {
        self.place(number).is_some_and(|at| !self.requests[at].sent)
    }

    /// Begins to end the connection: streams in progress, and those that the client begins before it knows,
    /// are served (RFC 9114, 5.2). Called again, it may tell of the last stream that is.
    pub fn drain(&mut self, now_ms: u64) {
        match self.farewell {
            Farewell::No => {
                self.farewell = Farewell::Warned(now_ms);
                // The largest number of a stream that a client can begin.
                self.goaway(INTEGER_MAX - 3);
            }
            Farewell::Warned(at_ms) if now_ms >= at_ms + WARNING_MS => {
                self.farewell = Farewell::Said;
                self.goaway(u64::from(self.last) * 4);
            }
            Farewell::Warned(_) | Farewell::Said => {}
        }
    }

    fn goaway(&mut self, stream: u64) {
        let mut payload = Vec::new();
        frame::put_integer(&mut payload, stream);
        frame::begin(&mut self.control, kind::GOAWAY, payload.len());
        self.control.extend_from_slice(&payload);
    }

    /// Whether the connection is about to end.
    pub fn is_draining(&self) -> bool {
        self.farewell != Farewell::No
    }

    /// Whether the connection is about to end and has no stream.
    pub fn is_drained(&self) -> bool {
        self.farewell == Farewell::Said && self.requests.is_empty()
    }

    /// Ends the connection and all of its streams. The first code stays.
    pub fn close(&mut self, code: Code) -> Code {
        self.requests.clear();
        self.ready.clear();
        (self.waiting, self.blocks) = (0, 0);
        *self.closed.get_or_insert(code)
    }

    /// Why it has been closed, if it has.
    pub fn closed(&self) -> Option<Code> {
        self.closed
    }

    /// Bytes that the transport has not taken.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Streams in progress, also those whose head has not arrived.
    pub fn requests(&self) -> usize {
        self.requests.len()
    }
}
