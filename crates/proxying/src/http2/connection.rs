//! A client's connection: streams, windows and limits (RFC 9113, 5 to 7).
//!
//! [`Connection::receive`] takes one frame at a time and tells what it means for a stream; what must be
//! sent is in [`Connection::output`]. Memory: per stream its state, per connection one header block of
//! 32 KiB, the table of HPACK of 4 KiB, and the output, which the caller stops feeding with
//! input while it is not sent. Content is never stored here: [`STREAM_WINDOW`] and
//! [`CONNECTION_WINDOW`] limit what the caller holds until it calls [`Connection::consumed`].

use std::collections::{HashMap, VecDeque};

use super::frame::{self, Code, Error, Frame, Setting, WINDOW_MAX};
use super::hpack::{self, Decoder, List};

/// Content of one stream that the caller has not consumed, in bytes: the initial value of RFC 9113.
pub const STREAM_WINDOW: u32 = 65_535;
/// Content of all streams that the caller has not consumed, in bytes.
pub const CONNECTION_WINDOW: u32 = 1 << 20;
/// Largest header block in its frames.
const BLOCK_MAX: usize = 32 * 1024;
/// Streams that ended recently and are remembered: late frames for them are no errors.
const RECENT: usize = 64;
/// Frames without use (SETTINGS, PING, PRIORITY, empty DATA) and resets that a client may send at once.
const BURST: u64 = 500;
/// As many are added per second.
const PER_SECOND: u64 = 100;
/// What a stream that the client resets costs.
const RESET_COST: u64 = 4;

/// What a frame means for a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A request begins. A list that is too large has no fields.
    Request { stream: u32, list: List, end: bool },
    /// Content of a request; flow control counts `counted` bytes.
    Data { stream: u32, data: &'a [u8], counted: u32, end: bool },
    /// The request ends with trailers.
    Trailers { stream: u32, list: List },
    /// The stream has ended early, by the client or by its error.
    Reset { stream: u32 },
    /// More may be sent on one stream, or on all (0).
    Window { stream: u32 },
    /// The client begins no more streams.
    GoAway,
}

#[derive(Debug)]
struct Stream {
    /// Bytes that the client may send.
    receive: i64,
    /// Bytes that may be sent to the client.
    send: i64,
    /// The client has ended its side.
    ended: bool,
}

/// A header block in pieces.
#[derive(Debug)]
struct Block {
    stream: u32,
    bytes: Vec<u8>,
    end: bool,
}

/// Tokens for what costs the balancer work and brings the client nothing.
#[derive(Debug)]
struct Budget {
    tokens: u64,
    at_ms: u64,
}

impl Budget {
    fn spend(&mut self, cost: u64, now_ms: u64) -> Result<(), Error> {
        let gained = now_ms.saturating_sub(self.at_ms).saturating_mul(PER_SECOND) / 1000;
        if gained > 0 {
            self.tokens = self.tokens.saturating_add(gained).min(BURST);
            self.at_ms = now_ms;
        }
        let rest = self.tokens.checked_sub(cost);
        self.tokens = rest.ok_or(Error::Connection(Code::EnhanceYourCalm))?;
        Ok(())
    }
}

/// The server's side of a connection.
#[derive(Debug)]
pub struct Connection {
    /// Bytes for the client, in whole frames.
    pub output: Vec<u8>,
    streams: HashMap<u32, Stream>,
    /// Ended streams, and whether this side has reset them.
    recent: VecDeque<(u32, bool)>,
    decoder: Decoder,
    block: Option<Block>,
    budget: Budget,
    limits: Limits,
    windows: Windows,
    /// Highest stream of the client.
    last: u32,
    progress: Progress,
}

/// Limits that the settings announce to the client.
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
    send: i64,
    /// Of a new stream towards the client.
    initial: i64,
    /// Largest frame that the client accepts.
    frame: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Preface,
    Settings,
    Open,
    Closed,
}

