//! Frames and their codes (RFC 9114, 7 and 8), variable-length integers (RFC 9000, 16).

use crate::http2::frame as http2;

/// Types of frames.
pub(super) mod kind {
    pub(in crate::http3) const DATA: u64 = 0x00;
    pub(in crate::http3) const HEADERS: u64 = 0x01;
    pub(in crate::http3) const CANCEL_PUSH: u64 = 0x03;
    pub(in crate::http3) const SETTINGS: u64 = 0x04;
    pub(in crate::http3) const PUSH_PROMISE: u64 = 0x05;
    pub(in crate::http3) const GOAWAY: u64 = 0x07;
    pub(in crate::http3) const MAX_PUSH_ID: u64 = 0x0d;
    /// Of HTTP/2, with no meaning here (RFC 9114, 7.2.8).
    pub(in crate::http3) const RESERVED: [u64; 4] = [0x02, 0x06, 0x08, 0x09];
}

/// Why a stream or a connection ends (RFC 9114, 8.1; RFC 9204, 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    NoError = 0x100,
    GeneralProtocol = 0x101,
    Internal = 0x102,
    StreamCreation = 0x103,
    ClosedCriticalStream = 0x104,
    FrameUnexpected = 0x105,
    Frame = 0x106,
    ExcessiveLoad = 0x107,
    Id = 0x108,
    Settings = 0x109,
    MissingSettings = 0x10a,
    RequestRejected = 0x10b,
    RequestCancelled = 0x10c,
    RequestIncomplete = 0x10d,
    Message = 0x10e,
    Connect = 0x10f,
    QpackDecompression = 0x200,
    QpackEncoder = 0x201,
    QpackDecoder = 0x202,
}

/// The sessions of streams speak of HTTP/2.
impl From<http2::Code> for Code {
    fn from(code: http2::Code) -> Self {
        match code {
            http2::Code::NoError => Self::NoError,
            http2::Code::Protocol => Self::Message,
            http2::Code::RefusedStream => Self::RequestRejected,
            http2::Code::Cancel => Self::RequestCancelled,
            http2::Code::Connect => Self::Connect,
            http2::Code::EnhanceYourCalm => Self::ExcessiveLoad,
            http2::Code::Compression => Self::QpackDecompression,
            http2::Code::Internal
            | http2::Code::FlowControl
            | http2::Code::SettingsTimeout
            | http2::Code::StreamClosed
            | http2::Code::FrameSize => Self::Internal,
        }
    }
}

/// The code of HTTP/2 for what a peer has reset a stream with.
pub(super) fn as_http2(code: u64) -> http2::Code {
    let is = |own: Code| own as u64 == code;
    if is(Code::RequestCancelled) {
        http2::Code::Cancel
    } else if is(Code::NoError) {
        http2::Code::NoError
    } else if is(Code::Internal) {
        http2::Code::Internal
    } else if is(Code::ExcessiveLoad) {
        http2::Code::EnhanceYourCalm
    } else {
        http2::Code::Protocol
    }
}

/// What an error ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// All streams: CONNECTION_CLOSE.
    Connection(Code),
    /// One of them, in both directions: RESET_STREAM and STOP_SENDING.
    Stream(Code),
}

impl From<crate::budget::Spent> for Error {
    fn from(crate::budget::Spent: crate::budget::Spent) -> Self {
        Self::Connection(Code::ExcessiveLoad)
    }
}

/// Reads an integer from the front; `None`: bytes are missing.
pub(super) fn integer(input: &mut &[u8]) -> Option<u64> {
    let first = *input.first()?;
    let length = 1 << (first >> 6);
    let (bytes, rest) = input.split_at_checked(length)?;
    *input = rest;
    let value = bytes.iter().fold(0_u64, |value, byte| (value << 8) | u64::from(*byte));
    // The two highest bits are the length.
    Some(value & (u64::MAX >> (64 - 8 * length + 2)))
}

/// Largest integer.
pub(super) const INTEGER_MAX: u64 = (1 << 62) - 1;

/// Appends an integer of up to [`INTEGER_MAX`].
pub(super) fn put_integer(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_be_bytes();
    let (length, pattern) = match value {
        0..=0x3f => (1, 0),
        0x40..=0x3fff => (2, 0x40),
        0x4000..=0x3fff_ffff => (4, 0x80),
        _ => (8, 0xc0),
    };
    let at = out.len();
    out.extend_from_slice(&bytes[8 - length..]);
    out[at] |= pattern;
}

/// Appends the type and length of a frame.
pub(super) fn begin(out: &mut Vec<u8>, kind: u64, length: usize) {
    put_integer(out, kind);
    put_integer(out, length as u64);
}

