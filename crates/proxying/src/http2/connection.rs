//! A connection: streams, windows and limits (RFC 9113, 5 to 7), as the server of a client and as the
//! client of a server.
//!
//! [`Connection::receive`] takes one frame at a time and tells what it means for a stream; what must be
//! sent is in [`Connection::output`]. Memory: per stream its state, per connection one header block of
//! 32 KiB, the table of HPACK of 4 KiB, and the output. Content is refused room in the output above
//! [`OUTPUT_MAX`], and the caller gives no more input while the output is longer. Content is never
//! stored here: [`STREAM_WINDOW`] and [`CONNECTION_WINDOW`] limit what the caller holds until it calls
//! [`Connection::consumed`].

mod outgoing;

use super::frame::{self, Code, Error, Frame, Setting, WINDOW_MAX};
use super::hpack::{self, Decoder, List};
use super::message;
use super::stream::{Stream, Streams};
use crate::budget::{Budget, RESET_COST, Spent};

/// Content of one stream that the caller has not consumed, in bytes: the initial value of RFC 9113.
pub const STREAM_WINDOW: u32 = 65_535;
/// Content of all streams of a client that the caller has not consumed, in bytes. Those of a server have
/// all their windows, because they belong to several clients, and none may block the others.
pub const CONNECTION_WINDOW: u32 = 1 << 20;
/// Output beyond which there is no room for content, in bytes.
pub const OUTPUT_MAX: usize = 64 * 1024;
/// Largest header block in its frames.
const BLOCK_MAX: usize = 32 * 1024;
/// Streams at once that a server accepts before its settings tell.
const STREAMS_AT_FIRST: u32 = 100;

/// What a frame means for a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The head of a message: a client's request, which begins the stream, or a server's response,
    /// interim or final. A list that is too large has no fields. `bytes` is its size as received.
    Head { stream: u32, list: List, end: bool, bytes: usize },
    /// Content; flow control counts `counted` bytes.
    Data { stream: u32, data: &'a [u8], counted: u32, end: bool },
    /// The message ends with trailers.
    Trailers { stream: u32, list: List },
    /// The stream has ended early, by the peer or by its error.
    Reset { stream: u32, code: u32 },
    /// More may be sent on one stream, or on all (0).
    Window { stream: u32 },
    /// The peer processes no streams above this one.
    GoAway { last: u32 },
}

/// Which side of the connection this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The peer sends requests.
    Server,
    /// The peer sends responses.
    Client,
}

/// A header block in pieces.
#[derive(Debug)]
struct Block {
    stream: u32,
    bytes: Vec<u8>,
    end: bool,
}

/// One side of a connection.
#[derive(Debug)]
pub struct Connection {
    /// Bytes for the peer, in whole frames.
    pub output: Vec<u8>,
    role: Role,
    streams: Streams,
    decoder: Decoder,
    block: Option<Block>,
    budget: Budget,
    limits: Limits,
    windows: Windows,
    /// Highest stream that has begun.
    last: u32,
    progress: Progress,
    farewell: Farewell,
}

/// Limits that the settings announce to the peer.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Streams at once.
    pub streams: u32,
    /// Bytes of a header list.
    pub list: u32,
}

#[derive(Debug)]
struct Windows {
    receive: i64,
    /// What it is when everything is consumed.
    whole: u32,
    /// Bytes consumed that the peer has not been told of.
    untold: u32,
    send: i64,
    /// Of a new stream towards the peer.
    initial: i64,
    /// Largest frame that the peer accepts.
    frame: usize,
    /// Streams at once that the peer accepts.
    streams: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Preface,
    Settings,
    Open,
    Closed,
}

/// How far the end of a connection is (RFC 9113, 6.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Farewell {
    No,
    /// The peer is warned: streams that it has begun meanwhile are served.
    Warned,
    /// It knows: streams that begin are refused.
    Said,
}

impl From<Spent> for Error {
    fn from(Spent: Spent) -> Self {
        Self::Connection(Code::EnhanceYourCalm)
    }
}

