//! One passive agent check: connect, ask, read, in the dialect that the interface speaks.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use config::snapshot::{Host, Interface};
use model::{CompactString, LogMeta};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use wire::agent::passive::{self, Answer, Parsed};
use wire::zbxd::{self, Decoder, Frame};

use crate::resolver::Resolver;
use crate::status::Shared;
use crate::tls;
use crate::trapper::read_some;

/// The agent gets the item's timeout, the connection a second more: so the agent's own error
/// text arrives.
pub(super) const EXTRA: Duration = Duration::from_secs(1);

/// What a check brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentReply {
    /// A value.
    Value(String),
    /// Log lines, and where the item goes on the next time.
    Lines(Box<Lines>),
    /// The agent has nothing to store.
    Nothing,
    /// The item is not supported, and why.
    NotSupported(String),
    /// The agent could not be asked, and why: counts against the interface's availability.
    NetworkError(String),
    /// The server's own configuration forbids the check, and why.
    ConfigError(String),
    /// The server is out of sockets or ports, and how: says nothing about the agent.
    LocalError(String),
}

/// What a check brings that reads a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Texts with what belongs to them, in their order.
    pub values: Vec<(CompactString, LogMeta)>,
    /// What [`crate::LogPosition::lastlogsize`] is from now on.
    pub position: u64,
}

/// How far a check has come, for the error text of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
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
) -> (AgentReply, passive::Dialect) {
    match ask_once(target, dialect).await {
        Asked::Reply(reply) => (reply, dialect),
        Asked::RetryPlain => match ask_once(target, passive::Dialect::Plain).await {
            Asked::Reply(reply) => (reply, passive::Dialect::Plain),
            Asked::RetryPlain => (not_understood(), dialect),
        },
    }
}

/// An answer that is neither of the two dialects.
pub(super) fn not_understood() -> AgentReply {
    AgentReply::NetworkError("the agent's answer cannot be understood".into())
}

#[derive(Debug)]
pub(super) enum Asked {
    Reply(AgentReply),
    RetryPlain,
}

async fn ask_once(target: &Target<'_>, dialect: passive::Dialect) -> Asked {
    let stage = Cell::new(Stage::Connect);
    let asked = timeout(target.timeout + EXTRA, exchange(target, dialect, &stage)).await;
    asked.unwrap_or_else(|_| timed_out(stage.get(), target.address))
}

/// Nothing came in time.
pub(super) fn timed_out(stage: Stage, address: SocketAddr) -> Asked {
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
pub(super) fn not_connected(address: SocketAddr, error: &std::io::Error) -> Asked {
    let text = os_error(error);
    if is_local(error) {
        return Asked::Reply(AgentReply::LocalError(text));
    }
    network(&format!("cannot establish TCP connection to {}: {text}", at(address)))
}

/// The request cannot be sent.
pub(super) fn not_sent(error: &std::io::Error) -> Asked {
    network(&format!("cannot send: {}", os_error(error)))
}

/// The answer cannot be read. A listener that closes on us with our request unread is one of them.
pub(super) fn not_read(error: &std::io::Error) -> Asked {
    network(&format!("cannot read response: {}", os_error(error)))
}

/// The bytes of a request; the agent is told the item's timeout.
pub(super) fn encode_request(key: &str, timeout: Duration, dialect: passive::Dialect) -> Vec<u8> {
    let request = passive::request(key, timeout.as_secs().max(1), dialect);
    zbxd::encode(request.as_bytes(), zbxd::PROTOCOL)
}

pub(super) fn network(what: &str) -> Asked {
    Asked::Reply(AgentReply::NetworkError(format!("Get value from agent failed: {what}")))
}

/// `[111] Connection refused`
pub(super) fn os_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let text = text.split(" (os error").next().unwrap_or(&text);
            format!("[{code}] {text}")
        }
        None => text,
    }
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
    match target.shared.tls.connect(stream, &target.host.tls).await {
        Ok(stream) => talk(stream, target, dialect, stage).await,
        Err(error @ (tls::TlsError::BadPsk | tls::TlsError::NoCertificate)) => {
            Asked::Reply(AgentReply::ConfigError(error.to_string()))
        }
        Err(error) => {
            let at = at(target.address);
            network(&format!("TCP successful, cannot establish TLS to {at}: {error}"))
        }
    }
}

/// Out of file descriptors, ports or memory: our own trouble, not the agent's.
pub(super) fn is_local(error: &std::io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    const ENOMEM: i32 = 12;
    const EADDRNOTAVAIL: i32 = 99;
    const ENOBUFS: i32 = 105;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOMEM | EADDRNOTAVAIL | ENOBUFS))
}

