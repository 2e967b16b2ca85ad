//! `net.tcp.*` and `net.udp.*`: listening sockets of this machine, reachable ports of any.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};

use super::{Answer, Params, read_text};
use crate::Agent;

/// State of a listening TCP socket in `/proc/net/tcp`.
const TCP_LISTEN: &str = "0A";
/// State of an unconnected UDP socket.
const UDP_OPEN: &str = "07";

pub(super) fn tcp_listen(_: &Agent, params: &Params) -> Answer {
    listen(params, ["/proc/net/tcp", "/proc/net/tcp6"], TCP_LISTEN)
}

pub(super) fn udp_listen(_: &Agent, params: &Params) -> Answer {
    listen(params, ["/proc/net/udp", "/proc/net/udp6"], UDP_OPEN)
}

fn listen(params: &Params, paths: [&str; 2], state: &str) -> Answer {
    let Ok(port) = params.get(0).parse::<u16>() else { return Params::invalid(0) };
    let found = paths.iter().any(|path| {
        // Without IPv6 the second file is absent.
        read_text(path).is_ok_and(|text| is_listening(&text, port, state))
    });
    Ok(u8::from(found).to_string())
}

fn is_listening(text: &str, port: u16, state: &str) -> bool {
    text.lines().skip(1).any(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let local = words.next().and_then(|address| address.rsplit_once(':'));
        let state_ok = words.nth(1) == Some(state);
        state_ok && local.and_then(|(_, hex)| u16::from_str_radix(hex, 16).ok()) == Some(port)
    })
}

pub(super) fn tcp_port(_: &Agent, params: &Params) -> Answer {
    let port = match params.get(1).parse::<u16>() {
        Ok(port) if port > 0 => port,
        _ => return Params::invalid(1),
    };
    let address = match params.get(0) {
        "" => Some(SocketAddr::from((IpAddr::V4(Ipv4Addr::LOCALHOST), port))),
        name => (name, port).to_socket_addrs().ok().and_then(|mut found| found.next()),
    };
    let open = address.is_some_and(|address| {
        TcpStream::connect_timeout(&address, params.deadline().left()).is_ok()
    });
    Ok(u8::from(open).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_found() {
        let text = "  sl  local_address rem_address   st tx_queue\n   \
            0: 0100007F:529E 00000000:0000 0A 00000000:00000000\n   \
            1: 0100007F:1F90 0100007F:C001 01 00000000:00000000\n  bad\n";
        for (port, expected) in [(21150, true), (8080, false), (1, false)] {
            assert_eq!(is_listening(text, port, TCP_LISTEN), expected, "{port}");
        }
        let six = "h\n 0: 00000000000000000000000000000000:0016 0:0 0A 0\n";
        assert!(is_listening(six, 22, TCP_LISTEN));
        assert!(!is_listening(six, 22, UDP_OPEN));
    }
}
