//! How heads are written: the lines of HTTP/1 or the header block of HTTP/2.

use proxying::http1::{self, Version};
use proxying::http2::hpack;

use crate::peer::Peer;

/// Size and ends of one chunk, and the last chunk without trailers.
pub(crate) const OVERHEAD: usize = 32;

/// A form of heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Start line and header lines (RFC 9112).
    Http1,
    /// A header block.
    Http2,
}

impl Form {
    /// What a peer understands.
    pub(crate) fn of(peer: &Peer) -> Self {
        if peer.socket().is_some() { Self::Http1 } else { Self::Http2 }
    }

    pub(crate) fn of_version(version: Version) -> Self {
        if version == Version::Http2 { Self::Http2 } else { Self::Http1 }
    }

    /// The start of a request. The target is in parts.
    pub(crate) fn request(
        self,
        out: &mut Vec<u8>,
        method: &[u8],
        target: &[&[u8]],
        scheme: &str,
        host: &[u8],
    ) {
        match self {
            Self::Http1 => {
                http1::request_line(out, method, target);
                http1::field(out, b"Host", host);
            }
            Self::Http2 => {
                hpack::encode(out, b":method", method);
                hpack::encode(out, b":scheme", scheme.as_bytes());
                if !host.is_empty() {
                    hpack::encode(out, b":authority", host);
                }
                hpack::encode(out, b":path", &target.concat());
            }
        }
    }

    /// The start of a response.
    pub(crate) fn status(self, out: &mut Vec<u8>, status: u16, reason: &[u8]) {
        match self {
            Self::Http1 => http1::status_line(out, status, reason),
            Self::Http2 => hpack::encode_status(out, status),
        }
    }

    pub(crate) fn field(self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        match self {
            Self::Http1 => http1::field(out, name, value),
            Self::Http2 => hpack::encode(out, name, value),
        }
    }

    /// Content-Length.
    pub(crate) fn length(self, out: &mut Vec<u8>, length: u64) {
        let mut digits = Vec::with_capacity(20);
        http1::number(&mut digits, length);
        self.field(out, b"Content-Length", &digits);
    }

    pub(crate) fn end(self, out: &mut Vec<u8>) {
        if self == Self::Http1 {
            out.extend_from_slice(b"\r\n");
        }
    }
}
