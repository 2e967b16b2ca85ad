//! The way to a target: its address, the connection, errors of the system.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use collect::read::read_some;
use collect::resolver::Resolver;
use config::snapshot::Interface;
use tokio::io::AsyncRead;
use tokio::net::{TcpSocket, TcpStream};
use wire::zbxd::{self, Decoder, Frame};

use super::check::Shared;

/// The agent gets the item's timeout, the connection a second more: so the agent's own error
/// text arrives.
pub(crate) const EXTRA: Duration = Duration::from_secs(1);

/// `[111] Connection refused`
pub(crate) fn os_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let text = text.split(" (os error").next().unwrap_or(&text);
            format!("[{code}] {text}")
        }
        None => text,
    }
}

/// Out of file descriptors, ports or memory: our own trouble, not the agent's.
pub(crate) fn is_local(error: &std::io::Error) -> bool {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    const ENOMEM: i32 = 12;
    const EADDRNOTAVAIL: i32 = 99;
    const ENOBUFS: i32 = 105;
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE | ENOMEM | EADDRNOTAVAIL | ENOBUFS))
}

/// A connection from the address that the operator chose.
pub(crate) async fn connect(shared: &Shared, address: SocketAddr) -> std::io::Result<TcpStream> {
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

/// The answer; `None` = the other side closed without one.
pub(crate) async fn read_frame<S: AsyncRead + Unpin>(
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
