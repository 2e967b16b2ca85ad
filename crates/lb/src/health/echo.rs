//! Checks by an echo request (ping): monitors of type `icmp`.

use std::io;
use std::net::{IpAddr, SocketAddr};

use mio::net::UdpSocket;
use mio::{Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};
use wire::icmp::{self, DATA_BYTES_MIN, Echo, Family};

use super::outcome::Outcome;

/// `SOCK_RAW` of socket(2).
const RAW: i32 = 3;
/// Of a reply: an IP header with all its options, and what names the request.
const REPLY_BYTES: usize = 128;

/// One check in progress.
pub(super) struct Probe {
    socket: UdpSocket,
    family: Family,
    /// Received IPv4 packets have their headers.
    raw: bool,
    /// An unpredictable number, so that a forged reply does not pass.
    cookie: u64,
}

fn family_of(address: IpAddr) -> Family {
    if address.is_ipv4() { Family::V4 } else { Family::V6 }
}

/// A socket that the system lends to everybody in `net.ipv4.ping_group_range`, else a raw one.
fn open(family: Family) -> io::Result<(Socket, bool)> {
    let (domain, protocol) = match family {
        Family::V4 => (Domain::IPV4, Protocol::ICMPV4),
        Family::V6 => (Domain::IPV6, Protocol::ICMPV6),
    };
    match Socket::new(domain, Type::DGRAM.nonblocking(), Some(protocol)) {
        Ok(socket) => Ok((socket, false)),
        Err(error) if stdx::sys::is_exhausted(&error) => Err(error),
        Err(_) => Socket::new(domain, Type::from(RAW).nonblocking(), Some(protocol))
            .map(|socket| (socket, true)),
    }
}

/// Why servers with this address cannot be checked; `None`: they can.
pub(super) fn refusal(address: IpAddr) -> Option<String> {
    open(family_of(address)).err().map(|error| refused(&error))
}

fn refused(error: &io::Error) -> String {
    format!(
        "the system refuses a socket for ICMP: {error}; let the engine's group use it with the setting \
         net.ipv4.ping_group_range, or give the program the capability CAP_NET_RAW"
    )
}

impl Probe {
    /// Sends the request. The error is the result of the check.
    pub(super) fn start(server: SocketAddr, poll: &Poll, token: Token) -> Result<Self, Outcome> {
        let family = family_of(server.ip());
        let (socket, raw) = open(family).map_err(|error| Outcome::NotMade(refused(&error)))?;
        Ok(Self::with(socket, raw, server, poll, token)?)
    }

    fn with(
        socket: Socket,
        raw: bool,
        mut server: SocketAddr,
        poll: &Poll,
        token: Token,
    ) -> io::Result<Self> {
        let family = family_of(server.ip());
        server.set_port(0);
        socket.connect(&server.into())?;
        let mut socket = UdpSocket::from_std(socket.into());
        poll.registry().register(&mut socket, token, Interest::READABLE)?;
        let cookie = getrandom::u64().map_err(io::Error::other)?;
        let identifier = getrandom::u32().map_err(io::Error::other)? as u16;
        let mut request = Vec::new();
        icmp::encode(family, Echo { identifier, cookie, number: 1 }, DATA_BYTES_MIN, &mut request);
        socket.send(&request)?;
        Ok(Self { socket, family, raw, cookie })
    }

    /// The result, if there is one.
    pub(super) fn advance(&self) -> Option<Outcome> {
        let mut packet = [0; REPLY_BYTES];
        loop {
            match self.socket.recv(&mut packet) {
                Ok(length) if self.is_reply(&packet[..length]) => return Some(Outcome::Passed),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(error.into()),
            }
        }
    }

    /// Other packets are those of other programs, or requests of this one to itself.
    fn is_reply(&self, packet: &[u8]) -> bool {
        let message = match self.family {
            Family::V4 if self.raw => icmp::after_ip_header(packet),
            _ => Some(packet),
        };
        let echo = message.and_then(|message| icmp::decode(self.family, message));
        echo.is_some_and(|echo| echo.cookie == self.cookie)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn this_machine_replies_where_the_system_permits_icmp() {
        let address: SocketAddr = "127.0.0.1:80".parse().unwrap();
        let mut poll = Poll::new().unwrap();
        let probe = match Probe::start(address, &poll, Token(1)) {
            Ok(probe) => probe,
            Err(Outcome::NotMade(reason)) => {
                assert_eq!(refusal(address.ip()), Some(reason.clone()));
                assert!(reason.contains("ping_group_range"), "{reason}");
                return;
            }
            Err(other) => panic!("{other:?}"),
        };
        let mut events = mio::Events::with_capacity(8);
        for _ in 0..100 {
            poll.poll(&mut events, Some(Duration::from_millis(100))).unwrap();
            if let Some(outcome) = probe.advance() {
                assert_eq!(outcome, Outcome::Passed);
                return;
            }
        }
        panic!("no reply");
    }
}
