//! The sockets of ICMP: raw where this process may, else those that the system lends to everybody.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use stdx::sys::datagrams::{self, Inbox, Outgoing};
use tokio::io::unix::AsyncFd;
use wire::icmp::{self, Echo, Family};

/// `SOCK_RAW` of socket(2).
const RAW: i32 = 3;
/// Room for the answers to a burst of requests while this thread waits for a core.
const RECEIVE_BYTES: usize = 32 << 20;
/// Datagrams in one look.
const INBOX: usize = 64;
/// Of a reply: an IP header with all its options, and what names the packet.
const REPLY_BYTES: usize = 128;

/// A reply and when it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub(super) from: IpAddr,
    pub(super) echo: Echo,
    /// Since 1970, as the system noted it.
    pub(super) at: Option<Duration>,
}

/// A socket for one family.
#[derive(Debug)]
pub(super) struct Icmp {
    socket: AsyncFd<OwnedFd>,
    family: Family,
    /// Received IPv4 packets have their headers.
    raw: bool,
    inbox: Inbox,
}

/// Why there is no socket: what the system said, and what helps.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// This process may not.
    #[error(
        "ICMP needs the capability CAP_NET_RAW, and the system refused a socket: {0}. Give it to \
         the program (setcap cap_net_raw+ep FILE) or to its service \
         (AmbientCapabilities=CAP_NET_RAW in the systemd unit), or let its group use \
         net.ipv4.ping_group_range"
    )]
    Rights(io::Error),
    /// This machine cannot.
    #[error("Cannot open a socket for ICMP: {0}")]
    Other(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Rights(error),
            _ => Self::Other(error),
        }
    }
}

/// Which family an address belongs to.
pub(super) fn family_of(to: SocketAddr) -> Family {
    if to.is_ipv4() { Family::V4 } else { Family::V6 }
}

impl Icmp {
    /// Opens a socket; its packets leave from `source` if that is of this family.
    pub(super) fn open(family: Family, source: Option<IpAddr>) -> Result<Self, Refused> {
        let (socket, raw) = Self::refusable(family)?;
        Ok(Self::with(socket, family, raw, source)?)
    }

    fn refusable(family: Family) -> io::Result<(Socket, bool)> {
        let (domain, protocol) = match family {
            Family::V4 => (Domain::IPV4, Protocol::ICMPV4),
            Family::V6 => (Domain::IPV6, Protocol::ICMPV6),
        };
        match Socket::new(domain, Type::from(RAW), Some(protocol)) {
            Ok(socket) => Ok((socket, true)),
            // The error of a raw socket is the one that an administrator can do something about.
            Err(error) => Socket::new(domain, Type::DGRAM, Some(protocol))
                .map(|socket| (socket, false))
                .map_err(|_| error),
        }
    }

    fn with(socket: Socket, family: Family, raw: bool, source: Option<IpAddr>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        if let Some(source) = source
            && family_of(SocketAddr::new(source, 0)) == family
        {
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        let kind = match family {
            Family::V4 => icmp::ECHO_REPLY,
            Family::V6 => icmp::ECHO_REPLY_V6,
        };
        if raw {
            datagrams::only_icmp_type(socket.as_fd(), family == Family::V6, kind)?;
        }
        datagrams::receive_buffer(socket.as_fd(), RECEIVE_BYTES)?;
        datagrams::stamp_received(socket.as_fd())?;
        let inbox = Inbox::new(INBOX, REPLY_BYTES);
        Ok(Self { socket: stdx::sys::watch(socket.into())?, family, raw, inbox })
    }

    /// Sends requests; returns how many went out. The error is that of the first.
    pub(super) fn send(&self, requests: &[Outgoing<'_>]) -> io::Result<usize> {
        datagrams::send_datagrams(self.socket.as_fd(), requests)
    }

    /// Waits until something is there to be read.
    pub(super) async fn readable(&self) {
        // An error shows at the next look as well.
        if let Ok(mut guard) = self.socket.readable().await {
            guard.clear_ready();
        }
    }

    /// Reads a batch; `false` = there was nothing.
    pub(super) fn receive(&mut self, out: &mut Vec<Reply>) -> bool {
        match self.inbox.receive(self.socket.as_fd()) {
            Ok(received) => {
                for datagram in self.inbox.datagrams() {
                    if let Some(echo) = self.reply(datagram.bytes) {
                        out.push(Reply { from: datagram.from.ip(), echo, at: datagram.at });
                    }
                }
                received > 0
            }
            // Errors that belong to packets of before are read with this; the next look goes on.
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    fn reply(&self, bytes: &[u8]) -> Option<Echo> {
        let message = match self.family {
            Family::V4 if self.raw => icmp::after_ip_header(bytes)?,
            _ => bytes,
        };
        icmp::decode(self.family, message)
    }
}
