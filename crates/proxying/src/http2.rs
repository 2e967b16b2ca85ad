//! HTTP/2 as an intermediary needs it (RFC 9113), without sockets and clocks.
//!
//! [`connection`] is the state of a connection to a client or a server, [`frame`] the framing with its
//! sizes, [`hpack`] the compression of header fields, [`message`] the rules for the fields of a message.

pub mod connection;
pub mod frame;
#[cfg(test)]
pub(crate) mod hex;
pub mod hpack;
mod huffman;
pub mod message;
mod stream;
