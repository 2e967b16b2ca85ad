//! Protocols between a client, the load balancer and its servers: bytes ↔ messages, without sockets and
//! clocks. [`http1`] is HTTP/1.1 (RFC 9110, RFC 9112), [`http2`] is HTTP/2 (RFC 9113), [`proxy_header`] is
//! the PROXY protocol.
#![forbid(unsafe_code)]

pub mod http1;
pub mod http2;
pub mod proxy_header;
