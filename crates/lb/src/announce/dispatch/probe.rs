//! Probes of the engines of a group: each asks the others, and its responder responds.
//!
//! Engines of one machine share the port, so that a machine responds while one of its engines can. If none is left,
//! the system of the machine refuses at once.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use anyhow::Context;
use socket2::{Domain, Socket, Type};

use super::machines::Machines;
use super::standing::Standing;

const MAGIC: [u8; 4] = *b"VLBD";
const VERSION: u8 = 1;
/// Bytes of a message, in both directions, so that responses are not larger than what strangers send.
const LENGTH: usize = 16;
/// How soon a responder notices that it has to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Pause after an error.
const PAUSE: Duration = Duration::from_secs(1);
/// Messages read in one round at most.
const ROUND_MAX: usize = 64;

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Message {
    is_response: bool,
    /// VIPs without usable servers; 0 in a probe.
    unusable: u16,
    /// Random number of the sender of a probe: only those who have read the probe can respond to it.
    key: u64,
}

impl Message {
    fn bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = VERSION;
        bytes[5] = u8::from(self.is_response);
        bytes[6..8].copy_from_slice(&self.unusable.to_be_bytes());
        bytes[8..].copy_from_slice(&self.key.to_be_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let (head, key) = bytes.split_at(8);
        let is_response = match head[5] {
            0 => false,
            1 => true,
            _ => return None,
        };
        let unusable = u16::from_be_bytes([head[6], head[7]]);
        let key = u64::from_be_bytes(key.try_into().ok()?);
        (head[..4] == MAGIC && head[4] == VERSION).then_some(Self { is_response, unusable, key })
    }
}

/// A socket of an address of this machine, which may get it later.
fn socket(address: SocketAddr, shared: bool) -> std::io::Result<UdpSocket> {
    let domain = if address.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
    let socket = Socket::new(domain, Type::DGRAM, None)?;
    match address {
        SocketAddr::V4(_) => socket.set_freebind_v4(true)?,
        SocketAddr::V6(_) => socket.set_freebind_v6(true)?,
    }
    socket.set_reuse_port(shared)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Responds to probes from when the engine serves until it leaves the group, and waits for the end.
///
/// Before, another process of this machine may respond, and would not get what this one gets.
pub(super) fn respond(
    address: SocketAddr,
    peers: &[IpAddr],
    standing: &Standing,
    stopped: &Receiver<()>,
) {
    let (mut pause, mut fails) = (LOOK_EVERY, false);
    while !standing.has_left() && stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        if standing.unusable().is_none() {
            continue;
        }
        match Responder::new(address, peers) {
            Ok(responder) => return responder.run(standing, stopped),
            Err(error) if !fails => {
                tracing::error!(
                    "other machines give this one no connections: {error:#}; forwarding continues, and the engine retries"
                );
            }
            Err(_) => {}
        }
        (pause, fails) = (PAUSE, true);
    }
}

/// Responds to probes of the other machines.
struct Responder {
    socket: UdpSocket,
    peers: Vec<IpAddr>,
}

impl Responder {
    fn new(address: SocketAddr, peers: &[IpAddr]) -> anyhow::Result<Self> {
        let made = socket(address, true).and_then(|socket| {
            socket.set_read_timeout(Some(LOOK_EVERY))?;
            Ok(socket)
        });
        let socket =
            made.with_context(|| format!("cannot listen for other machines at UDP {address}"))?;
        Ok(Self { socket, peers: peers.to_vec() })
    }

    fn run(self, standing: &Standing, stopped: &Receiver<()>) {
        while !standing.has_left() && stopped.try_recv() == Err(TryRecvError::Empty) {
            self.respond(standing);
        }
        // With the socket closed, the system refuses probes.
    }

    fn respond(&self, standing: &Standing) {
        let mut bytes = [0; LENGTH + 1];
        let (length, from) = match self.socket.recv_from(&mut bytes) {
            Ok(received) => received,
            Err(error) => {
                if !matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) {
                    std::thread::sleep(LOOK_EVERY);
                }
                return;
            }
        };
        let known = self.peers.contains(&from.ip());
        let probe =
            Message::parse(&bytes[..length]).filter(|message| known && !message.is_response);
        if let (Some(probe), Some(unusable)) = (probe, standing.unusable()) {
            let response = Message { is_response: true, unusable, ..probe };
            // A lost response is repeated by the next probe.
            let _lost = self.socket.send_to(&response.bytes(), from);
        }
    }
}

/// Asks the other machines.
pub(super) struct Prober {
    own: IpAddr,
    port: u16,
    peers: BTreeMap<IpAddr, Option<UdpSocket>>,
    key: u64,
}

impl Prober {
    pub(super) fn new(own: IpAddr, port: u16, peers: &[IpAddr]) -> anyhow::Result<Self> {
        let key = getrandom::u64().context("the system has no random numbers")?;
        Ok(Self { own, port, peers: peers.iter().map(|peer| (*peer, None)).collect(), key })
    }

