//! Orders to a running engine, over a Unix socket that only its user can open.
//!
//! A connection carries one order: a line of JSON, and a line of JSON in response.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::config::Order;
use crate::engine::Engine;

/// Bytes of an order.
const ORDER_MAX: u64 = 32 << 10;
/// How long an order may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Orders that wait.
const WAITING: usize = 16;

/// What an order has led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// So many responses were removed.
    Purged(u64),
    Error(String),
}

/// An order that waits for its outcome.
pub(crate) struct Waiting {
    order: Order,
    outcome: oneshot::Sender<Outcome>,
}

/// Gives an order to the engine that has this socket. Returns how many responses were removed.
///
/// # Errors
/// The engine does not respond, or refuses the order.
pub fn send(socket: &Path, order: &Order) -> anyhow::Result<u64> {
    let talk = || {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.write_all(&line(order)?)?;
        let mut response = String::new();
        BufReader::new(stream).read_line(&mut response)?;
        anyhow::Ok(serde_json::from_str(&response)?)
    };
    let outcome = talk().with_context(|| format!("cannot reach an engine at {}", socket.display()));
    match outcome? {
        Outcome::Purged(number) => Ok(number),
        Outcome::Error(problem) => Err(anyhow!(problem)),
    }
}

fn line(value: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Takes orders from a socket until the receiver is dropped. A socket of another process is replaced.
///
/// # Errors
/// The socket cannot be made.
pub(crate) fn listen(socket: &Path) -> anyhow::Result<mpsc::Receiver<Waiting>> {
    let listener =
        bind(socket).with_context(|| format!("cannot listen on {}", socket.display()))?;
    let (sender, receiver) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let served = timeout(TIMEOUT, serve(stream, &sender)).await;
            match served {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::info!("an order to the engine has failed: {error:#}"),
                Err(_) => tracing::info!("an order to the engine did not arrive in time"),
            }
        }
    });
    Ok(receiver)
}

/// Under another name first: the permissions are set before anything can connect.
fn bind(socket: &Path) -> anyhow::Result<UnixListener> {
    let mut hidden = socket.as_os_str().to_owned();
    hidden.push(format!(".{}", std::process::id()));
    let hidden = PathBuf::from(hidden);
    let listener = UnixListener::bind(&hidden)?;
    std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&hidden, socket)?;
    Ok(listener)
}

async fn serve(
    stream: tokio::net::UnixStream,
    orders: &mpsc::Sender<Waiting>,
) -> anyhow::Result<()> {
    let mut reader = tokio::io::BufReader::new(stream.take(ORDER_MAX));
    let mut text = String::new();
    reader.read_line(&mut text).await?;
    let outcome = match serde_json::from_str(&text) {
        Err(error) => Outcome::Error(format!("the order is malformed: {error}")),
        Ok(order) => {
            let (outcome, result) = oneshot::channel();
            orders.send(Waiting { order, outcome }).await.context("the engine ends")?;
            result.await.context("the engine ends")?
        }
    };
    let mut stream = reader.into_inner().into_inner();
    Ok(stream.write_all(&line(&outcome)?).await?)
}

impl Waiting {
    /// Carries the order out.
    pub(crate) fn carry_out(self, engine: &Engine) {
        let Self { order: Order { service, purge }, outcome } = self;
        let done = match engine.purge(service.as_deref(), &purge) {
            Ok(number) => {
                tracing::info!(?purge, service, "{number} stored responses removed");
                Outcome::Purged(number)
            }
            Err(problem) => Outcome::Error(problem),
        };
        // The client may have gone.
        let _unread = outcome.send(done);
    }
}