impl Connection {
    /// A connection that begins: its settings are in the output.
    pub fn new(limits: Limits, now_ms: u64) -> Self {
        let mut output = Vec::new();
        // SETTINGS_MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE, ENABLE_CONNECT_PROTOCOL.
        frame::settings_frame(&mut output, &[(3, limits.streams), (6, limits.list), (8, 1)]);
        frame::window(&mut output, 0, CONNECTION_WINDOW - STREAM_WINDOW);
        let initial = i64::from(STREAM_WINDOW);
        Self {
            output,
            streams: HashMap::new(),
            recent: VecDeque::new(),
            decoder: Decoder::default(),
            block: None,
            budget: Budget { tokens: BURST, at_ms: now_ms },
            limits,
            windows: Windows {
                receive: i64::from(CONNECTION_WINDOW),
                send: initial,
                initial,
                frame: frame::PAYLOAD_MAX,
            },
            last: 0,
            progress: Progress::Preface,
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
        match result {
            Ok(event) => Ok((length, event)),
            Err(Error::Connection(code)) => Err(self.close(code)),
            // Nothing may come between the pieces of a header block, not even an error.
            Err(Error::Stream(..)) if self.block.is_some() => Err(self.close(Code::Protocol)),
            Err(Error::Stream(stream, code)) => {
                let known = self.streams.contains_key(&stream);
                self.reset(stream, code);
                Ok((length, known.then_some(Event::Reset { stream })))
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
            Frame::Continuation { stream, block, last } => match &mut self.block {
                Some(begun) if begun.stream == stream => {
                    self.budget.spend(u64::from(block.is_empty()), now_ms)?;
                    begun.bytes.extend_from_slice(block);
                    if begun.bytes.len() > BLOCK_MAX {
                        return Err(Error::Connection(Code::EnhanceYourCalm));
                    }
                    if last { self.list() } else { Ok(None) }
                }
                _ => protocol,
            },
            Frame::Reset { stream, .. } => {
                self.budget.spend(RESET_COST, now_ms)?;
                self.not_idle(stream)?;
                let known = self.streams.remove(&stream).is_some();
                self.ended(stream, false);
                Ok(known.then_some(Event::Reset { stream }))
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
            Frame::Window { stream, increment } => self.window(stream, increment),
            Frame::GoAway { .. } => Ok(Some(Event::GoAway)),
            Frame::PushPromise => protocol,
            Frame::Priority { .. } | Frame::SettingsAck | Frame::PingAck | Frame::Unknown => {
                self.budget.spend(1, now_ms)?;
                Ok(None)
            }
        }
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
        let error = match self.streams.get_mut(&stream) {
            Some(open) if !open.ended => {
                open.receive -= i64::from(counted);
                open.ended = end;
                if open.receive >= 0 {
                    return Ok(Some(Event::Data { stream, data, counted, end }));
                }
                Code::FlowControl
            }
            _ => Code::StreamClosed,
        };
        // It is consumed here: the connection's window must not run dry.
        self.credit(counted);
        // RFC 9113, 5.1: what was sent before the client knew of the reset is ignored.
        if self.recent.contains(&(stream, true)) {
            return Ok(None);
        }
        Err(Error::Stream(stream, error))
    }

    /// A header block is complete.
    fn list<'a>(&mut self) -> Result<Option<Event<'a>>, Error> {
        let Some(Block { stream, bytes, end }) = self.block.take() else { return Ok(None) };
        let list = self.decoder.decode(&bytes, self.limits.list as usize);
        let list = list.map_err(|hpack::Malformed| Error::Connection(Code::Compression))?;
        if let Some(open) = self.streams.get_mut(&stream) {
            if open.ended {
                return Err(Error::Stream(stream, Code::StreamClosed));
            }
            if !end || list.too_large {
                return Err(Error::Stream(stream, Code::Protocol));
            }
            open.ended = true;
            return Ok(Some(Event::Trailers { stream, list }));
        }
        if stream <= self.last {
            return match self.recent.iter().find(|(recent, _)| *recent == stream) {
                Some((_, true)) => Ok(None),
                Some((_, false)) => Err(Error::Connection(Code::StreamClosed)),
                None => Err(Error::Connection(Code::Protocol)),
            };
        }
        if stream.is_multiple_of(2) {
            return Err(Error::Connection(Code::Protocol));
        }
        self.last = stream;
        if self.streams.len() >= self.limits.streams as usize {
            return Err(Error::Stream(stream, Code::RefusedStream));
        }
        let (receive, send) = (i64::from(STREAM_WINDOW), self.windows.initial);
        self.streams.insert(stream, Stream { receive, send, ended: end });
        Ok(Some(Event::Request { stream, list, end }))
    }

    fn settings<'a>(&mut self, settings: &[Setting]) -> Result<Option<Event<'a>>, Error> {
        for setting in settings {
            match setting {
                Setting::FrameSize(size) => self.windows.frame = *size as usize,
                Setting::Window(size) => {
                    // RFC 9113, 6.9.2: windows of open streams change as well, even below zero.
                    let change = i64::from(*size) - self.windows.initial;
                    self.windows.initial = i64::from(*size);
                    for open in self.streams.values_mut() {
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
        let (window, error) = match self.streams.get_mut(&stream) {
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

    /// Content was consumed: the client may send as much again.
    pub fn consumed(&mut self, stream: u32, counted: u32) {
        self.credit(counted);
        if let Some(open) = self.streams.get_mut(&stream)
            && !open.ended
            && counted > 0
        {
            open.receive += i64::from(counted);
            frame::window(&mut self.output, stream, counted);
        }
    }

    fn credit(&mut self, counted: u32) {
        if counted > 0 {
            self.windows.receive += i64::from(counted);
            frame::window(&mut self.output, 0, counted);
        }
    }

    /// Sends a header block on an open stream.
    pub fn send_headers(&mut self, stream: u32, block: &[u8], end: bool) {
        if self.streams.contains_key(&stream) {
            frame::headers(&mut self.output, stream, block, end, self.windows.frame);
            self.end_if(stream, end);
        }
    }

    /// Sends as much content as frame size and windows allow, and the end with the last of it;
    /// returns the number of bytes.
    pub fn send_data(&mut self, stream: u32, data: &[u8], end: bool) -> usize {
        let Some(open) = self.streams.get_mut(&stream) else { return data.len() };
        let window = usize::try_from(open.send.min(self.windows.send)).unwrap_or(0);
        let length = data.len().min(window).min(self.windows.frame);
        let end = end && length == data.len();
        if length > 0 || end {
            let counted = i64::try_from(length).unwrap_or(i64::MAX);
            open.send -= counted;
            self.windows.send -= counted;
            frame::data(&mut self.output, stream, &data[..length], end);
            self.end_if(stream, end);
        }
        length
    }

    /// This side has ended; a request that goes on is no longer wanted (RFC 9113, 8.1).
    fn end_if(&mut self, stream: u32, end: bool) {
        if end && let Some(open) = self.streams.remove(&stream) {
            if !open.ended {
                frame::reset(&mut self.output, stream, Code::NoError);
            }
            self.ended(stream, !open.ended);
        }
    }

    /// Ends a stream early.
    pub fn reset(&mut self, stream: u32, code: Code) {
        frame::reset(&mut self.output, stream, code);
        self.streams.remove(&stream);
        self.ended(stream, true);
    }

    fn ended(&mut self, stream: u32, by_us: bool) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((stream, by_us));
    }

    /// Ends the connection and all of its streams.
    pub fn close(&mut self, code: Code) -> Code {
        frame::goaway(&mut self.output, self.last, code);
        self.streams.clear();
        self.block = None;
        self.progress = Progress::Closed;
        code
    }

    /// Streams in progress.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}
