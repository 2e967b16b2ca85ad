//! HTTP/3 as the server of a client needs it (RFC 9114), without QUIC, sockets and clocks.
//!
//! [`connection`] is the state of a connection, [`frame`] the framing, [`qpack`] the compression of header fields.
//! Messages have the rules of HTTP/2 ([`crate::http2::message`]).

pub mod connection;
mod control;
pub mod frame;
pub mod qpack;
mod request;
