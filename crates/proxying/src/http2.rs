//! HTTP/2 as an intermediary needs it (RFC 9113), without sockets and clocks.
//!
//! [`connection`] is the state of a client's connection, [`frame`] the framing with its sizes, [`hpack`]
//! the compression of header fields, [`message`] the rules for the fields of a request, which becomes
//! one of HTTP/1.1.

pub mod connection;
pub mod frame;
#[cfg(test)]
mod hex;
pub mod hpack;
mod huffman;
pub mod message;
