//! A connection with a client: streams and limits (RFC 9114, 4 to 6).
//!
//! [`Connection::receive`] takes bytes of a request stream and tells what they mean, one [`Event`] at a time;
//! [`Connection::flush`] gives the transport what must be sent. Requests are counted from 1. Memory: per stream
//! its state, at most [`BLOCKS_MAX`] bytes of header blocks, and the output, in which content is refused room
//! above [`OUTPUT_MAX`]. Content is never stored here: the caller reads no more of a stream than it can hold.

mod outgoing;
#[cfg(test)]
mod tests;

use super::control::{SKIPPED, Streams};
use super::frame::{self, Code, Error, Part, kind};
use super::qpack;
use super::request::{Phase, Request};
use crate::budget::{Budget, Purse, RESET_COST};
pub use crate::http2::connection::{Event, Limits};
use crate::http2::frame::Code as StreamCode;
use crate::http2::hpack::List;
use crate::http2::message;

/// Output of all streams beyond which there is no room for content, in bytes.
pub const OUTPUT_MAX: usize = 256 * 1024;
/// The same of one stream.
const STREAM_OUTPUT: usize = 64 * 1024;
/// Largest header block.
const BLOCK_MAX: u64 = 32 * 1024;
/// Header blocks of all streams that are not complete, in bytes.
const BLOCKS_MAX: usize = 256 * 1024;
/// How long a client may not know of the end of the connection, in milliseconds: what it begins is served.
const WARNING_MS: u64 = 1000;

/// How long the head of a GET waits for the end of its stream, in milliseconds: clients may send it apart, and a
/// server of HTTP/1 would get a request with chunks.
const HOLD_MS: u64 = 20;

/// Up to two events in their order.
pub type Events<'a> = [Option<Event<'a>>; 2];

/// What the transport has to do for a stream, by its number in QUIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// RESET_STREAM.
    Reset(u64, Code),
    /// STOP_SENDING.
    Stop(u64, Code),
}

/// How far the end of a connection is (RFC 9114, 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Farewell {
    No,
    /// The client was warned at this time, in monotonic milliseconds.
    Warned(u64),
    /// It knows: requests that begin are rejected.
    Said,
}

/// This side of a connection.
#[derive(Debug)]
pub struct Connection {
    limits: Limits,
    budget: Budget,
    streams: Streams,
    /// In ascending order.
    requests: Vec<Request>,
    /// The last one that has begun.
    last: u32,
    farewell: Farewell,
    closed: Option<Code>,
    /// Bytes of header blocks that are not complete.
    blocks: usize,
    /// Bytes of output of all requests.
    waiting: usize,
    /// Requests with output that the transport has not refused.
    ready: Vec<u32>,
    /// For the control stream of this side.
    control: Vec<u8>,
    orders: Vec<Order>,
}

/// The number of a request's stream in QUIC: every fourth is one that the client begins, in both directions.
const fn id(number: u32) -> u64 {
    (number as u64 - 1) * 4
}

/// Whether a request has no content, unless it comes (RFC 9110, 9.3.1).
fn lacks_content(list: &List) -> bool {
    let methods: [&[u8]; 2] = [b"GET", b"HEAD"];
    list.fields.iter().any(|field| field.name == b":method" && methods.contains(&&field.value[..]))
}

impl Connection {
    /// A connection that begins.
    pub fn new(limits: Limits, now_ms: u64) -> Self {
        let mut payload = Vec::new();
        // MAX_FIELD_SECTION_SIZE, ENABLE_CONNECT_PROTOCOL. The table of QPACK has 0 bytes without a setting.
        for (name, value) in [(6, u64::from(limits.list)), (8, 1)] {
            frame::put_integer(&mut payload, name);
            frame::put_integer(&mut payload, value);
        }
        // The type of a control stream.
        let mut control = vec![0];
        frame::begin(&mut control, kind::SETTINGS, payload.len());
        control.extend_from_slice(&payload);
        Self {
            limits,
            budget: Budget::new(now_ms),
            streams: Streams::default(),
            requests: Vec::new(),
            last: 0,
            farewell: Farewell::No,
            closed: None,
            blocks: 0,
            waiting: 0,
            ready: Vec::new(),
            control,
            orders: Vec::new(),
        }
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.requests.binary_search_by_key(&number, |request| request.number).ok()
    }

