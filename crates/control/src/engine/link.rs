//! TLS connections to the server.

use std::pin::Pin;

use anyhow::{Context, bail};
use openssl::ssl::{
    Ssl, SslConnector, SslContextBuilder, SslMethod, SslRef, SslVerifyMode, SslVersion,
};
use openssl::x509::X509;
use proxying::engine_link::{MESSAGE_MAX, Message, SMALL_MAX, VERSION};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_openssl::SslStream;

use super::folder::Identity;
use crate::OPENING;
use crate::authority::{fingerprint, new_key, request, verify_server};
use crate::channel::Channel;

pub(super) type Link = Channel<SslStream<TcpStream>>;

/// Both sides are of one release, so nothing older than TLS 1.3 is needed.
fn tls_1_3() -> anyhow::Result<openssl::ssl::SslConnectorBuilder> {
    let mut builder = SslConnector::builder(SslMethod::tls_client())?;
    SslContextBuilder::set_min_proto_version(&mut builder, Some(SslVersion::TLS1_3))?;
    Ok(builder)
}

/// Connects as an engine that has enrolled.
pub(super) async fn connect(address: &str, identity: &Identity) -> anyhow::Result<Link> {
    let mut builder = tls_1_3()?;
    builder.set_certificate(&identity.certificate)?;
    builder.set_private_key(&identity.key)?;
    let mut trusted = openssl::x509::store::X509StoreBuilder::new()?;
    trusted.add_cert(identity.authority.clone())?;
    builder.set_cert_store(trusted.build());
    builder.set_verify(SslVerifyMode::PEER);
    let stream = open(address, &builder.build()).await?;
    Ok(Channel::new(stream, MESSAGE_MAX))
}

/// The authority issues certificates to one server alone, so the name in it does not matter: engines may
/// reach it by any address.
async fn open(address: &str, tls: &SslConnector) -> anyhow::Result<SslStream<TcpStream>> {
    let opened = async {
        let stream = TcpStream::connect(address).await.with_context(|| address.to_owned())?;
        stream.set_nodelay(true)?;
        let ssl: Ssl = tls
            .configure()?
            .verify_hostname(false)
            .use_server_name_indication(false)
            .into_ssl("")?;
        let mut stream = SslStream::new(ssl, stream)?;
        let shaken = Pin::new(&mut stream).connect().await;
        shaken.with_context(|| format!("TLS with {address}"))?;
        anyhow::Ok(stream)
    };
    let late = || format!("{address} does not respond within {} s", OPENING.as_secs());
    timeout(OPENING, opened).await.with_context(late)?
}

/// Exchanges a token for an identity. The token goes only to a server whose authority it names.
pub(super) async fn enrol(address: &str, token: &str) -> anyhow::Result<Identity> {
    let Some((secret, expected)) = token.trim().split_once('.') else {
        bail!("invalid token: it has no '.'; use the output of engine.generate");
    };
    let mut builder = tls_1_3()?;
    // Checked below, with the fingerprint.
    builder.set_verify(SslVerifyMode::NONE);
    let stream = open(address, &builder.build()).await?;
    let authority = proven(stream.ssl(), expected)
        .with_context(|| format!("{address} is not the server that made the token"))?;
    let key = new_key()?;
    let request = request(&key)?;
    let mut link = Channel::new(stream, SMALL_MAX);
    link.send(&Message::Enrol { version: VERSION, token: secret, request: &request }).await?;
    timeout(OPENING, link.ready())
        .await
        .with_context(|| format!("{address} does not respond"))??;
    match link.message()? {
        Message::Enrolled { name, certificate, .. } => Ok(Identity {
            name: name.to_owned(),
            key,
            certificate: X509::from_der(certificate)?,
            authority,
        }),
        Message::Refused { reason } => bail!("the server refuses the engine: {reason}"),
        _ => bail!("the server sent an unexpected message"),
    }
}

/// The authority with this fingerprint, if it issued the certificate of the peer.
fn proven(ssl: &SslRef, expected: &str) -> anyhow::Result<X509> {
    let certificate = ssl.peer_certificate().context("it has no certificate")?;
    for authority in ssl.peer_cert_chain().into_iter().flatten() {
        if fingerprint(authority)? == expected {
            let authority = authority.to_owned();
            verify_server(&certificate, &authority)?;
            return Ok(authority);
        }
    }
    bail!("the server's certificate authority does not match the fingerprint in the token")
}