    /// Reads responses to earlier probes, and sends new ones.
    pub(super) fn round(&mut self, machines: &mut Machines, now: Duration) {
        let probe = Message { is_response: false, unusable: 0, key: self.key };
        for (peer, slot) in &mut self.peers {
            if slot.is_none() {
                *slot = connected(self.own, SocketAddr::new(*peer, self.port)).ok();
            }
            let Some(socket) = slot else { continue };
            for _ in 0..ROUND_MAX {
                let mut bytes = [0; LENGTH + 1];
                match socket.recv(&mut bytes) {
                    Ok(length) => {
                        let message = Message::parse(&bytes[..length]);
                        let response = message.filter(|one| one.is_response && one.key == self.key);
                        if let Some(response) = response {
                            machines.responded(*peer, response.unusable, now);
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                        machines.refused(*peer)
                    }
                    Err(_) => break,
                }
            }
            if let Err(error) = socket.send(&probe.bytes()) {
                match error.kind() {
                    ErrorKind::ConnectionRefused => machines.refused(*peer),
                    ErrorKind::WouldBlock => {}
                    // Such as a device that is gone: the next round has a new socket.
                    _ => *slot = None,
                }
            }
        }
        machines.end_round();
    }
}

fn connected(own: IpAddr, peer: SocketAddr) -> std::io::Result<UdpSocket> {
    let socket = socket(SocketAddr::new(own, 0), false)?;
    socket.connect(peer)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use stdx::clock::RealClock;

    use super::*;

    #[test]
    fn messages_are_read_as_written() {
        for is_response in [false, true] {
            let message = Message { is_response, unusable: 513, key: 0x0102_0304_0506_0708 };
            assert_eq!(Message::parse(&message.bytes()), Some(message));
        }
        let good = Message { is_response: true, unusable: 0, key: 1 }.bytes();
        for (position, byte) in [(0, b'X'), (4, 2), (5, 2)] {
            let mut bad = good;
            bad[position] = byte;
            assert_eq!(Message::parse(&bad), None, "{position}");
        }
        assert_eq!(Message::parse(&good[..LENGTH - 1]), None);
        assert_eq!(Message::parse(&[&good[..], b"x"].concat()), None);
    }

    const ASKING: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 3));

    /// Probes until the other machine serves, or not.
    fn until(prober: &mut Prober, machines: &mut Machines, serves: bool) {
        let clock = RealClock::shared();
        let end = clock.monotonic() + Duration::from_secs(60);
        loop {
            // At the same moment, so that nothing has to settle.
            prober.round(machines, Duration::ZERO);
            if machines.serving(0, Duration::ZERO).contains(&OTHER) == serves {
                return;
            }
            assert!(clock.monotonic() < end);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_machine_is_found_and_refuses_when_it_has_left() {
        let responder = Responder::new(SocketAddr::new(OTHER, 0), &[ASKING]).unwrap();
        let port = responder.socket.local_addr().unwrap().port();
        let standing = Arc::new(Standing::default());
        let (stop, stopped) = sync_channel(1);
        let mut prober = Prober::new(ASKING, port, &[OTHER]).unwrap();
        let mut machines = Machines::new(ASKING, &[OTHER], Duration::ZERO);
        let of_thread = Arc::clone(&standing);
        let thread = std::thread::spawn(move || responder.run(&of_thread, &stopped));
        for _ in 0..20 {
            prober.round(&mut machines, Duration::ZERO);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!machines.serving(0, Duration::ZERO).contains(&OTHER), "it has no configuration");
        standing.set(0);
        until(&mut prober, &mut machines, true);
        standing.leave();
        until(&mut prober, &mut machines, false);
        standing.set(0);
        assert!(standing.has_left(), "it does not return");
        thread.join().unwrap();
        drop(stop);
    }

    #[test]
    fn strangers_get_no_response_and_cannot_respond() {
        let responder =
            Responder::new(SocketAddr::new(OTHER, 0), &["127.0.0.4".parse().unwrap()]).unwrap();
        let port = responder.socket.local_addr().unwrap().port();
        let standing = Standing::default();
        standing.set(0);
        let stranger = connected(ASKING, SocketAddr::new(OTHER, port)).unwrap();
        let probe = Message { is_response: false, unusable: 0, key: 7 };
        stranger.send(&probe.bytes()).unwrap();
        responder.respond(&standing);
        assert_eq!(stranger.recv(&mut [0; 99]).unwrap_err().kind(), ErrorKind::WouldBlock);
        // A response with another key.
        let mut prober = Prober::new("127.0.0.4".parse().unwrap(), port, &[OTHER]).unwrap();
        let mut machines = Machines::new(ASKING, &[OTHER], Duration::ZERO);
        prober.round(&mut machines, Duration::ZERO);
        let asking = prober.peers[&OTHER].as_ref().unwrap().local_addr().unwrap();
        let forged = Message { is_response: true, unusable: 0, key: prober.key ^ 1 };
        responder.socket.send_to(&forged.bytes(), asking).unwrap();
        prober.round(&mut machines, Duration::ZERO);
        assert_eq!(machines.serving(0, Duration::ZERO), [ASKING].into());
    }
}