/// A connection from the address that the operator chose.
pub(super) async fn connect(shared: &Shared, address: SocketAddr) -> std::io::Result<TcpStream> {
    let Some(source) = shared.config.source_ip else {
        return TcpStream::connect(address).await;
    };
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    if source.is_ipv4() == address.is_ipv4() {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    socket.connect(address).await
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
    let max = target.shared.config.limits.agent_answer_bytes_max;
    match read_frame(&mut stream, usize::try_from(max).unwrap_or(usize::MAX)).await {
        Ok(Some(frame)) => understand(&frame.text(), dialect, target.address.ip()),
        Ok(None) => refused(target.address.ip()),
        Err(why) => network(&why),
    }
}

/// The answer; `None` = the other side closed without one.
pub(super) async fn read_frame<S: AsyncRead + Unpin>(
    stream: &mut S,
    bytes_max: usize,
) -> Result<Option<Frame>, String> {
    // Agents of old answer without a header.
    let limits = zbxd::Limits::ANSWER.with_bytes_max(bytes_max).with_text_bytes_max(bytes_max);
    let mut decoder = Decoder::new(limits);
    loop {
        let read = read_some(stream, |bytes| {
            if bytes.is_empty() {
                return decoder.end().map(|frame| (true, frame));
            }
            decoder.feed(bytes)?.only().map(|frame| (false, frame))
        });
        match read.await {
            Ok(Ok((_, Some(frame)))) => return Ok(Some(frame)),
            Ok(Ok((true, None))) => return Ok(None),
            Ok(Ok((false, None))) => {}
            Ok(Err(error)) => return Err(format!("the answer {error}")),
            Err(error) => return Err(format!("cannot read response: {}", os_error(&error))),
        }
    }
}

/// Nothing came at all.
pub(super) fn refused(ip: IpAddr) -> Asked {
    Asked::Reply(AgentReply::NetworkError(format!(
        "Received empty response from Zabbix Agent at [{ip}]. Assuming that agent dropped \
         connection because of access permissions."
    )))
}

/// What an answer says to the one who asked in `dialect`.
pub(super) fn understand(text: &str, dialect: passive::Dialect, ip: IpAddr) -> Asked {
    let answer = match passive::parse_answer(text, dialect) {
        Parsed::RetryPlain => return Asked::RetryPlain,
        Parsed::Answer(answer) => answer,
    };
    Asked::Reply(match answer {
        Answer::Value(value) => AgentReply::Value(value.into_owned()),
        Answer::Nothing => AgentReply::Nothing,
        Answer::NotSupported(why) => AgentReply::NotSupported(why.into_owned()),
        Answer::Refused => return refused(ip),
        // In plain text it is the item's error, in JSON the whole request failed.
        Answer::AgentError(why) if dialect == passive::Dialect::Plain => {
            AgentReply::NotSupported(why.into_owned())
        }
        Answer::AgentError(why) => return network(&why),
    })
}

/// The address of an interface: as it is, or by its name.
pub(crate) async fn resolve(resolver: &Resolver, interface: &Interface) -> Result<IpAddr, String> {
    if interface.use_ip {
        let ip = &*interface.ip;
        return ip
            .parse()
            .map_err(|_| format!("Cannot resolve address: [[{ip}]:{}]", interface.port));
    }
    let name = &*interface.dns;
    let failed =
        |why: &str| format!("Cannot resolve address: [[{name}]:{}]: {why}", interface.port);
    if name.is_empty() {
        return Err(failed("the interface has no DNS name"));
    }
    let found = resolver.find(name).await.map_err(|why| failed(&why))?;
    found.first().copied().ok_or_else(|| failed("no address"))
}

/// One check outside the schedule, in whatever dialect the agent speaks.
pub(crate) async fn get_once(
    shared: &Shared,
    host: &Arc<Host>,
    interface: &Interface,
    key: &str,
    limit: Duration,
) -> AgentReply {
    let ip = match timeout(limit, resolve(&shared.resolver, interface)).await {
        Ok(Ok(ip)) => ip,
        Ok(Err(why)) => {
            return AgentReply::NetworkError(format!("Get value from agent failed: {why}"));
        }
        Err(_) => {
            return AgentReply::NetworkError(format!(
                "Get value from agent failed: Cannot resolve address: [[{}]:{}]: timed out",
                interface.dns, interface.port
            ));
        }
    };
    let address = SocketAddr::new(ip, interface.port);
    let target = Target { shared, host, address, key, timeout: limit };
    ask(&target, passive::Dialect::Json).await.0
}
