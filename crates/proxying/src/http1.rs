//! HTTP/1.1 as an intermediary needs it (RFC 9110, RFC 9112): one strict parser for requests and
//! responses, and a serialiser.
//!
//! Nothing of a message's framing is copied to the other side: line ends, chunk sizes, chunk
//! extensions and spaces around values are read, checked and written again. Two parsers that
//! disagree about the end of a message are how requests are smuggled, so everything that RFC 9112
//! leaves to the recipient is refused.

mod body;
mod fields;
mod head;
mod request;
mod response;
mod serialise;

pub use body::{Body, Piece};
pub use fields::{Field, Known, Options, trailers};
pub(crate) use fields::{is_token, is_value, parse_length, trim};
pub use head::HeadEnd;
pub(crate) use request::{Line, is_host, parse_target};
pub use request::{Request, Target};
pub use response::Response;
pub use serialise::{chunk, end_of_chunks, field, number, request_line, status_line};

/// Version of a message. Others are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: no chunks, no interim responses, closed after the response unless agreed.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2: [`crate::http2::message`] makes requests of it; no line names it.
    Http2,
    /// HTTP/3: the same.
    Http3,
}

/// How the end of a body is found (RFC 9112, 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// No body.
    None,
    /// Content-Length, in bytes.
    Length(u64),
    /// Transfer-Encoding: chunked.
    Chunked,
    /// The server closes the connection; only responses.
    UntilClose,
}

/// Largest sizes of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the request target.
    pub target: usize,
    /// Bytes of the head with its first line.
    pub head: usize,
    /// Header fields.
    pub fields: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { target: 8192, head: 16_384, fields: 128 }
    }
}

/// Why a message is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not `METHOD TARGET HTTP/1.1` or `HTTP/1.1 STATUS REASON`.
    #[error("the first line is malformed")]
    FirstLine,
    /// Not HTTP/1.0 or HTTP/1.1.
    #[error("the HTTP version is not supported")]
    Version,
    /// Pseudo-header fields of HTTP/2 that are missing, repeated, unknown or contradict each other.
    #[error("the pseudo-header fields are malformed")]
    Pseudo,
    /// CONNECT and TRACE end at no server behind a reverse proxy.
    #[error("the method is not allowed")]
    Method,
    /// A target of a form that the method does not have, or with characters that no URI has.
    #[error("the request target is malformed")]
    Target,
    /// [`Limits::target`].
    #[error("the request target is too long")]
    TargetTooLong,
    /// [`Limits::head`].
    #[error("the head is too large")]
    HeadTooLarge,
    /// [`Limits::fields`].
    #[error("the head has too many fields")]
    TooManyFields,
    /// A line ends with LF without CR, or CR is within a line.
    #[error("a line does not end with CR LF")]
    LineEnd,
    /// A field name that is not a token, is followed by a space, or a folded line.
    #[error("a field name is malformed")]
    FieldName,
    /// A control character in a field value.
    #[error("a field value contains a control character")]
    FieldValue,
    /// No host, several, or one that is not a host.
    #[error("the host is missing or malformed")]
    Host,
    /// Content-Length is not one number.
    #[error("Content-Length is malformed")]
    Length,
    /// Transfer-Encoding and Content-Length, or Transfer-Encoding in HTTP/1.0.
    #[error("the length of the body is ambiguous")]
    Framing,
    /// A transfer coding other than chunked.
    #[error("the transfer coding is not supported")]
    Coding,
    /// An expectation other than 100-continue.
    #[error("the expectation is not supported")]
    Expectation,
    /// A chunk's size, extension or end is malformed.
    #[error("a chunk is malformed")]
    Chunk,
}

impl Refusal {
    /// Status of the response to a request that is refused for this reason.
    pub fn status(self) -> u16 {
        match self {
            Self::Version => 505,
            Self::Method => 405,
            Self::TargetTooLong => 414,
            Self::HeadTooLarge | Self::TooManyFields => 431,
            Self::Coding => 501,
            Self::Expectation => 417,
            _ => 400,
        }
    }
}
