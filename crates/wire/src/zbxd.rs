//! The frame around every message: `ZBXD`, one byte of flags, length, reserved field, payload.
//!
//! Source: Zabbix manual, "Header and data length"; behaviour of refused frames measured against
//! a 7.0.22 server and agent.

use std::borrow::Cow;
use std::io::Write;

use flate2::{Decompress, FlushDecompress, Status};

/// Flag: the protocol itself; always set.
pub const PROTOCOL: u8 = 0x01;
/// Flag: the payload is a zlib stream and the reserved field is its uncompressed length.
pub const COMPRESSED: u8 = 0x02;
/// Flag: both length fields have 8 bytes instead of 4.
pub const LARGE: u8 = 0x04;

/// What the protocol allows without [`LARGE`], before and after uncompressing: 1 GiB.
pub const PROTOCOL_BYTES_MAX: usize = 1 << 30;

const MAGIC: &[u8; 4] = b"ZBXD";
const HEADER_BYTES: usize = 13;
const HEADER_LARGE_BYTES: usize = 21;
/// What is reserved ahead of the bytes that a stranger only announced.
const RESERVE_BYTES: usize = 64 * 1024;

/// What a stranger may make us keep in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the payload as transferred.
    pub frame_bytes_max: usize,
    /// Bytes of the payload after uncompressing.
    pub payload_bytes_max: usize,
    /// Accept the flag [`LARGE`].
    pub large: bool,
    /// Bytes of a text without header that ends with the connection; 0 = a header is required,
    /// as Zabbix 7.0 requires it.
    pub text_bytes_max: usize,
}

impl Limits {
    /// For a trapper port: 128 MiB, large frames accepted.
    pub const TRAPPER: Self = Self {
        frame_bytes_max: 128 << 20,
        payload_bytes_max: 128 << 20,
        large: true,
        text_bytes_max: 0,
    };
    /// For requests to an agent: 64 KiB.
    pub const AGENT_REQUEST: Self = Self {
        frame_bytes_max: 64 << 10,
        payload_bytes_max: 64 << 10,
        large: false,
        text_bytes_max: 0,
    };
    /// For answers of agents and servers: 16 MiB.
    pub const ANSWER: Self = Self {
        frame_bytes_max: 16 << 20,
        payload_bytes_max: 16 << 20,
        large: false,
        text_bytes_max: 0,
    };

    /// The same with room for `bytes` of payload, at most [`PROTOCOL_BYTES_MAX`].
    pub const fn with_bytes_max(mut self, bytes: usize) -> Self {
        let bytes = if bytes < PROTOCOL_BYTES_MAX { bytes } else { PROTOCOL_BYTES_MAX };
        self.frame_bytes_max = bytes;
        self.payload_bytes_max = bytes;
        self
    }

    /// The same, accepting texts without header up to `bytes`.
    pub const fn with_text_bytes_max(mut self, bytes: usize) -> Self {
        self.text_bytes_max = bytes;
        self
    }
}

/// Why a message was refused. The texts complete the log line
/// `Message from X is … Message ignored.`
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The first bytes are not `ZBXD`.
    #[error("is missing header")]
    MissingHeader,
    /// The connection ended after `ZBXD`.
    #[error("is missing protocol version")]
    MissingVersion,
    /// The connection ended within the length fields.
    #[error("is missing data length")]
    MissingLength,
    /// Flags that are unknown or not accepted here.
    #[error("is using unsupported protocol version \"{0}\"")]
    Version(u8),
    /// The connection ended before all announced bytes came.
    #[error("is shorter than expected {0} bytes")]
    Shorter(u64),
    /// More bytes came than were announced.
    #[error("is longer than expected {0} bytes")]
    Longer(u64),
    /// A text without header that does not end.
    #[error("is longer than {0} bytes allowed for plain text")]
    TextTooLong(usize),
    /// The header announces more than this port takes.
    #[error("is {bytes} bytes long, more than the {max} bytes allowed")]
    TooLarge {
        /// Announced by the header.
        bytes: u64,
        /// The limit in force.
        max: usize,
    },
    /// The header announces more after uncompressing than this port takes.
    #[error("is {bytes} bytes long when uncompressed, more than the {max} bytes allowed")]
    InflatedTooLarge {
        /// Announced by the header.
        bytes: u64,
        /// The limit in force.
        max: usize,
    },
    /// The zlib stream is damaged, or its length is not the announced one.
    #[error("cannot be uncompressed: {0}")]
    Inflate(&'static str),
}

/// One message as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The uncompressed payload.
    pub payload: Vec<u8>,
    /// The flags it came with; an answer carries the same. 0 = text without header.
    pub flags: u8,
    /// Bytes on the wire, header included.
    pub bytes: u64,
}

impl Frame {
    /// The payload as text; what is not UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'_, str> {
        // Checking first is several times faster than repairing what needs no repair.
        match str::from_utf8(&self.payload) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(&self.payload),
        }
    }

    /// Encodes an answer the way the request came: framed with the same flags, or bare.
    pub fn encode_answer(&self, payload: &[u8]) -> Vec<u8> {
        if self.flags == 0 { payload.to_vec() } else { encode(payload, self.flags & !LARGE) }
    }
}

