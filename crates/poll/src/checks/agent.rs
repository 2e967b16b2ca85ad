//! One passive agent check: connect, ask, read, in the dialect that the interface speaks.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use collect::tls;
use config::snapshot::{Host, Interface};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use wire::agent::passive::{self, Answer, Parsed};
use wire::zbxd;

use super::check::{Check, Shared};
use super::dial::{EXTRA, connect, is_local, os_error, read_frame, resolve};
use super::reply::CheckReply;

/// How far a check has come, for the error text of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Connect,
    Tls,
    Send,
    Read,
}

/// Where and how to ask.
pub(crate) struct Target<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) host: &'a Host,
    pub(crate) address: SocketAddr,
    pub(crate) key: &'a str,
    pub(crate) timeout: Duration,
}

/// Asks in `dialect`, and in plain text if the agent turns out to be older than JSON. Returns the
/// dialect that the agent speaks.
pub(crate) async fn ask(
    target: &Target<'_>,
    dialect: passive::Dialect,
) -> (CheckReply, passive::Dialect) {
    match ask_once(target, dialect).await {
        Asked::Reply(reply) => (reply, dialect),
        Asked::RetryPlain => match ask_once(target, passive::Dialect::Plain).await {
            Asked::Reply(reply) => (reply, passive::Dialect::Plain),
            Asked::RetryPlain => (not_understood(), dialect),
        },
    }
}

/// An answer that is neither of the two dialects.
pub(crate) fn not_understood() -> CheckReply {
    CheckReply::NetworkError("the agent's answer cannot be understood".into())
}

#[derive(Debug)]
pub(crate) enum Asked {
    Reply(CheckReply),
    RetryPlain,
}

async fn ask_once(target: &Target<'_>, dialect: passive::Dialect) -> Asked {
    let stage = Cell::new(Stage::Connect);
    let asked = timeout(target.timeout + EXTRA, exchange(target, dialect, &stage)).await;
    asked.unwrap_or_else(|_| timed_out(stage.get(), target.address))
}

/// Nothing came in time.
pub(crate) fn timed_out(stage: Stage, address: SocketAddr) -> Asked {
    let at = at(address);
    network(&match stage {
        Stage::Connect => format!("cannot establish TCP connection to {at}: timed out"),
        Stage::Tls => format!("TCP successful, cannot establish TLS to {at}: timed out"),
        Stage::Send => String::from("cannot send: timed out"),
        Stage::Read => String::from("cannot read response: timed out"),
    })
}

fn at(address: SocketAddr) -> String {
    format!("[[{}]:{}]", address.ip(), address.port())
}

/// The connection cannot be made: the agent's fault, or this machine's.
pub(crate) fn not_connected(address: SocketAddr, error: &std::io::Error) -> Asked {
    let text = os_error(error);
    if is_local(error) {
        return Asked::Reply(CheckReply::LocalError(text));
    }
    network(&format!("cannot establish TCP connection to {}: {text}", at(address)))
}

/// The request cannot be sent.
pub(crate) fn not_sent(error: &std::io::Error) -> Asked {
    network(&format!("cannot send: {}", os_error(error)))
}

/// The answer cannot be read. A listener that closes on us with our request unread is one of them.
pub(crate) fn not_read(error: &std::io::Error) -> Asked {
    network(&format!("cannot read response: {}", os_error(error)))
}

/// The bytes of a request; it carries the item's timeout.
pub(crate) fn encode_request(key: &str, timeout: Duration, dialect: passive::Dialect) -> Vec<u8> {
    let request = passive::request(key, timeout.as_secs().max(1), dialect);
    zbxd::encode(request.as_bytes(), zbxd::PROTOCOL)
}

pub(crate) fn network(what: &str) -> Asked {
    Asked::Reply(CheckReply::NetworkError(format!("Get value from agent failed: {what}")))
}

