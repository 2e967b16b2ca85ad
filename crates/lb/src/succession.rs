//! Processes that follow each other: how one begins and ends beside another one.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// What else uses the files of an engine when it starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Beginning {
    /// Nothing: it is refused otherwise.
    #[default]
    Alone,
    /// Another process, which drains as soon as this one is ready.
    Takeover,
}

/// How an engine drains.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drain {
    /// Longest time until all connections are closed; zero: they are closed at once.
    pub deadline: Duration,
}

/// Tells the service manager that the engine forwards (`sd_notify(3)`), if it wants to know, and the log what
/// the system does with connections when processes follow each other.
pub fn announce_ready(beginning: Beginning, drain: Drain) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET")
        && let Err(error) = notify(&socket)
    {
        tracing::warn!("the service manager does not learn that the engine is ready: {error}");
    }
    let follows = beginning == Beginning::Takeover || !drain.deadline.is_zero();
    if follows && !migrates() {
        tracing::warn!(
            "net.ipv4.tcp_migrate_req is 0: connections that wait at a process that ends are not given to the \
             other one. The engine delays new connections by a second while it ends, and a crash resets \
             those that wait; set it to 1 with sysctl"
        );
    }
}

fn notify(socket: &OsStr) -> io::Result<()> {
    let name = socket.as_bytes();
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address)?;
    Ok(())
}

/// Whether the system gives connections that wait at a closed listener to another one of its address.
pub(crate) fn migrates() -> bool {
    let setting = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_migrate_req");
    setting.is_ok_and(|text| text.trim() != "0")
}