/// What [`Decoder::feed`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The message is not complete.
    More,
    /// A complete message; the last `rest` bytes of the input were not used.
    Frame {
        /// The message.
        frame: Frame,
        /// Bytes at the end of the input that belong to a following message.
        rest: usize,
    },
}

impl Progress {
    /// For connections that carry one message each way: bytes behind it are an error.
    pub fn only(self) -> Result<Option<Frame>, FrameError> {
        match self {
            Self::More => Ok(None),
            Self::Frame { frame, rest: 0 } => Ok(Some(frame)),
            Self::Frame { frame, .. } => Err(FrameError::Longer(frame.bytes)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum State {
    Header,
    Body { bytes: usize, uncompressed: usize, flags: u8, header_bytes: usize },
    Text,
}

/// Takes bytes as they arrive and gives frames. Holds at most `frame_bytes_max` bytes, and only
/// of those that came: an announced length reserves nothing.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    state: State,
    header: [u8; HEADER_LARGE_BYTES],
    header_len: usize,
    body: Vec<u8>,
}

impl Decoder {
    /// A decoder at the start of a message.
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::Header,
            header: [0; HEADER_LARGE_BYTES],
            header_len: 0,
            body: Vec::new(),
        }
    }

    /// Nothing of a message has come yet.
    pub const fn is_idle(&self) -> bool {
        matches!(self.state, State::Header) && self.header_len == 0
    }

    /// Bytes that are missing for the next step; what a reader may ask the socket for.
    pub fn wanted(&self) -> usize {
        match self.state {
            State::Header => HEADER_BYTES.saturating_sub(self.header_len).max(1),
            State::Body { bytes, .. } => bytes - self.body.len(),
            State::Text => (self.limits.text_bytes_max - self.body.len()).max(1),
        }
    }

    /// Takes the bytes that came. After an error the connection is of no further use.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, FrameError> {
        let mut input = bytes;
        loop {
            match self.state {
                State::Header => {
                    if !self.take_header(&mut input)? {
                        return Ok(Progress::More);
                    }
                }
                State::Body { bytes, uncompressed, flags, header_bytes } => {
                    self.take_body(&mut input, bytes);
                    if self.body.len() < bytes {
                        return Ok(Progress::More);
                    }
                    let body = std::mem::take(&mut self.body);
                    (self.state, self.header_len) = (State::Header, 0);
                    let payload =
                        if flags & COMPRESSED == 0 { body } else { inflate(&body, uncompressed)? };
                    let frame = Frame { payload, flags, bytes: (header_bytes + bytes) as u64 };
                    return Ok(Progress::Frame { frame, rest: input.len() });
                }
                State::Text => {
                    if self.body.len() + input.len() > self.limits.text_bytes_max {
                        return Err(FrameError::TextTooLong(self.limits.text_bytes_max));
                    }
                    self.body.extend_from_slice(input);
                    return Ok(Progress::More);
                }
            }
        }
    }

    /// The other side sends no more: gives a text without header, or says what is missing.
    pub fn end(&mut self) -> Result<Option<Frame>, FrameError> {
        let state = std::mem::replace(&mut self.state, State::Header);
        let header_len = std::mem::take(&mut self.header_len);
        let body = std::mem::take(&mut self.body);
        match state {
            State::Text => {
                let bytes = body.len() as u64;
                Ok(Some(Frame { payload: body, flags: 0, bytes }))
            }
            State::Body { bytes, .. } => Err(FrameError::Shorter(bytes as u64)),
            State::Header => match header_len {
                0 => Ok(None),
                1..4 if self.limits.text_bytes_max > 0 => Ok(Some(Frame {
                    payload: self.header[..header_len].to_vec(),
                    flags: 0,
                    bytes: header_len as u64,
                })),
                1..4 => Err(FrameError::MissingHeader),
                4 => Err(FrameError::MissingVersion),
                _ => Err(FrameError::MissingLength),
            },
        }
    }