    /// The client begins the next stream; returns the request's number.
    ///
    /// # Errors
    /// The connection ends.
    pub fn begin(&mut self, now_ms: u64) -> Result<u32, Code> {
        let number = self.last.checked_add(1).ok_or_else(|| self.close(Code::NoError))?;
        self.last = number;
        if self.farewell == Farewell::Said {
            let spent = self.budget.spend(RESET_COST, now_ms);
            spent.map_err(|_| self.close(Code::ExcessiveLoad))?;
            self.refuse(number, Code::RequestRejected);
        } else {
            self.requests.push(Request::new(number, now_ms));
        }
        Ok(number)
    }

    /// Takes bytes from the front of `input`; returns how many, and up to two events. `end`: nothing follows
    /// them. An event that ends the stream comes when all are taken.
    ///
    /// # Errors
    /// The connection ends.
    pub fn receive<'a>(
        &mut self,
        number: u32,
        input: &'a [u8],
        end: bool,
        now_ms: u64,
    ) -> Result<(usize, Events<'a>), Code> {
        let open = self.place(number).filter(|at| !self.requests[*at].ended);
        let Some(at) = open.filter(|_| self.closed.is_none()) else {
            return Ok((input.len(), [None, None]));
        };
        let (taken, part) = self.requests[at].reader.next(input);
        let ends = end && taken == input.len();
        let result = match part {
            Some(part) => self.part(at, &part, now_ms),
            None => Ok([None, None]),
        };
        let result = match result {
            Ok(events) if ends => self.end(at, events),
            other => other,
        };
        match result {
            Ok(events) => Ok((taken, events)),
            Err(Error::Connection(code)) => Err(self.close(code)),
            Err(Error::Stream(code)) => {
                if self.budget.spend(RESET_COST, now_ms).is_err() {
                    return Err(self.close(Code::ExcessiveLoad));
                }
                self.refuse(number, code);
                let code = StreamCode::Protocol as u32;
                Ok((input.len(), [None, Some(Event::Reset { stream: number, code })]))
            }
        }
    }

    /// A part of a frame on a request stream.
    fn part<'a>(&mut self, at: usize, part: &Part<'a>, now_ms: u64) -> Result<Events<'a>, Error> {
        let request = &mut self.requests[at];
        request.expects(part)?;
        match part.kind {
            kind::DATA if part.length == 0 => self.budget.spend(1, now_ms)?,
            kind::DATA => {
                request.count(part.data.len())?;
                if !part.data.is_empty() {
                    self.budget.earn();
                    let counted = u32::try_from(part.data.len()).unwrap_or(u32::MAX);
                    let (stream, data) = (request.number, part.data);
                    let content = Event::Data { stream, data, counted, end: false };
                    return Ok([request.release(false), Some(content)]);
                }
            }
            kind::HEADERS => {
                self.blocks += part.data.len();
                request.block.extend_from_slice(part.data);
                if part.length > BLOCK_MAX || self.blocks > BLOCKS_MAX {
                    return Err(Error::Connection(Code::ExcessiveLoad));
                }
                if part.last {
                    return Ok([None, self.list(at, now_ms)?]);
                }
            }
            _ => {
                let cost = if part.first { 1 + part.length.min(1 << 30) / SKIPPED } else { 0 };
                self.budget.spend(cost, now_ms)?;
            }
        }
        Ok([None, None])
    }

    /// A header block is complete.
    fn list<'a>(&mut self, at: usize, now_ms: u64) -> Result<Option<Event<'a>>, Error> {
        let request = &mut self.requests[at];
        let block = std::mem::take(&mut request.block);
        self.blocks -= block.len();
        let list = qpack::decode(&block, self.limits.list as usize)
            .map_err(|_| Error::Connection(Code::QpackDecompression))?;
        self.budget.earn();
        if request.phase == Phase::Head {
            request.phase = Phase::Content;
            request.expected =
                message::content_length(&list.fields).map_err(|_| Error::Stream(Code::Message))?;
            let (stream, bytes) = (request.number, block.len());
            if request.expected.is_none() && lacks_content(&list) {
                request.held = Some((list, bytes));
                request.begun_ms = now_ms;
                return Ok(None);
            }
            return Ok(Some(Event::Head { stream, list, end: false, bytes }));
        }
        request.phase = Phase::Trailers;
        if list.too_large || message::trailers(&list.fields).is_err() {
            return Err(Error::Stream(Code::Message));
        }
        request.trailers = Some(list);
        Ok(None)
    }

    /// The client's message has ended, with these events.
    fn end<'a>(&mut self, at: usize, [before, event]: Events<'a>) -> Result<Events<'a>, Error> {
        let request = &mut self.requests[at];
        request.end()?;
        let stream = request.number;
        let trailers = request.trailers.take();
        let alone = trailers.is_none() && event.is_none();
        let head = before.or_else(|| request.release(alone));
        let ended = match (event, trailers) {
            _ if alone && head.is_some() => None,
            (Some(Event::Head { list, bytes, .. }), _) => {
                Some(Event::Head { stream, list, end: true, bytes })
            }
            (Some(Event::Data { data, counted, .. }), _) => {
                Some(Event::Data { stream, data, counted, end: true })
            }
            (_, Some(list)) => Some(Event::Trailers { stream, list }),
            _ => Some(Event::Data { stream, data: &[], counted: 0, end: true }),
        };
        self.remove_if_complete(stream);
        Ok([head, ended])
    }

    /// The heads that have waited long enough for the end of their request.
    pub fn release(&mut self, now_ms: u64) -> Vec<Event<'static>> {
        let late = |request: &&mut Request| now_ms >= request.begun_ms + HOLD_MS;
        self.requests.iter_mut().filter(late).filter_map(|request| request.release(false)).collect()
    }

    /// When [`Self::release`] has the next head, in monotonic milliseconds; `None`: there is none.
    pub fn next_release_ms(&self) -> Option<u64> {
        let held = self.requests.iter().filter(|request| request.held.is_some());
        held.map(|request| request.begun_ms + HOLD_MS).min()
    }

    /// Takes bytes of a unidirectional stream, by its number in QUIC. `end`: nothing follows them.
    ///
    /// # Errors
    /// The connection ends.
    pub fn receive_unidirectional(
        &mut self,
        stream: u64,
        input: &[u8],
        end: bool,
        now_ms: u64,
    ) -> Result<(), Code> {
        let mut purse = Purse { budget: &mut self.budget, now_ms };
        match self.streams.receive(stream, input, end, &mut purse) {
            Ok(()) => Ok(()),
            Err(Error::Connection(code)) => Err(self.close(code)),
            Err(Error::Stream(code)) => {
                self.orders.push(Order::Stop(stream, code));
                Ok(())
            }
        }
    }

    /// The client has abandoned a unidirectional stream.
    ///
    /// # Errors
    /// The connection ends.
    pub fn unidirectional_reset(&mut self, stream: u64, now_ms: u64) -> Result<(), Code> {
        let spent = self.budget.spend(RESET_COST, now_ms);
        spent.map_err(|_| self.close(Code::ExcessiveLoad))?;
        match self.streams.reset(stream) {
            Err(Error::Connection(code)) => Err(self.close(code)),
            _ => Ok(()),
        }
    }

    /// The client has cancelled a request: it sends no more of it, or reads no more of its response.
    ///
    /// # Errors
    /// The connection ends.
    pub fn cancelled(
        &mut self,
        number: u32,
        code: u64,
        now_ms: u64,
    ) -> Result<Option<Event<'static>>, Code> {
        // Clients abandon both directions: the second one costs nothing.
        if self.place(number).is_none() {
            return Ok(None);
        }
        if self.budget.spend(RESET_COST, now_ms).is_err() {
            return Err(self.close(Code::ExcessiveLoad));
        }
        self.refuse(number, Code::RequestCancelled);
        let code = frame::as_http2(code) as u32;
        Ok(Some(Event::Reset { stream: number, code }))
    }

    /// Ends the complete responses of which the client has accepted nothing for so long. Others have sessions with
    /// deadlines of their own.
    pub fn expire_output(&mut self, before_ms: u64) {
        let stuck = |request: &&Request| request.is_stuck(before_ms);
        let stuck: Vec<u32> =
            self.requests.iter().filter(stuck).map(|request| request.number).collect();
        for number in stuck {
            self.refuse(number, Code::RequestCancelled);
        }
    }

    /// Refuses the requests whose head has not come for so long.
    ///
    /// # Errors
    /// The connection ends.
    pub fn expire_heads(&mut self, before_ms: u64, now_ms: u64) -> Result<(), Code> {
        let late =
            |request: &&Request| request.phase == Phase::Head && request.begun_ms < before_ms;
        let late: Vec<u32> =
            self.requests.iter().filter(late).map(|request| request.number).collect();
        for number in late {
            if self.budget.spend(RESET_COST, now_ms).is_err() {
                return Err(self.close(Code::ExcessiveLoad));
            }
            self.refuse(number, Code::RequestIncomplete);
        }
        Ok(())
    }
}