/// A part of a frame as it arrives.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) kind: u64,
    /// Length of the whole payload.
    pub(super) length: u64,
    /// Bytes of the payload; none of them is stored here.
    pub(super) data: &'a [u8],
    /// It is the first part.
    pub(super) first: bool,
    /// It is the last part.
    pub(super) last: bool,
}

/// Finds the frames in the bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Bytes of a type and a length that is not complete.
    header: Vec<u8>,
    /// Type and length of the frame in progress, and what is missing of it.
    frame: Option<(u64, u64, u64)>,
}

impl Reader {
    /// Whether the next byte begins a frame.
    pub(super) fn is_between(&self) -> bool {
        self.header.is_empty() && self.frame.is_none()
    }

    /// Takes bytes from the front of the input, at most to the end of a frame; returns how many.
    pub(super) fn next<'a>(&mut self, input: &'a [u8]) -> (usize, Option<Part<'a>>) {
        /// Longest header: two integers.
        const LONGEST: usize = 16;
        let (mut rest, mut first) = (input, false);
        if self.frame.is_none() {
            let before = self.header.len();
            let more = input.len().min(LONGEST - before);
            self.header.extend_from_slice(&input[..more]);
            let mut bytes = &self.header[..];
            let (Some(kind), Some(length)) = (integer(&mut bytes), integer(&mut bytes)) else {
                return (more, None);
            };
            let taken = self.header.len() - bytes.len() - before;
            self.header = Vec::new();
            self.frame = Some((kind, length, length));
            (rest, first) = (&input[taken..], true);
        }
        let Some((kind, length, missing)) = &mut self.frame else { return (0, None) };
        let (kind, length) = (*kind, *length);
        let more = usize::try_from(*missing).unwrap_or(usize::MAX).min(rest.len());
        if more == 0 && *missing > 0 && !first {
            return (0, None);
        }
        *missing -= more as u64;
        let last = *missing == 0;
        if last {
            self.frame = None;
        }
        let taken = input.len() - rest.len() + more;
        (taken, Some(Part { kind, length, data: &rest[..more], first, last }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http2::hex::bytes;

    #[test]
    fn the_integers_of_the_standard_are_read_and_written() {
        // RFC 9000, A.1.
        for (hex, value) in [
            ("c2197c5eff14e88c", 151_288_809_941_952_652),
            ("9d7f3e7d", 494_878_333),
            ("7bbd", 15_293),
            ("25", 37),
            ("ffffffffffffffff", INTEGER_MAX),
        ] {
            let mut written = Vec::new();
            put_integer(&mut written, value);
            assert_eq!((integer(&mut &bytes(hex)[..]), written), (Some(value), bytes(hex)));
        }
        assert_eq!(integer(&mut &bytes("4025")[..]), Some(37), "longer than needed");
        assert_eq!(integer(&mut &bytes("c2197c5eff14e8")[..]), None);
    }

    /// `KIND:LENGTH:DATA` of each part; first ones begin with `+`, last ones end with `.`.
    fn parts(chunks: &[&str]) -> String {
        let mut reader = Reader::default();
        let mut words = Vec::new();
        for chunk in chunks {
            let chunk = bytes(chunk);
            let mut input = &chunk[..];
            loop {
                let (taken, part) = reader.next(input);
                input = &input[taken..];
                let Some(part) = part else { break };
                let Part { kind, length, data, first, last } = part;
                let (first, last) = (if first { "+" } else { "" }, if last { "." } else { "" });
                words.push(format!("{first}{kind}:{length}:{}{last}", data.len()));
            }
            assert!(input.is_empty());
        }
        words.push((if reader.is_between() { "between" } else { "inside" }).to_owned());
        words.join(" ")
    }

    #[test]
    fn frames_arrive_in_any_pieces() {
        assert_eq!(parts(&["0003616263", "0101"]), "+0:3:3. +1:1:0 inside");
        assert_eq!(parts(&["00036162", "630100"]), "+0:3:2 0:3:1. +1:0:0. between");
        assert_eq!(
            parts(&["40", "00", "40", "03", "61", "62", "63"]),
            "+0:3:0 0:3:1 0:3:1 0:3:1. between"
        );
        assert_eq!(
            parts(&["ffffffffffffffff", "ffffffffffffffff61"]),
            format!("+{INTEGER_MAX}:{INTEGER_MAX}:1 inside")
        );
        assert_eq!(parts(&["00"]), "inside");
        assert_eq!(parts(&[]), "between");
    }
}