    /// Moves header bytes over; true = the state changed.
    fn take_header(&mut self, input: &mut &[u8]) -> Result<bool, FrameError> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.header_len < MAGIC.len() && byte != MAGIC[self.header_len] {
                if self.limits.text_bytes_max == 0 {
                    return Err(FrameError::MissingHeader);
                }
                self.body.extend_from_slice(&self.header[..self.header_len]);
                self.state = State::Text;
                return Ok(true);
            }
            self.header[self.header_len] = byte;
            self.header_len += 1;
            *input = rest;
            if self.header_len == MAGIC.len() + 1 {
                self.check_flags(byte)?;
            }
            if self.header_len == self.header_bytes() {
                self.state = self.parse_lengths()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_flags(&self, flags: u8) -> Result<(), FrameError> {
        let known = PROTOCOL | COMPRESSED | if self.limits.large { LARGE } else { 0 };
        if flags & PROTOCOL == 0 || flags & !known != 0 {
            return Err(FrameError::Version(flags));
        }
        Ok(())
    }

    fn header_bytes(&self) -> usize {
        if self.header_len > MAGIC.len() && self.header[4] & LARGE != 0 {
            HEADER_LARGE_BYTES
        } else {
            HEADER_BYTES
        }
    }

    fn parse_lengths(&self) -> Result<State, FrameError> {
        let flags = self.header[4];
        let width = if flags & LARGE == 0 { 4 } else { 8 };
        let number = |at: usize| {
            let mut wide = [0; 8];
            wide[..width].copy_from_slice(&self.header[at..at + width]);
            u64::from_le_bytes(wide)
        };
        let (bytes, reserved) = (number(5), number(5 + width));
        let max = self.limits.frame_bytes_max;
        let fits = |bytes: u64, max: usize| usize::try_from(bytes).ok().filter(|n| *n <= max);
        let Some(bytes) = fits(bytes, max) else {
            return Err(FrameError::TooLarge { bytes, max });
        };
        let max = self.limits.payload_bytes_max;
        let uncompressed = if flags & COMPRESSED == 0 { bytes as u64 } else { reserved };
        let Some(uncompressed) = fits(uncompressed, max) else {
            return Err(FrameError::InflatedTooLarge { bytes: uncompressed, max });
        };
        Ok(State::Body { bytes, uncompressed, flags, header_bytes: 5 + 2 * width })
    }

    /// Moves body bytes over. Grows by doubling, but never beyond the announced length.
    fn take_body(&mut self, input: &mut &[u8], bytes: usize) {
        let n = input.len().min(bytes - self.body.len());
        let needed = self.body.len() + n;
        if needed > self.body.capacity() {
            let target = needed.max(2 * self.body.capacity()).max(RESERVE_BYTES).min(bytes);
            self.body.reserve_exact(target - self.body.len());
        }
        self.body.extend_from_slice(&input[..n]);
        *input = &input[n..];
    }
}

/// Uncompresses to exactly `bytes`; stops at the first byte too many.
fn inflate(stream: &[u8], bytes: usize) -> Result<Vec<u8>, FrameError> {
    const DAMAGED: FrameError = FrameError::Inflate("the zlib stream is damaged");
    let mut zlib = Decompress::new(true);
    let mut out = Vec::with_capacity(bytes.min(RESERVE_BYTES));
    loop {
        let used = usize::try_from(zlib.total_in()).unwrap_or(stream.len());
        let before = (used, out.len());
        let status = zlib
            .decompress_vec(&stream[used..], &mut out, FlushDecompress::None)
            .map_err(|_| DAMAGED)?;
        if status == Status::StreamEnd {
            break;
        }
        if out.len() > bytes {
            return Err(FrameError::Inflate("it is longer than announced"));
        }
        if out.len() == out.capacity() {
            // One byte of room beyond the announced length shows a stream that goes on.
            let target = (2 * out.capacity()).max(RESERVE_BYTES).min(bytes + 1);
            if target <= out.len() {
                return Err(FrameError::Inflate("it is longer than announced"));
            }
            out.reserve_exact(target - out.len());
        } else if before == (usize::try_from(zlib.total_in()).unwrap_or(stream.len()), out.len()) {
            return Err(FrameError::Inflate("the zlib stream is cut short"));
        }
    }
    match out.len().cmp(&bytes) {
        std::cmp::Ordering::Equal => Ok(out),
        std::cmp::Ordering::Less => Err(FrameError::Inflate("it is shorter than announced")),
        std::cmp::Ordering::Greater => Err(FrameError::Inflate("it is longer than announced")),
    }
}

/// Frames a payload. [`PROTOCOL`] is always set, [`LARGE`] where the payload needs it.
pub fn encode(payload: &[u8], flags: u8) -> Vec<u8> {
    let compressed;
    let body = if flags & COMPRESSED == 0 {
        payload
    } else {
        compressed = deflate(payload);
        &compressed
    };
    let large = u32::try_from(payload.len().max(body.len())).is_err();
    let flags = flags | PROTOCOL | if large { LARGE } else { 0 };
    let reserved = if flags & COMPRESSED == 0 { 0 } else { payload.len() as u64 };
    let mut out = Vec::with_capacity(HEADER_LARGE_BYTES + body.len());
    out.extend_from_slice(MAGIC);
    out.push(flags);
    let width = if flags & LARGE == 0 { 4 } else { 8 };
    out.extend_from_slice(&(body.len() as u64).to_le_bytes()[..width]);
    out.extend_from_slice(&reserved.to_le_bytes()[..width]);
    out.extend_from_slice(body);
    out
}

fn deflate(payload: &[u8]) -> Vec<u8> {
    let out = Vec::with_capacity(payload.len() / 3 + 64);
    let mut encoder = flate2::write::ZlibEncoder::new(out, flate2::Compression::new(3));
    encoder
        .write_all(payload)
        .and_then(|()| encoder.finish())
        .expect("BUG: writing into memory failed")
}
