//! Connections to servers, as the configuration has them: source address and encryption.

use std::io;
use std::net::{IpAddr, SocketAddr};

use collect::tls::{self, TlsContexts};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use wire::zbxd::{self, Decoder, Limits};

use crate::config::{AgentConfig, AgentTls, ConfigError};
use crate::get::GetError;

/// Makes connections, and has the contexts of accepted ones.
pub(crate) struct Dialer {
    source: Option<IpAddr>,
    rule: config::snapshot::Tls,
    /// `None` = nothing is encrypted.
    contexts: Option<TlsContexts>,
}

impl Dialer {
    /// Reads the files of certificates.
    pub(crate) fn new(config: &AgentConfig) -> Result<Self, ConfigError> {
        let AgentTls { files, rule } = &config.tls;
        let encrypted = config.tls.uses(tls::PSK | tls::CERT);
        let contexts = encrypted.then(|| TlsContexts::of_rule(files, rule)).transpose()?;
        Ok(Self { source: config.active.source, rule: rule.clone(), contexts })
    }

    /// Contexts of encrypted connections; `None` = nothing is encrypted.
    pub(crate) const fn tls(&self) -> Option<&TlsContexts> {
        self.contexts.as_ref()
    }

    /// Sends a message to a server (`host:port`) and reads the payload of its response; empty if the server
    /// closes the connection without one.
    pub(crate) async fn exchange(&self, address: &str, message: &str) -> Result<Vec<u8>, GetError> {
        let connected = self.connect(address).await;
        let stream = connected.map_err(|error| GetError::Io { stage: "connect", error })?;
        match &self.contexts {
            Some(contexts) if self.rule.connect != tls::NONE => {
                exchange(contexts.connect(stream, &self.rule).await?, message).await
            }
            _ => exchange(stream, message).await,
        }
    }

    async fn connect(&self, address: &str) -> io::Result<TcpStream> {
        let Some(source) = self.source else { return TcpStream::connect(address).await };
        let mut found = tokio::net::lookup_host(address).await?;
        let Some(address) = found.find(|address| address.is_ipv4() == source.is_ipv4()) else {
            let what = format!("{address} has no address of the kind of SourceIP");
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, what));
        };
        let socket = match source {
            IpAddr::V4(_) => TcpSocket::new_v4()?,
            IpAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.bind(SocketAddr::new(source, 0))?;
        socket.connect(address).await
    }
}

/// Sends one framed message and reads the payload of the response; empty if the other side just closes.
pub(crate) async fn exchange<S>(mut stream: S, message: &str) -> Result<Vec<u8>, GetError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let at = |stage: &'static str| move |error| GetError::Io { stage, error };
    let bytes = zbxd::encode(message.as_bytes(), zbxd::PROTOCOL);
    stream.write_all(&bytes).await.map_err(at("send"))?;
    let mut decoder = Decoder::new(Limits::ANSWER);
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let n = stream.read(&mut buffer).await.map_err(at("read the response"))?;
        if n == 0 {
            return Ok(decoder.end()?.map(|frame| frame.payload).unwrap_or_default());
        }
        if let Some(frame) = decoder.feed(&buffer[..n])?.only()? {
            return Ok(frame.payload);
        }
    }
}
