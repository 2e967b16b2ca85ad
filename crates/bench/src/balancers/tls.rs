//! TLS 1.3 of the clients. Any certificate will do: that of the measurement is self-signed, and a client that
//! checks nothing needs little CPU time.

use std::sync::Arc;

use anyhow::Context as _;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme};

use super::row::{Connections, Row, Via};

/// Sessions that wait to be resumed.
const SESSIONS: usize = 8;

/// What the connections of a row share; `None`: they are without TLS.
pub(crate) fn config(row: &Row) -> anyhow::Result<Option<Arc<ClientConfig>>> {
    if row.via.key().is_none() {
        return Ok(None);
    }
    // The one group that all balancers have.
    let groups = vec![aws_lc_rs::kx_group::X25519];
    let provider = CryptoProvider { kx_groups: groups, ..aws_lc_rs::default_provider() };
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone { schemes }))
        .with_no_client_auth();
    config.resumption = match row.connections {
        Connections::Resumed => Resumption::in_memory_sessions(SESSIONS),
        _ => Resumption::disabled(),
    };
    if row.via == Via::Http2 {
        config.alpn_protocols = vec![b"h2".to_vec()];
    }
    Ok(Some(Arc::new(config)))
}

/// A connection that begins.
pub(crate) fn begin(config: &Arc<ClientConfig>) -> anyhow::Result<ClientConnection> {
    let name = ServerName::try_from("localhost").context("BUG: not a name")?;
    Ok(ClientConnection::new(Arc::clone(config), name)?)
}

#[derive(Debug)]
struct Anyone {
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}
