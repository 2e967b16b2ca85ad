//! The agent's port: one request per connection, answered in the dialect it came in.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use collect::tls::{Identity, TlsError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use wire::agent::passive::{Answer, Request, encode_answer};
use wire::zbxd::{self, Decoder, Frame, Limits};

use crate::keys::Origin;
use crate::{Agent, PROTOCOL_VERSION};

/// How long to wait before accepting again after the system refused a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// First byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 0x16;
/// Bytes read at once: requests are shorter.
const READ_BYTES: usize = 2048;

/// Serves all listeners; never returns.
pub(crate) async fn serve(agent: &Agent, listeners: Vec<TcpListener>) {
    let slots = Arc::new(Semaphore::new(agent.config().connections_max));
    let mut tasks = tokio::task::JoinSet::new();
    for listener in listeners {
        let (agent, slots) = (agent.clone(), Arc::clone(&slots));
        tasks.spawn(async move { accept(&agent, listener, &slots).await });
    }
    while tasks.join_next().await.is_some() {}
    std::future::pending().await
}

async fn accept(agent: &Agent, listener: TcpListener, slots: &Arc<Semaphore>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(slot) = Arc::clone(slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let agent = agent.clone();
                connections.spawn(async move {
                    connection(&agent, stream, peer.ip()).await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "agent cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(agent: &Agent, stream: TcpStream, peer: IpAddr) {
    let timeout = agent.config().timeout;
    let allowed = tokio::time::timeout(timeout, is_allowed(agent, peer)).await;
    if !matches!(allowed, Ok(true)) {
        tracing::warn!(%peer, "agent refused a connection: the peer is not on the allowed list");
        return;
    }
    if let Err(error) = protect(agent, stream).await {
        tracing::warn!(%peer, %error, "agent dropped a connection");
    }
}

/// Serves a connection as its first byte has it, encrypted or not, if that kind is accepted.
async fn protect(agent: &Agent, stream: TcpStream) -> Result<(), ConnectionError> {
    let (timeout, tls) = (agent.config().timeout, &agent.config().tls);
    let slow = |_| ConnectionError::Slow(timeout);
    let mut first = [0];
    if tokio::time::timeout(timeout, stream.peek(&mut first)).await.map_err(slow)?? == 0 {
        return Ok(());
    }
    let allowed = |identity: &Identity| {
        identity.allowed(&tls.rule, "this agent").map_err(ConnectionError::Refused)
    };
    if let Some(contexts) = agent.dialer().tls()
        && first[0] == TLS_HANDSHAKE
    {
        let accepted = tokio::time::timeout(timeout, contexts.accept(stream)).await;
        let (stream, identity) = accepted.map_err(slow)??;
        allowed(&identity)?;
        return answer(agent, stream).await;
    }
    allowed(&Identity::unencrypted())?;
    answer(agent, stream).await
}

async fn is_allowed(agent: &Agent, peer: IpAddr) -> bool {
    let list = &agent.config().allowed;
    if list.allows(peer) {
        return true;
    }
    for name in list.names() {
        if let Ok(mut found) = tokio::net::lookup_host((name, 0)).await
            && found.any(|address| wire::peers::same(address.ip(), peer))
        {
            return true;
        }
    }
    false
}

#[derive(Debug, thiserror::Error)]
enum ConnectionError {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Tls(#[from] TlsError),
    #[error("{0}")]
    Refused(String),
    #[error("message {0}, it is ignored")]
    Frame(#[from] zbxd::FrameError),
    #[error("timed out after {0:?} while receiving the request or sending the response")]
    Slow(Duration),
}

async fn answer<S>(agent: &Agent, mut stream: S) -> Result<(), ConnectionError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let timeout = agent.config().timeout;
    let slow = |_| ConnectionError::Slow(timeout);
    let frame = tokio::time::timeout(timeout, read(&mut stream)).await.map_err(slow)??;
    let Some(frame) = frame else { return Ok(()) };
    let bytes = evaluate(agent, &frame).await;
    tokio::time::timeout(timeout, async {
        stream.write_all(&bytes).await?;
        stream.shutdown().await
    })
    .await
    .map_err(slow)??;
    Ok(())
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> Result<Option<Frame>, ConnectionError> {
    let mut decoder = Decoder::new(Limits::AGENT_REQUEST);
    let mut buffer = [0; READ_BYTES];
    loop {
        let n = stream.read(&mut buffer).await?;
        if n == 0 {
            return Ok(decoder.end()?);
        }
        if let Some(frame) = decoder.feed(&buffer[..n])?.only()? {
            return Ok(Some(frame));
        }
    }
}

/// The encoded answer to a request.
async fn evaluate(agent: &Agent, frame: &Frame) -> Vec<u8> {
    let text = frame.text();
    let request = Request::parse(&text);
    let answer = match request.check {
        Err(reason) => Answer::AgentError(Cow::Owned(reason)),
        Ok(check) if !check.timeout_is_supported() => {
            Answer::NotSupported(Cow::Borrowed("Unsupported timeout value."))
        }
        Ok(check) => {
            let timeout = check.timeout_s.map_or(agent.config().timeout, Duration::from_secs);
            match agent.value_within(&check.key, Origin::Server, timeout).await {
                Ok(value) => Answer::Value(Cow::Owned(value)),
                Err(reason) => Answer::NotSupported(Cow::Owned(reason)),
            }
        }
    };
    // Answers are never compressed: a server takes them so from every agent.
    let text = encode_answer(&answer, request.dialect, PROTOCOL_VERSION);
    zbxd::encode(text.as_bytes(), zbxd::PROTOCOL)
}
