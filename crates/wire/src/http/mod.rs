//! The client side of HTTP/1.1 without a socket: where a request goes ([`Url`]), what it says
//! ([`request`]), what comes back ([`Decoder`], [`content`]), and what is remembered
//! ([`cookies`]).
//!
//! Error texts are those that people know from the field's servers, which use libcurl.

mod answer;
pub mod content;
pub mod cookies;
pub mod request;
mod url;

pub use answer::{Answer, Asked, Decoder, Progress};
pub use url::{URL_BYTES_MAX, Url, UrlError, decoded, with_query};

/// Bytes of all headers of an answer.
pub const HEAD_BYTES_MAX: usize = 300 << 10;

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The connection ended without a byte.
    #[error("Empty reply from server")]
    Empty,
    /// Something that does not begin like an answer.
    #[error("Received HTTP/0.9 when not allowed")]
    NotHttp,
    /// A status line of another kind.
    #[error("Unsupported HTTP/1 subversion in response")]
    Version,
    /// A line that is no header.
    #[error("Header without colon")]
    NoColon,
    /// A zero byte in a header.
    #[error("Nul byte in header")]
    Nul,
    /// `Content-Length` that is not a number, or two different ones.
    #[error("Invalid Content-Length: value")]
    Length,
    /// More headers than anybody needs.
    #[error("Too large response headers: {0} > {HEAD_BYTES_MAX}")]
    LargeHead(usize),
    /// A body beyond the limit.
    #[error("The answer is larger than {0} bytes")]
    TooLarge(usize),
    /// A chunk's size is not a number.
    #[error("chunk hex-length char not a hex digit: 0x{0:x}")]
    ChunkDigit(u8),
    /// A chunk without size or end.
    #[error("Invalid chunk in the response")]
    Chunk,
    /// The connection ended before the announced end of the body.
    #[error("end of response with {0} bytes missing")]
    Missing(u64),
    /// The connection ended before the answer did.
    #[error("transfer closed with outstanding read data remaining")]
    Cut,
    /// `Content-Encoding` says what the body is not.
    #[error("Error while processing content unencoding: {0}")]
    Packed(String),
    /// `Content-Encoding` nobody asked for.
    #[error("Unrecognized content encoding type. Understood: deflate, gzip")]
    Encoding,
}
