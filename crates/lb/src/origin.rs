//! Where requests on streams come from: what their sessions know of the client's connection.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::snapshot::Service;

/// A client's connection, as the sessions of its streams see it.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// Number of the listener.
    pub(crate) listener: usize,
    pub(crate) service: Arc<Service>,
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    /// Common name of the client's certificate.
    pub(crate) client_name: Option<Arc<str>>,
    /// Name that the client asked for in TLS.
    pub(crate) sni: Option<Arc<str>>,
}

/// What is known of the connection that a stream is part of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts {
    pub(crate) rtt_us: u64,
    pub(crate) tls: &'static str,
    /// It is one of HTTP/3.
    pub(crate) http3: bool,
}
