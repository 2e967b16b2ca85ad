//! What a virtual service's connections of QUIC begin with.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{IdleTimeout, ServerConfig, TransportConfig, ValidationTokenConfig, VarInt};

use crate::config::{HTTP3, VirtualService};

/// Content of one stream that its session has not read, in bytes.
const STREAM_WINDOW: u32 = 64 << 10;
/// The same of all streams of a connection.
const CONNECTION_WINDOW: u32 = 1 << 20;
/// Bytes of responses that are not acknowledged, for each connection.
const SEND_WINDOW: u64 = 1 << 20;
/// Unidirectional streams of a client: it needs three.
const UNIDIRECTIONAL: u32 = 16;
/// Shortest time after which a client that is silent is gone.
const SILENCE: Duration = Duration::from_secs(30);

/// Settings with the certificates of the service. Early data is not accepted: who records it can send it again.
pub(crate) fn settings(
    service: &VirtualService,
    tls: &rustls::ServerConfig,
) -> Result<Arc<ServerConfig>, String> {
    let mut tls = tls.clone();
    tls.alpn_protocols = vec![HTTP3.as_bytes().to_vec()];
    let crypto = QuicServerConfig::try_from(tls).map_err(|error| error.to_string())?;
    let idle = IdleTimeout::try_from(service.timeouts.keepalive.0.max(SILENCE)).ok();
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(service.limits.h2_streams))
        .max_concurrent_uni_streams(VarInt::from_u32(UNIDIRECTIONAL))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(CONNECTION_WINDOW))
        .send_window(SEND_WINDOW)
        .max_idle_timeout(idle)
        // The system may split datagrams: larger ones would seem to arrive.
        .mtu_discovery_config(None)
        .datagram_receive_buffer_size(None);
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0);
    config.transport_config(Arc::new(transport)).validation_token_config(tokens);
    Ok(Arc::new(config))
}