impl Connection {
    /// A connection that begins: its settings are in the output.
    pub fn new(role: Role, limits: Limits, now_ms: u64) -> Self {
        let mut output = Vec::new();
        match role {
            // MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE, ENABLE_CONNECT_PROTOCOL.
            Role::Server => {
                let settings = [(3, limits.streams), (6, limits.list), (8, 1)];
                frame::settings_frame(&mut output, &settings);
            }
            // ENABLE_PUSH, MAX_HEADER_LIST_SIZE.
            Role::Client => {
                output.extend_from_slice(frame::PREFACE);
                frame::settings_frame(&mut output, &[(2, 0), (6, limits.list)]);
            }
        }
        let whole = match role {
            Role::Server => CONNECTION_WINDOW,
            Role::Client => limits.streams.max(2).saturating_mul(STREAM_WINDOW).min(WINDOW_MAX),
        };
        frame::window(&mut output, 0, whole - STREAM_WINDOW);
        let initial = i64::from(STREAM_WINDOW);
        Self {
            output,
            role,
            streams: Streams::default(),
            decoder: Decoder::default(),
            block: None,
            budget: Budget::new(now_ms),
            limits,
            windows: Windows {
                receive: i64::from(whole),
                whole,
                untold: 0,
                send: initial,
                initial,
                frame: frame::PAYLOAD_MAX,
                streams: STREAMS_AT_FIRST,
            },
            last: 0,
            progress: match role {
                Role::Server => Progress::Preface,
                Role::Client => Progress::Settings,
            },
            farewell: Farewell::No,
        }
    }

