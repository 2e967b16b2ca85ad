//! Writing messages: each piece with the framing of this side.

use std::io::Write;

use super::{Field, Version};

/// A request line for HTTP/1.1.
pub fn request_line(out: &mut Vec<u8>, method: &[u8], target: &[&[u8]]) {
    out.extend_from_slice(method);
    out.push(b' ');
    for part in target {
        out.extend_from_slice(part);
    }
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

/// A status line for HTTP/1.1. The version is that of the intermediary, also for clients of HTTP/1.0
/// (RFC 9110, 2.5).
pub fn status_line(out: &mut Vec<u8>, status: u16, reason: &[u8]) {
    out.extend_from_slice(b"HTTP/1.1 ");
    number(out, u64::from(status));
    out.push(b' ');
    out.extend_from_slice(reason);
    out.extend_from_slice(b"\r\n");
}

/// One field.
pub fn field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// A number in decimal digits.
pub fn number(out: &mut Vec<u8>, number: u64) {
    write!(out, "{number}").expect("BUG: a Vec accepts all bytes");
}

/// One chunk; nothing for no data, because an empty chunk is the last one.
pub fn chunk(out: &mut Vec<u8>, data: &[u8]) {
    if !data.is_empty() {
        write!(out, "{:x}\r\n", data.len()).expect("BUG: a Vec accepts all bytes");
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
}

/// The last chunk and the trailers.
pub fn end_of_chunks(out: &mut Vec<u8>, trailers: &[Field<'_>]) {
    out.extend_from_slice(b"0\r\n");
    for trailer in trailers {
        field(out, trailer.name, trailer.value);
    }
    out.extend_from_slice(b"\r\n");
}

impl Version {
    /// Whether the recipient understands interim responses.
    pub fn has_interim(self) -> bool {
        self != Self::Http10
    }

    /// Whether a body without a length is written in chunks.
    pub fn has_chunks(self) -> bool {
        self == Self::Http11
    }

    /// Whether each request has a stream of its own.
    pub fn has_streams(self) -> bool {
        matches!(self, Self::Http2 | Self::Http3)
    }
}
