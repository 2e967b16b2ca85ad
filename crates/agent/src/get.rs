//! The other side: asks any agent for one value.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use collect::tls::TlsError;
use tokio::net::TcpStream;
use wire::agent::passive::{Answer, Dialect, Parsed, parse_answer, request};
use wire::zbxd::FrameError;

use crate::dial::exchange;

/// Why there is no value.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// No connection, or it broke.
    #[error("cannot {stage}: {error}")]
    Io {
        /// What was tried.
        stage: &'static str,
        /// What the system said.
        error: io::Error,
    },
    /// The connection cannot be encrypted as it must be.
    #[error("cannot encrypt the connection: {0}")]
    Tls(#[from] TlsError),
    /// The agent took too long.
    #[error("timed out after {0:?}")]
    Timeout(Duration),
    /// The answer is no frame.
    #[error("the agent's answer {0}")]
    Frame(#[from] FrameError),
    /// The agent does not accept this address.
    #[error("received an empty response: the agent does not accept connections from this address")]
    Refused,
    /// The agent could not run the check.
    #[error("the agent failed: {0}")]
    Agent(String),
    /// The agent does not support the key.
    #[error("not supported: {0}")]
    NotSupported(String),
}

/// Asks the agent at `address` (`host:port`) for the value of `key`, in JSON first and in plain
/// text if the agent is older than 7.0. `None` = the agent has nothing to tell.
pub async fn get(address: &str, key: &str, timeout: Duration) -> Result<Option<String>, GetError> {
    let ask = async {
        for dialect in [Dialect::Json, Dialect::Plain] {
            let connected = TcpStream::connect(address).await;
            let stream = connected.map_err(|error| GetError::Io { stage: "connect", error })?;
            let bytes = exchange(stream, &request(key, timeout.as_secs().max(1), dialect)).await?;
            let text = String::from_utf8_lossy(&bytes);
            match parse_answer(&text, dialect) {
                Parsed::RetryPlain => (),
                Parsed::Answer(Answer::Value(value)) => return Ok(Some(value.into_owned())),
                Parsed::Answer(Answer::Nothing) => return Ok(None),
                Parsed::Answer(Answer::Refused) => return Err(GetError::Refused),
                Parsed::Answer(Answer::AgentError(why)) => {
                    return Err(GetError::Agent(why.into_owned()));
                }
                Parsed::Answer(Answer::NotSupported(why)) => {
                    return Err(GetError::NotSupported(Cow::into_owned(why)));
                }
            }
        }
        Err(GetError::Refused)
    };
    tokio::time::timeout(timeout, ask).await.unwrap_or(Err(GetError::Timeout(timeout)))
}