    /// Takes one frame from the front of `input`: the bytes that belong to it, 0 if more are needed.
    ///
    /// # Errors
    /// The connection ends when the output is sent; it ends with GOAWAY.
    pub fn receive<'a>(
        &mut self,
        input: &'a [u8],
        now_ms: u64,
    ) -> Result<(usize, Option<Event<'a>>), Code> {
        match self.progress {
            Progress::Preface if input.starts_with(frame::PREFACE) => {
                self.progress = Progress::Settings;
                return Ok((frame::PREFACE.len(), None));
            }
            Progress::Preface if frame::PREFACE.starts_with(input) => return Ok((0, None)),
            Progress::Preface => return Err(self.close(Code::Protocol)),
            Progress::Closed => return Ok((input.len(), None)),
            Progress::Settings | Progress::Open => {}
        }
        let (length, result) = match frame::parse(input) {
            Ok(None) => return Ok((0, None)),
            Ok(Some((length, frame))) => (length, self.handle(frame, now_ms)),
            Err((length, error)) => (length, Err(error)),
        };
        let error = match result {
            Ok(event) => return Ok((length, event)),
            // Nothing may come between the pieces of a header block, not even an error.
            Err(Error::Stream(..)) if self.block.is_some() => Error::Connection(Code::Protocol),
            Err(error @ Error::Stream(..)) => match self.budget.spend(self.reset_cost(), now_ms) {
                Ok(()) => error,
                Err(spent) => spent.into(),
            },
            Err(error) => error,
        };
        match error {
            Error::Connection(code) => Err(self.close(code)),
            Error::Stream(stream, code) => {
                let known = self.reset(stream, code);
                Ok((length, known.then_some(Event::Reset { stream, code: code as u32 })))
            }
        }
    }

    fn handle<'a>(&mut self, frame: Frame<'a>, now_ms: u64) -> Result<Option<Event<'a>>, Error> {
        let protocol = Err(Error::Connection(Code::Protocol));
        if self.block.is_some() && !matches!(frame, Frame::Continuation { .. }) {
            return protocol;
        }
        if self.progress == Progress::Settings {
            if !matches!(frame, Frame::Settings(_)) {
                return protocol;
            }
            self.progress = Progress::Open;
        }
        match frame {
            Frame::Data { stream, data, counted, end } => {
                if data.is_empty() && !end {
                    self.budget.spend(1, now_ms)?;
                }
                self.content(stream, data, counted, end)
            }
            Frame::Headers { stream, block, end, last } => {
                self.block = Some(Block { stream, bytes: block.to_vec(), end });
                if last { self.list() } else { Ok(None) }
            }
            Frame::Continuation { stream, block, last } => {
                self.budget.spend(u64::from(block.is_empty()), now_ms)?;
                self.continuation(stream, block, last)
            }
            Frame::Reset { stream, code } => {
                self.budget.spend(self.reset_cost(), now_ms)?;
                self.not_idle(stream)?;
                let known = self.streams.end(stream, false);
                Ok(known.then_some(Event::Reset { stream, code }))
            }
            Frame::Settings(settings) => {
                self.budget.spend(1, now_ms)?;
                self.settings(&settings)
            }
            Frame::Ping(opaque) => {
                self.budget.spend(1, now_ms)?;
                frame::ping_ack(&mut self.output, opaque);
                Ok(None)
            }
            Frame::PingAck => {
                self.budget.spend(1, now_ms)?;
                self.warned();
                Ok(None)
            }
            Frame::Window { stream, increment } => self.window(stream, increment),
            Frame::GoAway { last, .. } => {
                self.budget.spend(1, now_ms)?;
                if self.role == Role::Client {
                    self.farewell = Farewell::Said;
                }
                Ok(Some(Event::GoAway { last }))
            }
            Frame::PushPromise => protocol,
            Frame::Priority { .. } | Frame::SettingsAck | Frame::Unknown => {
                self.budget.spend(1, now_ms)?;
                Ok(None)
            }
        }
    }

    fn continuation<'a>(
        &mut self,
        stream: u32,
        block: &[u8],
        last: bool,
    ) -> Result<Option<Event<'a>>, Error> {
        let begun = self.block.as_mut().filter(|begun| begun.stream == stream);
        let begun = begun.ok_or(Error::Connection(Code::Protocol))?;
        begun.bytes.extend_from_slice(block);
        if begun.bytes.len() > BLOCK_MAX {
            return Err(Error::Connection(Code::EnhanceYourCalm));
        }
        if last { self.list() } else { Ok(None) }
    }

    /// A server resets only what this side has begun.
    fn reset_cost(&self) -> u64 {
        if self.role == Role::Server { RESET_COST } else { 0 }
    }

    /// RFC 9113, 5.1: only HEADERS and PRIORITY may come on a stream that has not begun.
    fn not_idle(&self, stream: u32) -> Result<(), Error> {
        let idle = stream > self.last || stream.is_multiple_of(2);
        if idle { Err(Error::Connection(Code::Protocol)) } else { Ok(()) }
    }

    fn content<'a>(
        &mut self,
        stream: u32,
        data: &'a [u8],
        counted: usize,
        end: bool,
    ) -> Result<Option<Event<'a>>, Error> {
        self.not_idle(stream)?;
        let counted = u32::try_from(counted).unwrap_or(u32::MAX);
        self.windows.receive -= i64::from(counted);
        if self.windows.receive < 0 {
            return Err(Error::Connection(Code::FlowControl));
        }
        if !data.is_empty() {
            self.budget.earn();
        }
        let error = match self.streams.get_mut(stream) {
            Some(open) if !open.ended && open.headed => {
                open.receive -= i64::from(counted);
                open.ended = end;
                // RFC 9113, 8.1.1: a Content-Length is the sum of all DATA.
                let length = data.len() as u64;
                let rest = open.expected.map(|expected| expected.checked_sub(length));
                let right = match rest {
                    None => true,
                    Some(None) => false,
                    Some(Some(rest)) => rest == 0 || !end,
                };
                if right && open.receive >= 0 {
                    open.expected = rest.flatten();
                    self.gone_if_complete(stream);
                    return Ok(Some(Event::Data { stream, data, counted, end }));
                }
                if right { Code::FlowControl } else { Code::Protocol }
            }
            Some(open) if !open.ended => Code::Protocol,
            _ => Code::StreamClosed,
        };
        // It is consumed here: the connection's window must not run dry.
        self.credit(counted);
        // RFC 9113, 5.1: what was sent before the peer knew of the reset is ignored.
        if self.streams.reset_by_us(stream) == Some(true) {
            return Ok(None);
        }
        Err(Error::Stream(stream, error))
    }

    /// A header block is complete.
    fn list<'a>(&mut self) -> Result<Option<Event<'a>>, Error> {
        let Some(Block { stream, bytes, end }) = self.block.take() else { return Ok(None) };
        let list = self.decoder.decode(&bytes, self.limits.list as usize);
        let list = list.map_err(|hpack::Malformed| Error::Connection(Code::Compression))?;
        let bytes = bytes.len();
        self.budget.earn();
        if let Some(open) = self.streams.get_mut(stream) {
            if open.ended {
                return Err(Error::Stream(stream, Code::StreamClosed));
            }
            if !open.headed {
                return self.response_head(stream, list, end, bytes).map(Some);
            }
            let short = open.expected.is_some_and(|expected| expected > 0);
            if !end || list.too_large || short || message::trailers(&list.fields).is_err() {
                return Err(Error::Stream(stream, Code::Protocol));
            }
            open.ended = true;
            self.gone_if_complete(stream);
            return Ok(Some(Event::Trailers { stream, list }));
        }
        if stream <= self.last || self.role == Role::Client {
            self.not_idle(stream)?;
            return match self.streams.reset_by_us(stream) {
                Some(true) => Ok(None),
                Some(false) => Err(Error::Connection(Code::StreamClosed)),
                None => Err(Error::Connection(Code::Protocol)),
            };
        }
        if stream.is_multiple_of(2) {
            return Err(Error::Connection(Code::Protocol));
        }
        self.last = stream;
        let full = self.streams.len() >= self.limits.streams as usize;
        if full || self.farewell == Farewell::Said {
            return Err(Error::Stream(stream, Code::RefusedStream));
        }
        let expected = message::content_length(&list.fields)
            .map_err(|_| Error::Stream(stream, Code::Protocol))?;
        self.begin(stream, expected, true, end);
        Ok(Some(Event::Head { stream, list, end, bytes }))
    }

    fn begin(&mut self, number: u32, expected: Option<u64>, headed: bool, ended: bool) {
        self.streams.add(Stream {
            number,
            receive: i64::from(STREAM_WINDOW),
            send: self.windows.initial,
            untold: 0,
            expected,
            headed,
            ended,
            sent: false,
        });
    }

    fn response_head<'a>(
        &mut self,
        stream: u32,
        list: List,
        end: bool,
        bytes: usize,
    ) -> Result<Event<'a>, Error> {
        let malformed = Error::Stream(stream, Code::Protocol);
        let status = list.fields.first().filter(|field| field.name == b":status");
        let interim = status.is_some_and(|field| field.value.starts_with(b"1"));
        if interim && end {
            return Err(malformed);
        }
        let expected = message::content_length(&list.fields).map_err(|_| malformed)?;
        if let Some(open) = self.streams.get_mut(stream) {
            open.headed = !interim;
            open.ended = end;
            open.expected = expected.filter(|_| !interim);
        }
        self.gone_if_complete(stream);
        Ok(Event::Head { stream, list, end, bytes })
    }

    /// A stream that both sides have ended is no more.
    fn gone_if_complete(&mut self, stream: u32) {
        if self.streams.get(stream).is_some_and(|open| open.ended && open.sent) {
            self.streams.end(stream, false);
        }
    }

    fn settings<'a>(&mut self, settings: &[Setting]) -> Result<Option<Event<'a>>, Error> {
        for setting in settings {
            match setting {
                Setting::FrameSize(size) => self.windows.frame = *size as usize,
                Setting::Streams(most) => self.windows.streams = *most,
                Setting::Window(size) => {
                    // RFC 9113, 6.9.2: windows of open streams change as well, even below zero.
                    let change = i64::from(*size) - self.windows.initial;
                    self.windows.initial = i64::from(*size);
                    for open in self.streams.iter_mut() {
                        open.send += change;
                        if open.send > i64::from(WINDOW_MAX) {
                            return Err(Error::Connection(Code::FlowControl));
                        }
                    }
                }
                _ => {}
            }
        }
        frame::settings_ack(&mut self.output);
        Ok(Some(Event::Window { stream: 0 }))
    }

    fn window<'a>(&mut self, stream: u32, increment: u32) -> Result<Option<Event<'a>>, Error> {
        let (window, error) = match self.streams.get_mut(stream) {
            Some(open) => (&mut open.send, Error::Stream(stream, Code::FlowControl)),
            None if stream == 0 => (&mut self.windows.send, Error::Connection(Code::FlowControl)),
            None => return self.not_idle(stream).map(|()| None),
        };
        *window += i64::from(increment);
        if *window > i64::from(WINDOW_MAX) {
            return Err(error);
        }
        Ok(Some(Event::Window { stream }))
    }
}