async fn exchange(target: &Target<'_>, dialect: passive::Dialect, stage: &Cell<Stage>) -> Asked {
    let stream = match connect(target.shared, target.address).await {
        Ok(stream) => stream,
        Err(error) => return not_connected(target.address, &error),
    };
    if target.host.tls.connect == tls::NONE {
        return talk(stream, target, dialect, stage).await;
    }
    stage.set(Stage::Tls);
    match target.shared.context.tls.connect(stream, &target.host.tls).await {
        Ok(stream) => talk(stream, target, dialect, stage).await,
        Err(error @ (tls::TlsError::BadPsk | tls::TlsError::NoCertificate)) => {
            Asked::Reply(CheckReply::ConfigError(error.to_string()))
        }
        Err(error) => {
            let at = at(target.address);
            network(&format!("TCP successful, cannot establish TLS to {at}: {error}"))
        }
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    target: &Target<'_>,
    dialect: passive::Dialect,
    stage: &Cell<Stage>,
) -> Asked {
    stage.set(Stage::Send);
    let request = encode_request(target.key, target.timeout, dialect);
    if let Err(error) = stream.write_all(&request).await {
        return not_sent(&error);
    }
    stage.set(Stage::Read);
    let max = target.shared.config.agent_answer_bytes_max;
    match read_frame(&mut stream, usize::try_from(max).unwrap_or(usize::MAX)).await {
        Ok(Some(frame)) => understand(&frame.text(), dialect, target.address.ip()),
        Ok(None) => refused(target.address.ip()),
        Err(why) => network(&why),
    }
}

/// Nothing came at all.
pub(crate) fn refused(ip: IpAddr) -> Asked {
    Asked::Reply(CheckReply::NetworkError(format!(
        "Received empty response from Zabbix Agent at [{ip}]. Assuming that agent dropped \
         connection because of access permissions."
    )))
}

/// What an answer says to the one who asked in `dialect`.
pub(crate) fn understand(text: &str, dialect: passive::Dialect, ip: IpAddr) -> Asked {
    let answer = match passive::parse_answer(text, dialect) {
        Parsed::RetryPlain => return Asked::RetryPlain,
        Parsed::Answer(answer) => answer,
    };
    Asked::Reply(match answer {
        Answer::Value(value) => CheckReply::Value(value.into_owned()),
        Answer::Nothing => CheckReply::Nothing,
        Answer::NotSupported(why) => CheckReply::NotSupported(why.into_owned()),
        Answer::Refused => return refused(ip),
        // In plain text it is the item's error, in JSON the whole request failed.
        Answer::AgentError(why) if dialect == passive::Dialect::Plain => {
            CheckReply::NotSupported(why.into_owned())
        }
        Answer::AgentError(why) => return network(&why),
    })
}

/// One check outside the schedule, in whatever dialect the agent speaks.
async fn get_once(
    shared: &Shared,
    host: &Arc<Host>,
    interface: &Interface,
    key: &str,
    limit: Duration,
) -> CheckReply {
    let ip = match timeout(limit, resolve(&shared.context.resolver, interface)).await {
        Ok(Ok(ip)) => ip,
        Ok(Err(why)) => {
            return CheckReply::NetworkError(format!("Get value from agent failed: {why}"));
        }
        Err(_) => {
            return CheckReply::NetworkError(format!(
                "Get value from agent failed: Cannot resolve address: [[{}]:{}]: timed out",
                interface.dns, interface.port
            ));
        }
    };
    let address = SocketAddr::new(ip, interface.port);
    let target = Target { shared, host, address, key, timeout: limit };
    ask(&target, passive::Dialect::Json).await.0
}

/// Checks once.
pub(crate) async fn check(check: &Check<'_>) -> CheckReply {
    match check.interface {
        Some(interface) => {
            let (shared, host, key) = (check.shared, check.host, &check.item.key);
            get_once(shared, host, interface, key, check.timeout).await
        }
        None => CheckReply::ConfigError(String::from("The item has no interface to check.")),
    }
}
