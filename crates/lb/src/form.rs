//! How heads are written: the lines of HTTP/1 or the header block of HTTP/2 or HTTP/3.

use proxying::http1::{self, Version};
use proxying::http2::hpack;
use proxying::http3::qpack;

/// Size and ends of one chunk, and the last chunk without trailers.
pub(crate) const OVERHEAD: usize = 32;

/// A form of heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Start line and header lines (RFC 9112).
    Http1,
    /// A header block by HPACK.
    Http2,
    /// A header block by QPACK, for a client.
    Http3,
}

impl Form {
    pub(crate) fn of_version(version: Version) -> Self {
        match version {
            Version::Http10 | Version::Http11 => Self::Http1,
            Version::Http2 => Self::Http2,
            Version::Http3 => Self::Http3,
        }
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
            Self::Http2 | Self::Http3 => {
                self.field(out, b":method", method);
                self.field(out, b":scheme", scheme.as_bytes());
                if !host.is_empty() {
                    self.field(out, b":authority", host);
                }
                self.field(out, b":path", &target.concat());
            }
        }
    }

    /// The start of a response.
    pub(crate) fn status(self, out: &mut Vec<u8>, status: u16, reason: &[u8]) {
        match self {
            Self::Http1 => http1::status_line(out, status, reason),
            Self::Http2 => hpack::encode_status(out, status),
            Self::Http3 => qpack::encode_status(out, status),
        }
    }

    pub(crate) fn field(self, out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
        match self {
            Self::Http1 => http1::field(out, name, value),
            Self::Http2 => hpack::encode(out, name, value),
            Self::Http3 => qpack::encode(out, name, value),
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
