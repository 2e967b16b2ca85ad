//! Protocols between a client, the load balancer and its servers: bytes ↔ messages, without sockets and
//! clocks. [`http1`] is HTTP/1.1 (RFC 9110, RFC 9112), [`http2`] is HTTP/2 (RFC 9113), [`http3`] is HTTP/3
//! (RFC 9114), [`caching`] has the rules of
//! shared caches (RFC 9111), [`proxy_header`] is the PROXY protocol, [`engine_link`] is what an engine and its server
//! say to each other.
#![forbid(unsafe_code)]

mod budget;
pub mod caching;
pub mod engine_link;
pub mod http1;
pub mod http2;
pub mod http3;
pub mod proxy_header;
