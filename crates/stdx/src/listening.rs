//! Sockets that accept connections.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

use socket2::{Domain, Socket, Type};

/// Established connections that wait to be accepted. If they were more, the system would drop the
/// request of the next client, which repeats it after a second. `net.core.somaxconn` limits it further.
const BACKLOG: i32 = 4096;

/// Listens on a TCP address; port 0 takes a free one. The socket does not block, as tokio and mio
/// require.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A restarted server must not wait for connections of its predecessor to fade.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// An address of loopback for a socket that is bound later, such as that of another program: its port is
/// free over TCP and UDP on all addresses. Port 0 cannot be used for that, because the system gives the
/// port of a closed socket to the next connection of any program. It gives none from 61000, unless
/// `net.ipv4.ip_local_port_range` is changed.
pub fn free_address() -> io::Result<SocketAddr> {
    const FIRST: u16 = 61_000;
    const COUNT: u16 = u16::MAX - FIRST;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes that run at the same time begin at different ports.
    let [low, high, ..] = std::process::id().to_le_bytes();
    let begin = u16::from_le_bytes([low, high]).wrapping_mul(389);
    for _ in 0..COUNT {
        let next = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + next % COUNT;
        let any = (Ipv4Addr::UNSPECIFIED, port);
        if TcpListener::bind(any).is_ok() && UdpSocket::bind(any).is_ok() {
            return Ok((Ipv4Addr::LOCALHOST, port).into());
        }
    }
    Err(io::Error::new(io::ErrorKind::AddrInUse, "all ports from 61000 are in use"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn free_addresses_differ_and_can_be_bound() {
        let mut ports = std::collections::BTreeSet::new();
        let bound: Vec<TcpListener> = (0..50)
            .map(|_| {
                let address = free_address().unwrap();
                assert!(address.ip().is_loopback() && address.port() >= 61_000, "{address}");
                assert!(ports.insert(address.port()), "{address} was returned twice");
                listen(address).unwrap()
            })
            .collect();
        assert_eq!(bound.len(), 50);
    }

    #[test]
    fn a_burst_of_connections_waits_to_be_accepted() {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        // More than the 128 of the standard library and mio. A client beyond the backlog connects only after
        // another one was accepted, and fails here.
        let patience = std::time::Duration::from_secs(60);
        let clients: Vec<_> =
            (0..300).map(|_| TcpStream::connect_timeout(&address, patience).unwrap()).collect();
        // A client may know of its connection before the listener does.
        listener.set_nonblocking(false).unwrap();
        for _ in &clients {
            listener.accept().unwrap();
        }
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
